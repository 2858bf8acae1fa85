//! Every recording of the real CLI is classified as its manifest says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

mod recordings;

use helix_agents::DialectName;
use helix_agents::Ended;
use helix_core::run::OutcomeName;
use recordings::{misjudged, outcome, recordings};

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
