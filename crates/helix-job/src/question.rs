//! Something only a person can answer: an approval, a decision about a phase that cannot go on, or what an agent asks.
//!
//! Must not know how a question reaches a person: terminal, HTTP, chat and MCP all show this one object.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::evidence::SelfRunning;
use helix_core::ids::{JobId, PhaseId, QuestionId};
use helix_core::said::Words;
use helix_plan::{Approval, Approvers};

use crate::person::{Attempted, Person};

/// Answer that lets a phase begin or a result count.
pub const APPROVE: &str = "approve";
/// Answer that does not.
pub const REJECT: &str = "reject";
/// Answer that grants one more attempt; its text is the agent's hint.
pub const RETRY: &str = "retry";
/// Answer that has the gates judge the last result once more.
pub const CHECK: &str = "check";
/// Answer that lets the last result count although a gate did not pass; its text is the reason.
pub const ACCEPT: &str = "accept";
/// Answer that leaves the phase out.
pub const SKIP: &str = "skip";
/// Answer that ends the job as failed.
pub const FAIL: &str = "fail";

/// A question as it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Number in its phase, from 1.
    pub number: u32,
    /// What it is about.
    pub about: About,
    /// What a person is asked, in full.
    pub text: String,
    /// The same as words, where Helix asks.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub said: Words,
    /// What can be chosen; empty when any text will do.
    pub options: Vec<QuestionOption>,
    /// Whether an answer may have words of its own.
    pub free_text: bool,
    /// Who has to approve, where that is not just anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Approvers>,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum About {
    /// Whether the phase may begin, or its result counts.
    Approval {
        /// Which of the two.
        when: Approval,
    },
    /// A gate that a person answers.
    Gate {
        /// Index in the phase's list, from 0.
        gate: usize,
    },
    /// Whether files of its result that run by themselves get into it.
    RunsByItself {
        /// The gate that delivers next (index in the phase's list); without one, the phase would pass.
        gate: Option<usize>,
        /// The files, as they are shown.
        files: Vec<SelfRunning>,
    },
    /// What becomes of a phase that cannot go on.
    Escalation {
        /// Whether the phase brings contradicting results together.
        conflict: bool,
    },
    /// What the phase's agent asks.
    #[default]
    Agent,
}

/// One thing that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionOption {
    /// What an answer names.
    pub key: String,
    /// What it means.
    pub label: String,
    /// The same as words, where it is Helix's own.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub said: Words,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Key of the chosen option.
    pub choice: Option<String>,
    /// Words of their own.
    pub text: Option<String>,
    /// Who answered.
    pub by: Person,
}

/// Why an answer does not fit its question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerMisfit {
    /// None of the options was chosen.
    #[error("choose one of: {options}")]
    NoChoice { options: String },
    /// There is no such option.
    #[error("unknown option {choice:?}; choose one of: {options}")]
    UnknownChoice { choice: String, options: String },
    /// What does not pass is not accepted without a word.
    #[error("say why: a result that a gate did not pass is accepted with a reason only")]
    NoReason,
    /// There is nothing in it.
    #[error("the answer is empty")]
    Empty,
    /// It is no answer any more.
    #[error("an answer has at most {most} bytes")]
    TooLong { most: usize },
    /// The plan says who approves, and nobody can tell who this is.
    #[error("{by} cannot approve this: it needs a person at the terminal (`helix answer`), or one with a key")]
    Unproven { by: Person },
    /// Somebody else has to.
    #[error("{by} has submitted the job: somebody else has to approve this")]
    Submitter { by: Person },
    /// It takes another person.
    #[error("{by} has approved this already: it needs another person")]
    Again { by: Person },
}

impl AnswerMisfit {
    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoChoice { .. } | Self::UnknownChoice { .. } => "choose one of the question's `options`",
            Self::NoReason => "add the reason: `--text \"…\"`, `text` in the API",
            Self::Empty => "answer in words: `--text \"…\"`, `text` in the API",
            Self::TooLong { .. } => "put what is longer into a file, and name that",
            Self::Unproven { .. } => "answer at the terminal, or with a key: `helix people add NAME`",
            Self::Submitter { .. } | Self::Again { .. } => "ask somebody else to answer",
        }
    }
}

/// Status of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum QuestionStatus {
    /// Not answered yet.
    Open,
    /// Answered.
    Answered {
        /// What.
        answer: Answer,
        /// When.
        at: Timestamp,
    },
    /// Not answered in time.
    Expired {
        /// When.
        at: Timestamp,
    },
    /// It no longer matters: its phase or job went another way.
    Closed,
}

/// Kinds of questions, for programs that show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// A person has to say yes or no.
    Approval,
    /// A phase cannot go on by itself.
    Escalation,
    /// An agent asks.
    Agent,
    /// Results contradict each other.
    Conflict,
}

