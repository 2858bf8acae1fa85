//! `files_exist` and `outputs_claimed`: what a phase promised is in its result commit and in its diff.
//!
//! Must not read the work tree: only the commit counts.

use helix_core::diagnostic::did_you_mean;
use helix_core::evidence::ChangeKind;

use super::GateContext;
use super::adr::holds;
use super::judgement::{Judgement, Trouble, finding};
use super::pattern::{Pattern, beside};
use helix_git::{EntryKind, Repository, TreeListing};
use helix_language::recorded;
use helix_plan::Taken;

/// Names of files that are empty by convention.
const MAY_BE_EMPTY: [&str; 5] = ["__init__.py", ".gitkeep", ".keep", "py.typed", ".nojekyll"];

/// Every named file or glob is in the result commit and not empty.
pub(crate) fn files_exist(context: &GateContext, files: &[String]) -> Result<Judgement, Trouble> {
    let wanted = if files.is_empty() { &context.phase.outputs } else { files };
    if wanted.is_empty() {
        return Ok(Judgement::nothing(recorded!("gate-files-nothing")));
    }
    let repository = context.repository();
    let listing = context.files()?;
    let (mut findings, mut found) = (Vec::new(), 0_usize);
    for pattern in Pattern::all(wanted) {
        let mut matched = 0_usize;
        for (path, entry) in listing.iter().filter(|(path, _)| pattern.matches(path)) {
            matched += 1;
            let name = path.rsplit('/').next().unwrap_or(path);
            if entry.kind == EntryKind::Symlink {
                let target = String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned();
                if !leads_to_a_file(repository, path, &target, &listing)? {
                    let message = recorded!("gate-files-dangling", path = path, target = format!("{target:?}"));
                    findings.push(finding("files.dangling", message).at(path, None, None));
                }
                continue;
            }
            let submodule = entry.kind == EntryKind::Submodule;
            if !submodule && !MAY_BE_EMPTY.contains(&name) && repository.size(&entry.object)? == 0 {
                let message = recorded!("gate-files-empty", path = path);
                findings.push(finding("files.empty", message).at(path, None, None));
            }
        }
        found += matched;
        if matched == 0 {
            let text = pattern.text();
            let near = did_you_mean(text, listing.keys().map(String::as_str));
            let message = recorded!("gate-files-missing", path = text);
            let fix = near.map_or(message.hint(), |near| recorded!("gate-files-near", near = near));
            findings.push(helix_language::finding_with_fix("files.missing", message, fix).at(text, None, None));
        }
    }
    let summary = match findings.len() {
        0 => recorded!("gate-files-there", files = found),
        count => recorded!("gate-files-not-there", files = count),
    };
    Ok(Judgement::of(findings, summary, Vec::new()))
}

/// Links that are followed one after the other, as by Linux.
const MAX_LINKS: usize = 40;

/// Whether a link leads, over others perhaps, to something in the tree. What lies outside is on this machine only.
fn leads_to_a_file(repository: &Repository, link: &str, target: &str, listing: &TreeListing) -> Result<bool, Trouble> {
    let (mut link, mut target) = (link.to_owned(), target.to_owned());
    for _ in 0..MAX_LINKS {
        let Some(path) = beside(&link, &target).filter(|_| !target.starts_with('/')) else { return Ok(false) };
        match listing.get(&path) {
            Some(entry) if entry.kind == EntryKind::Symlink => {
                target = String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned();
                link = path;
            }
            _ => return Ok(holds(listing, &path)),
        }
    }
    Ok(false)
}

/// Every output claim is in the diff; changes outside the claims are listed.
pub(crate) fn outputs_claimed(context: &GateContext, outside: Taken) -> Judgement {
    let claims = Pattern::all(&context.phase.outputs);
    if claims.is_empty() {
        return Judgement::nothing(recorded!("gate-outputs-none"));
    }
    let changed = &context.result.changed;
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for claim in &claims {
        let text = claim.text();
        let mut touching = changed.iter().filter(|file| claim.matches(&file.path)).peekable();
        if touching.peek().is_none() {
            let message = recorded!("gate-outputs-unchanged", path = text);
            findings.push(finding("outputs.unchanged", message).at(text, None, None));
        } else if touching.all(|file| file.how == ChangeKind::Deleted) {
            let message = recorded!("gate-outputs-deleted", path = text);
            findings.push(finding("outputs.deleted", message).at(text, None, None));
        }
    }
    let others: Vec<_> = changed.iter().filter(|file| !claims.iter().any(|claim| claim.matches(&file.path))).collect();
    for file in &others {
        let word = match file.how {
            ChangeKind::Added => "added",
            ChangeKind::Modified => "changed",
            ChangeKind::Deleted => "deleted",
        };
        match outside {
            Taken::Note if notes.len() < super::judgement::MAX_FINDINGS => {
                notes.push(recorded!("gate-outputs-besides", path = &file.path, how = word));
            }
            Taken::Note => {}
            Taken::Finding => {
                let message = recorded!("gate-outputs-outside", path = &file.path, how = word);
                findings.push(finding("outputs.outside", message).at(&file.path, None, None));
            }
        }
    }
    let summary = recorded!("gate-outputs", outputs = claims.len(), others = others.len());
    let summary = match findings.len() {
        0 => summary,
        problems => recorded!("gate-outputs-problems", problems = problems, summary = summary),
    };
    Judgement::of(findings, summary, notes)
}
