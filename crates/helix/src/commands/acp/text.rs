//! Texts as the protocol carries them. Must not know what they say.

use agent_client_protocol_schema::v1::{ContentBlock, ContentChunk, SessionUpdate, ToolCallContent};

/// A text of Helix's or the Consultant's.
pub(super) fn text(text: impl Into<String>) -> ContentBlock {
    ContentBlock::from(text.into())
}

pub(super) fn said(what: impl Into<String>) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(ContentChunk::new(text(what)))
}

/// Text in which every line stands as it is.
pub(super) fn verbatim(text: &str) -> ToolCallContent {
    ToolCallContent::from(format!("```text\n{}\n```", text.trim_end().replace("```", "'''")))
}
