//! `helix init`: prepares a repository and says what it found. Never overwrites anything.

use std::path::Path;

use helix_engine::{DialectName, Product, Program, agent_kind};
use helix_git::{GitEnvironment, Repository, ignore_pattern};
use helix_language::say;
use helix_project::adr_files::Place;
use helix_project::survey::{Install, Survey, packages_found_by_itself, program_of, survey};
use serde_json::json;

use crate::commands::plan::{PLAN_FILE, template};
use crate::config::{FILE_NAME, Trust, project_file, sample, state_dir, user_directory};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::{beneath_project, write_new};
use crate::terminal::Meaning;

pub(crate) fn run(context: &Context, directory: Option<&Path>) -> Ended {
    let directory = context.path(directory.unwrap_or(&context.environment.directory));
    if !directory.is_dir() {
        let message = format!("{} is not a directory", directory.display());
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, message).hint("create it first, or use another one"));
    }
    let survey = survey(&directory);
    let installed: Vec<&str> = products()
        .map(|(_, product)| product.name)
        .filter(|name| context.environment.find_program(name).is_some())
        .collect();
    // What was wrong with the configuration is told by whoever needs it. That of another project counts for nothing here.
    let settings = context.settings().ok();
    let is_of = |origin: &str, directory: &Path| origin.starts_with(&directory.join(FILE_NAME).display().to_string());
    let users = user_directory(&context.environment).unwrap_or_default();
    let has_default = settings.is_some_and(|settings| is_of(&settings.default_agent.origin, &users));
    let own = settings.iter().flat_map(|settings| &settings.agents).filter(|(name, agent)| {
        let program = agent.value.command.first();
        (is_of(&agent.origin, &users) || is_of(&agent.origin, &directory))
            && !installed.contains(&name.as_str())
            && program.is_some_and(|one| context.environment.find_program(one).is_some())
    });
    let agents: Vec<&str> = installed.iter().copied().chain(own.map(|(name, _)| name.as_str())).collect();
    let root = directory.ancestors().find(|path| path.join(".git").exists());

    let copied = ignored_settings(&directory);
    let mut written = Vec::new();
    let mut kept = Vec::new();
    let files = [
        (directory.join(FILE_NAME), configuration(&installed, has_default) + &workspace(context, &survey, &copied)),
        (directory.join("adr").join("TEMPLATE.txt"), adr_template()),
        (directory.join("plans").join("example").join(PLAN_FILE), template("example", &survey)),
    ];
    // A project that keeps its decisions elsewhere gets no directory for them.
    let own = Place::find(&directory).is_ok_and(|place| directory.join(place.directory) == directory.join("adr"));
    for (path, text) in files.iter().filter(|(path, _)| own || !path.ends_with("TEMPLATE.txt")) {
        let into = if path.exists() { &mut kept } else { &mut written };
        if !path.exists() {
            beneath_project(&directory, path)?;
            write_new(path, text)?;
        }
        into.push(context.shown(path));
    }
    let language = context.terminal.language;
    let mut lines = found(context, &survey, &agents, &directory, root);
    let wrote = context.terminal.paint(Meaning::Good, &say!(language, "init-wrote"));
    lines.extend(written.iter().map(|path| format!("{wrote} {path}")));
    let kept_as_it_is = context.terminal.paint(Meaning::Weak, &say!(language, "init-kept"));
    lines.extend(kept.iter().map(|path| say!(language, "init-exists", kept = &kept_as_it_is, file = path)));
    let tests = survey
        .tests
        .iter()
        .map(|tests| json!({ "command": tests.command, "evidence": language.words(&tests.evidence) }));
    let value = json!({
        "written": written, "kept": kept, "agents": agents, "git_repository": root.is_some(),
        "languages": names(&survey), "tests": tests.collect::<Vec<_>>(),
        "checks": survey.checks.iter().map(|check| json!({ "gate": check.kind.gate(), "command": check.command })).collect::<Vec<_>>(),
    });
    context.terminal.answer(&value, &lines.join("\n"))?;
    // A person has just asked for this file, and Helix has written it: it counts as it is now, and its project's gates may be tried.
    let file = &files[0].0;
    if written.contains(&context.shown(file))
        && let Some(project) = project_file(&context.environment, Some(file))?
    {
        let state = state_dir(&context.environment, &context.overrides)?.value;
        Trust::new(&context.environment, &state).give(&project)?;
    }
    context.terminal.note(&say!(language, "init-next"));
    Ok(Exit::Success)
}

