//! `helix people` and `helix token`: keys of further people, and tokens of chat clients. The host makes and keeps them.
//!
//! Must not know what a key opens. A key is printed once.

use clap::Subcommand;
use helix_language::say;
use helix_server::wire::{Holder, KeyView};
use serde_json::json;

use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::terminal::Meaning;

#[derive(Debug, Subcommand)]
pub(crate) enum People {
    /// Add a person, and print their key once
    Add {
        /// Their name, as records show it
        name: String,
    },
    /// List people who have a key
    List,
    /// Remove a person: their key opens nothing any more
    Remove {
        /// Their name
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tokens {
    /// Make a token that opens the OpenAI-compatible API alone, and print it once
    Create {
        /// Name of the chat client
        #[arg(long, value_name = "NAME")]
        chat: String,
    },
    /// List the tokens of chat clients
    List,
    /// Revoke a token
    Revoke {
        /// Name of the chat client
        name: String,
    },
}

pub(crate) fn people(context: &Context, action: People) -> Ended {
    match action {
        People::Add { name } => create(context, Holder::Person, &name),
        People::List => list(context, Holder::Person, &say!(context.terminal.language, "keys-no-people")),
        People::Remove { name } => revoke(context, Holder::Person, &name),
    }
}

pub(crate) fn tokens(context: &Context, action: Tokens) -> Ended {
    match action {
        Tokens::Create { chat } => create(context, Holder::Chat, &chat),
        Tokens::List => list(context, Holder::Chat, &say!(context.terminal.language, "keys-no-tokens")),
        Tokens::Revoke { name } => revoke(context, Holder::Chat, &name),
    }
}

fn create(context: &Context, holder: Holder, name: &str) -> Ended {
    context.block_on(async {
        let made = context.with_host(async |host| Ok(host.client().create_key(holder, name).await?)).await?;
        context.terminal.answer(&made, &made.key)?;
        context.terminal.note(&say!(context.terminal.language, "keys-once"));
        Ok(Exit::Success)
    })
}

fn list(context: &Context, holder: Holder, nothing: &str) -> Ended {
    context.block_on(async {
        let keys = context.with_host(async |host| Ok(host.client().keys().await?)).await?;
        let keys: Vec<KeyView> = keys.into_iter().filter(|one| one.holder == holder).collect();
        let rows = keys
            .iter()
            .map(|one| [(one.name.clone(), None), (one.created_at.strftime("%F").to_string(), Some(Meaning::Weak))]);
        context.terminal.list(&keys, nothing, ["name", "since"], rows)
    })
}

fn revoke(context: &Context, holder: Holder, name: &str) -> Ended {
    context.block_on(async {
        context.with_host(async |host| Ok(host.client().revoke_key(holder, name).await?)).await?;
        context
            .terminal
            .answer(&json!({ "revoked": name }), &say!(context.terminal.language, "keys-revoked", name = name))
    })
}
