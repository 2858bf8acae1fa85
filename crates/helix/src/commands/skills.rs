//! `helix skills`: which skills are in reach of agents, and what they say.

use clap::Subcommand;
use helix_language::say;
use helix_project::skills::{SkillCatalog, SkillError, SkillOrigin};
use serde_json::json;

use crate::config::skill_directories;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::terminal::Meaning;

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
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

pub(crate) fn run(context: &Context, action: &Action) -> Ended {
    let catalog = SkillCatalog::around(&context.environment.directory, &skill_directories(&context.environment));
    match action {
        Action::List => list(context, &catalog),
        Action::Show { name, file } => show(context, &catalog, name, file.as_deref()),
    }
}

fn list(context: &Context, catalog: &SkillCatalog) -> Ended {
    let (skills, language): (Vec<_>, _) = (catalog.skills().collect(), context.terminal.language);
    let rows = skills.iter().map(|skill| {
        let origin = match skill.origin {
            SkillOrigin::Project => say!(language, "skills-project"),
            SkillOrigin::User => say!(language, "skills-yours"),
            SkillOrigin::BuiltIn => say!(language, "settings-built-in"),
        };
        [(skill.name.clone(), None), (origin, Some(Meaning::Weak)), (skill.description.clone(), None)]
    });
    let value = json!({ "skills": skills, "problems": catalog.problems });
    context.terminal.list(&value, &say!(language, "skills-none"), ["name", "from", "description"], rows)?;
    context.terminal.say_diagnostics(&catalog.problems, "");
    Ok(Exit::Success)
}

fn show(context: &Context, catalog: &SkillCatalog, name: &str, file: Option<&str>) -> Ended {
    let read = catalog.read(name, file).map_err(|error| {
        let unknown = matches!(error, SkillError::Unknown { .. });
        let code = if unknown { codes::NOT_FOUND } else { codes::INPUT_UNREADABLE };
        CommandError::wrapping(Exit::Usage, code, &error).hint("`helix skills list` shows all skills")
    })?;
    context.terminal.answer(&read, read.text.trim_end())
}
