use super::*;

#[test]
fn rules_are_read_and_written_alike() {
    for text in [
        "read",
        "read:.env",
        "write:docs/**",
        "shell:git push *",
        "shell",
        "web",
        "web:example.com",
        "agents",
        "mcp:tracker",
        "mcp:tracker/close",
        "tool:TodoWrite",
    ] {
        let rule: ToolRule = text.parse().unwrap();
        assert_eq!(rule.to_string(), text);
        assert_eq!(serde_json::from_str::<ToolRule>(&serde_json::to_string(&rule).unwrap()).unwrap(), rule);
    }
    for text in ["", "Read", "read:", "mcp", "mcp:", "mcp:a/", "mcp:a/b/c", "agents:x", "tool", "bash:x", "read:a\nb"] {
        assert_eq!(text.parse::<ToolRule>(), Err(NoToolRule(text.into())), "{text:?}");
    }
}
