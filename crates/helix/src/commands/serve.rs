//! `helix serve`: this process becomes the host and stays until it is told to leave.

use std::time::Duration;

use clap::Args;
use helix_job::How;
use helix_language::say;
use helix_store::StateDir;
use serde_json::json;

use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::host::{Access, Host, Listening, READY_MARK, until_idle};
use crate::runtime::stopped;
use crate::terminal::{Meaning, Reading};

/// How long a host without jobs waits for one before it leaves.
const IDLE_GRACE: Duration = Duration::from_secs(10);

/// Arguments of `helix serve`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Address and port; port 0 lets the system choose [default: 127.0.0.1:8787]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Accept requests without a token; loopback addresses only
    #[arg(long)]
    no_auth: bool,
    /// Exit when no job is running
    #[arg(long, hide = true)]
    until_idle: bool,
    /// Print a mark when ready, for the command that waits for it
    #[arg(long, hide = true)]
    background: bool,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Ended {
    context.block_on(serve(context, arguments))
}

async fn serve(context: &Context, arguments: Arguments) -> Ended {
    let settings = context.settings()?;
    let access = if arguments.no_auth {
        Access::Open
    } else {
        Access::Token(context.environment.variable("HELIX_TOKEN").map(str::to_owned))
    };
    let listening = Listening::at(arguments.listen.as_ref().unwrap_or(&settings.listen.value), access).await?;
    let stopped = stopped()?;
    let state = StateDir::open(&settings.state_dir.value)?;
    let lock = state.lock()?;
    let mut host = Host::start(&context.environment, settings, &listening, lock).await?;
    if arguments.background {
        context.terminal.data(READY_MARK)?;
    } else {
        announce(context, &host, &listening.access)?;
    }
    let engine = host.engine.clone();
    tokio::select! {
        () = stopped => {}
        idle = until_idle(&engine, IDLE_GRACE, Some(&state)), if arguments.until_idle => idle?,
        error = host.server_failed() => return Err(error),
    }
    if !arguments.background {
        context.terminal.say(&say!(context.terminal.language, "serve-stopped"));
    }
    host.stop().await?;
    Ok(Exit::Success)
}

fn announce(context: &Context, host: &Host, access: &Access) -> Ended {
    let (info, language) = (&host.info, context.terminal.language);
    if context.terminal.reading == Reading::Programs {
        return context.terminal.json_line(&json!({ "url": info.url, "pid": info.pid, "token_file": info.token_file }));
    }
    let url = context.terminal.paint_error(Meaning::Strong, &info.url);
    context.terminal.say(&say!(language, "serve-at", url = url, address = &info.url));
    if *access == Access::Open {
        context.terminal.say(&say!(language, "serve-open"));
    } else if host.token.is_new {
        context.terminal.say(&say!(language, "serve-token", token = host.token.value.to_string()));
        context.terminal.say(&say!(language, "serve-stored", file = host.token.file.display().to_string()));
    } else {
        context.terminal.say(&say!(language, "serve-token-file", file = host.token.file.display().to_string()));
    }
    // What cannot be made now, `helix open` says later.
    if let Ok(Some(login)) = host.engine.logins().code(&host.engine.owner(How::Terminal)) {
        let url = format!("{}/login?code={}", info.url, login.code);
        context.terminal.say(&say!(language, "serve-pages", url = url));
    }
    context.terminal.say(&say!(language, "serve-stop"));
    Ok(Exit::Success)
}
