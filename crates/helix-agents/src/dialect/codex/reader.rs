//! Reads the CLI's JSON lines: every line becomes events, and all of them together the evidence of the run.
//!
//! Must not know sentences (`trouble` does), and must not drop what it does not know.

use helix_core::agent_event::AgentEvent;
use helix_core::run::{AgentErrorKind, Ending, StopReason, Terminal};
use helix_core::usage::Usage;
use serde_json::{Map, Value};

use super::super::reader::{Ended, Gathered, Reading, Taken, completed};
use super::item::{self, Calls, Stage};
use super::schema::without_nulls;
use super::trouble::{Nature, Trouble};
use crate::profile::AskedSchema;

/// Reads one run of Codex.
#[derive(Debug, Default)]
pub(super) struct CodexReader {
    asked_schema: AskedSchema,
    turns: u32,
    calls: Calls,
    /// What the last terminal record says of errors.
    trouble: Option<Trouble>,
}

impl CodexReader {
    pub(super) fn new(asked_schema: AskedSchema) -> Self {
        Self { asked_schema, ..Self::default() }
    }

    fn item(&mut self, record: &Map<String, Value>, stage: Stage, run: &mut Gathered) {
        match record.get("item") {
            Some(Value::Object(item)) => item::read(item, stage, &mut self.calls, run),
            _ => run.unrecognised("item without content"),
        }
    }

    fn completed(&mut self, record: &Map<String, Value>, run: &mut Gathered) {
        let usage = record.get("usage").unwrap_or(&Value::Null);
        let whole = consumption(usage, self.turns);
        run.session_usage = Some(whole);
        run.usage = since(run.usage_before, whole);
        let structured = match self.asked_schema {
            AskedSchema::Yes => structured(&run.answer),
            AskedSchema::No => None,
        };
        // The record exists only where the provider's last response was complete; it names no other reason.
        let terminal = Terminal {
            structured_output: structured.is_some(),
            usage_present: run.usage.output_tokens > 0,
            denials: self.calls.denied,
            ..completed(&run.answer, self.turns)
        };
        let answer = Some(run.answer.clone());
        run.events.push(AgentEvent::Finished { answer, structured, is_error: false, usage: run.usage });
        (run.active, run.terminal, self.trouble) = (false, Some(terminal), None);
    }

    fn failed(&mut self, said: &str, run: &mut Gathered) {
        let trouble = Trouble::classify(said);
        let refused = trouble.nature == Nature::Refused;
        let stop_reason = refused.then_some(StopReason::Refusal);
        let terminal = Terminal { stop_reason, ..trouble.terminal(said, self.turns) };
        if let Some(limit) = trouble.rate_limit(None) {
            run.events.push(AgentEvent::RateLimited { rejected: limit.rejected, resets_at: limit.resets_at });
        }
        // The sentence comes twice, as `error` and as `turn.failed`: it is reported once.
        if run.active || run.terminal.as_ref() != Some(&terminal) {
            let answer = Some(terminal.message.clone());
            run.events.push(AgentEvent::Finished { answer, structured: None, is_error: true, usage: run.usage });
        }
        (run.active, run.terminal, self.trouble) = (false, Some(terminal), Some(trouble));
    }
}

impl Reading for CodexReader {
    fn record(&mut self, record: Map<String, Value>, run: &mut Gathered) -> Taken {
        let kind = record.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match kind.as_str() {
            "thread.started" => {
                run.worked();
                run.name_session(record.get("thread_id").and_then(Value::as_str));
                run.events.push(AgentEvent::Started { session: run.session.clone(), model: None, version: None });
            }
            "turn.started" => {
                // A record that follows its like at once repeats it.
                self.turns += u32::from(!run.active || self.turns == 0);
                run.worked();
                run.answer.clear();
            }
            "item.started" | "item.updated" => self.item(&record, Stage::UnderWay, run),
            "item.completed" => self.item(&record, Stage::Over, run),
            "turn.completed" => self.completed(&record, run),
            "turn.failed" => {
                let error = record.get("error").unwrap_or(&Value::Null);
                self.failed(&message_of(error), run);
            }
            "error" => match retry(message_of(&Value::Object(record))) {
                Ok(event) => {
                    run.active = true;
                    run.events.push(event);
                }
                // Without a `turn.failed` after it, it is the agent's last word.
                Err(said) => self.failed(&said, run),
            },
            other => run.unrecognised(other),
        }
        Taken::Whole
    }

    fn finish(&mut self, ended: &Ended, run: &mut Gathered) {
        if run.terminal.is_none() && !run.started && matches!(ended.ending, Ending::Exited { code: 1..=127 }) {
            // An unknown session is the one refusal to start that a fresh session cures; stdout says nothing of it.
            let trouble = Trouble::classify(&ended.stderr_tail);
            if trouble.nature == Nature::NoSession {
                run.terminal = Some(trouble.terminal(ended.stderr_tail.trim(), 0));
                self.trouble = Some(trouble);
            }
        }
        let trouble = self.trouble.as_ref();
        run.declared_error = trouble.and_then(|trouble| trouble.error).filter(|kind| *kind != AgentErrorKind::Unknown);
        // The CLI names the time of day only, and ends at once after it.
        run.rate_limit = trouble.and_then(|trouble| trouble.rate_limit(ended.at));
    }
}

fn message_of(error: &Value) -> String {
    match error.get("message").unwrap_or(error) {
        Value::String(message) => message.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// `Reconnecting... 1/5 (reason)` as an event; any other message is given back. Where it names no count, it waits for the network.
fn retry(message: String) -> Result<AgentEvent, String> {
    let Some(rest) = message.strip_prefix("Reconnecting...").map(str::trim_start) else { return Err(message) };
    let (count, reason) = rest.split_once('(').unwrap_or((rest, ""));
    let number = |text: &str| text.trim().parse().unwrap_or_default();
    let (attempt, max) = count.split_once('/').map_or((0, 0), |(attempt, max)| (number(attempt), number(max)));
    let reason = reason.strip_suffix(')').unwrap_or(reason).to_owned();
    Ok(AgentEvent::ApiRetry { attempt, max, delay_ms: 0, reason })
}

/// The answer as structured output. Codex hands on what the model wrote; whether it fits the schema is for who asked.
fn structured(message: &str) -> Option<Value> {
    match serde_json::from_str(message) {
        Ok(Value::Null) | Err(_) => None,
        Ok(value) => Some(without_nulls(value)),
    }
}

/// What was consumed since. Turns are counted by the run itself.
fn since(before: Usage, whole: Usage) -> Usage {
    Usage { turns: whole.turns, ..whole.with(before, u64::saturating_sub, |whole, _| whole) }
}

/// The consumption that a record names. The provider counts cached tokens as part of the input, Helix counts them apart.
fn consumption(usage: &Value, turns: u32) -> Usage {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    let (cached, written) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    Usage {
        input_tokens: count("input_tokens").saturating_sub(cached).saturating_sub(written),
        output_tokens: count("output_tokens"),
        cache_read_tokens: cached,
        cache_write_tokens: written,
        turns,
        cost_usd: 0.0,
    }
}
