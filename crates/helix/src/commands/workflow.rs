//! `helix workflow`: the workflows that a plan can name, what they ask for, and a first one of one's own.
//!
//! Must not know how a workflow and a plan become one.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use helix_language::say;
use helix_plan::workflow::{InputValue, Workflow, json_schema};
use helix_project::workflows::{Listed, WorkflowPaths};
use serde_json::json;

use super::draft;
use crate::config::{BUILT_IN, in_words, user_directory};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::text_of_problems;
use crate::terminal::{Meaning, one_line};

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the workflows that plans here can use
    List,
    /// Show the inputs and phases of a workflow
    Show {
        /// Name of the workflow
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Write a first workflow
    New {
        /// Name of the workflow
        #[arg(value_name = "NAME")]
        name: String,
        /// Where to write it [default: workflows/NAME.yaml]
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Print the JSON Schema of workflows, for editors
    Schema,
}

pub(crate) fn run(context: &Context, action: &Action) -> Ended {
    match action {
        Action::List => list(context),
        Action::Show { name } => show(context, name),
        Action::New { name, output } => new(context, name, output.as_deref()),
        Action::Schema => context.terminal.json(&json_schema()),
    }
}

/// Where workflows are looked up.
fn workflow_paths(context: &Context) -> WorkflowPaths {
    WorkflowPaths::around(&context.environment.directory, user_directory(&context.environment))
}

fn list(context: &Context) -> Ended {
    let all = workflow_paths(context).workflows();
    let (mut values, mut rows) = (Vec::new(), Vec::new());
    for Listed { name, place, workflow } in &all.workflows {
        let (value, description) = match workflow {
            Ok(Workflow { description, inputs, .. }) => {
                let value = json!({ "name": name, "place": place, "description": description, "inputs": inputs });
                (value, (description.clone(), None))
            }
            Err(problems) => {
                let first = problems.first().map(|first| one_line(&first.to_string(), 200)).unwrap_or_default();
                (json!({ "name": name, "place": place, "diagnostics": problems }), (first, Some(Meaning::Bad)))
            }
        };
        values.push(value);
        rows.push([
            (name.clone(), Some(Meaning::Strong)),
            (in_words(context.terminal.language, place), Some(Meaning::Weak)),
            description,
        ]);
    }
    let diagnostics: Vec<_> = all.problems.iter().chain(&all.strangers).cloned().collect();
    context.terminal.say_diagnostics(&diagnostics, "");
    let value = json!({ "workflows": values, "diagnostics": diagnostics });
    let language = context.terminal.language;
    context.terminal.list(&value, &say!(language, "workflow-none"), ["name", "from", "description"], rows)?;
    Ok(if all.is_whole() { Exit::Success } else { Exit::No })
}

fn show(context: &Context, name: &str) -> Ended {
    let workflow_paths = workflow_paths(context);
    let workflow = match workflow_paths.workflow(name) {
        Some(Ok(workflow)) => workflow,
        Some(Err(problems)) => {
            let text = text_of_problems(&problems);
            return Err(CommandError::file_errors(codes::PLAN_ERRORS, &format!("the workflow {name}"), problems, text)
                .hint("fix the file and run the command again"));
        }
        None => {
            let all = workflow_paths.workflows();
            let known: Vec<&str> = all.workflows.iter().map(|known| known.name.as_str()).collect();
            let error = CommandError::unknown(format!("unknown workflow {name:?}"), name, &known);
            return Err(error.diagnostics(all.problems, ""));
        }
    };
    let strong = |text: &str| context.terminal.paint(Meaning::Strong, text);
    let language = context.terminal.language;
    let built_in = workflow_paths.workflows().workflows.iter().any(|one| one.name == name && one.place == BUILT_IN);
    let from = match built_in {
        true => in_words(language, BUILT_IN),
        false => say!(language, "workflow-from", place = &workflow.file),
    };
    let mut text = format!("{}: {}\n{from}\n\n", strong(&workflow.name), workflow.description);
    for input in &workflow.inputs {
        let from = input.from.and_then(|from| Some(serde_json::to_value(from).ok()?.as_str()?.to_owned()));
        let value = match (from, &input.default) {
            (Some(from), None) => say!(language, "workflow-of-plan", from = from),
            (Some(from), Some(default)) => say!(language, "workflow-default", from = from, value = value(default)),
            (None, Some(default)) => value(default),
            (None, None) => say!(language, "workflow-required"),
        };
        let (name, kind) = (strong(&input.name), input.kind.word());
        text.push_str(&format!("  {name} ({kind}): {}; {value}\n", input.description));
    }
    text.push_str(&format!("\n{}", workflow.source.trim_end()));
    context.terminal.answer(&workflow, &text)
}

fn value(value: &InputValue) -> String {
    match value {
        InputValue::Flag(flag) => flag.to_string(),
        InputValue::Number(number) => number.to_string(),
        InputValue::Text(text) => text.clone(),
        InputValue::List(list) if list.is_empty() => "[]".to_owned(),
        InputValue::List(list) => list.join(", "),
    }
}

fn new(context: &Context, name: &str, output: Option<&Path>) -> Ended {
    draft::check_name("workflow", name, "release-train")?;
    let default = || Path::new("workflows").join(format!("{name}.yaml"));
    let path = context.path(output.map_or_else(default, Path::to_owned));
    let next = say!(context.terminal.language, "workflow-next", name = name);
    draft::give(context, &path, &template(name), &next)
}

fn template(name: &str) -> String {
    format!(
        "\
name: {name}
description: What this workflow is for, in a sentence.
inputs:
  tests: {{ type: command, description: the command that runs the tests, from: tests_pass }}
  design: {{ type: path, description: the file of the design, default: \"docs/design/${{{{ plan }}}}.md\" }}
phases:
  - id: design
    type: planning
    description: Write the design into `${{{{ design }}}}`. Change no code.
    outputs: [\"${{{{ design }}}}\"]
  - slot: work                # the phases of the plan take this place
    depends_on: [design]
    verify: true            # of the plan's development phases that do not say otherwise
  - id: verify
    type: test
    description: Run all tests, and fix what fails.
    depends_on: [work]
    gates:
      - {{ type: tests_pass, command: \"${{{{ tests }}}}\" }}
"
    )
}

#[cfg(test)]
#[path = "workflow_test.rs"]
mod tests;
