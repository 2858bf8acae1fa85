//! Links of an answer to files of its session, so that they open in the reader's browser: as addresses of Helix, or else the files' text
//! below the answer.
//!
//! Must not know how an answer is sent. The record keeps what the agent wrote, and `marks` puts that back into a history.

use axum::http::{HeaderMap, header};
use helix_core::error_chain;
use helix_core::ids::SessionId;
use helix_engine::consultant::{TurnEvent, phrases};
use helix_engine::sessions::LinkedFile;
use helix_job::Language;
use tokio::io::AsyncReadExt as _;

use super::link_scan::{LinkScan, Piece};
use crate::config::ServerConfig;
use crate::linked_files::{FileToken, PATH};
use crate::shared::Shared;

/// Most files whose text is shown below an answer.
const MOST_BELOW: usize = 3;
/// As much of each as is shown, in bytes.
const LONGEST_BELOW: u64 = 16 * 1024;

/// The links of one answer.
pub(super) struct Links {
    shared: Shared,
    /// Of what Helix itself says.
    pub(super) language: Language,
    /// Where browsers reach this server; `None` where nobody knows.
    base: Option<String>,
    session: Option<SessionId>,
    scan: LinkScan,
    has_text: bool,
    /// Notes with the text of files.
    below: Vec<String>,
}

impl Links {
    pub(super) fn new(shared: Shared, headers: &HeaderMap, language: Language) -> Self {
        let base = base(&shared.config, headers);
        let (scan, below) = (LinkScan::default(), Vec::new());
        Self { shared, language, base, session: None, scan, has_text: false, below }
    }

    /// An event as the client is to see it.
    pub(super) async fn apply(&mut self, event: TurnEvent) -> Vec<TurnEvent> {
        let text = |text: String| (!text.is_empty()).then_some(TurnEvent::Text { text });
        if let TurnEvent::Text { text: said } = event {
            self.has_text = true;
            let shown = self.read(&said).await;
            return text(shown).into_iter().collect();
        }
        let mut events: Vec<TurnEvent> = self.scan.rest().and_then(text).into_iter().collect();
        match event {
            TurnEvent::Began { ref session, .. } => self.session = Some(session.clone()),
            // What broke off is closed; the same words follow as a whole.
            TurnEvent::TakenBack { .. } => self.scan = LinkScan::default(),
            TurnEvent::Note { text } => {
                let text = self.whole(&text).await;
                events.push(TurnEvent::Note { text });
                return events;
            }
            TurnEvent::Ended(mut ended) => {
                if !self.has_text {
                    ended.answer = self.whole(&ended.answer).await;
                    events.extend(text(ended.answer.clone()).filter(|_| !self.below.is_empty()));
                }
                events.extend(self.below.drain(..).map(|text| TurnEvent::Note { text }));
                events.push(TurnEvent::Ended(ended));
                return events;
            }
            _ => {}
        }
        events.push(event);
        events
    }

    /// A whole text of a session, such as a stored answer.
    pub(super) async fn of_session(mut self, session: &SessionId, text: &str) -> String {
        self.session = Some(session.clone());
        self.whole(text).await
    }

    async fn whole(&mut self, text: &str) -> String {
        let scan = std::mem::take(&mut self.scan);
        let shown = self.read(text).await + &self.scan.rest().unwrap_or_default();
        self.scan = scan;
        shown
    }

    async fn read(&mut self, text: &str) -> String {
        let mut shown = String::new();
        for piece in self.scan.push(text) {
            match piece {
                Piece::Text(text) => shown.push_str(&text),
                Piece::Target(written) => shown.push_str(&self.address(&written).await.unwrap_or(written)),
            }
        }
        shown
    }

    /// The address of a file that a link leads to; `None` where it leads to none, or nobody knows where browsers reach it.
    async fn address(&mut self, written: &str) -> Option<String> {
        let session = self.session.clone()?;
        let found = self.shared.engine.sessions().linked(&session, written, None).await;
        let file = found.unwrap_or_else(|error| {
            tracing::warn!(%session, written, error = error_chain(&error), "a link of an answer is left as it is");
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
        let note = phrases::linked_text(self.language, written, text.trim_end(), is_whole);
        if !self.below.contains(&note) {
            self.below.push(note);
        }
    }
}

/// Where browsers reach this server: as the configuration says, else as the client does, whose request has passed the check of its host.
/// Only containers know names that end with `.internal`.
fn base(config: &ServerConfig, headers: &HeaderMap) -> Option<String> {
    if config.public_url.is_some() {
        return config.public_url.clone();
    }
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    (is_plain && !name.ends_with(".internal")).then(|| format!("http://{host}"))
}
