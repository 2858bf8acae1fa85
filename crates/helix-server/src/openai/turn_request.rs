//! From a client's headers and messages to a turn request of the engine: conversation, place in it, history and message.
//!
//! Must not know the engine's record of the conversation. Headers count first; the history decides what they leave open.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use axum::http::{HeaderMap, HeaderValue, header};
use helix_core::ids::SessionId;
use helix_engine::consultant::{
    Author, Message as HistoryMessage, ParentSelector, Purpose, SessionSelector, TEMPORARY, TurnRequest, unwrapped,
};
use helix_job::How;
use helix_job::session::ClientIds;
use helix_language::Language;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::error::ApiError;
use super::files;
use super::marks;
use super::request::{Message, Role};
use crate::digest::digest;
use crate::mcp::DIRECTORY_HEADER;
use crate::principal::Principal;
use crate::profile::{CHAT_HEADER, FORWARDED_CHAT_HEADER, FORWARDED_USER_HEADER, Profile, TASK_HEADER};

/// Id of the answer, by the connection's header template.
const MESSAGE_HEADER: &str = "x-message";
/// Id of the user's message, by the connection's header template.
const USER_MESSAGE_HEADER: &str = "x-user-message";
/// Id of the answer before the user's message, by the connection's header template; empty at the beginning.
const PARENT_HEADER: &str = "x-parent";
/// Id of the request, so that it is answered once however often it is sent.
const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// Id of one of Helix's own sessions.
const SESSION_HEADER: &str = "x-helix-session";
/// Sent by a client that shows drafts to its user and starts them on their yes.
const CONFIRMS_HEADER: &str = "x-helix-confirms";
/// How the ids of Open WebUI's temporary chats begin. All temporary chats of a browser tab share one id.
pub(super) const TEMPORARY_CHAT: &[u8] = b"temporary:";
/// The message to the agent when the client wants more of the last answer.
const CONTINUE: &str = "Continue your last answer exactly where it stopped, without repeating anything.";

/// The turn that a client requests. Roles need not alternate: a client that lost an answer sends two user messages in a row.
///
/// # Errors
/// [`ApiError`] when there is nothing to answer, or a header is invalid.
pub(crate) fn turn_request(
    headers: &HeaderMap,
    profile: Profile,
    messages: Vec<Message>,
    model: Option<String>,
) -> Result<TurnRequest, ApiError> {
    let list = messages.last().and_then(|one| one.at.split('[').next()).unwrap_or("messages").to_owned();
    let (instructions, mut said): (Vec<_>, Vec<_>) = messages.into_iter().partition(|one| one.role == Role::System);
    let system: Vec<&str> = instructions.iter().map(|one| one.text.trim()).collect();
    let system = Some(system.join("\n\n")).filter(|text| !text.trim().is_empty());
    let opening = said.iter().find(|one| one.role == Role::User).map(|one| unwrapped(&one.text).to_owned());
    let (Some(opening), Some(last)) = (opening, said.last()) else {
        return Err(ApiError::bad_field(&list, "has no user message"));
    };
    let (purpose, message, words, uploads) = match last.role {
        Role::User => {
            let words = unwrapped(&last.text).to_owned();
            let (quoted, mut uploads) = (files::quoted(&last.text), last.uploads.clone());
            let mut names = files::listed_images(&last.text).into_iter();
            for image in uploads.iter_mut().filter(|one| one.name.is_none() && one.media_type.starts_with("image/")) {
                image.name = names.next();
            }
            let text = if quoted.is_empty() { last.text.clone() } else { words.clone() };
            uploads.extend(quoted);
            (Purpose::Answer, last.with_remarks(text), words, uploads)
        }
        // "Continue Response" sends the answer so far as the last message.
        Role::Assistant => (Purpose::Continue, CONTINUE.to_owned(), String::new(), Vec::new()),
        Role::Tool | Role::System => {
            let message = "the last message must be the user's; Helix's agents run their own tools, not the client's";
            return Err(ApiError::bad_field(&format!("{}.role", last.at), message));
        }
    };
    if message.trim().is_empty() && uploads.is_empty() {
        return Err(ApiError::bad_field(&format!("{}.content", last.at), "the user message is empty"));
    }
    if purpose == Purpose::Answer {
        said.pop();
    }
    let shown = said.iter().rev().find(|one| one.role == Role::Assistant);
    let last_shown = shown.map(|one| marks::shown(&one.text)).unwrap_or_default();
    let history: Vec<HistoryMessage> = said.iter().filter_map(Message::history).collect();
    let selected = match text(headers, SESSION_HEADER) {
        Some(id) => SessionId::new(id).map(SessionSelector::Id),
        None => Ok(session(headers, &opening)),
    };
    let before = history.iter().rev().filter(|one| one.author == Author::User).map(|one| one.text.as_str());
    let language = Language::of_texts(std::iter::once(words.as_str()).chain(before));
    let mut request = TurnRequest {
        session: selected.map_err(|error| ApiError::session_not_found(&error.to_string()))?,
        owner: owner(headers),
        parent: parent(headers, profile, !history.is_empty()),
        purpose,
        message,
        words,
        uploads,
        history,
        last_shown,
        client: ClientIds {
            message: client_message(headers),
            user_message: text(headers, USER_MESSAGE_HEADER),
            request: None,
        },
        system,
        model,
        language,
        asked: text(headers, header::ACCEPT_LANGUAGE.as_str())
            .as_deref()
            .and_then(Language::of_tag)
            .unwrap_or_default(),
        directory: None,
        confirms: false,
        reads_along: true,
        disconnected: CancellationToken::new(),
    };
    request.client.request = Some(request_digest(&request));
    Ok(request)
}

