//! Turns what the agent does into what the user sees, and remembers what that was.
//!
//! Must not know who listens, nor whether anybody does: a turn goes on when its listener is gone.

use std::time::Duration;

use helix_core::agent_event::{AgentEvent, SaidAnew};
use helix_core::step_marker::{Marker, MarkerFilter};
use helix_job::Wait;
use helix_job::session::Delivery;
use helix_language::Language;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::agent_words::{self, AgentWords};
use super::{TurnEnded, TurnEvent, phrases};
use helix_project::save_check::SavedKind;
use helix_runs::agent_run::Listener;

/// How long a listener may take nothing before it counts as gone: a client that is there but reads nothing must not keep its
/// session, and an agent's place, forever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Most text of an answer that is shown, in bytes; the run's own record has all of it.
const SHOWN_LIMIT: usize = 4 * 1024 * 1024;

/// Most text that waits for a check, in bytes. A longer answer is shown unchecked.
const HELD_LIMIT: usize = SHOWN_LIMIT;

/// Hears the agent for a turn.
pub(super) struct TurnOutput {
    listener: Option<mpsc::Sender<TurnEvent>>,
    disconnected: CancellationToken,
    language: Language,
    patience: Duration,
    filter: MarkerFilter,
    words: AgentWords,
    shown: String,
    /// Whether the limit is reached: nothing more is shown.
    is_full: bool,
    /// Whether the client shows the words as they come.
    is_read_along: bool,
    /// All text that such a client has, where some of it was taken back.
    read: Option<String>,
    /// Whether the agent did something else since its last words: more of them begin a paragraph.
    between: bool,
    /// Line breaks at the end of the agent's words.
    breaks: usize,
    /// Whether activity has words already.
    has_thought: bool,
    /// Whether the agent did something else since its last thought: another one begins a paragraph.
    between_thoughts: bool,
    showing: Showing,
    /// Whether what a run says about drafts waits for their check.
    checks_drafts: bool,
}

/// What becomes of the agent's words.
enum Showing {
    /// They are shown at once.
    AsTheyCome,
    /// They wait for a check of the drafts that they are about.
    AfterCheck(String),
    /// They are no answer of their own, and go where activity is shown.
    Aside,
}

impl TurnOutput {
    /// Output to a client.
    pub(super) fn to_client(
        listener: mpsc::Sender<TurnEvent>,
        disconnected: CancellationToken,
        language: Language,
    ) -> Self {
        Self { listener: Some(listener), disconnected, ..Self::without_client(language) }
    }

    /// Output of a turn that nobody reads; what is recorded of it is in this language.
    pub(super) fn without_client(language: Language) -> Self {
        let disconnected = CancellationToken::new();
        disconnected.cancel();
        Self {
            listener: None,
            disconnected,
            language,
            patience: PATIENCE,
            filter: MarkerFilter::default(),
            words: AgentWords::default(),
            shown: String::new(),
            is_full: false,
            is_read_along: true,
            read: None,
            between: false,
            breaks: 0,
            has_thought: false,
            between_thoughts: false,
            showing: Showing::AsTheyCome,
            checks_drafts: false,
        }
    }

    /// Whether the client shows the words as they come, and keeps those that are taken back.
    pub(super) fn is_read_along(&mut self, is_read_along: bool) {
        self.is_read_along = is_read_along;
    }

    /// The reader's language.
    pub(super) fn language(&self) -> Language {
        self.language
    }

    pub(super) async fn tell(&mut self, event: TurnEvent) {
        let TurnEvent::Text { mut text } = event else { return self.send(event).await };
        if self.is_full {
            return;
        }
        let room = SHOWN_LIMIT.saturating_sub(self.shown.len());
        self.is_full = text.len() > room;
        text.truncate(text.floor_char_boundary(room));
        self.shown.push_str(&text);
        if let Some(read) = &mut self.read {
            read.push_str(&text);
        }
        self.send(TurnEvent::Text { text }).await;
        if self.is_full {
            self.send(TurnEvent::Note { text: phrases::too_long(self.language, SHOWN_LIMIT) }).await;
        }
    }

    /// The turn goes on and its answer is kept, whether or not the client is still there.
    async fn send(&mut self, event: TurnEvent) {
        self.has_thought |= matches!(event, TurnEvent::Thinking { .. });
        let Some(listener) = &self.listener else { return };
        match tokio::time::timeout(self.patience, listener.send(event)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => self.listener = None,
            Err(_) => {
                tracing::warn!("a client has read nothing for {:?}; its turn goes on without it", self.patience);
                self.listener = None;
            }
        }
    }

