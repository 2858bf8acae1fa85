//! The codes of plan diagnostics; each has a page in `docs/errors/`.
//!
//! Must not know when they are given; the list exists so that pages and code cannot drift apart.

use helix_core::codes;

codes! {
    /// The file is not UTF-8.
    NOT_UTF8 = "HX0101";
    /// The file is not readable YAML.
    INVALID_YAML = "HX0102";
    /// The file is too long, or too much once aliases are resolved.
    TOO_LARGE = "HX0103";
    /// More than one YAML document.
    SEVERAL_DOCUMENTS = "HX0104";
    /// Nothing in the file, or no phases.
    EMPTY_PLAN = "HX0105";
    /// A key that does not exist there.
    UNKNOWN_KEY = "HX0106";
    /// A key written twice.
    DUPLICATE_KEY = "HX0107";
    /// A required key is missing.
    MISSING_KEY = "HX0108";
    /// A value of another type than expected.
    WRONG_TYPE = "HX0109";
    /// A phase type, gate type or other word that does not exist.
    UNKNOWN_WORD = "HX0110";
    /// A phase id of the wrong form.
    BAD_PHASE_ID = "HX0111";
    /// A phase id used twice.
    DUPLICATE_PHASE_ID = "HX0112";
    /// A dependency on a phase that does not exist.
    UNKNOWN_DEPENDENCY = "HX0113";
    /// A phase that depends on itself.
    SELF_DEPENDENCY = "HX0114";
    /// Phases that depend on each other in a cycle.
    DEPENDENCY_CYCLE = "HX0115";
    /// Two phases that may run at the same time claim the same file.
    CLAIMS_COLLIDE = "HX0116";
    /// A path that does not lie inside the repository.
    BAD_PATH = "HX0117";
    /// An input that another phase writes at an unknown time.
    INPUT_NOT_READY = "HX0118";
    /// A duration of the wrong form.
    BAD_DURATION = "HX0119";
    /// A number outside its range.
    OUT_OF_RANGE = "HX0120";
    /// A command that cannot be run without a shell.
    BAD_COMMAND = "HX0121";
    /// A key that has no meaning for this type of phase.
    MISPLACED_KEY = "HX0122";
    /// Nothing would prove that the phase did its work.
    NOTHING_PROVES = "HX0123";
    /// The same value twice in a list.
    DUPLICATE_VALUE = "HX0124";
    /// An older form that was read as the modern one.
    OLD_FORM = "HX0125";
    /// A key of an older form that has no meaning any more.
    IGNORED_KEY = "HX0126";
    /// Two keys for the same thing, of which at least one is an older one.
    TWO_KEYS = "HX0127";
    /// A file that a phase of an older plan writes in two ways.
    FILES_MERGE = "HX0128";
    /// No workflow has the name that a plan gives.
    UNKNOWN_WORKFLOW = "HX0129";
    /// An input of a workflow has no value, or one that it does not take.
    WORKFLOW_INPUT = "HX0130";
    /// The file of a workflow cannot be used.
    BAD_WORKFLOW = "HX0131";
    /// A text of a workflow asks for an input that it does not declare.
    BAD_PLACEHOLDER = "HX0132";
    /// A workflow has two slots, or none where the plan needs one.
    BAD_SLOT = "HX0133";
    /// A prompt template of the user cannot be used.
    BAD_PROMPT = "HX0134";
    /// A probe of a gate that cannot be made.
    BAD_PROBE = "HX0135";
    /// A plan with a decision whose criteria none of its gates checks.
    CRITERIA_UNCHECKED = "HX0136";
    /// A phase still has the template's text instead of a description.
    UNEDITED = "HX0137";
    /// A plan with a decision whose code no verifier looks at.
    UNVERIFIED = "HX0138";
}
