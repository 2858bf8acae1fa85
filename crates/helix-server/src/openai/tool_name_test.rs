use super::*;

#[test]
fn every_tool_of_helix_has_words_and_no_name_of_a_machine_is_shown() {
    for tool in helix_engine::TOOL_NAMES {
        assert!(phrases::tool(Language::English, tool).is_some(), "{tool} has none");
        let words = shown(Language::English, &format!("mcp__helix__{tool}"));
        assert!(!words.contains('_') && words.starts_with(char::is_uppercase), "{words}");
    }
    assert_eq!(shown(Language::English, "mcp__issue_tracker__list_open"), "issue tracker: list open");
    assert_eq!(shown(Language::English, "mcp__helix__new_tool"), "new tool");
    for kept in ["Bash", "mcp__", "mcp____x", "my__tool"] {
        assert_eq!(shown(Language::English, kept), kept);
    }
}
