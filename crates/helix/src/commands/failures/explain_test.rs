use helix_failure::report::HISTORY_TOKENS;

use super::*;

#[test]
fn the_default_of_the_command_line_is_the_reports_own() {
    assert_eq!(DEFAULT_TOKENS, HISTORY_TOKENS.to_string());
}
