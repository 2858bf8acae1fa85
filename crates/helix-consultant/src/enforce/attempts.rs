//! The attempts at one turn's answer: a list that only grows, of which the best is kept.
//!
//! Must not know agents or journals: texts in, a decision out.

use std::path::PathBuf;

use helix_core::finding::{Correction, Finding};
use helix_core::ids::RunId;
use helix_core::run::RunFacts;
use helix_core::step_marker::{Marker, Step, split};
use helix_core::text::count;
use helix_job::session::{AnswerCheck, AnswerFinding};
use helix_language::Language;

use super::{Examined, Validator};
use crate::phrases;

/// An answer that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnswerAttempt {
    pub(crate) run: RunId,
    /// The whole answer, marker included.
    pub(crate) answer: String,
    /// What was found in it.
    pub(crate) examined: Examined,
    /// The evidence of its run.
    pub(crate) facts: RunFacts,
}

/// All attempts at one turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnswerAttempts {
    all: Vec<AnswerAttempt>,
    retries: u32,
    asked: u32,
    /// What the user is told is in this language.
    language: Language,
}

/// A correction to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Retry {
    /// What the agent is told.
    pub(crate) prompt: String,
    /// One line for the user.
    pub(crate) status: String,
    /// What is wanted back.
    pub(crate) wanted: CorrectionScope,
}

/// What the agent is asked to say again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CorrectionScope {
    /// The marker's line alone: the answer itself stands.
    MarkerLine,
    Answer,
}

impl AnswerAttempts {
    pub(crate) fn new(retries: u32, language: Language) -> Self {
        Self { all: Vec::new(), retries, asked: 0, language }
    }

    /// How many answers there are.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// The text of the answer that a run's words amount to: where only the marker was wanted, the answer before with that marker.
    pub(crate) fn answer_of(&self, wanted: CorrectionScope, said: &str) -> String {
        let before = match (wanted, self.all.last()) {
            (CorrectionScope::MarkerLine, Some(before)) => before,
            (CorrectionScope::MarkerLine | CorrectionScope::Answer, _) => return said.to_owned(),
        };
        let kept = split(&before.answer).0.trim_end();
        match split(said).1 {
            Marker::Step(step) => format!("{kept}\n\n{}", marker_line(step.word())),
            // An unknown word stays what it is; nothing is made of it.
            Marker::Unknown(word) => format!("{kept}\n\n{}", marker_line(&word)),
            Marker::Absent => before.answer.clone(),
        }
    }

    /// Adds an answer that was looked at, and says which correction to ask for; `None` when it is in order, or none is left.
    pub(crate) fn add(&mut self, attempt: AnswerAttempt) -> Option<Retry> {
        let wanted = !attempt.examined.findings.is_empty() && self.asked < self.retries;
        let retry = wanted.then(|| self.retry(&attempt.examined));
        self.all.push(attempt);
        retry
    }

    /// Counts a correction that the agent was really asked for.
    pub(crate) fn count_asked(&mut self) {
        self.asked += 1;
    }

    /// The best answer so far: the one with the fewest findings, those of the marker counting least; of equal ones the latest,
    /// since it was written with knowledge of the others.
    pub(crate) fn best(&self) -> Option<&AnswerAttempt> {
        let weight = |attempt: &AnswerAttempt| {
            let marker = Validator::StepMarker.word();
            let of_marker = attempt.examined.findings.iter().filter(|one| one.validator == marker).count();
            (attempt.examined.findings.len() - of_marker, of_marker)
        };
        self.all.iter().rev().min_by_key(|attempt| weight(attempt))
    }

    /// Files as the best answer left them, where a later attempt has changed them.
    pub(crate) fn files_to_restore(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (Some(best), Some(last)) = (self.best(), self.all.last()) else { return Vec::new() };
        let changed = |(path, content): &&(PathBuf, Vec<u8>)| {
            last.examined.files.iter().all(|(other, now)| other != path || now != content)
        };
        if best.run == last.run { Vec::new() } else { best.examined.files.iter().filter(changed).cloned().collect() }
    }

    /// What the user is told below an answer that is not in order; `None` when it is. A step marker that could not be asked for says
    /// nothing of the answer.
    pub(crate) fn note(&self, failed_correction: Option<&str>) -> Option<String> {
        let mut findings = self.best()?.examined.findings.clone();
        findings.retain(|one| failed_correction.is_none() || one.validator != Validator::StepMarker.word());
        (!findings.is_empty()).then(|| phrases::not_in_order(self.language, &findings, self.asked, failed_correction))
    }

    fn retry(&self, examined: &Examined) -> Retry {
        let findings = &examined.findings;
        let status = phrases::correcting(self.language, findings, self.asked + 1, self.retries);
        if examined.is_marker_alone() {
            let lines: Vec<String> = Step::ALL.iter().map(|step| marker_line(step.word())).collect();
            let reason = findings.first().map(|one| one.finding.message.clone()).unwrap_or_default();
            let prompt = format!(
                "[Helix, not the user] Your last answer stands, but {reason}. Do not repeat the answer. Reply with nothing but \
                 the one line with the current step:\n{}",
                lines.join("\n")
            );
            return Retry { prompt, status, wanted: CorrectionScope::MarkerLine };
        }
        let summary =
            format!("Your last answer was checked, and {} must be fixed first:", count(findings.len(), "finding"));
        let correction = Correction::new(summary, findings.iter().map(named).collect());
        let prompt = format!(
            "[Helix, not the user] {}\nFix exactly this, in the files where it is about files, and check with the tools that you \
             have. Then give your whole answer to the user's last message again, as it is to be read: it replaces the earlier one. \
             Do not mention this correction.",
            correction.to_markdown()
        );
        Retry { prompt, status, wanted: CorrectionScope::Answer }
    }
}

impl AnswerAttempt {
    /// What was found, for the journal; `None` when nothing was.
    pub(crate) fn check(&self) -> Option<AnswerCheck> {
        let findings = self.examined.findings.clone();
        (!findings.is_empty()).then(|| AnswerCheck { run: self.run.clone(), findings })
    }
}

fn marker_line(word: &str) -> String {
    format!("<!-- STEP: {word} -->")
}

fn named(one: &AnswerFinding) -> Finding {
    Finding { message: format!("({}) {}", one.validator, one.finding.message), ..one.finding.clone() }
}
