//! Reads what the program between Helix and an agent prints.
//!
//! Must not judge, and must not drop what it does not know.

use std::collections::{BTreeMap, BTreeSet};

use agent_client_protocol_schema::v1::{
    ContentBlock, Error, SessionUpdate, StopReason as AcpStop, ToolCallContent, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields,
};
use helix_core::agent_event::AgentEvent;
use helix_core::run::{AgentErrorKind, StopReason, Terminal, TerminalKind, TerminalReason};
use helix_core::usage::Usage;
use helix_process::secrets::held;
use serde_json::{Map, Value};

use super::super::TOOL_OUTPUT_LIMIT;
use super::super::codex::Trouble;
use super::super::fragments::{Channel, Fragments, Part, text_event};
use super::super::reader::{Ended, Gathered, Reading, Taken, completed};
use super::permission::name;
use super::talk::{Record, Tokens};
use crate::profile::AskedSchema;

/// ACP's code for an agent that wants a login.
const LOGIN: i32 = -32000;

/// Reads one run of an agent.
#[derive(Debug, Default)]
pub(super) struct AcpReader {
    asked_schema: AskedSchema,
    fragments: Fragments,
    /// The text under way, whole.
    open: Option<(Channel, String)>,
    /// Calls that were told of.
    begun: BTreeSet<String>,
    ended: BTreeSet<String>,
    denials: u32,
    /// Why calls were not allowed that a person decides.
    refused: BTreeMap<String, String>,
    error: Option<AgentErrorKind>,
}

impl AcpReader {
    pub(super) fn new(asked_schema: AskedSchema) -> Self {
        Self { asked_schema, ..Self::default() }
    }

    fn update(&mut self, update: Value, run: &mut Gathered) {
        let kind = update.get("sessionUpdate").and_then(Value::as_str).unwrap_or("no update").to_owned();
        match serde_json::from_value(update) {
            Ok(SessionUpdate::AgentMessageChunk(chunk)) => self.text(Channel::Text, chunk.content, run),
            Ok(SessionUpdate::AgentThoughtChunk(chunk)) => self.text(Channel::Thinking, chunk.content, run),
            Ok(SessionUpdate::ToolCall(call)) => self.call(ToolCallUpdate::from(call), run),
            Ok(SessionUpdate::ToolCallUpdate(call)) => self.call(call, run),
            Ok(SessionUpdate::UsageUpdate(told)) => {
                let cost = told.cost.filter(|cost| cost.currency == "USD").map_or(0.0, |cost| cost.amount);
                run.usage.cost_usd = cost.max(run.usage.cost_usd);
            }
            // Plans, commands and modes mean nothing to Helix, and are no work.
            Ok(_) | Err(_) => run.unrecognised(&kind),
        }
    }

    fn text(&mut self, channel: Channel, content: ContentBlock, run: &mut Gathered) {
        let ContentBlock::Text(text) = content else { return run.unrecognised("content without text") };
        if text.text.is_empty() {
            return;
        }
        run.worked();
        if self.open.as_ref().is_some_and(|(open, _)| *open != channel) {
            self.close(run);
        }
        let (_, whole) = self.open.get_or_insert_with(|| (channel, String::new()));
        whole.push_str(&text.text);
        let shown = self.fragments.add(channel, None, &text.text);
        if !shown.is_empty() {
            run.events.push(text_event(channel, shown, Part::Fragment, None));
        }
    }

    /// Whatever comes next, the text under way is whole.
    fn close(&mut self, run: &mut Gathered) {
        let Some((channel, whole)) = self.open.take() else { return };
        // What nobody may read can stand in two lines, and then it was masked in neither.
        let mut whole = whole.into_bytes();
        held().mask(&mut whole);
        let whole = String::from_utf8_lossy(&whole).into_owned();
        let missing = self.fragments.missing_of(channel, None, &whole).to_owned();
        if !missing.is_empty() {
            run.events.push(text_event(channel, missing, Part::Fragment, None));
        }
        if channel == Channel::Text {
            // What is said after the last call is the answer.
            run.answer.clone_from(&whole);
        }
        run.events.push(text_event(channel, whole, Part::Whole, None));
    }

    fn call(&mut self, call: ToolCallUpdate, run: &mut Gathered) {
        run.worked();
        self.close(run);
        let ToolCallUpdate { tool_call_id, fields, .. } = call;
        let id = &*tool_call_id.0;
        let is_over = matches!(fields.status, Some(ToolCallStatus::Completed | ToolCallStatus::Failed));
        let has_input = fields.raw_input.as_ref().is_some_and(|input| *input != Value::Object(Map::new()));
        // Many agents announce a call before they know what it is about.
        let is_known = is_over || has_input || fields.status == Some(ToolCallStatus::InProgress);
        if is_known && self.begun.insert(id.to_string()) {
            let (name, input) = (name(&fields), fields.raw_input.clone().unwrap_or_default());
            // What was said before is no answer, even where the agent never says how the call ended.
            run.answer.clear();
            run.events.push(AgentEvent::ToolStarted { id: id.to_string(), name, input, parent: None });
        } else if !is_known {
            run.pieces += 1;
        }
        if is_over && self.ended.insert(id.to_string()) {
            run.answer.clear();
            let failed = fields.status == Some(ToolCallStatus::Failed);
            let output = self.refused.remove(id).unwrap_or_else(|| output(&fields));
            run.events.push(AgentEvent::ToolFinished { id: id.to_string(), output, failed });
        }
    }

