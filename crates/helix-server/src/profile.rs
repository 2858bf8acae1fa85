//! What a client can show beyond text, decided from its headers. Must not know what a message says.

use axum::http::{HeaderMap, HeaderName, header};

helix_core::words! {
    /// What a client can show, by the name with which a connection chooses it.
    pub enum Profile {
        /// Open WebUI from 0.8: also tool calls as typed items with input and output.
        OpenWebUi = "openwebui",
        /// Open WebUI of every version: also its status lines, which tool calls become too.
        OpenWebUiBasic = "openwebui-basic",
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

impl Profile {
    /// The profile of a request: what its header names, else what the end of the model's name says (`helix@plain`), else
    /// what is configured for all, else what the client looks like. Open WebUI is known by its HTTP library together with a header
    /// that only its connections carry (also when empty); anything else is [`Profile::Plain`].
    pub(crate) fn choose(headers: &HeaderMap, by_model: Option<Self>, configured: Option<Self>) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let by_header = text(HeaderName::from_static(CLIENT_HEADER)).and_then(Self::from_word);
        let marked = [TASK_HEADER, CHAT_HEADER, FORWARDED_CHAT_HEADER].iter().any(|name| headers.contains_key(*name));
        let is_web_ui = marked && text(header::USER_AGENT).is_some_and(|agent| agent.contains("aiohttp"));
        by_header.or(by_model).or(configured).unwrap_or(if is_web_ui { Self::OpenWebUi } else { Self::Plain })
    }
}

#[cfg(test)]
#[path = "profile_test.rs"]
mod tests;