fn names(survey: &Survey) -> Vec<&'static str> {
    survey.languages.iter().map(|language| language.name).collect()
}

/// What was found, as lines.
fn found(context: &Context, survey: &Survey, agents: &[&str], directory: &Path, root: Option<&Path>) -> Vec<String> {
    let language = context.terminal.language;
    let list = |found: &[&str], nothing: String| if found.is_empty() { nothing } else { found.join(", ") };
    let known: Vec<String> = products().map(|(_, known)| format!("{} ({})", known.product, known.install)).collect();
    let mut rows = vec![
        (say!(language, "init-agents"), list(agents, say!(language, "init-no-agents", known = known.join("; ")))),
        (say!(language, "init-languages"), list(&names(survey), say!(language, "init-no-languages"))),
    ];
    rows.extend(survey.tests.iter().map(|tests| {
        let evidence = language.words(&tests.evidence);
        (say!(language, "init-tests"), format!("{}  ({evidence})", tests.command))
    }));
    let checks = survey.checks.iter();
    rows.extend(
        checks.map(|check| (say!(language, "init-checks"), format!("{}  ({})", check.command, check.evidence))),
    );
    rows.extend(survey.installs.iter().map(|install| {
        let commands = install.commands.join("; ");
        (say!(language, "init-setup"), format!("{commands}  ({})", install.evidence))
    }));
    rows.extend(
        survey.compose.map(|file| (say!(language, "init-services"), say!(language, "init-compose", file = file))),
    );
    let packages = packages_found_by_itself(directory);
    if !packages.is_empty() {
        let include = json!(packages.iter().map(|name| format!("{name}*")).collect::<Vec<_>>()).to_string();
        rows.push((say!(language, "init-setup"), say!(language, "init-flat-layout", include = include)));
    }
    rows.extend(missing(context, survey).into_iter().map(|text| (say!(language, "init-missing"), text)));
    if survey.tests.is_empty() {
        rows.push((say!(language, "init-tests"), say!(language, "init-no-tests")));
    }
    let shown = directory.display().to_string();
    let repository = match root.map(|root| root.display().to_string()) {
        Some(root) if root == shown => say!(language, "init-repository"),
        // Another helix.toml than the root's holds here, and is read only by commands that start here.
        Some(root) => say!(language, "init-inside", place = shown, root = root),
        None => say!(language, "init-no-repository", place = shown),
    };
    rows.push(("git".to_owned(), repository));
    rows.into_iter().map(|(what, text)| format!("{what:<12}{text}")).collect()
}

/// Programs that are not there, each with what asks for it and what to do.
fn missing(context: &Context, survey: &Survey) -> Vec<String> {
    let language = context.terminal.language;
    let is_missing = |program: &str| context.environment.find_program(program).is_none();
    let installs = survey.installs.iter().filter(|install| is_missing(install.program)).map(|install| {
        let (program, file, command) = (install.program, install.evidence, install.commands.join("; "));
        (program, say!(language, "init-no-installer", program = program, command = command, file = file))
    });
    let tests = survey.tests.iter().map(|tests| (tests.command.as_str(), language.words(&tests.evidence)));
    let checks = survey.checks.iter().map(|check| (check.command.as_str(), check.evidence.clone()));
    let commands = tests.chain(checks).filter_map(|(command, file)| {
        let program = program_of(command).filter(|program| is_missing(program))?;
        Some((program, say!(language, "init-no-program", program = program, command = command, file = file)))
    });
    let mut named = std::collections::BTreeSet::new();
    installs.chain(commands).filter(|(program, _)| named.insert(*program)).map(|(_, text)| text).collect()
}

