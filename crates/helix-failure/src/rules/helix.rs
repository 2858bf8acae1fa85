//! What Helix itself says of plans and ADRs: `file:line:column: error[HX0112]: …`.
//!
//! Must not know the rules for plans and ADRs, only which of their codes mean that something does not parse or is not there.

use crate::cause::*;

rules! {
    "helix.syntax" CONFIG_SYNTAX 99 r"\berror\[HX0(?:10[12478]|12[0]|20[12468]|228)\]: ";
    "helix.file" FILE_MISSING 99 r"\berror\[HX0(?:118|212|408)\]: ";
    "helix.document" DOCUMENT_INVALID 98 r"\berror\[HX0[124]\d\d\]: ";
}
