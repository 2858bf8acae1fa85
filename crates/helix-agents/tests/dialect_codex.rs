//! What the recordings of the real Codex CLI amount to, and that nothing cut or spoiled is ever taken for completed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

mod recordings;

use helix_agents::{AskedSchema, Classified, DialectName, Ended, ExitStatus, RunEnd, StreamEnd, classify_recording};
use helix_core::agent_event::AgentEvent;
use helix_core::run::{Ending, Outcome, OutcomeName, RunFacts};
use proptest::prelude::*;
use recordings::{Random, Recording, assert_spoiled, is_completion, misjudged, recordings_of};
use serde_json::{Value, json};

fn codex_recordings() -> Vec<Recording> {
    recordings_of("codex")
}

fn recording(name: &str) -> Recording {
    codex_recordings().into_iter().find(|recording| recording.scenario == name).unwrap()
}

fn classified(stdout: &[u8], ended: &Ended, asked: AskedSchema) -> Classified {
    classify_recording(DialectName::Codex, stdout, ended, asked).unwrap()
}

/// The events of a whole stdout.
fn events(stdout: &[u8], asked: AskedSchema) -> Vec<AgentEvent> {
    let mut reader = helix_agents::dialect(DialectName::Codex).reader(asked, ExitStatus::NoEvidence);
    let mut events = Vec::new();
    stdout.split_inclusive(|byte| *byte == b'\n').for_each(|line| reader.line(line, &mut events));
    events
}

#[test]
fn every_recording_has_its_outcome() {
    let all = codex_recordings();
    assert!(all.len() >= 40, "recordings are missing: {}", all.len());
    assert_eq!(misjudged(DialectName::Codex, &all), Vec::<String>::new());
}

#[test]
fn a_cut_recording_is_never_complete_without_its_whole_terminal_record() {
    let (mut cases, mut complete) = (0_u32, 0_u32);
    for recording in codex_recordings() {
        let stdout = &recording.stdout;
        for cut in 0..=stdout.len() {
            let kept = &stdout[..cut];
            let facts = classified(kept, &recording.ended(), recording.schema()).facts;
            let well = RunFacts { ending: Ending::Exited { code: 0 }, stopped: None, ..facts.clone() };
            let last = kept.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap_or_default();
            let allowed = serde_json::from_slice::<Value>(last).is_ok_and(|record| record["type"] == "turn.completed");
            for facts in [facts, well] {
                let name = Outcome::from_facts(&facts).name();
                cases += 1;
                complete += u32::from(is_completion(name));
                assert!(allowed || !is_completion(name), "{} cut at byte {cut}: {name:?}", recording.name());
            }
        }
    }
    println!("{cases} cases, {complete} of them complete because the whole terminal record was left");
    assert!(cases > 20_000 && complete > 0, "the test has lost its cases: {cases}, {complete}");
}

#[test]
fn any_line_that_is_no_record_spoils_a_completion() {
    let spoilers: [&[u8]; 4] = [b"\xff\xfe\n", b"{\"type\":\n", b"[1]\n", b"thread 'main' panicked\n"];
    assert_spoiled(DialectName::Codex, &codex_recordings(), &spoilers);
}

#[test]
fn what_means_nothing_changes_nothing() {
    for recording in codex_recordings().into_iter().filter(|recording| !recording.stdout.is_empty()) {
        let extra = json!({"type": "something.new", "usage": {"output_tokens": 5}});
        let warning = json!({"type": "item.completed", "item": {"id": "w", "type": "error", "message": "careful"}});
        let (mut lines, mut doubled) = (Vec::new(), Vec::new());
        for line in recording.stdout.split_inclusive(|byte| *byte == b'\n') {
            lines.extend_from_slice(line.trim_ascii_end());
            lines.extend_from_slice(format!("\r\n\n{extra}\n{warning}\n").as_bytes());
            doubled.extend_from_slice(&[line, line].concat());
        }
        for (stdout, how) in [(lines, "with unknown records"), (doubled, "with every line twice")] {
            let found = classified(&stdout, &recording.ended(), recording.schema()).outcome.name();
            assert_eq!(found, recording.verdict, "{} {how}", recording.name());
        }
    }
}

