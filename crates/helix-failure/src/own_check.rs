//! Helix's own checks: what it means when each of them says no, and the words by which a finding of one is known wherever it is
//! quoted.
//!
//! Must not know how a check is made.

use helix_core::gate_name::GateName;
use regex::Regex;
use serde::{Deserialize, Serialize};

use super::cause::{self, Cause};

/// Which check of Helix's own said no. What a command's output tells, its log tells better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnCheck {
    /// A gate.
    Gate(GateName),
    /// The independent verifier.
    Verifier,
    /// A reviewer gave no usable answer.
    SilentReviewer,
    /// A phase that must change files has changed none.
    NothingChanged,
    /// Fewer tests ran than before, more were skipped, or some ask less.
    FewerTests,
    /// The tests pass by other means than the work.
    EvadedTests,
    /// What was delivered is not healthy.
    Unhealthy,
    /// The script that a gate runs was changed.
    GateChanged,
    /// No test ran.
    NoTests,
    /// A check found nothing to look at.
    NothingChecked,
    /// A check's output could not be understood.
    Unreadable,
    /// Results contradict each other.
    Conflict,
    /// The Consultant's answer lacks what every answer has.
    Answer,
    /// What an agent is started by is not open to its run.
    Sandbox,
}

impl OwnCheck {
    /// What it means that this check says no; `None` for gates that run a command, whose output tells it.
    pub fn cause(self) -> Option<&'static Cause> {
        Some(match self {
            Self::Gate(gate) => match gate {
                GateName::SyntaxCheck => &cause::COMPILE_SYNTAX,
                GateName::FilesExist => &cause::RESULT_FILE_MISSING,
                GateName::OutputsClaimed => &cause::OUTPUT_UNCHANGED,
                GateName::AdrValid | GateName::AdrComplete => &cause::DOCUMENT_INVALID,
                GateName::DocsRefsValid => &cause::BROKEN_REFERENCE,
                GateName::CriteriaCovered => &cause::CRITERION_UNPROVED,
                GateName::ConflictsResolved => &cause::CONFLICT_MARKER,
                GateName::ReviewApproved => &cause::REVIEW_REJECTED,
                GateName::Approval | GateName::Manual => &cause::PERSON_REJECTED,
                GateName::Mutation => &cause::TESTS_BLIND,
                GateName::TestsPass
                | GateName::LintPass
                | GateName::BuildPass
                | GateName::Command
                | GateName::DeploySuccess
                | GateName::IntegrationPass => return None,
            },
            Self::Verifier => &cause::REVIEW_REJECTED,
            Self::SilentReviewer => &cause::REVIEW_UNANSWERED,
            Self::NothingChanged => &cause::NOTHING_CHANGED,
            Self::FewerTests => &cause::TESTS_LEFT_OUT,
            Self::EvadedTests => &cause::TESTS_EVADED,
            Self::Unhealthy => &cause::DELIVERY_UNHEALTHY,
            Self::GateChanged => &cause::GATE_CHANGED,
            Self::NoTests => &cause::NO_TESTS,
            Self::NothingChecked => &cause::NOTHING_CHECKED,
            Self::Unreadable => &cause::UNREADABLE,
            Self::Conflict => &cause::VCS_CONFLICT,
            Self::Answer => &cause::ANSWER_UNFIT,
            Self::Sandbox => &cause::SANDBOX_CLOSED,
        })
    }

    /// Its name in evidence.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gate(gate) => gate.word(),
            Self::Verifier => "verify",
            Self::SilentReviewer => "silent_reviewer",
            Self::NothingChanged => "nothing_changed",
            Self::FewerTests => "fewer_tests",
            Self::EvadedTests => "evaded_tests",
            Self::Unhealthy => "unhealthy",
            Self::GateChanged => "gate_changed",
            Self::NoTests => "no_tests",
            Self::NothingChecked => "nothing_checked",
            Self::Unreadable => "unreadable",
            Self::Conflict => "conflict",
            Self::Answer => "answer",
            Self::Sandbox => "sandbox",
        }
    }
}

/// What findings say in the same words each time; those of parsers and reviewers have no words of their own.
const WORDS: &[(OwnCheck, &str)] = &[
    (
        OwnCheck::Gate(GateName::OutputsClaimed),
        r"is claimed as an output but the phase (?:did not change|deleted) it|, but the phase does not claim it",
    ),
    (OwnCheck::Gate(GateName::DocsRefsValid), r" leads to .+, which is not in the result|[^ ] has no heading #"),
    (
        OwnCheck::Gate(GateName::FilesExist),
        r#"[^ ] is not in the result\.?$| is a link to ".*", which is not in the result"#,
    ),
    (OwnCheck::Gate(GateName::CriteriaCovered), r"\bthe criterion .+ (?:is not met: |has no evidence)"),
    (OwnCheck::Gate(GateName::ConflictsResolved), r"\ba conflict marker is left: "),
    (
        OwnCheck::FewerTests,
        r"[0-9] tests ran before .+, only [0-9]+ run now|[0-9] tests were skipped before .+, [0-9]+ are now",
    ),
    (OwnCheck::GateChanged, r" decides how `.+` checks and was [a-z]+, but no output of the phase claims it"),
    (OwnCheck::NothingChanged, r"\bthe phase changed no file"),
    (
        OwnCheck::Answer,
        r"\bthe answer refers to .+, which does not exist|the last line is not a step marker|the step marker .+ is not a step",
    ),
];

/// A diagnostic with a code of Helix's own, which the rule table reads.
const CODED: &str = r"\berror\[HX[0-9]{4}\]: ";

/// Recognises Helix's own findings in any text.
#[derive(Debug)]
pub(super) struct OwnFindings {
    checks: Vec<(OwnCheck, Regex)>,
    coded: Regex,
}

impl OwnFindings {
    /// Compiles the words.
    ///
    /// # Errors
    /// Never with the words as they stand; a test compiles them.
    pub(super) fn new() -> Result<Self, regex::Error> {
        let plain = |pattern: &str| Regex::new(&pattern.replace(r"\b", r"(?-u:\b)"));
        let checks = WORDS.iter().map(|(check, words)| Ok((*check, plain(words)?)));
        Ok(Self { checks: checks.collect::<Result<_, regex::Error>>()?, coded: plain(CODED)? })
    }

    /// The check whose finding a line is.
    pub(super) fn check(&self, line: &str) -> Option<OwnCheck> {
        self.checks.iter().find(|(_, words)| words.is_match(line)).map(|(check, _)| *check)
    }

    /// Whether a line is a finding of Helix's own.
    pub(super) fn has(&self, line: &str) -> bool {
        self.coded.is_match(line) || self.check(line).is_some()
    }
}

#[cfg(test)]
#[path = "own_check_test.rs"]
mod tests;
