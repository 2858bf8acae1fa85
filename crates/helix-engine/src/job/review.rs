//! Reviewers: an independent look at a result commit, with an answer of a fixed form.
//!
//! A reviewer gets a checkout of its own, may only read, and what it looks at is a commit that nothing it does can change. Must not
//! know what follows from its answer.

use std::time::Duration;

use helix_agents::agent_kind;
use helix_core::finding::{Fault, FaultKind, Finding, Place, Verdict};
use helix_core::ids::{JobId, PhaseId, RunId};
use helix_core::usage::Usage;
use helix_job::{Active, Committed, JobEvent, Review};
use helix_plan::{GateSpec, Phase};
use schemars::JsonSchema;
use serde::Deserialize;

use super::cited::Citable;
use super::effects::{EffectRunner, attempt_of, blocking, environment, phase_of};
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
    /// What is wrong, worst first; empty if and only if approved.
    findings: Vec<AnswerFinding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    Approved,
    Rejected,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerFinding {
    /// What is wrong, one sentence.
    message: String,
    /// File relative to the repository's root: the one that is wrong, or the asked-for one that is missing.
    file: String,
    /// Line, from 1.
    #[serde(default)]
    line: Option<u32>,
    /// What would fix it.
    #[serde(default)]
    fix: Option<String>,
}

impl EffectRunner {
    /// `None` when the engine is closing: the run goes on under its keeper.
    pub(super) async fn run_review(
        &self,
        job: &JobId,
        active: &Active,
        id: &PhaseId,
        attempt: u32,
        gate: Option<usize>,
        round: u32,
    ) -> Option<JobEvent> {
        let faulted = |fault| Some(JobEvent::AttemptFaulted { phase: id.clone(), attempt, fault });
        let (phase, this) = match (phase_of(active, id), attempt_of(active, id, attempt)) {
            (Ok(phase), Ok(this)) => (phase, this),
            (Err(fault), _) | (_, Err(fault)) => return faulted(fault),
        };
        let Some(result) = &this.result else { return None };
        let run = RunId::for_review(job, id, attempt, gate, round);
        let runner = match self.runner_of(job).await {
            Ok(runner) => runner,
            Err(fault) => return faulted(fault),
        };
        let (agent, model, deadline) = self.reviewer(&runner, active, phase, gate);
        let asked = self.review_ask(job, active, phase, this, result, gate, round).await;
        let answered = match asked {
            Err(fault) => Err(fault),
            Ok((prompt, resume, directory)) => {
                let side = SideAsk {
                    run: run.clone(),
                    phase: id.clone(),
                    agent: agent.clone(),
                    model: model.clone(),
                    prompt,
                    resume,
                    schema: schemars::schema_for!(Answer).to_value(),
                    directory: directory.clone(),
                    deadline,
                    label: format!("{id}.{}", if gate.is_some() { "review" } else { "verify" }),
                    take: (attempt - 1) * 2 + round,
                };
                match self.side_run(job, active, side).await? {
                    Err(fault) => Err(fault),
                    Ok(answer) => Ok((answer, directory)),
                }
            }
        };
        let review = match answered {
            Err(fault) => without_run(run, agent, model, result, fault),
            Ok((answer, directory)) => {
                let (verdict, summary) = match self.untouched(active, &directory).await {
                    Err(fault) => (Verdict::Inconclusive { fault }, String::new()),
                    Ok(()) => {
                        let (verdict, summary) = read(&answer);
                        let citable = Citable::of(phase, result);
                        match blocking(move || Ok(citable.judge(verdict, &directory))).await {
                            Ok(verdict) => (verdict, summary),
                            Err(fault) => (Verdict::Inconclusive { fault }, String::new()),
                        }
                    }
                };
                finished(answer, agent, model, result, verdict, summary)
            }
        };
        Some(JobEvent::ReviewFinished { phase: id.clone(), attempt, gate, round, review: Box::new(review) })
    }