#[test]
fn no_other_exit_and_no_missing_evidence_is_completion() {
    let good = recording("command");
    let by = |stdout: &str, ended: Ended| classified(stdout.as_bytes(), &ended, AskedSchema::No).outcome.name();
    let text = String::from_utf8(good.stdout.clone()).unwrap();
    assert_eq!(by(&text, Ended::exited(0)), OutcomeName::Complete);
    assert_eq!(by(&text, Ended::exited(1)), OutcomeName::Error);
    let killed = Ended { ending: Ending::Signaled { signal: 9 }, ..Ended::exited(0) };
    assert_eq!(by(&text, killed), OutcomeName::Error);
    let usage = text.find("\"usage\"").unwrap();
    for (stdout, wanted) in [
        (format!("{}\"usage\":{{}}}}\n", &text[..usage]), OutcomeName::Truncated),
        (format!("{}\"usage\":\"much\"}}\n", &text[..usage]), OutcomeName::Truncated),
        (format!("{text}{{\"type\":\"turn.started\"}}\n"), OutcomeName::Truncated),
        (text.replace("agent_message", "agent_massage"), OutcomeName::Incomplete),
    ] {
        assert_eq!(by(&stdout, Ended::exited(0)), wanted, "{stdout}");
    }
    let mut reader = helix_agents::dialect(DialectName::Codex).reader(AskedSchema::No, ExitStatus::NoEvidence);
    let unread = reader.facts(&Ended::exited(0), &StreamEnd { lines: 9, read_to_end: true, ..StreamEnd::default() });
    assert!(!unread.stdout.read_to_end);
    let cut = reader.facts(&Ended::exited(0), &StreamEnd { cut: 1, read_to_end: true, ..StreamEnd::default() });
    let outcome = helix_core::run::Outcome::from_facts(&cut);
    assert!(
        matches!(&outcome, helix_core::run::Outcome::Truncated { evidence } if evidence.says("run-cut-long-lines")),
        "{outcome:?}"
    );
}

/// Codex calls all that it does for a prompt one turn: whether it had begun to work is seen by what it did.
#[test]
fn a_context_that_fills_up_at_work_is_told_from_one_that_was_full_at_once() {
    let full = String::from_utf8(recording("failed-context").stdout).unwrap();
    let facts = |stdout: &str| classified(stdout.as_bytes(), &Ended::exited(1), AskedSchema::No).facts;
    assert!(!facts(&full).answered);
    let work = json!({"type": "item.started", "item": {"id": "item_1", "type": "command_execution", "command": "ls"}});
    let turn = "{\"type\":\"turn.started\"}\n";
    let worked = facts(&full.replace(turn, &format!("{turn}{work}\n")));
    assert!(worked.answered && worked.terminal.as_ref().is_some_and(|terminal| terminal.turns == 1), "{worked:?}");
    assert_eq!(Outcome::from_facts(&worked).name(), OutcomeName::Context);
}

