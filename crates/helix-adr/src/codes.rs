//! The codes of ADR diagnostics; each has a page in `docs/errors/`.
//!
//! Must not know when they are given; the list exists so that pages and code cannot drift apart.

use helix_core::codes;

codes! {
    /// The file is not UTF-8.
    NOT_UTF8 = "HX0201";
    /// The file has no front matter.
    NO_FRONT_MATTER = "HX0202";
    /// The front matter is not readable YAML.
    BAD_FRONT_MATTER = "HX0204";
    /// A required key is missing.
    MISSING_KEY = "HX0205";
    /// A value of another type than expected.
    WRONG_TYPE = "HX0206";
    /// A word that is not in the list.
    UNKNOWN_WORD = "HX0207";
    /// A key written twice.
    DUPLICATE_KEY = "HX0208";
    /// A key that Helix does not know (warning).
    UNKNOWN_KEY = "HX0209";
    /// A required section is missing.
    MISSING_SECTION = "HX0210";
    /// No acceptance criterion with a checkbox.
    NO_CRITERIA = "HX0211";
    /// A file to modify does not exist.
    MODIFY_MISSING = "HX0212";
    /// A file to create exists already.
    CREATE_EXISTS = "HX0213";
    /// An ADR that is referred to does not exist.
    UNKNOWN_ADR = "HX0214";
    /// ADRs that supersede each other in a cycle.
    SUPERSEDE_CYCLE = "HX0215";
    /// Two ADRs with one number.
    NUMBER_COLLISION = "HX0216";
    /// Fewer than three criteria (warning).
    FEW_CRITERIA = "HX0217";
    /// A section with next to no text (warning).
    THIN_SECTION = "HX0218";
    /// A classification key is missing (warning).
    NO_CLASSIFICATION = "HX0219";
    /// A file of `files.docs` is not mentioned (warning).
    DOCS_NOT_MENTIONED = "HX0220";
    /// A file name of another form (warning).
    FILE_NAME_FORM = "HX0221";
    /// A criterion that nobody can check (warning).
    VAGUE_CRITERION = "HX0222";
    /// A path that does not lie inside the repository.
    BAD_PATH = "HX0223";
    /// Text in a wrong encoding.
    MOJIBAKE = "HX0224";
    /// A section that is there twice (warning).
    DUPLICATE_SECTION = "HX0225";
    /// An ADR id of the wrong form.
    BAD_ID = "HX0226";
    /// Front matter and text name different states (warning).
    STATUS_DIFFERS = "HX0227";
    /// A rules file that cannot be read.
    BAD_RULES = "HX0228";
    /// Evidence of a criterion that cannot be used (warning).
    UNUSABLE_EVIDENCE = "HX0229";
    /// ADRs that depend on each other in a cycle (warning).
    DEPENDENCY_CYCLE = "HX0230";
    /// A file that another decision in force claims (warning).
    CLAIM_CONFLICT = "HX0231";
    /// Text of the template that nobody has replaced (a warning in drafts).
    UNFILLED = "HX0232";
    /// An implemented decision whose files are not as it says (warning).
    IMPLEMENTED_MISSING = "HX0233";
    /// A completeness rule is not met.
    INCOMPLETE = "HX0240";
}
