//! Any program as an agent: a prompt on stdin, and a last line that says how it went (`docs/agents.md`).
//!
//! Must not take an exit status for a statement, unless the profile says that it is one.

mod reader;

use std::path::PathBuf;

pub use reader::CommandReader;

use super::agent_files::AgentFiles;
use super::arguments::{check_arguments, check_environment};
use super::{Dialect, InvocationError, Keeping, Limit, Probing, Reader, Surroundings};
use crate::invocation::Invocation;
use crate::probe::{Capabilities, Feature, Supported, Version};
use crate::profile::{AgentAsk, AgentProfile, AskedSchema, DialectName, ExitStatus, SessionRef};

/// The dialect of programs that are no agents by themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Command;

impl Dialect for Command {
    fn name(&self) -> DialectName {
        DialectName::Command
    }

    fn invocation_in(
        &self,
        profile: &AgentProfile,
        ask: &AgentAsk,
        own: &Surroundings,
    ) -> Result<Invocation, InvocationError> {
        let (program, args) = profile
            .command
            .split_first()
            .filter(|(program, _)| !program.is_empty())
            .ok_or_else(|| InvocationError::NoProgram { profile: profile.name.clone() })?;
        refuse_what_it_cannot(ask)?;
        check_arguments(args)?;
        let mut env = own.for_agent(profile, []);
        let mut set = |name: &str, value: String| env.push((name.to_owned(), value));
        if let Some(schema) = &ask.schema {
            let files = AgentFiles::create(&ask.run_dir, DialectName::Command)?;
            set("HELIX_SCHEMA_FILE", files.write("schema.json", schema.to_string().as_bytes())?);
        }
        if let Some(model) = ask.model.as_ref().or(profile.default_model.as_ref()) {
            set("HELIX_MODEL", model.clone());
        }
        if let Some(label) = &ask.label {
            set("HELIX_LABEL", label.clone());
        }
        check_environment(&env)?;
        let stdin = match &ask.system {
            Some(system) => format!("{system}\n\n{}", ask.prompt),
            None => ask.prompt.clone(),
        };
        let (program, args) = (PathBuf::from(program), args.to_vec());
        Ok(Invocation { program, args, env, cwd: ask.cwd.clone(), stdin: stdin.into_bytes() })
    }

    fn reader(&self, asked_schema: AskedSchema) -> Box<dyn Reader> {
        Box::new(CommandReader::new(asked_schema, ExitStatus::NoEvidence))
    }

    fn reader_with(&self, asked_schema: AskedSchema, exit: ExitStatus) -> Box<dyn Reader> {
        Box::new(CommandReader::new(asked_schema, exit))
    }

    fn probing(&self) -> Probing {
        Probing::Presence
    }

    fn keeps(&self, limit: Limit) -> Keeping {
        match limit {
            Limit::Turns | Limit::Money => Keeping::BetweenRuns,
        }
    }

    fn version_arguments(&self) -> Vec<String> {
        Vec::new()
    }

    fn capabilities(&self, _printed: &str) -> Option<Capabilities> {
        let version = Version { major: 0, minor: 0, patch: 0 };
        Some(Capabilities { version, supported: Supported::NotAsked, features: vec![Feature::StructuredOutput] })
    }
}

/// What somebody relies on must not be left out in silence.
fn refuse_what_it_cannot(ask: &AgentAsk) -> Result<(), InvocationError> {
    let unsupported = |what| Err(InvocationError::Unsupported { dialect: DialectName::Command, what });
    match &ask.session {
        SessionRef::New(_) => {}
        SessionRef::Resume(_) => return unsupported("resume a session: it has none"),
        SessionRef::Fork { .. } | SessionRef::Cut { .. } => return unsupported("copy a session: it has none"),
    }
    if ask.max_turns.is_some() || ask.budget_usd.is_some() {
        return unsupported("limit turns or money: leave out `max_turns` and `budget_usd`, or use another agent");
    }
    if !ask.images.is_empty() {
        return unsupported("be shown images");
    }
    Ok(())
}
