//! How often something was tried, in words: one place, so that every text counts and agrees alike.
//!
//! Must not know what was tried.

use helix_core::said::Words;
use helix_language::recorded;

/// After how many attempts of those that are granted, such as `after 2 of 3 attempts`.
pub(super) fn after_attempts(made: u32, granted: u32) -> Words {
    match (made, granted) {
        (0, _) => recorded!("after-none"),
        (1, 1) => recorded!("after-only"),
        (made, granted) if made == granted => recorded!("after-all", made = made),
        (made, granted) if made < granted => recorded!("after-some", made = made, granted = granted),
        (made, _) => recorded!("after-more", made = made),
    }
}

#[cfg(test)]
#[path = "attempts_test.rs"]
mod tests;
