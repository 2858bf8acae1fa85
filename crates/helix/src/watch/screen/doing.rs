//! What the agent of a phase does right now, from the live stream of its events.
//!
//! Must not keep more than is shown: the run's log is the record.

use std::collections::VecDeque;

use helix_core::agent_event::AgentEvent;
use helix_core::ids::JobId;
use helix_job::phrases::{retry_reason, tool_call};
use helix_language::{Language, say};

use crate::terminal::{one_line, plain};

/// Lines that are kept of each phase.
const TAIL: usize = 100;
/// Longest line, in characters.
const LINE: usize = 300;

/// The agent of one phase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Doing {
    /// What it does; nothing before it was heard of, and after its end.
    pub(super) now: Option<String>,
    /// Tokens of its run so far, read and written.
    pub(super) tokens: u64,
    /// What keeps it waiting: a limit of its provider, with its end.
    pub(super) limit: Option<String>,
    /// Its last whole lines.
    pub(super) tail: VecDeque<String>,
    /// The words that it is writing.
    words: String,
}

impl Doing {
    pub(super) fn hear(&mut self, language: Language, job: &JobId, event: &AgentEvent) {
        match event {
            AgentEvent::Started { .. } => {
                *self = Self {
                    now: Some(say!(language, "doing-starts")),
                    tail: std::mem::take(&mut self.tail),
                    ..Self::default()
                };
            }
            AgentEvent::Text { text, partial: true, .. } => {
                self.limit = None;
                self.words.push_str(text);
                let line = self.words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                self.now = Some(format!("“{}", one_line(line, LINE)));
            }
            AgentEvent::Text { text, partial: false, .. } => {
                (self.limit, self.now) = (None, None);
                self.words.clear();
                plain(text).lines().filter(|line| !line.trim().is_empty()).for_each(|line| self.keep(line.to_owned()));
            }
            AgentEvent::TakenBack { .. } => self.words.clear(),
            AgentEvent::Thinking { .. } => {
                self.limit = None;
                self.now = Some(say!(language, "doing-thinks"));
            }
            AgentEvent::ToolStarted { name, input, .. } => {
                self.limit = None;
                self.words.clear();
                let call = tool_call(job, name, input);
                self.keep(call.clone());
                self.now = Some(call);
            }
            AgentEvent::ToolFinished { output, failed, .. } => {
                if *failed {
                    self.keep(format!("  ✗ {}", one_line(output, LINE)));
                }
                self.now = Some(say!(language, "doing-thinks"));
            }
            AgentEvent::UsageReported { usage } => {
                self.tokens = usage.total_input().saturating_add(usage.output_tokens);
            }
            AgentEvent::RateLimited { rejected: true, resets_at } => {
                self.limit = Some(match resets_at {
                    Some(at) => say!(language, "doing-limited-until", at = language.local(*at)),
                    None => say!(language, "doing-limited"),
                });
            }
            AgentEvent::ApiRetry { attempt, max, delay_ms, reason } => {
                #[expect(clippy::cast_precision_loss, reason = "a pause is far below 2^52 milliseconds")]
                let pause = language.duration(*delay_ms as f64 / 1000.0);
                let reason = one_line(&retry_reason(language, reason), 80);
                self.limit = Some(say!(
                    language,
                    "doing-repeats",
                    attempt = *attempt,
                    most = *max,
                    pause = pause,
                    reason = reason
                ));
            }
            AgentEvent::Question { text } => self.keep(format!("? {text}")),
            AgentEvent::Finished { .. } => (self.now, self.limit) = (None, None),
            AgentEvent::RateLimited { rejected: false, .. } | AgentEvent::Unrecognised { .. } => {}
        }
    }

    /// Begins with the last lines of what was done before anybody listened.
    pub(super) fn seed(&mut self, lines: Vec<String>) {
        if self.tail.is_empty() {
            let from = lines.len().saturating_sub(TAIL);
            self.tail = lines.into_iter().skip(from).map(|line| one_line_kept(&line)).collect();
        }
    }

    fn keep(&mut self, line: String) {
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(one_line_kept(&line));
    }
}

/// A line without control characters that keeps its indentation.
fn one_line_kept(line: &str) -> String {
    let indent: String = line.chars().take_while(|letter| *letter == ' ').collect();
    format!("{indent}{}", one_line(line, LINE))
}

#[cfg(test)]
#[path = "doing_test.rs"]
mod tests;