/// Agents that users install for themselves. Claude Code goes first: it also keeps to budgets of money and turns.
fn products() -> impl Iterator<Item = (DialectName, Product)> {
    DialectName::ALL.into_iter().filter_map(|dialect| match agent_kind(dialect).program {
        Program::Installed(product) => Some((dialect, product)),
        Program::Helix { .. } | Program::Through { .. } | Program::Named => None,
    })
}

/// `has_default`: whether the user has chosen an agent, which others who use the project need not have.
fn configuration(installed: &[&str], has_default: bool) -> String {
    let found = |name: &str| installed.contains(&name);
    let first = installed.first().copied().or_else(|| products().next().map(|(_, first)| first.name));
    let first = first.unwrap_or_default();
    let (mark, note) = match has_default {
        true => ("# ", "the user's own configuration names one"),
        false if found(first) => ("", "found in PATH"),
        false => ("", "not found in PATH when this file was written"),
    };
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
{mark}agent = \"{first}\"             # {note}

{sections}
{more}"
    )
}

/// What a fresh clone lacks, as far as the repository says it; nothing where it says nothing.
fn workspace(context: &Context, survey: &Survey, copied: &[String]) -> String {
    if survey.installs.is_empty() && copied.is_empty() {
        return String::new();
    }
    let quoted = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| json!(text).to_string()).collect::<Vec<_>>().join(", ")
    };
    let (there, missing): (Vec<&Install>, Vec<&Install>) =
        survey.installs.iter().partition(|install| context.environment.find_program(install.program).is_some());
    let mut text = String::from(
        "\n# What a fresh clone lacks: installed and copied once for agents and gates (docs/workspaces.md).\n[workspace]\n",
    );
    if !there.is_empty() {
        let files: Vec<&str> = there.iter().map(|install| install.evidence).collect();
        let commands = quoted(&mut there.iter().flat_map(|install| &install.commands));
        text.push_str(&format!("setup = [{commands}] # {}\n", files.join(", ")));
    }
    for install in missing {
        let (commands, program) = (quoted(&mut install.commands.iter()), install.program);
        text.push_str(&format!("# setup = [{commands}] # {}; {program} was not in PATH\n", install.evidence));
    }
    if !copied.is_empty() {
        text.push_str(&format!("copy = [{}]\n", quoted(&mut copied.iter())));
    }
    let env: Vec<String> =
        there.iter().filter_map(|install| install.env).map(|(name, value)| format!("{name} = {value:?}")).collect();
    if !env.is_empty() {
        text.push_str(&format!("env = {{ {} }}\n", env.join(", ")));
    }
    text
}

/// Files with settings that git ignores, such as `.env` and `server/.env`, as patterns. What tools have filled has settings of others.
fn ignored_settings(directory: &Path) -> Vec<String> {
    let repository = Repository::open(directory, GitEnvironment::from_process());
    let mut names = repository.ok().and_then(|repository| repository.ignored().ok()).unwrap_or_default();
    names.retain(|name| {
        let mut parts = name.rsplit('/');
        parts.next().is_some_and(is_settings) && !parts.any(|above| above.starts_with('.') || above == "node_modules")
    });
    names.sort();
    names.iter().map(|name| ignore_pattern(name)).collect()
}

/// Whether a file has settings by its name. Those of production are nothing for agents.
fn is_settings(name: &str) -> bool {
    let is_production = |part: &str| part.to_ascii_lowercase().starts_with("prod");
    name == ".env" || name.strip_prefix(".env.").is_some_and(|of| !of.split('.').any(is_production))
}

/// Named so that no check takes it for a decision.
fn adr_template() -> String {
    use helix_adr::{ChangeScope, Classification, ComponentType, TemplateRequest, template};
    let draft = template(&TemplateRequest {
        language: helix_adr::Language::English,
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

#[cfg(test)]
#[path = "init_test.rs"]
mod tests;
