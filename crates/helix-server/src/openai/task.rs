//! Background tasks of chat clients, such as titles and tags, answered at once without an agent or a session.
//!
//! Must not know the engine. The header of the connection's template marks a task; without it, only text that no user's turn has.

use axum::http::HeaderMap;
use helix_engine::consultant::phrases;
use helix_engine::sessions::{SessionStage, SessionSummary};
use helix_language::{Language, say};
use serde_json::{Value, json};

use super::error::ApiError;
use super::request::{ChatRequest, Message, Role};
use crate::profile::TASK_HEADER;

/// Longest title, in characters.
const TITLE: usize = 50;
/// Most tags, as the client asks for.
const MOST_TAGS: usize = 3;
/// Most follow-ups, as the client asks for.
const MOST_FOLLOW_UPS: usize = 5;

/// Tasks whose prompt names the field of their answer.
const BY_FIELD: [(&str, &str); 5] = [
    ("\"title\"", "title_generation"),
    ("\"tags\"", "tags_generation"),
    ("\"follow_ups\"", "follow_up_generation"),
    ("\"queries\"", "query_generation"),
    ("\"prompt\"", "image_prompt_generation"),
];

/// How tasks begin that do not quote the history as most do: whose message the first one is, its first words, the task's name.
const BY_WORDS: [(Role, &str, &str); 10] = [
    (Role::System, "Available Tools:", "function_calling"),
    (Role::System, "You are Open WebUI's private memory reviewer", "memory_review"),
    (Role::User, "### Task:\nYou are an autocompletion system", "autocomplete_generation"),
    (Role::User, "### Task:\nSummarize the conversation history that will be compacted", "context_compaction"),
    (Role::User, "Your task is to reflect the speaker's likely facial expression", "emoji_generation"),
    (Role::User, "You have been provided with a set of responses from various models", "moa_response_generation"),
    // opencode, aichat, LibreChat, Continue.
    (Role::System, "You are a title generator. You output ONLY a thread title", PLAIN_TITLE),
    (Role::System, "Create a concise, 3-6 word title.", PLAIN_TITLE),
    (Role::User, "Provide a concise, 5-word-or-less title for the conversation", PLAIN_TITLE),
    (Role::User, CONTINUE, PLAIN_TITLE),
];
/// What stands before the text of which Continue wants a title; an empty line is between them.
const CONTINUE: &str = "Given the following... please reply with a";
/// Zed asks for a title with one more message below the whole conversation.
const ZED: &str = "Generate a concise 3-7 word title for this conversation, omitting punctuation.";
/// The field of a schema for the language of the conversation, beside its title.
const LANGUAGE: &str = "language";
/// A title that is wanted as it is, of a client that marks no tasks.
const PLAIN_TITLE: &str = "title";
/// Fields that a client wants by a schema, where nothing else names the task.
const BY_SCHEMA: &str = "fields";
/// Asks which headers have arrived.
pub(super) const PROBE: &str = "helix_probe";
/// The only message of a probe. It is known by this and not by the header, which may be what is missing.
const PROBE_MESSAGE: &str = "### Helix probe: which headers arrive?";

/// Words that a first message begins with and that say nothing of what it is about, the longer ones first.
const OPENERS: &str = "i would like you to|i want you to|i would like to|i'd like to|we would like to|we'd like to|i want to|we want to|i need to|\
    we need to|i need|we need|i want|we want|can you|could you|would you|will you|help me to|help me|let's|let us|please|hello|\
    hey|hi|helix|ich würde gerne|ich würde gern|ich möchte|wir möchten|ich will|wir wollen|ich brauche|wir brauchen|\
    kannst du mir|könntest du mir|kannst du|könntest du|hilf mir|lass uns|bitte|hallo|moin|guten tag";
/// Words that no title ends with.
const DANGLING: &str = "a|an|the|of|to|and|or|in|on|for|with|that|which|from|by|as|at|so|is|der|die|das|den|dem|des|ein|eine|einen|einem|und|oder|\
    zu|für|mit|von|im|nach|auf|dass|zum";

/// The name of the task that a request is; `None` if it is a turn.
pub(super) fn recognise(headers: &HeaderMap, request: &ChatRequest) -> Option<String> {
    if let [only] = &request.messages[..]
        && only.text == PROBE_MESSAGE
    {
        return Some(PROBE.to_owned());
    }
    match headers.get(TASK_HEADER) {
        Some(value) => {
            let name = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
            Some(name).filter(|name| !name.is_empty())
        }
        None => recognise_text(request).or_else(|| recognise_schema(request)).map(str::to_owned),
    }
}

