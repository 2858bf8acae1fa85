//! The rules behind the outcomes, on records that no recording holds: subscription limits, several terminal records,
//! errors of sub-agents, fields missing or of another type.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

use helix_agents::{
    AskedSchema, Classified, DialectName, Ended, ExitStatus, Reader, StreamEnd, classify_recording, dialect,
};
use helix_core::agent_event::AgentEvent;
use helix_core::run::{Outcome, OutcomeName};
use serde_json::{Value, json};

fn init() -> Value {
    json!({"type": "system", "subtype": "init", "session_id": "s-1", "model": "m", "claude_code_version": "2.1.330"})
}

fn says(text: &str) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": null, "session_id": "s-1", "message": {"id": "m1", "model": "m",
        "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 10, "output_tokens": 1}}})
}

fn error_message(error: &str, parent: Value) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": parent, "error": error,
        "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}]}})
}

/// A record of success with some fields replaced; `null` stays, and a field set to `"-"` is removed.
fn result(changes: Value) -> Value {
    let mut record = json!({"type": "result", "subtype": "success", "is_error": false, "api_error_status": null,
        "num_turns": 1, "result": "hi", "stop_reason": "end_turn", "session_id": "s-1", "total_cost_usd": 0.5,
        "usage": {"input_tokens": 100, "output_tokens": 20},
        "modelUsage": {"m": {"inputTokens": 100, "outputTokens": 20, "costUSD": 0.5}},
        "permission_denials": [], "terminal_reason": "completed"});
    for (name, value) in changes.as_object().unwrap() {
        if value == "-" {
            record.as_object_mut().unwrap().shift_remove(name);
        } else {
            record[name] = value.clone();
        }
    }
    record
}

fn classified(records: &[Value], ended: &Ended, asked_schema: AskedSchema) -> Classified {
    let stdout: String = records.iter().map(|record| format!("{record}\n")).collect();
    classify_recording(DialectName::Claude, stdout.as_bytes(), ended, asked_schema).unwrap()
}

fn name(records: &[Value], code: i32) -> OutcomeName {
    classified(records, &Ended::exited(code), AskedSchema::No).outcome.name()
}

#[test]
fn a_subscription_limit_names_the_time_of_its_reset() {
    let event = |status: &str, resets: Value| {
        json!({"type": "rate_limit_event", "rate_limit_info":
            {"status": status, "resetsAt": resets, "rateLimitType": "five_hour", "isUsingOverage": false}})
    };
    let failed = result(json!({"is_error": true, "result": "limit", "stop_reason": "stop_sequence", "modelUsage": {}}));
    for resets in [json!(1_795_299_301), json!(1_795_299_301_000_i64), json!("1795299301"), json!(1_795_299_301.0)] {
        let run = classified(&[init(), event("rejected", resets), failed.clone()], &Ended::exited(1), AskedSchema::No);
        let resets_at = Some("2026-11-21T22:15:01Z".parse().unwrap());
        assert_eq!(run.outcome, Outcome::RateLimited { resets_at });
    }
    // A warning is no refusal, and neither is a limit beyond which the account pays.
    assert_eq!(name(&[init(), event("allowed_warning", json!(1)), failed.clone()], 1), OutcomeName::Error);
    let mut paid = event("rejected", json!(1));
    paid["rate_limit_info"]["isUsingOverage"] = json!(true);
    assert_eq!(name(&[init(), paid, failed], 1), OutcomeName::Error);
    assert_eq!(name(&[init(), event("rejected", json!(1)), result(json!({}))], 0), OutcomeName::Complete);
}

