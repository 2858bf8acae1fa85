//! Codex, headless (`codex exec --json`): the command line that was measured, and the meaning of its JSON lines.
//!
//! Must not judge a run by text, exit code or any single field: the reader collects, `helix_core::run` decides.

mod invocation;
mod item;
mod reader;
mod schema;
mod trouble;

pub(super) use self::trouble::Trouble;

use self::reader::CodexReader;
use super::{AgentKind, Dialect, ExitMeaning, Keeping, OwnFiles, Product, Program, ProviderKeys, Sessions, Versions};
use crate::profile::DialectName;
use crate::tool_rule::ToolRule;
use crate::version::Version;

/// The only version whose behaviour was measured: older ones have neither `exec fork` nor `--ignore-user-config`.
const MEASURED: Version = Version { major: 0, minor: 169, patch: 0 };

/// Variables with the key of the built-in provider.
const KEYS: &[&str] = &["CODEX_API_KEY", "OPENAI_API_KEY"];

/// The dialect of Codex 0.169.
pub(super) static CODEX: Dialect = Dialect {
    kind: AgentKind {
        dialect: DialectName::Codex,
        program: Program::Installed(Product {
            name: "codex",
            product: "Codex",
            install: "npm install -g @openai/codex",
            model: "gpt-5.1-codex",
        }),
        // `CODEX_HOME` is taken over below.
        passed_variables: &["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_ORGANIZATION", "OPENAI_PROJECT"],
        review_models: &[],
        exit_status: ExitMeaning::Nothing,
        provider: Some(ProviderKeys { keys: KEYS, address: None, elsewhere: &[] }),
        own_files: Some(OwnFiles {
            rules: &[&["AGENTS.override.md", "AGENTS.md"]],
            rule_directories: &[],
            skills: "skills",
            settings: None,
            servers: None,
        }),
        own_places: ("CODEX_HOME", &[".codex"]),
    },
    versions: Versions::Measured { oldest: MEASURED, newest: MEASURED },
    sessions: Sessions::Copied,
    // It has no option for either, names no prices, and calls a whole run one turn.
    turns: Keeping::Never,
    money: Keeping::Never,
    // It knows no rules for single files and commands.
    keeps_rule: |rule| matches!(rule, ToolRule::Web(None) | ToolRule::Mcp { .. }),
    asks_person: false,
    doubts_model: |_profile, _model, _own| None,
    write: invocation::write,
    read: |asked_schema, _exit| Box::new(CodexReader::new(asked_schema)),
};
