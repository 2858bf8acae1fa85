//! `helix plan`: checks plans with places, makes new ones, prints the format's schema.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use helix_core::diagnostic::Diagnostic;
use helix_core::ids::PhaseId;
use helix_engine::preview::first_prompts;
use helix_engine::submit::{Blame, Inspection, SubmitError, SubmitRequest, confine, inspect};
use helix_job::Origin;
use helix_plan::Plan;
use serde_json::json;

use crate::codes;
use crate::commands::draft;
use crate::context::Context;
use crate::error::{CommandError, Ended, unreadable};
use crate::exit::Exit;
use crate::survey::{Survey, Tests, survey};
use crate::terminal::{Meaning, Reading};

/// Name of plan files in directories.
pub(crate) const PLAN_FILE: &str = "phases.yaml";

/// Arguments of `helix plan`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check a plan and show every problem with its location
    Check {
        /// Plan file, or a directory that contains one
        #[arg(value_name = "PLAN")]
        plan: PathBuf,
        /// Also show each older form beside the current one, and the whole plan with its workflow
        #[arg(long)]
        explain: bool,
    },
    /// Write a first plan
    New {
        /// Name of the plan
        #[arg(value_name = "NAME")]
        name: String,
        /// Where to write it [default: plans/NAME/phases.yaml]
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Print the JSON Schema of plans, for editors
    Schema,
}

/// What of a plan is to be carried out, and with what.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// Only these phases; empty means all.
    pub(crate) only: Vec<String>,
    /// This phase and all that do not come before it.
    pub(crate) from: Option<String>,
    /// Agent for all phases.
    pub(crate) agent: Option<String>,
    /// Model for all phases.
    pub(crate) model: Option<String>,
    /// Directory in the project, if it is not the plan's.
    pub(crate) project: Option<PathBuf>,
    /// Money for the whole job in US dollars.
    pub(crate) budget_usd: Option<f64>,
    /// Turn limit for all phases.
    pub(crate) max_turns: Option<u32>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    match &arguments.action {
        Action::Check { plan, explain: false } => check(context, plan, Detail::Verdict),
        Action::Check { plan, explain: true } => check(context, plan, Detail::Explanation),
        Action::New { name, output } => new(context, name, output.as_deref()),
        Action::Schema => {
            context.terminal.json(&helix_plan::json_schema())?;
            Ok(Exit::Success)
        }
    }
}

/// How much a check says about a valid plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Its problems, and that it is valid.
    Verdict,
    /// Older forms beside the modern ones too.
    Explanation,
}

fn check(context: &Context, plan: &Path, detail: Detail) -> Ended {
    let file = found_and_readable(&context.environment.directory.join(plan))?;
    let request = request(context, &file);
    let shown = context.shown(&file);
    let bytes = std::fs::read(&file).map_err(unreadable(&file))?;
    let written = Plan::parse_bytes(&shown, &bytes).ok().and_then(|parsed| parsed.plan.workflow);
    let (inspection, outside) = inspected(context, &request)?;
    let Inspection { diagnostics, source_text: source, parsed, mut refusals, .. } = inspection;
    refusals.splice(0..0, outside);
    let parsed = parsed.filter(|_| !diagnostics.iter().any(Diagnostic::is_error));
    let errors = diagnostics.iter().filter(|one| one.is_error()).count();
    if context.terminal.reading == Reading::Programs {
        context.terminal.json(&json!({
            "file": shown,
            "valid": parsed.is_some(),
            "diagnostics": diagnostics,
            "plan": parsed.as_ref().map(|parsed| &parsed.plan),
            "normalised": parsed.as_ref().map(|parsed| &parsed.normalised),
            "workflow": written,
            "refusals": refusals.iter().map(refusal).collect::<Vec<_>>(),
        }))?;
    } else {
        context.terminal.say_diagnostics(&diagnostics, &source);
    }
    let Some(parsed) = parsed else {
        if context.terminal.reading == Reading::People {
            let word = if errors == 1 { "error" } else { "errors" };
            context.terminal.say(&context.terminal.paint_error(Meaning::Bad, &format!("{shown}: {errors} {word}")));
        }
        return Ok(Exit::Usage);
    };
    if context.terminal.reading == Reading::People {
        let phases = parsed.plan.phases.len();
        let word = if phases == 1 { "phase" } else { "phases" };
        context
            .terminal
            .data(&format!("{shown}: {} ({phases} {word})", context.terminal.paint(Meaning::Good, "valid")))?;
        for refused in &refusals {
            let RefusalView { code, message, hint } = refusal(refused);
            let word = context.terminal.paint_error(Meaning::Attention, "not possible now");
            context.terminal.say(&format!("{word}: helix run would refuse it ({code}): {message}"));
            if let Some(hint) = hint {
                context.terminal.say(&format!("hint: {hint}"));
            }
        }
        match detail {
            Detail::Verdict => {}
            Detail::Explanation if parsed.normalised.is_empty() && written.is_none() => {
                context.terminal.data("no older forms and no workflow")?;
            }
            Detail::Explanation => {
                let forms = if parsed.normalised.is_empty() { "no older forms\n".into() } else { parsed.explanation() };
                let with = written.as_ref().map(|call| format!(", with the phases of the workflow {}", call.name));
                context.terminal.data(&format!(
                    "\n{forms}\nthe whole plan in the current form{}:\n\n{}",
                    with.unwrap_or_default(),
                    parsed.plan.to_yaml()
                ))?;
            }
        }
    }
    Ok(Exit::Success)
}

