//! Any program as an agent: a prompt on stdin, and a last line that says how it went (`docs/agents.md`).
//!
//! Must not take an exit status for a statement, unless the profile says that it is one.

mod reader;

use self::reader::CommandReader;
use super::draft::Draft;
use super::{AgentKind, Dialect, ExitMeaning, InvocationError, Keeping, Program, Sessions, Versions};
use crate::profile::DialectName;

/// The dialect of programs that are no agents by themselves.
pub(super) static COMMAND: Dialect = Dialect {
    kind: AgentKind {
        dialect: DialectName::Command,
        program: Program::Named,
        passed_variables: &[],
        review_models: &[],
        exit_status: ExitMeaning::IfVouchedFor,
        provider: None,
        own_files: None,
        own_places: ("", &[]),
    },
    versions: Versions::NotAsked,
    sessions: Sessions::None,
    turns: Keeping::BetweenRuns,
    money: Keeping::BetweenRuns,
    keeps_rule: |_rule| false,
    asks_person: false,
    doubts_model: |_profile, _model, _own| None,
    write,
    read: |_asked_schema, exit| Box::new(CommandReader::new(exit)),
};

fn write(draft: &mut Draft<'_>) -> Result<(), InvocationError> {
    let ask = draft.ask;
    if !ask.images.is_empty() {
        return Err(draft.unsupported("be shown images"));
    }
    if let Some(schema) = &ask.schema {
        let file = draft.file("schema.json", schema.to_string().as_bytes())?;
        draft.variable("HELIX_SCHEMA_FILE", file);
    }
    if let Some(model) = draft.model() {
        draft.variable("HELIX_MODEL", model);
    }
    if let Some(label) = &ask.label {
        draft.variable("HELIX_LABEL", label);
    }
    if let Some(system) = &ask.system {
        draft.stdin(format!("{system}\n\n{}", ask.prompt).into_bytes());
    }
    Ok(())
}
