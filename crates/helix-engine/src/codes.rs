//! Codes of errors that the engine finds at submit; each has a page in `docs/errors/`.

pub use helix_project::codes::{BAD_SKILL, UNKNOWN_SKILL};
/// The beginning of an id fits several.
pub use helix_store::codes::AMBIGUOUS;

/// It is done as far as Helix may; the rest is a person's.
pub const LEFT_TO_PERSON: &str = "HX0818";
/// The plan file cannot be found or read.
pub const PLAN_UNREADABLE: &str = "HX0401";
/// The plan has errors (each has its own code).
pub const PLAN_INVALID: &str = "HX0402";
/// The project is no usable repository.
pub const NO_REPOSITORY: &str = "HX0403";
/// The repository has no commit yet.
pub const NO_COMMIT: &str = "HX0404";
/// Git does not know who makes commits.
pub const NO_IDENTITY: &str = "HX0405";
/// An agent is not configured.
pub const UNKNOWN_AGENT: &str = "HX0406";
/// An agent cannot be used: missing, too old, does not answer.
pub const AGENT_UNUSABLE: &str = "HX0407";
/// An input of a phase is not in the repository.
pub const INPUT_MISSING: &str = "HX0408";
/// The plan's ADR cannot be read.
pub const ADR_MISSING: &str = "HX0409";
/// The path lies outside the configured roots.
pub const OUTSIDE_ROOTS: &str = "HX0410";
/// A phase that was named does not exist.
pub const UNKNOWN_PHASE: &str = "HX0412";
/// The journal could not be written.
pub const JOURNAL_FAILED: &str = "HX0413";
/// A limit that is no positive number.
pub const BAD_LIMIT: &str = "HX0414";
/// An agent cannot keep a limit that it is given.
pub const LIMIT_NOT_KEPT: &str = "HX0415";
/// A gate could not answer with what is there.
pub const GATE_CANNOT_ANSWER: &str = "HX0417";
/// An output looks guessed: a file of its name is elsewhere (warning).
pub const OUTPUT_GUESSED: &str = "HX0418";
/// An agent does not have a model.
pub const UNKNOWN_MODEL: &str = "HX0416";
/// What a project's settings forbid is not known.
pub const SETTINGS_UNREADABLE: &str = "HX0423";
/// An agent is only told what it must not use (warning).
pub const DENIED_ONLY_TOLD: &str = "HX0424";
/// The virtual environment is none.
pub const NO_VENV: &str = "HX0420";
/// The idempotency key has started another job.
pub const KEY_USED: &str = "HX0419";
/// What the repository says of its workspace cannot be used.
pub const NO_WORKSPACE: &str = "HX0427";
/// The sandbox is required, and this machine cannot put it up.
pub const NO_SANDBOX: &str = "HX0422";
