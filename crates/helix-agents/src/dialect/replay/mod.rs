//! The embedded agent: it plays a cassette, really does what stands there, and speaks a language of its own.
//!
//! Must not be special to anybody else: it is a program that is started, followed and judged like any other agent.

mod arguments;
mod cassette;
mod perform;
mod player;
mod reader;
mod record;
mod session_file;

use std::path::PathBuf;

pub use cassette::{CASSETTE_VERSION, Cassette, CassetteAction, CassetteError, CassetteTake, TakeEnd};
pub use player::replay_main;

use self::reader::ReplayReader;
use super::draft::Draft;
use super::host_environment::path_text;
use super::{AgentKind, Dialect, ExitMeaning, InvocationError, Keeping, Program, Sessions, Versions};
use crate::profile::{DialectName, SessionRef};

/// The dialect of the embedded agent.
pub(super) static REPLAY: Dialect = Dialect {
    kind: AgentKind {
        dialect: DialectName::Replay,
        program: Program::Helix { subcommand: "replay-agent" },
        // Those of Claude Code, whose runs it plays: commands in a cassette may need them.
        passed_variables: super::claude::PASSED_VARIABLES,
        review_models: &[],
        exit_status: ExitMeaning::Nothing,
        provider: None,
        own_files: None,
        own_places: ("", &[".helix-replay"]),
    },
    versions: Versions::Own,
    sessions: Sessions::Copied,
    // A recording consumes what was recorded, whatever the limit.
    turns: Keeping::BetweenRuns,
    money: Keeping::BetweenRuns,
    keeps_rule: |_rule| false,
    asks_person: false,
    doubts_model: |_profile, _model, _own| None,
    write,
    read: |_asked_schema, _exit| Box::new(ReplayReader),
};

fn write(draft: &mut Draft<'_>) -> Result<(), InvocationError> {
    let ask = draft.ask;
    match &ask.session {
        // A cut was refused before.
        SessionRef::New(id) | SessionRef::Cut { new: id, .. } => draft.option("--session", id.as_str()),
        SessionRef::Resume(id) => draft.option("--resume", id.as_str()),
        SessionRef::Fork { from, new } => {
            draft.option("--resume", from.as_str());
            draft.option("--session", new.as_str());
        }
    }
    let sessions = sessions_dir(draft)?;
    draft.option("--sessions", path_text(&sessions));
    if let Some(label) = &ask.label {
        draft.option("--key", label);
    }
    if let Some(take) = ask.take {
        draft.option("--take", take.to_string());
    }
    Ok(())
}

/// Where sessions are kept between runs.
fn sessions_dir(draft: &Draft<'_>) -> Result<PathBuf, InvocationError> {
    let of_home = || Some(draft.home()?.join(".helix-replay"));
    let what = "keep sessions without a `config_dir` or `home` in the profile";
    draft.profile.config_dir.clone().or_else(of_home).ok_or_else(|| draft.unsupported(what))
}
