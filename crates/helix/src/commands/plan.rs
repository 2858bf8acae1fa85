//! `helix plan`: checks plans with places, makes new ones, prints the format's schema.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use helix_core::diagnostic::Diagnostic;
use helix_core::document::format_duration;
use helix_core::evidence::Land;
use helix_core::ids::PhaseId;
use helix_core::issue::Issue;
use helix_engine::preview::{PhaseVerifier, first_prompts, means, verifiers};
use helix_engine::submit::{Inspection, SubmitError, SubmitRequest, confine, inspect, plan_file, plans_in};
use helix_job::{Origin, Replaced, phrases};
use helix_language::{Language, say};
use helix_plan::{GeneratePhases, ParsedPlan, Plan, TO_DESCRIBE};
use helix_project::survey::{Survey, Tests, survey};
use serde::Serialize;
use serde_json::json;

use crate::arguments::{budget, words};
use crate::commands::draft;
use crate::commands::means::whose;
use crate::commands::preflight::{self, Preflight};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::read_bytes;
use crate::offline;
use crate::question::choose;
use crate::terminal::{Meaning, Reading};

/// Name of plan files in directories.
pub(crate) const PLAN_FILE: &str = "phases.yaml";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Check a plan and show every problem with its location
    Check {
        /// Plan file, or a directory that contains one [default: as for `helix run`]
        #[arg(value_name = "PLAN")]
        plan: Option<PathBuf>,
        /// Also show each older form beside the current one, and the whole plan with its workflow
        #[arg(long)]
        explain: bool,
        #[command(flatten)]
        preflight: preflight::Choice,
    },
    /// Write a first plan
    New {
        /// Name of the plan
        #[arg(value_name = "NAME")]
        name: String,
        /// Where to write it [default: plans/NAME/phases.yaml of the repository]
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Print the JSON Schema of plans, for editors
    Schema,
}

/// What of a plan is to run, and with what.
#[derive(Debug, Clone, Args)]
pub(crate) struct Selection {
    /// Repository to work in [default: the one that contains the plan]
    #[arg(long, value_name = "DIR")]
    pub(super) project: Option<PathBuf>,
    /// Run only this phase; repeat for several
    #[arg(long, value_name = "ID")]
    pub(super) phase: Vec<PhaseId>,
    /// Start at this phase (skip what it depends on)
    #[arg(long, value_name = "ID", conflicts_with = "phase")]
    pub(super) from: Option<PhaseId>,
    /// Agent for all phases
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Model for all phases
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Budget for the whole job, in US dollars
    #[arg(long, value_name = "USD", value_parser = budget, allow_negative_numbers = true)]
    pub(super) budget: Option<f64>,
    /// Turn limit for all phases
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_turns: Option<u32>,
    /// How the result lands [default: the plan's, or that of the configuration]
    #[arg(long, value_name = "HOW", value_parser = words(Land::WORDS.iter().copied()))]
    pub(super) land: Option<Land>,
    /// Issue, pull request or merge request that the job is for: number or URL [default: the plan's]
    #[arg(long, value_name = "N|URL")]
    pub(super) issue: Option<Issue>,
}

pub(crate) fn run(context: &Context, action: &Action) -> Ended {
    match action {
        Action::Check { plan, explain, preflight } => check(context, plan.as_deref(), *explain, *preflight),
        Action::New { name, output } => new(context, name, output.as_deref()),
        Action::Schema => context.terminal.json(&helix_plan::json_schema()),
    }
}

