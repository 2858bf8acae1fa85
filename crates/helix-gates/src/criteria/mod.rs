//! `criteria_covered`: every acceptance criterion of the plan's ADR names evidence, and that evidence passes.
//!
//! Must not take the criteria from what the agent made: they are those of the ADR at submit, or else of the commit that the phase
//! started from. A criterion that named no evidence there may be given a test by the phase, and nothing weaker.

mod run;
mod runner;

use std::collections::HashMap;
use std::sync::Arc;

use helix_adr::{Adr, AdrForm, Criterion, EVIDENCE_FORM, Evidence, Proof};
use helix_core::evidence::{CommandEvidence, TestCounts};
use helix_core::finding::{Fault, FaultKind, Finding};
use tokio_util::sync::CancellationToken;

use super::GateContext;
use super::checkout::blocking;
use super::judgement::{Describe, Judgement, Trouble, finding};
use run::Outcome;

/// Most notes on criteria that passed.
const MAX_NOTES: usize = 50;

/// The criteria that count, and what the result says of them.
struct Definition {
    path: String,
    adr: Adr,
    /// The ADR as the phase left it; `None` when it is the same or gone.
    now: Option<Adr>,
}

pub(super) async fn criteria_covered(
    context: &Arc<GateContext>,
    cancel: &CancellationToken,
) -> Result<Judgement, Trouble> {
    let definition = {
        let context = context.clone();
        blocking(move || definition(&context)).await??
    };
    let Definition { path, adr, now } = match definition {
        Ok(definition) => definition,
        Err(judgement) => return Ok(judgement),
    };
    let mut gathered = Gathered::default();
    let mut known: HashMap<Proof, Outcome> = HashMap::new();
    for criterion in &adr.criteria {
        let (evidence, own) = evidence_of(criterion, now.as_ref());
        for unusable in &criterion.unusable {
            let place = (unusable.span.line, unusable.span.column);
            gathered.fail(&path, place, "criteria.evidence_unusable", &unusable.message, &unusable.help, "");
        }
        if evidence.is_empty() && criterion.unusable.is_empty() {
            let message = format!("the criterion {} has no evidence", quoted(&criterion.text));
            let place = (criterion.span.line, criterion.span.column);
            let fix = format!("write a test for it, and {EVIDENCE_FORM} in {path}");
            gathered.fail(&path, place, "criteria.no_evidence", &message, &fix, "");
        }
        if own {
            gathered.notes.push(format!("{} got its test from the phase itself", quoted(&criterion.text)));
        }
        for piece in evidence {
            let outcome = match known.get(&piece.proof) {
                Some(outcome) => outcome.clone(),
                None => {
                    let outcome = run::run(context, &piece.proof, known.len(), cancel).await?;
                    gathered.take(&outcome);
                    known.insert(piece.proof.clone(), outcome.clone());
                    outcome
                }
            };
            let place = match own {
                // The place is in the ADR of the phase then, which the agent has before it.
                true => (criterion.span.line, criterion.span.column),
                false => (piece.span.line, piece.span.column),
            };
            gathered.judge(&path, place, criterion, &piece.proof, outcome);
        }
    }
    let count = adr.criteria.len();
    Ok(gathered.judgement(count, &path))
}

/// The evidence of a criterion; whether the phase gave it.
fn evidence_of<'a>(criterion: &'a Criterion, now: Option<&'a Adr>) -> (Vec<&'a Evidence>, bool) {
    if !criterion.evidence.is_empty() || !criterion.unusable.is_empty() {
        return (criterion.evidence.iter().collect(), false);
    }
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = plain(&criterion.text);
    let same = now.and_then(|now| now.criteria.iter().find(|other| plain(&other.text).starts_with(&wanted)));
    // A file or a command is easily found that says yes; a test that ran and passed has at least asked.
    let tests = same.into_iter().flat_map(|other| &other.evidence);
    let tests: Vec<&Evidence> = tests.filter(|evidence| matches!(evidence.proof, Proof::Test { .. })).collect();
    let own = !tests.is_empty();
    (tests, own)
}