#[test]
fn events_tell_what_the_agent_did() {
    let run = recording("command");
    let events = events(&run.stdout, AskedSchema::No);
    let session = classified(&run.stdout, &run.ended(), AskedSchema::No).session.unwrap();
    assert_eq!(events[0], AgentEvent::Started { session: Some(session), model: None, version: None });
    let output = events.iter().find_map(|event| match event {
        AgentEvent::ToolFinished { output, failed, .. } => Some((output.as_str(), *failed)),
        _ => None,
    });
    assert_eq!(output, Some(("hi\n", false)));
    let fragments: String = events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Text { text, partial: true, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(fragments, "Ran it.");
    let Some(AgentEvent::Finished { answer, is_error: false, usage, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!(answer.as_deref(), Some("Ran it."));
    assert_eq!((usage.input_tokens, usage.cache_read_tokens, usage.output_tokens, usage.turns), (120, 80, 40, 1));
}

#[test]
fn a_tool_server_and_structured_output_are_read() {
    let tool = recording("tool-server");
    let found = events(&tool.stdout, AskedSchema::No);
    let name = found.iter().find_map(|event| match event {
        AgentEvent::ToolStarted { name, .. } => Some(name.as_str()),
        _ => None,
    });
    assert_eq!(name, Some("mcp__hx__echo"));
    let said =
        found.iter().any(|event| matches!(event, AgentEvent::ToolFinished { output, .. } if output == "again: hi"));
    assert!(said, "{found:?}");
    let schema = recording("schema");
    let structured = events(&schema.stdout, AskedSchema::Yes).into_iter().find_map(|event| match event {
        AgentEvent::Finished { structured, .. } => structured,
        _ => None,
    });
    assert_eq!(structured, Some(json!({"answer": 42})));
}

#[test]
fn a_usage_limit_says_when_it_resets() {
    let ended_at = "2026-11-22T04:25:00Z".parse().unwrap();
    for (name, wanted) in [("429-usage-limit-today", "2026-11-22T"), ("429-usage-limit-later", "2026-11-30T")] {
        let run = recording(name);
        let mut reader = helix_agents::dialect(DialectName::Codex).reader(AskedSchema::No, ExitStatus::NoEvidence);
        let mut stream = StreamEnd { read_to_end: true, ..StreamEnd::default() };
        for line in run.stdout.split_inclusive(|byte| *byte == b'\n') {
            stream.lines += 1;
            reader.line(line, &mut Vec::new());
        }
        let end = RunEnd {
            ending: Ending::Exited { code: 1 },
            stopped: None,
            stderr_tail: String::new(),
            started_at: ended_at,
            ended_at,
            peak_rss_kib: 0,
            stdout_bytes: 0,
            leftovers_killed: 0,
            walls: None,
        };
        let Outcome::RateLimited { resets_at: Some(time) } =
            Outcome::from_facts(&reader.facts(&(&end).into(), &stream))
        else {
            panic!("{name}: {}", String::from_utf8_lossy(&run.stdout))
        };
        assert!(time.to_string().starts_with(wanted) && time > ended_at, "{name}: {time}");
    }
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let kinds = ["thread.started", "turn.started", "item.completed", "turn.failed", "error", "x"];
    let half_record =
        (prop::sample::select(kinds.to_vec()), "[a-z_]{0,12}", any::<i64>()).prop_map(|(kind, word, number)| {
            let record = json!({"type": kind, "thread_id": number, "item": {"type": word, "text": number, "id": word},
                "error": word, "message": number, "usage": {"output_tokens": number}});
            format!("{record}\n").into_bytes()
        });
    recordings::any_line(&codex_recordings(), "turn.completed", half_record)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_lines_without_a_terminal_record_are_ever_complete(
        lines in prop::collection::vec(any_line(), 0..12), cut in any::<prop::sample::Index>(), code in 0..3_i32,
    ) {
        let stdout = lines.concat();
        for stdout in [&stdout[..], &stdout[..cut.index(stdout.len() + 1)]] {
            let name = classified(stdout, &Ended::exited(code), AskedSchema::No).outcome.name();
            prop_assert!(!is_completion(name), "{name:?}: {}", String::from_utf8_lossy(stdout));
        }
    }

    /// Orders of cuts: a random prefix of a random recording, glued to another one, is judged by its last record.
    #[test]
    fn two_recordings_in_one_are_complete_only_with_a_whole_last_record(seed in any::<u64>()) {
        let all = codex_recordings();
        let mut random = Random(seed | 1);
        let (one, other) = (&all[random.below(all.len())], &all[random.below(all.len())]);
        let cut = random.below(other.stdout.len() + 1);
        let stdout = [&one.stdout[..], &other.stdout[..cut]].concat();
        let name = classified(&stdout, &Ended::exited(0), AskedSchema::No).outcome.name();
        let last = stdout.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap_or_default();
        let allowed = serde_json::from_slice::<Value>(last).is_ok_and(|record| record["type"] == "turn.completed");
        prop_assert!(allowed || !is_completion(name), "{} + {}[..{cut}]: {name:?}", one.name(), other.name());
    }
}

/// What a program printed and how it ended, by the rules of the `command` dialect.
fn command(stdout: &str, code: i32, asked: AskedSchema) -> Classified {
    classify_recording(DialectName::Command, stdout.as_bytes(), &Ended::exited(code), asked).unwrap()
}

#[test]
fn a_command_is_believed_for_its_record_and_nothing_else() {
    use OutcomeName as Name;
    let record = r#"{"helix":"result","status":"success","answer":"made it","usage":{"output_tokens":7}}"#;
    for (stdout, code, wanted) in [
        (format!("working\n{record}\n"), 0, Name::Complete),
        (record.to_owned(), 0, Name::Complete),
        (format!("{record}\n\n"), 0, Name::Complete),
        (format!("{{\n  \"pretty\": 1\n}}\n{record}\n"), 0, Name::Complete),
        (format!("{record}\n"), 1, Name::Error),
        (format!("{record}\nand one more thing\n"), 0, Name::Truncated),
        (format!("{}\n", record.replace("\"success\"", "\"fine\"")), 0, Name::Truncated),
        (format!("{}\n", record.replace("\"usage\"", "\"usages\"")), 0, Name::Truncated),
        (record.replace("made it", ""), 0, Name::Incomplete),
        ("done\n".to_owned(), 0, Name::NoRecord),
        (String::new(), 0, Name::NoRecord),
        ("done\n".to_owned(), 143, Name::Truncated),
        ("{\"helix\":\"res".to_owned(), 0, Name::Truncated),
        (String::new(), 2, Name::Usage),
        (r#"{"helix":"result","status":"error","answer":"no","error":"rate_limit"}"#.to_owned(), 1, Name::RateLimited),
        (r#"{"helix":"result","status":"error","answer":"no"}"#.to_owned(), 0, Name::Error),
    ] {
        assert_eq!(command(&stdout, code, AskedSchema::No).outcome.name(), wanted, "{stdout:?} exit {code}");
    }
    for cut in 0..record.len() {
        assert!(!is_completion(command(&record[..cut], 0, AskedSchema::No).outcome.name()), "{}", &record[..cut]);
    }
    assert_eq!(command(record, 0, AskedSchema::Yes).outcome.name(), Name::Incomplete);
    let structured = record.replace("\"usage\"", "\"structured\":{\"a\":1},\"usage\"");
    assert_eq!(command(&structured, 0, AskedSchema::Yes).outcome.name(), Name::Complete);
    assert_eq!(command(record, 0, AskedSchema::No).answer, "made it");
}

#[test]
fn an_exit_status_counts_only_where_the_user_vouches_for_it() {
    let of = |stdout: &str, ending: Ending, asked: AskedSchema, trust: ExitStatus| {
        let mut reader = helix_agents::dialect(DialectName::Command).reader(asked, trust);
        let stream = StreamEnd { read_to_end: true, tail: stdout.as_bytes().to_vec(), ..StreamEnd::default() };
        let ended = Ended { ending, ..Ended::exited(0) };
        Outcome::from_facts(&reader.facts(&ended, &stream)).name()
    };
    let exit = |code| Ending::Exited { code };
    use OutcomeName as Name;
    assert_eq!(of("ok", exit(0), AskedSchema::No, ExitStatus::Trusted), Name::Complete);
    assert_eq!(of("", exit(0), AskedSchema::No, ExitStatus::Trusted), Name::Complete);
    assert_eq!(of("ok", exit(0), AskedSchema::No, ExitStatus::NoEvidence), Name::NoRecord);
    assert_eq!(of("ok", exit(3), AskedSchema::No, ExitStatus::Trusted), Name::Error);
    assert_eq!(of("ok", Ending::Signaled { signal: 9 }, AskedSchema::No, ExitStatus::Trusted), Name::Truncated);
    assert_eq!(of("ok", Ending::Unknown, AskedSchema::No, ExitStatus::Trusted), Name::Lost);
    assert_eq!(of("{\"helix\":\"res", exit(0), AskedSchema::No, ExitStatus::Trusted), Name::Truncated);
    assert_eq!(of("ok", exit(0), AskedSchema::Yes, ExitStatus::Trusted), Name::Incomplete);
}
