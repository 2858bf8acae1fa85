//! What agents would be told if a plan were carried out now, for people who want to read it first.
//!
//! Must not run anything, and needs no engine.

use std::collections::BTreeSet;

use helix_agents::{AgentProfile, ToolRule, own_settings};
use helix_core::diagnostic::Diagnostic;
use helix_core::ids::PhaseId;
use helix_core::rule_file::{RuleFile, SkillPage};
use helix_plan::{Phase, Plan};
use helix_project::rules::ProjectRules;
use schemars::JsonSchema;
use serde::Serialize;

use crate::config::EngineConfig;
use crate::job::who_looks;
use crate::prompt;
use crate::submit::{Inspection, unkept};

/// The prompt of a phase's first attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PhasePrompt {
    /// Which phase.
    pub phase: PhaseId,
    /// What its agent would be told.
    pub prompt: String,
}

/// Who would look at the result of each attempt at a phase, or at a phase that it adds, once its gates have passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PhaseVerifier {
    /// Which phase.
    pub phase: PhaseId,
    /// The agent.
    pub agent: String,
    /// Its model, where one is named or chosen.
    pub model: Option<String>,
    /// Its time limit, in seconds.
    pub timeout_seconds: u32,
}

/// The verifiers of a plan's phases, as a job of it would ask them; phases without one are left out.
pub fn verifiers(config: &EngineConfig, plan: &Plan) -> Vec<PhaseVerifier> {
    let of = |phase: &Phase| {
        let added = phase.generates_phases.as_ref();
        let (verify, agent, works_with) = match &phase.verify {
            Some(verify) => (verify, &phase.agent, &phase.model),
            None => (added?.verify.as_ref()?, &added?.defaults.agent, &added?.defaults.model),
        };
        let own = agent.clone().unwrap_or_else(|| config.default_agent.clone());
        let (agent, model) = who_looks(&config.roles, &config.agents, own, verify.model.clone(), works_with.clone());
        Some(PhaseVerifier { phase: phase.id.clone(), agent, model, timeout_seconds: verify.timeout.0 })
    };
    plan.phases.iter().filter_map(of).collect()
}

/// Renders the prompt of every phase's first attempt, as a job of the inspected plan would; nothing for a plan that cannot be
/// read.
///
/// # Errors
/// Templates that cannot be rendered.
pub fn first_prompts(inspection: &Inspection) -> Result<Vec<PhasePrompt>, Vec<Diagnostic>> {
    let Inspection { parsed, adr, briefing, file, .. } = inspection;
    let plan = parsed.iter().map(|parsed| &parsed.plan);
    let rendered = plan.flat_map(|plan| plan.phases.iter().map(move |phase| (plan, phase))).map(|(plan, phase)| {
        let prompt = prompt::first(plan, adr.as_ref(), briefing, phase).map_err(|error| {
            let message = format!("{error}: {}", error.place());
            vec![Diagnostic::error(helix_plan::codes::BAD_PROMPT, file, message)]
        })?;
        Ok(PhasePrompt { phase: phase.id.clone(), prompt })
    });
    rendered.collect()
}

/// A file with rules that an agent is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToldFile {
    pub path: String,
    pub bytes: usize,
    /// Patterns of the files that it is about; of all where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applies: Vec<String>,
}

/// What an agent is told besides its prompt, and what it may use besides what its work allows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentMeans {
    /// The agent; none where it is about every agent of a project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub rules: Vec<ToldFile>,
    pub skills: Vec<SkillPage>,
    /// Tool servers besides Helix's own.
    pub tool_servers: Vec<String>,
    /// Events for which it has hooks of its user.
    pub hooks: Vec<String>,
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    /// What it may do once a person has said yes.
    pub ask: Vec<String>,
    /// Of what it is denied: what it is only told, and not kept from.
    pub only_told: Vec<String>,
}

impl AgentMeans {
    /// What every agent gets of a project.
    pub fn of_project(rules: &ProjectRules) -> Self {
        let denied = rules.settings.as_deref().and_then(|text| own_settings::denied(text).ok()).unwrap_or_default();
        Self { rules: told(&rules.files), skills: rules.skills.clone(), deny: words(&denied), ..Self::default() }
    }

    /// What an agent gets of its user.
    pub fn of_agent(profile: &AgentProfile, project: Option<&ProjectRules>) -> Self {
        let own = &profile.inherited;
        let settings = project.and_then(|project| project.settings.as_deref());
        let denied = settings.and_then(|text| own_settings::denied(text).ok()).unwrap_or_default();
        Self {
            agent: Some(profile.name.clone()),
            rules: told(&own.rules),
            skills: own.skills.clone(),
            tool_servers: own.servers.iter().map(|server| server.name.clone()).collect(),
            hooks: own.hooks.keys().cloned().collect(),
            allow: words(&profile.tools.allow),
            deny: words(&profile.tools.deny),
            ask: words(&profile.tools.ask),
            only_told: unkept(profile, &denied).into_iter().map(ToString::to_string).collect(),
        }
    }

    /// Whether there is anything to say.
    pub fn is_empty(&self) -> bool {
        *self == Self { agent: self.agent.clone(), ..Self::default() }
    }
}

fn told(files: &[RuleFile]) -> Vec<ToldFile> {
    let file =
        |file: &RuleFile| ToldFile { path: file.path.clone(), bytes: file.text.len(), applies: file.applies.clone() };
    files.iter().map(file).collect()
}

fn words(rules: &[ToolRule]) -> Vec<String> {
    rules.iter().map(ToString::to_string).collect()
}

/// What the agents of an inspected plan get of the project, and what each gets of its user.
pub fn means(config: &EngineConfig, inspection: &Inspection) -> Vec<AgentMeans> {
    let Some(parsed) = &inspection.parsed else { return Vec::new() };
    let phases = parsed.plan.phases.iter().map(|phase| phase.agent.as_ref().unwrap_or(&config.default_agent));
    let reviewers = verifiers(config, &parsed.plan).into_iter().map(|one| one.agent);
    let names: BTreeSet<String> = phases.cloned().chain(reviewers).collect();
    let project = inspection.rules.iter().map(AgentMeans::of_project);
    let agents = config.agents.iter().filter(|profile| names.contains(&profile.name));
    let agents = agents.map(|profile| AgentMeans::of_agent(profile, inspection.rules.as_ref()));
    project.chain(agents).filter(|means| !means.is_empty()).collect()
}