/// Whether a task that was recognised is one of Open WebUI's, and not of every client.
pub(super) fn is_of_open_webui(task: &str) -> bool {
    ![PROBE, PLAIN_TITLE, BY_SCHEMA].contains(&task)
}

/// A turn with an attached file begins like a task; only a task also ends with the history, in whatever language it asks.
fn recognise_text(request: &ChatRequest) -> Option<&'static str> {
    let first = request.messages.first().filter(|_| !request.offers_tools)?;
    let text = first.text.trim();
    let alone = request.messages.len() == 1;
    if request.messages.last().is_some_and(is_zeds) {
        return Some(PLAIN_TITLE);
    }
    let by_words = BY_WORDS
        .iter()
        .find(|(role, words, _)| first.role == *role && (alone || *role == Role::System) && text.starts_with(words));
    if let Some((_, _, name)) = by_words {
        // A system prompt may begin so, too.
        let is_query = |one: &Message| one.text.starts_with("Query:") || one.text.starts_with("History:");
        let fits = *name != "function_calling" || request.messages.last().is_some_and(is_query);
        return fits.then_some(name);
    }
    let (asked, history) = text.split_once("<chat_history>")?;
    let is_task = alone && !request.stream && first.role == Role::User && history.ends_with("</chat_history>");
    let known = BY_FIELD.iter().find(|(field, _)| asked.contains(field));
    is_task.then(|| known.map_or(ApiError::UNKNOWN_TASK, |(_, name)| name))
}

/// Nobody asks a Consultant for a title, in a form that no turn has; what else is wanted needs an agent.
fn recognise_schema(request: &ChatRequest) -> Option<&'static str> {
    request.wanted.as_ref()?.is_of(|name| name == LANGUAGE || task_of_field(name).is_some()).then_some(BY_SCHEMA)
}

/// The task whose answer has a field of this name.
fn task_of_field(name: &str) -> Option<&'static str> {
    BY_FIELD.iter().find(|(field, _)| field.trim_matches('"') == name).map(|(_, task)| *task)
}

/// Whether a message asks for a title of those before it.
fn is_zeds(message: &Message) -> bool {
    message.role == Role::User && message.text.starts_with(ZED)
}

/// Answers a task from the session's topic, else from the user's first words.
///
/// # Errors
/// [`ApiError`] for tasks that need a model.
pub(super) fn answer(task: &str, request: &ChatRequest, topic: &SessionSummary) -> Result<String, ApiError> {
    let mut said = request.messages.iter().rev().filter(|one| one.role == Role::User && !is_zeds(one));
    let prompt = said.next().map_or("", |one| &one.text);
    let language = Language::of_texts(users_words(prompt).into_iter().rev()).or(topic.language).unwrap_or_default();
    let Some(wanted) = &request.wanted else { return answer_as_text(task, prompt, language, topic) };
    // What quotes no history says by itself what it is about.
    let words = users_words(prompt).first().copied().unwrap_or_else(|| plain_words(prompt));
    let language = Language::of_text(words).unwrap_or(language);
    let field = |name: &str| match name {
        LANGUAGE => Some(Value::from(language.code())),
        "title" => Some(title_of(topic, language, words).into()),
        other => {
            let answer = answer_as_text(task_of_field(other)?, prompt, language, topic).ok()?;
            serde_json::from_str::<Value>(&answer).ok()?.get(other).cloned()
        }
    };
    let text = if task == BY_SCHEMA { String::new() } else { answer_as_text(task, prompt, language, topic)? };
    wanted.filled(&text, field).ok_or_else(|| wanted.refuse())
}

/// The title of a conversation: its topic, else what some words are about.
fn title_of(topic: &SessionSummary, language: Language, words: &str) -> String {
    topic.title.as_deref().map_or_else(|| about(language, words), |named| title(language, named))
}

fn answer_as_text(task: &str, prompt: &str, language: Language, topic: &SessionSummary) -> Result<String, ApiError> {
    let answer = match task {
        "title_generation" => json!({ "title": title_of(topic, language, first_words(prompt)) }),
        "tags_generation" => json!({ "tags": tags(topic) }),
        "follow_up_generation" => json!({ "follow_ups": follow_ups(language, &topic.stage) }),
        "query_generation" => json!({ "queries": [] }),
        "function_calling" => json!({ "tool_calls": [] }),
        "autocomplete_generation" => json!({ "text": "" }),
        "image_prompt_generation" => json!({ "prompt": first_words(prompt) }),
        "emoji_generation" => return Ok("🙂".into()),
        PLAIN_TITLE => return Ok(about(language, plain_words(prompt))),
        // A refusal would leave the page waiting for ever.
        "moa_response_generation" => return Ok(phrases::not_merged(language)),
        other => return Err(ApiError::task_not_supported(other)),
    };
    Ok(answer.to_string())
}

