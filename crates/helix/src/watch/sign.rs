//! What the sign of a state means, for its colour. Must not know where it is shown.

use helix_job::phrases::Sign;

use crate::terminal::Meaning;

/// What a state means, for its colour.
pub(crate) fn meaning(sign: Sign) -> Meaning {
    match sign {
        Sign::Passed => Meaning::Good,
        Sign::Failed => Meaning::Bad,
        Sign::Waiting | Sign::Skipped | Sign::Unclear => Meaning::Attention,
        Sign::Running => Meaning::Strong,
        Sign::Pending | Sign::Note => Meaning::Weak,
    }
}
