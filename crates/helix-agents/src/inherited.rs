//! What the user has set for each run of an agent: rules, skills, tool servers and hooks of the user's own, and rules for tools.
//!
//! Must not read any file: what is taken over was read with the configuration.

use std::path::Path;

use helix_core::rule_file::{RulesOf, told};

use crate::dialect::dialect;
use crate::profile::{AgentAsk, AgentProfile, McpAccess, McpServer};
use crate::tool_rule::ToolRule;

impl AgentAsk {
    /// The same with what its agent's user has set for each run. Who only reads gets the rules, and nothing that acts.
    #[must_use]
    pub fn of_profile(mut self, profile: &AgentProfile) -> Self {
        let own = &profile.inherited;
        self.tools.rules.deny.extend(profile.tools.deny.iter().cloned());
        // Where no person can be asked, the call is denied.
        let asks = dialect(profile.dialect).asks_person();
        let asked = if asks { &mut self.tools.rules.ask } else { &mut self.tools.rules.deny };
        asked.extend(profile.tools.ask.iter().cloned());
        if self.tools.may_write() {
            for rule in &profile.tools.allow {
                match rule {
                    ToolRule::Web(None) => self.tools.web = true,
                    rule => self.tools.rules.allow.push(rule.clone()),
                }
            }
            let all = |server: &McpServer| McpAccess { server: server.name.clone(), tools: None };
            self.tools.mcp.extend(own.servers.iter().map(all));
            self.mcp.extend(own.servers.iter().cloned());
            self.hooks = Some(own.hooks.clone()).filter(|hooks| !hooks.is_empty());
        }
        self.walls
            .readable
            .extend(own.skills.iter().filter_map(|skill| Some(Path::new(&skill.path).parent()?.to_owned())));
        // What is the same in all runs comes first.
        let parts = [told(RulesOf::User, &own.rules, &own.skills), self.system.take().unwrap_or_default()];
        let unkept = unkept(profile, &self.tools.rules.deny);
        let parts = parts.into_iter().chain([unkept]).filter(|part| !part.is_empty()).collect::<Vec<_>>();
        self.system = Some(parts.join("\n")).filter(|system| !system.is_empty());
        self
    }
}

/// What a dialect cannot keep an agent from: it is at least told.
fn unkept(profile: &AgentProfile, deny: &[ToolRule]) -> String {
    let keeps = dialect(profile.dialect).keeps_rule;
    let mut unkept: Vec<String> = deny.iter().filter(|rule| !keeps(rule)).map(|rule| format!("- `{rule}`\n")).collect();
    unkept.dedup();
    match unkept.as_slice() {
        [] => String::new(),
        rules => format!(
            "# What you must not do\nThese tools, files (`read`, `write`) and commands (`shell`) are forbidden; do without them:\n{}",
            rules.concat()
        ),
    }
}

#[cfg(test)]
#[path = "inherited_test.rs"]
mod tests;