/// The directory that the owner of the host is in, and whether their client itself starts drafts on their yes. Nobody else names
/// directories: what lies in one can be read in its session.
pub(super) fn at_terminal(headers: &HeaderMap, principal: Option<&Principal>) -> (Option<PathBuf>, bool) {
    let Some(Principal::Person(person)) = principal else { return (None, false) };
    if person.how == How::Key {
        return (None, false);
    }
    let directory = headers.get(DIRECTORY_HEADER).map(|value| PathBuf::from(OsStr::from_bytes(value.as_bytes())));
    (directory.filter(|path| path.is_absolute()), headers.contains_key(CONFIRMS_HEADER))
}

/// Empties headers whose templates the client has not filled, such as `{{CHAT_ID}}`; returns whether there were any. A task's name
/// is taken out: an empty one would say that there is none.
pub(super) fn drop_unfilled(headers: &mut HeaderMap) -> bool {
    let is_unfilled = |value: &HeaderValue| value.as_bytes().starts_with(b"{{") && value.as_bytes().ends_with(b"}}");
    let mut found = headers.get(TASK_HEADER).is_some_and(is_unfilled);
    if found {
        headers.remove(TASK_HEADER);
    }
    for value in headers.values_mut().filter(|value| is_unfilled(value)) {
        *value = HeaderValue::from_static("");
        found = true;
    }
    found
}

/// What of the headers has arrived, as JSON: `helix openwebui connect` compares it with what it had sent.
pub(super) fn probe(headers: &HeaderMap) -> String {
    let names = [TASK_HEADER, CHAT_HEADER, MESSAGE_HEADER, USER_MESSAGE_HEADER, PARENT_HEADER, FORWARDED_USER_HEADER];
    // A chat client that names no user has an owner without one.
    let arrived = |name| text(headers, name).filter(|text| name != FORWARDED_USER_HEADER || !text.ends_with('/'));
    names.into_iter().map(|name| (name, json!(arrived(name)))).collect::<Value>().to_string()
}

/// What the client calls the answer.
pub(super) fn client_message(headers: &HeaderMap) -> Option<String> {
    text(headers, MESSAGE_HEADER).or_else(|| text(headers, IDEMPOTENCY_HEADER))
}

/// Whose session it is: the user that a chat server forwards, or who was authenticated.
pub(crate) fn owner(headers: &HeaderMap) -> Option<String> {
    text(headers, FORWARDED_USER_HEADER)
}

/// The key of the conversation that a background task is about, if its headers name one. The messages of a task are not part of
/// any conversation.
pub(crate) fn key_of_task(headers: &HeaderMap) -> Option<String> {
    chat(headers).filter(|id| !id.as_bytes().starts_with(TEMPORARY_CHAT)).map(|id| key_of(headers, id))
}

/// A digest of what a request says: the same request sent again has the same one.
fn request_digest(request: &TurnRequest) -> String {
    let mut parts: Vec<&[u8]> = vec![request.model.as_deref().unwrap_or_default().as_bytes()];
    for one in &request.history {
        let author = match one.author {
            Author::User => "user",
            Author::Consultant => "consultant",
        };
        parts.extend([author.as_bytes(), one.text.as_bytes()]);
    }
    parts.push(request.message.as_bytes());
    parts.extend(request.uploads.iter().map(|upload| upload.bytes.as_ref()));
    digest(parts)
}