    fn reviewer(
        &self,
        runner: &AgentRunner,
        active: &Active,
        phase: &Phase,
        gate: Option<usize>,
    ) -> (String, Option<String>, Duration) {
        let role = active.spec.roles.verifier.as_ref();
        let own = self.agent_of(active, phase);
        let agent = role.map_or(own, |role| role.agent.clone());
        let of_role = match role {
            Some(role) => role.model.clone(),
            None => active.spec.roles.verifier_model.clone(),
        };
        let (named, deadline) = match (gate.and_then(|gate| phase.gates.get(gate)), &phase.verify) {
            (Some(GateSpec::ReviewApproved { model }), _) => (model.clone(), GATE_REVIEW),
            (_, Some(verify)) => (verify.model.clone(), verify.timeout.duration()),
            (_, None) => (None, GATE_REVIEW),
        };
        let model = named.or(of_role).or_else(|| Self::other_model(runner, active, phase, &agent));
        (agent, model, deadline)
    }

    /// Where nobody names a model, agents that have several review with another one than they work with.
    fn other_model(runner: &AgentRunner, active: &Active, phase: &Phase, agent: &str) -> Option<String> {
        let profile = runner.profile(agent).ok()?;
        let own =
            active.progress(&phase.id).and_then(|progress| progress.model.clone()).or_else(|| phase.model.clone());
        let works_with = own.or_else(|| profile.default_model.clone()).unwrap_or_default();
        let models = agent_kind(profile.dialect).review_models;
        models.iter().find(|model| !works_with.contains(**model)).map(|model| (*model).to_owned())
    }

    #[expect(clippy::too_many_arguments, reason = "one call with the context of one review")]
    async fn review_ask(
        &self,
        job: &JobId,
        active: &Active,
        phase: &Phase,
        this: &helix_job::Attempt,
        result: &Committed,
        gate: Option<usize>,
        round: u32,
    ) -> Result<(String, Option<helix_core::ids::AgentSessionId>, std::path::PathBuf), Fault> {
        let spaces = self.workspaces(&active.spec).await?;
        let name = format!("{}.{}.{}", phase.id, this.number, gate.map_or("verify".into(), |gate| gate.to_string()));
        let (job, commit, base) = (job.clone(), result.commit.clone(), this.base.clone());
        let (directory, patch) = blocking(move || {
            let directory = spaces.looking_glass(&job, &name, &commit)?;
            let patch = spaces.repository().patch(&base, &commit, &[], DIFF_SHOWN)?;
            Ok((directory, patch))
        })
        .await?;
        let before = this.reviews.iter().rev().find(|(of, _)| *of == gate).filter(|_| round > 1);
        let unusable = before.and_then(|(_, review)| match &review.verdict {
            Verdict::Inconclusive { fault } => Some(fault.message.clone()),
            Verdict::Pass | Verdict::Fail { .. } => None,
        });
        let prompt = prompt::review(&active.spec, phase, this, &patch, unusable.as_deref());
        // The second round asks a new session: one that went wrong would only go on as it was.
        Ok((prompt.map_err(|error| environment(&error))?, None, directory))
    }

    async fn untouched(&self, active: &Active, directory: &std::path::Path) -> Result<(), Fault> {
        let spaces = self.workspaces(&active.spec).await?;
        let path = directory.to_path_buf();
        let touched = blocking(move || spaces.touched(&path)).await?;
        if touched.is_empty() {
            return Ok(());
        }
        Err(unreadable(format!("the reviewer changed what it was to look at: {}", touched.join(", "))))
    }
}

