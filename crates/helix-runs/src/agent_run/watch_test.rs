#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use helix_agents::dialect;
use helix_agents::{AskedSchema, DialectName, ExitStatus};

use super::*;

/// A run that is watched, with a clock that is moved by hand.
struct Watched {
    watch: Watch,
    now: Instant,
}

impl Watched {
    fn new() -> Self {
        let (linger, stall) = (Duration::from_secs(20), Duration::from_secs(300));
        let (now, limits) = (Instant::now(), RunTimeouts { linger, stall, ..RunTimeouts::default() });
        Self { watch: Watch::new(limits, now), now }
    }

    fn wait(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }

    /// Hears lines of the real CLI's form, each so many seconds after the one before.
    fn hear(&mut self, seconds: u64, lines: &[&str]) -> Option<StopCause> {
        let mut reader = dialect::dialect(DialectName::Claude).reader(AskedSchema::No, ExitStatus::NoEvidence);
        for line in lines {
            self.wait(seconds);
            let (before, mut events) = (reader.run().pieces, Vec::new());
            reader.line(line.as_bytes(), &mut events);
            let piece = if reader.run().pieces > before { Sign::Work } else { Sign::None };
            let sign = events.iter().fold(piece, |sign, event| sign.or(self.watch.saw(event)));
            self.watch.heard(line.len(), sign, self.now);
            if let Some(heard) = self.watch.overdue(self.now) {
                return self.watch.over(heard, heard, self.now);
            }
        }
        None
    }
}

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#;
const NOTICE: &str = r#"{"type":"system","subtype":"informational","content":"still here"}"#;
const PING: &str = r#"{"type":"stream_event","event":{"type":"ping"}}"#;
const ARGUMENTS: &str = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"a"}}}"#;
const PROGRESS: &str = r#"{"type":"system","subtype":"task_progress","task_id":"t1","description":"reads"}"#;
const TEXT: &str = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}}"#;
const CALL: &str =
    r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"Bash","input":{}}]}}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"done"}"#;

/// Notices, blank lines, pings, things unknown and things unreadable are no sign of life, neither before the result nor
/// after it.
#[test]
fn lines_without_meaning_do_not_keep_a_run_alive() {
    let unknown = r#"{"type":"invented","text":"hello"}"#;
    for line in [NOTICE, PING, "", "  ", "no json", r#"{"type":"keep_alive"}"#, unknown] {
        let mut run = Watched::new();
        assert_eq!(run.hear(1, &[INIT]), None);
        assert_eq!(run.hear(100, &[line, line]), None, "{line:?} came too early");
        assert_eq!(run.hear(100, &[line]), Some(StopCause::Stalled), "{line:?}");

        let mut run = Watched::new();
        assert_eq!(run.hear(1, &[INIT, RESULT]), None);
        assert_eq!(run.hear(9, &[line, line]), None, "{line:?} came too early");
        assert_eq!(run.hear(9, &[line]), Some(StopCause::Lingered), "{line:?}");
    }
}

/// What is said, thought, called and composed is work; a call may be silent, or surrounded by notices, as long as it takes
#[test]
fn work_keeps_a_run_alive() {
    for line in [TEXT, ARGUMENTS, PROGRESS, INIT] {
        assert_eq!(Watched::new().hear(290, &[line, line, line, line]), None, "{line}");
    }
    let mut run = Watched::new();
    assert_eq!(run.hear(1, &[INIT, CALL]), None);
    assert_eq!(run.hear(290, &[NOTICE, NOTICE, NOTICE, NOTICE]), None);
    run.wait(3600);
    assert_eq!(run.watch.over(0, 0, run.now), None);
}

/// A reader that was held up hears what was written in time before it judges.
#[test]
fn what_was_written_in_time_is_heard_first() {
    let mut run = Watched::new();
    run.wait(400);
    run.watch.heard(9, Sign::None, run.now);
    let heard = run.watch.overdue(run.now).unwrap();
    assert_eq!((heard, run.watch.over(heard, 25, run.now)), (10, None));
    assert_eq!(run.watch.until(), Some(25));
    run.watch.heard(9, Sign::Work, run.now);
    assert_eq!((run.watch.until(), run.watch.overdue(run.now)), (None, None), "there was work");
}

/// What a former host has heard stands in the record already: only at its end is the run as it is now.
#[test]
fn a_record_is_heard_when_its_last_line_was() {
    let mut run = Watched::new();
    let record = [INIT, CALL, TEXT];
    let length = record.iter().map(|line| line.len() as u64 + 1).sum();
    run.hear(1, &record[..2]);
    assert!(!run.watch.has_heard(length));
    run.hear(1, &record[2..]);
    assert!(run.watch.has_heard(length));
}
