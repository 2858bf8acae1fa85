//! What a client can show beyond text, decided from its headers. Must not know what a message says.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, header};

use crate::digest::digest;

helix_core::words! {
    /// What a client can show, by the name with which a connection chooses it.
    pub enum Profile {
        /// Open WebUI from 0.8: also tool calls as typed items with input and output.
        OpenWebUi = "openwebui",
        /// Open WebUI of every version: also its status lines, which tool calls become too.
        OpenWebUiBasic = "openwebui-basic",
        /// Helix's own terminal: also a status event for each tool call.
        Terminal = "terminal",
        /// Helix in an editor (`helix acp`): the same, with tool calls as typed events.
        Editor = "editor",
        /// Any OpenAI client: text and reasoning. Activity becomes lines of reasoning.
        Plain = "plain",
    }
}

/// Names the profile outright: `openwebui`, `openwebui-basic` or `plain`.
pub(crate) const CLIENT_HEADER: &str = "x-helix-client";
/// Names the background task; empty for a user's turn.
pub(crate) const TASK_HEADER: &str = "x-task";
/// The conversation, by the connection's header template.
pub(crate) const CHAT_HEADER: &str = "x-chat";
/// The conversation, by Open WebUI's own forwarding.
pub(crate) const FORWARDED_CHAT_HEADER: &str = "x-openwebui-chat-id";
/// The user, by Open WebUI's own forwarding.
pub(crate) const FORWARDED_USER_HEADER: &str = "x-openwebui-user-id";

/// Every request of OpenAI's own clients has it.
const SDK_HEADER: &str = "x-stainless-lang";
/// Most clients that are remembered.
const MOST_CLIENTS: usize = 1024;

/// Clients that were recognised as Open WebUI by their background tasks: its connection has none of Helix's headers.
#[derive(Debug, Default)]
pub(crate) struct Recognised(Mutex<HashSet<String>>);

impl Recognised {
    /// Remembers the client of a request, by its key and its HTTP library, if it sends none of Helix's headers.
    pub(crate) fn remember(&self, headers: &HeaderMap) {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_bare(headers) {
            if clients.len() >= MOST_CLIENTS {
                clients.clear();
            }
            clients.insert(client(headers));
        }
    }

    /// Whether this client was, and sends none of Helix's headers.
    pub(crate) fn has(&self, headers: &HeaderMap) -> bool {
        is_bare(headers) && self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&client(headers))
    }
}

fn client(headers: &HeaderMap) -> String {
    let sent = [header::AUTHORIZATION, header::USER_AGENT].map(|name| headers.get(name).map(HeaderValue::as_bytes));
    digest(sent.map(Option::unwrap_or_default))
}

/// Whether a request is of Open WebUI's HTTP library, which others use, too.
fn is_aiohttp(headers: &HeaderMap) -> bool {
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    agent.is_some_and(|agent| agent.contains("aiohttp"))
}

/// Whether a request is of that library, and has none of Helix's headers.
fn is_bare(headers: &HeaderMap) -> bool {
    is_aiohttp(headers) && !is_marked(headers) && !headers.contains_key(CLIENT_HEADER)
}

/// Whether a connection has headers that only Open WebUI's have, also when empty.
fn is_marked(headers: &HeaderMap) -> bool {
    [TASK_HEADER, CHAT_HEADER, FORWARDED_CHAT_HEADER].iter().any(|name| headers.contains_key(*name))
}

impl Profile {
    /// Whether it is Helix's own, which says errors itself.
    pub(crate) fn is_own(self) -> bool {
        matches!(self, Self::Terminal | Self::Editor)
    }

    /// Whether it is Open WebUI, which shows one status line and sends whole histories.
    pub(crate) fn is_open_webui(self) -> bool {
        matches!(self, Self::OpenWebUi | Self::OpenWebUiBasic)
    }

    /// The profile of a request: what its header names, else what the end of the model's name says (`helix@plain`), else
    /// what is configured for all, else what the client looks like. Open WebUI is known by its HTTP library together with a header
    /// that only its connections carry (also when empty), or was recognised before; anything else is [`Profile::Plain`], and so is what
    /// OpenAI's own clients send, whatever it names.
    pub(crate) fn choose(
        headers: &HeaderMap,
        by_model: Option<Self>,
        configured: Option<Self>,
        is_recognised: bool,
    ) -> Self {
        // A proxy between Open WebUI and Helix, such as LiteLLM, takes everything out that OpenAI's clients do not know.
        if headers.contains_key(SDK_HEADER) {
            return Self::Plain;
        }
        let name = headers.get(CLIENT_HEADER).and_then(|value| value.to_str().ok());
        let is_web_ui = is_recognised || is_marked(headers) && is_aiohttp(headers);
        let looks = if is_web_ui { Self::OpenWebUi } else { Self::Plain };
        name.and_then(Self::from_word).or(by_model).or(configured).unwrap_or(looks)
    }
}

#[cfg(test)]
#[path = "profile_test.rs"]
mod tests;
