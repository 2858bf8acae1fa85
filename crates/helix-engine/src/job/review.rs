//! Reviewers: an independent look at a result commit, with an answer of a fixed form.
//!
//! A reviewer gets a checkout of its own, may only read, and what it looks at is a commit that nothing it does can change. Must not
//! know what follows from its answer.

use std::path::PathBuf;
use std::time::Duration;

use helix_agents::{AgentProfile, agent_kind};
use helix_core::finding::{Fault, Finding, Place, Verdict};
use helix_core::ids::RunId;
use helix_job::{Active, Committed, JobEvent, Review, Roles};
use helix_language::recorded;
use helix_plan::{GateSpec, Phase};
use helix_process::Prepared;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::cited::Citable;
use super::effects::{AttemptContext, EffectRunner, Stopped, blocking, blocking_fault, environment};
use super::side_run::{SideAnswer, SideAsk, misfit, unreadable};
use crate::agent_run::AgentRunner;
use crate::prompt;

/// Time limit of a review that a gate asks for.
const GATE_REVIEW: Duration = Duration::from_secs(5 * 60);
/// Most of a diff that a reviewer is shown in its prompt, in bytes; it may read every file besides.
const DIFF_SHOWN: usize = 60 << 10;

/// The form of a reviewer's answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// `approved` only if you have seen in the files that everything asked for is there and right.
    verdict: Word,
    /// One sentence: what decided it.
    summary: String,
    /// What you have checked and found right, one short line each: each thing that was asked for, and what you looked for and
    /// did not find.
    #[serde(default)]
    checks_passed: Vec<String>,
    /// What is wrong, worst first; empty if and only if approved.
    findings: Vec<AnswerFinding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    Approved,
    Rejected,
}

/// What an answer amounts to.
#[derive(Debug, PartialEq, Eq)]
struct Judged {
    verdict: Verdict,
    summary: String,
    checks_passed: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerFinding {
    /// What is wrong, one sentence.
    message: String,
    /// File relative to the repository's root: the one that is wrong, or the asked-for one that is missing.
    file: String,
    /// Line, from 1.
    line: Option<u32>,
    /// What would fix it.
    fix: Option<String>,
}

impl EffectRunner {
    pub(super) async fn run_review(
        &self,
        at: AttemptContext<'_>,
        gate: Option<usize>,
        round: u32,
    ) -> Result<JobEvent, Stopped> {
        let AttemptContext { job, active, phase, attempt: this } = at;
        let result = at.result()?;
        let run = RunId::for_review(job, &phase.id, this.begin.attempt, gate, round);
        let runner = self.runner_of(job, active).await?;
        let (agent, model, deadline) = self.reviewer(&runner, active, phase, gate);
        let mut checkout = None;
        let answer = match self.review_ask(at, result, gate, round).await {
            Err(fault) => SideAnswer::without_run(run, fault),
            Ok((prompt, directory, prepared)) => {
                checkout = Some(directory.clone());
                let side = SideAsk {
                    run,
                    phase: phase.id.clone(),
                    agent: agent.clone(),
                    model: model.clone(),
                    prompt,
                    schema: schemars::schema_for!(Answer).to_value(),
                    directory,
                    prepared,
                    deadline,
                    label: format!("{}.{}", phase.id, if gate.is_some() { "review" } else { "verify" }),
                    take: (this.begin.attempt - 1) * 2 + round,
                };
                self.side_run(job, active, side).await.ok_or(Stopped::Unwanted)?
            }
        };
        let SideAnswer { side, answer } = answer;
        let judged = match (answer, checkout) {
            (Ok(value), Some(directory)) => self.judge(at, result, &value, directory).await,
            (Err(fault), _) => Err(fault),
            (Ok(_), None) => Err(unreadable(recorded!("side-no-checkout"))),
        };
        let Judged { verdict, summary, checks_passed } = judged.unwrap_or_else(|fault| Judged {
            summary: fault.message.clone(),
            verdict: Verdict::Inconclusive { fault },
            checks_passed: Vec::new(),
        });
        let tree = result.tree.clone();
        let review = Box::new(Review { side, agent, model, verdict, summary, checks_passed, tree });
        Ok(JobEvent::ReviewFinished { phase: phase.id.clone(), attempt: this.begin.attempt, gate, round, review })
    }

