//! Reads the CLI's JSON lines: every line becomes events, and all of them together the evidence of the run.
//!
//! Must not depend on the order of keys or on lines being short, and must not drop what it does not know.

use helix_core::agent_event::{AgentEvent, SaidAnew};
use helix_core::run::{AgentErrorKind, TerminalReason};
use serde_json::{Map, Value};

use super::super::fragments::{Channel, Fragments, Part, text_event};
use super::super::reader::{Ended, Gathered, Reading, Taken};
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
    turn: Turn,
    last: Option<LastRecord>,
    fragments: Fragments,
    ledger: UsageLedger,
}

/// The turn under way: since the last terminal record, or since the start.
#[derive(Debug, Default)]
struct Turn {
    /// The error that its last message declared; a message without one afterwards means that the agent got over it.
    error: Option<AgentErrorKind>,
    /// Whether a hook kept the prompt from the model: the record that follows says of that only words.
    kept_back: bool,
    text: String,
    /// Where in it the last message begins.
    message: usize,
    /// The reason that its last message ended with.
    ended_by: Option<String>,
    /// Whether what the model says next is a text of its own.
    begins_paragraph: bool,
}

/// What the turn of the last terminal record ended with.
#[derive(Debug)]
struct LastRecord {
    error: Option<AgentErrorKind>,
    reason: Option<TerminalReason>,
    /// The record's text if it is no error, else the turn's.
    answer: String,
}

impl Turn {
    fn begin_message(&mut self, run: &mut Gathered) {
        let ended_by = self.ended_by.take();
        if ended_by.as_deref() == Some("refusal") {
            // The CLI asks once more; its answer is what comes then.
            run.took_back(self.text.split_off(self.message), SaidAnew::Stopped, None);
            self.begins_paragraph = false;
        } else {
            // Tools stand between texts already; the others go on in the middle of a sentence. A message without an end whose
            // text is whole broke off behind it.
            let goes_on = |reason: &str| ["tool_use", "max_tokens", "pause_turn"].contains(&reason);
            self.begins_paragraph |= match ended_by.as_deref() {
                Some(reason) => !goes_on(reason),
                None => self.text.len() > self.message,
            };
        }
        self.message = self.text.len();
    }
}

impl ClaudeReader {
    fn system(&mut self, record: &Map<String, Value>, run: &mut Gathered) {
        let subtype = text(record, "subtype").unwrap_or_default();
        match subtype {
            "init" => {
                run.worked();
                // The session that `init` announces is the one to resume, also where hooks ran under another id before.
                run.name_session(text(record, "session_id"));
                run.events.push(AgentEvent::Started {
                    session: run.session.clone(),
                    model: text(record, "model").map(str::to_owned),
                    version: text(record, "claude_code_version").map(str::to_owned),
                });
            }
            "api_retry" => run.events.push(AgentEvent::ApiRetry {
                attempt: terminal::count(record.get("attempt")),
                max: terminal::count(record.get("max_retries")),
                delay_ms: milliseconds(record.get("retry_delay_ms")),
                reason: retry_reason(record),
            }),
            _ => {
                if subtype == "informational" && record.get("prevent_continuation") == Some(&Value::Bool(true)) {
                    self.turn.kept_back = true;
                }
                run.compacted |= subtype == "compact_boundary";
                task(subtype, record, run);
                run.unrecognised(&format!("system/{subtype}"));
            }
        }
    }