    fn ended(&mut self, stop: AcpStop, usage: Option<Tokens>, run: &mut Gathered) {
        self.close(run);
        if let Some(told) = &usage {
            run.usage = Usage {
                input_tokens: told.input_tokens,
                output_tokens: told.output_tokens,
                cache_read_tokens: told.cached_read_tokens,
                cache_write_tokens: told.cached_write_tokens,
                turns: 1,
                cost_usd: run.usage.cost_usd,
            };
        }
        let structured = match self.asked_schema {
            AskedSchema::Yes => structured(&run.answer),
            AskedSchema::No => None,
        };
        let is_error = stop != AcpStop::EndTurn;
        let (kind, reason, stop_reason) = match stop {
            AcpStop::EndTurn => (TerminalKind::Success, TerminalReason::Completed, Some(StopReason::EndTurn)),
            AcpStop::MaxTurnRequests => (TerminalKind::MaxTurns, TerminalReason::Limit, None),
            AcpStop::Refusal => {
                (TerminalKind::Other("refusal".into()), TerminalReason::ApiError, Some(StopReason::Refusal))
            }
            AcpStop::Cancelled => (TerminalKind::ErrorDuringExecution, TerminalReason::Aborted, None),
            AcpStop::MaxTokens => {
                self.error = Some(AgentErrorKind::MaxOutputTokens);
                (TerminalKind::Other("max_tokens".into()), TerminalReason::ApiError, None)
            }
            _ => (TerminalKind::Other("unknown".into()), TerminalReason::Other("unknown".into()), None),
        };
        let terminal = Terminal {
            kind,
            is_error,
            reason: Some(reason),
            stop_reason,
            structured_output: structured.is_some(),
            // An agent that counts tokens and has none was cut off; what others consumed, nobody knows.
            usage_present: usage.is_none_or(|told| told.output_tokens > 0),
            denials: self.denials,
            ..completed(&run.answer, 1)
        };
        self.finished(terminal, structured, run);
    }

    fn failed(&mut self, error: &Error, run: &mut Gathered) {
        self.close(run);
        let data = error.data.as_ref().map(|data| data.as_str().map_or_else(|| data.to_string(), str::to_owned));
        let said = [Some(error.message.clone()), data].into_iter().flatten().collect::<Vec<_>>().join(": ");
        let trouble = Trouble::classify(&said);
        let kind = if i32::from(error.code) == LOGIN { Some(AgentErrorKind::Authentication) } else { trouble.error };
        self.error = kind.filter(|kind| *kind != AgentErrorKind::Unknown);
        run.rate_limit = trouble.rate_limit(None);
        let terminal = Terminal { denials: self.denials, ..trouble.terminal(&said, u32::from(run.active)) };
        self.finished(terminal, None, run);
    }

    fn finished(&mut self, terminal: Terminal, structured: Option<Value>, run: &mut Gathered) {
        let answer = Some(if terminal.is_error { terminal.message.clone() } else { run.answer.clone() });
        let (is_error, usage) = (terminal.is_error, run.usage);
        run.events.push(AgentEvent::Finished { answer, structured, is_error, usage });
        (run.active, run.terminal) = (false, Some(terminal));
    }
}

impl Reading for AcpReader {
    fn record(&mut self, record: Map<String, Value>, run: &mut Gathered) -> Taken {
        match serde_json::from_value(Value::Object(record)) {
            Ok(Record::Started { model, version, .. }) => {
                run.worked();
                // Its session is not named: nothing goes on with one.
                run.events.push(AgentEvent::Started { session: None, model, version });
            }
            Ok(Record::Update { update }) => self.update(update, run),
            Ok(Record::Elsewhere) => run.unrecognised("another session"),
            Ok(Record::Asked { call, allowed, because }) => {
                self.denials += u32::from(!allowed);
                self.refused.extend(because.filter(|_| !allowed).map(|why| (call.tool_call_id.0.to_string(), why)));
                let fields = call.fields.clone().status(ToolCallStatus::InProgress);
                self.call(ToolCallUpdate::new(call.tool_call_id, fields), run);
            }
            Ok(Record::Ended { stop, usage }) => self.ended(stop, usage, run),
            Ok(Record::Failed { error }) => self.failed(&error, run),
            Ok(Record::Noise) => run.unrecognised("not json"),
            Err(_) => {
                run.unrecognised("acp record");
                return Taken::Spoiled;
            }
        }
        Taken::Whole
    }

    fn finish(&mut self, _ended: &Ended, run: &mut Gathered) {
        if run.terminal.is_none() {
            self.close(run);
        }
        run.declared_error = self.error;
    }
}

/// What a tool said.
fn output(fields: &ToolCallUpdateFields) -> String {
    let texts = fields.content.iter().flatten().filter_map(|content| match content {
        ToolCallContent::Content(content) => match &content.content {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        },
        _ => None,
    });
    let said = texts.collect::<Vec<_>>().join("\n");
    let raw = fields.raw_output.as_ref().and_then(Value::as_str).unwrap_or_default();
    let mut said = if said.is_empty() { raw.to_owned() } else { said };
    said.truncate(said.floor_char_boundary(TOOL_OUTPUT_LIMIT));
    said
}

/// The answer as structured output, without the fence that some models put around it.
fn structured(answer: &str) -> Option<Value> {
    let answer = answer.trim();
    let bare = answer.strip_prefix("```json").or_else(|| answer.strip_prefix("```"));
    let bare = bare.and_then(|answer| answer.strip_suffix("```")).unwrap_or(answer);
    serde_json::from_str(bare.trim()).ok().filter(|value| !matches!(value, Value::Null))
}
