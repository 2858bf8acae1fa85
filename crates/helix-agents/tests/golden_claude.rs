//! Every recording of the real CLI is classified as its manifest says [1, 51, T2, T3, T6].

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

mod recordings;

use helix_agents::DialectName;
use recordings::{misjudged, recordings};

#[test]
fn every_recording_has_the_outcome_of_its_manifest() {
    let all = recordings();
    assert!(all.len() >= 286, "recordings are missing");
    assert_eq!(misjudged(DialectName::Claude, &all), Vec::<String>::new());
}
