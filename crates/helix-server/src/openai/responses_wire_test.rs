use std::time::Duration;

use helix_core::ids::{SessionId, TurnId};
use helix_core::run::Outcome;
use helix_core::usage::Usage;
use helix_engine::consultant::{TurnEnded, TurnEvent};
use helix_engine::sessions::JobNews;
use helix_language::ErrorView;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::job_links::JobLinks;
use crate::openai::presenter::Presenter;

const WEB: Profile = Profile::OpenWebUi;

fn presenter(profile: Profile) -> Presenter<ResponsesWire> {
    Presenter::new(AnswerOptions {
        id: "resp_1".into(),
        model: "helix".into(),
        created: "2026-01-01T00:00:00Z".parse().unwrap(),
        profile,
        include_usage: true,
        previous: None,
        language: Language::English,
    })
}

fn stream(profile: Profile, events: Vec<TurnEvent>) -> Vec<Value> {
    let mut presenter = presenter(profile);
    let mut out = Vec::new();
    presenter.begin(&mut out);
    for event in events {
        presenter.event(&mut out, event);
    }
    assert!(presenter.is_over());
    let text = String::from_utf8(out).unwrap();
    text.split_terminator("\n\n")
        .map(|frame| {
            // Open WebUI's own events have no name.
            let (name, data) = match frame.strip_prefix("event: ") {
                Some(named) => named.split_once("\ndata: ").unwrap(),
                None => ("", frame.strip_prefix("data: ").unwrap()),
            };
            let data: Value = serde_json::from_str(data).unwrap();
            assert_eq!(data["type"].as_str().unwrap_or_default(), name);
            data
        })
        .collect()
}

fn ended(error: Option<&str>) -> TurnEvent {
    let usage = Usage { input_tokens: 10, output_tokens: 5, cost_usd: 0.25, ..Usage::default() };
    let error = error.map(|message| ErrorView { message: message.into(), hint: Some("do this".into()), said: None });
    let (outcome, took) = (Outcome::LocalCommand, Duration::ZERO);
    TurnEvent::Ended(Box::new(TurnEnded { outcome, answer: "whole".into(), usage, took, is_in_order: true, error }))
}

fn call(id: &str) -> TurnEvent {
    TurnEvent::ToolStarted { id: id.into(), name: "Bash".into(), input: json!({ "command": "ls" }) }
}

