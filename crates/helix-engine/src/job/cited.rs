//! Whether what a reviewer finds is about the result: a finding blocks only if it names a file that is there, that was asked for, or
//! that the phase removed. A reviewer that saw a difference alone calls code missing that stands in the next file.
//!
//! Must not know how a reviewer is asked or what follows.

use std::io::Read as _;
use std::path::{Component, Path};

use helix_core::finding::{Finding, Verdict};
use helix_job::{ChangeKind, Committed};
use helix_language::recorded;
use helix_plan::Phase;
use helix_process::bounded::open_plain_beneath;

use super::side_run::unreadable;

/// How much of a file is read at once, in bytes.
const PIECE: usize = 64 << 10;

/// Files of a result that a finding can be about.
pub(super) struct Citable {
    /// Those that need not be there: what was asked for, and what was removed.
    absent: Vec<String>,
}

impl Citable {
    pub(super) fn new(phase: &Phase, result: &Committed) -> Self {
        let removed = result.changed.iter().filter(|file| file.how == ChangeKind::Deleted);
        Self { absent: phase.outputs.iter().chain(removed.map(|file| &file.path)).cloned().collect() }
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
            let files = elsewhere.iter().map(|file| format!("{file:?}")).collect::<Vec<_>>().join(", ");
            let fault = unreadable(recorded!("side-cites-nothing", count = count, files = files));
            return Verdict::Inconclusive { fault };
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
        let there = is_file(&checkout.join(&file), checkout);
        if !there && !self.absent.contains(&file) {
            return None;
        }
        // A line that the file does not have is a slip, and no reason to disbelieve the rest.
        let line = place.line.filter(|line| there && has_line(&checkout.join(&file), checkout, *line));
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

fn has_line(path: &Path, checkout: &Path, line: u32) -> bool {
    let Ok(mut file) = open_plain_beneath(checkout, path) else { return false };
    // The line begins behind as many newlines, with at least one byte.
    let (mut before, mut piece) = (line.saturating_sub(1) as usize, vec![0; PIECE]);
    loop {
        let Some(read) =
            file.read(&mut piece).ok().and_then(|count| piece.get(..count)).filter(|read| !read.is_empty())
        else {
            return false;
        };
        let ends = read.iter().filter(|byte| **byte == b'\n').count();
        if before < ends || (before == ends && read.last() != Some(&b'\n')) {
            return line > 0;
        }
        before -= ends;
    }
}

#[cfg(test)]
#[path = "cited_test.rs"]
mod tests;
