//! What a plan asks of agents, against what is configured: that they are there, their models, the limits that they keep.
//!
//! Must not start any of them.

use std::collections::BTreeSet;

use helix_agents::dialect::Surroundings;
use helix_agents::{AgentProfile, Keeping, Limit, dialect};
use helix_core::diagnostic::{Diagnostic, Span, did_you_mean};
use helix_plan::{GateSpec, Phase, Plan, PlanPlaces};

use super::gates::own_search_path;
use super::plan_file::PlanFile;
use super::{Blame, SubmitError, SubmitRequest};
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
    /// Agents that nobody has configured.
    pub(super) fn unknown(&self) -> Vec<Diagnostic> {
        let known = || self.config.agents.iter().map(|profile| profile.name.as_str());
        let mut problems: Vec<Diagnostic> = Vec::new();
        for one in self.uses().filter(|one| self.profile(one.agent).is_none()) {
            let help = match did_you_mean(one.agent, known()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("configured agents: {}", known().collect::<Vec<_>>().join(", ")),
            };
            let message = format!("unknown agent {} (phase {})", one.agent, one.phase.id);
            let problem = self.file.error(codes::UNKNOWN_AGENT, self.place(one.phase, Part::Agent), message, help);
            add_once(&mut problems, problem);
        }
        problems
    }

    /// Models that are not among those of their agent, where it names its models; where it does not, those that are in doubt.
    pub(super) fn unknown_models(&self) -> Vec<Diagnostic> {
        let mut problems: Vec<Diagnostic> = Vec::new();
        let own = self.uses().filter_map(|one| Some((one.phase, one.agent, one.model?)));
        let verifier = self.config.roles.verifier.as_ref();
        let reviews = self.plan.phases.iter().flat_map(|phase| {
            let agent = verifier.map_or_else(|| self.agent_of(phase.agent.as_deref()), |role| role.agent.as_str());
            let of_gates = phase.gates.iter().filter_map(|gate| match gate {
                GateSpec::ReviewApproved { model } => model.as_deref(),
                _ => None,
            });
            let of_verifier = phase.verify.iter().filter_map(|verify| verify.model.as_deref());
            of_gates.chain(of_verifier).map(move |model| (phase, agent, model))
        });
        for (phase, agent, model) in own.chain(reviews) {
            let Some(profile) = self.profile(agent) else { continue };
            if profile.models.is_empty() {
                if let Some(doubt) = self.doubted_model(profile, phase, model) {
                    add_once(&mut problems, doubt);
                }
                continue;
            }
            let known = || profile.models.iter().map(String::as_str);
            if known().any(|one| one == model) {
                continue;
            }
            let help = match did_you_mean(model, known()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("models of {agent} in helix.toml: {}", profile.models.join(", ")),
            };
            let message = format!("agent {agent} has no model {model} (phase {})", phase.id);
            let problem = self.file.error(codes::UNKNOWN_MODEL, self.place(phase, Part::Model), message, help);
            add_once(&mut problems, problem);
        }
        problems
    }

    /// A warning of a model that the agent's program does not know by itself, where no models are configured.
    fn doubted_model(&self, profile: &AgentProfile, phase: &Phase, model: &str) -> Option<Diagnostic> {
        let known = dialect(profile.dialect).doubts_model(profile, model, &Surroundings::of_this_process())?;
        let agent = &profile.name;
        let help = match did_you_mean(model, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known: {}, and names that contain `claude`", known.join(", ")),
        };
        let message = format!("agent {agent} may have no model {model} (phase {})", phase.id);
        let help = format!("{help} list the agent's models under `models` in helix.toml");
        let mut doubt = Diagnostic::warning(codes::UNKNOWN_MODEL, &self.file.name(), message).help(help);
        doubt.span = self.place(phase, Part::Model);
        Some(doubt)
    }

    /// Limits of phases that their agents do not keep, or not during a run.
    pub(super) fn limits(&self) -> Vec<Diagnostic> {
        let mut problems: Vec<Diagnostic> = Vec::new();
        for one in self.uses() {
            let Some(profile) = self.profile(one.agent) else { continue };
            for (limit, word, _) in one.limits.iter().filter(|(_, _, asked)| *asked) {
                let (agent, phase) = (one.agent, &one.phase.id);
                let mut problem = match dialect(profile.dialect).keeps(*limit) {
                    Keeping::DuringRuns => continue,
                    Keeping::Never => {
                        let message = format!(
                            "agent {agent} cannot enforce `{word}` (phase {phase}): it does not report its usage"
                        );
                        Diagnostic::error(codes::LIMIT_NOT_KEPT, &self.file.name(), message).help(OTHER_LIMITS)
                    }
                    Keeping::BetweenRuns => {
                        let message = format!("agent {agent} does not stop a run at `{word}` (phase {phase})");
                        let help = "what it used counts after each run; limit `timeout` to bound a run itself";
                        Diagnostic::warning(codes::LIMIT_NOT_KEPT, &self.file.name(), message).help(help)
                    }
                };
                problem.span = self.place(one.phase, Part::Agent);
                add_once(&mut problems, problem);
            }
        }
        problems.extend(self.unmeasured_limit());
        problems
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
    fn unmeasured_limit(&self) -> Vec<Diagnostic> {
        let policy = &self.config.policy;
        let set = [
            (Limit::Money, "budget_usd", policy.budget_usd.is_some()),
            (Limit::Turns, "max_turns", policy.max_turns.is_some()),
        ];
        let unkept = set.into_iter().filter(|(_, _, set)| *set).filter_map(|(limit, word, _)| {
            let agent = self.unmeasured(limit)?;
            let message = format!("`[jobs] {word}` does not count agent {agent}, which does not report its usage");
            let help = "`[jobs] max_tokens` and `max_run_time` count all agents";
            Some(Diagnostic::warning(codes::LIMIT_NOT_KEPT, &self.file.name(), message).help(help))
        });
        unkept.collect()
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
    pub(super) fn search_path(&self, phase: &Phase) -> Option<String> {
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

    fn agent_of<'n>(&self, named: Option<&'n str>) -> &'n str
    where
        'a: 'n,
    {
        named.unwrap_or(&self.config.default_agent)
    }

    fn profile(&self, name: &str) -> Option<&'a AgentProfile> {
        self.config.agents.iter().find(|profile| profile.name == name)
    }

    fn place(&self, phase: &Phase, part: Part) -> Option<Span> {
        let index = self.plan.phases.iter().position(|one| one.id == phase.id)?;
        let places = self.places.phases.get(index)?;
        match part {
            Part::Agent => places.agent.or(Some(places.id)),
            Part::Model => places.model.or(Some(places.id)),
        }
    }
}

/// What of a phase is wrong.
enum Part {
    Agent,
    Model,
}

fn add_once(problems: &mut Vec<Diagnostic>, problem: Diagnostic) {
    if !problems.contains(&problem) {
        problems.push(problem);
    }
}

fn limits(max_turns: Option<u32>, budget_usd: Option<f64>) -> [(Limit, &'static str, bool); 2] {
    [(Limit::Turns, "max_turns", max_turns.is_some()), (Limit::Money, "budget_usd", budget_usd.is_some())]
}