/// A mark that closes code in one item would open it in the next.
#[test]
fn a_note_in_an_item_of_its_own_closes_nothing() {
    let text = |text: &str| TurnEvent::Text { text: text.into() };
    let done = |id: &str| TurnEvent::ToolFinished { id: id.into(), output: "x".into(), failed: false };
    let note = |id: &str| TurnEvent::Note { text: format!("> {id}\n") };
    for profile in [WEB, Profile::Plain] {
        let frames = stream(
            profile,
            vec![text("So:\n```\nx"), call("a"), done("a"), note("1"), text("~~~\ny"), note("2"), ended(None)],
        );
        let whole = frames.iter().filter(|frame| frame["type"] == "response.output_text.done");
        let texts: Vec<&str> = whole.map(|frame| frame["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["So:\n```\nx", "\n\n> 1\n\n~~~\ny\n~~~\n\n> 2\n"]);
    }
}

#[test]
fn items_are_opened_and_closed_in_order_with_their_text() {
    let session = SessionId::new("s").unwrap();
    let frames = stream(
        Profile::Plain,
        vec![
            TurnEvent::Began { turn: TurnId::nth(&session, 1), session },
            TurnEvent::Thinking { text: "hm".into() },
            call("a"),
            TurnEvent::ToolFinished { id: "a".into(), output: "x".into(), failed: false },
            TurnEvent::Text { text: "Do".into() },
            TurnEvent::Text { text: "ne.".into() },
            ended(None),
        ],
    );
    let kinds: Vec<&str> =
        frames.iter().map(|frame| frame["type"].as_str().unwrap().trim_start_matches("response.")).collect();
    assert_eq!(
        kinds,
        [
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "output_item.done",
            "output_item.added",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "completed",
        ]
    );
    for (number, frame) in frames.iter().enumerate() {
        assert_eq!(frame["sequence_number"], number);
    }
    let response = &frames.last().unwrap()["response"];
    assert_eq!(response["output"][1]["type"], "mcp_call");
    assert_eq!(response["output"][1]["output"], "x");
    assert_eq!(response["output"][2]["content"][0]["text"], "Done.");
    assert_eq!(response["usage"]["input_tokens"], 10);
}

/// What current OpenAI clients read as the error of a call.
#[test]
fn a_call_that_failed_has_an_error_of_its_own_kind() {
    let failed = TurnEvent::ToolFinished { id: "a".into(), output: "x".into(), failed: true };
    let frames = stream(Profile::Plain, vec![call("a"), failed, ended(None)]);
    let item = &frames.last().unwrap()["response"]["output"][0];
    let error = json!({ "type": "mcp_tool_execution_error", "content": [{ "type": "text", "text": "x" }] });
    assert_eq!((&item["status"], &item["output"], &item["error"]), (&json!("failed"), &Value::Null, &error));
}

#[test]
fn a_failed_turn_closes_its_calls_and_says_so_once() {
    let frames = stream(WEB, vec![TurnEvent::Text { text: "half".into() }, call("a"), ended(Some("it broke"))]);
    let last = frames.last().unwrap();
    assert_eq!((&last["type"], &last["response"]["error"]), (&json!("response.completed"), &Value::Null), "{last}");
    let output = last["response"]["output"].as_array().unwrap();
    let kinds: Vec<&str> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "function_call", "function_call_output", "message"]);
    assert!(output[3]["content"][0]["text"].as_str().unwrap().starts_with("\n\n> [!CAUTION]"));
    assert_eq!(output[2]["call_id"], output[1]["call_id"]);
    assert_eq!(lines(&frames), ["Stopped with an error"], "the page would show the error twice more");
    let plain = stream(Profile::Plain, vec![ended(Some("it broke"))]);
    let last = plain.last().unwrap();
    assert_eq!(last["type"], "response.failed");
    assert!(last["response"]["error"]["message"].as_str().unwrap().contains("Do this"), "{last}");
}

/// The lines above the answer.
fn lines(frames: &[Value]) -> Vec<String> {
    let lines = frames.iter().filter_map(|frame| frame.pointer("/event/data"));
    lines
        .map(|line| {
            assert_eq!(line["done"], true, "no line shimmers");
            line["description"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn what_jobs_do_after_an_answer_is_shown_where_the_client_shows_it() {
    let mut presenter = presenter(WEB);
    let mut out = Vec::new();
    presenter.begin(&mut out);
    presenter.event(&mut out, TurnEvent::Text { text: "It runs.".into() });
    let TurnEvent::Ended(end) = ended(None) else { panic!() };
    presenter.on_answer(&mut out, &end);
    presenter.on_news(
        &mut out,
        &JobNews::Progress { text: "Phase 1 of 1".into(), phases: Vec::new() },
        &JobLinks::default(),
    );
    presenter.on_news(&mut out, &JobNews::GoesOn { text: "it goes on".into(), jobs: Vec::new() }, &JobLinks::default());
    presenter.end(&mut out, &ApiError::turn_lost(Language::English));
    assert!(presenter.is_over());
    let text = String::from_utf8(out).unwrap();
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(at("It runs.") < at("Phase 1 of 1") && at("Phase 1 of 1") < at("it goes on"));
    assert!(at("it goes on") < at("event: response.completed"), "{text}");
    assert!(!self::presenter(Profile::Plain).shows_status(), "no other client waits for jobs");
}

fn event() -> impl Strategy<Value = TurnEvent> {
    let text = "[a-z{}\":\\n]{0,12}|\\{\"event\":\\{\"type\":\"execute\"\\}\\}";
    prop_oneof![
        text.prop_map(|text| TurnEvent::Text { text }),
        text.prop_map(|text| TurnEvent::Thinking { text }),
        text.prop_map(|text| TurnEvent::Status { text }),
        ("[a-c]", text).prop_map(|(id, name)| TurnEvent::ToolStarted { input: json!({ "x": name }), id, name }),
        ("[a-c]", text, any::<bool>()).prop_map(|(id, output, failed)| TurnEvent::ToolFinished { id, output, failed }),
    ]
}

proptest! {
    /// Whatever an agent does: every item that was opened is closed once, no frame is an `event` object but Helix's own lines, and each
    /// function call has its output.
    #[test]
    fn every_stream_ends_in_order(events in prop::collection::vec(event(), 0..30), fails in any::<bool>(), web in any::<bool>()) {
        let mut events = events;
        events.push(ended(fails.then_some("no")));
        let frames = stream(if web { WEB } else { Profile::Plain }, events);
        let mut open = std::collections::BTreeSet::new();
        for frame in &frames {
            if let Some(event) = frame.get("event") {
                prop_assert!(web && event["type"] == "status" && event["data"]["done"] == true, "{}", frame);
                continue;
            }
            match frame["type"].as_str().unwrap() {
                "response.output_item.added" => prop_assert!(open.insert(frame["output_index"].as_u64())),
                "response.output_item.done" => prop_assert!(open.remove(&frame["output_index"].as_u64())),
                _ => {}
            }
        }
        prop_assert!(open.is_empty());
        let output = frames.last().unwrap()["response"]["output"].as_array().unwrap().clone();
        let of = |kind: &str| output.iter().filter(|item| item["type"] == kind).count();
        prop_assert_eq!(of("function_call"), of("function_call_output"));
    }
}
