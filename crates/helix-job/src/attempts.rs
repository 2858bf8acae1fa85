//! How often something was tried, in words: one place, so that every text counts and agrees alike.
//!
//! Must not know what was tried.

/// After how many attempts of those that are granted, such as `after 2 of 3 attempts`.
pub(super) fn after_attempts(made: u32, granted: u32) -> String {
    match (made, granted) {
        (0, _) => "before an attempt that counts".into(),
        (1, 1) => "after its only attempt".into(),
        (made, granted) if made == granted => format!("after all {made} attempts"),
        (made, granted) if made < granted => format!("after {made} of {granted} attempts"),
        (made, _) => format!("after {made} attempts"),
    }
}

#[cfg(test)]
#[path = "attempts_test.rs"]
mod tests;
