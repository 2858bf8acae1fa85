//! `criteria_covered`: every acceptance criterion of the plan's ADR names evidence, and that evidence passes.
//!
//! Must not take the criteria from what the agent made: they are those of the ADR at submit, or else of the commit that the phase
//! started from. A criterion that named no evidence there may be given a test by the phase, and nothing weaker.

mod run;
mod runner;

use std::collections::HashMap;
use std::sync::Arc;

use helix_adr::{Adr, AdrForm, Criterion, Evidence, Proof};
use helix_core::evidence::{CommandEvidence, TestCounts};
use helix_core::finding::{Fault, Finding};
use helix_core::said::Words;
use helix_core::text::one_line;
use helix_language::{ErrorView, recorded};

use super::GateContext;
use super::checkout::blocking;
use super::definition::allows_weaker_tests;
use super::judgement::{Judgement, Trouble, retold};
use super::tests::{Excused, weaker_tests};
use run::{Answer, Outcome, squeezed};

/// Most notes on criteria that passed.
const MAX_NOTES: usize = 50;

/// The criteria that count, and what the result says of them.
struct Definition {
    path: String,
    adr: Adr,
    /// The ADR as the phase left it; `None` when it is the same or gone.
    now: Option<Adr>,
}

pub(super) async fn criteria_covered(context: &Arc<GateContext>) -> Result<Judgement, Trouble> {
    let of = context.clone();
    let Definition { path, adr, now } = blocking(move || definition(&of)).await??;
    let mut gathered = Gathered { path, ..Gathered::default() };
    let mut known: HashMap<Proof, Outcome> = HashMap::new();
    for criterion in &adr.criteria {
        let (evidence, own) = evidence_of(criterion, now.as_ref());
        let stands = (criterion.span.line, criterion.span.column);
        for unusable in &criterion.unusable {
            let place = (unusable.span.line, unusable.span.column);
            let (message, help) = ((&unusable.message).into(), (&unusable.help).into());
            gathered.findings.push(gathered.finding("criteria.evidence_unusable", place, message, help));
        }
        if evidence.is_empty() && criterion.unusable.is_empty() {
            let message = recorded!("gate-criterion-bare", criterion = quoted(&criterion.text));
            let fix = recorded!("gate-criterion-write", path = &gathered.path);
            gathered.findings.push(gathered.finding("criteria.no_evidence", stands, message, fix));
        }
        if own {
            gathered.notes.push(recorded!("gate-criterion-own", criterion = quoted(&criterion.text)));
        }
        for piece in evidence {
            let answer = match known.get(&piece.proof) {
                Some(outcome) => outcome.answer.clone(),
                None => {
                    let outcome = run::run(context, &piece.proof, known.len()).await?;
                    gathered.take(&outcome);
                    known.entry(piece.proof.clone()).or_insert(outcome).answer.clone()
                }
            };
            // The place of evidence that the phase gave is in its own ADR, which the agent has before it.
            let place = if own { stands } else { (piece.span.line, piece.span.column) };
            gathered.judge(place, criterion, &piece.proof, answer);
        }
    }
    let judgement = gathered.judgement(adr.criteria.len());
    if !known.keys().any(|proof| matches!(proof, Proof::Test { .. } | Proof::TestCommand { .. })) {
        return Ok(judgement);
    }
    // A test that the job has emptied is no evidence. Where the phase's own tests may ask less, these may.
    let excused = if allows_weaker_tests(&context.phase) { Excused::Claimed } else { Excused::Nothing };
    let (weaker, told) = weaker_tests(context, excused).await?;
    Ok(judgement.with_findings(weaker).with_notes(told))
}

/// The evidence of a criterion; whether the phase gave it.
fn evidence_of<'a>(criterion: &'a Criterion, now: Option<&'a Adr>) -> (Vec<&'a Evidence>, bool) {
    if !criterion.evidence.is_empty() || !criterion.unusable.is_empty() {
        return (criterion.evidence.iter().collect(), false);
    }
    let wanted = squeezed(&criterion.text);
    let same = now.and_then(|now| now.criteria.iter().find(|other| squeezed(&other.text).starts_with(&wanted)));
    // A file or a command is easily found that says yes; a test that ran and passed has at least asked.
    let tests = same.into_iter().flat_map(|other| &other.evidence);
    let tests: Vec<&Evidence> = tests.filter(|evidence| matches!(evidence.proof, Proof::Test { .. })).collect();
    let own = !tests.is_empty();
    (tests, own)
}

