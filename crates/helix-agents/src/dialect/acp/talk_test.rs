//! Recordings of real agents (`tests/fixtures/acp`): what Helix answered them is what it answers now, and each run amounts to what
//! it was.

use std::path::Path;

use agent_client_protocol_schema::v1::NewSessionRequest;
use helix_core::agent_event::AgentEvent;
use helix_core::run::{Outcome, OutcomeName};
use serde_json::{Value, json};

use super::super::ask::Ask;
use super::super::permission::Permissions;
use super::Talk;
use crate::dialect::{Ended, dialect};
use crate::invocation::StreamEnd;
use crate::profile::{AskedSchema, DialectName, ExitStatus, ToolAccess};

/// What a run said, in both directions.
struct Recording(Vec<(bool, Value)>);

impl Recording {
    fn read(name: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/acp").join(name).with_extension("jsonl");
        let read = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            line.get("from").map_or_else(|| (false, line["to"].clone()), |from| (true, from.clone()))
        };
        Self(std::fs::read_to_string(file).unwrap().lines().map(read).collect())
    }

    fn asked(&self, method: &str) -> Value {
        let asked = self.0.iter().find(|(from, message)| !from && message["method"] == method).unwrap();
        asked.1["params"].clone()
    }

    /// What Helix says now to an agent that says what it said, and the lines for the host.
    fn replay(&self, tools: &ToolAccess) -> (Vec<Value>, Vec<String>, Option<bool>) {
        let session: NewSessionRequest = serde_json::from_value(self.asked("session/new")).unwrap();
        let may = Permissions::new(tools, &session.cwd.clone(), false);
        let ask = Ask { session, model: None, may, ask_person: None };
        let prompt = self.asked("session/prompt")["prompt"][0]["text"].as_str().unwrap().to_owned();
        let (mut talk, first) = Talk::begin(&ask.written(), prompt).unwrap();
        let (mut said, mut told, mut over) = (vec![first], Vec::new(), None);
        for (_, message) in self.0.iter().filter(|(from, _)| *from) {
            let heard = talk.take(&message.to_string());
            said.extend(heard.to_agent);
            told.extend(heard.to_host);
            over = over.or(heard.over);
        }
        (said.iter().map(|line| serde_json::from_str(line).unwrap()).collect(), told, over)
    }
}

fn worker() -> ToolAccess {
    ToolAccess { write_below: vec!["/project".into()], shell: true, ..ToolAccess::read_only() }
}

fn judged(lines: &[String], code: i32) -> (Outcome, Vec<AgentEvent>) {
    let mut reader = dialect(DialectName::Acp).reader(AskedSchema::No, ExitStatus::NoEvidence);
    let mut events = Vec::new();
    for line in lines {
        reader.line(line.as_bytes(), &mut events);
    }
    let stream = StreamEnd { lines: lines.len() as u64, read_to_end: true, ..StreamEnd::default() };
    (Outcome::from_facts(&reader.facts(&Ended::exited(code), &stream)), events)
}

fn answer(events: &[AgentEvent]) -> String {
    let finished = events.iter().rev().find_map(|event| match event {
        AgentEvent::Finished { answer, .. } => answer.clone(),
        _ => None,
    });
    finished.unwrap_or_default()
}

#[test]
fn real_agents_are_answered_and_read_as_they_were() {
    for name in ["opencode", "claude", "gemini", "codex"] {
        let recording = Recording::read(name);
        let (said, told, over) = recording.replay(&worker());
        let recorded: Vec<&Value> = recording.0.iter().filter(|(from, _)| !from).map(|(_, message)| message).collect();
        assert_eq!(said.iter().collect::<Vec<_>>(), recorded, "{name}");
        assert_eq!(over, Some(true), "{name}");
        let (outcome, events) = judged(&told, 0);
        assert_eq!(outcome.name(), OutcomeName::Complete, "{name}: {outcome:?}");
        assert_eq!(answer(&events), "It is written.", "{name}");
        let begun = events.iter().filter(|event| matches!(event, AgentEvent::ToolStarted { .. })).count();
        let ended: Vec<bool> = events
            .iter()
            .filter_map(|event| if let AgentEvent::ToolFinished { failed, .. } = event { Some(*failed) } else { None })
            .collect();
        assert_eq!((begun, ended), (1, vec![false]), "{name}");
        // Fragments add up to whole texts.
        let texts = |wanted: bool| -> String {
            let text = |event: &AgentEvent| match event {
                AgentEvent::Text { text, partial, .. } if *partial == wanted => Some(text.clone()),
                _ => None,
            };
            events.iter().filter_map(text).collect()
        };
        assert_eq!(texts(true), texts(false), "{name}");
        // Wherever it is cut off, nothing is done.
        for cut in 0..told.len() {
            let (outcome, _) = judged(&told[..cut], 0);
            assert_ne!(outcome.name(), OutcomeName::Complete, "{name}, cut at {cut}");
        }
        assert_ne!(judged(&told, 1).0.name(), OutcomeName::Complete, "{name}");
    }
}

