//! Claude Code, headless: the command line that was measured, and the meaning of its JSON lines.
//!
//! Must not judge a run by text, exit code or any single field: the reader collects, `helix_core::run` decides.

mod invocation;
mod message;
mod reader;
mod terminal;
mod usage_ledger;

pub use reader::ClaudeReader;

use super::{Dialect, InvocationError, Keeping, Limit, Reader, Surroundings};
use crate::invocation::Invocation;
use crate::probe::{Capabilities, Feature, Supported, Version};
use crate::profile::{AgentAsk, AgentProfile, AskedSchema, DialectName};

/// The oldest version whose behaviour was measured.
const OLDEST: Version = Version { major: 2, minor: 1, patch: 197 };
/// The newest version whose behaviour was measured.
const NEWEST: Version = Version { major: 2, minor: 1, patch: 330 };

/// The dialect of Claude Code 2.1.197 to 2.1.330.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claude;

impl Dialect for Claude {
    fn name(&self) -> DialectName {
        DialectName::Claude
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
        Box::new(ClaudeReader::new(asked_schema))
    }

    fn keeps(&self, limit: Limit) -> Keeping {
        match limit {
            Limit::Turns | Limit::Money => Keeping::DuringRuns,
        }
    }

    fn version_arguments(&self) -> Vec<String> {
        vec!["--version".to_owned()]
    }

    fn capabilities(&self, printed: &str) -> Option<Capabilities> {
        let version = Version::first_in(printed)?;
        let features = vec![
            Feature::PartialMessages,
            Feature::StructuredOutput,
            Feature::MaxTurns,
            Feature::MaxBudget,
            Feature::Resume,
            Feature::Fork,
            Feature::FallbackModel,
            Feature::ToolServers,
            Feature::Hooks,
        ];
        Some(Supported::between(OLDEST, NEWEST, version).with(version, features))
    }
}