    /// Says the last of a run's text: what might have become a marker and did not. Must precede [`TurnOutput::shown`].
    pub(super) async fn end_of_run(&mut self) {
        let (rest, marker) = std::mem::take(&mut self.filter).finish();
        if marker != Marker::Absent {
            // The line breaks around it went with it.
            self.breaks = 0;
        }
        let rest = self.words.push(&rest);
        self.say(rest).await;
        self.end_of_words().await;
        self.between = true;
    }

    /// Says what might have become words of Helix: something else comes.
    async fn end_of_words(&mut self) {
        let rest = self.words.rest();
        self.say(rest).await;
    }

    /// From now on, what the agent says after it has written an ADR or a plan waits for [`TurnOutput::release`].
    pub(super) fn check_drafts(&mut self) {
        self.checks_drafts = true;
    }

    /// From now on, what the agent says is activity and no answer.
    pub(super) fn aside(&mut self) {
        self.showing = Showing::Aside;
    }

    /// From now on, what the agent says is shown at once.
    pub(super) fn as_it_comes(&mut self) {
        self.showing = Showing::AsTheyCome;
    }

    /// Whether words wait for a check.
    pub(super) fn is_holding(&self) -> bool {
        matches!(&self.showing, Showing::AfterCheck(held) if !held.is_empty())
    }

    /// Shows the words that waited.
    pub(super) async fn release(&mut self) {
        if let Some(text) = self.take_held() {
            self.tell(TurnEvent::Text { text }).await;
        }
    }

    /// Tells the words that waited as activity: they are replaced by others.
    pub(super) async fn withdraw(&mut self) {
        if let Some(text) = self.take_held() {
            let above = if self.has_thought { "\n\n" } else { "" };
            let text = format!("{above}{}", text.trim_start_matches('\n'));
            self.tell(TurnEvent::Thinking { text }).await;
        }
    }

    fn take_held(&mut self) -> Option<String> {
        match std::mem::replace(&mut self.showing, Showing::AsTheyCome) {
            Showing::AfterCheck(text) => Some(text).filter(|text| !text.is_empty()),
            Showing::AsTheyCome | Showing::Aside => None,
        }
    }

    async fn say(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        match &mut self.showing {
            Showing::AsTheyCome => self.tell(TurnEvent::Text { text }).await,
            Showing::AfterCheck(held) if held.len() + text.len() <= HELD_LIMIT => held.push_str(&text),
            Showing::AfterCheck(_) => {
                self.release().await;
                self.tell(TurnEvent::Text { text }).await;
            }
            Showing::Aside => self.tell(TurnEvent::Thinking { text }).await,
        }
    }

    /// Whether a tool call writes an ADR or a plan. Reading tools name files, too.
    fn writes_draft(tool: &str, input: &serde_json::Value) -> bool {
        let text = |key: &str| input.get(key).and_then(serde_json::Value::as_str);
        let content = text("content").or_else(|| text("text")).unwrap_or_default();
        let path = text("file_path").filter(|_| tool != "Read");
        path.is_some_and(|path| SavedKind::detect(std::path::Path::new(path), content).is_some())
    }

    /// All text that was shown so far.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The same as a client has it that read along.
    pub(super) fn read(&self) -> Option<&str> {
        self.read.as_deref()
    }

    /// Takes the last words back: the agent says them anew.
    async fn take_back(&mut self, text: &str, reason: SaidAnew) {
        // What the filter holds back was never told.
        let (held, _marker) = std::mem::take(&mut self.filter).finish();
        let held = self.words.rest() + &held;
        let told = text.strip_suffix(held.as_str()).unwrap_or(text);
        if told.trim().is_empty() {
            return;
        }
        let so_far = match &self.showing {
            Showing::AsTheyCome => &self.shown,
            Showing::AfterCheck(held) => held,
            Showing::Aside => return,
        };
        let mut markers = MarkerFilter::default();
        let told = markers.push(told) + &markers.finish().0;
        let told = agent_words::of_whole(&told);
        let before = begin_of(&told, so_far).unwrap_or(so_far.len());
        (self.between, self.breaks) = (true, before - so_far[..before].trim_end_matches('\n').len());
        match &mut self.showing {
            Showing::AfterCheck(held) => held.truncate(before),
            _ => self.retract(before, reason).await,
        }
    }

    /// Takes back what was shown from this byte on.
    async fn retract(&mut self, from: usize, reason: SaidAnew) {
        if self.is_read_along {
            self.read.get_or_insert_with(|| self.shown.clone());
        }
        let text = self.shown.split_off(from);
        self.send(TurnEvent::TakenBack { text, reason }).await;
    }

    /// Shows an answer in the place of a refused one, if that was shown.
    pub(super) async fn replace(&mut self, refused: Option<&str>, mut answer: String) {
        if !self.shown.trim().is_empty() {
            let before = refused.and_then(|refused| self.shown.trim_end().strip_suffix(refused.trim())).map(str::len);
            self.retract(before.unwrap_or(self.shown.len()), SaidAnew::Refused).await;
            self.is_full = false;
            let breaks = self.shown.len() - self.shown.trim_end_matches('\n').len();
            if !self.is_read_along && !self.shown.is_empty() {
                // Nothing else stands between the two there.
                answer.insert_str(0, &"\n".repeat(2_usize.saturating_sub(breaks)));
            }
        }
        self.tell(TurnEvent::Text { text: answer }).await;
    }

