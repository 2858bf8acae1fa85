//! Plans: the phases a job carries out. `model` is what the engine works with; `parse` reads `phases.yaml`.
//!
//! Must not know the repository: what exists on disk is checked by the engine at submit.

mod check;
mod checked;
pub mod codes;
mod command;
mod delivery;
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
mod words;
pub mod workflow;

pub use command::{SplitError, split_words};
pub use delivery::{Delivery, HTTP_STATUS, PROBE_DELAY, PROBE_RETRIES, PROBE_TIMEOUT, Probe};
pub use dialects::{Modern, Normalised, OldForm, OldPlace, old_forms, old_forms_markdown};
pub use gates::GATE_TIMEOUT;
pub use model::{
    Approval, Defaults, GateCost, GateSpec, GeneratePhases, OnFailure, Phase, PhaseType, Plan, Seconds, Verify,
};
pub use parse::{ParsedPlan, PhasePlaces, PlanPlaces, VERIFY_TIMEOUT};
pub use pattern::{PathError, can_meet, is_glob, normal_path};
pub use reach::Ancestry;
pub use reference::{gates_markdown, keys_markdown};
pub use source::json_schema;
pub use words::{DefaultGate, DefaultGates, default_gates_markdown, in_order_of_cost};
