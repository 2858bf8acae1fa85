//! Any agent of the Agent Client Protocol: an own program of Helix speaks with it, and prints what it says as JSON lines.
//!
//! An agent of ACP wants answers while it works, and a run outlives its host: what answers it lies in the run's own process tree.
//! Must not judge a run: the reader collects, `helix_core::run` decides.

mod ask;
mod peer;
mod permission;
mod reader;
mod talk;

pub use peer::acp_main;

use self::ask::{ASK_VARIABLE, Ask, servers};
use self::reader::AcpReader;
use super::draft::Draft;
use super::{AgentKind, Dialect, ExitMeaning, InvocationError, Keeping, Program, Sessions, Versions};
use crate::profile::{DialectName, SessionRef};

/// The dialect of agents that speak ACP.
pub(super) static ACP: Dialect = Dialect {
    kind: AgentKind {
        dialect: DialectName::Acp,
        program: Program::Through { subcommand: "acp-agent" },
        // Whose key an agent needs, nobody knows.
        passed_variables: &[],
        review_models: &[],
        exit_status: ExitMeaning::Nothing,
        provider: None,
        own_files: None,
        own_places: ("", &[]),
    },
    versions: Versions::Told,
    sessions: Sessions::None,
    // Some agents say what they consume, others do not.
    turns: Keeping::Never,
    money: Keeping::Never,
    // An agent asks before some calls only.
    keeps_rule: |_rule| false,
    asks_person: true,
    doubts_model: |_profile, _model, _own| None,
    write,
    read: |asked_schema, _exit| Box::new(AcpReader::new(asked_schema)),
};

fn write(draft: &mut Draft<'_>) -> Result<(), InvocationError> {
    let ask = draft.ask;
    if !ask.images.is_empty() {
        return Err(draft.unsupported("be shown images"));
    }
    let hook = ask.ask_person.as_ref().filter(|_| !ask.tools.rules.ask.is_empty());
    let hook = hook.map(|hook| {
        let servers = draft.file("servers.json", &servers(ask))?;
        Ok::<_, InvocationError>(hook.iter().cloned().chain([servers]).collect())
    });
    let asks = hook.is_some();
    let file = draft.file("ask.json", &Ask::new(ask, draft.model(), hook.transpose()?).written())?;
    draft.variable(ASK_VARIABLE, file);
    let wanted = ask.schema.as_ref().map(|schema| {
        format!("\n\nYour last message has to be one JSON value and nothing else, after this JSON Schema:\n{schema}\n")
    });
    let mut system = ask.system.as_deref().map(|system| format!("{system}\n\n")).unwrap_or_default();
    if asks {
        // A refusal has no words of its own in ACP.
        let rules: String = ask.tools.rules.ask.iter().map(|rule| format!("- `{rule}`\n")).collect();
        system.push_str(&format!(
            "# What a person has to allow\nA person is asked about these calls:\n{rules}Such a call is refused until the person has \
             answered: end your turn then with the state of your work. You are started again with the answer, and may make the \
             same call if it was allowed.\n\n"
        ));
    }
    // Others were refused before.
    if let SessionRef::New(_) = &ask.session {
        draft.stdin(format!("{system}{}{}", ask.prompt, wanted.unwrap_or_default()).into_bytes());
    }
    Ok(())
}
