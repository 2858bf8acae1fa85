use helix_core::usage::Usage;
use serde_json::json;

use super::*;

fn heard(events: &[AgentEvent]) -> Doing {
    let mut doing = Doing::default();
    events.iter().for_each(|event| doing.hear(Language::English, &"j1".parse().unwrap(), event));
    doing
}

#[test]
fn it_says_which_tool_is_at_which_file_and_how_many_tokens_were_used() {
    let input = json!({ "file_path": "/state/worktrees/j1/page.1/src/shop.py", "content": "a\nb\n" });
    let usage = Usage { input_tokens: 1_000, output_tokens: 234, ..Usage::default() };
    let doing = heard(&[
        AgentEvent::Started { session: None, model: None, version: None },
        AgentEvent::UsageReported { usage },
        AgentEvent::ToolStarted { id: "t".into(), name: "Write".into(), input, parent: None },
    ]);
    assert_eq!(doing.now.as_deref(), Some("✎ src/shop.py (+2)"));
    assert_eq!((doing.tokens, doing.tail.len()), (1_234, 1));
}

#[test]
fn a_limit_is_told_until_the_agent_goes_on() {
    let limited = AgentEvent::RateLimited { rejected: true, resets_at: Some("2026-05-20T12:00:00Z".parse().unwrap()) };
    let doing = heard(std::slice::from_ref(&limited));
    assert!(doing.limit.as_deref().is_some_and(|limit| limit.contains("resets")), "{doing:?}");
    let word = AgentEvent::Text { text: "on".into(), partial: true, parent: None };
    assert_eq!(heard(&[limited, word]).limit, None);
}

#[test]
fn what_an_agent_writes_does_not_steer_the_terminal() {
    let text = "\u{1b}[2Jgone\u{202e}\r\n  and\u{7} here".to_owned();
    let doing = heard(&[AgentEvent::Text { text, partial: false, parent: None }]);
    assert_eq!(doing.tail, ["[2Jgone", "  and here"]);
}
