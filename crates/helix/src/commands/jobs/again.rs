//! What a person does after a failure: look at what a gate printed, look around in the result, have it checked again, accept it.
//!
//! Must not know how gates run.

use helix_core::ids::PhaseId;
use helix_core::text::short_commit;
use helix_engine::evidence::{OutputSelection, OutputState};
use helix_job::JobView;
use helix_language::say;
use helix_server::wire::{AcceptRequest, CheckRequest};
use tokio::process::Command;
use tokio::signal::unix::SignalKind;

use crate::commands::run;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::unwritable;
use crate::offline::{archive, job, open_or_missing};
use crate::runtime::signal_stream;
use crate::terminal::{Meaning, Reading};
use crate::watch::Interrupt;

/// Prints all that the command of a gate printed.
pub(super) async fn output(context: &Context, id: &str, wanted: OutputSelection) -> Ended {
    let journal = open_or_missing(context, id).await?;
    let found = archive(context, &journal)?.gate_output(id, wanted).await?;
    if context.terminal.reading == Reading::Programs {
        return context.terminal.json(&found);
    }
    let (language, terminal) = (context.terminal.language, &context.terminal);
    let (phase, gate) = (found.phase.as_str(), &found.report.gate);
    let title = say!(language, "output-of", phase = phase, attempt = found.attempt, gate = gate);
    terminal.note(&terminal.paint_error(Meaning::Strong, &title));
    if found.state != OutputState::Intact {
        terminal.say(&terminal.paint_error(Meaning::Bad, &say!(language, "output-changed")));
    }
    terminal.raw(&found.text)
}

/// Has the gates judge the last result of a phase, or of all that stopped, once more.
pub(super) async fn check(context: &Context, id: &str, request: CheckRequest, detach: bool) -> Ended {
    let JobView { id, last_event, .. } = job(context, id).await?;
    if detach {
        let view = context.host().await?.check(id.as_str(), &request).await?;
        return run::left_behind(context, &serde_json::json!({ "job": view.id, "status": view.status }), &view.id);
    }
    run::follow(context, Interrupt::Cancels, last_event, async |client| client.check(id.as_str(), &request).await).await
}

/// Lets the result of a phase count although a gate did not pass.
pub(super) async fn accept(context: &Context, id: &str, phase: String, reason: String) -> Ended {
    let JobView { id, last_event, .. } = job(context, id).await?;
    let request = AcceptRequest { phase, reason };
    run::follow(context, Interrupt::Cancels, last_event, async |client| client.accept(id.as_str(), &request).await)
        .await
}

/// Opens the user's shell in a copy of a result.
pub(super) async fn shell(context: &Context, id: &str, phase: Option<PhaseId>, attempt: Option<u32>) -> Ended {
    let view = job(context, id).await?;
    let with_result = || view.phases.iter().rev().find(|phase| phase.attempt > 0).map(|phase| phase.id.clone());
    let phase = phase
        .or_else(with_result)
        .ok_or_else(|| CommandError::usage(codes::NOT_FOUND, format!("no phase of job {} has started yet", view.id)))?;
    let journal = open_or_missing(context, view.id.as_str()).await?;
    let place = archive(context, &journal)?.result_place(view.id.as_str(), phase.clone(), attempt).await?;
    let (language, path) = (context.terminal.language, place.path.display().to_string());
    let commit = short_commit(place.commit.as_str());
    context.terminal.note(&say!(language, "shell-opens", phase = phase.as_str(), commit = commit, path = &path));
    let shell = context.environment.variable("SHELL").unwrap_or("/bin/sh");
    // Ctrl-C is the shell's: the copy is removed after it.
    let _interrupts = signal_stream(SignalKind::interrupt())?;
    let ended = Command::new(shell).current_dir(&place.path).status().await;
    // What was done there belongs to nobody.
    std::fs::remove_dir_all(&place.path).map_err(unwritable(&place.path))?;
    ended.map(|_| Exit::Success).map_err(|error| {
        CommandError::environment(codes::INPUT_UNREADABLE, format!("cannot start the shell {shell:?}"))
            .because(&error)
            .hint("set SHELL to the program that you want")
    })
}
