//! No recording that is cut, spoiled or disturbed is ever taken for a completed run.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

mod recordings;

use helix_agents::{AskedSchema, DialectName, Ended, classify_recording};
use helix_core::run::{Ending, Outcome, OutcomeName, RunFacts};
use proptest::prelude::*;
use recordings::{Random, Recording, assert_spoiled, is_completion, outcome, recordings};
use serde_json::{Map, Value, json};

/// Whether a stdout ends a turn with a whole record of success, found independently of the reader.
fn ends_with_success(stdout: &[u8]) -> bool {
    let mut success = false;
    for line in stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return false };
        let main = record["parent_tool_use_id"].is_null();
        match record["type"].as_str() {
            Some("result") => success = record["subtype"] == "success" && record["is_error"] == false,
            Some("assistant" | "user" | "stream_event") if main => success = false,
            Some("system") if record["subtype"] == "init" => success = false,
            _ => {}
        }
    }
    success
}

/// Outcomes of a stdout with the recording's own ending and with exit status 0; the facts but the ending are the same.
fn outcomes(stdout: &[u8], recording: &Recording) -> [OutcomeName; 2] {
    let ended = Ended { stopped: None, ..recording.ended() };
    let classified = classify_recording(DialectName::Claude, stdout, &ended, recording.schema()).unwrap();
    let well = RunFacts { ending: Ending::Exited { code: 0 }, ..classified.facts };
    [classified.outcome.name(), Outcome::from_facts(&well).name()]
}

#[test]
fn a_cut_recording_is_never_complete_without_its_whole_terminal_record() {
    let (mut cases, mut complete) = (0_u32, 0_u32);
    for (number, recording) in recordings().iter().enumerate() {
        let stdout = &recording.stdout;
        let boundaries = stdout.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        // Before the newline, after it, and the empty stdout.
        let mut cuts: Vec<usize> = boundaries.flat_map(|(place, _)| [place, place + 1]).chain([0]).collect();
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (number as u64 + 1));
        cuts.extend((0..200).map(|_| random.below(stdout.len() + 1)));
        for cut in cuts {
            let kept = &stdout[..cut];
            let allowed = ends_with_success(kept);
            for name in outcomes(kept, recording) {
                cases += 1;
                complete += u32::from(is_completion(name));
                assert!(allowed || !is_completion(name), "{} cut at byte {cut}: {name:?}", recording.name());
            }
        }
    }
    println!("{cases} cases, {complete} of them complete because the whole terminal record was left");
    assert!(cases > 100_000 && complete > 0, "the test has lost its cases: {cases}, {complete}");
}

#[test]
fn a_recording_of_completion_is_spoiled_by_any_line_that_is_no_record() {
    let spoilers: [&[u8]; 5] =
        [b"\xff\xfe\n", b"{\"type\":\"x\0\"}\n", b"{\"type\":\n", b"[1]\n", b"Segmentation fault\n"];
    let all = recordings();
    assert_spoiled(DialectName::Claude, &all, &spoilers);
    for recording in all.iter().filter(|recording| is_completion(recording.verdict)) {
        // The start of a further record, without its newline.
        let stdout = [&recording.stdout, &b"{\"type\":\"assis"[..]].concat();
        assert_eq!(outcome(&stdout, &recording.ended(), recording.schema()), OutcomeName::Truncated);
    }
}