/// By the number, not by words such as "important" that hold "port".
#[test]
fn http_statuses_are_read_as_numbers_and_as_texts() {
    for (status, words) in [(503, "503 this is important: permanent, invalid, 401"), (429, "it is not supported: 404")]
    {
        let failed = result(json!({"is_error": true, "api_error_status": status, "result": words, "modelUsage": {}}));
        let expected = if status == 429 { OutcomeName::RateLimited } else { OutcomeName::OverloadedOrNetwork };
        assert_eq!(name(&[init(), failed], 1), expected, "{words}");
    }
    let with = |status: Value| result(json!({"is_error": true, "api_error_status": status, "modelUsage": {}}));
    for (status, expected) in [
        (json!(429), OutcomeName::RateLimited),
        (json!("429"), OutcomeName::RateLimited),
        (json!(529), OutcomeName::OverloadedOrNetwork),
        (json!("503"), OutcomeName::OverloadedOrNetwork),
        (json!("401"), OutcomeName::FatalCredentials),
        // Payment required, as gateways say it.
        (json!(402), OutcomeName::FatalCredentials),
        (json!(400), OutcomeName::Error),
        (json!(404), OutcomeName::Error),
        (json!(408), OutcomeName::OverloadedOrNetwork),
        (json!(409), OutcomeName::OverloadedOrNetwork),
        (json!(413), OutcomeName::Error),
        (json!(422), OutcomeName::Error),
        (json!(null), OutcomeName::Error),
        (json!("n/a"), OutcomeName::Error),
        (json!(-1), OutcomeName::Error),
        (json!(100_000_503), OutcomeName::Error),
    ] {
        assert_eq!(name(&[init(), with(status.clone())], 1), expected, "{status}");
    }
}

#[test]
fn the_records_own_error_counts_where_no_message_declared_one() {
    let with = |kind: &str| result(json!({"is_error": true, "api_error_type": kind, "modelUsage": {}}));
    assert_eq!(name(&[init(), with("overloaded_error")], 1), OutcomeName::OverloadedOrNetwork);
    assert_eq!(name(&[init(), with("rate_limit_error")], 1), OutcomeName::RateLimited);
    assert_eq!(name(&[init(), with("authentication_error")], 1), OutcomeName::FatalCredentials);
    assert_eq!(name(&[init(), with("something_new")], 1), OutcomeName::Error);
}

#[test]
fn an_error_that_the_agent_got_over_or_that_a_subagent_had_is_not_the_runs() {
    let turns = result(json!({"subtype": "error_max_turns", "is_error": true, "result": "-", "errors": ["Reached 2"],
        "stop_reason": "tool_use", "terminal_reason": "max_turns"}));
    let main = error_message("rate_limit", json!(null));
    let sub = error_message("rate_limit", json!("toolu_1"));
    assert_eq!(name(&[init(), main.clone(), turns.clone()], 1), OutcomeName::RateLimited);
    assert_eq!(name(&[init(), main.clone(), says("again"), turns.clone()], 1), OutcomeName::Limit);
    assert_eq!(name(&[init(), sub, turns.clone()], 1), OutcomeName::Limit);
    // Nor is the error of an earlier turn.
    let failed = result(json!({"is_error": true, "modelUsage": {}}));
    assert_eq!(name(&[init(), main, failed, init(), turns], 1), OutcomeName::Limit);
}

