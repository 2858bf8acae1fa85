//! `helix init`: prepares a repository and says what it found. Never overwrites anything.

use std::path::Path;

use clap::Args;
use helix_engine::{DialectName, Program, agent_kind};
use serde_json::json;

use crate::codes;
use crate::commands::draft::write_new;
use crate::commands::plan::{PLAN_FILE, template};
use crate::config::{FILE_NAME, sample};
use crate::context::Context;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::survey::{Survey, survey};
use crate::terminal::{Meaning, Reading};

/// Arguments of `helix init`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Directory to set up [default: .]
    #[arg(value_name = "DIR")]
    directory: Option<std::path::PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    let here = &context.environment.directory;
    let directory = arguments.directory.as_ref().map_or_else(|| here.clone(), |directory| here.join(directory));
    if !directory.is_dir() {
        return Err(CommandError::usage(
            codes::INPUT_UNREADABLE,
            format!("{} is not a directory", directory.display()),
        )
        .hint("create it first, or use another one"));
    }
    let survey = survey(&directory);
    let agents: Vec<&str> = products()
        .map(|product| product.name)
        .filter(|name| context.environment.find_program(name).is_some())
        .collect();
    let repository = directory.ancestors().any(|path| path.join(".git").exists());

    let mut written = Vec::new();
    let mut kept = Vec::new();
    let files = [
        (directory.join(FILE_NAME), configuration(&agents)),
        (directory.join("adr").join("TEMPLATE.txt"), adr_template()),
        (directory.join("plans").join("example").join(PLAN_FILE), template("example", &survey)),
    ];
    for (path, text) in &files {
        let into = if path.exists() { &mut kept } else { &mut written };
        if !path.exists() {
            write_new(path, text)?;
        }
        into.push(context.shown(path));
    }
    if context.terminal.reading == Reading::Programs {
        context.terminal.json(&json!({
            "written": written, "kept": kept, "agents": agents, "git_repository": repository,
            "languages": survey.languages.iter().map(|language| language.name()).collect::<Vec<_>>(),
            "tests": survey.tests.iter().map(|tests| json!({ "command": tests.command, "evidence": tests.evidence })).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::Success);
    }
    say_found(context, &survey, &agents, &directory, repository)?;
    for path in &written {
        context.terminal.data(&format!("{} {path}", context.terminal.paint(Meaning::Good, "wrote")))?;
    }
    for path in &kept {
        context
            .terminal
            .data(&format!("{}  {path} (already exists)", context.terminal.paint(Meaning::Weak, "kept")))?;
    }
    context.terminal.say("next: edit plans/example/phases.yaml, then `helix plan check` it and `helix run` it");
    Ok(Exit::Success)
}

fn say_found(
    context: &Context,
    survey: &Survey,
    agents: &[&str],
    directory: &Path,
    repository: bool,
) -> Result<(), CommandError> {
    let names: Vec<&str> = survey.languages.iter().map(|language| language.name()).collect();
    let say = |what: &str, text: &str| context.terminal.data(&format!("{what:<10}{text}"));
    say(
        "agents",
        &if agents.is_empty() {
            let known: Vec<String> = products().map(|known| format!("{} ({})", known.product, known.install)).collect();
            format!("none in PATH: install {}", known.join(" or "))
        } else {
            agents.join(", ")
        },
    )?;
    say("languages", &if names.is_empty() { "none recognised".to_owned() } else { names.join(", ") })?;
    for tests in &survey.tests {
        say("tests", &format!("{}  ({})", tests.command, tests.evidence))?;
    }
    if survey.tests.is_empty() {
        say("tests", "none found: set the command in the plan's tests_pass gate")?;
    }
    let git = if repository {
        "git repository found".to_owned()
    } else {
        format!("{} is not a repository: run `git init` and commit before `helix run`", directory.display())
    };
    say("git", &git)
}

/// An agent that users install for themselves.
struct Product {
    dialect: DialectName,
    name: &'static str,
    product: &'static str,
    install: &'static str,
    model: &'static str,
}

/// Claude Code goes first: it also keeps to budgets of money and turns.
fn products() -> impl Iterator<Item = Product> {
    DialectName::ALL.into_iter().filter_map(|name| match agent_kind(name).program {
        Program::Installed { name: program, product, install, model } => {
            Some(Product { dialect: name, name: program, product, install, model })
        }
        Program::Helix { .. } | Program::Named => None,
    })
}

fn configuration(agents: &[&str]) -> String {
    let found = |name: &str| agents.contains(&name);
    let default = agents.first().copied().or_else(|| products().next().map(|first| first.name)).unwrap_or_default();
    let note = if found(default) { "found in PATH" } else { "not found in PATH when this file was written" };
    let sections: Vec<String> = products()
        .enumerate()
        .filter(|(place, one)| *place == 0 || found(one.name))
        .map(|(_, Product { dialect, name, model, .. })| {
            format!("[agents.{name}]\ndialect = \"{dialect}\"\ncommand = [\"{name}\"]\n# model = \"{model}\"\n")
        })
        .collect();
    let sections = sections.join("\n");
    let more = sample("# ", |name| ["jobs", "verifier", "adviser", "escalation", "questions"].contains(&name));
    format!(
        "\
# Helix's configuration; every key is described in docs/configuration.md.
# Without this file the same values hold: keep what you change.

[defaults]
agent = \"{default}\"             # {note}

{sections}
{more}"
    )
}

/// Named so that no check takes it for a decision.
fn adr_template() -> String {
    use helix_adr::{ChangeScope, Classification, ComponentType, Language, TemplateRequest, template};
    let draft = template(&TemplateRequest {
        language: Language::English,
        title: "What is decided".to_owned(),
        component_type: ComponentType::Tool,
        classification: Classification::New,
        change_scope: ChangeScope::Minor,
        creates: Vec::new(),
    });
    format!(
        "Architecture decisions of this project. `helix adr new TITLE` writes a draft like the one below,\n`helix adr finalize DRAFT` checks and numbers it.\n\n{draft}"
    )
}
