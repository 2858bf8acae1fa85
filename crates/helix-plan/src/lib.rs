//! Plans: the phases a job carries out. `model` is what the engine works with; `parse` reads `phases.yaml`.
//!
//! Must not know the repository: what exists on disk is checked by the engine at submit.

mod check;
mod checked;
pub mod codes;
mod command;
mod defaults;
mod dialects;
pub mod fragment;
mod gates;
mod grow;
mod model;
mod order;
mod parse;
mod pattern;
mod print;
mod reach;
mod reference;
mod source;
pub mod workflow;

pub use checked::PhasePlaces;
pub use command::{SplitError, split_words};
pub use defaults::{default_gates_markdown, in_order_of_cost};
pub use dialects::{Modern, Normalised, modern_id};
pub use model::{
    Approval, ApprovedBy, Approvers, Defaults, Delivery, GATE_TIMEOUT, GateCost, GateSpec, GeneratePhases, HTTP_STATUS,
    Health, MutationGate, OnFailure, PROBE_DELAY, PROBE_RETRIES, PROBE_TIMEOUT, Phase, PhaseType, Plan, Probe, Seconds,
    Switch, Taken, TestsGate, VERIFY_TIMEOUT, Verify,
};
pub use parse::{ParsedPlan, PlanPlaces, TO_DESCRIBE};
pub use pattern::{PathError, can_meet, is_glob, normal_path};
pub use reach::{Ancestry, Graph};
pub use reference::{gates_markdown, keys_markdown};
pub use source::json_schema;
