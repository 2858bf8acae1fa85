//! What a plan asks of agents, against what is configured: that they are there, their models, the limits that they keep.
//!
//! Must not start any of them.

use std::collections::BTreeSet;

use helix_agents::dialect::HostEnvironment;
use helix_agents::{AgentProfile, Keeping, Limit, dialect};
use helix_core::diagnostic::{Diagnostic, Span};
use helix_plan::{GateSpec, Phase, PhasePlaces, Plan, PlanPlaces};

use super::gates::own_search_path;
use super::plan_file::PlanFile;
use super::{Blame, SubmitError, SubmitRequest, suggestion};
use crate::codes;
use crate::config::EngineConfig;

/// What to do about a limit that an agent does not keep.
const OTHER_LIMITS: &str =
    "remove it and limit `timeout` and `[jobs] max_tokens` instead, or give the phase to another agent";

/// A plan and the agents that it may use.
pub(super) struct Agents<'a> {
    pub(super) config: &'a EngineConfig,
    pub(super) file: &'a PlanFile,
    pub(super) plan: &'a Plan,
    pub(super) places: &'a PlanPlaces,
}

/// An agent of a phase, or of the phases that it adds, with the limits that are meant for it.
struct Use<'a> {
    phase: &'a Phase,
    agent: &'a str,
    model: Option<&'a str>,
    limits: [(Limit, &'static str, bool); 2],
}

impl<'a> Agents<'a> {
    /// What is wrong with the plan's agents, their models and their limits, each problem once.
    pub(super) fn problems(&self) -> Vec<Diagnostic> {
        let unknown = self.uses().filter_map(|one| self.unknown(&one));
        let models = self.models().filter_map(|(phase, agent, model)| self.unknown_model(phase, agent, model));
        let limits = self.uses().flat_map(|one| one.limits.map(|limit| self.unkept(&one, limit))).flatten();
        let mut problems = Vec::new();
        for problem in unknown.chain(models).chain(limits).chain(self.unmeasured_limit()) {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        problems
    }

    /// An agent that nobody has configured.
    fn unknown(&self, one: &Use<'_>) -> Option<Diagnostic> {
        if self.profile(one.agent).is_some() {
            return None;
        }
        let known: Vec<&str> = self.config.agents.iter().map(|profile| profile.name.as_str()).collect();
        let help = suggestion(one.agent, &known, "configured agents");
        let message = format!("unknown agent {} (phase {})", one.agent, one.phase.id);
        Some(self.file.error(codes::UNKNOWN_AGENT, self.place(one.phase, |places| places.agent), message, help))
    }

    /// The models that are named, for whose agent: of phases, and of those who review them.
    fn models(&self) -> impl Iterator<Item = (&'a Phase, &'a str, &'a str)> {
        let own = self.uses().filter_map(|one| Some((one.phase, one.agent, one.model?)));
        let (verifier, default) = (self.config.roles.verifier.as_ref(), self.config.default_agent.as_str());
        let reviews = self.plan.phases.iter().flat_map(move |phase| {
            let agent = verifier.map(|role| role.agent.as_str()).or(phase.agent.as_deref()).unwrap_or(default);
            let of_gates = phase.gates.iter().filter_map(|gate| match gate {
                GateSpec::ReviewApproved { model } => model.as_deref(),
                _ => None,
            });
            let of_verifier = phase.verify.iter().filter_map(|verify| verify.model.as_deref());
            of_gates.chain(of_verifier).map(move |model| (phase, agent, model))
        });
        own.chain(reviews)
    }

    /// A model that is not among those of its agent, where it names its models; where it does not, one that is in doubt.
    fn unknown_model(&self, phase: &Phase, agent: &str, model: &str) -> Option<Diagnostic> {
        let (profile, place) = (self.profile(agent)?, self.place(phase, |places| places.model));
        if profile.models.is_empty() {
            let known = (dialect(profile.dialect).doubts_model)(profile, model, &HostEnvironment::of_this_process())?;
            let near = suggestion(model, known, "names that Claude Code knows, besides those that contain `claude`");
            let message = format!("agent {agent} may have no model {model} (phase {})", phase.id);
            let help = format!("list the agent's models under `models` in helix.toml; {near}");
            return Some(self.file.warning(codes::UNKNOWN_MODEL, place, message, help));
        }
        let known: Vec<&str> = profile.models.iter().map(String::as_str).collect();
        if known.contains(&model) {
            return None;
        }
        let help = suggestion(model, &known, &format!("models of {agent} in helix.toml"));
        let message = format!("agent {agent} has no model {model} (phase {})", phase.id);
        Some(self.file.error(codes::UNKNOWN_MODEL, place, message, help))
    }

    /// A limit of a phase that its agent does not keep, or not during a run.
    fn unkept(&self, one: &Use<'_>, (limit, word, asked): (Limit, &str, bool)) -> Option<Diagnostic> {
        let (agent, phase) = (one.agent, &one.phase.id);
        let keeping = dialect(self.profile(agent).filter(|_| asked)?.dialect).keeps(limit);
        let place = self.place(one.phase, |places| places.agent);
        match keeping {
            Keeping::DuringRuns => None,
            Keeping::Never => {
                let message =
                    format!("agent {agent} cannot enforce `{word}` (phase {phase}): it does not report its usage");
                Some(self.file.error(codes::LIMIT_NOT_KEPT, place, message, OTHER_LIMITS.to_owned()))
            }
            Keeping::BetweenRuns => {
                let message = format!("agent {agent} does not stop a run at `{word}` (phase {phase})");
                let help = "what it used counts after each run; limit `timeout` to bound a run itself";
                Some(self.file.warning(codes::LIMIT_NOT_KEPT, place, message, help.to_owned()))
            }
        }
    }

    /// A job's own budget that was asked for with this request, where an agent names no prices.
    pub(super) fn unkept_budget(&self, request: &SubmitRequest) -> Option<SubmitError> {
        request.budget_usd?;
        let agent = self.unmeasured(Limit::Money)?;
        let message = format!("a budget in US dollars is not possible: agent {agent} does not report costs");
        let hint = "omit --budget and limit `timeout` and `[jobs] max_tokens`, or use another agent";
        Some(SubmitError::refused(codes::LIMIT_NOT_KEPT, Blame::Request, message, hint))
    }

    /// The configuration's limits for every job, where an agent does not say what it uses of them.
    fn unmeasured_limit(&self) -> impl Iterator<Item = Diagnostic> {
        let policy = &self.config.policy;
        limits(policy.max_turns, policy.budget_usd).into_iter().rev().filter_map(|(limit, word, set)| {
            let agent = self.unmeasured(limit).filter(|_| set)?;
            let message = format!("`[jobs] {word}` does not count agent {agent}, which does not report its usage");
            let help = "`[jobs] max_tokens` and `max_run_time` count all agents";
            Some(self.file.warning(codes::LIMIT_NOT_KEPT, None, message, help.to_owned()))
        })
    }

    fn unmeasured(&self, limit: Limit) -> Option<&'a str> {
        self.uses().map(|one| one.agent).find(|agent| {
            self.profile(agent).is_some_and(|profile| dialect(profile.dialect).keeps(limit) == Keeping::Never)
        })
    }

    /// The configured agents that the plan needs, reviewers included.
    pub(super) fn used(&self) -> Vec<&'a AgentProfile> {
        let reviewed = self.plan.phases.iter().any(|phase| {
            phase.verify.is_some() || phase.gates.iter().any(|gate| matches!(gate, GateSpec::ReviewApproved { .. }))
        });
        let reviewer = self.config.roles.verifier.as_ref().filter(|_| reviewed).map(|role| role.agent.as_str());
        let names: BTreeSet<&str> = self.uses().map(|one| one.agent).chain(reviewer).collect();
        self.config.agents.iter().filter(|profile| names.contains(profile.name.as_str())).collect()
    }

    /// Where the programs of a phase's gates are looked for: where its agent finds them.
    pub(super) fn search_path(&self, phase: &'a Phase) -> Option<String> {
        let profile = self.profile(self.agent_of(phase.agent.as_deref()));
        profile.and_then(|profile| profile.env.get("PATH").cloned()).or_else(own_search_path)
    }

    /// Who does what: each phase, and the phases that it adds.
    fn uses(&self) -> impl Iterator<Item = Use<'a>> {
        let this = Self { ..*self };
        self.plan.phases.iter().flat_map(move |phase| {
            let own = Use {
                phase,
                agent: this.agent_of(phase.agent.as_deref()),
                model: phase.model.as_deref(),
                limits: limits(phase.max_turns, phase.budget_usd),
            };
            let added = phase.generates_phases.as_ref().map(|generate| Use {
                phase,
                agent: this.agent_of(generate.defaults.agent.as_deref()),
                model: generate.defaults.model.as_deref(),
                limits: limits(generate.defaults.max_turns, generate.defaults.budget_usd),
            });
            std::iter::once(own).chain(added)
        })
    }

    fn agent_of(&self, named: Option<&'a str>) -> &'a str {
        named.unwrap_or(&self.config.default_agent)
    }

    fn profile(&self, name: &str) -> Option<&'a AgentProfile> {
        self.config.agents.iter().find(|profile| profile.name == name)
    }

    /// Where a part of a phase stands in the plan; the phase itself where it is not written.
    fn place(&self, phase: &Phase, part: fn(&PhasePlaces) -> Option<Span>) -> Option<Span> {
        let index = self.plan.phases.iter().position(|one| one.id == phase.id)?;
        let places = self.places.phases.get(index)?;
        part(places).or(Some(places.id))
    }
}

fn limits(max_turns: Option<u32>, budget_usd: Option<f64>) -> [(Limit, &'static str, bool); 2] {
    [(Limit::Turns, "max_turns", max_turns.is_some()), (Limit::Money, "budget_usd", budget_usd.is_some())]
}
