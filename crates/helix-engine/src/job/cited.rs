//! Whether what a reviewer finds is about the result: a finding blocks only if it names a file that is there, that was asked for, or
//! that the phase removed. A reviewer that saw a difference alone calls code missing that stands in the next file.
//!
//! Must not know how a reviewer is asked or what follows.

use std::io::BufRead as _;
use std::path::{Component, Path};

use helix_core::finding::{Finding, Verdict};
use helix_job::{ChangeKind, Committed};
use helix_plan::Phase;

use super::side_run::unreadable;

/// Files of a result that a finding can be about.
pub(super) struct Citable {
    /// What was asked for, there or not.
    wanted: Vec<String>,
    removed: Vec<String>,
}

impl Citable {
    pub(super) fn of(phase: &Phase, result: &Committed) -> Self {
        let removed = result.changed.iter().filter(|file| file.how == ChangeKind::Deleted);
        Self { wanted: phase.outputs.clone(), removed: removed.map(|file| file.path.clone()).collect() }
    }

    /// The verdict with the findings that are about the result; no verdict if none is. `checkout` is the result's. Reads files.
    pub(super) fn judge(&self, verdict: Verdict, checkout: &Path) -> Verdict {
        let Verdict::Fail { findings } = verdict else { return verdict };
        let count = findings.len();
        let mut cited = Vec::new();
        let mut elsewhere = Vec::new();
        for finding in findings {
            let named = finding.place.as_ref().map(|place| place.file.clone()).unwrap_or_default();
            match self.placed(finding, checkout) {
                Some(finding) => cited.push(finding),
                None => elsewhere.push(named),
            }
        }
        if cited.is_empty() {
            let message = format!(
                "it rejects, but none of its {count} finding(s) names a file of the result ({}); a finding names, relative to the \
                 working directory, the file that is wrong, or the asked-for file that is missing",
                elsewhere.iter().map(|file| format!("{file:?}")).collect::<Vec<_>>().join(", ")
            );
            return Verdict::Inconclusive { fault: unreadable(message) };
        }
        if !elsewhere.is_empty() {
            tracing::warn!(?elsewhere, "findings of a reviewer are left out: they name no file of the result");
        }
        Verdict::Fail { findings: cited }
    }

    /// The finding with its place as the repository has it; `None` if that is no place of the result.
    fn placed(&self, finding: Finding, checkout: &Path) -> Option<Finding> {
        let place = finding.place.clone()?;
        let file = within(&place.file, checkout)?;
        let known = |files: &[String]| files.contains(&file);
        let there = is_file(&checkout.join(&file), checkout);
        if !there && !known(&self.wanted) && !known(&self.removed) {
            return None;
        }
        // A line that the file does not have is a slip, and no reason to disbelieve the rest.
        let line = place.line.filter(|line| there && has_line(&checkout.join(&file), *line));
        Some(Finding { place: Some(helix_core::finding::Place { file, line, column: None }), ..finding })
    }
}

/// A path relative to the checkout's root, of one that may be absolute or begin with `./`; `None` if it lies outside.
fn within(named: &str, checkout: &Path) -> Option<String> {
    let path = Path::new(named.trim());
    let path = if path.is_absolute() { path.strip_prefix(checkout).ok()? } else { path };
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Whether there is a file, and no link leads out of the checkout to it. Git's own are no part of the result.
fn is_file(path: &Path, checkout: &Path) -> bool {
    let (Ok(path), Ok(checkout)) = (path.canonicalize(), checkout.canonicalize()) else { return false };
    path.is_file() && path.strip_prefix(&checkout).is_ok_and(|inner| !inner.starts_with(".git"))
}

fn has_line(path: &Path, line: u32) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let lines = std::io::BufReader::new(file).split(b'\n').take_while(Result::is_ok);
    line > 0 && lines.take(line as usize).count() == line as usize
}

#[cfg(test)]
mod tests {
    use helix_core::finding::Place;

    use super::*;

    fn fail(places: &[(Option<&str>, Option<u32>)]) -> Verdict {
        let finding = |(file, line): &(Option<&str>, Option<u32>)| Finding {
            rule: "review.finding".into(),
            message: "critical: the code is missing".into(),
            place: file.map(|file| Place { file: file.into(), line: *line, column: None }),
            evidence: None,
            fix: None,
        };
        Verdict::Fail { findings: places.iter().map(finding).collect() }
    }

    /// Table B "false Critical: missing code".
    #[test]
    fn only_findings_about_the_result_block() {
        let checkout = tempfile::tempdir().unwrap();
        let root = checkout.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.py"), "1\n2\n3\n").unwrap();
        std::fs::write(root.join(".git"), "gitdir: elsewhere\n").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("out")).unwrap();
        let citable = Citable { wanted: vec!["docs/page.md".into()], removed: vec!["old.py".into()] };
        let absolute = root.join("src/a.py").to_str().unwrap().to_owned();
        for (named, line, place) in [
            ("src/a.py", Some(3), "src/a.py:3"),
            ("./src/a.py", Some(4), "src/a.py"),
            ("src/a.py", Some(0), "src/a.py"),
            (absolute.as_str(), None, "src/a.py"),
            ("docs/page.md", Some(1), "docs/page.md"),
            ("old.py", None, "old.py"),
        ] {
            let Verdict::Fail { findings } = citable.judge(fail(&[(Some(named), line), (None, None)]), &root) else {
                panic!("{named} is of the result")
            };
            let places: Vec<String> = findings.iter().map(|one| one.place.as_ref().unwrap().to_string()).collect();
            assert_eq!(places, [place], "{named}");
        }
        let outside = ["src/b.py", "src", "../src/a.py", "/etc/passwd", "out", ".git", "", " "];
        for named in outside.map(Some).into_iter().chain([None]) {
            let verdict = citable.judge(fail(&[(named, Some(1))]), &root);
            assert!(matches!(verdict, Verdict::Inconclusive { .. }), "{named:?}: {verdict:?}");
        }
        assert_eq!(citable.judge(Verdict::Pass, &root), Verdict::Pass);
    }
}
