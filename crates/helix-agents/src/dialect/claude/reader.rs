//! Reads the CLI's JSON lines: every line becomes events, and all of them together the evidence of the run.
//!
//! Must not depend on the order of keys or on lines being short, and must not drop what it does not know.

use helix_core::agent_event::AgentEvent;
use helix_core::ids::AgentSessionId;
use helix_core::run::{AgentErrorKind, RateLimit, Terminal, TerminalReason};
use helix_core::usage::Usage;
use serde_json::{Map, Value};

use super::super::fragments::{Channel, Fragments, Part, text_event};
use super::super::reader::{Ended, Evidence, Reading, Taken, unrecognised};
use super::super::task_ledger::TaskLedger;
use super::message::{self, taken_text};
use super::terminal;
use super::usage_ledger::UsageLedger;

/// Most text that is kept of a turn which has no terminal record yet.
const TEXT_SO_FAR_LIMIT: usize = 4 * 1024 * 1024;

/// Model name of messages that the CLI wrote itself, such as the texts of API errors.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// Reads one run of Claude Code.
#[derive(Debug, Default)]
pub(super) struct ClaudeReader {
    started: bool,
    session: Option<AgentSessionId>,
    /// The last message of the main agent that a model wrote.
    point: Option<String>,
    turn: Turn,
    last: Option<LastRecord>,
    rate_limit: Option<RateLimit>,
    tasks: TaskLedger,
    fragments: Fragments,
    ledger: UsageLedger,
    /// Lines that showed work without an event.
    pieces: u64,
}

/// The turn under way: since the last terminal record, or since the start.
#[derive(Debug, Default)]
struct Turn {
    /// Whether anything of it was seen.
    active: bool,
    /// The error that its last message declared; a message without one afterwards means that the agent got over it.
    error: Option<AgentErrorKind>,
    /// Whether a hook kept the prompt from the model: the record that follows says of that only words.
    kept_back: bool,
    /// Its text.
    text: String,
}

/// A terminal record and what its turn ended with.
#[derive(Debug)]
struct LastRecord {
    terminal: Terminal,
    error: Option<AgentErrorKind>,
    /// The record's text if it is no error, else the turn's.
    answer: String,
}

impl ClaudeReader {
    fn system(&mut self, record: &Map<String, Value>, events: &mut Vec<AgentEvent>) {
        let subtype = text(record, "subtype").unwrap_or_default();
        match subtype {
            "init" => {
                self.main_activity(None);
                // The session that `init` announces is the one to resume, also where hooks ran under another id before.
                self.session = text(record, "session_id")
                    .and_then(|id| AgentSessionId::new(id).ok())
                    .or_else(|| self.session.take());
                events.push(AgentEvent::Started {
                    session: self.session.clone(),
                    model: text(record, "model").map(str::to_owned),
                    version: text(record, "claude_code_version").map(str::to_owned),
                });
            }
            "api_retry" => events.push(AgentEvent::ApiRetry {
                attempt: terminal::count(record.get("attempt")),
                max: terminal::count(record.get("max_retries")),
                delay_ms: milliseconds(record.get("retry_delay_ms")),
                reason: retry_reason(record),
            }),
            _ => {
                if subtype == "informational" && record.get("prevent_continuation") == Some(&Value::Bool(true)) {
                    self.turn.kept_back = true;
                }
                self.task(subtype, record);
                events.push(unrecognised(&format!("system/{subtype}")));
            }
        }
    }

    fn task(&mut self, subtype: &str, record: &Map<String, Value>) {
        let Some(id) = text(record, "task_id") else { return };
        self.pieces += 1;
        let foreground = record.get("is_backgrounded") == Some(&Value::Bool(false));
        let status = match subtype {
            "task_started" if !foreground => return self.tasks.began(id),
            "task_notification" => text(record, "status"),
            "task_updated" => record.get("patch").and_then(|patch| patch.get("status")).and_then(Value::as_str),
            _ => None,
        };
        match status {
            Some("completed") => self.tasks.ended(id),
            Some("stopped" | "failed" | "killed") => self.tasks.lost(id),
            _ => {}
        }
    }

