use std::path::PathBuf;

use helix_core::ids::AgentSessionId;
use helix_core::rule_file::{RuleFile, SkillPage};

use super::*;
use crate::profile::{DialectName, Inherited, McpPlace, SessionRef, ToolAccess};

fn ask(tools: ToolAccess) -> AgentAsk {
    let session = SessionRef::New(AgentSessionId::new("0192f0c1-7e1a-7c3d-9a57-3f6a2b8e4d10").unwrap());
    AgentAsk { tools, system: Some("Rules of the project.".into()), ..AgentAsk::new("do it", session, "/work", "/run") }
}

fn profile(dialect: DialectName) -> AgentProfile {
    let mut profile = AgentProfile::new("one", dialect, vec!["one".into()]);
    profile.tools.deny = vec!["read:.env".parse().unwrap()];
    profile.tools.allow = vec!["web".parse().unwrap(), "tool:NotebookRead".parse().unwrap()];
    let at = McpPlace::Program { command: "tracker".into(), args: Vec::new(), env: [].into() };
    profile.inherited = Inherited {
        rules: vec![RuleFile { path: "~/.claude/CLAUDE.md".into(), applies: Vec::new(), text: "Be brief.".into() }],
        skills: vec![SkillPage {
            name: "release".into(),
            description: "How.".into(),
            path: "/home/user/SKILL.md".into(),
        }],
        servers: vec![McpServer { name: "tracker".into(), at }],
        hooks: serde_json::from_str("{\"Stop\":[]}").unwrap(),
    };
    profile
}

#[test]
fn who_changes_something_gets_all_and_who_reads_only_the_rules() {
    let works = ToolAccess { shell: true, ..ToolAccess::read_only() };
    let working = ask(works).of_profile(&profile(DialectName::Claude));
    assert!(working.tools.web && working.hooks.is_some());
    assert_eq!((working.mcp.len(), working.tools.mcp.len(), working.tools.rules.allow.len()), (1, 1, 1));
    assert_eq!(working.walls.readable, [PathBuf::from("/home/user")]);
    let system = working.system.unwrap();
    let (user, project) = (system.find("Be brief.").unwrap(), system.find("Rules of the project.").unwrap());
    assert!(user < project && system.contains("release: How. (`/home/user/SKILL.md`)"), "{system}");
    assert!(!system.contains("must not"), "the CLI keeps the rule: {system}");

    let reading = ask(ToolAccess::read_only()).of_profile(&profile(DialectName::Claude));
    assert!(!reading.tools.web && reading.hooks.is_none() && reading.mcp.is_empty() && reading.tools.mcp.is_empty());
    assert_eq!((reading.tools.rules.allow.len(), reading.tools.rules.deny.len()), (0, 1));
    assert!(reading.system.unwrap().contains("Be brief."));
}

#[test]
fn an_agent_is_told_what_its_dialect_cannot_keep() {
    let asked = ask(ToolAccess::read_only()).of_profile(&profile(DialectName::Codex));
    assert!(asked.system.unwrap().ends_with("do without them:\n- `read:.env`\n"));
    let mut web = profile(DialectName::Codex);
    web.tools.deny = vec![ToolRule::Web(None)];
    assert!(!ask(ToolAccess::read_only()).of_profile(&web).system.unwrap().contains("must not"));
}
