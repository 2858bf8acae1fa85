//! Links of an answer to files of its session, so that they open in the reader's browser: as addresses of Helix, or else the files' text
//! below the answer.
//!
//! Must not know how an answer is sent. The record keeps what the agent wrote, and `marks` puts that back into a history.

use helix_core::error_chain;
use helix_core::finding::fence_for;
use helix_core::ids::SessionId;
use helix_core::text::plain_lines;
use helix_engine::consultant::{TurnEvent, phrases};
use helix_engine::sessions::LinkedFile;
use helix_job::session::{TurnEnd, TurnView};
use helix_language::Language;
use tokio::io::AsyncReadExt as _;

use super::link_scan::{LinkScan, Piece, harmless, plain};
use super::open_text::OpenText;
use crate::config::ServerConfig;
use crate::host_check::host_of;
use crate::job_links::JobLinks;
use crate::linked_files::{FileToken, PATH};
use crate::state::ServerState;

/// Most files whose text is shown below an answer.
const MOST_BELOW: usize = 3;
/// As much of each as is shown, in bytes.
const LONGEST_BELOW: u64 = 16 * 1024;

/// The links of one answer.
pub(super) struct Links {
    shared: ServerState,
    /// Of what Helix itself says.
    pub(super) language: Language,
    /// Where browsers reach this server; `None` where that is unknown.
    base: Option<String>,
    session: Option<SessionId>,
    scan: LinkScan,
    /// The agent's thinking, whose links are left as they are.
    thought: LinkScan,
    /// Notes with the text of files.
    below: Vec<String>,
}

impl Links {
    /// `authority`: the server that the request names.
    pub(super) fn new(shared: ServerState, authority: Option<&str>, language: Language) -> Self {
        let base = base(&shared.config, authority);
        let (scan, thought, below) = (LinkScan::default(), LinkScan::without_code(), Vec::new());
        Self { shared, language, base, session: None, scan, thought, below }
    }

    /// Those of notes on jobs.
    pub(super) fn jobs(&self) -> JobLinks {
        JobLinks::new(&self.shared, self.base.clone())
    }

    /// What comes goes on from this text, which the client shows already.
    pub(super) fn goes_on_from(&mut self, shown: &str) {
        self.scan.goes_on_from(shown);
    }

    /// An event as the client is to see it. What waits for the rest of a link is overtaken by activity.
    pub(super) async fn apply(&mut self, event: TurnEvent) -> Vec<TurnEvent> {
        let text = |text: String| (!text.is_empty()).then_some(TurnEvent::Text { text });
        if let TurnEvent::Text { text: said } = event {
            let shown = self.read(&said).await;
            return text(shown).into_iter().collect();
        }
        if let TurnEvent::Thinking { text } = event {
            let text = plain(self.thought.push(&text));
            return (!text.is_empty()).then_some(TurnEvent::Thinking { text }).into_iter().collect();
        }
        let mut events = Vec::new();
        match event {
            TurnEvent::Began { ref session, .. } => self.session = Some(session.clone()),
            // A block closes what is open above it. What broke off follows as a whole.
            TurnEvent::TakenBack { .. } => events.extend(text(self.close().await)),
            TurnEvent::JobNews { job, text: line, note: Some(note) } => {
                events.extend(text(self.close().await));
                let note = Some(self.jobs().open(&job, harmless(&note)));
                events.push(TurnEvent::JobNews { job, text: line, note });
                return events;
            }
            TurnEvent::Note { text: note } => {
                events.extend(text(self.close().await));
                events.push(TurnEvent::Note { text: self.whole(&note).await });
                return events;
            }
            TurnEvent::Ended(ended) => {
                let thought = plain(self.thought.rest());
                events.extend((!thought.is_empty()).then_some(TurnEvent::Thinking { text: thought }));
                events.extend(text(self.close().await));
                events.extend(self.below.drain(..).map(|text| TurnEvent::Note { text }));
                events.push(TurnEvent::Ended(ended));
                return events;
            }
            _ => {}
        }
        events.push(event);
        events
    }

