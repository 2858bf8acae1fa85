//! Where in a conversation's tree a client is, told from the history that it sends.
//!
//! Must not know texts, only their digests; how near a changed text is to the record is for the caller to look up.

use std::collections::HashMap;

use super::turn::TurnView;
use super::words::WordsDigest;
use helix_core::ids::TurnId;

/// What is needed of a turn to find it by a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnStub {
    /// Its id.
    pub id: TurnId,
    /// Its number.
    pub number: u32,
    /// What stands before it in the client's tree.
    pub under: Option<TurnId>,
    /// The user's words.
    pub asked: WordsDigest,
    /// What the user was shown; `None` while it runs or where nothing was shown.
    pub answered: Option<WordsDigest>,
}

/// A user message of a client's history and what it shows as the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The user's words.
    pub asked: WordsDigest,
    /// The answer; `None` where the client has none, such as after a broken connection.
    pub answered: Option<WordsDigest>,
}

/// An exchange whose answer is not what the turn's record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The turn.
    pub turn: TurnId,
    /// The exchange's index.
    pub exchange: usize,
}

/// Where a history ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// After this turn; `None`: at the beginning, or after messages that Helix never saw.
    Here {
        /// The turn.
        after: Option<TurnId>,
        /// Exchanges whose answers differ from the record. The client's are what the user sees.
        mismatches: Vec<Mismatch>,
        /// Exchanges without an answer that Helix never saw, by index.
        unheard: Vec<usize>,
    },
    /// Helix does not know this history: it was made elsewhere.
    Unknown,
}

/// Sorts texts into exchanges: each user message with all that was answered before the next one.
pub fn exchanges<'a>(said: impl IntoIterator<Item = (Side, &'a str)>) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    for (side, text) in said {
        match (side, found.last_mut()) {
            (Side::User, _) => found.push((text.to_owned(), None)),
            (Side::Consultant, Some((_, answer))) => {
                let answer = answer.get_or_insert_default();
                if !answer.is_empty() {
                    answer.push_str("\n\n");
                }
                answer.push_str(text);
            }
            // A greeting before anything was asked is the client's own.
            (Side::Consultant, None) => {}
        }
    }
    found
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The user.
    User,
    /// The Consultant.
    Consultant,
}

/// A way into the tree.
#[derive(Debug, Clone)]
struct Way<'a> {
    at: Option<&'a TurnStub>,
    mismatches: Vec<Mismatch>,
}

/// Finds the turn that a history ends with. Of several, the one without mismatches, then the newest.
pub fn locate(stubs: &[TurnStub], history: &[Exchange]) -> Located {
    let mut children: HashMap<(Option<&TurnId>, &WordsDigest), Vec<&TurnStub>> = HashMap::new();
    for stub in stubs {
        children.entry((stub.under.as_ref(), &stub.asked)).or_default().push(stub);
    }
    let mut ways = vec![Way { at: None, mismatches: Vec::new() }];
    let mut unheard = Vec::new();
    for (index, exchange) in history.iter().enumerate() {
        let next: Vec<Way<'_>> = ways
            .iter()
            .flat_map(|way| {
                let found = children.get(&(way.at.map(|stub| &stub.id), &exchange.asked)).into_iter().flatten();
                found.map(|stub| step(way, stub, exchange, index))
            })
            .collect();
        if next.is_empty() {
            if exchange.answered.is_some() {
                return Located::Unknown;
            }
            unheard.push(index);
            continue;
        }
        // A way with an exact answer makes those with a changed one needless; this also bounds their number.
        let fewest = next.iter().map(|way| way.mismatches.len()).min().unwrap_or(0);
        ways = next.into_iter().filter(|way| way.mismatches.len() == fewest).collect();
    }
    let best = ways.into_iter().max_by_key(|way| way.at.map_or(0, |stub| stub.number));
    match best {
        Some(way) => Located::Here { after: way.at.map(|stub| stub.id.clone()), mismatches: way.mismatches, unheard },
        None => Located::Unknown,
    }
}

fn step<'a>(way: &Way<'a>, stub: &'a TurnStub, exchange: &Exchange, index: usize) -> Way<'a> {
    let mut mismatches = way.mismatches.clone();
    // An answer that the client has lost was given all the same.
    if exchange.answered.is_some() && exchange.answered != stub.answered {
        mismatches.push(Mismatch { turn: stub.id.clone(), exchange: index });
    }
    Way { at: Some(stub), mismatches }
}

impl TurnStub {
    /// What is needed of a turn.
    pub fn of(turn: &TurnView) -> Self {
        Self {
            id: turn.id.clone(),
            number: turn.number,
            under: turn.under.clone(),
            asked: turn.asked.clone(),
            answered: turn.end.as_ref().and_then(|end| end.answered.clone()),
        }
    }
}

#[cfg(test)]
#[path = "locate_test.rs"]
mod tests;
