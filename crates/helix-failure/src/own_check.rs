//! Helix's own checks: what it means when each of them says no, and the words by which a finding of one is known wherever it is
//! quoted.
//!
//! Must not know how a check is made.

use helix_core::gate_name::GateName;
use regex::Regex;

use super::cause::{self, Cause};

/// The tool of everything that Helix finds by itself.
pub const HELIX: &str = "helix";

/// What it means that this gate says no; `None` for gates that run a command, whose output tells it.
pub fn gate_cause(gate: GateName) -> Option<&'static Cause> {
    Some(match gate {
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
    })
}

/// What findings say in the same words each time, in each language; those of parsers and reviewers have no words of their own.
const WORDS: &[(&Cause, &str)] = &[
    (&cause::OUTPUT_UNCHANGED, r"is claimed as an output but the phase (?:did not change|deleted) it"),
    (&cause::OUTPUT_UNCHANGED, r", but the phase does not claim it"),
    (&cause::BROKEN_REFERENCE, r" leads to .+, which is not in the result|[^ ] has no heading #"),
    (&cause::RESULT_FILE_MISSING, r#"[^ ] is not in the result\.?$| is a link to ".*", which is not in the result"#),
    (&cause::CRITERION_UNPROVED, r"\bthe criterion .+ (?:is not met: |has no evidence)"),
    (&cause::CONFLICT_MARKER, r"\ba conflict marker is left: "),
    (&cause::TESTS_LEFT_OUT, r"[0-9] tests? ran before .+, only [0-9]+ runs? now"),
    (&cause::TESTS_LEFT_OUT, r"(?:[0-9]|\bno) tests? (?:was|were) skipped before .+, [0-9]+ (?:is|are) now"),
    (&cause::GATE_CHANGED, r" decides how `.+` checks and was [a-z]+, but no output of the phase claims it"),
    (&cause::NOTHING_CHANGED, r"\bthe phase changed no file"),
    (&cause::ANSWER_UNFIT, r"\bthe answer refers to .+, which does not exist"),
    (
        &cause::ANSWER_UNFIT,
        r"(?:the last line is not|the answer does not end with) a step marker|the step marker .+ is not a step",
    ),
    (&cause::OUTPUT_UNCHANGED, r"ist als Output beansprucht, aber die Phase hat es (?:nicht geändert|gelöscht)"),
    (&cause::OUTPUT_UNCHANGED, r", aber die Phase beansprucht es nicht"),
    (&cause::BROKEN_REFERENCE, r" führt zu .+; das ist nicht im Ergebnis|[^ ] hat keine Überschrift #"),
    (&cause::RESULT_FILE_MISSING, r"[^ ] ist nicht im Ergebnis\.?$| ist ein Link auf .+; das ist nicht im Ergebnis"),
    (&cause::CRITERION_UNPROVED, r"\bdas Kriterium .+ (?:ist nicht erfüllt: |hat keinen Beleg)"),
    (&cause::CONFLICT_MARKER, r"\beine Konfliktmarkierung ist übrig: "),
    (&cause::TESTS_LEFT_OUT, r" (?:lief|liefen) [0-9]+ Tests?, jetzt nur noch [0-9]"),
    (&cause::TESTS_LEFT_OUT, r" wurden? (?:kein|[0-9]+) Tests? ausgelassen, jetzt [0-9]"),
    (&cause::GATE_CHANGED, r" bestimmt mit, wie `.+` prüft, und wurde .+, aber kein Output der Phase beansprucht "),
    (&cause::NOTHING_CHANGED, r"\bdie Phase hat keine Datei geändert"),
    (&cause::ANSWER_UNFIT, r"\bdie Antwort verweist auf .+, die es nicht gibt"),
    (
        &cause::ANSWER_UNFIT,
        r"die (?:letzte Zeile ist keine|Antwort endet nicht mit einer) Schrittmarke|die Schrittmarke .+ nennt keinen Schritt",
    ),
];

/// A diagnostic with a code of Helix's own, which the rule table reads.
const CODED: &str = r"\berror\[HX[0-9]{4}\]: ";

/// Recognises Helix's own findings in any text.
#[derive(Debug)]
pub(super) struct OwnFindings {
    words: Vec<(&'static Cause, Regex)>,
    coded: Regex,
}

impl OwnFindings {
    /// Compiles the words.
    ///
    /// # Errors
    /// Never with the words as they stand; a test compiles them.
    pub(super) fn new() -> Result<Self, regex::Error> {
        let plain = |pattern: &str| Regex::new(&pattern.replace(r"\b", r"(?-u:\b)"));
        let words = WORDS.iter().map(|(cause, words)| Ok((*cause, plain(words)?)));
        Ok(Self { words: words.collect::<Result<_, regex::Error>>()?, coded: plain(CODED)? })
    }

    /// What the finding that a line is means.
    pub(super) fn cause(&self, line: &str) -> Option<&'static Cause> {
        self.words.iter().find(|(_, words)| words.is_match(line)).map(|(cause, _)| *cause)
    }

    /// Whether a line is a finding of Helix's own.
    pub(super) fn has(&self, line: &str) -> bool {
        self.coded.is_match(line) || self.cause(line).is_some()
    }
}

#[cfg(test)]
#[path = "own_check_test.rs"]
mod tests;