/// Who may only read is refused to write, and the run is no clean one.
#[test]
fn a_call_that_is_not_allowed_is_refused() {
    let recording = Recording::read("opencode-refused");
    let (said, told, over) = recording.replay(&ToolAccess::read_only());
    assert_eq!(said.last().unwrap()["result"]["outcome"]["optionId"], "reject", "{said:#?}");
    assert_eq!(over, Some(true));
    let (outcome, events) = judged(&told, 0);
    assert_ne!(outcome.name(), OutcomeName::Complete, "{outcome:?}");
    assert!(events.iter().any(|event| matches!(event, AgentEvent::ToolFinished { failed: true, .. })), "{events:#?}");
}

#[test]
fn an_agent_whose_model_cannot_be_reached_has_not_ended() {
    let (_, told, over) = Recording::read("opencode-unreachable").replay(&worker());
    assert_eq!(over, None);
    assert_ne!(judged(&told, 0).0.name(), OutcomeName::Complete);
}

/// A conversation whose agent answers what Helix asks with these results, in order.
fn talked(model: Option<&str>, answers: &[Value]) -> (Vec<String>, Vec<String>, Option<bool>) {
    let ask = Ask {
        session: NewSessionRequest::new("/project"),
        model: model.map(str::to_owned),
        may: Permissions::new(&worker(), Path::new("/project"), false),
        ask_person: None,
    };
    let (mut talk, first) = Talk::begin(&ask.written(), "Do it".into()).unwrap();
    let (mut said, mut told, mut over) = (vec![first], Vec::new(), None);
    for answer in answers {
        let last: Value = serde_json::from_str(said.last().unwrap()).unwrap();
        let mut message = answer.clone();
        message["id"] = last["id"].clone();
        let heard = talk.take(&message.to_string());
        said.extend(heard.to_agent);
        told.extend(heard.to_host);
        over = over.or(heard.over);
    }
    (said, told, over)
}

fn hello() -> Value {
    json!({ "result": { "protocolVersion": 1 } })
}

/// A refusal, a login that is missing, another protocol, a limit: none is an answer.
#[test]
fn whatever_is_no_end_of_a_turn_is_no_completed_run() {
    let session = json!({ "result": { "sessionId": "s" } });
    let stopped = |reason: &str| json!({ "result": { "stopReason": reason, "usage": { "outputTokens": 3 } } });
    let cases = [
        (vec![hello(), json!({ "error": { "code": -32000, "message": "Authentication required" } })], "CREDENTIALS"),
        (vec![json!({ "result": { "protocolVersion": 2 } })], ""),
        (vec![hello(), session.clone(), json!({ "error": { "code": -32603, "message": "Internal error" } })], ""),
        // An error that is none of JSON-RPC's.
        (vec![hello(), session.clone(), json!({ "error": "boom" })], ""),
        (vec![hello(), session.clone(), stopped("refusal")], "REFUSED"),
        (vec![hello(), session.clone(), stopped("max_tokens")], ""),
        (vec![hello(), session.clone(), stopped("max_turn_requests")], "LIMIT"),
        (vec![hello(), session.clone(), stopped("cancelled")], ""),
        // Ended well without a word, and with no token: a stream that was cut off.
        (vec![hello(), session.clone(), stopped("end_turn")], ""),
    ];
    for (answers, name) in cases {
        let (_, told, over) = talked(None, &answers);
        let (outcome, _) = judged(&told, i32::from(over != Some(true)));
        assert_ne!(outcome.name(), OutcomeName::Complete, "{answers:?}: {outcome:?}");
        let shown = serde_json::to_value(outcome.name()).unwrap();
        assert!(shown.as_str().unwrap().contains(name), "{answers:?}: {shown}");
    }
}

#[test]
fn a_model_is_chosen_by_what_the_session_offers() {
    let options = json!({ "result": { "sessionId": "s", "configOptions": [{
        "id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "a",
        "options": [{ "value": "a", "name": "A" }, { "value": "b", "name": "B" }],
    }] } });
    let (said, _, _) = talked(Some("b"), &[hello(), options.clone()]);
    assert!(said[2].contains("session/set_config_option") && said[2].contains("\"value\":\"b\""), "{said:?}");
    let former =
        json!({ "result": { "sessionId": "s", "models": { "availableModels": [{ "modelId": "b", "name": "B" }] } } });
    let (said, _, _) = talked(Some("b"), &[hello(), former, json!({ "result": {} })]);
    assert!(said[2].contains("session/set_model") && said[3].contains("session/prompt"), "{said:?}");
    let (_, told, over) = talked(Some("c"), &[hello(), options]);
    assert!(over == Some(false) && told[0].contains("no model \\\"c\\\": it has a, b"), "{told:?}");
}