    fn assistant(&mut self, mut record: Map<String, Value>, events: &mut Vec<AgentEvent>) {
        let parent = taken_text(&mut record, "parent_tool_use_id");
        let point = text(&record, "uuid").map(str::to_owned);
        let error = text(&record, "error").map(|word| (terminal::declared_error(word), word.to_owned()));
        let Some(Value::Object(mut body)) = record.remove("message") else {
            events.push(unrecognised("assistant without message"));
            self.main_activity(parent.as_deref());
            return;
        };
        let synthetic = text(&body, "model") == Some(SYNTHETIC_MODEL);
        if parent.is_none() {
            self.main_activity(None);
            self.turn.error = error.as_ref().map(|(kind, _)| *kind);
        }
        if let Some((_, word)) = error {
            // Its text is the CLI's report of the failure: never a part of the answer.
            events.push(unrecognised(&format!("assistant error {word}")));
            return;
        }
        if synthetic {
            events.push(unrecognised("assistant synthetic"));
            return;
        }
        if parent.is_none() && point.is_some() {
            self.point = point;
        }
        if let (Some(id), Some(usage)) = (text(&body, "id"), body.get("usage")) {
            let before = self.ledger.total();
            self.ledger.message(id, usage);
            let usage = self.ledger.total();
            if usage != before {
                events.push(AgentEvent::UsageReported { usage });
            }
        }
        let content = body.remove("content").unwrap_or_default();
        let so_far = &mut self.turn.text;
        message::of_model(content, parent.as_deref(), &mut self.fragments, events, &mut |text| {
            let room = TEXT_SO_FAR_LIMIT.saturating_sub(so_far.len());
            if !so_far.is_empty() {
                so_far.push_str("\n\n");
            }
            so_far.push_str(&text[..text.floor_char_boundary(room)]);
        });
    }

    fn user(&mut self, mut record: Map<String, Value>, events: &mut Vec<AgentEvent>) {
        let parent = taken_text(&mut record, "parent_tool_use_id");
        self.main_activity(parent.as_deref());
        match record.remove("message") {
            Some(Value::Object(mut body)) => {
                message::of_user(body.remove("content").unwrap_or_default(), events);
            }
            _ => events.push(unrecognised("user without message")),
        }
    }

    fn stream_event(&mut self, mut record: Map<String, Value>, events: &mut Vec<AgentEvent>) {
        let parent = taken_text(&mut record, "parent_tool_use_id");
        self.main_activity(parent.as_deref());
        let Some(Value::Object(mut event)) = record.remove("event") else {
            events.push(unrecognised("stream_event"));
            return;
        };
        let kind = taken_text(&mut event, "type").unwrap_or_default();
        match kind.as_str() {
            "content_block_delta" => self.delta(event, parent.as_deref(), events),
            "message_start" => self.fragments.forget(parent.as_deref()),
            "message_delta" => {
                if let (None, Some(usage)) = (&parent, event.get("usage")) {
                    self.ledger.message_delta(usage);
                    events.push(AgentEvent::UsageReported { usage: self.ledger.total() });
                }
            }
            // Their content comes again in whole messages.
            "content_block_start" | "content_block_stop" | "message_stop" => self.pieces += 1,
            "ping" => {}
            other => events.push(unrecognised(&format!("stream_event/{other}"))),
        }
    }

    fn delta(&mut self, mut event: Map<String, Value>, parent: Option<&str>, events: &mut Vec<AgentEvent>) {
        let Some(Value::Object(mut delta)) = event.remove("delta") else {
            events.push(unrecognised("stream_event/content_block_delta"));
            return;
        };
        let kind = taken_text(&mut delta, "type").unwrap_or_default();
        let (channel, field) = match kind.as_str() {
            "text_delta" => (Channel::Text, "text"),
            "thinking_delta" => (Channel::Thinking, "thinking"),
            "input_json_delta" | "signature_delta" | "citations_delta" => {
                self.pieces += 1;
                return;
            }
            other => return events.push(unrecognised(&format!("stream_event/{other}"))),
        };
        let fragment = taken_text(&mut delta, field).unwrap_or_default();
        if !fragment.is_empty() {
            self.fragments.add(channel, parent, &fragment);
            events.push(text_event(channel, fragment, Part::Fragment, parent));
        }
    }

