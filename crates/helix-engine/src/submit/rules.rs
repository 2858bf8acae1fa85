//! What a project tells agents, against the agents that are to work there: nothing that it says is lost in silence.
//!
//! Must not decide how an agent is told.

use helix_agents::{AgentProfile, ToolRule, dialect, own_settings};
use helix_core::diagnostic::Diagnostic;
use helix_project::rules::{ProjectRules, SETTINGS};

use super::plan_file::PlanFile;
use crate::codes;

/// What is wrong with the project's rules, and what these agents are not kept from although it is denied.
pub(super) fn problems(rules: &ProjectRules, agents: &[&AgentProfile], file: &PlanFile) -> Vec<Diagnostic> {
    let mut problems = rules.problems.clone();
    let denied = match rules.settings.as_deref().map(own_settings::denied).transpose() {
        Ok(denied) => denied.unwrap_or_default(),
        Err(error) => {
            let message = format!("what {SETTINGS} forbids is not known: {error}");
            let help = "correct the file and commit it; what counts is the commit that the job starts from";
            problems.push(Diagnostic::error(codes::SETTINGS_UNREADABLE, SETTINGS, message).help(help));
            Vec::new()
        }
    };
    problems.extend(agents.iter().filter_map(|agent| only_told(agent, &denied, file)));
    problems
}

fn only_told(agent: &AgentProfile, denied: &[ToolRule], file: &PlanFile) -> Option<Diagnostic> {
    let rules = unkept(agent, denied);
    let named: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    if named.is_empty() {
        return None;
    }
    let (agent, named) = (&agent.name, named.join(", "));
    let message = format!("agent {agent} is told what it must not use, or not unasked, but not kept from it: {named}");
    let help = "give the work to an agent that has rules for tools (claude), or keep the files away from the sandbox (docs/sandbox.md)";
    Some(file.warning(codes::DENIED_ONLY_TOLD, None, message, help.to_owned()))
}

/// What an agent is denied, or may not do unasked, and only told.
pub(crate) fn unkept<'a>(agent: &'a AgentProfile, denied: &'a [ToolRule]) -> Vec<&'a ToolRule> {
    let mut rules: Vec<&ToolRule> = agent.tools.deny.iter().chain(&agent.tools.ask).chain(denied).collect();
    rules.retain(|rule| !dialect(agent.dialect).keeps_rule(rule));
    rules.sort();
    rules.dedup();
    rules
}