    /// What an answer says, as far as it is about the result and the reviewer has changed nothing.
    async fn judge(
        &self,
        at: AttemptContext<'_>,
        result: &Committed,
        answer: &Value,
        checkout: PathBuf,
    ) -> Result<Judged, Fault> {
        let spaces = self.workspaces(&at.active.spec).await?;
        let path = checkout.clone();
        let touched = blocking(move || spaces.touched(&path)).await?;
        if !touched.is_empty() {
            return Err(unreadable(recorded!("side-changed", files = touched.join(", "))));
        }
        let Judged { verdict, summary, checks_passed } = read(answer)?;
        let citable = Citable::new(at.phase, result);
        let verdict = blocking_fault(move || Ok(citable.judge(verdict, &checkout))).await?;
        Ok(Judged { verdict, summary, checks_passed })
    }

    fn reviewer(
        &self,
        runner: &AgentRunner,
        active: &Active,
        phase: &Phase,
        gate: Option<usize>,
    ) -> (String, Option<String>, Duration) {
        let (named, deadline) = match (gate.and_then(|gate| phase.gates.get(gate)), &phase.verify) {
            (Some(GateSpec::ReviewApproved { model }), _) => (model.clone(), GATE_REVIEW),
            (_, Some(verify)) => (verify.model.clone(), verify.timeout.duration()),
            (_, None) => (None, GATE_REVIEW),
        };
        let own = active.progress(&phase.id).and_then(|progress| progress.model.clone());
        let works_with = own.or_else(|| phase.model.clone());
        let agent = self.agent_of(active, phase);
        let (agent, model) = who_looks(&active.spec.roles, runner.profiles(), agent, named, works_with);
        (agent, model, deadline)
    }

    async fn review_ask(
        &self,
        at: AttemptContext<'_>,
        result: &Committed,
        gate: Option<usize>,
        round: u32,
    ) -> Result<(String, PathBuf, Option<Prepared>), Fault> {
        let AttemptContext { job, active, phase, attempt: this } = at;
        let spaces = self.workspaces(&active.spec).await?;
        let name =
            format!("{}.{}.{}", phase.id, this.begin.attempt, gate.map_or("verify".into(), |gate| gate.to_string()));
        let (commit, base) = (result.commit.clone(), this.begin.base.clone());
        let at = (&commit, &base);
        let (directory, prepared) = self.checkout_to_read(job, active, &phase.id, name, at).await?;
        let patch = blocking(move || spaces.repository().patch(&base, &commit, &[], DIFF_SHOWN)).await?;
        let before = this.reviews.iter().rev().find(|(of, _)| *of == gate).filter(|_| round > 1);
        let unusable = before.and_then(|(_, review)| match &review.verdict {
            Verdict::Inconclusive { fault } => Some(fault.message.clone()),
            Verdict::Pass | Verdict::Fail { .. } => None,
        });
        let prompt = prompt::review(&active.spec, phase, this, &patch, unusable.as_deref());
        Ok((prompt.map_err(|error| environment(&error))?, directory, prepared))
    }
}

/// The agent that looks at the work of another one, and its model. Where nobody names a model, agents that have several review with
/// another one than they work with.
pub(crate) fn who_looks(
    roles: &Roles,
    profiles: &[AgentProfile],
    own: String,
    named: Option<String>,
    works_with: Option<String>,
) -> (String, Option<String>) {
    let (agent, of_role) = match &roles.verifier {
        Some(role) => (role.agent.clone(), role.model.clone()),
        None => (own, roles.verifier_model.clone()),
    };
    let other = || {
        let profile = profiles.iter().find(|profile| profile.name == agent)?;
        let works_with = works_with.or_else(|| profile.default_model.clone()).unwrap_or_default();
        let models = agent_kind(profile.dialect).review_models;
        models.iter().find(|model| !works_with.contains(**model)).map(|model| (*model).to_owned())
    };
    let model = named.or(of_role).or_else(other);
    (agent, model)
}

/// What an answer says. Anything but a whole and consistent one is no verdict.
fn read(answer: &Value) -> Result<Judged, Fault> {
    let Answer { verdict, summary, checks_passed, findings } = serde_json::from_value(answer.clone())
        .map_err(|error| misfit(answer, &["verdict", "summary", "findings"], &error))?;
    let verdict = match (verdict, findings.is_empty()) {
        (Word::Approved, true) => Verdict::Pass,
        (Word::Rejected, false) => Verdict::Fail { findings: findings.into_iter().map(finding).collect() },
        (Word::Approved, false) => return Err(unreadable(recorded!("side-approves-problems"))),
        (Word::Rejected, true) => return Err(unreadable(recorded!("side-rejects-nothing"))),
    };
    Ok(Judged { verdict, summary, checks_passed })
}

fn finding(found: AnswerFinding) -> Finding {
    let place = Some(Place { file: found.file, line: found.line, column: None });
    Finding { place, fix: found.fix, ..Finding::new("review.finding", found.message) }
}

#[cfg(test)]
#[path = "review_test.rs"]
mod tests;