/// A request for a plan as it is.
fn request(context: &Context, file: &Path) -> SubmitRequest {
    let mut request = SubmitRequest::new(file.to_owned(), Origin::Cli);
    request.shown_as = Some(context.shown(file));
    request
}

/// Everything that a host would say of a request, and whether it may touch the place at all: a person may read their own plan
/// wherever it lies.
fn inspected(context: &Context, request: &SubmitRequest) -> Result<(Inspection, Option<SubmitError>), CommandError> {
    let mut config = context.settings()?.engine(&context.environment)?;
    let roots = std::mem::take(&mut config.roots);
    let inspection = context.block_on(async { inspect(&config, request).await.map_err(refused) })?;
    let places = [Some(&request.plan), request.project.as_ref()];
    let outside = places.into_iter().flatten().find_map(|path| confine(path, &roots).err());
    Ok((inspection, outside))
}

/// A refusal for programs.
#[derive(serde::Serialize)]
struct RefusalView<'a> {
    code: &'a str,
    message: String,
    hint: Option<&'a str>,
}

fn refusal(error: &SubmitError) -> RefusalView<'_> {
    let hint = match error {
        SubmitError::Plan { .. } => None,
        SubmitError::Refused { hint, .. } => hint.as_deref(),
    };
    RefusalView { code: error.code(), message: error.to_string(), hint }
}

/// A refusal as the end of a command.
fn refused(error: SubmitError) -> CommandError {
    match error {
        SubmitError::Plan { file, source_text, diagnostics } => plan_errors(&file, diagnostics, &source_text),
        SubmitError::Refused { code, message, hint, blame } => {
            let error = match blame {
                Blame::Request | Blame::Permission => CommandError::usage(code, message),
                Blame::Environment => CommandError::environment(code, message),
                Blame::Helix => CommandError::helix(code, message),
            };
            match hint {
                Some(hint) => error.hint(hint),
                None => error,
            }
        }
    }
}

