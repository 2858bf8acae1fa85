//! `helix open`: Helix's pages in a browser, logged in. The host makes the address.
//!
//! Must not know what pages show.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use helix_language::say;

use crate::commands::job_names::job_id;
use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::terminal::Reading;

/// Programs that open an address, where `BROWSER` names none.
const OPENERS: [&str; 3] = ["xdg-open", "wslview", "open"];

/// How long such a program may take to fail.
const PATIENCE: Duration = Duration::from_secs(2);

/// Arguments of `helix open`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The job to look at first: job number, `last`, name of a plan, job id or a unique prefix
    job: Option<String>,
    /// Print the address instead of opening it
    #[arg(long)]
    print: bool,
}

pub(crate) fn run(context: &Context, Arguments { job, print }: &Arguments) -> Ended {
    let login = context.block_on(async {
        let job = match job {
            Some(said) => Some(job_id(context, said).await?),
            None => None,
        };
        Ok(context.host().await?.log_in(job.as_deref()).await?)
    })?;
    if *print || context.terminal.reading == Reading::Programs {
        return context.terminal.answer(&login, &login.url);
    }
    let language = context.terminal.language;
    if !opened(context, &login.url) {
        context.terminal.note(&say!(language, "open-no-browser"));
    }
    context.terminal.answer(&login, &say!(language, "open-at", url = login.url.as_str()))?;
    Ok(Exit::Success)
}

/// Whether a program was found that opens the address.
fn opened(context: &Context, url: &str) -> bool {
    let chosen = context.environment.variable("BROWSER").filter(|program| !program.is_empty());
    let mut programs = chosen.into_iter().chain(OPENERS);
    programs.any(|program| {
        let mut command = Command::new(program);
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok_and(stays_or_succeeds)
    })
}

/// Whether a program that opens an address has done so; a browser may stay until it is closed.
fn stays_or_succeeds(mut child: Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(_) => return false,
        }
    }
    true
}
