//! What is made from definitions: the schema of the journal's events, completion scripts, the manual page.

use clap::Command;
use clap_complete::Shell;
use helix_failure::event::FailureEvent;
use helix_job::session::SessionEvent;
use helix_job::{JobEvent, Recorded};
use schemars::schema_for;
use serde_json::json;

use super::job_names;
use crate::context::Context;
use crate::error::{CommandError, Ended, codes};

pub(crate) fn events(context: &Context) -> Ended {
    context.terminal.json(&json!({
        "job_event": schema_for!(Recorded<JobEvent>),
        "session_event": schema_for!(Recorded<SessionEvent>),
        "failure_event": schema_for!(FailureEvent),
    }))
}

pub(crate) fn completions(context: &Context, shell: Shell, mut definition: Command) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition, "helix", &mut script);
    let mut commands = Vec::new();
    with_job(&definition, &mut Vec::new(), &mut commands);
    context.terminal.raw(&complete_jobs(shell, &String::from_utf8_lossy(&script), &commands))
}

/// Commands whose argument is a job, by their words.
fn with_job(definition: &Command, above: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    if definition.get_positionals().any(|argument| argument.get_id() == job_names::ARGUMENT) {
        found.push(above.clone());
    }
    for inner in definition.get_subcommands() {
        above.push(inner.get_name().to_owned());
        with_job(inner, above, found);
        above.pop();
    }
}

/// The same script, which offers the jobs that there are where these commands take one; nothing new in a shell that none is known for.
fn complete_jobs(shell: Shell, script: &str, commands: &[Vec<String>]) -> String {
    const NAMES: &str = "helix jobs names 2>/dev/null";
    match shell {
        Shell::Bash => {
            let commands: Vec<String> = commands.iter().map(|words| format!("*\" {} \"", words.join(" "))).collect();
            format!(
                "{script}
_helix_with_jobs() {{
    _helix \"$@\"
    local word=\"${{COMP_WORDS[COMP_CWORD]}}\"
    case \" ${{COMP_WORDS[*]:1:COMP_CWORD-1}} \" in
        {}) [[ $word == -* ]] || COMPREPLY=($(compgen -W \"$({NAMES})\" -- \"$word\")) ;;
    esac
}}
complete -F _helix_with_jobs -o bashdefault -o default helix
",
                commands.join("|")
            )
        }
        Shell::Zsh => {
            let of_job = [format!("':{} -- ", job_names::ARGUMENT), format!("'::{} -- ", job_names::ARGUMENT)];
            let line = |line: &str| match of_job.iter().any(|start| line.starts_with(start.as_str())) {
                true => line.replacen(":_default'", ":_helix_job_names'", 1),
                false => line.to_owned(),
            };
            let lines: Vec<String> = script.lines().map(line).collect();
            let names = format!(
                "_helix_job_names() {{\n    local -a names\n    names=(${{(f)\"$({NAMES})\"}})\n    compadd -a names\n}}\n\n_helix() {{"
            );
            lines.join("\n").replacen("_helix() {", &names, 1) + "\n"
        }
        Shell::Fish => {
            let conditions = commands.iter().filter_map(|words| match &words[..] {
                [] => None,
                [first, more @ ..] => {
                    let more = more.iter().map(|word| format!("; and __fish_seen_subcommand_from {word}"));
                    Some(format!("__fish_helix_using_subcommand {first}{}", more.collect::<String>()))
                }
            });
            let lines = conditions.map(|when| format!("complete -c helix -n \"{when}\" -f -a \"({NAMES})\"\n"));
            format!("{script}{}", lines.collect::<String>())
        }
        _ => script.to_owned(),
    }
}

pub(crate) fn manual(context: &Context, definition: Command) -> Ended {
    let mut page = Vec::new();
    clap_mangen::Man::new(definition)
        .render(&mut page)
        .map_err(|error| CommandError::helix(codes::BROKEN, "cannot write the manual page").because(&error))?;
    context.terminal.raw(&String::from_utf8_lossy(&page))
}