/// The plan file that a path means: itself, or the one in the directory.
///
/// # Errors
/// When there is none, or more than one.
pub(crate) fn found_and_readable(path: &Path) -> Result<PathBuf, CommandError> {
    let metadata = std::fs::metadata(path).map_err(|error| {
        CommandError::usage(codes::INPUT_UNREADABLE, format!("cannot read {}", path.display()))
            .because(&error)
            .hint("use a plan file or a project; `helix plan new NAME` writes one")
    })?;
    if !metadata.is_dir() {
        return Ok(path.to_owned());
    }
    let direct = path.join(PLAN_FILE);
    if direct.is_file() {
        return Ok(direct);
    }
    let below = path.join("plans");
    let mut found: Vec<PathBuf> = match std::fs::read_dir(&below) {
        Ok(entries) => {
            entries.flatten().map(|entry| entry.path().join(PLAN_FILE)).filter(|plan| plan.is_file()).collect()
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(unreadable(&below)(error)),
    };
    found.sort();
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            found.push(last);
            let names: Vec<String> = found.iter().map(|plan| plan.display().to_string()).collect();
            Err(CommandError::usage(codes::INPUT_UNREADABLE, format!("{} has several plans", path.display()))
                .hint(format!("name one: {}", names.join(", "))))
        }
        (None, _) => Err(CommandError::usage(codes::INPUT_UNREADABLE, format!("{} has no plan", path.display()))
            .hint("`helix plan new NAME` writes plans/NAME/phases.yaml")),
    }
}

fn new(context: &Context, name: &str, output: Option<&Path>) -> Ended {
    draft::check_name("plan", name, "csv-export")?;
    let directory = &context.environment.directory;
    let path = output.map_or_else(|| directory.join("plans").join(name).join(PLAN_FILE), |path| directory.join(path));
    let next = format!("edit it, then `helix plan check {0}` and `helix run {0}`", context.shown(&path));
    draft::give(context, &path, &template(name, &survey(directory)), &next)
}

/// A plan to start from, with the tests that were found.
pub(crate) fn template(name: &str, survey: &Survey) -> String {
    let (output, test) = survey.example_output();
    let gate = |tests: &Tests| format!("      - {{ type: tests_pass, command: {} }}\n", json!(tests.command));
    let gate = match survey.tests.as_slice() {
        [] => "      # - { type: tests_pass, command: \"…\" }   # no test command found: add yours\n".to_owned(),
        all => all.iter().map(gate).collect(),
    };
    format!(
        "\
name: {name}
description: What this work is for, in a sentence.
defaults: {{ max_attempts: 3, timeout: 30m }}
phases:
  - id: implement
    name: Implement it
    type: development
    description: |
      Say here what is to be built, as you would to a colleague who has never seen the repository.
    outputs: [{output}, {test}]
    gates:
      - {{ type: outputs_claimed }}
      - {{ type: syntax_check }}
{gate}  - id: document
    name: Document it
    type: documentation
    description: |
      Describe what was built for its users.
    depends_on: [implement]
    outputs: [docs/{name}.md]
    gates:
      - {{ type: files_exist }}
"
    )
}

