//! The chunks of a streamed chat completion, as types. Must not know when they are sent.
//!
//! Text of agents only ever stands in fields of type string here, so that it cannot become an object of another kind.

use helix_core::usage::Usage;
use serde::Serialize;
use serde_json::{Value, json};

/// A chunk of an answer.
#[derive(Serialize)]
pub(crate) struct Chunk<'a> {
    pub(crate) id: &'a str,
    pub(crate) object: &'static str,
    pub(crate) created: i64,
    pub(crate) model: &'a str,
    pub(crate) choices: &'a [ChunkChoice<'a>],
    /// Absent unless the client asked for usage; then `null` in all chunks but the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Option<Value>>,
}

/// The one choice.
#[derive(Serialize)]
pub(crate) struct ChunkChoice<'a> {
    pub(crate) index: u32,
    pub(crate) delta: Delta<'a>,
    pub(crate) finish_reason: Option<&'static str>,
}

/// What is new.
#[derive(Default, Serialize)]
pub(crate) struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_content: Option<&'a str>,
}

/// An event of Open WebUI. There is one kind only: others run code or change the page.
#[derive(Serialize)]
pub(crate) struct StatusFrame<'a> {
    event: Event<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
enum Event<'a> {
    Status(StatusData<'a>),
}

#[derive(Serialize)]
struct StatusData<'a> {
    description: &'a str,
    done: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
}

/// How a status line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// As it is. No line shimmers: after Stop it would shimmer for ever.
    Still,
    /// Only in the list of all lines.
    Hidden,
}

impl<'a> StatusFrame<'a> {
    /// A line above the answer; only the last one counts.
    pub(crate) fn new(description: &'a str, shown: Shown) -> Self {
        let hidden = shown == Shown::Hidden;
        Self { event: Event::Status(StatusData { description, done: true, hidden }) }
    }
}

/// A typed item.
#[derive(Serialize)]
pub(crate) struct ItemFrame<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) output_index: usize,
    pub(crate) item: Item<'a>,
}

/// What an item is.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Item<'a> {
    /// A call of a tool.
    FunctionCall { id: &'a str, call_id: &'a str, name: &'a str, arguments: &'a str, status: &'static str },
    /// What the tool said.
    FunctionCallOutput { id: &'a str, call_id: &'a str, output: [OutputText<'a>; 1], status: &'static str },
}

/// Text of a tool.
#[derive(Serialize)]
pub(crate) struct OutputText<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

impl<'a> OutputText<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { kind: "input_text", text }
    }
}

/// Token usage in OpenAI's form, with cost and turns. The cost is the agent's own account; 0 when it gave none.
pub(crate) fn completion_usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.total_input(),
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_input() + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens,
        },
        "cost": usage.cost_usd,
        "turns": usage.turns,
    })
}
