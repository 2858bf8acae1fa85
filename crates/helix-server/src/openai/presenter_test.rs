use std::time::Duration;

use helix_core::ids::{JobId, SessionId, TurnId};
use helix_core::run::Outcome;
use helix_core::usage::Usage;
use helix_job::{PhaseStatus, Wait};
use helix_language::ErrorView;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::openai::chat_wire::ChatWire;
use crate::openai::marks;

const ITEMS: Profile = Profile::OpenWebUi;
const BASIC: Profile = Profile::OpenWebUiBasic;

fn presenter(profile: Profile) -> Presenter<ChatWire> {
    Presenter::new(options(profile))
}

fn options(profile: Profile) -> AnswerOptions {
    AnswerOptions {
        id: "chatcmpl-1".into(),
        model: "helix".into(),
        created: "2026-01-01T00:00:00Z".parse().unwrap(),
        profile,
        include_usage: true,
        previous: None,
        language: Language::English,
    }
}

fn began() -> TurnEvent {
    let session = SessionId::new("s1").unwrap();
    TurnEvent::Began { turn: TurnId::nth(&session, 1), session }
}

fn text(text: &str) -> TurnEvent {
    TurnEvent::Text { text: text.into() }
}

fn thinking(text: &str) -> TurnEvent {
    TurnEvent::Thinking { text: text.into() }
}

fn call(id: &str) -> TurnEvent {
    TurnEvent::ToolStarted { id: id.into(), name: "Bash".into(), input: json!({ "command": "cargo test" }) }
}

fn answer(id: &str, failed: bool) -> TurnEvent {
    TurnEvent::ToolFinished { id: id.into(), output: "1 failed in 0.1s".into(), failed }
}

fn ended(outcome: Outcome, error: Option<(&str, &str)>) -> TurnEvent {
    let error = error.map(|(message, hint)| ErrorView { message: message.into(), hint: Some(hint.into()), said: None });
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_tokens: 100,
        cache_write_tokens: 20,
        turns: 2,
        cost_usd: 0.25,
    };
    let took = Duration::from_secs(12);
    TurnEvent::Ended(Box::new(TurnEnded {
        outcome,
        answer: "whole answer".into(),
        usage,
        took,
        is_in_order: true,
        error,
    }))
}

/// Good ends need no proof here: the encoder goes by `error` alone.
fn done() -> TurnEvent {
    ended(Outcome::LocalCommand, None)
}

/// All frames as JSON; `[DONE]` as a string.
fn frames(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    assert!(text.is_empty() || text.ends_with("\n\n"), "{text:?}");
    text.split_terminator("\n\n")
        .map(|frame| {
            let data = frame.strip_prefix("data: ").unwrap();
            assert!(!data.contains('\n'), "{data}");
            if data == "[DONE]" { json!("[DONE]") } else { serde_json::from_str(data).unwrap() }
        })
        .collect()
}

fn stream(profile: Profile, events: Vec<TurnEvent>) -> Vec<Value> {
    let mut presenter = presenter(profile);
    let mut out = Vec::new();
    presenter.begin(&mut out);
    for event in events {
        presenter.event(&mut out, event);
    }
    frames(&out)
}

fn phases() -> Vec<PhaseNews> {
    let phase = |text: &str, status| PhaseNews { text: text.into(), status };
    vec![phase("Write (agent running)", PhaseStatus::Running), phase("Check", PhaseStatus::Pending)]
}

/// What a person would care about in each frame.
fn gist(frames: &[Value]) -> Vec<String> {
    frames
        .iter()
        .map(|frame| {
            if let Some(tasks) = frame.pointer("/event/data/tasks") {
                return format!("list {tasks}");
            }
            if let Some(status) = frame.pointer("/event/data") {
                return format!("status {} {}", status["description"], status["done"]);
            }
            if let Some(kind) = frame["type"].as_str() {
                let item = &frame["item"];
                let kind = kind.trim_start_matches("response.output_item.");
                return format!("{kind} {} {} {}", frame["output_index"], item["type"], item["status"]);
            }
            if let Some(delta) = frame.pointer("/choices/0/delta") {
                return format!("{delta} {}", frame["choices"][0]["finish_reason"]);
            }
            if frame["usage"].is_object() { format!("usage {}", frame["usage"]) } else { frame.to_string() }
        })
        .collect()
}

