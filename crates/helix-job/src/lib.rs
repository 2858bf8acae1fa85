//! Jobs: a plan being carried out. `event` is what happened, `state` what that adds up to, `decide` what is to be done.
//!
//! Must not know how anything is done: effects are names of work, carried out by `helix-engine`.

mod advance;
mod asking;
mod attempt;
mod blocked;
mod budget;
mod conflict;
mod decide;
mod delivery;
mod escalate;
mod event;
pub mod phrases;
mod projection;
pub mod question;
mod reopen;
mod review;
pub mod session;
mod spec;
mod state;
mod tries;
mod view;
mod waiting;

pub use asking::MAX_AGENT_QUESTIONS;
pub use attempt::{describe, remedy};
pub use budget::SideBudget;
pub use decide::{Decision, Effect, Tip, decide};
pub use delivery::{Former, FormerEnd, StepOutcome, StepReport, Validated};
pub use event::{
    Advice, AdviceAction, ChangeKind, ChangedFile, CommandEvidence, Committed, GateReport, IntegrationTarget, JobEnd,
    JobEvent, Recorded, Review, TestCounts,
};
pub use reopen::{Reopen, ReopenError};
pub use spec::{
    AdrText, AskPerson, Briefing, Escalation, Grant, JobSpec, Origin, Policy, PromptFile, QUESTION_SECONDS, RepoRef,
    Role, Roles, SkillEntry,
};
pub use state::{
    Active, Asked, Begun, Between, Conflict, Dependents, IllegalEvent, Integration, JobState, LeftOutBy, PhaseProgress,
    PhaseState, RunEnded, Stage, Try,
};
pub use view::{ErrorView, JobStatus, JobView, PhaseStatus, PhaseView, Wait};