/// A question as users and other programs see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionView {
    /// Its id.
    pub id: QuestionId,
    /// The job that waits for it.
    pub job: JobId,
    /// Name of the job's plan.
    pub job_name: String,
    /// The phase that waits for it.
    pub phase: PhaseId,
    /// Its name.
    #[serde(default)]
    pub phase_name: String,
    /// What it is about.
    #[serde(default)]
    pub about: About,
    /// What kind of question.
    pub kind: QuestionKind,
    /// What is asked, in full.
    pub text: String,
    /// The same as words, where Helix asks.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub said: Words,
    /// What the agent said last of what is to be judged; empty where nothing is. At most 2,000 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub set_out: String,
    /// What can be chosen; empty when any text will do.
    pub options: Vec<QuestionOption>,
    /// Whether an answer may have words of its own.
    pub free_text: bool,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it stops waiting.
    pub expires_at: Option<Timestamp>,
    /// Who has to approve, where that is not just anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Approvers>,
    /// Who has approved so far, where more than one has to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_by: Vec<Person>,
    /// What agents of its job asked for although only a person may; all of it was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempted: Vec<Attempted>,
    /// Its status.
    #[serde(flatten)]
    pub status: QuestionStatus,
}

impl QuestionView {
    /// Whether an approval counts only of a person who is known for certain.
    pub fn wants_proof(&self) -> bool {
        self.approvers.is_some() || matches!(self.about, About::RunsByItself { .. })
    }
}

impl Question {
    /// Which kind it is.
    pub fn kind(&self) -> QuestionKind {
        match self.about {
            About::Approval { .. } | About::Gate { .. } | About::RunsByItself { .. } => QuestionKind::Approval,
            About::Escalation { conflict: true } => QuestionKind::Conflict,
            About::Escalation { conflict: false } => QuestionKind::Escalation,
            About::Agent => QuestionKind::Agent,
        }
    }

    /// Whether only a person who is known for certain may choose that: accepting what did not pass, and letting in files that run by
    /// themselves. An agent may have spoken for anybody else.
    fn wants_proof(&self, choice: &str) -> bool {
        match self.about {
            About::Escalation { .. } => choice == ACCEPT,
            About::RunsByItself { .. } => choice == APPROVE,
            About::Approval { .. } | About::Gate { .. } | About::Agent => false,
        }
    }

    fn is_escalation(&self) -> bool {
        matches!(self.about, About::Escalation { .. })
    }

    /// Whether an answer fits, of a job that this person submitted, after these have approved.
    ///
    /// # Errors
    /// [`AnswerMisfit`] with what can be answered.
    pub fn accepts(
        &self,
        answer: &Answer,
        submitter: Option<&Person>,
        approved_by: &[Person],
    ) -> Result<(), AnswerMisfit> {
        let all = &self.options;
        let options = || all.iter().map(|one| one.key.as_str()).collect::<Vec<_>>().join(", ");
        let has_text = answer.text.as_deref().is_some_and(|text| !text.trim().is_empty());
        match &answer.choice {
            Some(choice) if choice == ACCEPT && self.is_escalation() && !has_text => Err(AnswerMisfit::NoReason),
            Some(choice) if self.wants_proof(choice) && !answer.by.how.is_proof() => {
                Err(AnswerMisfit::Unproven { by: answer.by.clone() })
            }
            Some(choice) if all.iter().any(|one| &one.key == choice) => {
                self.may_choose(choice, &answer.by, submitter, approved_by)
            }
            Some(choice) => Err(AnswerMisfit::UnknownChoice { choice: choice.clone(), options: options() }),
            // What an agent asks may be answered in words although it named options.
            None if has_text && (all.is_empty() || self.kind() == QuestionKind::Agent) => Ok(()),
            None if all.is_empty() => Err(AnswerMisfit::Empty),
            None => Err(AnswerMisfit::NoChoice { options: options() }),
        }
    }

    /// Whether this person may choose that: who approves may be limited, and anybody who is authenticated may reject.
    fn may_choose(
        &self,
        choice: &str,
        by: &Person,
        submitter: Option<&Person>,
        approved_by: &[Person],
    ) -> Result<(), AnswerMisfit> {
        let Some(approvers) = self.approvers else { return Ok(()) };
        let by = || by.clone();
        if !by().how.is_proof() {
            return Err(AnswerMisfit::Unproven { by: by() });
        }
        if choice != APPROVE {
            return Ok(());
        }
        if approvers.other && submitter.is_some_and(|submitter| submitter.is_same(&by())) {
            return Err(AnswerMisfit::Submitter { by: by() });
        }
        match approved_by.iter().any(|before| before.is_same(&by())) {
            true => Err(AnswerMisfit::Again { by: by() }),
            false => Ok(()),
        }
    }
}
