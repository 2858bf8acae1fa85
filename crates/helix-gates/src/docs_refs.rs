//! `docs_refs_valid`: links, anchors and file references in changed Markdown resolve in the result commit.
//!
//! Must not use the network: links to other hosts are not looked at.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use helix_core::diagnostic::did_you_mean;
use helix_core::evidence::ChangeKind;
use helix_core::finding::Finding;
use helix_core::said::Words;

use super::GateContext;
use super::adr::holds;
use super::judgement::{Judgement, Trouble};
use super::markdown::{Document, Reference};
use super::pattern::beside;
use super::sources::{Question, Sources};
use helix_git::TreeListing;
use helix_language::{finding_with_fix, recorded};

pub(super) fn docs_refs_valid(context: &GateContext) -> Result<Judgement, Trouble> {
    let (listing, mut sources) = (context.files()?, Sources::of(context));
    // A file that an earlier phase removed is gone as well.
    let before = [context.files_at(&context.origin)?, context.files_at(&context.base)?];
    let was_there = |path: &str| before.iter().any(|listing| holds(listing, path));
    // A suggestion compares with all names there are: it is made for those that are shown.
    let names = |findings: usize| (findings < super::judgement::MAX_FINDINGS).then_some(&*listing);
    let is_markdown = |path: &str| path.ends_with(".md") || path.ends_with(".markdown");
    let (mut findings, mut notes, mut documents, mut links) = (Vec::new(), Vec::new(), 0_usize, 0_usize);
    let mut others: HashMap<String, BTreeSet<String>> = HashMap::new();
    for file in context.result.changed.iter().filter(|file| file.how != ChangeKind::Deleted && is_markdown(&file.path))
    {
        let Some(source) = context.text(&listing, &file.path)? else { continue };
        documents += 1;
        let document: Document = sources.ask(&file.path, &Question::Markdown(source.into()))?;
        for reference in &document.references {
            if !reference.link {
                match code_path(&reference.target) {
                    Some(path) if !holds(&listing, path) && was_there(path) => {
                        findings.push(gone(&file.path, reference, path, names(findings.len())));
                    }
                    Some(path) if !holds(&listing, path) => {
                        let place = format!("{}:{}", file.path, reference.line);
                        notes.push(recorded!("gate-docs-code", place = place, path = path));
                    }
                    Some(_) | None => {}
                }
                continue;
            }
            let Some((path, anchor)) = local_target(&file.path, &reference.target) else { continue };
            links += 1;
            if !path.is_empty() && !holds(&listing, &path) {
                findings.push(gone(&file.path, reference, &path, names(findings.len())));
                continue;
            }
            let Some(anchor) = anchor.filter(|anchor| !anchor.is_empty()) else { continue };
            let anchors = match path == file.path || path.is_empty() {
                true => &document.anchors,
                false if is_markdown(&path) => match others.entry(path.clone()) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(unread) => {
                        let text = context.text(&listing, &path)?.unwrap_or_default();
                        let read: Document = sources.ask(&path, &Question::Markdown(text.into()))?;
                        unread.insert(read.anchors)
                    }
                },
                false => continue,
            };
            if !anchors.contains(&anchor) {
                let near = did_you_mean(&anchor, anchors.iter().map(String::as_str)).map(|near| format!("#{near}"));
                let message = recorded!("gate-docs-anchor", target = &reference.target, anchor = anchor);
                findings.push(broken("docs.anchor", &file.path, reference, message, near.as_deref()));
            }
        }
    }
    if documents == 0 {
        return Ok(Judgement::nothing(recorded!("gate-docs-none")));
    }
    notes.truncate(super::judgement::MAX_FINDINGS);
    let summary = recorded!("gate-docs", documents = documents, links = links, broken = findings.len());
    Ok(Judgement::of(findings, summary, notes))
}

fn gone(document: &str, reference: &Reference, path: &str, listing: Option<&TreeListing>) -> Finding {
    let near = listing.and_then(|listing| did_you_mean(path, listing.keys().map(String::as_str)));
    let message = recorded!("gate-docs-gone", target = &reference.target, path = path);
    broken("docs.reference", document, reference, message, near)
}

fn broken(rule: &str, document: &str, reference: &Reference, message: Words, near: Option<&str>) -> Finding {
    let fix = near.map_or(message.hint(), |near| recorded!("gate-did-you-mean", near = near));
    finding_with_fix(rule, message, fix).at(document, Some(reference.line), Some(reference.column))
}

/// A path from the root in code, such as `src/cart.py` or `src/cart.py:12`.
fn code_path(text: &str) -> Option<&str> {
    let path = text.split(':').next().unwrap_or(text).trim_start_matches("./");
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    let name = path.rsplit('/').next().unwrap_or_default();
    let named = name
        .rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && extension.chars().all(char::is_alphabetic));
    (plain && named && path.contains('/') && !path.starts_with('/') && !path.contains("..")).then_some(path)
}

/// Path from the root and anchor of a link that stays in the repository.
fn local_target(document: &str, url: &str) -> Option<(String, Option<String>)> {
    let scheme = url.split(['/', '#', '?']).next().unwrap_or_default().contains(':');
    if scheme || url.starts_with("//") || url.is_empty() {
        return None;
    }
    let (rest, anchor) = url.split_once('#').map_or((url, None), |(rest, anchor)| (rest, Some(unquote(anchor))));
    let rest = unquote(rest.split('?').next().unwrap_or_default());
    if rest.is_empty() {
        return Some((String::new(), anchor));
    }
    let document = if rest.starts_with('/') { "" } else { document };
    // Above the root there is no file of the repository; the text as it stands names it.
    Some((beside(document, &rest).unwrap_or(rest), anchor))
}

fn unquote(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}
