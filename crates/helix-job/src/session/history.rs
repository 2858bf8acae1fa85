//! Where in a session's tree a client is, told from the history that it sends.
//!
//! Must not know texts, only their digests; how near a changed text is to the record is for the caller to look up.

use std::cell::LazyCell;
use std::collections::HashMap;

use super::digest::TextDigest;
use super::turn::TurnView;
use helix_core::ids::TurnId;

/// What is needed of a turn to find it by a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSummary {
    pub id: TurnId,
    pub number: u32,
    /// What stands before it in the client's tree.
    pub under: Option<TurnId>,
    /// What the user said before it to somebody else; only where nothing of Helix's own stands before it.
    pub before: Option<TextDigest>,
    pub asked: TextDigest,
    /// What the user was shown; `None` while it runs or where nothing was shown.
    pub answered: Option<TextDigest>,
}

/// A user message of a client's history and what it shows as the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    pub asked: TextDigest,
    /// The answer; `None` where the client has none, such as after a broken connection.
    pub answered: Option<TextDigest>,
}

/// An exchange whose answer is not what the turn's record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    pub turn: TurnId,
    pub exchange: usize,
}

/// Where a history ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryMatch {
    /// After this turn; `None`: at the beginning, or after messages that Helix never saw.
    Here {
        after: Option<TurnId>,
        /// The first exchange that the record has; what is before it was said to somebody else.
        from: usize,
        /// Exchanges whose answers differ from the record. The client's are what the user sees.
        mismatches: Vec<Mismatch>,
        /// Exchanges without an answer that Helix never saw, by index.
        unseen: Vec<usize>,
    },
    /// Helix does not know this history: it was made elsewhere.
    Unknown,
}

/// Sorts texts into exchanges: each user message with all that was answered before the next one.
pub fn exchanges<'a>(said: impl IntoIterator<Item = (Author, &'a str)>) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    for (side, text) in said {
        match (side, found.last_mut()) {
            (Author::User, _) => found.push((text.to_owned(), None)),
            (Author::Consultant, Some((_, answer))) => {
                let answer = answer.get_or_insert_default();
                if !answer.is_empty() {
                    answer.push_str("\n\n");
                }
                answer.push_str(text);
            }
            // A greeting before anything was asked is the client's own.
            (Author::Consultant, None) => {}
        }
    }
    found
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    User,
    Consultant,
}

/// A way into the tree.
#[derive(Debug, Clone)]
struct Way<'a> {
    /// The exchange that it begins with.
    from: usize,
    at: Option<&'a TurnSummary>,
    mismatches: Vec<Mismatch>,
}

/// Finds the turn that a history ends with. Of several, the one without mismatches, then the newest.
///
/// `before` tells what a history said before the exchange of an index, as [`TurnSummary::before`] has it: a session that Helix
/// joined in the middle begins there.
pub fn match_history<'a>(
    turns: &'a [TurnSummary],
    history: &'a [Exchange],
    before: impl Fn(usize) -> Option<TextDigest>,
) -> HistoryMatch {
    let mut children: HashMap<(Option<&TurnId>, &TextDigest), Vec<&TurnSummary>> = HashMap::new();
    for turn in turns {
        children.entry((turn.under.as_ref(), &turn.asked)).or_default().push(turn);
    }
    let mut ways = vec![Way { from: 0, at: None, mismatches: Vec::new() }];
    let mut unseen = Vec::new();
    for (index, exchange) in history.iter().enumerate() {
        let (said, start) = (LazyCell::new(|| before(index)), Way { from: index, at: None, mismatches: Vec::new() });
        let after = |at: Option<&'a TurnSummary>| {
            children.get(&(at.map(|turn| &turn.id), &exchange.asked)).into_iter().flatten().copied()
        };
        let goes_on = ways.iter().flat_map(|way| {
            let found = after(way.at).filter(|turn| turn.before.is_none());
            found.map(|turn| step(way, turn, exchange, index))
        });
        let joined = after(None).filter(|turn| turn.before.is_some() && turn.before == *said);
        let next: Vec<Way<'_>> = goes_on.chain(joined.map(|turn| step(&start, turn, exchange, index))).collect();
        if next.is_empty() {
            if exchange.answered.is_some() {
                // What was said to somebody else, unless Helix joined later.
                ways.clear();
            }
            unseen.push(index);
            continue;
        }
        // A way with an exact answer makes those with a changed one needless; this also bounds their number.
        let fewest = next.iter().map(|way| way.mismatches.len()).min().unwrap_or(0);
        ways = next.into_iter().filter(|way| way.mismatches.len() == fewest).collect();
    }
    let best = ways.into_iter().max_by_key(|way| way.at.map_or(0, |turn| turn.number));
    match best {
        Some(way) => {
            unseen.retain(|index| *index >= way.from);
            let after = way.at.map(|turn| turn.id.clone());
            HistoryMatch::Here { after, from: way.from, mismatches: way.mismatches, unseen }
        }
        None => HistoryMatch::Unknown,
    }
}

fn step<'a>(way: &Way<'a>, turn: &'a TurnSummary, exchange: &Exchange, index: usize) -> Way<'a> {
    let mut mismatches = way.mismatches.clone();
    // An answer that the client has lost was given all the same.
    if exchange.answered.is_some() && exchange.answered != turn.answered {
        mismatches.push(Mismatch { turn: turn.id.clone(), exchange: index });
    }
    Way { from: way.from, at: Some(turn), mismatches }
}

impl TurnSummary {
    /// What is needed of a turn.
    pub fn from_turn(turn: &TurnView) -> Self {
        Self {
            id: turn.id.clone(),
            number: turn.number,
            under: turn.under.clone(),
            before: turn.begin.before.clone(),
            asked: turn.begin.asked.clone(),
            answered: turn.end.as_ref().and_then(|end| end.answered.clone()),
        }
    }
}

#[cfg(test)]
#[path = "history_test.rs"]
mod tests;
