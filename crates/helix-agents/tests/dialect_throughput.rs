//! How fast the reader is against bare parsing. Measured by hand: `cargo test … -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

mod recordings;

use std::time::{Duration, Instant};

use helix_agents::{AskedSchema, DialectName, dialect};
use recordings::recordings;
use serde_json::Value;

#[test]
#[ignore = "a measurement, not a check"]
fn reading_costs_little_more_than_parsing() {
    let all = recordings();
    let lines: Vec<&[u8]> =
        all.iter().flat_map(|recording| recording.stdout.split_inclusive(|byte| *byte == b'\n')).collect();
    let lines: Vec<&[u8]> = lines.iter().copied().cycle().take(200_000).collect();
    let bytes: usize = lines.iter().map(|line| line.len()).sum();
    let (mut bare, mut reading) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        let start = Instant::now();
        let objects = lines.iter().filter_map(|line| serde_json::from_slice::<Value>(line).ok()).count();
        bare = bare.min(start.elapsed());
        let (mut reader, mut events, mut count) = (dialect(DialectName::Claude).reader(AskedSchema::No), Vec::new(), 0);
        let start = Instant::now();
        for line in &lines {
            reader.line(line, &mut events);
            count += events.len();
            events.clear();
        }
        reading = reading.min(start.elapsed());
        assert!(objects > 100_000 && count > 100_000);
    }
    println!(
        "{bytes} bytes: parsed in {bare:?}, read in {reading:?}: {:.2}",
        reading.as_secs_f64() / bare.as_secs_f64()
    );
}