/// What an answer says. Anything but a whole and consistent one is no verdict.
fn read(answer: &SideAnswer) -> (Verdict, String) {
    let parsed = match &answer.answer {
        Err(fault) => return (Verdict::Inconclusive { fault: fault.clone() }, String::new()),
        Ok(value) => serde_json::from_value::<Answer>(value.clone())
            .map_err(|error| misfit(value, &["verdict", "summary", "findings"], &error)),
    };
    let Answer { verdict, summary, findings } = match parsed {
        Err(fault) => return (Verdict::Inconclusive { fault }, String::new()),
        Ok(answer) => answer,
    };
    let verdict = match (verdict, findings.is_empty()) {
        (Word::Approved, true) => Verdict::Pass,
        (Word::Rejected, false) => Verdict::Fail { findings: findings.into_iter().map(finding).collect() },
        (Word::Approved, false) => Verdict::Inconclusive { fault: unreadable("it approves and names problems".into()) },
        (Word::Rejected, true) => Verdict::Inconclusive { fault: unreadable("it rejects and names no problem".into()) },
    };
    (verdict, summary)
}

fn finding(found: AnswerFinding) -> Finding {
    Finding {
        rule: "review.finding".into(),
        message: found.message,
        place: Some(Place { file: found.file, line: found.line, column: None }),
        evidence: None,
        fix: found.fix,
    }
}

fn finished(
    answer: SideAnswer,
    agent: String,
    model: Option<String>,
    result: &Committed,
    verdict: Verdict,
    said: String,
) -> Review {
    let summary = match &verdict {
        Verdict::Inconclusive { fault } => fault.message.clone(),
        Verdict::Pass | Verdict::Fail { .. } => said,
    };
    Review {
        run: answer.run,
        agent,
        model,
        verdict,
        summary,
        tree: result.tree.clone(),
        facts: Some(Box::new(answer.report.facts)),
        usage: answer.report.usage,
        duration_ms: answer.report.duration_ms,
    }
}

fn without_run(run: RunId, agent: String, model: Option<String>, result: &Committed, fault: Fault) -> Review {
    let fault = Fault { kind: FaultKind::Environment, ..fault };
    Review {
        run,
        agent,
        model,
        summary: fault.message.clone(),
        verdict: Verdict::Inconclusive { fault },
        tree: result.tree.clone(),
        facts: None,
        usage: Usage::default(),
        duration_ms: 0,
    }
}

#[cfg(test)]
mod tests {
    use helix_core::run::{Ending, RunFacts};
    use serde_json::{Value, json};

    use super::*;
    use crate::agent_run::RunReport;

    fn verdict(answer: Result<Value, Fault>) -> Verdict {
        let facts = RunFacts::without_record(Ending::Unknown, None);
        let report = RunReport::without_record(facts);
        read(&SideAnswer { run: RunId::new("r").unwrap(), report, answer }).0
    }

    #[test]
    fn only_a_whole_and_consistent_answer_is_a_verdict() {
        let problem = json!({ "message": "no test", "file": "a.py", "line": 3, "fix": "write one" });
        assert_eq!(verdict(Ok(json!({ "verdict": "approved", "summary": "fine", "findings": [] }))), Verdict::Pass);
        let rejected = verdict(Ok(json!({ "verdict": "rejected", "summary": "no", "findings": [problem] })));
        let Verdict::Fail { findings } = rejected else { panic!("{rejected:?}") };
        assert_eq!(findings[0].place.as_ref().map(ToString::to_string), Some("a.py:3".into()));
        for unusable in [
            json!({ "verdict": "approved", "summary": "fine", "findings": [problem] }),
            json!({ "verdict": "rejected", "summary": "no", "findings": [] }),
            json!({ "verdict": "Approved", "summary": "fine", "findings": [] }),
            json!({ "verdict": "approved", "findings": [] }),
            json!({ "verdict": "rejected", "summary": "no", "findings": [{ "message": "no test" }] }),
            json!({ "verdict": "approved", "summary": "fine", "findings": [], "confidence": 1 }),
            json!("approved"),
            json!(null),
        ] {
            let answer = verdict(Ok(unusable.clone()));
            assert!(matches!(answer, Verdict::Inconclusive { .. }), "{unusable}: {answer:?}");
        }
        assert!(matches!(verdict(Err(unreadable("cut off".into()))), Verdict::Inconclusive { .. }));
    }
}
