//! What shells say that they have not found.

use super::*;

#[test]
fn the_missing_program_is_read_from_what_shells_say() {
    for (said, program) in [
        ("sh: 1: vitest: not found", "vitest"),
        ("bash: line 1: tsc: command not found", "tsc"),
        ("zsh: command not found: eslint", "eslint"),
        ("sh: 1: ./check.sh: not found", "./check.sh"),
    ] {
        assert_eq!(missing_program(said).as_deref(), Some(program));
    }
    assert_eq!(missing_program("exit 127"), None);
}
