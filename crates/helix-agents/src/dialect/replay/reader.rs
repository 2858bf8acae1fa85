//! Reads the embedded agent's lines as events and evidence.
//!
//! Must not trust a record that is not whole: one whose fields do not fit is no terminal record.

use helix_core::agent_event::AgentEvent;
use helix_core::ids::AgentSessionId;
use helix_core::usage::Usage;
use serde_json::{Map, Value};

use super::super::reader::{Ended, Evidence, Reading, Taken, unrecognised};
use super::super::task_ledger::TaskLedger;
use super::record::{Record, TerminalRecord};

/// Reads one run of the embedded agent.
#[derive(Debug, Default)]
pub(super) struct ReplayReader {
    started: bool,
    session: Option<AgentSessionId>,
    /// Whether anything happened since the last terminal record.
    active: bool,
    text: String,
    last: Option<TerminalRecord>,
    usage: Usage,
    tasks: TaskLedger,
}

impl ReplayReader {
    fn event(&mut self, event: AgentEvent, events: &mut Vec<AgentEvent>) {
        self.active = true;
        match &event {
            AgentEvent::Started { session, .. } => {
                self.started = true;
                self.session = session.clone().or_else(|| self.session.take());
            }
            AgentEvent::Text { text, partial: false, parent: None } => {
                if !self.text.is_empty() {
                    self.text.push_str("\n\n");
                }
                self.text.push_str(text);
            }
            AgentEvent::Text { .. }
            | AgentEvent::Thinking { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolFinished { .. }
            | AgentEvent::UsageReported { .. }
            | AgentEvent::RateLimited { .. }
            | AgentEvent::ApiRetry { .. }
            | AgentEvent::Question { .. }
            | AgentEvent::Finished { .. }
            | AgentEvent::Unrecognised { .. } => {}
        }
        events.push(event);
    }

    fn terminal(&mut self, record: TerminalRecord, events: &mut Vec<AgentEvent>) {
        self.usage += record.usage;
        events.push(AgentEvent::Finished {
            answer: record.answer.clone(),
            structured: record.structured.clone(),
            is_error: record.terminal.is_error,
            usage: self.usage,
        });
        if !record.terminal.is_error {
            self.text = record.answer.clone().unwrap_or_default();
        }
        self.active = false;
        self.last = Some(record);
    }
}

impl Reading for ReplayReader {
    fn record(&mut self, object: Map<String, Value>, events: &mut Vec<AgentEvent>) -> Taken {
        let kind = object.get("record").and_then(Value::as_str).unwrap_or_default().to_owned();
        match serde_json::from_value(Value::Object(object)) {
            Ok(Record::Event { event }) => self.event(event, events),
            Ok(Record::TaskBegan { id }) => self.tasks.began(&id),
            Ok(Record::TaskEnded { id, lost: true }) => self.tasks.lost(&id),
            Ok(Record::TaskEnded { id, lost: false }) => self.tasks.ended(&id),
            Ok(Record::Terminal(record)) => self.terminal(*record, events),
            Err(_) => {
                self.active = true;
                events.push(unrecognised(&kind));
            }
        }
        Taken::Whole
    }

    fn evidence(&mut self, _ended: &Ended) -> Evidence {
        Evidence {
            started: self.started,
            active_after_terminal: self.last.is_some() && self.active,
            terminal: self.last.as_ref().map(|record| record.terminal.clone()),
            declared_error: self.last.as_ref().and_then(|record| record.error),
            rate_limit: self.last.as_ref().and_then(|record| record.rate_limit),
            tasks_lost: self.tasks.not_completed(),
        }
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn session(&self) -> Option<&AgentSessionId> {
        self.session.as_ref()
    }

    fn answer(&self) -> &str {
        &self.text
    }
}