fn parent(headers: &HeaderMap, profile: Profile, has_history: bool) -> ParentSelector {
    if let Some(parent) = text(headers, PARENT_HEADER) {
        return ParentSelector::Ids { parent: Some(parent) };
    }
    // An empty parent beside an answer's id means the beginning; alone it is a template that was not filled.
    let filled = text(headers, MESSAGE_HEADER).is_some() && headers.contains_key(PARENT_HEADER);
    if filled && !has_history {
        return ParentSelector::Ids { parent: None };
    }
    // A client that names a conversation and sends no history relies on Helix's memory. Open WebUI always sends the history.
    let named = [CHAT_HEADER, SESSION_HEADER].iter().any(|name| text(headers, name).is_some());
    let sends_history = profile.is_open_webui() && text(headers, SESSION_HEADER).is_none()
        || text(headers, FORWARDED_CHAT_HEADER).is_some();
    if named && !has_history && !sends_history { ParentSelector::Latest } else { ParentSelector::History }
}

/// The conversation by the client's own id, else by how the keys begin of all that the same caller began with the same words. Ids are
/// never shortened or cleaned: two ids that differ anywhere are two conversations.
fn session(headers: &HeaderMap, opening: &str) -> SessionSelector {
    match chat(headers) {
        Some(id) if !id.as_bytes().starts_with(TEMPORARY_CHAT) => SessionSelector::Key(key_of(headers, id)),
        Some(id) => SessionSelector::Unnamed(format!("{TEMPORARY}{}:", derived(headers, Some(id), opening))),
        None => SessionSelector::Unnamed(format!("opening:{}:", derived(headers, None, opening))),
    }
}

pub(super) fn chat(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut named = [CHAT_HEADER, FORWARDED_CHAT_HEADER].into_iter().filter_map(|name| headers.get(name));
    named.find(|value| !value.as_bytes().trim_ascii().is_empty())
}

/// The key of a conversation with this id: each user's are their own.
fn key_of(headers: &HeaderMap, id: &HeaderValue) -> String {
    let whose = headers.get(FORWARDED_USER_HEADER).filter(|user| !user.as_bytes().trim_ascii().is_empty());
    match (whose, id.to_str()) {
        (None, Ok(id)) => format!("chat:{id}"),
        // A header that has no text form is identified by its bytes as well.
        (None, Err(_)) => format!("chat-bytes:{}", digest([id.as_bytes()])),
        (Some(user), Ok(id)) => format!("user-chat:{}:{id}", digest([user.as_bytes()])),
        (Some(user), Err(_)) => format!("user-chat-bytes:{}", digest([user.as_bytes(), id.as_bytes()])),
    }
}

/// A key from the caller and the user's first words. Instructions are not in it, since they may change during a conversation.
fn derived(headers: &HeaderMap, chat: Option<&HeaderValue>, opening: &str) -> String {
    let caller = [header::AUTHORIZATION.as_str(), FORWARDED_USER_HEADER].map(|name| headers.get(name));
    let parts = caller.into_iter().chain([chat]).map(|value| value.map(HeaderValue::as_bytes).unwrap_or_default());
    digest(parts.chain([opening.as_bytes()]))
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

impl Message {
    /// The text with what cannot be passed on.
    fn with_remarks(&self, text: String) -> String {
        if self.left_out.is_empty() {
            return text;
        }
        let remark = format!(
            "[Helix: the user also sent {}, which Helix cannot pass on. Say so if the answer depends on it.]",
            self.left_out.join(", ")
        );
        if text.is_empty() { remark } else { format!("{text}\n\n{remark}") }
    }

    fn history(&self) -> Option<HistoryMessage> {
        let (author, text) = match self.role {
            Role::User => (Author::User, unwrapped(&self.text).to_owned()),
            Role::Assistant => (Author::Consultant, marks::strip(&self.text)),
            // Activity, not words.
            Role::Tool | Role::System => return None,
        };
        (!text.trim().is_empty() || !self.uploads.is_empty()).then_some(HistoryMessage { author, text })
    }
}

#[cfg(test)]
#[path = "turn_request_test.rs"]
mod tests;
