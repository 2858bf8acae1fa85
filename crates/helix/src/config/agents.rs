//! Agents as they are configured, with what their dialect says where the files are silent.
//!
//! Must not know how an agent is run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use helix_agents::{ExitStatus, ToolRule, ToolRules};
use helix_core::diagnostic::did_you_mean;
use helix_core::document::Placed;
use helix_engine::{AgentProfile, DialectName, ExitMeaning, Program, agent_kind};
use helix_process::TOOLCHAIN;

use super::files::{Files, Setting};
use super::inherit::inherit;
use super::keys::Agent;
use crate::environment::Environment;
use crate::error::{CommandError, codes};

/// All agents; `claude` is there without being configured, and stays reachable beside agents that have a section.
pub(super) fn agents(
    environment: &Environment,
    files: &Files,
    configured: Vec<(Placed<String>, Placed<Agent>)>,
) -> Result<BTreeMap<String, Setting<AgentProfile>>, CommandError> {
    let built_in = profile(environment, files, "claude", Agent::default())?;
    let mut agents = BTreeMap::from([("claude".to_owned(), Setting::built_in(built_in))]);
    for (name, agent) in configured {
        let profile = profile(environment, files, &name.value, agent.value)?;
        agents.insert(name.value, Setting::new(profile, files.origin(&name.range)));
    }
    Ok(agents)
}

fn profile(environment: &Environment, files: &Files, name: &str, agent: Agent) -> Result<AgentProfile, CommandError> {
    let named = agent.dialect.map(|written| written.value);
    let kind = agent_kind(named.or(DialectName::from_word(name)).unwrap_or(DialectName::Claude));
    let command = match (agent.command, kind.program) {
        (Some(written), Program::Through { subcommand }) => {
            let helix = [environment.program.to_string_lossy().into_owned(), subcommand.to_owned()];
            helix.into_iter().chain(command_of(environment, files, written)).collect()
        }
        (Some(written), _) => command_of(environment, files, written),
        (None, Program::Installed(product)) => vec![product.name.to_owned()],
        (None, Program::Helix { subcommand }) => {
            vec![environment.program.to_string_lossy().into_owned(), subcommand.to_owned()]
        }
        // The probe says what to do about it.
        (None, Program::Named | Program::Through { .. }) => Vec::new(),
    };
    let path = |written| path_of(environment, files, &written);
    let texts = |written: Placed<Vec<Placed<String>>>| written.value.into_iter().map(|one| one.value).collect();
    let mut profile = AgentProfile::new(name, kind.dialect, command);
    profile.default_model = agent.model.map(|written| written.value);
    profile.models = agent.models.map(texts).unwrap_or_default();
    profile.fallback_model = agent.fallback_model.map(|written| written.value);
    profile.home = agent.home.map(path);
    profile.config_dir = agent.config_dir.map(path);
    let variables = agent.env.map(|written| written.value).unwrap_or_default();
    profile.env.extend(variables.into_iter().map(|(name, value)| (name.value, value.value)));
    if kind.exit_status == ExitMeaning::IfVouchedFor && agent.trust_exit.is_some_and(|written| written.value) {
        profile.exit_status = ExitStatus::Trusted;
    }
    profile.pass_env = match agent.pass_env {
        Some(written) => expand(environment, written.value.iter().map(|name| name.value.as_str())),
        // No provider's key goes to the agent of another one.
        None => {
            let own = TOOLCHAIN.iter().chain(&["HELIX_STATE_DIR"]).chain(kind.passed_variables);
            expand(environment, own.copied())
        }
    };
    let rules = |list: Option<Placed<Vec<Placed<ToolRule>>>>| -> Vec<ToolRule> {
        list.into_iter().flat_map(|list| list.value).map(|rule| rule.value).collect()
    };
    let tools = agent.tools.map(|written| written.value).unwrap_or_default();
    profile.tools = ToolRules { allow: rules(tools.allow), deny: rules(tools.deny), ask: rules(tools.ask) };
    inherit(environment, files, &mut profile, agent.inherit.as_ref())?;
    Ok(profile)
}

/// A path as it is written in a file; a relative one is meant from the file's directory.
pub(super) fn path_of(environment: &Environment, files: &Files, written: &Placed<String>) -> PathBuf {
    environment.path(&written.value, files.base(&written.range))
}

/// A relative program with a slash is meant from the file that names it; a bare name is looked up in the PATH.
pub(super) fn command_of(
    environment: &Environment,
    files: &Files,
    written: Placed<Vec<Placed<String>>>,
) -> Vec<String> {
    let mut command: Vec<String> = written.value.into_iter().map(|word| word.value).collect();
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        *program = environment.path(program, files.base(&written.range)).to_string_lossy().into_owned();
    }
    command
}

/// Names of set variables, with prefixes (`LC_*`) spelt out.
fn expand<'a>(environment: &Environment, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut expanded = Vec::new();
    for name in names {
        match name.strip_suffix('*') {
            Some(prefix) => {
                expanded.extend(environment.names().filter(|own| own.starts_with(prefix)).map(str::to_owned));
            }
            None => expanded.push(name.to_owned()),
        }
    }
    expanded
}

/// Refuses the name of an agent that is not configured.
pub(super) fn check_agent(
    key: &str,
    name: &Setting<String>,
    agents: &BTreeMap<String, Setting<AgentProfile>>,
) -> Result<(), CommandError> {
    if agents.contains_key(&name.value) {
        return Ok(());
    }
    let known: Vec<&str> = agents.keys().map(String::as_str).collect();
    let hint = match did_you_mean(&name.value, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"? Or add a section [agents.{}]", name.value),
        None => format!("configured: {}; or add a section [agents.{}]", known.join(", "), name.value),
    };
    let message = format!("`{key}` names the agent {:?}, which is not configured ({})", name.value, name.origin);
    Err(CommandError::usage(codes::CONFIG_NO_SUCH_AGENT, message).hint(hint))
}
