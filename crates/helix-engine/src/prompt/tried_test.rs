use helix_core::finding::Place;
use helix_core::ids::{CommitId, PhaseId, RunId};
use helix_job::{AttemptStart, Grant};

use super::*;

fn correction(of: u32, findings: usize, evidence: usize) -> Correction {
    let finding = |number: usize| Finding {
        place: Some(Place { file: "tests/test_a.py".into(), line: Some(7), column: None }),
        evidence: Some("e".repeat(evidence)),
        ..Finding::new("tests.failed", format!("test {number} of try {of} failed\nand more lines"))
    };
    Correction::new(format!("try {of} failed"), (1..=findings).map(finding).collect())
}

/// Tries of which each was told what was found about the one before.
fn tries(count: u32, findings: usize, evidence: usize) -> Vec<Attempt> {
    let commit = CommitId::new("0123456789012345678901234567890123456789").unwrap();
    let one = |number: u32| AttemptStart {
        phase: PhaseId::new("a").unwrap(),
        attempt: number,
        run: RunId::new(format!("run{number}")).unwrap(),
        base: commit.clone(),
        start: commit.clone(),
        resume: None,
        correction: (number > 1).then(|| correction(number - 1, findings, evidence)),
        grant: Grant::default(),
    };
    (1..=count).map(|number| Attempt::new(one(number), jiff::Timestamp::UNIX_EPOCH)).collect()
}

#[test]
fn what_was_tried_has_a_budget_and_keeps_the_newest() {
    for (findings, evidence) in [(50, 4 << 10), (50, 0), (1, 1 << 20), (3, 100)] {
        let told = tried(&tries(100, findings, evidence));
        let bytes: usize = told.iter().map(Tried::bytes).sum();
        assert!(bytes <= BUDGET, "{findings} findings with {evidence}: {bytes}");
        assert!(told.len() > 5, "{findings} findings with {evidence}: only {} are told", told.len());
        let numbers: Vec<u32> = told.iter().map(|one| one.number).collect();
        let wanted: Vec<u32> = (99 - told.len() as u32..99).collect();
        assert_eq!(numbers, wanted, "without gaps, up to the one before the last");
    }
}

#[test]
fn the_newest_has_its_evidence_and_the_others_have_their_findings() {
    let told = tried(&tries(5, 10, 100));
    let [.., before, newest] = told.as_slice() else { panic!("{told:?}") };
    assert!(newest.found.contains("try 3 failed") && newest.found.contains("eeee"), "{newest:?}");
    assert!(before.found.contains("- tests/test_a.py:7: test 8 of try 2 failed…\n"), "{before:?}");
    assert!(!before.found.contains("eeee") && before.found.ends_with("- and 2 more findings\n"), "{before:?}");
    assert!(tried(&tries(1, 1, 1)).is_empty() && tried(&tries(2, 1, 1)).is_empty());
}