#[test]
fn open_webui_sees_activity_where_it_shows_it() {
    let events = vec![
        began(),
        thinking("hm"),
        text("Let me see."),
        call("a"),
        call("b"),
        answer("b", true),
        TurnEvent::Status { text: "retry 1 of 3".into() },
        answer("a", false),
        text("Done."),
        done(),
    ];
    insta::assert_debug_snapshot!(gist(&stream(ITEMS, events)), @r#"
    [
        "{\"role\":\"assistant\",\"content\":\"\"} null",
        "{\"reasoning_content\":\"hm\"} null",
        "{\"content\":\"Let me see.\"} null",
        "added 2 \"function_call\" \"in_progress\"",
        "added 3 \"function_call\" \"in_progress\"",
        "done 3 \"function_call\" \"failed\"",
        "added 4 \"function_call_output\" \"failed\"",
        "done 4 \"function_call_output\" \"failed\"",
        "status \"retry 1 of 3\" true",
        "done 2 \"function_call\" \"completed\"",
        "added 5 \"function_call_output\" \"completed\"",
        "done 5 \"function_call_output\" \"completed\"",
        "status \"Answering\" true",
        "{\"content\":\"Done.\"} null",
        "status \"Answered · 2 tools · 12 s · $0.25\" true",
        "{} \"stop\"",
        "usage {\"prompt_tokens\":130,\"completion_tokens\":5,\"total_tokens\":135,\"prompt_tokens_details\":{\"cached_tokens\":100,\"cache_write_tokens\":20},\"cost\":0.25,\"turns\":2}",
        "\"[DONE]\"",
    ]
    "#);
}

#[test]
fn other_clients_see_chunks_only() {
    let events = vec![
        began(),
        TurnEvent::Status { text: phrases::queued(Language::English, 1) },
        text("Hi."),
        thinking("hm"),
        call("a"),
        answer("a", false),
        done(),
    ];
    let frames = stream(Profile::Plain, events);
    for frame in &frames[..frames.len() - 1] {
        assert_eq!(frame["object"], "chat.completion.chunk", "{frame}");
    }
    insta::assert_debug_snapshot!(gist(&frames), @r#"
    [
        "{\"role\":\"assistant\",\"content\":\"\"} null",
        "{\"reasoning_content\":\"Waiting for 1 earlier message of this chat\\n\"} null",
        "{\"content\":\"Hi.\"} null",
        "{\"reasoning_content\":\"hm\"} null",
        "{\"reasoning_content\":\"\\n→ Run cargo test\\n\"} null",
        "{\"reasoning_content\":\"✓ Ran cargo test: 1 failed\\n\"} null",
        "{} \"stop\"",
        "usage {\"prompt_tokens\":130,\"completion_tokens\":5,\"total_tokens\":135,\"prompt_tokens_details\":{\"cached_tokens\":100,\"cache_write_tokens\":20},\"cost\":0.25,\"turns\":2}",
        "\"[DONE]\"",
    ]
    "#);
}

#[test]
fn a_failure_is_told_once_and_ends_in_order() {
    let failed = || ended(Outcome::Stalled, Some(("the agent hung", "ask again")));
    let plain = gist(&stream(Profile::Plain, vec![began(), failed()]));
    let error =
        r#"{"error":{"message":"The agent hung. Ask again.","type":"server_error","param":null,"code":"stalled"}}"#;
    assert_eq!(plain[plain.len() - 2], error, "programs need to know");
    let failed = failed();
    let frames = stream(ITEMS, vec![began(), text("Half"), call("a"), failed]);
    insta::assert_debug_snapshot!(gist(&frames), @r#"
    [
        "{\"role\":\"assistant\",\"content\":\"\"} null",
        "{\"content\":\"Half\"} null",
        "added 1 \"function_call\" \"in_progress\"",
        "done 1 \"function_call\" \"failed\"",
        "added 2 \"function_call_output\" \"failed\"",
        "done 2 \"function_call_output\" \"failed\"",
        "{\"content\":\"\\n\\n> [!CAUTION]\\n> **Helix:** The agent hung.\\n>\\n> Ask again.\\n\"} null",
        "status \"Stopped with an error\" true",
        "{} \"stop\"",
        "usage {\"prompt_tokens\":130,\"completion_tokens\":5,\"total_tokens\":135,\"prompt_tokens_details\":{\"cached_tokens\":100,\"cache_write_tokens\":20},\"cost\":0.25,\"turns\":2}",
        "\"[DONE]\"",
    ]
    "#);
}

/// Whose client shows the whole answer already gets nothing of it again, and there is no placeholder text, ever.
#[test]
fn the_end_of_a_turn_does_not_repeat_its_answer() {
    for (events, times) in [(vec![began(), text(""), done()], 0), (vec![began(), text("whole answer"), done()], 1)] {
        let frames = stream(Profile::Plain, events);
        let contents = frames.iter().filter(|frame| frame["choices"][0]["delta"]["content"] == "whole answer").count();
        assert_eq!(contents, times);
    }
}

/// Where the agent's text ends within code, nobody would see what stands below it as a note.
#[test]
fn a_note_closes_what_is_open_before_it() {
    let note = TurnEvent::Note { text: phrases::caution("it broke", None) };
    let said = |frames: &[Value]| -> String {
        frames.iter().filter_map(|one| one.pointer("/choices/0/delta/content")?.as_str()).collect()
    };
    let text_of = |events| said(&stream(ITEMS, events));
    let whole = text_of(vec![began(), text("So:\n```rust\nfn main"), note.clone(), text("Next."), done()]);
    assert_eq!(whole, "So:\n```rust\nfn main\n```\n\n> [!CAUTION]\n> **Helix:** It broke.\n\nNext.");
    // Above an agent that gives its answer only at the end.
    let whole = text_of(vec![began(), note, text("whole answer"), done()]);
    assert_eq!(whole, "> [!CAUTION]\n> **Helix:** It broke.\n\nwhole answer");
}

/// The client shows a text already, on which the answer goes on.
#[test]
fn a_note_closes_what_is_open_in_the_text_that_it_goes_on_from() {
    let (mut presenter, mut out) = (presenter(Profile::Plain), Vec::new());
    presenter.goes_on_from("So:\n```\nx");
    presenter.event(&mut out, TurnEvent::Note { text: "> 1\n".into() });
    assert_eq!(presenter.text_so_far(), "\n```\n\n> 1\n");
}

/// Stop closes the connection: from then on nothing can be told, so nothing may be left shimmering.
#[test]
fn no_line_shimmers_and_none_stays_that_is_not_true_any_more() {
    let places = Wait::Places { of: "agents".into(), taken: 2, places: 2, waiting: 1 };
    for (event, line) in [
        (TurnEvent::Status { text: "retry".into() }, "retry"),
        (
            TurnEvent::Status { text: phrases::queued(Language::English, 2) },
            "Waiting for 2 earlier messages of this chat",
        ),
        (
            TurnEvent::Status { text: phrases::waits(Language::English, &places) },
            "Your message is waiting for a place: 2 of 2 agents running, 1 waiting",
        ),
    ] {
        for seen in [text("a"), thinking("a"), call("a")] {
            let frames = stream(ITEMS, vec![event.clone(), seen]);
            let lines: Vec<&Value> = frames.iter().filter_map(|frame| frame.pointer("/event/data")).collect();
            let shown = |line: &str| json!({ "description": line, "done": true });
            assert_eq!(lines, [&shown(line), &shown(&say!(Language::English, "chat-answering"))]);
        }
    }
}

#[test]
fn what_jobs_do_after_an_answer_is_shown_and_never_shimmers() {
    let mut presenter = presenter(ITEMS);
    let mut out = Vec::new();
    presenter.event(&mut out, began());
    presenter.event(&mut out, text("whole answer"));
    let TurnEvent::Ended(end) = done() else { panic!() };
    presenter.on_answer(&mut out, &end);
    assert!(!presenter.is_over());
    for line in ["Phase 1 of 2, Write: agent running", "Phase 1 of 2, Write: tests_pass passed"] {
        presenter.on_news(&mut out, &JobNews::Progress { text: line.into(), phases: phases() }, &JobLinks::default());
    }
    presenter.on_news(
        &mut out,
        &JobNews::GoesOn { text: "pages goes on".into(), jobs: Vec::new() },
        &JobLinks::default(),
    );
    presenter.end(&mut out, &ApiError::turn_lost(Language::English));
    assert!(presenter.is_over());
    insta::assert_debug_snapshot!(gist(&frames(&out)), @r#"
    [
        "{\"content\":\"whole answer\"} null",
        "list [{\"id\":\"0\",\"content\":\"Write (agent running)\",\"status\":\"in_progress\"},{\"id\":\"1\",\"content\":\"Check\",\"status\":\"pending\"}]",
        "status \"Phase 1 of 2, Write: agent running\" true",
        "list [{\"id\":\"0\",\"content\":\"Write (agent running)\",\"status\":\"in_progress\"},{\"id\":\"1\",\"content\":\"Check\",\"status\":\"pending\"}]",
        "status \"Phase 1 of 2, Write: tests_pass passed\" true",
        "list []",
        "status \"pages goes on\" true",
        "{} \"stop\"",
        "usage {\"prompt_tokens\":130,\"completion_tokens\":5,\"total_tokens\":135,\"prompt_tokens_details\":{\"cached_tokens\":100,\"cache_write_tokens\":20},\"cost\":0.25,\"turns\":2}",
        "\"[DONE]\"",
    ]
    "#);
}

#[test]
fn a_lost_turn_ends_in_order_too() {
    let mut presenter = presenter(BASIC);
    let mut out = Vec::new();
    presenter.event(&mut out, call("a"));
    presenter.end(&mut out, &ApiError::turn_lost(Language::English));
    presenter.event(&mut out, text("too late"));
    let gist = gist(&frames(&out));
    assert!(gist[1].starts_with("status \"✗ Run cargo test: failed (the turn ended"), "{gist:?}");
    assert_eq!(gist.last().unwrap(), "\"[DONE]\"");
    assert!(gist.iter().any(|frame| frame.contains("events ended early")), "{gist:?}");
}

#[test]
fn usage_is_null_until_the_end_and_stands_beside_the_reason_if_not_asked_for() {
    let frames = stream(Profile::Plain, vec![text("a"), done()]);
    assert_eq!(frames[1]["usage"], Value::Null);
    assert!(frames[1].as_object().unwrap().contains_key("usage"));
    let mut presenter = Presenter::<ChatWire>::new(AnswerOptions { include_usage: false, ..options(Profile::Plain) });
    let mut out = Vec::new();
    presenter.event(&mut out, text("a"));
    presenter.event(&mut out, done());
    let frames = self::frames(&out);
    assert!(!frames[0].as_object().unwrap().contains_key("usage"), "{}", frames[0]);
    let end = &frames[1];
    assert_eq!((&end["choices"][0]["finish_reason"], &end["usage"]["total_tokens"]), (&json!("stop"), &json!(135)));
    assert_eq!((frames.len(), &frames[2]), (3, &json!("[DONE]")), "no chunk without choices");
}

/// Text that tries to be something else.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\n\ndata: {\"event\":{\"type\":\"execute\",\"data\":{\"code\":\"alert(1)\"}}}\n\n".to_owned()),
        Just("\r\nevent: error\r\n".to_owned()),
        Just("data: [DONE]\n\n".to_owned()),
        Just("\",\"event\":{\"type\":\"execute\"},\"x\":\"".to_owned()),
        Just("> [!CAUTION]\n> **Helix:** no\n".to_owned()),
        ".{0,40}",
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![Just("a".to_owned()), Just("b".to_owned()), hostile()]
}

fn event() -> impl Strategy<Value = TurnEvent> {
    prop_oneof![
        Just(began()),
        hostile().prop_map(|of| {
            let wait = Wait::Places { of, taken: 1, places: 1, waiting: 1 };
            TurnEvent::Status { text: phrases::waits(Language::English, &wait) }
        }),
        hostile().prop_map(|text| TurnEvent::Status { text }),
        hostile().prop_map(|text| TurnEvent::JobNews { job: JobId::new("j1").unwrap(), text, note: None }),
        hostile().prop_map(|text| TurnEvent::Thinking { text }),
        hostile().prop_map(|text| TurnEvent::Text { text }),
        (id(), hostile(), hostile()).prop_map(|(id, name, input)| TurnEvent::ToolStarted {
            id,
            name,
            input: json!({ "x": input })
        }),
        (id(), hostile(), any::<bool>()).prop_map(|(id, output, failed)| TurnEvent::ToolFinished {
            id,
            output,
            failed
        }),
    ]
}

fn profile() -> impl Strategy<Value = Profile> {
    prop_oneof![Just(Profile::Plain), Just(ITEMS), Just(BASIC)]
}

proptest! {
    /// Whatever an agent says, in whatever order, the stream is well formed, text stays text, and it ends in order.
    #[test]
    fn no_agent_can_break_out_of_its_text(
        profile in profile(),
        events in prop::collection::vec(event(), 0..12),
        error in prop::option::of((hostile(), hostile())),
        cut in any::<bool>(),
        after in prop::option::of(prop::collection::vec(hostile(), 0..4)),
    ) {
        let mut presenter = presenter(profile);
        let mut out = Vec::new();
        presenter.begin(&mut out);
        let mut said = String::new();
        for event in events {
            if let TurnEvent::Text { text } = &event {
                said.push_str(text);
            }
            presenter.event(&mut out, event);
        }
        if cut {
            presenter.end(&mut out, &ApiError::turn_lost(Language::English));
        } else if let (Some(news), true) = (after, presenter.shows_status()) {
            let TurnEvent::Ended(end) = done() else { unreachable!() };
            presenter.on_answer(&mut out, &end);
            for text in news {
                let phases = vec![PhaseNews { text: text.clone(), status: PhaseStatus::Running }];
                presenter.on_news(&mut out, &JobNews::Progress { text, phases }, &JobLinks::default());
            }
            presenter.end(&mut out, &ApiError::turn_lost(Language::English));
        } else {
            presenter.event(&mut out, ended(Outcome::Lost, error.as_ref().map(|(a, b)| (a.as_str(), b.as_str()))));
        }
        let frames = frames(&out);
        prop_assert_eq!(frames.iter().filter(|frame| **frame == "[DONE]").count(), 1);
        prop_assert_eq!(frames.last().unwrap(), "[DONE]");
        let mut calls = Vec::new();
        let mut contents = String::new();
        let mut last_list = json!([]);
        for frame in &frames[..frames.len() - 1] {
            let keys: Vec<&str> = frame.as_object().unwrap().keys().map(String::as_str).collect();
            match keys.as_slice() {
                ["event"] => {
                    prop_assert!(profile != Profile::Plain);
                    let is_list = frame["event"]["type"] == "chat:message:tasks";
                    prop_assert!(is_list && profile == ITEMS || frame["event"]["type"] == "status", "{}", frame);
                    last_list = if is_list { frame["event"]["data"]["tasks"].clone() } else { last_list };
                }
                ["type", "output_index", "item"] => {
                    prop_assert_eq!(profile, ITEMS);
                    let id = frame["item"]["call_id"].as_str().unwrap().to_owned();
                    match (frame["type"].as_str().unwrap(), frame["item"]["type"].as_str().unwrap()) {
                        ("response.output_item.added", "function_call") => calls.push(id),
                        ("response.output_item.done", "function_call") => {}
                        (_, "function_call_output") => calls.retain(|open| open != &id),
                        other => prop_assert!(false, "{:?}", other),
                    }
                }
                ["error"] => {}
                _ => {
                    prop_assert_eq!(&frame["object"], "chat.completion.chunk");
                    contents.push_str(frame["choices"][0]["delta"]["content"].as_str().unwrap_or_default());
                }
            }
        }
        prop_assert!(calls.is_empty(), "open calls: {:?}", calls);
        prop_assert!(contents.starts_with(&said));
        prop_assert_eq!(last_list, json!([]), "no list is left behind");
        let mut lines = frames.iter().filter_map(|frame| frame.pointer("/event/data/done"));
        prop_assert!(lines.all(|done| done == true), "no line ever shimmers: {:?}", frames);
    }

    /// The warning block cannot be left by what it quotes, and is taken out of history whole.
    #[test]
    fn a_warning_is_taken_out_whole(message in hostile(), hint in hostile(), before in "[a-z]{0,9}") {
        let text = format!("{before}\n\n{}", phrases::caution(&message, Some(&hint)));
        prop_assert_eq!(marks::strip(&text), before);
    }
}
