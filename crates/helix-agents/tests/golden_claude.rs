//! Every recording of the real CLI is classified as its manifest says [1, 51, T2, T3, T6].

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

mod recordings;

use recordings::{outcome, recordings};

#[test]
fn every_recording_has_the_outcome_of_its_manifest() {
    let all = recordings();
    let wrong: Vec<String> = all
        .iter()
        .map(|recording| (recording, outcome(&recording.stdout, &recording.ended(), recording.schema())))
        .filter(|(recording, found)| *found != recording.verdict)
        .map(|(recording, found)| format!("{}: {found:?}, not {:?}", recording.name(), recording.verdict))
        .collect();
    println!("{} recordings", all.len());
    assert!(all.len() >= 290, "recordings are missing");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
