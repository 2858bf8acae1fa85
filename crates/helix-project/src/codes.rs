//! Codes of errors in a project's own files; each has a page in `docs/errors/`.

/// A page that is no usable skill.
pub const BAD_SKILL: &str = "HX0450";
/// A plan names a skill that nobody has.
pub const UNKNOWN_SKILL: &str = "HX0451";
/// What a project has written for agents is not told them as it is (warning).
pub const RULES_NOT_TOLD: &str = "HX0454";