    fn result(&mut self, mut record: Map<String, Value>, events: &mut Vec<AgentEvent>) {
        let mut terminal = terminal::terminal(&record);
        // A record that follows another one at once repeats it.
        let before = self.last.as_ref().filter(|_| !self.turn.active);
        let kept_back = before.is_some_and(|last| last.terminal.reason == Some(TerminalReason::HookStopped));
        if terminal.reason.is_none() && (self.turn.kept_back || kept_back) {
            terminal.reason = Some(TerminalReason::HookStopped);
        }
        let repeated = before.and_then(|last| last.error);
        self.ledger.settle(&record, terminal.turns);
        if terminal::is_empty_follow_up(&record) {
            // It closes nothing but itself: the record before it stays the last word.
            self.turn = Turn::default();
            events.push(unrecognised("result/empty follow-up"));
            return;
        }
        let error = self.turn.error.or(repeated).or_else(|| terminal::error_of_record(&record));
        let answer = taken_text(&mut record, "result");
        let structured = record.remove("structured_output").filter(|output| !output.is_null());
        let kept = if terminal.is_error {
            joined(std::mem::take(&mut self.turn.text), self.fragments.unfinished())
        } else {
            answer.clone().unwrap_or_default()
        };
        self.fragments.forget(None);
        events.push(AgentEvent::Finished {
            answer,
            structured,
            is_error: terminal.is_error,
            usage: self.ledger.total(),
        });
        self.turn = Turn::default();
        self.last = Some(LastRecord { terminal, error, answer: kept });
    }

    /// Work of the run itself, as against that of sub-agents. After a terminal record it means that a further turn began.
    fn main_activity(&mut self, parent: Option<&str>) {
        if parent.is_none() {
            (self.started, self.turn.active) = (true, true);
        }
    }
}

impl Reading for ClaudeReader {
    fn record(&mut self, mut record: Map<String, Value>, events: &mut Vec<AgentEvent>) -> Taken {
        let kind = taken_text(&mut record, "type").unwrap_or_default();
        if self.session.is_none() {
            self.session = text(&record, "session_id").and_then(|id| AgentSessionId::new(id).ok());
        }
        match kind.as_str() {
            "system" => self.system(&record, events),
            "assistant" => self.assistant(record, events),
            "user" => self.user(record, events),
            "stream_event" => self.stream_event(record, events),
            "result" => self.result(record, events),
            "rate_limit_event" => {
                let limit = terminal::rate_limit(record.get("rate_limit_info").unwrap_or(&Value::Null));
                self.rate_limit = Some(limit);
                events.push(AgentEvent::RateLimited { rejected: limit.rejected, resets_at: limit.resets_at });
            }
            other => events.push(unrecognised(other)),
        }
        Taken::Whole
    }

    fn evidence(&mut self, _ended: &Ended) -> Evidence {
        if self.turn.active && !self.fragments.unfinished().is_empty() {
            let unfinished = self.fragments.unfinished().to_owned();
            self.turn.text = joined(std::mem::take(&mut self.turn.text), &unfinished);
            self.fragments.forget(None);
        }
        Evidence {
            started: self.started,
            active_after_terminal: self.last.is_some() && self.turn.active,
            terminal: self.last.as_ref().map(|last| last.terminal.clone()),
            declared_error: match &self.last {
                Some(last) => last.error,
                None => self.turn.error,
            },
            rate_limit: self.rate_limit,
            tasks_lost: self.tasks.not_completed(),
        }
    }

    fn pieces(&self) -> u64 {
        self.pieces
    }

    fn usage(&self) -> Usage {
        self.ledger.total()
    }

    fn session(&self) -> Option<&AgentSessionId> {
        self.session.as_ref()
    }

    fn point(&self) -> Option<&str> {
        self.point.as_deref()
    }

    fn answer(&self) -> &str {
        match &self.last {
            Some(last) if !self.turn.active => &last.answer,
            Some(_) | None => &self.turn.text,
        }
    }
}

fn text<'a>(record: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    record.get(name).and_then(Value::as_str)
}

fn joined(mut text: String, more: &str) -> String {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
    text
}

fn milliseconds(value: Option<&Value>) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a saturating cast of a fraction is what is wanted"
    )]
    let rounded = |number: f64| number as u64;
    value.and_then(|value| value.as_u64().or_else(|| value.as_f64().map(rounded))).unwrap_or_default()
}

fn retry_reason(record: &Map<String, Value>) -> String {
    let word = text(record, "error").unwrap_or("unknown");
    match record.get("error_status").filter(|status| !status.is_null()) {
        Some(status) => format!("{word} ({status})"),
        None => word.to_owned(),
    }
}
