//! Watches a run for hanging: after its terminal record, or without a sign of work outside tool calls.
//!
//! Must not know processes, files or a clock: it is told what was heard, how far the record was read and what time it is.

use std::collections::HashSet;
use std::time::Duration;

use helix_core::agent_event::AgentEvent;
use helix_core::run::StopCause;
use tokio::time::Instant;

use super::RunTimeouts;

/// How soon is looked again once patience is over and what was written in time is not all read.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What is known of a run's liveliness. Lines are no sign of it: an agent that hangs may go on printing notices, blank lines
/// and pings for hours.
pub(super) struct Watch {
    limits: RunTimeouts,
    tools: HashSet<String>,
    finished: bool,
    stopped: bool,
    /// When patience is over.
    deadline: Instant,
    /// For how long of the silence nobody is told of it.
    quiet: Duration,
    /// When it began.
    since: Instant,
    /// How long the record was when patience was over: that much is heard first, since a reader that was held up may have
    /// signs of work before it.
    until: Option<u64>,
    /// Bytes of the record that were heard, newlines included.
    heard: u64,
}

impl Watch {
    pub(super) fn new(limits: RunTimeouts, now: Instant) -> Self {
        let (tools, deadline) = (HashSet::new(), now + limits.stall);
        let (quiet, since) = (limits.quiet, now);
        Self { limits, tools, finished: false, stopped: false, deadline, quiet, since, until: None, heard: 0 }
    }

    /// Takes an event; whether it is a sign of work.
    pub(super) fn saw(&mut self, event: &AgentEvent) -> Sign {
        match event {
            AgentEvent::ToolStarted { id, .. } => {
                self.tools.insert(id.clone());
            }
            AgentEvent::ToolFinished { id, .. } => {
                self.tools.remove(id);
            }
            AgentEvent::Finished { .. } => self.finished = true,
            // A new turn began: what was said to be finished is not.
            AgentEvent::Started { .. } => self.finished = false,
            AgentEvent::Text { .. }
            | AgentEvent::TakenBack { .. }
            | AgentEvent::Thinking { .. }
            | AgentEvent::UsageReported { .. }
            | AgentEvent::RateLimited { .. }
            | AgentEvent::ApiRetry { .. }
            | AgentEvent::Question { .. } => {}
            AgentEvent::Unrecognised { .. } => return Sign::None,
        }
        Sign::Work
    }

    /// A line of so many bytes was heard, and everybody has been told of it.
    pub(super) fn heard(&mut self, bytes: usize, sign: Sign, now: Instant) {
        self.heard += bytes as u64 + 1;
        match sign {
            Sign::Work => self.begin_anew(now),
            Sign::None => {}
        }
    }

    /// Whether a record of so many bytes was heard as a whole.
    pub(super) fn has_heard(&self, length: u64) -> bool {
        self.heard >= length
    }

    /// When to look at [`Watch::over`] if nothing is heard.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// How far the record was heard, if patience is over although there are lines to hear.
    pub(super) fn overdue(&self, now: Instant) -> Option<u64> {
        (self.may_stop() && now >= self.deadline).then_some(self.heard)
    }

    /// How long the record was when patience was over, if somebody has looked.
    pub(super) fn until(&self) -> Option<u64> {
        self.until
    }

    fn begin_anew(&mut self, now: Instant) {
        let patience = if self.finished { self.limits.linger } else { self.limits.stall };
        (self.deadline, self.until) = (now + patience, None);
        (self.quiet, self.since) = (self.limits.quiet, now);
    }

    /// Whether the next word is the model's.
    pub(super) fn is_model_asked(&self) -> bool {
        self.may_stop() && !self.finished && self.tools.is_empty()
    }

    /// Whether a call has failed so often that the run is to be stopped.
    pub(super) fn is_stuck(&self, repeats: u32) -> bool {
        self.may_stop() && !self.finished && self.limits.repeats.is_some_and(|most| repeats >= most)
    }

    /// When readers are told of the silence.
    pub(super) fn quiet_until(&self) -> Instant {
        self.since + self.quiet
    }

    /// How long the silence is that is told now. It is told again when it has doubled.
    pub(super) fn still_quiet(&mut self) -> Duration {
        let so_far = self.quiet;
        self.quiet *= 2;
        so_far
    }

    /// Whether nothing has been asked of the run yet: a run is stopped once, its keeper does the rest.
    pub(super) fn may_stop(&self) -> bool {
        !self.stopped
    }

    pub(super) fn stopped(&mut self) {
        self.stopped = true;
    }

    /// Patience is over, with so many bytes of the record heard and `until` there to be heard. What that means, unless the
    /// rest has to be heard first. A tool that runs begins it anew.
    pub(super) fn over(&mut self, heard: u64, until: u64, now: Instant) -> Option<StopCause> {
        if heard < until {
            (self.deadline, self.until) = (now + LOOK_AGAIN, Some(until));
            return None;
        }
        match (self.finished, self.tools.is_empty()) {
            (true, _) => Some(StopCause::Lingered),
            (false, true) => Some(StopCause::Stalled),
            // A tool may be silent as long as its own time limit lets it; the run's deadline still holds.
            (false, false) => {
                self.begin_anew(now);
                None
            }
        }
    }
}

/// Whether something shows that the agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Work,
    None,
}

impl Sign {
    pub(super) fn or(self, other: Self) -> Self {
        match self {
            Self::Work => self,
            Self::None => other,
        }
    }
}

#[cfg(test)]
#[path = "watch_test.rs"]
mod watch_test;
