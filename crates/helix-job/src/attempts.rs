//! How often something was tried, in words: one place, so that every text counts and agrees alike.
//!
//! Must not know what was tried.

/// After how many tries of those that are granted, such as `after 2 of 3 tries`.
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
mod tests {
    use super::*;

    #[test]
    fn counts_and_grammar_agree() {
        let said: Vec<String> = [(0, 3), (1, 1), (1, 3), (2, 3), (3, 3), (4, 3)]
            .map(|(made, granted)| after_attempts(made, granted))
            .into();
        let expected = [
            "before an attempt that counts",
            "after its only attempt",
            "after 1 of 3 attempts",
            "after 2 of 3 attempts",
            "after all 3 attempts",
            "after 4 attempts",
        ];
        assert_eq!(said, expected);
    }
}
