//! Measures the Claude reader against bare parsing: `cargo run --release -p helix-agents --example reader_figures`.
//!
//! Reads 200,000 lines of the recordings of the real CLI with each, from memory, and prints one JSON object; ratios
//! matter, not figures. With the path of a file it reads and parses that file in one thread and says how long it took.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a measuring tool: prints figures and stops at once if it cannot"
)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use helix_agents::{AskedSchema, DialectName, ExitStatus, dialect};
use serde_json::{Value, json};

const LINES: usize = 200_000;
const ROUNDS: usize = 3;

fn main() {
    match std::env::args_os().nth(1) {
        Some(path) => parse_file(Path::new(&path)),
        None => compare(),
    }
}

fn parse_file(path: &Path) {
    let (start, mut line, mut objects) = (Instant::now(), Vec::new(), 0_u64);
    let mut file = BufReader::with_capacity(256 * 1024, std::fs::File::open(path).expect("the file"));
    while file.read_until(b'\n', &mut line).expect("a line") > 0 {
        objects += u64::from(serde_json::from_slice::<Value>(&line).is_ok_and(|value| value.is_object()));
        line.clear();
    }
    println!("{}", json!({ "seconds": start.elapsed().as_secs_f64(), "objects": objects }));
}

fn compare() {
    let mut files = Vec::new();
    recordings(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-cli"), &mut files);
    files.sort();
    let texts: Vec<Vec<u8>> = files.iter().map(|path| std::fs::read(path).expect("a recording")).collect();
    let lines = || texts.iter().flat_map(|text| text.split_inclusive(|byte| *byte == b'\n')).cycle().take(LINES);
    let bytes: usize = lines().map(<[u8]>::len).sum();
    let (mut bare, mut reading) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let objects = lines().filter(|line| serde_json::from_slice::<Value>(line).is_ok()).count();
        bare = bare.min(start.elapsed());
        let (mut reader, mut events, mut count) =
            (dialect(DialectName::Claude).reader(AskedSchema::No, ExitStatus::NoEvidence), Vec::new(), 0);
        let start = Instant::now();
        for line in lines() {
            reader.line(line, &mut events);
            count += events.len();
            events.clear();
        }
        reading = reading.min(start.elapsed());
        assert!(objects > LINES / 2 && count > LINES / 2, "{objects} objects and {count} events: not the recordings");
    }
    let rate = |took: Duration| bytes as f64 / 1e6 / took.as_secs_f64();
    println!("{}", json!({ "lines": LINES, "bytes": bytes, "bare_mb_s": rate(bare), "reader_mb_s": rate(reading) }));
}

fn recordings(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("the recordings") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            recordings(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
}
