//! Makes fragments and whole texts agree, so that nobody who shows text as it comes prints anything twice.
//!
//! Must not know any dialect: it sees fragments, whole texts and who wrote them.

use helix_core::agent_event::AgentEvent;
use helix_process::secrets::held;

/// Text that was handed out as fragments and has not come as a whole yet, for each author.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    parent: Option<String>,
    channel: Channel,
    /// What was handed out, masked.
    text: String,
    /// What may become something that nobody may read: it waits for more.
    held: String,
}

/// What kind of text it is; the two are streamed independently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Text,
    Thinking,
}

/// Whether a text is a piece of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Fragment,
    Whole,
}

/// A text as an event.
pub(crate) fn text_event(channel: Channel, text: String, part: Part, parent: Option<&str>) -> AgentEvent {
    let (partial, parent) = (part == Part::Fragment, parent.map(str::to_owned));
    match channel {
        Channel::Text => AgentEvent::Text { text, partial, parent },
        Channel::Thinking => AgentEvent::Thinking { text, partial, parent },
    }
}

/// Authors whose fragments are remembered at a time; the oldest is forgotten first (its whole text is then shown again).
const AUTHORS: usize = 64;

impl Fragments {
    /// Takes a fragment; returns what is handed out now, masked. The whole text brings what is held back.
    pub(crate) fn add(&mut self, channel: Channel, parent: Option<&str>, fragment: &str) -> String {
        let is_of = |open: &Open| open.channel == channel && open.parent.as_deref() == parent;
        let place = self.open.iter().position(is_of).unwrap_or_else(|| {
            if self.open.len() == AUTHORS {
                self.open.remove(0);
            }
            let (text, held) = Default::default();
            self.open.push(Open { parent: parent.map(str::to_owned), channel, text, held });
            self.open.len() - 1
        });
        let (open, secrets) = (&mut self.open[place], held());
        open.held.push_str(fragment);
        let rest = open.held.split_off(secrets.open_end(&open.held));
        let mut ready = std::mem::replace(&mut open.held, rest).into_bytes();
        secrets.mask(&mut ready);
        let ready = String::from_utf8_lossy(&ready).into_owned();
        open.text.push_str(&ready);
        ready
    }

    /// A whole text came: what of it was not handed out as fragments yet.
    pub(crate) fn missing_of<'a>(&mut self, channel: Channel, parent: Option<&str>, whole: &'a str) -> &'a str {
        let place = self.open.iter().position(|open| open.channel == channel && open.parent.as_deref() == parent);
        let Some(place) = place else { return whole };
        let Open { text: handed_out, held, .. } = &mut self.open[place];
        if handed_out.len() + held.len() > whole.len() && handed_out.starts_with(whole) {
            // The next text of the same message is on its way already.
            handed_out.drain(..whole.len());
            return "";
        }
        let missing = whole.strip_prefix(handed_out.as_str()).unwrap_or(whole);
        self.open.remove(place);
        missing
    }

    /// Text of the run itself that has not come as a whole.
    pub(crate) fn unfinished(&self) -> &str {
        let main = self.open.iter().find(|open| open.channel == Channel::Text && open.parent.is_none());
        main.map_or("", |open| open.text.as_str())
    }

    /// A whole text came that is another one than its fragments: they are taken back.
    pub(crate) fn taken_back(&mut self, channel: Channel, parent: Option<&str>, whole: &str) -> Option<String> {
        let is_of = |open: &Open| open.channel == channel && open.parent.as_deref() == parent;
        let differs = |open: &Open| !whole.starts_with(open.text.as_str()) && !open.text.starts_with(whole);
        let place = self.open.iter().position(|open| is_of(open) && differs(open))?;
        Some(self.open.remove(place).text)
    }

    /// A message begins or the run is over: the fragments before it will not come as a whole any more. Returns their text.
    pub(crate) fn forget(&mut self, parent: Option<&str>) -> String {
        let of_parent = self.open.extract_if(.., |open| open.parent.as_deref() == parent);
        of_parent.filter(|open| open.channel == Channel::Text).map(|open| open.text).collect()
    }
}

#[cfg(test)]
#[path = "fragments_test.rs"]
mod tests;
