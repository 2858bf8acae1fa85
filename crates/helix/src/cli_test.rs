use super::*;

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}
