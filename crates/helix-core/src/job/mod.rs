//! Jobs: a plan being carried out. `event` is what happened, `state` what that adds up to, `decide` what is to be done.
//!
//! Must not know how anything is done: effects are names of work, carried out by `helix-engine`.

mod attempt;
mod decide;
mod event;
mod projection;
mod spec;
mod state;
mod view;

pub use attempt::{describe, remedy};
pub use decide::{Decision, Effect, Tip, decide};

pub use event::{
    ChangeKind, ChangedFile, CommandEvidence, Committed, GateReport, IntegrationTarget, JobEnd, JobEvent, Recorded,
    TestCounts,
};
pub use spec::{AdrText, JobSpec, Origin, Policy, RepoRef};
pub use state::{
    Active, Between, Dependents, IllegalEvent, Integration, JobState, PhaseProgress, PhaseState, RunEnded, Stage, Try,
};
pub use view::{ErrorView, JobStatus, JobView, PhaseStatus, PhaseView};