    /// The answer of a turn that is over, with what stands below it.
    pub(super) async fn of_turn(mut self, turn: &TurnView) -> String {
        self.session = Some(turn.session.clone());
        let mut shown = OpenText::default();
        shown.push(&self.whole(turn.end.as_ref().map_or("", TurnEnd::text)).await);
        let note = match turn.end.as_ref().and_then(|end| end.note.as_deref()) {
            Some(note) => Some(self.whole(note).await),
            None => None,
        };
        for block in note.into_iter().chain(self.below) {
            let above = if shown.as_str().is_empty() { String::new() } else { shown.closing() + "\n\n" };
            shown.push(&(above + &block));
        }
        shown.as_str().to_owned()
    }

    /// Forgets what is open; the text that waited.
    async fn close(&mut self) -> String {
        let rest = self.scan.rest();
        self.scan = self.scan.anew();
        self.resolve(rest).await
    }

    /// A whole text, when nothing is open.
    async fn whole(&mut self, text: &str) -> String {
        self.read(text).await + &self.close().await
    }

    async fn read(&mut self, text: &str) -> String {
        let pieces = self.scan.push(text);
        self.resolve(pieces).await
    }

    async fn resolve(&mut self, pieces: Vec<Piece>) -> String {
        let mut shown = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => shown.push_str(&text),
                Piece::Target(target) => match self.address(&target.written).await {
                    Some(address) => shown.push_str(&target.resolved(&address)),
                    None => shown.push_str(&target.unresolved()),
                },
                // Only files of the session are shown at once: any other address would hear of it.
                Piece::Picture(alt, target) => match self.address(&target.written).await {
                    Some(address) => shown.extend(["!", &alt, &target.resolved(&address)]),
                    None => shown.push_str(&plain(vec![Piece::Picture(alt, target)])),
                },
            }
        }
        shown
    }

    /// The address of a file that a link leads to; `None` where it leads to none, or where browsers reach this server is unknown.
    async fn address(&mut self, written: &str) -> Option<String> {
        let session = self.session.clone()?;
        let found = self.shared.engine.sessions().linked(&session, written, None).await;
        let file = found.unwrap_or_else(|error| {
            tracing::warn!(%session, written, error = error_chain(&error), "a link of an answer cannot be followed");
            None
        })?;
        match &self.base {
            Some(base) => {
                let token = FileToken { session, written: written.to_owned(), signature: file.signature };
                Some(format!("{base}{PATH}{}", token.text()))
            }
            None => {
                self.show_below(written, file).await;
                None
            }
        }
    }

    async fn show_below(&mut self, written: &str, file: LinkedFile) {
        if self.below.len() >= MOST_BELOW {
            return;
        }
        let mut bytes = Vec::new();
        let is_read =
            tokio::fs::File::from_std(file.file).take(LONGEST_BELOW + 1).read_to_end(&mut bytes).await.is_ok();
        let is_whole = bytes.len() as u64 <= LONGEST_BELOW;
        // A letter may be cut in two.
        let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if !is_read || text.contains('\0') || bytes.len() - text.len() > 3 {
            return;
        }
        let text = &text[..text.floor_char_boundary(LONGEST_BELOW as usize)];
        // As the block shows it, whose fence must be longer than all of its own.
        let text = plain_lines(text);
        let fence = fence_for(&text);
        let fenced = harmless(&format!("{fence}\n{}\n{fence}", text.trim_end()));
        let note = phrases::linked_text(self.language, written, &fenced, is_whole);
        if !self.below.contains(&note) {
            self.below.push(note);
        }
    }
}

/// Where browsers reach this server: as the configuration says, else as the client does, whose request has passed the check of its host.
/// Only containers know names that end with `.internal` or have one part.
fn base(config: &ServerConfig, authority: Option<&str>) -> Option<String> {
    if config.public_url.is_some() {
        return config.public_url.clone();
    }
    let authority = authority?;
    let name = host_of(authority).to_ascii_lowercase();
    let is_plain = authority.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let is_known = name == "localhost" || name.contains(['.', ':']) && !name.ends_with(".internal");
    (is_plain && is_known).then(|| format!("http://{authority}"))
}

#[cfg(test)]
#[path = "links_test.rs"]
mod tests;
