//! What a user wrote, and in which language. Must not know where a message came from.

use std::sync::Arc;

use helix_core::ids::TurnId;
use helix_language::{Language, MOST_MESSAGES};
use helix_store::{Journal, ReadError};

/// The language of the newest message up to a turn that tells, by the record.
pub(super) async fn language_at(
    journal: &Arc<dyn Journal>,
    turn: Option<TurnId>,
) -> Result<Option<Language>, ReadError> {
    let mut next = turn;
    for _ in 0..MOST_MESSAGES {
        let Some(id) = next else { break };
        let Some(turn) = journal.turn(id).await? else { break };
        // The message that asks for more of an answer is Helix's own.
        let written = if turn.continues.is_none() { unwrapped(&turn.begin.message) } else { "" };
        if let Some(language) = Language::of_text(written) {
            return Ok(Some(language));
        }
        next = turn.parent;
    }
    Ok(None)
}

/// The user's own words in a message that a client wrapped in retrieved context or a list of files. The client sends the
/// wrapping with that turn only, so it must not be part of what identifies a conversation.
pub fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    if let Some(rest) = text.strip_prefix("<attached_files>") {
        text = rest.split_once("</attached_files>").map_or(text, |(_, words)| words).trim();
    }
    if text.starts_with("### Task:")
        && let Some((_, words)) = text.rsplit_once("</context>")
        && !words.trim().is_empty()
    {
        text = words.trim();
    }
    text
}
