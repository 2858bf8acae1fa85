//! Words of Helix as they are recorded: which message of the language tables, with which values, between texts of others. So each
//! reader gets them in a language of their own.
//!
//! Must not know any language: `helix-job` has the tables.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::JobId;

/// Stands for the id of a job in a command where the writer does not know it.
pub const JOB: &str = "JOB";

/// What is recorded in Helix's own words: `recorded!("id", name = value)`.
#[macro_export]
macro_rules! recorded {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::said::Words::message($id, [$((stringify!($name), $crate::said::Words::from($value))),*])
    };
}

/// What is said, piece by piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Words(Vec<Piece>);

/// A piece of what is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// A message of the tables by name; `name.hint` is what to do about it.
    Say {
        /// Its name.
        name: String,
        /// Its values by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        with: BTreeMap<String, Words>,
    },
    /// A number.
    Number(u64),
    /// A time.
    Time(Timestamp),
    /// What others wrote, as it is.
    Text(String),
}

/// Why something failed, to be said in any language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// What happened.
    pub message: Words,
    /// What to do; empty where there is nothing.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub hint: Words,
}

impl Words {
    /// A message with its values.
    pub fn message<const N: usize>(name: &str, with: [(&str, Self); N]) -> Self {
        let with = with.into_iter().map(|(name, words)| (name.to_owned(), words)).collect();
        Self(vec![Piece::Say { name: name.to_owned(), with }])
    }

    /// Figures with the decimal mark of who reads them.
    pub fn decimal(figures: &str) -> Self {
        match figures.split_once('.') {
            Some((whole, part)) => Self::from(whole).and(recorded!("decimal-mark")).and(part),
            None => figures.into(),
        }
    }

    /// The same, and then this.
    #[must_use]
    pub fn and(mut self, more: impl Into<Self>) -> Self {
        for piece in more.into().0 {
            match (self.0.last_mut(), piece) {
                (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
                (_, piece) => self.0.push(piece),
            }
        }
        self
    }

    /// The same with the id of a job in the commands that it names.
    #[must_use]
    pub fn of_job(&self, job: &JobId) -> Self {
        let piece = |piece: &Piece| match piece {
            Piece::Say { name, with } => {
                let mut with: BTreeMap<_, _> =
                    with.iter().map(|(name, words)| (name.clone(), words.of_job(job))).collect();
                with.entry("job".to_owned()).or_insert_with(|| job.as_str().into());
                Piece::Say { name: name.clone(), with }
            }
            Piece::Text(text) => Piece::Text(of_job(text, job)),
            Piece::Number(_) | Piece::Time(_) => piece.clone(),
        };
        Self(self.0.iter().map(piece).collect())
    }

    /// What to do about it: the attribute `hint` of its message, with the same values. Not every message has one.
    #[must_use]
    pub fn hint(&self) -> Self {
        match &self.0[..] {
            [Piece::Say { name, with }] => Piece::Say { name: format!("{name}.hint"), with: with.clone() }.into(),
            _ => Self::default(),
        }
    }

    /// A value of its message.
    pub fn value(&self, name: &str) -> Option<&Self> {
        match &self.0[..] {
            [Piece::Say { with, .. }] => with.get(name),
            _ => None,
        }
    }

    /// Whether the message of this name is said, as a whole or in a part.
    pub fn says(&self, message: &str) -> bool {
        let said = |piece: &Piece| match piece {
            Piece::Say { name, with } => name == message || with.values().any(|words| words.says(message)),
            Piece::Text(_) | Piece::Number(_) | Piece::Time(_) => false,
        };
        self.0.iter().any(said)
    }

    /// The same, each message in it, and each of their values, the whole first.
    pub fn parts(&self) -> Vec<Self> {
        let mut parts = vec![self.clone()];
        for piece in &self.0 {
            if let Piece::Say { with, .. } = piece {
                parts.push(piece.clone().into());
                parts.extend(with.values().flat_map(Self::parts));
            }
        }
        parts
    }

    /// Whether it says, as a whole or in a part, what the other one says.
    pub fn includes(&self, other: &Self) -> bool {
        let in_part = |piece: &Piece| match piece {
            Piece::Say { with, .. } => with.values().any(|words| words.includes(other)),
            Piece::Text(_) | Piece::Number(_) | Piece::Time(_) => false,
        };
        other.0.iter().all(|one| self.0.contains(one)) || self.0.iter().any(in_part)
    }

    /// The same, or nothing where it has no words but those of others.
    #[must_use]
    pub fn own(self) -> Self {
        let is_text = self.0.iter().all(|piece| matches!(piece, Piece::Text(_)));
        if is_text { Self::default() } else { self }
    }

    /// The same, or a text where it is empty: what is recorded by others, or by a former Helix.
    #[must_use]
    pub fn or(&self, text: &str) -> Self {
        if self.is_empty() { text.into() } else { self.clone() }
    }

    /// Each of these as words: as it is said, where that is recorded, else its text.
    pub fn of_each<'a>(said: &'a [Self], texts: &'a [String]) -> impl Iterator<Item = Self> + 'a {
        let said = said.iter().cloned().chain(std::iter::repeat(Self::default()));
        texts.iter().zip(said).map(|(text, said)| said.or(text))
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A text with the id of a job in the commands that it names: `helix jobs resume JOB`.
pub fn of_job(text: &str, job: &JobId) -> String {
    const COMMAND: &str = "helix jobs ";
    let mut parts = text.split(COMMAND);
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let verb = part.find(' ').unwrap_or(part.len());
        let (verb, rest) = part.split_at(verb);
        said.extend([COMMAND, verb]);
        match rest.strip_prefix(' ').and_then(|rest| rest.strip_prefix(JOB)) {
            Some(rest) => said.extend([" ", job.as_str(), rest]),
            None => said.push_str(rest),
        }
    }
    said
}

impl From<Piece> for Words {
    fn from(piece: Piece) -> Self {
        Self(vec![piece])
    }
}

impl From<&str> for Words {
    fn from(text: &str) -> Self {
        Self(if text.is_empty() { Vec::new() } else { vec![Piece::Text(text.to_owned())] })
    }
}

impl From<&String> for Words {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for Words {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&Words> for Words {
    fn from(words: &Words) -> Self {
        words.clone()
    }
}

impl From<u64> for Words {
    fn from(number: u64) -> Self {
        Piece::Number(number).into()
    }
}

impl From<u16> for Words {
    fn from(number: u16) -> Self {
        u64::from(number).into()
    }
}

impl From<u32> for Words {
    fn from(number: u32) -> Self {
        u64::from(number).into()
    }
}

impl From<usize> for Words {
    fn from(number: usize) -> Self {
        (number as u64).into()
    }
}

impl From<Timestamp> for Words {
    fn from(at: Timestamp) -> Self {
        Piece::Time(at).into()
    }
}

#[cfg(test)]
#[path = "said_test.rs"]
mod tests;