fn tags(topic: &SessionSummary) -> Vec<String> {
    if topic.tags.is_empty() { vec!["general".into()] } else { topic.tags.iter().take(MOST_TAGS).cloned().collect() }
}

/// What a user could say next; nothing before there is a draft, a job or a question.
fn follow_ups(language: Language, stage: &SessionStage) -> Vec<String> {
    match stage {
        SessionStage::Talk => Vec::new(),
        SessionStage::Asked(options) => options.iter().take(MOST_FOLLOW_UPS).cloned().collect(),
        SessionStage::Drafted => vec![say!(language, "chat-say-build"), say!(language, "chat-say-risks")],
        SessionStage::Working => vec![say!(language, "chat-say-progress")],
        SessionStage::Succeeded => vec![say!(language, "chat-say-changes"), say!(language, "chat-say-next")],
        SessionStage::Failed => vec![say!(language, "chat-say-why"), say!(language, "chat-say-suggest")],
    }
}

/// A title from what a message is about: its first sentence that says it, without greeting and request, cut where a thought ends.
fn about(language: Language, message: &str) -> String {
    let sentences = message.split(['\n', '!', '?']).flat_map(|line| line.split(". ")).map(without_openers);
    let mut said = sentences.filter(|sentence| !sentence.is_empty());
    let first = said.next().unwrap_or_default();
    // One word alone is rather an address than a subject.
    let sentence = if first.contains(' ') { first } else { said.find(|next| next.contains(' ')).unwrap_or(first) };
    if sentence.is_empty() {
        return title(language, message);
    }
    let mut title = title(language, sentence);
    if title.chars().count() < sentence.chars().count() {
        let thought = title.rfind([',', ';', ':', '(']).filter(|at| title[..*at].split_whitespace().count() > 2);
        title.truncate(thought.unwrap_or(title.len()));
        while let Some((before, last)) = title.rsplit_once(' ')
            && DANGLING.split('|').any(|word| word == last.to_lowercase())
        {
            let length = before.len();
            title.truncate(length);
        }
    }
    let title = title.trim_end_matches([',', ';', ':', '.', ' ']);
    let mut letters = title.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// A sentence without what it opens with.
fn without_openers(sentence: &str) -> &str {
    let mut rest = sentence.trim_matches([' ', ',', '.', ':', '#', '*', '-']);
    while let Some(shorter) = OPENERS.split('|').find_map(|opener| {
        let (start, after) = rest.split_at_checked(opener.len())?;
        (start.to_lowercase() == opener && !after.starts_with(char::is_alphanumeric)).then_some(after)
    }) {
        rest = shorter.trim_start_matches([' ', ',']);
    }
    rest
}

/// A title from some words, in a language where there are none.
fn title(language: Language, words: &str) -> String {
    let mut title = String::new();
    for word in words.split_whitespace() {
        if !title.is_empty() && title.chars().count() + 1 + word.chars().count() > TITLE {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    if title.is_empty() { say!(language, "chat-new") } else { title.chars().take(TITLE).collect() }
}

/// The words that a plain title is for, in a prompt that may quote them below others or as `User: …`.
fn plain_words(prompt: &str) -> &str {
    let quoted = match prompt.starts_with(CONTINUE) {
        true => prompt.split_once("\n\n"),
        false => prompt.split_once("User: ").or_else(|| prompt.split_once("USER: ")),
    };
    let words = quoted.map_or(prompt, |(_, words)| words);
    words.split("\nAI:").flat_map(|words| words.split("\nASSISTANT:")).next().unwrap_or_default().trim()
}

/// The user's words in the history that a task's prompt quotes, the oldest first; where it has none, those in its first quotes.
fn users_words(prompt: &str) -> Vec<&str> {
    let Some((_, history)) = prompt.rsplit_once("<chat_history>") else {
        return prompt
            .split_once(": \"")
            .and_then(|(_, quoted)| quoted.split_once("\"\n"))
            .map(|(words, _)| words)
            .into_iter()
            .collect();
    };
    let history = history.split("</chat_history>").next().unwrap_or_default();
    let said = history.split("USER: ").skip(1);
    said.map(|said| said.split("\nASSISTANT:").next().unwrap_or_default().trim()).collect()
}

fn first_words(prompt: &str) -> &str {
    users_words(prompt).first().copied().unwrap_or_default()
}

#[cfg(test)]
#[path = "task_test.rs"]
mod tests;