fn check(context: &Context, plan: Option<&Path>, explain: bool, choice: preflight::Choice) -> Ended {
    let (terminal, language) = (&context.terminal, context.terminal.language);
    let file = plan_file(&context.block_on(plan_or_default(context, plan))?)?;
    let shown = context.shown(&file);
    let bytes = read_bytes(&file)?;
    let workflow = Plan::parse_bytes(&shown, &bytes).ok().and_then(|parsed| parsed.plan.workflow);
    let inspection = inspected(context, &request(context, &file))?;
    // Without an agent or a commit there is something else to be done first; an agent is not needed for this.
    let can_be_tried = inspection.refusals.iter().all(|one| one.code() == helix_engine::codes::AGENT_UNUSABLE);
    let preflight = match inspection.spec().filter(|_| can_be_tried) {
        Some(spec) => preflight::make(context, spec, choice)?,
        None => Preflight::LeftOut,
    };
    if matches!(preflight, Preflight::Interrupted) {
        return Ok(Exit::Interrupted);
    }
    let Inspection { diagnostics, source_text: source, parsed, refusals, .. } = inspection;
    let errors = diagnostics.iter().filter(|one| one.is_error()).count();
    let parsed = parsed.filter(|_| errors == 0);
    if terminal.reading == Reading::Programs {
        terminal.json(&json!({
            "file": shown,
            "valid": parsed.is_some(),
            "diagnostics": diagnostics,
            "plan": parsed.as_ref().map(|parsed| &parsed.plan),
            "normalised": parsed.as_ref().map(|parsed| &parsed.normalised),
            "workflow": workflow,
            "refusals": refusals.iter().map(refusal).collect::<Vec<_>>(),
            "preflight": if let Preflight::Made(checks) = &preflight { json!(checks) } else { json!(null) },
        }))?;
        return Ok(match parsed {
            Some(_) if preflight.stops() => Exit::Environment,
            Some(_) => Exit::Success,
            None => Exit::No,
        });
    }
    terminal.say_diagnostics(&diagnostics, &source);
    let Some(parsed) = parsed else {
        terminal.say(
            &terminal
                .paint_error(Meaning::Bad, &format!("{shown}: {}", say!(language, "count-errors", errors = errors))),
        );
        return Ok(Exit::No);
    };
    let valid = terminal.paint(Meaning::Good, &say!(language, "valid"));
    terminal
        .data(&format!("{shown}: {valid} ({})", say!(language, "count-phases", phases = parsed.plan.phases.len())))?;
    let word = terminal.paint_error(Meaning::Attention, &say!(language, "plan-not-now"));
    for refused in &refusals {
        let why = refused.to_string();
        terminal.say(&format!("{word}: {}", say!(language, "plan-refused", code = refused.code(), why = why)));
        if let Some(hint) = hint(refused) {
            terminal.say(&phrases::hint(language, hint));
        }
    }
    for line in preflight::lines(terminal, preflight.checks()) {
        terminal.data(&line)?;
    }
    if matches!(preflight, Preflight::Untrusted) && has_commands(&parsed.plan) {
        terminal.note(&say!(language, "preflight-untrusted"));
    }
    if explain {
        terminal.data(&explanation(language, &parsed, workflow.map(|call| call.name).as_deref()))?;
    }
    Ok(if preflight.stops() { Exit::Environment } else { Exit::Success })
}

/// Whether a gate of the plan runs a command.
fn has_commands(plan: &Plan) -> bool {
    plan.phases.iter().flat_map(|phase| &phase.gates).any(|gate| !gate.commands().is_empty())
}

/// Older forms beside the modern ones, and the whole plan.
fn explanation(language: Language, parsed: &ParsedPlan, workflow: Option<&str>) -> String {
    if parsed.normalised.is_empty() && workflow.is_none() {
        return say!(language, "plan-as-it-is");
    }
    let forms = match parsed.normalised.is_empty() {
        true => format!("{}\n", say!(language, "plan-no-older-forms")),
        false => parsed.explanation(|line| say!(language, "plan-line", line = line)),
    };
    let whole = match workflow {
        Some(name) => say!(language, "plan-whole-with", workflow = name),
        None => say!(language, "plan-whole"),
    };
    format!("\n{forms}\n{whole}\n\n{}", parsed.plan.to_yaml())
}

/// The plan that is named; else that of the repository that the command is called in, and of several the one that the person at
/// the terminal chooses.
pub(crate) async fn plan_or_default(context: &Context, named: Option<&Path>) -> Result<PathBuf, CommandError> {
    if let Some(plan) = named {
        return Ok(context.path(plan));
    }
    let place = context.environment.directory.as_path();
    let plans =
        [place, context.project()].map(plans_in).into_iter().find(|plans| !plans.is_empty()).unwrap_or_default();
    if plans.len() > 1 && context.terminal.is_attended() {
        let names: Vec<String> = plans.iter().map(|plan| context.shown(plan)).collect();
        if let Some(at) = choose(context, &names).await? {
            return Ok(plans.into_iter().nth(at).unwrap_or_else(|| place.to_owned()));
        }
        return Err(CommandError::usage(codes::USAGE, "no plan was chosen").hint("name one as PLAN"));
    }
    match <[PathBuf; 1]>::try_from(plans) {
        Ok([only]) => Ok(only),
        // Of none or several, this says what to do.
        Err(_) => Ok(plan_file(context.project())?),
    }
}

/// A request for a plan as it is.
pub(super) fn request(context: &Context, file: &Path) -> SubmitRequest {
    let mut request = SubmitRequest::new(file.to_owned(), Origin::Cli);
    request.shown_as = Some(context.shown(file));
    request.venv = context.active_venv();
    request
}