    /// A piece of the agent's words; where it did something else since the last, it begins a paragraph.
    fn spaced(&mut self, text: String) -> String {
        let is_first = match &self.showing {
            Showing::Aside => !self.has_thought,
            Showing::AfterCheck(held) if !held.trim().is_empty() => false,
            Showing::AfterCheck(_) | Showing::AsTheyCome => self.shown.trim().is_empty(),
        };
        let between = std::mem::take(&mut self.between) && !is_first && !text.starts_with('\n');
        let gap = if between { 2_usize.saturating_sub(self.breaks) } else { 0 };
        let words = text.trim_end_matches('\n').len();
        self.breaks = text.len() - words + if words == 0 { self.breaks } else { 0 };
        if gap > 0 { "\n".repeat(gap) + &text } else { text }
    }

    /// Whether somebody reads the answer to its end.
    pub(super) fn delivery(&self) -> Delivery {
        match &self.listener {
            Some(listener) if !self.disconnected.is_cancelled() && !listener.is_closed() => Delivery::Delivered,
            Some(_) | None => Delivery::Undelivered,
        }
    }

    pub(super) async fn finish(mut self, ended: TurnEnded) {
        self.end_of_run().await;
        self.tell(TurnEvent::Ended(Box::new(ended))).await;
    }
}

impl Listener for TurnOutput {
    async fn waits(&mut self, wait: Wait) {
        self.tell(TurnEvent::Status { text: phrases::waits(self.language, &wait) }).await;
    }

    async fn silent(&mut self, so_far: Duration, limit: Duration) {
        self.tell(TurnEvent::Status { text: phrases::silent(self.language, so_far, limit) }).await;
    }

    async fn hear(&mut self, event: AgentEvent) {
        let shown = match event {
            // Whole texts repeat their fragments; what sub-agents say among themselves is not the answer.
            AgentEvent::Text { text, partial: true, parent: None } => {
                self.between_thoughts = true;
                let text = self.spaced(text);
                let text = self.filter.push(&text);
                let text = self.words.push(&text);
                return self.say(text).await;
            }
            AgentEvent::TakenBack { text, reason, parent: None } => return self.take_back(&text, reason).await,
            AgentEvent::Thinking { text, partial: true, parent: None } => {
                self.end_of_words().await;
                self.between = true;
                let begins = std::mem::take(&mut self.between_thoughts) && self.has_thought && !text.starts_with('\n');
                TurnEvent::Thinking { text: if begins { format!("\n\n{text}") } else { text } }
            }
            AgentEvent::ToolStarted { id, name, input, parent } => {
                if parent.is_none() {
                    // A step marker before it is none of the answer's words either.
                    self.end_of_run().await;
                    self.between_thoughts = true;
                }
                let waits = self.checks_drafts && matches!(self.showing, Showing::AsTheyCome);
                if waits && Self::writes_draft(&name, &input) {
                    self.showing = Showing::AfterCheck(String::new());
                }
                TurnEvent::ToolStarted { id, name, input }
            }
            AgentEvent::ToolFinished { id, output, failed } => TurnEvent::ToolFinished { id, output, failed },
            AgentEvent::ApiRetry { attempt, max, delay_ms, reason } => {
                TurnEvent::Status { text: phrases::provider_retry(self.language, &reason, attempt, max, delay_ms) }
            }
            AgentEvent::RateLimited { rejected: true, resets_at } => {
                TurnEvent::Status { text: phrases::provider_limit(self.language, resets_at) }
            }
            AgentEvent::Question { text } => TurnEvent::Status { text },
            AgentEvent::Text { .. }
            | AgentEvent::TakenBack { .. }
            | AgentEvent::Thinking { .. }
            | AgentEvent::RateLimited { .. }
            | AgentEvent::Started { .. }
            | AgentEvent::UsageReported { .. }
            | AgentEvent::Finished { .. }
            | AgentEvent::Unrecognised { .. } => return,
        };
        self.tell(shown).await;
    }
}

/// Where a text begins at the end of another one: paragraphs may have come between its parts.
fn begin_of(text: &str, at_end_of: &str) -> Option<usize> {
    let mut rest = at_end_of;
    for letter in text.chars().rev().filter(|letter| !letter.is_whitespace()) {
        rest = rest.trim_end().strip_suffix(letter)?;
    }
    Some(rest.len())
}

#[cfg(test)]
#[path = "turn_output_test.rs"]
mod tests;
