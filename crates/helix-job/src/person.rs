//! Who did something: a name, and how it was authenticated. In records it is one text, such as `anna (key)`.
//!
//! Must not know how anybody is authenticated.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use helix_core::text::one_line;

/// Longest name, in characters.
const LONGEST: usize = 80;

/// A person, as the host has authenticated them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Person {
    /// One line.
    pub name: String,
    pub how: How,
}

/// How a person was authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// At the terminal: by the kernel, as the user of the host, and in none of its runs.
    Terminal,
    /// By a key of their own.
    Key,
    /// By the host's own token, which opens everything.
    Token,
    /// In a browser that they logged in from the terminal, or with their key.
    Browser,
    /// By a chat client that says whose message it forwards; the Consultant passed it on.
    Chat,
    /// Not at all: the host asks for no token.
    Open,
    /// A name that a record tells, and nothing more.
    Told,
}

impl How {
    const WORDS: [(Self, &str); 6] = [
        (Self::Terminal, "terminal"),
        (Self::Key, "key"),
        (Self::Token, "token"),
        (Self::Browser, "browser"),
        (Self::Chat, "chat"),
        (Self::Open, "no token"),
    ];

    /// Its word, as the language tables choose by it.
    fn key(self) -> String {
        Self::WORDS.iter().find(|(how, _)| *how == self).map_or("", |(_, word)| word).replace(' ', "-")
    }

    /// Whether it proves that this person, and nobody else, did it.
    pub fn is_proof(self) -> bool {
        matches!(self, Self::Terminal | Self::Key | Self::Token | Self::Browser)
    }
}

impl Person {
    /// A person of this name.
    pub fn new(name: &str, how: How) -> Self {
        Self { name: one_line(name, LONGEST), how }
    }

    /// Whether it is the same person, however they were authenticated: one whose name is another's counts as that one.
    pub fn is_same(&self, other: &Self) -> bool {
        self.name.to_lowercase() == other.name.to_lowercase()
    }
}

impl From<String> for Person {
    fn from(text: String) -> Self {
        let known = text.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")).and_then(|(name, word)| {
            let (how, _) = How::WORDS.iter().find(|(_, known)| *known == word)?;
            Some(Self { name: name.to_owned(), how: *how })
        });
        known.unwrap_or(Self { name: text, how: How::Told })
    }
}

impl From<&str> for Person {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&Person> for helix_core::said::Words {
    fn from(person: &Person) -> Self {
        match person.how {
            How::Told => (&person.name).into(),
            how => helix_language::recorded!("person", name = &person.name, how = how.key()),
        }
    }
}

impl From<Person> for String {
    fn from(person: Person) -> Self {
        person.to_string()
    }
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match How::WORDS.iter().find(|(how, _)| *how == self.how) {
            Some((_, word)) => write!(f, "{} ({word})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl JsonSchema for Person {
    fn schema_name() -> Cow<'static, str> {
        "Person".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Who did it, and how they were authenticated: `anna (key)`; `terminal`, `key`, `token`, `browser`, `chat` or `no token`.",
            "type": "string"
        })
    }
}

/// What an agent asked for although only a person may; it was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempted {
    /// The run whose agent, or whose command, it was.
    pub run: helix_core::ids::RunId,
    /// What it asked for, such as `POST /api/v1/questions/{id}/answer`, or the name of a tool.
    pub asked: String,
    /// When it did for the first time.
    pub at: jiff::Timestamp,
}

#[cfg(test)]
#[path = "person_test.rs"]
mod tests;
