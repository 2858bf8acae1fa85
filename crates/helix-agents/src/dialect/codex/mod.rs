//! Codex, headless (`codex exec --json`): the command line that was measured, and the meaning of its JSON lines.
//!
//! Must not judge a run by text, exit code or any single field: the reader collects, `helix_core::run` decides.

mod invocation;
mod item;
mod reader;
mod schema;
mod trouble;

pub use reader::CodexReader;

use super::{Dialect, InvocationError, Keeping, Limit, Reader, Surroundings};
use crate::invocation::Invocation;
use crate::probe::{Capabilities, Feature, Supported, Version};
use crate::profile::{AgentAsk, AgentProfile, AskedSchema, DialectName};

/// The only version whose behaviour was measured: older ones have neither `exec fork` nor `--ignore-user-config`.
const MEASURED: Version = Version { major: 0, minor: 169, patch: 0 };

/// The dialect of Codex 0.169.
#[derive(Debug, Clone, Copy, Default)]
pub struct Codex;

impl Dialect for Codex {
    fn name(&self) -> DialectName {
        DialectName::Codex
    }

    fn invocation_in(
        &self,
        profile: &AgentProfile,
        ask: &AgentAsk,
        own: &Surroundings,
    ) -> Result<Invocation, InvocationError> {
        invocation::invocation(profile, ask, own)
    }

    fn reader(&self, asked_schema: AskedSchema) -> Box<dyn Reader> {
        Box::new(CodexReader::new(asked_schema))
    }

    /// It has no option for either, names no prices, and calls a whole run one turn.
    fn keeps(&self, limit: Limit) -> Keeping {
        match limit {
            Limit::Turns | Limit::Money => Keeping::Never,
        }
    }

    fn version_arguments(&self) -> Vec<String> {
        vec!["--version".to_owned()]
    }

    fn capabilities(&self, printed: &str) -> Option<Capabilities> {
        let version = Version::first_in(printed)?;
        let features = vec![Feature::StructuredOutput, Feature::Resume, Feature::Fork, Feature::ToolServers];
        Some(Supported::between(MEASURED, MEASURED, version).with(version, features))
    }
}