    fn assistant(&mut self, mut record: Map<String, Value>, run: &mut Gathered) {
        let parent = taken_text(&mut record, "parent_tool_use_id");
        let point = text(&record, "uuid").map(str::to_owned);
        let error = text(&record, "error").map(|word| (terminal::declared_error(word), word.to_owned()));
        let Some(Value::Object(mut body)) = record.remove("message") else {
            run.unrecognised("assistant without message");
            main_activity(parent.as_deref(), run);
            return;
        };
        let synthetic = text(&body, "model") == Some(SYNTHETIC_MODEL);
        if parent.is_none() {
            run.worked();
            self.turn.error = error.as_ref().map(|(kind, _)| *kind);
        }
        if let Some((_, word)) = error {
            // Its text is the CLI's report of the failure: never a part of the answer.
            return run.unrecognised(&format!("assistant error {word}"));
        }
        if synthetic {
            return run.unrecognised("assistant synthetic");
        }
        if parent.is_none() && point.is_some() {
            run.point = point;
        }
        if let (Some(id), Some(usage)) = (text(&body, "id"), body.get("usage")) {
            self.ledger.message(id, usage);
            if self.ledger.total() != run.usage {
                self.report_usage(run);
            }
        }
        let content = body.remove("content").unwrap_or_default();
        let so_far = &mut self.turn.text;
        message::of_model(content, parent.as_deref(), &mut self.fragments, run, &mut |text| {
            let room = TEXT_SO_FAR_LIMIT.saturating_sub(so_far.len());
            if !so_far.is_empty() {
                so_far.push_str("\n\n");
            }
            so_far.push_str(&text[..text.floor_char_boundary(room)]);
        });
    }

    fn stream_event(&mut self, mut record: Map<String, Value>, run: &mut Gathered) {
        let parent = taken_text(&mut record, "parent_tool_use_id");
        main_activity(parent.as_deref(), run);
        let Some(Value::Object(mut event)) = record.remove("event") else { return run.unrecognised("stream_event") };
        let kind = taken_text(&mut event, "type").unwrap_or_default();
        match kind.as_str() {
            "content_block_delta" => self.delta(event, parent.as_deref(), run),
            "message_start" => {
                // What has no whole text by now broke off, and is said anew.
                run.took_back(self.fragments.forget(parent.as_deref()), SaidAnew::Disconnected, parent.as_deref());
                if parent.is_none() {
                    self.turn.begin_message(run);
                }
            }
            "message_delta" => {
                if parent.is_some() {
                    return;
                }
                let reason = event.get("delta").and_then(|delta| delta.get("stop_reason")).and_then(Value::as_str);
                self.turn.ended_by = reason.map(str::to_owned);
                if let Some(usage) = event.get("usage") {
                    self.ledger.message_delta(usage);
                    self.report_usage(run);
                }
            }
            // Their content comes again in whole messages.
            "content_block_start" | "content_block_stop" | "message_stop" => run.pieces += 1,
            "ping" => {}
            other => run.unrecognised(&format!("stream_event/{other}")),
        }
    }

    fn delta(&mut self, mut event: Map<String, Value>, parent: Option<&str>, run: &mut Gathered) {
        let Some(Value::Object(mut delta)) = event.remove("delta") else {
            return run.unrecognised("stream_event/content_block_delta");
        };
        let kind = taken_text(&mut delta, "type").unwrap_or_default();
        let (channel, field) = match kind.as_str() {
            "text_delta" => (Channel::Text, "text"),
            "thinking_delta" => (Channel::Thinking, "thinking"),
            "input_json_delta" | "signature_delta" | "citations_delta" => {
                run.pieces += 1;
                return;
            }
            other => return run.unrecognised(&format!("stream_event/{other}")),
        };
        let fragment = taken_text(&mut delta, field).unwrap_or_default();
        if !fragment.is_empty() {
            let mut shown = self.fragments.add(channel, parent, &fragment);
            if channel == Channel::Text && parent.is_none() && std::mem::take(&mut self.turn.begins_paragraph) {
                shown.insert_str(0, "\n\n");
            }
            if shown.is_empty() {
                run.pieces += 1;
            } else {
                run.events.push(text_event(channel, shown, Part::Fragment, parent));
            }
        }
    }

