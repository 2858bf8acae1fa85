use super::*;

#[test]
fn permissions_and_hooks_are_read_whatever_else_stands_there() {
    let text = "\u{feff}{\"model\": \"x\", \"permissions\": {\"allow\": [1], \"deny\": [\"Read(./.env)\", \"Skill(x)\"]}, \"hooks\": {\"Stop\": []}}";
    let rules: Vec<String> = denied(text).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(rules, ["read:./.env", "tool:Skill(x)"]);
    assert_eq!(hooks(text).unwrap().len(), 1);
    assert_eq!(denied("{}").unwrap(), []);
    for wrong in ["", "[]", "{\"permissions\": {\"deny\": \"Bash\"}}", "{\"permissions\": {\"deny\": [1]}}"] {
        assert!(denied(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn tool_servers_are_read_with_their_variables() {
    let text = r#"{"mcpServers": {
        "files": {"command": "npx", "args": ["-y", "${WHAT:-files}"], "env": {"TOKEN": "${SECRET}"}},
        "far": {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${SECRET}"}},
        "old": {"type": "sse", "url": "https://x.example"},
        "unset": {"command": "x", "args": ["${NOT_SET}"]},
        "neither": {"type": "http", "command": "x"}
    }}"#;
    let found = servers(text, |name| (name == "SECRET").then(|| "s3".to_owned())).unwrap();
    let env = [("TOKEN".to_owned(), "s3".to_owned())].into();
    let program = McpPlace::Program { command: "npx".into(), args: vec!["-y".into(), "files".into()], env };
    assert_eq!(found["files"], Ok(program));
    assert_eq!(found["far"].as_ref().unwrap().url(), Some("https://x.example/mcp"));
    assert!(!format!("{found:?}").contains("s3"), "{found:?}");
    assert!(found["old"].as_ref().unwrap_err().contains("\"sse\""));
    assert!(found["unset"].as_ref().unwrap_err().contains("NOT_SET"));
    assert!(found["neither"].is_err());
    assert!(servers("{\"mcpServers\": []}", |_| None).is_err());
}
