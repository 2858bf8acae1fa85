//! Failures for the tests.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_failure::memory::{
    AttemptAnswer, AttemptChange, Diagnosis, Holdout, Occurrence, OccurrencePlace, SimilarQuery, Suggestion,
    SuggestionDraft, SuggestionSource, Work, check,
};
use helix_failure::{Blame, Category, Fingerprint, RetryAdvice, normalise};
use jiff::Timestamp;

pub(crate) const TESTS: &str = "gate/1/tests_pass";
pub(crate) const LINT: &str = "gate/0/lint_pass";

/// So many seconds after the tests' beginning of time.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + second).unwrap()
}

pub(crate) fn job(id: &str) -> JobId {
    JobId::new(id).unwrap()
}

pub(crate) fn phase() -> Option<PhaseId> {
    Some(PhaseId::new("implement").unwrap())
}

pub(crate) fn work(job_id: &str) -> Work {
    Work::Job { job: job(job_id), phase: phase() }
}

pub(crate) fn place(job_id: &str, attempt: u32, check: &str) -> OccurrencePlace {
    OccurrencePlace {
        project: "/projects/shop".into(),
        work: work(job_id),
        attempt,
        check: check.into(),
        commit: Some(CommitId::new(format!("{attempt:040x}")).unwrap()),
        agent: "claude".into(),
        run: None,
    }
}

/// A failure of cargo that a change of code mends.
pub(crate) fn seen(line: &str, place: OccurrencePlace) -> Occurrence {
    let message = normalise(line);
    let mut hasher = DefaultHasher::new();
    message.hash(&mut hasher);
    Occurrence {
        key: place.key(),
        diagnosis: Diagnosis {
            fingerprint: Fingerprint::new(format!("{:016x}{:016x}", hasher.finish(), 7)).unwrap(),
            tool: "cargo".into(),
            code: String::new(),
            message,
            frame: "lib.rs".into(),
            category: Category::TypeError,
            cause: "type_mismatch".into(),
            retry: RetryAdvice::AfterChange,
            blame: Blame::Agent,
            cause_line: line.into(),
            summary: line.into(),
        },
        at: at(i64::from(place.attempt)),
        place,
    }
}

/// An attempt in which these checks found nothing and those something, with a change of one file.
pub(crate) fn answer(job_id: &str, attempt: u32, passed: &[&str], failed: &[&str]) -> AttemptAnswer {
    let names = |checks: &[&str]| checks.iter().map(|check| (*check).to_owned()).collect();
    let change = AttemptChange {
        project: "/projects/shop".into(),
        work: work(job_id),
        attempt,
        commit: Some(CommitId::new(format!("{attempt:040x}")).unwrap()),
        files: vec!["src/lib.rs".into()],
        diff: "-let total: u32 = price;\n+let total: u32 = price.into();\n".into(),
        at: at(i64::from(attempt) + 1_000),
    };
    AttemptAnswer { change, passed: names(passed), failed: names(failed), still: Vec::new() }
}

pub(crate) fn asks(line: &str) -> SimilarQuery {
    SimilarQuery {
        diagnosis: seen(line, place("asking", 1, check::RUN)).diagnosis,
        project: None,
        most: 3,
        now: at(2_000),
    }
}

pub(crate) fn suggestion(text: &str, source: SuggestionSource, occurrence: &Occurrence) -> Suggestion {
    Suggestion::new(SuggestionDraft { text: text.into(), source }, occurrence, Holdout::NONE)
}
