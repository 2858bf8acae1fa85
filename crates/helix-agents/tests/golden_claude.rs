//! Every recording of the real CLI is classified as its manifest says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

mod recordings;

use helix_agents::{DialectName, Ended, ExitStatus, dialect};
use helix_core::run::OutcomeName;
use recordings::{Recording, misjudged, outcome, recordings, recordings_of};

#[test]
fn every_recording_has_the_outcome_of_its_manifest() {
    let all = recordings();
    assert!(all.len() >= 290, "recordings are missing");
    assert_eq!(misjudged(DialectName::Claude, &all), Vec::<String>::new());
}

/// Who ended a run is no part of its output: without that knowledge a run that was killed is cut off, never done.
#[test]
fn a_run_that_nobody_says_they_stopped_is_cut_off() {
    let stopped = recordings().into_iter().filter(|recording| recording.ended().stopped.is_some());
    let names: Vec<OutcomeName> = stopped
        .map(|recording| {
            let ended = Ended { stopped: None, ..recording.ended() };
            outcome(&recording.stdout, &ended, recording.schema())
        })
        .collect();
    assert_eq!(names, [OutcomeName::Truncated; 6]);
}

/// Agents that were made to fail in every way, and that Helix calls stuck in none: an answer in a wrong form, which the CLI itself takes five
/// times, is the most.
#[test]
fn no_recorded_run_is_stuck() {
    let most_of = |dialect, recording: &Recording| {
        let mut reader = dialect::dialect(dialect).reader(recording.schema(), ExitStatus::NoEvidence);
        let mut most = 0;
        for line in recording.stdout.split(|byte| *byte == b'\n') {
            reader.line(line, &mut Vec::new());
            most = most.max(reader.run().repeated().map_or(0, |call| call.times));
        }
        most
    };
    let claude = recordings().iter().map(|one| most_of(DialectName::Claude, one)).max();
    let codex = recordings_of("codex").iter().map(|one| most_of(DialectName::Codex, one)).max();
    assert_eq!((claude, codex), (Some(5), Some(1)));
}