    fn result(&mut self, mut record: Map<String, Value>, run: &mut Gathered) {
        let mut terminal = terminal::terminal(&record);
        // A record that follows another one at once repeats it.
        let before = self.last.as_ref().filter(|_| !run.active);
        let kept_back = before.is_some_and(|last| last.reason == Some(TerminalReason::HookStopped));
        if terminal.reason.is_none() && (self.turn.kept_back || kept_back) {
            terminal.reason = Some(TerminalReason::HookStopped);
        }
        let repeated = before.and_then(|last| last.error);
        self.ledger.settle(&record, terminal.turns);
        run.usage = self.ledger.total();
        run.active = false;
        if terminal::is_empty_follow_up(&record) {
            // It closes nothing but itself: the record before it stays the last word.
            self.turn = Turn::default();
            return run.unrecognised("result/empty follow-up");
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
        run.events.push(AgentEvent::Finished { answer, structured, is_error: terminal.is_error, usage: run.usage });
        self.turn = Turn::default();
        self.last = Some(LastRecord { error, reason: terminal.reason.clone(), answer: kept });
        run.terminal = Some(terminal);
    }

    fn report_usage(&self, run: &mut Gathered) {
        run.usage = self.ledger.total();
        run.events.push(AgentEvent::UsageReported { usage: run.usage });
    }
}

impl Reading for ClaudeReader {
    fn record(&mut self, mut record: Map<String, Value>, run: &mut Gathered) -> Taken {
        let kind = taken_text(&mut record, "type").unwrap_or_default();
        if run.session.is_none() {
            run.name_session(text(&record, "session_id"));
        }
        match kind.as_str() {
            "system" => self.system(&record, run),
            "assistant" => self.assistant(record, run),
            "user" => user(record, run),
            "stream_event" => self.stream_event(record, run),
            "result" => self.result(record, run),
            "rate_limit_event" => {
                let limit = terminal::rate_limit(record.get("rate_limit_info").unwrap_or(&Value::Null));
                run.rate_limit = Some(limit);
                run.events.push(AgentEvent::RateLimited { rejected: limit.rejected, resets_at: limit.resets_at });
            }
            other => run.unrecognised(other),
        }
        Taken::Whole
    }

    fn finish(&mut self, _ended: &Ended, run: &mut Gathered) {
        if run.active && !self.fragments.unfinished().is_empty() {
            let unfinished = self.fragments.unfinished().to_owned();
            self.turn.text = joined(std::mem::take(&mut self.turn.text), &unfinished);
            self.fragments.forget(None);
        }
        run.declared_error = self.last.as_ref().map_or(self.turn.error, |last| last.error);
        run.answer = match &self.last {
            Some(last) if !run.active => last.answer.clone(),
            Some(_) | None => self.turn.text.clone(),
        };
    }
}

/// Work of the run itself, as against that of sub-agents.
fn main_activity(parent: Option<&str>, run: &mut Gathered) {
    if parent.is_none() {
        run.worked();
    }
}

fn user(mut record: Map<String, Value>, run: &mut Gathered) {
    let parent = taken_text(&mut record, "parent_tool_use_id");
    main_activity(parent.as_deref(), run);
    match record.remove("message") {
        Some(Value::Object(mut body)) => message::of_user(body.remove("content").unwrap_or_default(), run),
        _ => run.unrecognised("user without message"),
    }
}

fn task(subtype: &str, record: &Map<String, Value>, run: &mut Gathered) {
    let Some(id) = text(record, "task_id") else { return };
    run.pieces += 1;
    let foreground = record.get("is_backgrounded") == Some(&Value::Bool(false));
    let status = match subtype {
        "task_started" if !foreground => return run.tasks.began(id),
        "task_notification" => text(record, "status"),
        "task_updated" => record.get("patch").and_then(|patch| patch.get("status")).and_then(Value::as_str),
        _ => None,
    };
    match status {
        Some("completed") => run.tasks.ended(id),
        Some("stopped" | "failed" | "killed") => run.tasks.lost(id),
        _ => {}
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
        Some(status) if word == "unknown" => format!("HTTP {status}"),
        Some(status) => format!("{word} ({status})"),
        None => word.to_owned(),
    }
}
