//! What a gate found, before it is stamped with name, tree and time; and how trouble becomes a fault.
//!
//! Must not know any particular gate.

use helix_core::evidence::{CommandEvidence, StepReport, TestCounts};
use helix_core::finding::{Fault, FaultKind, Finding, Verdict};
use helix_core::said::Words;

use helix_git::GitError;
use helix_language::{ErrorView, RECORD, recorded};
use helix_process::CommandError;

/// Most findings that one gate reports; the rest is counted.
pub(crate) const MAX_FINDINGS: usize = 50;

/// A gate's answer.
#[derive(Debug, Clone)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    pub(crate) summary: Words,
    pub(crate) command: Option<CommandEvidence>,
    pub(crate) tests: Option<TestCounts>,
    pub(crate) steps: Vec<StepReport>,
    pub(crate) notes: Vec<Words>,
}

impl Judgement {
    fn new(verdict: Verdict, summary: Words, notes: Vec<Words>) -> Self {
        Self { verdict, summary, command: None, tests: None, steps: Vec::new(), notes }
    }

    /// Fails if there are findings, passes otherwise.
    pub(crate) fn of(mut findings: Vec<Finding>, summary: Words, mut notes: Vec<Words>) -> Self {
        if findings.len() > MAX_FINDINGS {
            notes.push(recorded!("gate-more-findings", more = findings.len() - MAX_FINDINGS));
            findings.truncate(MAX_FINDINGS);
        }
        let verdict = if findings.is_empty() { Verdict::Pass } else { Verdict::Fail { findings } };
        Self::new(verdict, summary, notes)
    }

    /// The check could not be made.
    pub(crate) fn faulted(fault: Fault) -> Self {
        let summary = ErrorView::of_fault(&fault).words();
        Self::new(Verdict::Inconclusive { fault }, summary, Vec::new())
    }

    /// There was nothing to check.
    pub(crate) fn nothing(message: Words) -> Self {
        Self::faulted(fault(FaultKind::NothingChecked, message))
    }

    /// The same with more that is wrong: a pass is none any more.
    pub(crate) fn with_findings(self, more: Vec<Finding>) -> Self {
        if more.is_empty() {
            return self;
        }
        let known = if let Verdict::Fail { findings } = self.verdict { findings } else { Vec::new() };
        let all = more.into_iter().chain(known).collect();
        Self { command: self.command, tests: self.tests, steps: self.steps, ..Self::of(all, self.summary, self.notes) }
    }

    pub(crate) fn with_command(self, command: CommandEvidence) -> Self {
        Self { command: Some(command), ..self }
    }

    pub(crate) fn with_notes(mut self, notes: impl IntoIterator<Item = Words>) -> Self {
        self.notes.extend(notes);
        self
    }
}

/// What kept a gate from coming to a judgement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Git(GitError),
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error("{}", RECORD.words(&recorded!("gate-cancelled")))]
    Cancelled,
    #[error("{}", RECORD.words(&recorded!("gate-broken", why = .0)))]
    Broken(Words),
    /// There is an answer already, so that the check does not go on.
    #[error("{}", RECORD.words(&.0.summary))]
    Answered(Box<Judgement>),
}

impl From<GitError> for Trouble {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Cancelled => Self::Cancelled,
            error => Self::Git(error),
        }
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Judgement::faulted(fault).into()
    }
}

impl From<Judgement> for Trouble {
    fn from(judgement: Judgement) -> Self {
        Self::Answered(Box::new(judgement))
    }
}

impl Trouble {
    pub(crate) fn judgement(self) -> Judgement {
        let fault = match self {
            Self::Answered(judgement) => return *judgement,
            Self::Git(error) => error.fault(),
            Self::Command(error) => error.fault(),
            Self::Cancelled => fault(FaultKind::Environment, recorded!("gate-cancelled")),
            Self::Broken(why) => fault(FaultKind::Environment, recorded!("gate-broken", why = why)),
        };
        Judgement::faulted(fault)
    }
}

pub(crate) use helix_language::{fault, finding};

/// The same fault in other words, with the same hint.
pub(crate) fn retold(fault: &Fault, tell: impl FnOnce(Words) -> Words) -> Fault {
    let told = ErrorView::of_fault(fault);
    helix_language::fault_with_hint(fault.kind, tell(told.words()), told.hint_words())
}

/// The end of an output, where tools say what is wrong.
pub(crate) fn last_part(output: &str) -> &str {
    let text = output.trim_end();
    &text[text.ceil_char_boundary(text.len().saturating_sub(helix_core::finding::MAX_EVIDENCE))..]
}
