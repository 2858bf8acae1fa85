//! The responses form, as types. Must not know when they are sent.
//!
//! Text of agents only ever stands in fields of type string here, so that it cannot become an object of another kind.

use std::collections::BTreeMap;

use helix_core::run::Outcome;
use helix_core::usage::Usage;
use helix_job::session::TurnView;
use serde::Serialize;
use serde_json::{Value, json};

use crate::openai::error::ErrorBody;

/// A response, without the fields that are always the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ResponseObject {
    /// Its id, and the `previous_response_id` of a response that follows it.
    pub(crate) id: String,
    object: &'static str,
    /// Seconds since 1970.
    created_at: i64,
    /// `in_progress`, `completed` or `failed`.
    pub(crate) status: &'static str,
    /// Why it failed.
    pub(crate) error: Option<Value>,
    /// A truncated answer is a failure.
    incomplete_details: Option<()>,
    /// The model's name as the client gave it.
    model: String,
    /// Reasoning, tool calls and the message, in order.
    pub(crate) output: Vec<OutputItem>,
    /// The response that it follows.
    previous_response_id: Option<String>,
    /// Token usage and cost.
    pub(crate) usage: Option<Value>,
    /// Agents run their own tools.
    parallel_tool_calls: bool,
    tool_choice: &'static str,
    tools: [(); 0],
    metadata: BTreeMap<String, String>,
}

/// A part of the output.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum OutputItem {
    /// Thinking.
    Reasoning { id: String, summary: Vec<Part>, status: String },
    /// What the agent says.
    Message { id: String, role: String, content: Vec<Part>, status: String },
    /// A tool that the agent called on Helix's side; nothing for the client to do.
    McpCall {
        id: String,
        server_label: String,
        name: String,
        arguments: String,
        output: Option<String>,
        error: Option<String>,
        status: String,
    },
    /// As Open WebUI shows it: a call, which its output must follow.
    FunctionCall { id: String, call_id: String, name: String, arguments: String, status: String },
    /// What the tool said.
    FunctionCallOutput { id: String, call_id: String, output: Vec<Part>, status: String },
}

/// Text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names on the wire")]
pub(crate) enum Part {
    /// Of the answer.
    OutputText { text: String, annotations: Vec<String> },
    /// Of thinking.
    SummaryText { text: String },
    /// Of a tool.
    InputText { text: String },
}

impl ResponseObject {
    /// A response without output.
    pub(crate) fn new(id: String, model: String, created_at: i64, previous: Option<String>) -> Self {
        Self {
            id,
            object: "response",
            created_at,
            status: "in_progress",
            error: None,
            incomplete_details: None,
            model,
            output: Vec::new(),
            previous_response_id: previous,
            usage: None,
            parallel_tool_calls: true,
            tool_choice: "auto",
            tools: [],
            metadata: BTreeMap::new(),
        }
    }

    /// A response from the record of its turn.
    pub(crate) fn of_turn(id: &str, turn: &TurnView, previous: Option<String>) -> Self {
        let model = turn.begin.model.as_ref().map_or_else(|| "helix".into(), |model| format!("helix:{model}"));
        let mut response = Self::new(id.to_owned(), model, turn.started_at.as_second(), previous);
        let Some(end) = &turn.end else { return response };
        response.output.push(OutputItem::Message {
            id: format!("{id}-message"),
            role: "assistant".into(),
            content: vec![Part::OutputText { text: end.text().to_owned(), annotations: Vec::new() }],
            status: "completed".into(),
        });
        response.usage = Some(response_usage(&end.usage));
        response.status = if end.is_answer() { "completed" } else { "failed" };
        if !end.is_answer() {
            let outcome = Outcome::from_facts(&end.facts);
            let message = helix_engine::consultant::outcome_error_line(&outcome);
            response.error = Some(json!({ "code": "server_error", "message": message }));
        }
        response
    }
}

/// Why a response failed.
pub(crate) fn response_error(error: &ErrorBody) -> Value {
    json!({ "code": error.code.as_ref().unwrap_or(&error.kind), "message": error.message })
}

/// Token usage in the responses form, with the cost by the agent's own account. Agents do not tell reasoning from other output.
pub(crate) fn response_usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.total_input(),
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": usage.total_input() + usage.output_tokens,
        "cost": usage.cost_usd,
    })
}
