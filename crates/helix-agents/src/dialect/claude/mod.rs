//! Claude Code, headless: the command line that was measured, and the meaning of its JSON lines.
//!
//! Must not judge a run by text, exit code or any single field: the reader collects, `helix_core::run` decides.

mod invocation;
mod message;
mod models;
mod reader;
mod terminal;
mod tool_rules;
mod usage_ledger;

use self::reader::ClaudeReader;
pub(crate) use self::tool_rules::read as rule_of_settings;
use super::{AgentKind, Dialect, ExitMeaning, Keeping, OwnFiles, Product, Program, ProviderKeys, Sessions, Versions};
use crate::profile::DialectName;
use crate::version::Version;

/// Variables that say who pays and where the sessions are.
pub(super) const PASSED_VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
];

/// The dialect of Claude Code 2.1.197 to 2.1.330, whose behaviour was measured.
pub(super) static CLAUDE: Dialect = Dialect {
    kind: AgentKind {
        dialect: DialectName::Claude,
        program: Program::Installed(Product {
            name: "claude",
            product: "Claude Code",
            install: "npm install -g @anthropic-ai/claude-code",
            model: "sonnet",
        }),
        passed_variables: PASSED_VARIABLES,
        review_models: &["haiku", "sonnet"],
        exit_status: ExitMeaning::Nothing,
        provider: Some(ProviderKeys {
            keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
            address: Some(("ANTHROPIC_BASE_URL", "https://api.anthropic.com")),
            elsewhere: &["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"],
        }),
        own_files: Some(OwnFiles {
            rules: &[&["CLAUDE.md"]],
            rule_directories: &["rules"],
            skills: "skills",
            settings: Some("settings.json"),
            servers: Some(".claude.json"),
        }),
        own_places: ("CLAUDE_CONFIG_DIR", &[".claude", ".claude.json"]),
    },
    versions: Versions::Measured {
        oldest: Version { major: 2, minor: 1, patch: 197 },
        newest: Version { major: 2, minor: 1, patch: 330 },
    },
    sessions: Sessions::Cut,
    turns: Keeping::DuringRuns,
    money: Keeping::DuringRuns,
    asks_person: true,
    keeps_rule: |_rule| true,
    doubts_model: models::doubted,
    write: invocation::write,
    read: |_asked_schema, _exit| Box::new(ClaudeReader::default()),
};
