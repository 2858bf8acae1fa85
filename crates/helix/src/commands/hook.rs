//! `helix hook`: what agents call at events of their own. Speaks their hooks' language: JSON on standard input, findings on standard
//! error with exit code 2, which the agent is shown at once.
//!
//! Must not hold any rule, and must not stand in an agent's way when it fails itself: then it exits with another code.

mod ask_person;

use std::io::Read as _;
use std::path::PathBuf;

use clap::Subcommand;
use helix_core::text::count;
use helix_project::chosen::noted_project;
use helix_project::save_check::{Belongs, NO_PROJECT_CHOSEN, SavedKind, check_file};
use helix_project::skills::SkillCatalog;
use helix_project::workflows::WorkflowPaths;
use serde::Deserialize;

use crate::config::{skill_directories, user_directory};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};

/// Longest input: it repeats what was written, and more than this nobody checks.
const MAX_INPUT: u64 = 64 << 20;

#[derive(Debug, Subcommand)]
pub(crate) enum Hook {
    /// Check a written file if it is an ADR or a plan (exit code 2: it has errors)
    PostWrite {
        /// Project of the file [default: none]
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// Directory of the session that the file is written in: its project counts
        #[arg(long, value_name = "DIR", conflicts_with = "project")]
        session: Option<PathBuf>,
    },
    /// Put a tool call to a person, and say whether it is allowed
    Ask {
        /// File with the agent's tool servers
        #[arg(value_name = "FILE")]
        servers: PathBuf,
    },
}

/// What an agent says of its tool call. Everything else of it is of no interest here.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    tool_input: Input,
}

#[derive(Debug, Default, Deserialize)]
struct Input {
    #[serde(default, alias = "notebook_path")]
    file_path: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, hook: &Hook) -> Ended {
    let (project, session) = match hook {
        Hook::PostWrite { project, session } => (project, session),
        Hook::Ask { servers } => return ask_person::run(context, servers),
    };
    let unreadable = |message: &str| CommandError::environment(codes::INPUT_UNREADABLE, message);
    let mut input = Vec::new();
    let read = std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input);
    read.map_err(|error| unreadable("cannot read the agent's tool call").because(&error))?;
    let event: Event = serde_json::from_slice(&input).map_err(|error| {
        unreadable("cannot parse the agent's tool call")
            .because(&error)
            .hint("agents call this by themselves: it expects the JSON of a PostToolUse hook on standard input")
    })?;
    let Some(written) = event.tool_input.file_path else { return Ok(Exit::Success) };
    let directory = event.cwd.unwrap_or_else(|| context.environment.directory.clone());
    let path = directory.join(&written);
    if !path.exists() {
        return Ok(Exit::Success);
    }
    let chosen = session.as_deref().map(noted_project).transpose();
    let chosen = chosen.map_err(|error| unreadable("cannot read the session's project").because(&error))?.flatten();
    let project = project.as_ref().or(chosen.as_ref());
    // The configuration itself is not read: a mistake in it must not reach the agent as a finding.
    let skills = SkillCatalog::load(project.map(PathBuf::as_path), &skill_directories(&context.environment));
    let workflow_paths = WorkflowPaths::new(project.map(PathBuf::as_path), user_directory(&context.environment));
    let belongs = match project {
        Some(root) => Belongs::Project(root),
        None if session.is_some() => Belongs::NoProject,
        None => Belongs::Unknown,
    };
    let shown = path.strip_prefix(&directory).unwrap_or(&path).display().to_string();
    let checked = check_file(&path, &shown, belongs, &skills, &workflow_paths)
        .map_err(|error| unreadable("the file that was written cannot be checked").because(&error))?;
    let Some(checked) = checked.filter(|checked| checked.errors().next().is_some()) else { return Ok(Exit::Success) };
    let (kind, errors) = (checked.kind.word(), checked.errors().count());
    let mut told = format!(
        "Helix checked the {kind} {shown}: {}. The file is written; fix exactly these:\n",
        count(errors, "error")
    );
    for diagnostic in &checked.diagnostics {
        told.push_str(&format!("{diagnostic}\n"));
    }
    if belongs == Belongs::NoProject && checked.kind == SavedKind::Adr {
        told.push_str(NO_PROJECT_CHOSEN);
    }
    context.terminal.say(told.trim_end());
    Ok(Exit::Usage)
}