fn definition(context: &GateContext) -> Result<Result<Definition, Judgement>, Trouble> {
    let nothing =
        |message: &str, hint: &str| Ok(Err(Judgement::inconclusive(FaultKind::NothingChecked, message, hint)));
    let Some(path) = context.adr.as_ref().map(|adr| adr.path.clone()).or_else(|| context.plan_adr.clone()) else {
        return nothing("the plan names no ADR, so it has no criteria", "add it to the plan: `adr: adr/012-title.md`");
    };
    let repository = context.repository();
    let at = |commit: &str| -> Result<Option<String>, Trouble> {
        let listing = repository.listing(&repository.commit(commit)?.tree)?;
        let Some(entry) = listing.get(&path) else { return Ok(None) };
        Ok(Some(String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned()))
    };
    let text = match &context.adr {
        Some(adr) => Some(adr.text.clone()),
        None => at(context.base.as_str())?,
    };
    let Some(text) = text else {
        let message = format!("{path} is not in the commit that the phase started from");
        return nothing(&message, "commit the ADR before the job, or let an earlier phase write it");
    };
    let adr = Adr::parse(&path, &text);
    if adr.criteria.is_empty() {
        let message = match adr.form {
            AdrForm::Helix => format!("{path} has no acceptance criteria with a checkbox"),
            AdrForm::Madr | AdrForm::Nygard => format!("{path} is not in Helix's ADR format and has no criteria"),
        };
        return nothing(&message, "write criteria with checkboxes: `- [ ] …`; `helix adr check` shows what is missing");
    }
    let now = at(context.result.commit.as_str())?.filter(|now| *now != text).map(|now| Adr::parse(&path, &now));
    Ok(Ok(Definition { path, adr, now }))
}

/// What came of all evidence so far.
#[derive(Default)]
struct Gathered {
    findings: Vec<Finding>,
    notes: Vec<String>,
    fault: Option<Fault>,
    command: Option<CommandEvidence>,
    failed_command: Option<CommandEvidence>,
    tests: Option<TestCounts>,
}

impl Gathered {
    /// Keeps the record of a command: of the first that did not pass, else of the last.
    fn take(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Passed { command, tests, .. } => {
                self.command = command.clone().or(self.command.take());
                self.add(tests.as_ref());
            }
            Outcome::Failed { command, tests, .. } => {
                if self.failed_command.is_none() {
                    self.failed_command.clone_from(command);
                }
                self.add(tests.as_ref());
            }
            Outcome::Faulted { .. } => {}
        }
    }

    fn add(&mut self, tests: Option<&TestCounts>) {
        let Some(tests) = tests else { return };
        let sum = self.tests.get_or_insert_with(TestCounts::default);
        sum.passed = sum.passed.saturating_add(tests.passed);
        sum.failed = sum.failed.saturating_add(tests.failed);
        sum.skipped = sum.skipped.saturating_add(tests.skipped);
    }

    fn judge(&mut self, path: &str, place: (u32, u32), criterion: &Criterion, proof: &Proof, outcome: Outcome) {
        match outcome {
            Outcome::Passed { how, .. } => {
                if self.notes.len() < MAX_NOTES {
                    self.notes.push(format!("{}: {proof}, {how}", quoted(&criterion.text)));
                }
            }
            Outcome::Failed { rule, message, fix, evidence, .. } => {
                let message = format!("the criterion {} is not met: {message}", quoted(&criterion.text));
                self.fail(path, place, rule, &message, &fix, &evidence);
            }
            Outcome::Faulted { fault } => {
                let message =
                    format!("{path}:{}:{}: {proof} could not be checked: {}", place.0, place.1, fault.message);
                self.notes.push(message.clone());
                self.fault.get_or_insert(Fault { message, ..fault });
            }
        }
    }

    fn fail(&mut self, path: &str, place: (u32, u32), rule: &str, message: &str, fix: &str, evidence: &str) {
        let found = finding(rule, message).at(path, Some(place.0), Some(place.1)).fix(fix).evidence(evidence);
        self.findings.push(found);
    }

    fn judgement(self, count: usize, path: &str) -> Judgement {
        let Self { findings, notes, fault, command, failed_command, tests } = self;
        let mut judgement = match fault {
            // What could be checked and failed is what the agent can mend; the fault is in the notes.
            Some(fault) if findings.is_empty() => Judgement::faulted(fault).with_notes(notes),
            Some(_) | None => {
                let summary = match findings.len() {
                    0 => format!("{count} criteria of {path}, all verified"),
                    failed => format!("{count} criteria of {path}, {failed} finding(s)"),
                };
                Judgement::of(findings, summary, notes)
            }
        };
        judgement.command = failed_command.or(command);
        judgement.tests = tests;
        judgement
    }
}

/// A criterion's text, short enough for a message.
fn quoted(text: &str) -> String {
    let mut out: String = text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    format!("\"{out}\"")
}
