//! Plans and ADRs that were refused, and what became of them: failures of the tool `helix`.
//!
//! Must not know who had a document checked. A document is refused once until it is accepted, however often it is looked at
//! meanwhile: who writes mends as they go, and only what they were refused for last says anything to others.

use std::path::Path;

use helix_core::diagnostic::Diagnostic;
use helix_failure::memory::{Work, check};
use jiff::Timestamp;

use super::context::{AttemptSite, FailureContext};
use super::desk::{AttemptEnd, FailureDesk};
use super::drafts::changed_stretch;

/// Whether what a check found is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remembering {
    /// It is.
    Yes,
    /// It is only looked up. What the agent of a phase leaves is looked at once more by the phase's gates, and remembered then.
    No,
}

/// How far a document was looked at. What a shallower look did not see, it does not prove gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// By the rule set.
    Rules,
    /// With everything that a job needs: repository, agents, inputs.
    Submission,
}

impl Depth {
    fn check(self) -> &'static str {
        match self {
            Self::Rules => check::DOCUMENT,
            Self::Submission => check::SUBMISSION,
        }
    }

    fn passed(self) -> Vec<String> {
        match self {
            Self::Rules => vec![check::DOCUMENT.to_owned()],
            Self::Submission => vec![check::DOCUMENT.to_owned(), check::SUBMISSION.to_owned()],
        }
    }
}

/// A plan or an ADR that was looked at.
#[derive(Debug, Clone)]
pub struct DocumentCheck<'a> {
    /// Its path.
    pub path: &'a Path,
    /// Root of its project, where that is known.
    pub project: Option<&'a Path>,
    /// How far it was looked at.
    pub depth: Depth,
    /// What was found; with an error among it, the document is refused.
    pub diagnostics: &'a [Diagnostic],
    /// Whether it is remembered.
    pub remembering: Remembering,
}

impl FailureDesk {
    /// Notes what a check of a plan or an ADR found. Returns what is known of it from before, in one sentence.
    pub async fn document_checked(&self, checked: DocumentCheck<'_>) -> Option<String> {
        self.memory()?;
        let refused = checked.diagnostics.iter().any(Diagnostic::is_error);
        let path = tokio::fs::canonicalize(checked.path).await.unwrap_or_else(|_| checked.path.to_path_buf());
        let work = Work::Document { document: path.display().to_string() };
        match (refused, checked.remembering) {
            (true, Remembering::Yes) => self.refused_document(&checked, &path, work).await,
            (true, Remembering::No) => {
                let site = site(&checked, work, 1);
                let context =
                    FailureContext::of_document(&site, checked.depth.check(), checked.diagnostics, Timestamp::now());
                let FailureContext { observation, log, report_place, .. } = context;
                self.explain(observation, log, report_place).await?.report.recollection(0)
            }
            (false, Remembering::Yes) => {
                self.accepted_document(&checked, &path, work).await;
                None
            }
            (false, Remembering::No) => None,
        }
    }

    async fn refused_document(&self, checked: &DocumentCheck<'_>, path: &Path, work: Work) -> Option<String> {
        let open = self.open_failures(&work).await;
        let attempt = match open.iter().map(|open| open.attempt).max() {
            Some(attempt) => attempt,
            None => self.last_attempt(&work).await + 1,
        };
        // A text that cannot be read is none to compare with; the check has said so by itself.
        if let Ok(text) = tokio::fs::read_to_string(path).await {
            self.refused().keep(&work.name(), text);
        }
        let site = site(checked, work, attempt);
        let context = FailureContext::of_document(&site, checked.depth.check(), checked.diagnostics, Timestamp::now());
        let recorded = self.record_failure(context).await;
        recorded.report.recollection(recorded.seen_before)
    }

    async fn accepted_document(&self, checked: &DocumentCheck<'_>, path: &Path, work: Work) {
        let passed = checked.depth.passed();
        let open = self.open_failures(&work).await.into_iter().filter(|open| passed.contains(&open.check));
        let Some(last) = open.map(|open| open.attempt).max() else { return };
        let before = self.refused().take(&work.name());
        let name = shown(checked, path);
        let after = tokio::fs::read_to_string(path).await.ok();
        let (files, diff) = match (before, after) {
            // The same text, and it is in order now: something around it has changed.
            (Some(before), Some(after)) if before == after => (Vec::new(), String::new()),
            (Some(before), Some(after)) => {
                let diff = changed_stretch(&name, &before, &after);
                (vec![name], diff)
            }
            // Refused by a former host: that it was changed is known, how it was is not.
            (None, _) | (_, None) => (vec![name], String::new()),
        };
        let site = site(checked, work, last + 1);
        let end = AttemptEnd { site, passed, files, diff, at: Timestamp::now() };
        self.attempt_passed(end).await;
    }
}

fn site(checked: &DocumentCheck<'_>, work: Work, attempt: u32) -> AttemptSite {
    AttemptSite {
        project: checked.project.map(|root| root.display().to_string()).unwrap_or_default(),
        work,
        phase_name: String::new(),
        goal: String::new(),
        attempt,
        max_attempts: None,
        agent: String::new(),
        run: None,
        commit: None,
        adr: None,
    }
}

/// A document's name in a diff: within its project, if it lies in one.
fn shown(checked: &DocumentCheck<'_>, path: &Path) -> String {
    let within = checked.project.and_then(|root| path.strip_prefix(root).ok());
    let name = within.or_else(|| path.file_name().map(Path::new)).unwrap_or(path);
    name.to_string_lossy().replace('\\', "/")
}