#[test]
fn kinds_of_error_need_no_terminal_reason() {
    let kind = |subtype: &str| {
        result(
            json!({"subtype": subtype, "is_error": true, "result": "-", "terminal_reason": "-", "errors": ["e1", "e2"]}),
        )
    };
    for (subtype, expected) in [
        ("error_max_turns", OutcomeName::Limit),
        ("error_max_budget_usd", OutcomeName::Limit),
        ("error_max_structured_output_retries", OutcomeName::Limit),
        ("error_during_execution", OutcomeName::Config),
        ("error_of_tomorrow", OutcomeName::Error),
    ] {
        let run = classified(&[init(), kind(subtype)], &Ended::exited(1), AskedSchema::No);
        assert_eq!(run.outcome.name(), expected, "{subtype}");
        assert_eq!(run.facts.terminal.unwrap().message, "e1; e2");
    }
    let aborted =
        result(json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_later"}));
    assert_eq!(name(&[init(), aborted], 0), OutcomeName::Interrupted);
}

#[test]
fn only_exactly_right_fields_are_a_success() {
    assert_eq!(name(&[init(), result(json!({}))], 0), OutcomeName::Complete);
    for (field, value) in [
        ("is_error", json!("-")),
        ("is_error", json!("false")),
        ("is_error", json!(0)),
        ("is_error", json!(null)),
        ("subtype", json!("-")),
        ("subtype", json!("Success")),
        ("subtype", json!("error_max_turns")),
        ("terminal_reason", json!("-")),
        ("terminal_reason", json!("tomorrow")),
        ("stop_reason", json!(null)),
        ("stop_reason", json!("tool_use")),
        ("stop_reason", json!("max_tokens")),
        ("stop_reason", json!("pause_turn")),
        ("result", json!("")),
        ("result", json!("  \n ")),
        ("result", json!("-")),
        ("result", json!(5)),
        ("modelUsage", json!({})),
        ("modelUsage", json!(null)),
        ("modelUsage", json!([1])),
        ("api_error_status", json!(500)),
    ] {
        let found = name(&[init(), result(json!({field: value.clone()}))], 0);
        assert!(
            !matches!(found, OutcomeName::Complete | OutcomeName::CompleteWithDenials),
            "{field}={value}: {found:?}"
        );
    }
    for code in [1, 2, 130, 137, 143] {
        assert_eq!(name(&[init(), result(json!({}))], code), OutcomeName::Error, "exit {code}");
    }
    // A version that does not break usage down by model names the turn's tokens instead.
    assert_eq!(name(&[init(), result(json!({"modelUsage": "-"}))], 0), OutcomeName::Complete);
    assert_eq!(name(&[init(), result(json!({"modelUsage": "-", "usage": {}}))], 0), OutcomeName::Truncated);
}

#[test]
fn a_summary_in_place_of_what_was_said_is_known() {
    let summary = json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": {"trigger": "auto"}});
    for (records, compacted) in [
        (vec![init(), summary, says("hi"), result(json!({}))], true),
        (vec![init(), says("hi"), result(json!({}))], false),
    ] {
        let run = classified(&records, &Ended::exited(0), AskedSchema::No);
        assert_eq!((run.outcome.name(), run.facts.compacted), (OutcomeName::Complete, compacted));
    }
}

#[test]
fn what_a_schema_asks_for_must_be_there() {
    let ended = Ended::exited(0);
    let outcome = |changes: Value, asked| classified(&[init(), result(changes)], &ended, asked).outcome.name();
    let with = json!({"structured_output": {"a": 1}, "stop_reason": "tool_use", "result": ""});
    assert_eq!(outcome(with.clone(), AskedSchema::Yes), OutcomeName::Complete);
    assert_eq!(outcome(with, AskedSchema::No), OutcomeName::Truncated);
    assert_eq!(outcome(json!({}), AskedSchema::Yes), OutcomeName::Incomplete);
    assert_eq!(outcome(json!({"structured_output": null}), AskedSchema::Yes), OutcomeName::Incomplete);
}

#[test]
fn the_last_record_counts_and_empty_follow_ups_do_not() {
    let follow_up = |changes: Value| {
        let mut record = result(changes);
        record["origin"] = json!({"kind": "task-notification"});
        record
    };
    let empty = follow_up(json!({"num_turns": 0, "stop_reason": null, "result": "", "modelUsage": {}}));
    let first = [init(), says("one"), result(json!({"result": "one"}))];
    let run = classified(&[&first[..], &[init(), empty.clone()]].concat(), &Ended::exited(0), AskedSchema::No);
    assert_eq!((run.outcome.name(), run.answer.as_str()), (OutcomeName::Complete, "one"));
    // By itself it is no terminal record.
    assert_eq!(name(&[init(), empty], 0), OutcomeName::Truncated);
    let cut = follow_up(json!({"stop_reason": null, "result": "tw"}));
    assert_eq!(name(&[&first[..], &[init(), cut]].concat(), 0), OutcomeName::Truncated);
    let second = follow_up(json!({"result": "two"}));
    let run = classified(&[&first[..], &[init(), second]].concat(), &Ended::exited(0), AskedSchema::No);
    assert_eq!((run.outcome.name(), run.answer.as_str()), (OutcomeName::Complete, "two"));
    assert_eq!(name(&[&first[..], &[result(json!({"is_error": true}))]].concat(), 1), OutcomeName::Error);
}

#[test]
fn a_turn_that_began_after_the_record_makes_it_the_last_word_no_more() {
    let done = [init(), says("one"), result(json!({}))];
    let tool_result = json!({"type": "user", "parent_tool_use_id": null, "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t", "content": "x"}]}});
    let delta = json!({"type": "stream_event", "parent_tool_use_id": null, "event":
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "tw"}}});
    for further in [init(), says("two"), tool_result, delta] {
        let run = classified(&[&done[..], &[further]].concat(), &Ended::exited(0), AskedSchema::No);
        assert_eq!(run.outcome.name(), OutcomeName::Truncated);
        assert_ne!(run.answer, "hi", "the answer of the turn before is not the answer of this one");
    }
    // What a sub-agent says while it is put down is no further turn.
    let mut sub = says("two");
    sub["parent_tool_use_id"] = json!("toolu_1");
    assert_eq!(name(&[&done[..], &[sub]].concat(), 0), OutcomeName::Complete);
}