/// Shows what a run would do: waves, phases, agents, gates. Asks nobody and changes nothing.
///
/// # Errors
/// When the plan has errors or the selection names phases that it does not have.
pub(crate) fn dry_run(context: &Context, path: &Path, selection: &Selection) -> Ended {
    let file = found_and_readable(path)?;
    let mut request = request(context, &file);
    request.project.clone_from(&selection.project);
    request.agent.clone_from(&selection.agent);
    request.model.clone_from(&selection.model);
    (request.budget_usd, request.max_turns) = (selection.budget_usd, selection.max_turns);
    let (mut inspection, outside) = inspected(context, &request)?;
    inspection.refusals.splice(0..0, outside);
    let (name, source) = (inspection.file.clone(), inspection.source_text.clone());
    let broken = inspection.diagnostics.iter().any(Diagnostic::is_error);
    let Some(parsed) = inspection.parsed.take().filter(|_| !broken) else {
        return Err(plan_errors(&name, inspection.diagnostics, &source));
    };
    let selected = selected(&parsed.plan, selection)?;
    let waves = parsed.plan.waves_of(|phase| selected.contains(&phase.id));
    inspection.parsed = Some(parsed.clone());
    let mut prompts = first_prompts(&inspection).map_err(|diagnostics| plan_errors(&name, diagnostics, &source))?;
    prompts.retain(|one| selected.contains(&one.phase));
    let Inspection { diagnostics: warnings, mut refusals, .. } = inspection;
    if context.terminal.reading == Reading::Programs {
        context.terminal.json(&json!({
            "plan": parsed.plan, "file": name, "warnings": warnings,
            "prompts": prompts,
            "waves": waves.iter().map(|wave| wave.iter().map(|id| id.as_str()).collect::<Vec<_>>()).collect::<Vec<_>>(),
            "refusals": refusals.iter().map(refusal).collect::<Vec<_>>(),
        }))?;
        return ended(refusals);
    }
    let settings = context.settings()?;
    context.terminal.say_diagnostics(&warnings, &source);
    let terminal = &context.terminal;
    terminal.data(&format!("{}: {} phase(s), dry run", parsed.plan.name, selected.len()))?;
    for (number, wave) in waves.iter().enumerate() {
        terminal.data(&format!("\nwave {}{}", number + 1, if wave.len() > 1 { " (in parallel)" } else { "" }))?;
        for phase in wave.iter().filter_map(|id| parsed.plan.phase(id)) {
            let agent = phase.agent.as_ref().unwrap_or(&settings.default_agent.value);
            let model = phase.model.as_ref().map(|model| format!(", model {model}")).unwrap_or_default();
            terminal.data(&format!(
                "  {} ({}): {}",
                terminal.paint(Meaning::Strong, phase.id.as_str()),
                phase.kind.word(),
                phase.name
            ))?;
            terminal.data(&format!(
                "    agent {agent}{model}, up to {} attempts of {} s",
                phase.max_attempts, phase.timeout.0
            ))?;
            if !phase.outputs.is_empty() {
                terminal.data(&format!("    outputs {}", phase.outputs.join(", ")))?;
            }
            for gate in &phase.gates {
                let command = match gate.delivery() {
                    Some(delivery) => format!(": {}", delivery.words()),
                    None => gate.commands().iter().map(|command| format!(": {command}")).collect(),
                };
                terminal.data(&format!("    gate {}{command}", gate.name()))?;
            }
            let prompt = prompts.iter().find(|one| one.phase == phase.id).map(|one| one.prompt.trim_end());
            terminal.data("    prompt of its first attempt:")?;
            for line in prompt.unwrap_or_default().lines() {
                terminal.data(&format!("    | {line}"))?;
            }
        }
    }
    while refusals.len() > 1 {
        if let Some(more) = refusals.pop() {
            terminal.say(&format!("also refused ({}): {more}", more.code()));
        }
    }
    ended(refusals)
}

/// Ends as the run itself would: with the first refusal, if there is one.
fn ended(refusals: Vec<SubmitError>) -> Ended {
    match refusals.into_iter().next() {
        Some(refusal) => Err(refused(refusal)),
        None => Ok(Exit::Success),
    }
}

fn plan_errors(name: &str, diagnostics: Vec<Diagnostic>, source: &str) -> CommandError {
    let errors = diagnostics.iter().filter(|one| one.is_error()).count();
    let word = if errors == 1 { "error" } else { "errors" };
    CommandError::usage(codes::PLAN_ERRORS, format!("{name} has {errors} {word}"))
        .hint("fix the plan and run the command again; nothing was changed")
        .diagnostics(diagnostics, source)
}

fn selected(plan: &Plan, selection: &Selection) -> Result<Vec<PhaseId>, CommandError> {
    let known: Vec<&str> = plan.phases.iter().map(|phase| phase.id.as_str()).collect();
    for wanted in selection.only.iter().chain(&selection.from) {
        if !known.contains(&wanted.as_str()) {
            let near = helix_core::diagnostic::did_you_mean(wanted, known.iter().copied());
            let hint = near
                .map_or_else(|| format!("its phases: {}", known.join(", ")), |near| format!("did you mean {near}?"));
            return Err(CommandError::usage(codes::NOT_FOUND, format!("the plan has no phase {wanted:?}")).hint(hint));
        }
    }
    let from = selection.from.as_ref().and_then(|from| plan.phases.iter().find(|phase| phase.id.as_str() == from));
    let ancestry = plan.ancestry();
    let wanted = |id: &PhaseId| {
        (selection.only.is_empty() || selection.only.iter().any(|only| only == id.as_str()))
            && from.is_none_or(|from| !ancestry.is_before(id, &from.id))
    };
    Ok(plan.phases.iter().map(|phase| phase.id.clone()).filter(|id| wanted(id)).collect())
}
