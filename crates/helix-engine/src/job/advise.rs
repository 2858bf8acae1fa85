//! The adviser: what to do about a phase that has no attempts left.
//!
//! A proposal has a fixed form and is checked before it counts. Must not carry it out: that is the job's state machine.

use std::time::Duration;

use helix_core::diagnostic::did_you_mean;
use helix_core::finding::{Fault, Finding};
use helix_core::ids::{JobId, PhaseId, RunId};
use helix_core::said::Words;
use helix_job::{Active, Advice, AdviceAction, JobEvent};
use helix_language::{finding, recorded};
use helix_plan::{Defaults, GateSpec, GeneratePhases, Phase, Plan, fragment};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::effects::{EffectRunner, environment, phase_of};
use super::side_run::{SideAnswer, SideAsk, misfit, unreadable};
use crate::prompt;

/// Longest time for a proposal.
const DEADLINE: Duration = Duration::from_secs(5 * 60);
/// How many phases may take the place of one.
const SPLIT: std::ops::RangeInclusive<u32> = 2..=5;

/// What an adviser may propose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    /// One more attempt in a new session, with `hint`.
    Retry,
    /// The same by the model `model`, with `hint`.
    OtherModel,
    /// `phases` replace it.
    Split,
    /// Go on without it; only for optional phases.
    Skip,
    /// Nothing of this will help: a person has to decide.
    GiveUp,
}

/// The form of a proposal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Proposal {
    /// What is to be done.
    action: Word,
    /// Why this and nothing else, one or two sentences for a person.
    reason: String,
    /// For `retry` and `other_model`: what the agent has to know that it did not; concrete.
    hint: Option<String>,
    /// For `other_model`.
    model: Option<String>,
    /// For `split`.
    phases: Option<Value>,
}

impl EffectRunner {
    /// `None` when the engine is closing.
    pub(super) async fn advise(&self, job: &JobId, active: &Active, id: &PhaseId, round: u32) -> Option<JobEvent> {
        let run = RunId::for_advice(job, id, round);
        let answer = match self.advice_ask(job, active, id, &run, round).await {
            Ok(side) => self.side_run(job, active, side).await?,
            Err(fault) => SideAnswer::without_run(run, fault),
        };
        let models = self.models_for(job, active, id).await;
        Some(given(id, round, answer, |value| read(&active.spec.plan, id, value, &models?)))
    }

    /// The models that are configured for the agent of a phase; empty means any.
    async fn models_for(&self, job: &JobId, active: &Active, id: &PhaseId) -> Result<Vec<String>, Fault> {
        let runner = self.runner_of(job, active).await?;
        let profile = runner.profile(&self.agent_of(active, phase_of(active, id)?));
        Ok(profile.map(|profile| profile.models.clone()).unwrap_or_default())
    }

    async fn advice_ask(
        &self,
        job: &JobId,
        active: &Active,
        id: &PhaseId,
        run: &RunId,
        round: u32,
    ) -> Result<SideAsk, Fault> {
        let phase = phase_of(active, id)?;
        let progress = active.progress(id).ok_or_else(|| unreadable(format!("no phase {id}").into()))?;
        let Some(role) = &active.spec.roles.adviser else {
            return Err(unreadable(recorded!("side-no-adviser")));
        };
        let last = progress.attempts.iter().rev().find_map(|one| one.result.as_ref());
        let commit = last.map_or_else(|| active.spec.repo.base.clone(), |result| result.commit.clone());
        let base = last_base(progress).unwrap_or(&commit);
        let (directory, prepared) =
            self.checkout_to_read(job, active, id, format!("{id}.advice"), (&commit, base)).await?;
        let models = self.models_for(job, active, id).await?;
        let prompt = prompt::advice(&active.spec, phase, progress, &models).map_err(|error| environment(&error))?;
        Ok(SideAsk {
            run: run.clone(),
            phase: id.clone(),
            agent: role.agent.clone(),
            model: role.model.clone(),
            prompt,
            schema: schema(phase),
            directory,
            prepared,
            deadline: DEADLINE,
            label: format!("{id}.advice"),
            take: round,
        })
    }
}

/// Where the phase's last attempt began.
fn last_base(progress: &helix_job::PhaseProgress) -> Option<&helix_core::ids::CommitId> {
    progress.attempts.last().map(|attempt| &attempt.begin.base)
}

fn given(
    phase: &PhaseId,
    round: u32,
    answer: SideAnswer,
    read: impl FnOnce(Value) -> Result<(AdviceAction, String), Fault>,
) -> JobEvent {
    let SideAnswer { side, answer } = answer;
    let (action, reason) = answer.and_then(read).unwrap_or_else(|fault| {
        let reason = fault.message.clone();
        (AdviceAction::Unusable { fault }, reason)
    });
    let advice = Box::new(Advice { side, action, reason });
    JobEvent::AdviceGiven { phase: phase.clone(), round, advice }
}

