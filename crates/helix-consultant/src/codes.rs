//! Codes of errors in what a user writes for the Consultant; each has a page in `docs/errors/`.

/// `experts.toml` has an error.
pub const EXPERTS_INVALID: &str = "HX0452";
/// The Consultant's own template has an error.
pub const PROMPT_INVALID: &str = "HX0453";
