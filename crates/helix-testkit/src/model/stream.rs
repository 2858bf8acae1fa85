//! Turns an answer into server-sent events, whole or cut where a fault wants it.
//!
//! Must not know sockets: an ending says what the server has to do after the last event.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fault::{Fault, FaultKind, error_body};

/// An answer with everything filled in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) blocks: Vec<Block>,
    pub(crate) stop_reason: String,
    pub(crate) usage: BTreeMap<String, u64>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) first_delay_ms: u64,
    pub(crate) chunk_chars: usize,
    pub(crate) chunk_delay_ms: u64,
}

/// A content block.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Thinking(String),
    Text(String),
    Tool { id: String, name: String, input: Value },
}

/// What follows the last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The body ends in an orderly way.
    Closed,
    /// The connection is reset after so many milliseconds.
    Reset { after_ms: u64 },
    /// Nothing, and the connection stays open.
    Hang,
}

/// How long the kernel usually gets to deliver what was sent before a connection is reset, in milliseconds.
const BEFORE_RESET_MS: u64 = 50;
/// Pause between the events of a slow stream that says no other, in milliseconds.
const SLOW_MS: u64 = 1000;

/// The events of a stream and its end.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) events: Vec<String>,
    pub(crate) ending: Ending,
    pub(crate) delay_ms: u64,
}

impl Block {
    /// The block as the non-streaming API writes it.
    pub(crate) fn whole(&self) -> Value {
        match self {
            Self::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0ZWQ="}),
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Tool { id, name, input } => json!({"type": "tool_use", "id": id, "name": name, "input": input}),
        }
    }

    fn opening(&self) -> Value {
        match self {
            Self::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
            Self::Text(_) => json!({"type": "text", "text": ""}),
            Self::Tool { id, name, .. } => json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
        }
    }

    fn deltas(&self, chunk_chars: usize) -> Vec<Value> {
        match self {
            Self::Thinking(text) => {
                let mut deltas: Vec<_> = pieces(text, chunk_chars)
                    .into_iter()
                    .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
                    .collect();
                deltas.push(json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="}));
                deltas
            }
            Self::Text(text) => pieces(text, chunk_chars)
                .into_iter()
                .map(|piece| json!({"type": "text_delta", "text": piece}))
                .collect(),
            Self::Tool { input, .. } => pieces(&input.to_string(), chunk_chars)
                .into_iter()
                .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                .collect(),
        }
    }
}

/// Cuts a text into pieces of so many characters; 0 means halves.
fn pieces(text: &str, chunk_chars: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = if chunk_chars == 0 { characters.len().div_ceil(2) } else { chunk_chars };
    characters.chunks(size.max(1)).map(|piece| piece.iter().collect()).collect()
}

impl Answer {
    /// The `usage` object; `output` overrides the output tokens (the first event of a stream knows only one).
    pub(crate) fn usage_json(&self, output: Option<u64>) -> Value {
        let mut usage = json!({
            "input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20,
            "service_tier": "standard",
        });
        for (name, figure) in &self.usage {
            usage[name] = json!(figure);
        }
        if let Some(output) = output {
            usage["output_tokens"] = json!(output);
        }
        usage
    }

    /// The events of the answer under a fault.
    ///
    /// # Errors
    /// A sentence that says why the fault does not fit the answer.
    pub(crate) fn stream(&self, fault: Option<&Fault>) -> Result<Script, String> {
        let kind = fault.map(|fault| fault.kind);
        let stop_reason = fault.and_then(Fault::stop_reason).unwrap_or(&self.stop_reason);
        let start = json!({"type": "message_start", "message": {
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": self.usage_json(Some(1)),
        }});
        let mut events = vec![start];
        let (mut first_delta, mut first_stop, mut first_tool_delta) = (None, None, None);
        let blocks: &[Block] = if kind == Some(FaultKind::EmptyContent) { &[] } else { &self.blocks };
        for (index, block) in blocks.iter().enumerate() {
            events.push(json!({"type": "content_block_start", "index": index, "content_block": block.opening()}));
            for delta in block.deltas(self.chunk_chars) {
                events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
                first_delta.get_or_insert(events.len());
                if matches!(block, Block::Tool { .. }) {
                    first_tool_delta.get_or_insert(events.len());
                }
            }
            events.push(json!({"type": "content_block_stop", "index": index}));
            first_stop.get_or_insert(events.len());
        }
        events.push(json!({
            "type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": null},
            "usage": {"output_tokens": self.usage_json(None)["output_tokens"]},
        }));
        let before_stop = events.len();
        events.push(json!({"type": "message_stop"}));

        let needs = |cut: Option<usize>, what: &str| cut.ok_or_else(|| format!("the fault needs a reply with {what}"));
        let whole = events.len();
        let delay_ms = fault.and_then(|fault| fault.delay_ms);
        let reset = Ending::Reset { after_ms: delay_ms.unwrap_or(BEFORE_RESET_MS) };
        let (keep, ending) = match kind {
            Some(FaultKind::EofMidStream) => (needs(first_delta, "content")?, Ending::Closed),
            Some(FaultKind::ResetMidStream) => (needs(first_delta, "content")?, reset),
            Some(FaultKind::HangMidStream) => (needs(first_delta, "content")?, Ending::Hang),
            Some(FaultKind::SseError | FaultKind::GarbageSse) => (needs(first_delta, "content")?, Ending::Closed),
            Some(FaultKind::EofAfterBlock) => (needs(first_stop, "content")?, Ending::Closed),
            Some(FaultKind::ResetAfterBlock) => (needs(first_stop, "content")?, reset),
            Some(FaultKind::EofMidToolUse) => (needs(first_tool_delta, "a tool call")?, Ending::Closed),
            Some(FaultKind::EofAfterMessageDelta) => (before_stop, Ending::Closed),
            _ => (whole, Ending::Closed),
        };
        events.truncate(keep);
        let mut lines: Vec<String> = events
            .iter()
            .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
            .collect();
        if kind == Some(FaultKind::SseError) {
            let message = fault.and_then(|fault| fault.message.as_deref()).unwrap_or("Overloaded");
            lines.push(format!("event: error\ndata: {}\n\n", error_body("overloaded_error", message)));
        }
        if kind == Some(FaultKind::GarbageSse) {
            lines.push("this is no event\n\nevent: content_block_delta\ndata: {\"type\": \"content_blo\n\n".to_owned());
        }
        let delay_ms = match kind {
            Some(FaultKind::SlowStream) => delay_ms.unwrap_or(SLOW_MS),
            _ => self.chunk_delay_ms,
        };
        Ok(Script { events: lines, ending, delay_ms })
    }
}
