//! `helix skills`: which skills are in reach of agents, and what they say.

use std::path::Path;

use clap::{Args, Subcommand};
use helix_project::skills::{SkillCatalog, SkillError, SkillOrigin};
use serde_json::json;

use crate::codes;
use crate::config::skill_directories;
use crate::context::Context;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::terminal::{Meaning, Reading, Table};

/// Arguments of `helix skills`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the project's skills and yours, and problems of others
    List,
    /// Print a skill, or one of its files
    Show {
        /// Name of the skill
        name: String,
        /// File of the skill, relative to its directory
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    let catalog = catalog(context, &context.environment.directory);
    match &arguments.action {
        Action::List => list(context, &catalog),
        Action::Show { name, file } => show(context, &catalog, name, file.as_deref()),
    }
}

/// The skills in reach of a directory: those of its project and the user's own.
pub(crate) fn catalog(context: &Context, directory: &Path) -> SkillCatalog {
    SkillCatalog::around(directory, &skill_directories(&context.environment))
}

fn list(context: &Context, catalog: &SkillCatalog) -> Ended {
    if context.terminal.reading == Reading::Programs {
        let skills: Vec<_> = catalog.skills().collect();
        context.terminal.json(&json!({ "skills": skills, "problems": catalog.problems }))?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new(["name", "from", "description"]);
    for skill in catalog.skills() {
        let origin = match skill.origin {
            SkillOrigin::Project => "project",
            SkillOrigin::User => "yours",
        };
        table.row([
            (skill.name.clone(), None),
            (origin.to_owned(), Some(Meaning::Weak)),
            (skill.description.clone(), None),
        ]);
    }
    if catalog.skills().next().is_none() {
        context.terminal.say("no skills; add one as skills/NAME/SKILL.md (docs/consultant.md)");
    } else {
        context.terminal.data(&table.for_data(&context.terminal))?;
    }
    context.terminal.say_diagnostics(&catalog.problems, "");
    Ok(Exit::Success)
}

fn show(context: &Context, catalog: &SkillCatalog, name: &str, file: Option<&str>) -> Ended {
    let read = catalog.read(name, file).map_err(|error| {
        let code = match &error {
            SkillError::Unknown { .. } => codes::NOT_FOUND,
            SkillError::Outside { .. } | SkillError::TooLarge { .. } | SkillError::Unreadable { .. } => {
                codes::INPUT_UNREADABLE
            }
        };
        CommandError::usage(code, &error).because(&error).hint("`helix skills list` shows all skills")
    })?;
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(&read)?,
        Reading::People => context.terminal.data(read.text.trim_end())?,
    }
    Ok(Exit::Success)
}
