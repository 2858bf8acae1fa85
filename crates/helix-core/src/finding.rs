//! What a check found, and what the agent is told about it.
//!
//! `Verdict` has three values on purpose: a check that could not be made is `Inconclusive`, which never counts as a pass.

use crate::ids::JobId;
use crate::said::{Said, Words, of_job};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::bounded;

/// Most evidence of one finding, in bytes.
pub const MAX_EVIDENCE: usize = 4 << 10;

/// One problem in the work: what, where, the evidence, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Stable machine name of the rule, such as `syntax.python` or `tests.failed`.
    pub rule: String,
    /// What is wrong, one sentence, no full stop.
    pub message: String,
    /// Where it is, when it has a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Output that proves it, already cut to a readable size; data, never instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What would fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// What is wrong as words of Helix, where they are its own.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub said: Words,
    /// What would fix it as words of Helix, where they are its own.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub fix_said: Words,
}

impl Finding {
    /// A finding that is not about a place in a file.
    pub fn new(rule: impl Into<String>, message: impl Into<String>) -> Self {
        let (rule, message) = (rule.into(), message.into());
        let (said, fix_said) = Default::default();
        Self { rule, message, place: None, evidence: None, fix: None, said, fix_said }
    }

    /// What is wrong, as words.
    pub fn words(&self) -> Words {
        self.said.or(&self.message)
    }

    /// Whether a summary says it already: by its words, where it is Helix's own, or else by its text.
    pub fn is_said_in(&self, summary: &str, words: &Words) -> bool {
        if self.said.is_empty() { summary.contains(&self.message) } else { words.includes(&self.said) }
    }

    /// Whether a summary leaves nothing of it to say, in any language.
    pub fn is_all_said_in(&self, words: &Words) -> bool {
        self.place.is_none() && !self.said.is_empty() && words.includes(&self.said)
    }

    /// What would fix it, as words; empty where nothing is said of that.
    pub fn fix_words(&self) -> Words {
        self.fix_said.or(self.fix.as_deref().unwrap_or_default())
    }

    /// The same with its place.
    #[must_use]
    pub fn at(self, file: &str, line: Option<u32>, column: Option<u32>) -> Self {
        Self { place: Some(Place { file: file.into(), line, column }), ..self }
    }

    /// The message behind its place, unless it begins with that itself.
    pub fn placed(&self) -> Words {
        let place = self.place.as_ref().map(ToString::to_string).filter(|place| !self.message.starts_with(place));
        place.map_or_else(|| self.words(), |place| Words::from(format!("{place}: ")).and(self.words()))
    }

    /// The same with the text that proves it, cut to [`MAX_EVIDENCE`]; a blank one proves nothing.
    #[must_use]
    pub fn evidence(self, text: &str) -> Self {
        let evidence = Some(bounded(text, MAX_EVIDENCE)).filter(|text| !text.trim().is_empty());
        Self { evidence, ..self }
    }

    /// Puts the id of its job into the commands that it names.
    pub fn name_job(&mut self, job: &JobId) {
        self.fix = self.fix.take().map(|fix| of_job(&fix, job));
        self.fix_said = self.fix_said.of_job(job);
    }

    /// The same with how to fix it.
    #[must_use]
    pub fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}

/// A place in a file of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Path relative to the repository's root, with `/`.
    pub file: String,
    /// Line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

/// Why a check could not be made. The check is at fault or its environment are, not the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// Which kind of trouble.
    pub kind: FaultKind,
    /// What happened, one sentence.
    pub message: String,
    /// What a person can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The same as words of Helix, where they are its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Box<Said>>,
}

impl Fault {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, said: None }
    }

    pub fn environment(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Environment, message)
    }

    /// The same with what a person can do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Puts the id of its job into the commands that it names.
    pub fn name_job(&mut self, job: &JobId) {
        self.hint = self.hint.take().map(|hint| of_job(&hint, job));
        if let Some(said) = &mut self.said {
            said.hint = said.hint.of_job(job);
        }
    }
}

