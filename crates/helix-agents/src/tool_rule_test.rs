use super::*;

#[test]
fn a_pattern_is_meant_from_a_directory_or_from_where_it_says() {
    let beneath = |text: &str| text.parse::<ToolRule>().unwrap().beneath(Path::new("/work")).to_string();
    assert_eq!(beneath("read:.env"), "read:/work/**/.env");
    assert_eq!(beneath("read:secrets/"), "read:/work/**/secrets/");
    assert_eq!(beneath("read:./.env"), "read:/work/.env");
    assert_eq!(beneath("write:docs/**"), "write:/work/docs/**");
    assert_eq!(beneath("read:/etc/shadow"), "read:/etc/shadow");
    assert_eq!(beneath("read:~/.ssh/**"), "read:~/.ssh/**");
    assert_eq!(beneath("shell:make"), "shell:make");
}

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