/// Everything that a host would say of a request, first whether it may touch the place at all: a person may read their own
/// plan wherever it lies.
pub(super) fn inspected(context: &Context, request: &SubmitRequest) -> Result<Inspection, CommandError> {
    let mut config = context.settings()?.engine(&context.environment)?;
    let roots = std::mem::take(&mut config.roots);
    let mut inspection = context.block_on(async { Ok(inspect(&config, request).await?) })?;
    let mut places = std::iter::once(&request.plan).chain(&request.project);
    let outside = places.find_map(|path| confine(path, &roots).err());
    inspection.refusals.splice(0..0, outside);
    Ok(inspection)
}

/// A refusal for programs.
fn refusal(error: &SubmitError) -> serde_json::Value {
    json!({ "code": error.code(), "message": error.to_string(), "hint": hint(error) })
}

fn hint(error: &SubmitError) -> Option<&str> {
    if let SubmitError::Refused { hint, .. } = error { hint.as_deref() } else { None }
}

fn new(context: &Context, name: &str, output: Option<&Path>) -> Ended {
    draft::check_name("plan", name, "csv-export")?;
    let project = context.project();
    let path = output.map_or_else(|| project.join("plans").join(name).join(PLAN_FILE), |output| context.path(output));
    let next = say!(context.terminal.language, "plan-next", file = context.shown(&path));
    draft::give(context, &path, &template(name, &survey(project)), &next)
}

