//! What Helix itself says of plans and ADRs: `file:line:column: error[HX0112]: …`.
//!
//! Must not know the rules for plans and ADRs, only which of their codes mean that something does not parse or is not there.

use crate::cause::*;
use crate::rule::{Rule, rule};

pub(super) static RULES: &[Rule] = &[
    rule(
        "helix.syntax",
        &CONFIG_SYNTAX,
        99,
        r"\berror\[HX0(?:10[12478]|12[0]|20[12468]|228)\]: ",
        (&["plan.yaml:3:5: error[HX0102]: the plan is not readable YAML"], &["plan.yaml: warning[HX0102]: x"]),
    ),
    rule(
        "helix.file",
        &FILE_MISSING,
        99,
        r"\berror\[HX0(?:118|212|408)\]: ",
        (&["adr/001-a.md:9:5: error[HX0212]: src/a.rs is to be changed, but is not there"], &["error[HX0213]: a.rs"]),
    ),
    rule(
        "helix.document",
        &DOCUMENT_INVALID,
        98,
        r"\berror\[HX0[124]\d\d\]: ",
        (
            &["phases.yaml:3:5: error[HX0112]: phase id `a` is used twice"],
            &["phases.yaml:3:5: warning[HX0125]: an older form", "error[E0112]: x"],
        ),
    ),
];