fn definition(context: &GateContext) -> Result<Definition, Trouble> {
    let Some(path) = context.adr.as_ref().map(|adr| adr.path.clone()).or_else(|| context.plan_adr.clone()) else {
        return Err(Judgement::nothing(recorded!("gate-criteria-no-adr")).into());
    };
    let at = |commit| context.text(&*context.files_at(commit)?, &path);
    let text = match &context.adr {
        Some(adr) => Some(adr.text.clone()),
        None => at(&context.base)?,
    };
    let Some(text) = text else {
        return Err(Judgement::nothing(recorded!("gate-criteria-adr-gone", path = path)).into());
    };
    let adr = Adr::parse(&path, &text);
    if adr.criteria.is_empty() {
        let message = match adr.form {
            AdrForm::Helix => recorded!("gate-criteria-none", path = path),
            AdrForm::Madr => recorded!("gate-criteria-none-madr", path = path),
            AdrForm::Nygard => recorded!("gate-criteria-none-nygard", path = path),
        };
        return Err(Judgement::nothing(message).into());
    }
    let now = at(&context.result.commit)?.filter(|now| *now != text).map(|now| Adr::parse(&path, &now));
    Ok(Definition { path, adr, now })
}

/// What came of all evidence so far.
#[derive(Default)]
struct Gathered {
    path: String,
    findings: Vec<Finding>,
    notes: Vec<Words>,
    fault: Option<Fault>,
    command: Option<CommandEvidence>,
    failed_command: Option<CommandEvidence>,
    tests: Option<TestCounts>,
}

impl Gathered {
    /// Keeps the record of a command: of the first that did not pass, else of the last.
    fn take(&mut self, outcome: &Outcome) {
        match outcome.answer {
            Answer::Passed { .. } => self.command = outcome.command.clone().or(self.command.take()),
            Answer::Failed { .. } => self.failed_command = self.failed_command.take().or(outcome.command.clone()),
            Answer::Faulted(_) => {}
        }
        self.tests = outcome.tests.into_iter().chain(self.tests).reduce(|sum, counts| sum + counts);
    }

    fn judge(&mut self, place: (u32, u32), criterion: &Criterion, proof: &Proof, answer: Answer) {
        let quoted = quoted(&criterion.text);
        match answer {
            Answer::Passed { .. } if self.notes.len() >= MAX_NOTES => {}
            Answer::Passed { how } => {
                self.notes.push(Words::from(format!("{quoted}: ")).and(proof.to_string()).and(", ").and(how));
            }
            Answer::Failed { rule, message, fix, evidence } => {
                let message = recorded!("gate-criterion-unmet", criterion = quoted, why = message);
                self.findings.push(self.finding(rule, place, message, fix).evidence(&evidence));
            }
            Answer::Faulted(fault) => {
                let (line, column) = place;
                let place = format!("{}:{line}:{column}", self.path);
                let unchecked =
                    |why| recorded!("gate-criterion-unchecked", place = place, proof = proof.to_string(), why = why);
                let fault = retold(&fault, unchecked);
                self.notes.push(ErrorView::of_fault(&fault).words());
                self.fault.get_or_insert(fault);
            }
        }
    }

    fn finding(&self, rule: &str, (line, column): (u32, u32), message: Words, fix: Words) -> Finding {
        helix_language::finding_with_fix(rule, message, fix).at(&self.path, Some(line), Some(column))
    }

    fn judgement(self, count: usize) -> Judgement {
        let judgement = match (self.fault, self.findings.len()) {
            // What could be checked and failed is what the agent can fix; the fault is in the notes.
            (Some(fault), 0) => Judgement::faulted(fault).with_notes(self.notes),
            (None, 0) => {
                let summary = recorded!("gate-criteria-met", criteria = count, path = &self.path);
                Judgement::of(Vec::new(), summary, self.notes)
            }
            (_, failed) => {
                let summary = recorded!("gate-criteria-unmet", criteria = count, path = &self.path, findings = failed);
                Judgement::of(self.findings, summary, self.notes)
            }
        };
        Judgement { command: self.failed_command.or(self.command), tests: self.tests, ..judgement }
    }
}

/// A criterion's text, short enough for a message.
fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text, 80))
}
