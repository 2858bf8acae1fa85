//! Reads the embedded agent's lines as events and evidence.
//!
//! Must not trust a record that is not whole: one whose fields do not fit is no terminal record.

use helix_core::agent_event::AgentEvent;
use serde_json::{Map, Value};

use super::super::reader::{Gathered, Reading, Taken};
use super::record::{Record, TerminalRecord};

/// Reads one run of the embedded agent.
#[derive(Debug, Default)]
pub(super) struct ReplayReader;

fn event(event: AgentEvent, run: &mut Gathered) {
    run.active = true;
    match &event {
        AgentEvent::Started { session, .. } => {
            run.started = true;
            run.session = session.clone().or_else(|| run.session.take());
        }
        AgentEvent::Text { text, partial: false, parent: None } => {
            if !run.answer.is_empty() {
                run.answer.push_str("\n\n");
            }
            run.answer.push_str(text);
        }
        _ => {}
    }
    run.events.push(event);
}

fn terminal(record: TerminalRecord, run: &mut Gathered) {
    run.usage += record.usage;
    let is_error = record.terminal.is_error;
    if !is_error {
        run.answer = record.answer.clone().unwrap_or_default();
    }
    (run.active, run.terminal) = (false, Some(record.terminal));
    (run.declared_error, run.rate_limit) = (record.error, record.rate_limit);
    let (answer, structured) = (record.answer, record.structured);
    run.events.push(AgentEvent::Finished { answer, structured, is_error, usage: run.usage });
}

impl Reading for ReplayReader {
    fn record(&mut self, object: Map<String, Value>, run: &mut Gathered) -> Taken {
        let kind = object.get("record").and_then(Value::as_str).unwrap_or_default().to_owned();
        match serde_json::from_value(Value::Object(object)) {
            Ok(Record::Event { event: told }) => event(told, run),
            Ok(Record::TaskBegan { id }) => run.tasks.began(&id),
            Ok(Record::TaskEnded { id, lost: true }) => run.tasks.lost(&id),
            Ok(Record::TaskEnded { id, lost: false }) => run.tasks.ended(&id),
            Ok(Record::Terminal(record)) => terminal(*record, run),
            Err(_) => {
                run.active = true;
                run.unrecognised(&kind);
            }
        }
        Taken::Whole
    }
}
