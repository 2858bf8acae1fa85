use super::*;
use helix_language::RECORD;

#[test]
fn counts_and_grammar_agree() {
    let counts = [(0, 3), (1, 1), (1, 3), (2, 3), (3, 3), (4, 3)];
    let said = counts.map(|(made, granted)| RECORD.words(&after_attempts(made, granted)));
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