#[test]
fn what_means_nothing_changes_nothing() {
    for recording in recordings() {
        let extra = json!({"type": "something_new", "subtype": "success", "payload": {"is_error": false}});
        let other = json!({"type": "system", "subtype": "something_new", "task_id": 5});
        let mut lines = Vec::new();
        // Unknown records, blank lines, Windows newlines.
        for line in recording.stdout.split_inclusive(|byte| *byte == b'\n') {
            lines.extend_from_slice(line.trim_ascii_end());
            lines.extend_from_slice(format!("\r\n\n{extra}\n{other}\n").as_bytes());
        }
        let found = outcome(&lines, &recording.ended(), recording.schema());
        if !recording.stdout.is_empty() {
            assert_eq!(found, recording.verdict, "{}", recording.name());
        }
        let doubled: Vec<u8> =
            recording.stdout.split_inclusive(|byte| *byte == b'\n').flat_map(|line| [line, line].concat()).collect();
        let found = outcome(&doubled, &recording.ended(), recording.schema());
        assert_eq!(found, recording.verdict, "{} with every line twice", recording.name());
    }
}

/// The same value with the keys of every object in another order and a field that nobody knows.
fn disturbed(value: Value, random: &mut Random) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> =
                fields.into_iter().map(|(name, value)| (name, disturbed(value, random))).collect();
            for last in (1..fields.len()).rev() {
                fields.swap(last, random.below(last + 1));
            }
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(|value| disturbed(value, random)).collect()),
        other => other,
    }
}

#[test]
fn neither_the_order_of_keys_nor_unknown_fields_change_the_outcome() {
    for (number, recording) in recordings().iter().enumerate() {
        let mut random = Random(number as u64 + 1);
        let mut stdout = Vec::new();
        for line in recording.stdout.split_inclusive(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(Value::Object(record)) => {
                    let mut first = Map::from_iter([("added".to_owned(), json!({"type": "result", "is_error": true}))]);
                    first.extend(record);
                    stdout.extend(disturbed(Value::Object(first), &mut random).to_string().into_bytes());
                    stdout.push(b'\n');
                }
                _ => stdout.extend_from_slice(line),
            }
        }
        let found = outcome(&stdout, &recording.ended(), recording.schema());
        assert_eq!(found, recording.verdict, "{}", recording.name());
    }
}

#[test]
fn a_line_of_ten_megabytes_is_a_line_like_any_other() {
    let all = recordings();
    let trivial = all.iter().find(|recording| recording.name() == "2.1.197/01-trivial").unwrap();
    let text = "x".repeat(10 * 1024 * 1024);
    let long = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": text}]}, "parent_tool_use_id": null});
    let lines: Vec<&[u8]> = trivial.stdout.split_inclusive(|byte| *byte == b'\n').collect();
    let stdout = [lines[0], format!("{long}\n").as_bytes(), lines[1], lines[2]].concat();
    assert_eq!(outcome(&stdout, &trivial.ended(), AskedSchema::No), OutcomeName::Complete);
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let kinds = ["system", "assistant", "user", "stream_event", "rate_limit_event", "result", "x"];
    let half_record = (prop::sample::select(kinds.to_vec()), "[a-z_]{0,12}", any::<bool>(), any::<i64>()).prop_map(
        |(kind, word, flag, number)| {
            // Shapes that are nearly right and never a terminal record of success.
            let record = json!({"type": kind, "subtype": word, "is_error": if flag { json!("false") } else { json!(1) },
                "message": {"content": [word, number, {"type": word, "text": number}]}, "num_turns": number,
                "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": word}},
                "task_id": word, "status": word, "patch": number, "rate_limit_info": {"resetsAt": number},
                "result": word, "modelUsage": {"m": number}, "usage": word, "permission_denials": flag});
            format!("{record}\n").into_bytes()
        },
    );
    recordings::any_line(&recordings(), "\"type\":\"result\"", half_record)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_lines_without_a_terminal_record_are_ever_complete(
        lines in prop::collection::vec(any_line(), 0..12), cut in any::<prop::sample::Index>(), code in 0..3_i32,
    ) {
        let stdout = lines.concat();
        for stdout in [&stdout[..], &stdout[..cut.index(stdout.len() + 1)]] {
            let name = outcome(stdout, &Ended::exited(code), AskedSchema::No);
            prop_assert!(!is_completion(name), "{name:?}: {}", String::from_utf8_lossy(stdout));
        }
    }
}
