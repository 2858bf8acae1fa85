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
pub use reader::ReplayReader;

use super::surroundings::path_text;
use super::{Dialect, InvocationError, Keeping, Limit, Reader, Surroundings};
use crate::invocation::Invocation;
use crate::probe::{Capabilities, Feature, Supported, Version};
use crate::profile::{AgentAsk, AgentProfile, AskedSchema, DialectName, SessionRef};

/// The dialect of the embedded agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Replay;

impl Dialect for Replay {
    fn name(&self) -> DialectName {
        DialectName::Replay
    }

    fn invocation_in(
        &self,
        profile: &AgentProfile,
        ask: &AgentAsk,
        own: &Surroundings,
    ) -> Result<Invocation, InvocationError> {
        let (program, leading) = profile
            .command
            .split_first()
            .filter(|(program, _)| !program.is_empty())
            .ok_or_else(|| InvocationError::NoProgram { profile: profile.name.clone() })?;
        let mut args = leading.to_vec();
        let mut option = |name: &str, value: String| args.extend([name.to_owned(), value]);
        match &ask.session {
            SessionRef::New(id) => option("--session", id.to_string()),
            SessionRef::Resume(id) => option("--resume", id.to_string()),
            SessionRef::Fork { from, new } => {
                option("--resume", from.to_string());
                option("--session", new.to_string());
            }
            SessionRef::Cut { .. } => {
                let what = "cut a session at a point of it";
                return Err(InvocationError::Unsupported { dialect: DialectName::Replay, what });
            }
        }
        option("--sessions", path_text(&sessions_dir(profile, own)?));
        if let Some(label) = &ask.label {
            option("--key", label.clone());
        }
        if let Some(take) = ask.take {
            option("--take", take.to_string());
        }
        let env = own.for_agent(profile, []);
        let stdin = ask.prompt.clone().into_bytes();
        Ok(Invocation { program: PathBuf::from(program), args, env, cwd: ask.cwd.clone(), stdin })
    }

    fn reader(&self, asked_schema: AskedSchema) -> Box<dyn Reader> {
        Box::new(ReplayReader::new(asked_schema))
    }

    /// A recording consumes what was recorded, whatever the limit.
    fn keeps(&self, limit: Limit) -> Keeping {
        match limit {
            Limit::Turns | Limit::Money => Keeping::BetweenRuns,
        }
    }

    fn version_arguments(&self) -> Vec<String> {
        vec!["--version".to_owned()]
    }

    fn capabilities(&self, printed: &str) -> Option<Capabilities> {
        let version = Version::first_in(printed)?;
        let features = vec![Feature::PartialMessages, Feature::StructuredOutput, Feature::Resume, Feature::Fork];
        Some(Capabilities { version, supported: Supported::Yes, features })
    }
}

/// Where sessions are kept between runs.
fn sessions_dir(profile: &AgentProfile, own: &Surroundings) -> Result<PathBuf, InvocationError> {
    let home = || profile.home.clone().or_else(|| own.get("HOME").map(PathBuf::from));
    profile.config_dir.clone().or_else(|| home().map(|home| home.join(".helix-replay"))).ok_or(
        InvocationError::Unsupported {
            dialect: DialectName::Replay,
            what: "keep sessions without a `config_dir` or `home` in the profile",
        },
    )
}