/// A plan to start from, with the tests that were found.
pub(crate) fn template(name: &str, survey: &Survey) -> String {
    let (output, test) = survey.example_output();
    let gate = |tests: &Tests| format!("      - {{ type: tests_pass, command: {} }}\n", json!(tests.command));
    let gate = match survey.tests.as_slice() {
        [] => "      # - { type: tests_pass, command: \"…\" }   # no test command found: add yours\n".to_owned(),
        all => all.iter().map(gate).collect(),
    };
    let checks = survey.checks.iter();
    let checks: String = checks
        .map(|check| format!("      - {{ type: {}, command: {} }}\n", check.kind.gate(), json!(check.command)))
        .collect();
    // Of files in no known language, it could confirm nothing.
    let is_parsed = survey.languages.iter().any(|language| language.is_parsed);
    let syntax = if is_parsed { "      - { type: syntax_check }\n" } else { "" };
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
      {TO_DESCRIBE}
    outputs: [{output}, {test}]
    gates:
      - {{ type: outputs_claimed }}
{syntax}{gate}{checks}    verify: true   # an independent verifier looks at the result: docs/verification.md
  - id: document
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
pub(super) fn dry_run(context: &Context, path: &Path, selection: &Selection) -> Ended {
    let file = plan_file(path)?;
    let mut request = request(context, &file);
    request.project = selection.project.as_ref().map(|project| context.path(project));
    let (agent, model) = (selection.agent.clone(), selection.model.clone());
    request.replaced = Replaced { agent, model, max_turns: selection.max_turns };
    request.budget_usd = selection.budget;
    request.issue = selection.issue.clone();
    (request.only, request.from) = (selection.phase.clone(), selection.from.clone());
    let inspection = inspected(context, &request)?;
    let (name, source, warnings) = (&inspection.file, &inspection.source_text, &inspection.diagnostics);
    let refused = |diagnostics| CommandError::plan(name, diagnostics, source.clone());
    let Some(plan) = inspection.parsed.as_ref().map(|parsed| &parsed.plan) else {
        return Err(refused(warnings.clone()));
    };
    if warnings.iter().any(Diagnostic::is_error) {
        return Err(refused(warnings.clone()));
    }
    let is_chosen = |id: &PhaseId| inspection.only.as_ref().is_none_or(|only| only.contains(id));
    let config = context.settings()?.engine(&context.environment)?;
    let mut verifiers = verifiers(&config, plan);
    verifiers.retain(|one| is_chosen(&one.phase));
    let price = if verifiers.is_empty() { None } else { Price::so_far(context) };
    let waves = plan.waves_of(|phase| is_chosen(&phase.id));
    let mut prompts = first_prompts(&inspection).map_err(refused)?;
    prompts.retain(|one| is_chosen(&one.phase));
    let refusals = &inspection.refusals;
    let (terminal, language) = (&context.terminal, context.terminal.language);
    terminal.say_diagnostics(warnings, source);
    let mut lines = vec![say!(language, "plan-dry-run", plan = &plan.name, phases = waves.concat().len())];
    let means = means(&config, &inspection);
    for one in &means {
        lines.push(format!("\n{}", whose(language, one)));
        lines.extend(super::means::lines(language, one).into_iter().map(|line| format!("  {line}")));
    }
    for (number, wave) in (1_u32..).zip(&waves) {
        lines.push(format!("\n{}", say!(language, "plan-wave", number = number, phases = wave.len())));
        for phase in wave.iter().filter_map(|id| plan.phase(id)) {
            let agent = phase.agent.as_ref().unwrap_or(&context.settings()?.default_agent.value);
            let agent = agent_of(language, agent, phase.model.as_deref());
            let (id, kind, title) =
                (terminal.paint(Meaning::Strong, phase.id.as_str()), phase.kind.word(), &phase.name);
            let (attempts, time) = (phase.max_attempts, format_duration(Duration::from_secs(phase.timeout.0.into())));
            lines.push(format!("  {id} ({kind}): {title}"));
            let tries = say!(language, "plan-attempts", agent = agent, attempts = attempts, time = time);
            lines.push(format!("    {tries}"));
            if !phase.outputs.is_empty() {
                lines.push(format!("    {}", say!(language, "plan-outputs", files = phase.outputs.join(", "))));
            }
            for gate in &phase.gates {
                let command = match gate.delivery() {
                    Some(delivery) => format!(": {}", language.words(&delivery.words())),
                    None => gate.commands().iter().map(|command| format!(": {command}")).collect(),
                };
                lines.push(format!("    {}{command}", say!(language, "phase-stage-gate", gate = gate.name())));
            }
            if let Some(GeneratePhases { min, max, template, .. }) = &phase.generates_phases {
                let adds = say!(language, "plan-adds", min = *min, max = *max, kind = template.word());
                lines.push(format!("    {adds}"));
            }
            let verifier = verifiers.iter().find(|one| one.phase == phase.id);
            lines.extend(verifier.map(|one| verified_by(language, one, price.as_ref())).into_iter().flatten());
            lines.push(format!("    {}", say!(language, "plan-prompt")));
            let prompt = prompts.iter().find(|one| one.phase == phase.id).map(|one| one.prompt.trim_end());
            lines.extend(prompt.unwrap_or_default().lines().map(|line| format!("    | {line}")));
        }
    }
    let value = json!({
        "plan": plan, "file": name, "warnings": warnings, "prompts": prompts, "waves": waves,
        "agents": means, "verifiers": verifiers, "verification_price": price,
        "refusals": refusals.iter().map(refusal).collect::<Vec<_>>(),
    });
    terminal.answer(&value, &lines.join("\n"))?;
    for more in refusals.iter().skip(1).rev() {
        terminal.note(&say!(language, "plan-also-refused", code = more.code(), why = more.to_string()));
    }
    // It ends as the run itself would: with the first refusal, if there is one.
    inspection.refusals.into_iter().next().map_or(Ok(Exit::Success), |refusal| Err(refusal.into()))
}

/// What verifications have taken on this machine so far, one with another.
#[derive(Debug, Serialize)]
struct Price {
    runs: u32,
    /// US dollars.
    mean_usd: f64,
    mean_seconds: f64,
}

impl Price {
    /// Of all recorded jobs; `None` where no verifier has run yet, or the journal cannot be read.
    fn so_far(context: &Context) -> Option<Self> {
        let jobs = context.block_on(offline::jobs(context)).map(|all| all.jobs).unwrap_or_else(|error| {
            context.terminal.report(&error);
            Vec::new()
        });
        let reviews = jobs.iter().flat_map(|job| &job.phases).filter_map(|phase| phase.review.as_ref());
        let (runs, usd, seconds) = reviews.fold((0, 0.0, 0.0), |(runs, usd, seconds): (u32, _, _), review| {
            let time = Duration::from_millis(review.total_ms).as_secs_f64();
            (runs.saturating_add(review.runs), usd + review.cost, seconds + time)
        });
        (runs > 0).then(|| Self { runs, mean_usd: usd / f64::from(runs), mean_seconds: seconds / f64::from(runs) })
    }
}

fn agent_of(language: Language, agent: &str, model: Option<&str>) -> String {
    match model {
        Some(model) => say!(language, "plan-model", agent = agent, model = model),
        None => agent.to_owned(),
    }
}

fn verified_by(language: Language, verifier: &PhaseVerifier, price: Option<&Price>) -> [String; 2] {
    let agent = agent_of(language, &verifier.agent, verifier.model.as_deref());
    let price = match price {
        Some(Price { runs, mean_usd, mean_seconds }) => {
            let (cost, time) = (language.money(*mean_usd), language.duration(*mean_seconds));
            say!(language, "plan-price-mean", cost = cost, time = time, runs = *runs)
        }
        None => say!(language, "plan-price-unknown"),
    };
    let time = format_duration(Duration::from_secs(verifier.timeout_seconds.into()));
    [
        format!("    {}", say!(language, "plan-verify", agent = agent, time = time)),
        format!("    {}", say!(language, "plan-price", price = price)),
    ]
}
