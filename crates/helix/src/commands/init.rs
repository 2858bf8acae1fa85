//! `helix init`: prepares a repository and says what it found. Never overwrites anything.

use std::path::Path;
use std::process::{Command, Stdio};

use helix_engine::{DialectName, Product, Program, agent_kind};
use helix_project::survey::{Survey, survey};
use serde_json::json;

use crate::commands::plan::{PLAN_FILE, template};
use crate::config::{FILE_NAME, sample};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::write_new;
use crate::terminal::Meaning;

pub(crate) fn run(context: &Context, directory: Option<&Path>) -> Ended {
    let directory = context.path(directory.unwrap_or(&context.environment.directory));
    if !directory.is_dir() {
        let message = format!("{} is not a directory", directory.display());
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, message).hint("create it first, or use another one"));
    }
    let survey = survey(&directory);
    let agents: Vec<&str> = products()
        .map(|(_, product)| product.name)
        .filter(|name| context.environment.find_program(name).is_some())
        .collect();
    let root = directory.ancestors().find(|path| path.join(".git").exists());

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
    let paint = |meaning, text| context.terminal.paint(meaning, text);
    let mut lines = found(&survey, &agents, &directory, root);
    lines.extend(written.iter().map(|path| format!("{} {path}", paint(Meaning::Good, "wrote"))));
    lines.extend(kept.iter().map(|path| format!("{}  {path} (already exists)", paint(Meaning::Weak, "kept"))));
    let tests = survey.tests.iter().map(|tests| json!({ "command": tests.command, "evidence": tests.evidence }));
    let value = json!({
        "written": written, "kept": kept, "agents": agents, "git_repository": root.is_some(),
        "languages": names(&survey), "tests": tests.collect::<Vec<_>>(),
    });
    context.terminal.answer(&value, &lines.join("\n"))?;
    context.terminal.note("next: edit plans/example/phases.yaml, `helix plan check` it, commit, and `helix run` it");
    Ok(Exit::Success)
}

fn names(survey: &Survey) -> Vec<&'static str> {
    survey.languages.iter().map(|language| language.name).collect()
}

/// What was found, as lines.
fn found(survey: &Survey, agents: &[&str], directory: &Path, root: Option<&Path>) -> Vec<String> {
    let list = |found: &[&str], nothing: String| if found.is_empty() { nothing } else { found.join(", ") };
    let known: Vec<String> = products().map(|(_, known)| format!("{} ({})", known.product, known.install)).collect();
    let mut rows = vec![
        ("agents", list(agents, format!("none in PATH: install {}", known.join(" or ")))),
        ("languages", list(&names(survey), "none recognised".to_owned())),
    ];
    rows.extend(survey.tests.iter().map(|tests| {
        let missing = if lacks_pytest(&tests.command) { "; pytest is not installed" } else { "" };
        ("tests", format!("{}  ({}{missing})", tests.command, tests.evidence))
    }));
    if survey.tests.is_empty() {
        rows.push(("tests", "none found: set the command in the plan's tests_pass gate".to_owned()));
    }
    let shown = directory.display();
    rows.push(match root {
        Some(root) if root == directory => ("git", "git repository found".to_owned()),
        // Another helix.toml than the root's holds here, and is read only by commands that start here.
        Some(root) => (
            "git",
            format!(
                "{shown} is inside the repository {root}: `helix init {root}` sets up all of it",
                root = root.display()
            ),
        ),
        None => ("git", format!("{shown} is not a repository: run `git init` and commit before `helix run`")),
    });
    rows.into_iter().map(|(what, text)| format!("{what:<10}{text}")).collect()
}

/// Whether a command needs a pytest that python3 here does not have.
fn lacks_pytest(command: &str) -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import pytest"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.starts_with("python3 -m pytest") && !python.status().is_ok_and(|status| status.success())
}

/// Agents that users install for themselves. Claude Code goes first: it also keeps to budgets of money and turns.
fn products() -> impl Iterator<Item = (DialectName, Product)> {
    DialectName::ALL.into_iter().filter_map(|dialect| match agent_kind(dialect).program {
        Program::Installed(product) => Some((dialect, product)),
        Program::Helix { .. } | Program::Named => None,
    })
}

fn configuration(agents: &[&str]) -> String {
    let found = |name: &str| agents.contains(&name);
    let default =
        agents.first().copied().or_else(|| products().next().map(|(_, first)| first.name)).unwrap_or_default();
    let note = if found(default) { "found in PATH" } else { "not found in PATH when this file was written" };
    let sections: Vec<String> = products()
        .enumerate()
        .filter(|(place, (_, one))| *place == 0 || found(one.name))
        .map(|(_, (_, Product { name, model, .. }))| format!("[agents.{name}]\n# model = \"{model}\"\n"))
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
