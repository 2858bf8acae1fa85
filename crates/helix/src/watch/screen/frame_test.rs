use helix_language::Language;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

use super::*;
use crate::watch::screen::dialog::Dialog;
use crate::watch::screen::pager::Pager;

fn now() -> Timestamp {
    "2026-05-20T12:02:05Z".parse().unwrap()
}

pub(in crate::watch::screen) fn phase(id: &str, status: &str, more: Value) -> Value {
    let begun = !matches!(status, "pending");
    let mut phase = json!({
        "id": id, "name": id, "status": status, "stage": null, "waits_for": null, "attempt": u32::from(begun),
        "started_at": begun.then_some("2026-05-20T12:01:00Z"), "completed_at": null,
        "duration_seconds": begun.then_some(12.0), "outputs": [], "gates": [], "verdict": null,
        "cost": if begun { 0.12 } else { 0.0 }, "runs": [], "commit": null, "error": null,
    });
    phase.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    phase
}

pub(in crate::watch::screen) fn shown(phases: Vec<Value>) -> Shown {
    let usage = json!({ "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0, "turns": 0, "cost_usd": 0.0 });
    let job = json!({
        "id": "j1", "name": "shop", "status": "running", "project_path": "/shop", "plan_path": "p.yaml", "adr": null,
        "created_at": "2026-05-20T12:00:00Z", "started_at": null, "completed_at": null, "duration_seconds": 1.0,
        "phases": phases, "usage": usage, "cost": 0.42, "commit": null, "integration": null, "error": null,
        "questions": [], "last_event": 1,
    });
    Shown {
        paint: Paint { language: Language::English, colour: true },
        job: serde_json::from_value(job).unwrap(),
        number: Some(12),
        budget: Some(5.0),
        doing: BTreeMap::new(),
        selected: None,
        notice: None,
        over: Over::Nothing,
        goes_on: true,
    }
}

fn drawn(shown: &Shown, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| shown.draw(frame, now())).unwrap();
    let buffer = terminal.backend().buffer();
    let lines = (0..height).map(|y| {
        let line: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn working(shown: &mut Shown, id: &str) {
    let doing = shown.doing.entry(id.parse().unwrap()).or_default();
    doing.now = Some("✎ src/shop.py (+12)".into());
    doing.tokens = 12_345;
    doing.tail =
        ["I read the tests first.", "Read tests/test_shop.py", "✎ src/shop.py (+12)"].map(str::to_owned).into();
}

fn gate(name: &str, status: &str) -> Value {
    let findings = json!([{ "rule": "test.failed", "message": "test_total failed", "place": null, "evidence": null, "fix": null }]);
    let tree = "a".repeat(40);
    let mut gate = json!({ "gate": name, "verdict": status, "summary": "", "tree": tree, "duration_ms": 1 });
    if status == "fail" {
        gate["findings"] = findings;
    }
    gate
}

fn few() -> Shown {
    let error = json!({ "message": "gate tests_pass found: 1 passed, 1 failed", "hint": "change the task" });
    let mut shown = shown(vec![
        phase("plan", "passed", json!({})),
        phase(
            "implement",
            "running",
            json!({ "stage": "agent", "attempt": 2, "gates": [gate("syntax_check", "pass"), gate("tests_pass", "fail")] }),
        ),
        phase("translate", "failed", json!({ "error": error, "gates": [gate("tests_pass", "fail")] })),
        phase(
            "approve-the-design-of-all-pages",
            "waiting",
            json!({ "stage": "waits for your answer (`helix answer`)" }),
        ),
        phase("document", "pending", json!({})),
    ]);
    working(&mut shown, "implement");
    shown
}

fn many() -> Shown {
    let phases = (1..=30).map(|number| match number {
        1..=17 => phase(&format!("step-{number}"), "passed", json!({})),
        18 | 21 => phase(&format!("step-{number}"), "running", json!({ "stage": "agent" })),
        19 => phase("step-19", "failed", json!({ "error": { "message": "it broke", "hint": null } })),
        _ => phase(&format!("step-{number}"), "pending", json!({})),
    });
    let mut shown = shown(phases.collect());
    working(&mut shown, "step-18");
    working(&mut shown, "step-21");
    shown
}

#[test]
fn a_job_of_a_few_phases_in_80_by_24() {
    insta::assert_snapshot!(drawn(&few(), 80, 24));
}

#[test]
fn a_job_of_a_few_phases_in_120_by_40() {
    let mut shown = few();
    shown.notice = Some("waiting for memory: 120 MiB available, 512 MiB needed".into());
    shown.selected = Some("implement".parse().unwrap());
    insta::assert_snapshot!(drawn(&shown, 120, 40));
}

#[test]
fn thirty_phases_fit_and_what_runs_or_failed_stays_visible() {
    let small = drawn(&many(), 80, 24);
    for id in ["step-18", "step-19", "step-21"] {
        assert!(small.contains(id), "{small}");
    }
    insta::assert_snapshot!(small);
    // Whoever goes there sees a phase that is folded otherwise.
    let mut shown = many();
    shown.selected = Some("step-3".parse().unwrap());
    assert!(drawn(&shown, 80, 24).contains("▸✓ step-3 "), "{}", drawn(&shown, 80, 24));
    insta::assert_snapshot!(drawn(&many(), 120, 40));
}

#[test]
fn any_size_can_be_drawn_and_wide_letters_are_cut_where_they_end() {
    let mut shown = few();
    shown.doing.values_mut().for_each(|doing| doing.now = Some("翻訳".repeat(60)));
    for (width, height) in [(1, 1), (10, 3), (20, 4), (37, 9), (80, 3), (300, 100)] {
        let frame = drawn(&shown, width, height);
        assert!(frame.lines().count() <= usize::from(height), "{frame}");
    }
    let frame = drawn(&shown, 40, 12);
    assert!(frame.contains('…'), "{frame}");
}

#[test]
fn nothing_that_an_agent_wrote_steers_the_terminal() {
    let mut shown = shown(vec![phase("plan", "running", json!({ "stage": "agent\u{1b}[2J" }))]);
    let doing = shown.doing.entry("plan".parse().unwrap()).or_default();
    doing.now = Some("\u{1b}]0;title\u{7}\u{202e}gone".into());
    doing.tail.push_back("\u{1b}[31mred".into());
    shown.job.name = "a\u{1b}[2Jb".into();
    let frame = drawn(&shown, 80, 24);
    assert!(!frame.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{frame:?}");
}

#[test]
fn a_question_shows_what_is_asked_and_what_can_be_chosen() {
    let mut shown = few();
    let question = json!({
        "id": "j1.translate.q1", "job": "j1", "job_name": "shop", "phase": "translate", "phase_name": "translate",
        "about": { "about": "escalation", "conflict": false }, "kind": "escalation",
        "text": "Phase translate is stuck after 2 of 3 attempts.\n\ngate tests_pass found: 1 failed\n- tests/test_shop.py:14: test_total failed\n\nWhat should happen?",
        "options": [{ "key": "retry", "label": "One more attempt; your text is its hint" }, { "key": "fail", "label": "End the job as failed" }],
        "set_out": "I would take the first one.",
        "free_text": true, "asked_at": "2026-05-20T12:00:00Z", "expires_at": null, "status": "open",
    });
    let mut dialog = Dialog::new(serde_json::from_value(question).unwrap());
    shown.over = Over::Question(Box::new(dialog));
    insta::assert_snapshot!(drawn(&shown, 80, 24));
    // The key that chooses is no part of the words.
    let key = crossterm::event::KeyEvent::from(crossterm::event::KeyCode::Char('1'));
    assert_eq!(super::super::pressed(&mut shown, key, 24), super::super::Action::Nothing);
    let Over::Question(asked) = &mut shown.over else { unreachable!() };
    assert_eq!(asked.enter().map(|answer| answer.text), Some(None));
    assert!(asked.back());
    asked.go(1);
    assert_eq!(asked.enter(), None, "words may be added");
    asked.typed("never ");
    asked.typed("mind!");
    asked.erased();
    assert!(drawn(&shown, 80, 24).contains("never mind▏"));
    let Over::Question(asked) = std::mem::replace(&mut shown.over, Over::Nothing) else { unreachable!() };
    dialog = *asked;
    let answer = dialog.enter().unwrap();
    assert_eq!((answer.choice.as_deref(), answer.text.as_deref()), (Some("fail"), Some("never mind")));
}

#[test]
fn a_long_text_is_read_page_by_page_and_one_that_grows_from_its_end() {
    let text: Vec<String> = (1..=100).map(|number| format!("line {number}")).collect();
    let mut shown = few();
    shown.over = Over::Text(Pager::new("Output".into(), text.clone()));
    let first = drawn(&shown, 80, 24);
    assert!(first.contains("Output") && first.contains("line 1\n") && !first.contains("line 30"), "{first}");
    let Over::Text(pager) = &mut shown.over else { unreachable!() };
    pager.go(20, 20);
    assert!(drawn(&shown, 80, 24).contains("line 21\n"));
    let mut pager = Pager::growing("Log".into(), text);
    assert!(pager.follows());
    pager.go(-1, 20);
    assert!(!pager.follows());
    pager.go(5, 20);
    assert!(pager.follows());
    pager.add(vec!["line 101".to_owned()]);
    shown.over = Over::Text(pager);
    assert!(drawn(&shown, 80, 24).contains("line 101\n"));
}

#[test]
fn a_text_keeps_its_empty_lines() {
    let mut shown = few();
    shown.over = Over::Text(Pager::new("Output".into(), ["one", "", "two"].map(str::to_owned).to_vec()));
    assert!(drawn(&shown, 80, 24).contains("one\n\ntwo\n"), "{}", drawn(&shown, 80, 24));
}

#[test]
fn the_keys_fit_80_columns_in_every_language() {
    for language in Language::ALL {
        let mut shown = Shown { paint: Paint { language, colour: false }, ..few() };
        let mut all = Vec::new();
        for (over, goes_on) in [(Over::Nothing, true), (Over::Leaving, true), (Over::Leaving, false)] {
            (shown.over, shown.goes_on) = (over, goes_on);
            all.push(shown.keys());
        }
        shown.over = Over::Text(Pager::new(String::new(), Vec::new()));
        all.push(shown.keys());
        all.push(say!(language, "screen-keys-question"));
        all.push(format!("{}  {}", say!(language, "screen-key-answer"), say!(language, "screen-keys")));
        for keys in all {
            assert!(Span::raw(keys.as_str()).width() <= 80, "{keys}");
        }
    }
}

#[test]
fn lines_are_broken_between_words_and_keep_their_indentation() {
    assert_eq!(wrapped("  one two three", 9), ["  one two", "  three"]);
    assert_eq!(wrapped("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
    assert_eq!(wrapped("", 8), Vec::<String>::new());
}
