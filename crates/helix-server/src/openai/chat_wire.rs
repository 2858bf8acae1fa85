//! The chat completions form: an answer as chunks with Open WebUI's additions, or in one piece.
//!
//! Must not know a turn's events or when a chunk is sent. Text of agents only ever becomes a JSON string here, never an object.

use helix_core::usage::Usage;
use serde_json::{Value, json};

use super::error::ApiError;
use super::items::{Parts, function_call, function_call_output, item_name};
use super::presenter::{AnswerOptions, WholeAnswer, Wire};
use super::request::Form;
use crate::profile::Profile;
use crate::sse;

/// An answer in the chat completions form.
#[derive(Debug)]
pub(crate) struct ChatWire {
    options: AnswerOptions,
    parts: Parts,
    /// All calls: the index of each, and its item.
    calls: Vec<(usize, Value)>,
    /// The client's own tool that it is to call, instead of a text.
    call_of_client: Option<Value>,
}

impl ChatWire {
    fn delta(&self, out: &mut Vec<u8>, delta: Value, finish_reason: Option<&str>) {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": finish_reason }]);
        // `null` in all chunks but the last, where the client asked for it.
        self.chunk(out, choices, self.options.include_usage.then_some(Value::Null));
    }

    fn finish_reason(&self) -> &'static str {
        if self.call_of_client.is_some() { "tool_calls" } else { "stop" }
    }

    fn chunk(&self, out: &mut Vec<u8>, choices: Value, usage: Option<Value>) {
        let AnswerOptions { id, model, created, .. } = &self.options;
        let (object, created) = ("chat.completion.chunk", created.as_second());
        let mut chunk = json!({ "id": id, "object": object, "created": created, "model": model, "choices": choices });
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        sse::data(out, &chunk);
    }
}

fn send_item(out: &mut Vec<u8>, kind: &str, output_index: usize, item: &Value) {
    sse::data(out, &json!({ "type": kind, "output_index": output_index, "item": item }));
}

/// Token usage in OpenAI's form, with cost and turns. The cost is the agent's own account; 0 when it gave none.
fn completion_usage(usage: &Usage) -> Value {
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

impl Wire for ChatWire {
    const FORM: Form = Form::Chat;
    const ID: &'static str = "chatcmpl-";

    fn new(options: AnswerOptions) -> Self {
        Self { options, parts: Parts::default(), calls: Vec::new(), call_of_client: None }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        self.delta(out, json!({ "role": "assistant", "content": "" }), None);
    }

    fn text(&mut self, out: &mut Vec<u8>, text: &str) {
        self.parts.text();
        self.delta(out, json!({ "content": text }), None);
    }

    fn is_in_text(&self) -> bool {
        self.parts.has_text()
    }

    fn thinking(&mut self, out: &mut Vec<u8>, text: &str) {
        if let Some(inserted) = self.parts.reasoning() {
            for (index, _) in self.calls.iter_mut().filter(|(index, _)| *index >= inserted) {
                *index += 1;
            }
        }
        self.delta(out, json!({ "reasoning_content": text }), None);
    }

    fn has_calls(&self) -> bool {
        self.options.profile == Profile::OpenWebUi
    }

    fn start_call(&mut self, out: &mut Vec<u8>, _: &str, shown: &str, arguments: &Value) -> usize {
        // Unique in the conversation.
        let id = format!("{}-call-{}", self.options.id, self.calls.len() + 1);
        let (index, item) = (self.parts.item(), function_call(&id, shown, arguments));
        send_item(out, "response.output_item.added", index, &item);
        self.calls.push((index, item));
        self.calls.len() - 1
    }

    fn end_call(&mut self, out: &mut Vec<u8>, call: usize, shown: &str, output: &str, failed: bool) {
        let Some((index, item)) = self.calls.get_mut(call) else { return };
        let status = if failed { "failed" } else { "completed" };
        item["status"] = status.into();
        item["name"] = item_name(shown).into();
        send_item(out, "response.output_item.done", *index, item);
        let id = item["id"].as_str().unwrap_or_default();
        let (index, output) = (self.parts.item(), function_call_output(&format!("{id}-output"), id, output, status));
        send_item(out, "response.output_item.added", index, &output);
        send_item(out, "response.output_item.done", index, &output);
    }

    fn call_of_client(&mut self, out: &mut Vec<u8>, name: &str, arguments: &str) {
        let function = json!({ "name": name, "arguments": arguments });
        let call = json!({ "id": format!("{}-call", self.options.id), "type": "function", "function": function });
        let mut indexed = call.clone();
        indexed["index"] = 0.into();
        self.delta(out, json!({ "tool_calls": [indexed] }), None);
        self.call_of_client = Some(call);
    }

    fn end(&mut self, out: &mut Vec<u8>, usage: Option<Usage>, error: Option<&ApiError>) {
        let usage = usage.as_ref().map(completion_usage);
        let asked = self.options.include_usage;
        if error.is_none() {
            let choices = json!([{ "index": 0, "delta": {}, "finish_reason": self.finish_reason() }]);
            // A chunk without choices breaks clients that did not ask for it; usage beside the reason breaks none.
            self.chunk(out, choices, if asked { Some(Value::Null) } else { usage.clone() });
        }
        if let Some(usage) = usage.filter(|_| asked) {
            self.chunk(out, json!([]), Some(usage));
        }
        if let Some(error) = error {
            // Without `choices`: clients ignore an error in a chunk that has them.
            sse::data(out, &error.envelope);
        }
        out.extend_from_slice(sse::DONE);
    }

    fn whole(self, answer: WholeAnswer) -> Value {
        let finish_reason = self.finish_reason();
        let AnswerOptions { id, model, created, .. } = self.options;
        let mut message = json!({ "role": "assistant", "content": answer.text });
        if let Some(call) = self.call_of_client {
            (message["content"], message["tool_calls"]) = (Value::Null, json!([call]));
        }
        if !answer.thinking.is_empty() {
            message["reasoning_content"] = answer.thinking.into();
        }
        let mut completion = json!({
            "id": id,
            "object": "chat.completion",
            "created": created.as_second(),
            "model": model,
            "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason }],
            "usage": completion_usage(&answer.usage),
        });
        // Absent for background tasks, which nobody keeps.
        if let Some((session, turn)) = answer.turn {
            completion["helix"] = json!({ "session": session, "turn": turn });
        }
        completion
    }
}
