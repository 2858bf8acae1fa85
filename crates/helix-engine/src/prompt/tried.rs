//! What a new session is told of the tries before the last one, within a budget: what was found about the last one is its correction,
//! and stands in the prompt in full.
//!
//! Must not know templates.

use helix_core::finding::{Correction, Finding};
use helix_job::Attempt;
use serde::Serialize;

/// Most of the whole section, in bytes. Twenty tries with fifty findings each would be megabytes, which no session can use
const BUDGET: usize = 16 << 10;
/// Most of the newest of these tries, with the evidence of its findings.
const NEWEST: usize = 8 << 10;
/// Changed files of a try that are named; more say nothing that the diff does not.
const FILES_NAMED: usize = 30;
/// Findings of a shortened try that are named.
const FINDINGS_NAMED: usize = 8;
/// Most of one message or path, in characters.
const LINE: usize = 240;

/// An earlier try, as a session that knows nothing of it is told.
#[derive(Debug, Serialize)]
pub(super) struct Tried {
    number: u32,
    changed: String,
    found: String,
}

impl Tried {
    pub(super) fn new(number: u32, changed: &str, found: String) -> Self {
        Self { number, changed: changed.into(), found }
    }

    fn of(one: &Attempt, found: String) -> Self {
        let files: Vec<&str> =
            one.result.iter().flat_map(|result| &result.changed).map(|file| file.path.as_str()).collect();
        let mut changed = files.iter().take(FILES_NAMED).map(|path| line(path)).collect::<Vec<_>>().join(", ");
        if files.len() > FILES_NAMED {
            changed.push_str(&format!(" and {} more", files.len() - FILES_NAMED));
        }
        Self { number: one.number, changed, found }
    }

    fn bytes(&self) -> usize {
        self.changed.len() + self.found.len()
    }
}

/// The tries before the last one, oldest first: the newest with its evidence, those before it without, and of those as many as
/// there is room for.
pub(super) fn tried(earlier: &[Attempt]) -> Vec<Tried> {
    // The last one's finding is the correction itself.
    let before = earlier.split_last().map_or(&[][..], |(_, before)| before);
    let (mut told, mut bytes) = (Vec::new(), 0);
    // What was found about a try is what the next one was told.
    for (one, next) in before.iter().zip(before.iter().skip(1)).rev() {
        let correction = next.correction.as_ref();
        let whole = correction.map_or_else(|| "Nothing was found about it.".to_owned(), Correction::to_markdown);
        let found = match correction {
            Some(correction) if !told.is_empty() || whole.len() > NEWEST => shortened(correction),
            Some(_) | None => whole,
        };
        let one = Tried::of(one, found);
        bytes += one.bytes();
        if bytes > BUDGET {
            break;
        }
        told.push(one);
    }
    told.reverse();
    told
}

/// A correction without evidence, each finding in a line.
fn shortened(correction: &Correction) -> String {
    let mut text = format!("{}\n", line(&correction.summary));
    for finding in correction.findings.iter().take(FINDINGS_NAMED) {
        text.push_str(&told(finding));
    }
    if correction.findings.len() > FINDINGS_NAMED {
        text.push_str(&format!("- and {} more findings\n", correction.findings.len() - FINDINGS_NAMED));
    }
    text
}

/// A finding in a line.
pub(super) fn told(finding: &Finding) -> String {
    let place = finding.place.as_ref().map(|place| format!("{}: ", line(&place.to_string()))).unwrap_or_default();
    format!("- {place}{}\n", line(&finding.message))
}

/// The first line of a text, cut.
fn line(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    let mut cut: String = first.chars().take(LINE).collect();
    if cut.len() < text.trim().len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use helix_core::finding::Place;
    use helix_core::ids::{CommitId, RunId};
    use helix_job::Grant;

    use super::*;

    fn correction(of: u32, findings: usize, evidence: usize) -> Correction {
        let finding = |number: usize| Finding {
            rule: "tests.failed".into(),
            message: format!("test {number} of try {of} failed\nand more lines"),
            place: Some(Place { file: "tests/test_a.py".into(), line: Some(7), column: None }),
            evidence: Some("e".repeat(evidence)),
            fix: None,
        };
        Correction { summary: format!("try {of} failed"), findings: (1..=findings).map(finding).collect() }
    }

    /// Tries of which each was told what was found about the one before.
    fn tries(count: u32, findings: usize, evidence: usize) -> Vec<Attempt> {
        let commit = CommitId::new("0123456789012345678901234567890123456789").unwrap();
        let one = |number: u32| Attempt {
            number,
            run: RunId::new(format!("run{number}")).unwrap(),
            base: commit.clone(),
            start: commit.clone(),
            started_at: jiff::Timestamp::UNIX_EPOCH,
            resume: None,
            correction: (number > 1).then(|| correction(number - 1, findings, evidence)),
            run_end: None,
            result: None,
            grant: Grant::default(),
            gates: Vec::new(),
            reviews: Vec::new(),
            proposed: Vec::new(),
            asked: Vec::new(),
            fault: None,
            taken_up: false,
            repairs: Vec::new(),
            begun: Vec::new(),
        };
        (1..=count).map(one).collect()
    }

    /// Table B "prompt bloat".
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
}
