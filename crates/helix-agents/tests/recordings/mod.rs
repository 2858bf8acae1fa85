//! The recordings of the real CLI, for several test files.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test file uses a part")]

use std::path::PathBuf;

use helix_agents::{AskedSchema, DialectName, Ended, classify_recording};
use helix_core::run::{Ending, OutcomeName, StopCause};
use proptest::prelude::*;
use serde::Deserialize;

/// One recording.
#[derive(Debug, Clone, Deserialize)]
pub struct Recording {
    pub cli_version: String,
    pub scenario: String,
    pub exit: i32,
    pub verdict: OutcomeName,
    pub asked_schema: bool,
    #[serde(default)]
    pub stderr: String,
    #[serde(skip)]
    pub stdout: Vec<u8>,
}

/// Scenarios in which nothing happened any more, so that the harness that recorded them gave up.
const ENDED_BY_THE_HARNESS: [&str; 6] = [
    "00-server-closes-connection-default-retries",
    "76-hang-mid-stream-API_TIMEOUT_MS-4000",
    "76b-hang-mid-stream-watchdog",
    "76c-hang-mid-stream-byte-watchdog-10s",
    "76d-hang-mid-stream-byte-watchdog-always",
    "83-max-retries-20",
];

impl Recording {
    pub fn name(&self) -> String {
        format!("{}/{}", self.cli_version, self.scenario)
    }

    pub fn schema(&self) -> AskedSchema {
        if self.asked_schema { AskedSchema::Yes } else { AskedSchema::No }
    }

    /// Which runs the harness ended itself is known of it alone: every other signal came from outside.
    pub fn ended(&self) -> Ended {
        Ended {
            ending: match self.exit {
                signal if signal < 0 => Ending::Signaled { signal: -signal },
                code => Ending::Exited { code },
            },
            // Newer versions end some of them by themselves.
            stopped: (self.exit == -9 && ENDED_BY_THE_HARNESS.contains(&self.scenario.as_str()))
                .then_some(StopCause::Cancelled),
            stderr_tail: self.stderr.clone(),
            at: None,
            walls: None,
        }
    }
}

pub fn recordings() -> Vec<Recording> {
    recordings_of("claude-cli")
}

/// All of one agent, by the name of its directory.
pub fn recordings_of(agent: &str) -> Vec<Recording> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent);
    let manifest = std::fs::read_to_string(dir.join("manifest.json")).unwrap();
    let mut all: Vec<Recording> = serde_json::from_str(&manifest).unwrap();
    for recording in &mut all {
        let file = dir.join(&recording.cli_version).join(format!("{}.jsonl", recording.scenario));
        recording.stdout = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    all
}

/// What a claude run with this stdout amounts to.
pub fn outcome(stdout: &[u8], ended: &Ended, asked_schema: AskedSchema) -> OutcomeName {
    classify_recording(DialectName::Claude, stdout, ended, asked_schema).unwrap().outcome.name()
}

/// Whether an outcome says that the work is done.
pub fn is_completion(name: OutcomeName) -> bool {
    matches!(name, OutcomeName::Complete | OutcomeName::CompleteWithDenials)
}

/// The recordings that amount to something else than their manifest says.
pub fn misjudged(dialect: DialectName, all: &[Recording]) -> Vec<String> {
    let judged = |recording: &Recording| {
        let stdout = &recording.stdout[..];
        let found = classify_recording(dialect, stdout, &recording.ended(), recording.schema()).unwrap().outcome;
        let right = found.name() == recording.verdict;
        (!right).then(|| format!("{}: {found:?} instead of {:?}", recording.name(), recording.verdict))
    };
    println!("{} recordings", all.len());
    all.iter().filter_map(judged).collect()
}

/// Asserts that a line that is no record spoils every completion, before it and after it.
pub fn assert_spoiled(dialect: DialectName, all: &[Recording], spoilers: &[&[u8]]) {
    for recording in all.iter().filter(|recording| is_completion(recording.verdict)) {
        for spoiler in spoilers {
            for stdout in [[*spoiler, &recording.stdout].concat(), [&recording.stdout, *spoiler].concat()] {
                let found = classify_recording(dialect, &stdout[..], &recording.ended(), recording.schema()).unwrap();
                assert_eq!(found.outcome.name(), OutcomeName::Truncated, "{}", recording.name());
            }
        }
    }
}

/// Any line but a terminal record: noise, records that are nearly right, recorded ones (without those that contain `terminal`), and
/// recorded ones with one byte changed.
pub fn any_line(
    all: &[Recording],
    terminal: &str,
    half_record: impl Strategy<Value = Vec<u8>> + 'static,
) -> BoxedStrategy<Vec<u8>> {
    let lines: Vec<Vec<u8>> = all
        .iter()
        .flat_map(|recording| recording.stdout.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec))
        .filter(|line| !String::from_utf8_lossy(line).contains(terminal))
        .collect();
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80).prop_map(|bytes| [&bytes[..], b"\n"].concat()),
        half_record,
        prop::sample::select(lines.clone()),
        (prop::sample::select(lines), any::<prop::sample::Index>()).prop_map(|(mut line, place)| {
            let place = place.index(line.len());
            line[place] = line[place].wrapping_add(1);
            line
        }),
    ]
    .boxed()
}

/// Small deterministic random numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(number).unwrap() % limit.max(1)
    }
}
