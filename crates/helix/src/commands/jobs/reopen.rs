//! `helix jobs resume` and `helix jobs retry`: a job that is over goes on, and is followed as by `helix run`.

use serde_json::json;

use super::job;
use crate::client::{Client, Reopen};
use crate::commands::run;
use crate::context::Context;
use crate::error::Ended;
use crate::exit::Exit;
use crate::host::reach;
use crate::terminal::Reading;
use crate::watch::watch;

/// Whether the command stays to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stay {
    /// It follows the job.
    Follow,
    /// It leaves; a host in the background carries the job on.
    Leave,
}

pub(super) async fn reopen(context: &Context, id: &str, body: &Reopen, stay: Stay) -> Ended {
    let view = job(context, id).await?;
    if stay == Stay::Leave {
        return leave(context, &context.host().await?, view.id.as_str(), body).await;
    }
    let reached = reach(&context.environment, context.settings()?).await?;
    let view = match reached.client().reopen(view.id.as_str(), body).await {
        Ok(view) => view,
        Err(error) => {
            run::leave(context, reached).await?;
            return Err(error.into());
        }
    };
    run::end(context, watch(context, reached, &view).await?).await
}

async fn leave(context: &Context, client: &Client, id: &str, body: &Reopen) -> Ended {
    let view = client.reopen(id, body).await?;
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(&json!({ "job": view.id, "status": view.status }))?,
        Reading::People => {
            context.terminal.data(view.id.as_str())?;
            context.terminal.say(&format!("follow it with: helix jobs watch {0}", view.id));
        }
    }
    Ok(Exit::Success)
}