#[test]
fn tasks_that_did_not_end_well_are_lost() {
    let task = |subtype: &str, status: &str| json!({"type": "system", "subtype": subtype, "task_id": "t1", "status": status, "patch": {"status": status}});
    let began = task("task_started", "");
    let run = |middle: &[Value]| name(&[&[init()], middle, &[result(json!({}))]].concat(), 0);
    assert_eq!(run(std::slice::from_ref(&began)), OutcomeName::CompleteButTasksLost, "nobody saw it end");
    assert_eq!(run(&[began.clone(), task("task_notification", "completed")]), OutcomeName::Complete);
    assert_eq!(run(&[began.clone(), task("task_updated", "completed")]), OutcomeName::Complete);
    for status in ["stopped", "failed", "killed"] {
        assert_eq!(run(&[began.clone(), task("task_notification", status)]), OutcomeName::CompleteButTasksLost);
        assert_eq!(run(&[task("task_notification", status)]), OutcomeName::CompleteButTasksLost);
    }
    let mut foreground = began;
    foreground["is_backgrounded"] = json!(false);
    assert_eq!(run(&[foreground]), OutcomeName::Complete, "its result is its tool's result");
}

#[test]
fn a_hook_that_stops_the_turn_is_no_completion_whatever_else_is_missing() {
    let stopped = result(json!({"terminal_reason": "hook_stopped", "result": "", "stop_reason": "tool_use"}));
    assert_eq!(name(&[init(), stopped], 0), OutcomeName::StoppedByHook);
}

#[test]
fn an_early_error_exit_is_wrong_usage_also_when_it_speaks_on_stdout() {
    let outcome = |stdout: &str, code| {
        classify_recording(DialectName::Claude, stdout.as_bytes(), &Ended::exited(code), AskedSchema::No)
            .unwrap()
            .outcome
            .name()
    };
    assert_eq!(outcome("", 1), OutcomeName::Usage);
    assert_eq!(outcome("error: unknown option\n", 1), OutcomeName::Usage);
    assert_eq!(outcome("{\"type\":\"system\",\"subtype\":\"hook_started\"}\n", 1), OutcomeName::Usage);
    assert_eq!(outcome("{\"type\":\"sys", 1), OutcomeName::Truncated);
    assert_eq!(outcome(&format!("{}\n", init()), 1), OutcomeName::Truncated);
    assert_eq!(outcome("", 0), OutcomeName::Truncated);
    assert_eq!(outcome("", 143), OutcomeName::Truncated);
}

/// Of a line that is longer than any that an agent writes only the beginning is kept, as of a run that is under way.
#[test]
fn a_line_that_is_too_long_is_no_record() {
    let long = result(json!({"result": "x".repeat(33 << 20)}));
    assert_eq!(name(&[init(), long.clone()], 0), OutcomeName::Truncated);
    let read = classified(&[init(), long, result(json!({}))], &Ended::exited(0), AskedSchema::No);
    assert_eq!((read.outcome.name(), read.answer.as_str()), (OutcomeName::Truncated, "hi"));
}

fn events(records: &[Value]) -> (Vec<AgentEvent>, Reader) {
    let mut reader = dialect(DialectName::Claude).reader(AskedSchema::No, ExitStatus::NoEvidence);
    let mut events = Vec::new();
    for record in records {
        reader.line(record.to_string().as_bytes(), &mut events);
    }
    (events, reader)
}

#[test]
fn fragments_add_up_to_the_whole_texts_also_where_nothing_was_streamed() {
    let delta = |text: &str| {
        json!({"type": "stream_event", "parent_tool_use_id": null, "event":
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}})
    };
    let (events, _) = events(&[init(), delta("Hel"), delta("lo"), says("Hello"), says("World")]);
    let texts = |wanted: bool| -> String {
        events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Text { text, partial, .. } if *partial == wanted => Some(text.as_str()),
                _ => None,
            })
            .collect()
    };
    assert_eq!((texts(true).as_str(), texts(false).as_str()), ("HelloWorld", "HelloWorld"));
}

