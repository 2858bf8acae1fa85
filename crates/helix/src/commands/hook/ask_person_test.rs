use super::*;

/// An agent that is started again works in another place: the same call there is the same question.
#[test]
fn a_call_is_asked_about_as_seen_from_where_the_agent_works() {
    let at = |cwd: &str, input: Value| call(&Event { tool_name: "Write".into(), tool_input: input, cwd: cwd.into() });
    let write = |cwd: &str| at(cwd, json!({ "file_path": format!("{cwd}/infra/a"), "content": "x" }));
    assert_eq!(write("/work/1"), write("/work/2"));
    assert_eq!(
        at("/work/1", json!({ "command": "cd /work/1 && touch /work/1/a" })),
        "cd {work place} && touch {work place}/a"
    );
    assert_ne!(at("/work/1", json!({ "command": "rm -rf ." })), at("/work/1", json!({ "command": "rm -rf /work/1" })));
    let others = "touch /work/10/a /work/1.b /x/work/1/a /work/1~b /work/1+b";
    assert_eq!(at("/work/1", json!({ "command": others })), others);
    assert_eq!(at("", json!({ "command": "touch a" })), "touch a");
    assert_ne!(write("/work/1"), at("/work/1", json!({ "file_path": "/elsewhere/infra/a", "content": "x" })));
}
