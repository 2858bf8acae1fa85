//! Where a request belongs: which conversation, whose, and at which point of it. Read off headers; what they leave open, the
//! history decides.
//!
//! Must not know what was said in the conversation, nor the record of it.

use axum::http::HeaderMap;
use helix_core::ids::SessionId;
use helix_engine::consultant::{ParentSelector, SessionSelector};
use helix_job::session::ClientIds;

use super::conversation::Conversation;
use super::error::ApiError;
use super::profile::{CHAT_HEADER, FORWARDED_CHAT_HEADER, FORWARDED_USER_HEADER, Profile};
use super::session_key::session_key;

/// Id of the answer, by the connection's header template.
const MESSAGE_HEADER: &str = "x-message";
/// Id of the user's message, by the connection's header template.
const USER_MESSAGE_HEADER: &str = "x-user-message";
/// Id of the answer before the user's message, by the connection's header template; empty at the beginning.
const PARENT_HEADER: &str = "x-parent";
/// Names the request, so that it is carried out once however often it is sent.
const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// Names one of Helix's own sessions.
const SESSION_HEADER: &str = "x-helix-session";

/// Where a request belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// Which conversation.
    pub(crate) conversation: SessionSelector,
    /// Whose.
    pub(crate) owner: Option<String>,
    /// At which point of it.
    pub(crate) place: ParentSelector,
    /// What the client calls the turn.
    pub(crate) client: ClientIds,
}

impl Address {
    /// Reads a request's address.
    ///
    /// # Errors
    /// [`ApiError`] when a header names something that cannot be.
    pub(crate) fn of(
        headers: &HeaderMap,
        profile: Profile,
        conversation: &Conversation,
        model: Option<&str>,
    ) -> Result<Self, ApiError> {
        let message = text(headers, MESSAGE_HEADER).or_else(|| text(headers, IDEMPOTENCY_HEADER));
        let client = ClientIds {
            message,
            user_message: text(headers, USER_MESSAGE_HEADER),
            request: Some(conversation.digest(model)),
        };
        let place = place(headers, profile, conversation);
        let conversation = match text(headers, SESSION_HEADER) {
            Some(id) => {
                let unknown = |error: helix_core::ids::InvalidId| ApiError::session_not_found(&error.to_string());
                SessionSelector::Id(SessionId::new(id).map_err(unknown)?)
            }
            None => SessionSelector::Key(session_key(headers, conversation)),
        };
        Ok(Self { conversation, owner: owner(headers), place, client })
    }

    /// The conversation as text, for whoever counts by conversations.
    pub(crate) fn key(&self) -> String {
        match &self.conversation {
            SessionSelector::Key(key) => key.clone(),
            SessionSelector::Id(id) => format!("session:{id}"),
        }
    }
}

/// Whose conversation it is, as the client tells it.
pub(crate) fn owner(headers: &HeaderMap) -> Option<String> {
    text(headers, FORWARDED_USER_HEADER)
}

fn place(headers: &HeaderMap, profile: Profile, conversation: &Conversation) -> ParentSelector {
    if let Some(parent) = text(headers, PARENT_HEADER) {
        return ParentSelector::Ids { parent: Some(parent) };
    }
    let has_history = !conversation.history.is_empty();
    // An empty parent beside an answer's id says "at the beginning"; beside nothing it is a template that was not filled.
    let filled = text(headers, MESSAGE_HEADER).is_some() && headers.contains_key(PARENT_HEADER);
    if filled && !has_history {
        return ParentSelector::Ids { parent: None };
    }
    // Whoever names a conversation and tells nothing of it relies on Helix's memory. Open WebUI always tells all of it.
    let named = [CHAT_HEADER, SESSION_HEADER].iter().any(|name| text(headers, name).is_some());
    let tells_all = matches!(profile, Profile::OpenWebUi { .. }) && text(headers, SESSION_HEADER).is_none()
        || text(headers, FORWARDED_CHAT_HEADER).is_some();
    if named && !has_history && !tells_all { ParentSelector::Latest } else { ParentSelector::History }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
#[path = "address_test.rs"]
mod tests;