/// A stream that breaks behind a whole text ends no message: what the model says next is a text of its own.
#[test]
fn what_follows_a_whole_text_whose_message_broke_off_begins_a_paragraph() {
    let event = |event: Value| json!({"type": "stream_event", "session_id": "s-1", "event": event});
    let begin = || event(json!({"type": "message_start", "message": {"id": "m", "usage": {}}}));
    let delta = |text: &str| {
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}))
    };
    let end = |reason: &str| event(json!({"type": "message_delta", "delta": {"stop_reason": reason}}));
    let told = |between: Vec<Value>| {
        let before = [init(), begin(), delta("Hello."), says("Hello.")];
        let after = [begin(), delta("And more."), says("And more.")];
        let (events, _) = events(&[&before[..], &between[..], &after[..]].concat());
        let fragment = |event: AgentEvent| match event {
            AgentEvent::Text { text, partial: true, .. } => Some(text),
            _ => None,
        };
        events.into_iter().filter_map(fragment).collect::<String>()
    };
    assert_eq!(told(Vec::new()), "Hello.\n\nAnd more.");
    assert_eq!(told(vec![end("end_turn")]), "Hello.\n\nAnd more.");
    assert_eq!(told(vec![end("max_tokens")]), "Hello.And more.");
}

#[test]
fn every_kind_of_line_becomes_the_event_it_is() {
    let tool = json!({"type": "assistant", "parent_tool_use_id": "toolu_0", "message": {"id": "m2", "model": "m", "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]}});
    let long = "ä".repeat(20_000);
    let done = json!({"type": "user", "parent_tool_use_id": "toolu_0", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": [{"type": "text", "text": long}]}]}});
    let retry = json!({"type": "system", "subtype": "api_retry", "attempt": 2, "max_retries": 10,
        "retry_delay_ms": 554.4, "error_status": 429, "error": "rate_limit"});
    let (events, reader) = events(&[init(), tool, done, retry, json!({"type": "novelty"}), result(json!({}))]);
    let AgentEvent::ToolFinished { output, failed: true, .. } = &events[2] else { panic!("{:?}", events[2]) };
    assert!(output.len() <= 16 * 1024 && output.starts_with('ä'));
    assert_eq!(
        events[1],
        AgentEvent::ToolStarted {
            id: "toolu_1".into(),
            name: "Bash".into(),
            input: json!({"command": "ls"}),
            parent: Some("toolu_0".into())
        }
    );
    let reason = "rate_limit (429)".to_owned();
    assert_eq!(events[3], AgentEvent::ApiRetry { attempt: 2, max: 10, delay_ms: 554, reason });
    assert_eq!(events[4], AgentEvent::Unrecognised { kind_name: "novelty".into() });
    assert!(matches!(&events[5], AgentEvent::Finished { answer: Some(answer), is_error: false, .. } if answer == "hi"));
    assert_eq!(reader.run().session.as_ref().unwrap().as_str(), "s-1");
}

#[test]
fn usage_is_counted_once_however_it_is_reported() {
    // 2.1.197: `modelUsage` and the cost grow over the process.
    let second = result(json!({"total_cost_usd": 0.75,
        "modelUsage": {"m": {"inputTokens": 150, "outputTokens": 30}, "small": {"inputTokens": 7, "outputTokens": 1}},
        "usage": {"input_tokens": 50, "output_tokens": 10}}));
    let (_, reader) = events(&[init(), says("a"), result(json!({})), init(), says("b"), second]);
    let usage = reader.run().usage;
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_usd, usage.turns), (157, 31, 0.75, 2));
    // 2.1.330: they grow over the whole resumed session, and each record names its own part.
    let part = json!({"m": {"inputTokens": 100, "outputTokens": 20, "costUSD": 0.25}});
    let resumed =
        result(json!({"total_cost_usd": 9.0, "modelUsage": {"m": {"inputTokens": 9000, "outputTokens": 900}},
        "model_usage_since_last_result": part}));
    let (_, reader) = events(&[init(), says("a"), resumed]);
    let usage = reader.run().usage;
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_usd), (100, 20, 0.25));
    // Cut off: what the messages named.
    let (_, mut reader) = events(&[init(), says("a"), says("a")]);
    assert_eq!((reader.run().usage.input_tokens, reader.run().usage.turns), (10, 1));
    reader.facts(&Ended::exited(1), &StreamEnd::default());
    assert_eq!(reader.run().answer, "a\n\na");
}
