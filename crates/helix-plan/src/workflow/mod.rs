//! Workflows: phases that many plans share, as data with typed inputs, and a slot for the plan's own phases.
//!
//! Must not know where workflow files lie; the engine finds them, and four are built in.
//!
//! How a plan and its workflow become one plan:
//! 1. The workflow's phases come in their order. The plan's own phases take the place of the slot.
//! 2. Own phases that depend on none of their own kind depend on what the slot depends on, and on what they name themselves.
//! 3. Whatever depends on the slot depends on the own phases on which no other own phase depends.
//! 4. Own phases that need (directly or not) a phase behind the slot come behind it and are no part of it.
//! 5. Without own phases for the slot, its stand-in runs; a slot without stand-in disappears, and what depended on it
//!    depends on what the slot depends on.
//! 6. Ids are unique over both, and after that all rules of plans hold for the whole.

mod expand;
mod inputs;
mod read;

use schemars::JsonSchema;
use serde::Serialize;

use helix_core::diagnostic::Diagnostic;

pub use super::model::{InputValue, WorkflowCall};
pub use inputs::{InputKind, InputOrigin};
pub use read::json_schema;

/// An input that a workflow declares.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Input {
    /// What the workflow calls it: `${{ name }}`.
    pub name: String,
    /// What values it takes.
    #[serde(rename = "type")]
    pub kind: InputKind,
    /// What it is for.
    pub description: String,
    /// What of the plan it is taken from where the plan gives no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<InputOrigin>,
    /// The value where there is no other; without one, the plan must give it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<InputValue>,
}

/// A workflow without errors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Workflow {
    /// What plans call it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it is given, in the order of its file.
    pub inputs: Vec<Input>,
    /// What messages call its file.
    pub file: String,
    pub source: String,
}

/// A built-in workflow's name and source.
const BUILT_IN: [(&str, &str); 4] = [
    ("intern-simple", include_str!("built_in/intern-simple.yaml")),
    ("intern-complex", include_str!("built_in/intern-complex.yaml")),
    ("extern-simple", include_str!("built_in/extern-simple.yaml")),
    ("extern-complex", include_str!("built_in/extern-complex.yaml")),
];

impl Workflow {
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A built-in workflow; `None` when none has this name.
    ///
    /// # Errors
    /// Those of [`Workflow::parse`], which the tests rule out.
    pub fn built_in(name: &str) -> Option<Result<Self, Vec<Diagnostic>>> {
        let (name, source) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Some(Self::parse(&format!("built-in workflow {name}"), source))
    }
}
