//! A decision as a job, a prompt or a gate carries it: its path and its text.
//!
//! Must not know what the text says; [`Adr`](crate::Adr) reads it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An ADR's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdrText {
    /// Relative to the repository's root.
    pub path: String,
    /// Full text.
    pub text: String,
}