/// What is recorded when Helix itself failed while it asked.
pub(super) fn panicked(job: &JobId, phase: &PhaseId, round: u32, fault: Fault) -> JobEvent {
    let answer = SideAnswer::without_run(RunId::for_advice(job, phase, round), fault.clone());
    given(phase, round, answer, |_| Err(fault))
}

/// The schema of a proposal, with that of phases in it.
fn schema(phase: &Phase) -> Value {
    let mut schema = schemars::schema_for!(Proposal).to_value();
    let mut fragment = fragment::schema(&pieces_of(phase));
    // Definitions are looked up from the root of a schema.
    if let Value::Object(definitions) = fragment["$defs"].take() {
        definitions.into_iter().for_each(|(name, definition)| schema["$defs"][name] = definition);
    }
    schema["properties"]["phases"] = fragment["properties"]["phases"].take();
    schema
}

/// What a proposal says, if it can be carried out.
fn read(plan: &Plan, id: &PhaseId, value: Value, models: &[String]) -> Result<(AdviceAction, String), Fault> {
    let proposal: Proposal =
        serde_json::from_value(value.clone()).map_err(|error| misfit(&value, &["action", "reason"], &error))?;
    let filled = |text: Option<String>, what: &str| {
        let text = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        text.ok_or_else(|| unreadable(recorded!("side-proposal-lacks", what = what)))
    };
    let action = match proposal.action {
        Word::Retry => AdviceAction::Retry { hint: filled(proposal.hint, "hint")? },
        Word::OtherModel => {
            let model = known(filled(proposal.model, "model")?, models)?;
            AdviceAction::OtherModel { model, hint: proposal.hint.unwrap_or_default() }
        }
        Word::Split => {
            let phases =
                proposal.phases.ok_or_else(|| unreadable(recorded!("side-proposal-lacks", what = "phases")))?;
            AdviceAction::Split { phases: split(plan, id, &phases).map_err(|findings| refused(&findings))? }
        }
        Word::Skip => AdviceAction::Skip,
        Word::GiveUp => AdviceAction::GiveUp,
    };
    Ok((action, proposal.reason))
}

/// A model that the phase's agent has, as far as its models are configured.
fn known(model: String, models: &[String]) -> Result<String, Fault> {
    if models.is_empty() || models.contains(&model) {
        return Ok(model);
    }
    let near = did_you_mean(&model, models.iter().map(String::as_str));
    let near = near.map(|near| Words::from("; ").and(recorded!("side-did-you-mean", near = near))).unwrap_or_default();
    Err(unreadable(recorded!("side-no-model", model = model, models = models.join(", ")).and(near)))
}

/// What the pieces of a phase are: work of its kind, by its agent, within its limits.
fn pieces_of(phase: &Phase) -> GeneratePhases {
    let (agent, model) = (phase.agent.clone(), phase.model.clone());
    GeneratePhases {
        min: *SPLIT.start(),
        max: *SPLIT.end(),
        template: phase.kind,
        gates: Vec::new(),
        verify: phase.verify.clone(),
        defaults: Defaults {
            agent,
            model,
            max_attempts: phase.max_attempts,
            timeout: phase.timeout,
            budget_usd: phase.budget_usd,
            max_turns: phase.max_turns,
        },
    }
}

/// The phases that take a phase's place. The last of them has to pass what the phase itself had to.
fn split(plan: &Plan, id: &PhaseId, phases: &Value) -> Result<Vec<Phase>, Vec<Finding>> {
    let mut asked = plan.clone();
    let Some(replaced) = plan.phase(id) else { return Err(Vec::new()) };
    if let Some(phase) = asked.phases.iter_mut().find(|phase| &phase.id == id) {
        phase.generates_phases = Some(pieces_of(replaced));
    }
    if replaced.gates.iter().any(|gate| gate.delivery().is_some()) {
        // Each of its last pieces would have to deliver, and none of them is the whole.
        let delivers = recorded!("result-split-delivers", phase = id.as_str());
        return Err(vec![finding("advice.split", delivers)]);
    }
    let mut added = fragment::read(&asked, id, &json!({ "phases": phases }))?.added;
    let needed: Vec<PhaseId> = added.iter().flat_map(|phase| phase.depends_on.clone()).collect();
    for phase in added.iter_mut().filter(|phase| !needed.contains(&phase.id)) {
        for gate in &replaced.gates {
            // Claims were those of the replaced phase: its files have to be there all the same.
            let gate = match gate {
                GateSpec::OutputsClaimed { .. } => continue,
                GateSpec::FilesExist { files } if files.is_empty() => {
                    GateSpec::FilesExist { files: replaced.outputs.clone() }
                }
                other => other.clone(),
            };
            if !phase.gates.contains(&gate) {
                phase.gates.push(gate);
            }
        }
        phase.verify = phase.verify.clone().or_else(|| replaced.verify.clone());
        phase.approval = replaced.approval;
    }
    Ok(added)
}

fn refused(findings: &[Finding]) -> Fault {
    let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    unreadable(recorded!("side-phases-invalid", why = messages.join("; ")))
}

#[cfg(test)]
#[path = "advise_test.rs"]
mod tests;