/// What is no message is skipped, and other requests are refused: an agent reads and writes by itself.
#[test]
fn noise_and_other_requests_change_nothing() {
    let ask =
        Ask { session: NewSessionRequest::new("/project"), model: None, may: Permissions::default(), ask_person: None };
    let (mut talk, _) = Talk::begin(&ask.written(), "Do it".into()).unwrap();
    assert_eq!(talk.take("Loading…").to_host, ["{\"acp\":\"noise\"}"]);
    let write = json!({ "jsonrpc": "2.0", "id": 7, "method": "fs/write_text_file", "params": {} });
    assert!(talk.take(&write.to_string()).to_agent[0].contains("-32601"));
}

/// A request for permission need not say again what the agent has told of its call.
#[test]
fn a_call_is_judged_by_all_that_was_told_of_it() {
    let tools = ToolAccess { shell: true, write_below: vec!["/project".into()], ..ToolAccess::read_only() };
    let ask = Ask {
        session: NewSessionRequest::new("/project"),
        model: None,
        may: Permissions::new(&tools, Path::new("/project"), false),
        ask_person: None,
    };
    let (mut talk, _) = Talk::begin(&ask.written(), "Do it".into()).unwrap();
    let mut answer = |path: &str| {
        let update = json!({ "sessionUpdate": "tool_call", "toolCallId": path, "title": "Edit", "kind": "edit",
            "locations": [{ "path": path }] });
        let told = json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } });
        assert!(talk.take(&told.to_string()).to_agent.is_empty());
        let options = json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" }]);
        let asked = json!({ "id": 7, "method": "session/request_permission",
            "params": { "sessionId": "s", "toolCall": { "toolCallId": path }, "options": options } });
        talk.take(&asked.to_string()).to_agent.concat()
    };
    assert!(answer("/project/a.py").contains("\"yes\""));
    assert!(answer("/elsewhere/a.py").contains("\"no\""));
}

/// A call that a person decides waits for what is said; why it was not allowed is what is shown of it, and the run is no clean one.
#[test]
fn a_call_that_a_person_decides_is_answered_with_what_is_said() {
    let mut tools = worker();
    tools.rules.ask = vec!["shell:rm *".parse().unwrap()];
    let ask = Ask {
        session: NewSessionRequest::new("/project"),
        model: None,
        may: Permissions::new(&tools, Path::new("/project"), true),
        ask_person: Some(vec!["ask".into()]),
    };
    let request = json!({ "id": "r", "method": "session/request_permission", "params": { "sessionId": "s",
        "toolCall": { "toolCallId": "c", "kind": "execute", "rawInput": { "command": "rm x" } },
        "options": [{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }, { "optionId": "no", "name": "No", "kind": "reject_once" }] } });
    let done = json!({ "method": "session/update", "params": { "sessionId": "s",
        "update": { "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed" } } });
    for allowed in [true, false] {
        let (mut talk, _) = Talk::begin(&ask.written(), "Do it".into()).unwrap();
        let asked = talk.take(&request.to_string()).to_person.unwrap();
        assert_eq!(asked.hook, ["ask"]);
        let event = json!({ "tool_name": "execute", "tool_input": { "command": "rm x" }, "cwd": "/project" });
        assert_eq!(asked.event, event);
        let heard = Talk::settle(asked, allowed, "Ada is asked".into());
        let said: Value = serde_json::from_str(&heard.to_agent[0]).unwrap();
        assert_eq!(said["id"], "r");
        assert_eq!(said["result"]["outcome"]["optionId"], if allowed { "yes" } else { "no" });
        let told = [heard.to_host, talk.take(&done.to_string()).to_host].concat();
        let (_, events) = judged(&told, 0);
        let shown = events
            .iter()
            .any(|event| matches!(event, AgentEvent::ToolFinished { output, .. } if output == "Ada is asked"));
        assert_eq!(shown, !allowed, "{events:#?}");
    }
}

/// What is said of another session is no answer of this one.
#[test]
fn another_session_says_nothing_here() {
    let (session, stopped) = (json!({ "sessionId": "s" }), json!({ "stopReason": "end_turn" }));
    let ask =
        Ask { session: NewSessionRequest::new("/project"), model: None, may: Permissions::default(), ask_person: None };
    let (mut talk, _) = Talk::begin(&ask.written(), "Do it".into()).unwrap();
    let mut told = Vec::new();
    let chunk = |session: &str, text: &str| {
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
        json!({ "method": "session/update", "params": { "sessionId": session, "update": update } })
    };
    let messages = [
        json!({ "id": 0, "result": { "protocolVersion": 1 } }),
        json!({ "id": 1, "result": session }),
        chunk("s", "Mine."),
        chunk("other", "Not mine."),
        json!({ "id": 3, "result": stopped }),
    ];
    for message in messages {
        told.extend(talk.take(&message.to_string()).to_host);
    }
    let (outcome, events) = judged(&told, 0);
    assert_eq!((outcome.name(), answer(&events).as_str()), (OutcomeName::Complete, "Mine."), "{told:#?}");
}
