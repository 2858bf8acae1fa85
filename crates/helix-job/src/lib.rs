//! Jobs: a plan being carried out. `event` is what happened, `state` what that adds up to, `decide` what is to be done.
//!
//! Must not know how anything is done: effects are names of work, carried out by `helix-engine`.

mod advance;
mod asking;
mod attempt;
mod attempts;
mod blocked;
mod budget;
mod conflict;
mod decide;
mod delivery;
mod escalate;
mod event;
mod illegal;
mod let_in;
mod named_job;
mod overrule;
mod person;
pub mod phrases;
mod projection;
pub mod question;
mod reopen;
mod replan;
mod review;
mod rollback;
pub mod session;
mod spec;
mod state;
mod view;
mod waiting;

pub use asking::MAX_AGENT_QUESTIONS;
pub use budget::{SideBudget, spent};
pub use decide::{Decision, Effect, decide};
pub use delivery::target_of;
pub use event::{
    Advice, AdviceAction, AttemptStart, Baseline, ChangedPlan, DeliveryStep, Event, Integrated, JobEnd, JobEvent,
    NotIntegrated, Recorded, Reverted, Review, Rollback, RunEnded, SideRun, Validated,
};
pub use helix_adr::AdrText;
pub use helix_core::evidence::{
    ChangeKind, ChangedFile, CommandEvidence, Committed, GateReport, IntegrationTarget, StepOutcome, StepReport,
    TestCounts, Tip,
};
pub use illegal::{Illegal, IllegalEvent};
pub use person::{Attempted, How, Person};
pub use phrases::{describe, remedy};
pub use reopen::{Reopen, ReopenError};
pub use replan::ReplanError;
pub use rollback::RollbackError;
pub use spec::{
    AskPerson, Briefing, Escalation, Grant, JobSpec, Origin, Policy, PromptFile, QUESTION_SECONDS, Replaced, RepoRef,
    Role, Roles, SkillEntry,
};
pub use state::{
    Active, AskedQuestion, Attempt, Begun, Between, Conflict, Dependents, Integration, JobState, LeftOutBy,
    PhaseProgress, PhaseState, PlannedBy, Stage,
};
pub use view::{Accepted, DeliveryState, DeliveryView, JobStatus, JobView, PhaseStatus, PhaseView, ReviewView, Wait};
