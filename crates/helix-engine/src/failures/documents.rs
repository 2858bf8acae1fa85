//! Plans and ADRs that were refused, and what became of them: failures of the tool `helix`.
//!
//! Must not know who had a document checked. A document is refused once until it is accepted, however often it is checked
//! meanwhile: an author fixes errors one by one, and only what was left at the end says anything to others.

use std::collections::VecDeque;
use std::path::Path;

use helix_core::diagnostic::Diagnostic;
use helix_failure::memory::{Work, check};
use helix_process::bounded::read_text;
use jiff::Timestamp;

use super::checked_document::{CheckedDocument, Depth};
use super::context::{AttemptSite, FailureContext};
use super::service::FailureService;

/// Drafts that are kept; the oldest goes first.
const KEPT: usize = 32;
/// Longest draft that is kept, in bytes. Plans and ADRs have a few thousand.
const LONGEST: u64 = 256 << 10;

/// The texts of documents as they were refused last. Those that a restart loses make a fix without its diff.
#[derive(Debug, Default)]
pub(crate) struct RefusedDrafts(VecDeque<(String, String)>);

impl FailureService {
    /// Hands over what a check of a plan or an ADR found. The memory is not waited for.
    pub(crate) async fn document_checked(
        &self,
        path: &Path,
        project: Option<&Path>,
        depth: Depth,
        diagnostics: &[Diagnostic],
    ) {
        let path = tokio::fs::canonicalize(path).await.unwrap_or_else(|_| path.to_path_buf());
        let file = path.clone();
        let read = helix_process::spawn_blocking(move || read_text(None, &file, LONGEST).ok().flatten());
        let text = read.await.ok().flatten();
        let (project, diagnostics) = (project.map(Path::to_path_buf), diagnostics.to_vec());
        self.hand_over(CheckedDocument { path, project, depth, diagnostics, text, at: Timestamp::now() });
    }

    /// Remembers what a check found.
    pub(crate) async fn document(&self, document: CheckedDocument, drafts: &mut RefusedDrafts) {
        let work = Work::Document { document: document.path.display().to_string() };
        let project = document.project.as_ref().map(|root| root.display().to_string()).unwrap_or_default();
        let open = self.open_failures(&work).await;
        let refused = document.diagnostics.iter().any(Diagnostic::is_error);
        let check = |depth| match depth {
            Depth::Rules => check::DOCUMENT,
            Depth::Submission => check::SUBMISSION,
        };
        if refused {
            let attempt = match open.iter().map(|open| open.attempt).max() {
                Some(attempt) => attempt,
                None => self.last_attempt(&work).await + 1,
            };
            if let Some(text) = &document.text {
                drafts.keep(&work.name(), text.clone());
            }
            let site = AttemptSite::new(project, work, attempt);
            let found = &document.diagnostics;
            self.record(FailureContext::of_document(&site, check(document.depth), found, document.at)).await;
            return;
        }
        let passed = match document.depth {
            Depth::Rules => vec![check(Depth::Rules).to_owned()],
            Depth::Submission => vec![check(Depth::Rules).to_owned(), check(Depth::Submission).to_owned()],
        };
        let open = open.into_iter().filter(|open| passed.contains(&open.check));
        let Some(last) = open.map(|open| open.attempt).max() else { return };
        let name = document.shown();
        let (files, diff) = match (drafts.take(&work.name()), &document.text) {
            // The same text, and it is in order now: something around it has changed.
            (Some(before), Some(after)) if before == *after => (Vec::new(), String::new()),
            (Some(before), Some(after)) => {
                let diff = changed_stretch(&name, &before, after);
                (vec![name], diff)
            }
            (None, _) | (_, None) => (vec![name], String::new()),
        };
        let mut answer = AttemptSite::new(project, work, last + 1).answer(passed, document.at);
        (answer.change.files, answer.change.diff) = (files, diff);
        self.attempt_ended(answer).await;
    }
}

impl RefusedDrafts {
    fn keep(&mut self, document: &str, text: String) {
        self.0.retain(|(other, _)| other != document);
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back((document.to_owned(), text));
    }

    fn take(&mut self, document: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == document)?;
        self.0.remove(at).map(|(_, text)| text)
    }
}

/// The stretch in which two texts differ, in the form of a diff: the lines between what both begin and end with.
fn changed_stretch(file: &str, before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let room = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(old, new)| old == new).count();
    let mut diff = format!("--- {file}\n+++ {file}\n@@ line {} @@\n", head + 1);
    for (sign, lines) in [('-', &old), ('+', &new)] {
        for line in lines.get(head..lines.len() - tail).unwrap_or_default() {
            diff.push(sign);
            diff.push_str(line);
            diff.push('\n');
        }
    }
    diff
}

#[cfg(test)]
#[path = "documents_test.rs"]
mod tests;