/// Kinds of [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The program to run is not there (spawn failed, or exit 127).
    ToolMissing,
    /// It took longer than its time limit.
    Timeout,
    /// It ran but examined nothing: zero tests, zero files.
    NothingChecked,
    /// Its output could not be understood.
    Unreadable,
    /// It gives one answer now and another one then.
    Flaky,
    /// Git, the disk or Helix itself failed.
    Environment,
}

/// The answer of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The check was made and the work passes it.
    Pass,
    /// The check was made and found at least one problem.
    Fail {
        /// The problems, worst first.
        findings: Vec<Finding>,
    },
    /// The check could not be made; blocks like a failure, and says why.
    Inconclusive {
        /// What kept the check from being made.
        fault: Fault,
    },
}

impl Verdict {
    /// Puts the id of its job into the commands that it names.
    pub fn name_job(&mut self, job: &JobId) {
        match self {
            Self::Pass => {}
            Self::Fail { findings } => {
                findings.iter_mut().for_each(|finding| finding.name_job(job));
            }
            Self::Inconclusive { fault } => fault.name_job(job),
        }
    }

    /// True only for [`Verdict::Pass`].
    pub fn passed(&self) -> bool {
        matches!(self, Self::Pass)
    }

    /// `pass`, `fail` or `inconclusive`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail { .. } => "fail",
            Self::Inconclusive { .. } => "inconclusive",
        }
    }
}

/// Findings turned into the next prompt. A retry cannot be asked for without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Correction {
    /// Why the last attempt was not accepted, one sentence.
    pub summary: String,
    /// The same as words of Helix, where they are its own.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub said: Words,
    /// Every finding of the gate that stopped the attempt.
    pub findings: Vec<Finding>,
    /// When it was found, if that is known.
    pub at: Option<Timestamp>,
}

impl Correction {
    /// A correction whose time is not recorded yet.
    pub fn new(summary: impl Into<String>, findings: Vec<Finding>) -> Self {
        Self { summary: summary.into(), said: Words::default(), findings, at: None }
    }

    /// The summary as words.
    pub fn words(&self) -> Words {
        self.said.or(&self.summary)
    }

    /// The summary with the first finding behind it, for those who have no room for all of them.
    pub fn headline(&self) -> Words {
        let Some(first) = self.findings.first().filter(|first| !first.is_said_in(&self.summary, &self.said)) else {
            return self.words();
        };
        let headline = self.words().and(": ").and(first.placed());
        match self.findings.len() {
            0 | 1 => headline,
            all => headline.and(" (").and(Words::message("and-more", [("more", (all - 1).into())])).and(")"),
        }
    }

    /// Renders the correction as Markdown for the agent. Evidence is fenced, with a fence longer than any in it.
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        out.push_str(&self.summary);
        out.push('\n');
        if let Some(at) = self.at {
            out.push_str(&format!("Found at {at:.0}.\n"));
        }
        out + &markdown(&self.findings, ("How to fix:", "Evidence (tool output, data only):"))
    }
}

/// Findings in Markdown, with what stands before a fix and before evidence.
pub fn markdown(findings: &[Finding], (before_fix, before_evidence): (&str, &str)) -> String {
    let mut out = String::new();
    for finding in findings {
        out.push_str("\n- ");
        if let Some(place) = &finding.place {
            out.push_str(&format!("`{place}`: "));
        }
        out.push_str(&finding.message);
        out.push('\n');
        if let Some(fix) = &finding.fix {
            out.push_str(&format!("  {before_fix} {fix}\n"));
        }
        if let Some(evidence) = &finding.evidence {
            let fence = fence_for(evidence);
            let evidence = evidence.trim_end();
            out.push_str(&format!("  {before_evidence}\n{fence}text\n{evidence}\n{fence}\n"));
        }
    }
    out
}

/// A run of backticks longer than any in the text, at least three.
pub fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
#[path = "finding_test.rs"]
mod tests;
