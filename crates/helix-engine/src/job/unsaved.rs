//! What attempts have left that is in no commit yet: it is kept until there is one.
//!
//! Must not know why a commit failed.

use std::path::Path;

use helix_core::finding::Fault;
use helix_core::ids::{CommitId, JobId};
use helix_job::{Active, Attempt, PhaseProgress};
use helix_plan::Phase;

use helix_git::{AttemptKey, CommitText};

/// An attempt whose work is in no commit, with what makes one.
pub(crate) struct Unsaved {
    pub(crate) key: AttemptKey,
    pub(super) base: CommitId,
    pub(super) start: CommitId,
    pub(super) text: CommitText,
}

/// Those of a job.
pub(crate) fn unsaved(job: &JobId, active: &Active) -> Vec<Unsaved> {
    let of = |(phase, progress): (&Phase, &PhaseProgress)| {
        let text = commit_text(phase);
        let one = |this: &Attempt| Unsaved {
            key: AttemptKey { job: job.clone(), phase: phase.id.clone(), attempt: this.begin.attempt },
            base: this.begin.base.clone(),
            start: this.begin.start.clone(),
            text: text.clone(),
        };
        progress.unsaved().map(one).collect::<Vec<_>>()
    };
    active.pairs().flat_map(of).collect()
}

/// What the commit of an attempt's result says.
pub(super) fn commit_text(phase: &Phase) -> CommitText {
    CommitText {
        subject: format!("{}: {}", phase.id, phase.name.split_whitespace().collect::<Vec<_>>().join(" ")),
        body: String::new(),
    }
}

/// Says where the only copy of an attempt's work is.
pub(super) fn kept_in(worktree: &Path, fault: Fault) -> Fault {
    let resume = "then run `helix jobs resume`, which commits it and continues";
    Fault {
        kind: fault.kind,
        message: format!("{}; the agent's work is in {}", fault.message, worktree.display()),
        hint: Some(fault.hint.map_or_else(|| resume.to_owned(), |hint| format!("{hint}; {resume}"))),
    }
}
