//! Finds where in a session's tree a request stands, and whether it was answered already.
//!
//! Must not know agents: what a new run is told of the place is `context`'s business.

use std::collections::HashMap;
use std::sync::Arc;

use helix_core::ids::TurnId;
use helix_job::session::{
    Delivery, Exchange, HistoryMatch, SessionView, TextDigest, TextRelation, TurnEnd, TurnParent, TurnSummary,
    TurnView, exchanges, match_history, relation, rest_after,
};
use helix_store::{Journal, ReadError};

use super::{Message, ParentSelector, Purpose, TEMPORARY, TurnRequest};

/// Most sessions with the same beginning that are compared with a history, the newest.
const CANDIDATES: usize = 200;

/// Where a request stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Located {
    /// The same request was answered under the same id. The client shows this much of the answer and wants the rest: nothing, but
    /// where it continues it.
    Again(Box<TurnView>, String),
    /// The same request was answered, and nobody has read the answer to its end; the same.
    Unheard(Box<TurnView>, String),
    New(Box<TurnPosition>),
}

/// The place of a new turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TurnPosition {
    /// The turn that it goes on from; `None` at the beginning, or where Helix does not know what was before.
    pub(super) parent: Option<TurnView>,
    /// Whose account of what was said before is right.
    pub(super) account: Account,
    /// What the user sees otherwise than the record says, or what Helix never saw.
    pub(super) differences: Vec<Difference>,
    /// Turns before it whose answers never reached the user, oldest first.
    pub(super) unheard: Vec<TurnView>,
    /// The turn before it, where the client shows its answer without the note that stands below it.
    pub(super) untold: Option<TurnView>,
}

impl TurnPosition {
    fn new(parent: Option<TurnView>, account: Account) -> Self {
        Self { parent, account, differences: Vec::new(), unheard: Vec::new(), untold: None }
    }

    /// Where a turn for this stands in the record.
    pub(super) fn in_record(&self, purpose: Purpose) -> TurnParent {
        match (&self.parent, purpose) {
            (None, _) => TurnParent::Beginning,
            (Some(turn), Purpose::Answer) => TurnParent::After { turn: turn.id.clone() },
            (Some(turn), Purpose::Continue) => {
                TurnParent::Continuing { turn: turn.id.clone(), under: turn.under.clone() }
            }
        }
    }
}

/// Whose account of what was said before is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    /// Helix's own record, and with it the agent's session.
    Own,
    /// The client's history: it was changed, or made elsewhere.
    Client,
}

/// Something that the agent must be told since its session does not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Difference {
    /// The last answer was edited by the user and reads so now.
    EditedAnswer(String),
    /// A user message that never reached Helix.
    UnseenMessage(String),
    /// What happened to a job of the session since, told in lines.
    Job(String),
}

/// Finds the place of a request. Called when the request's turn has come, so that nothing moves meanwhile.
pub(super) async fn locate(
    journal: &Arc<dyn Journal>,
    view: &SessionView,
    request: &TurnRequest,
) -> Result<Located, ReadError> {
    let locator = Locator { journal, view, request };
    if let Some(turn) = locator.answered_by_id().await? {
        return Ok(Located::Again(Box::new(turn), locator.continued()));
    }
    let mut position = match request.purpose {
        Purpose::Answer => locator.after().await?,
        Purpose::Continue => locator.continuing().await?,
    };
    if let Some(turn) = locator.answered_here(&position).await? {
        return Ok(Located::Unheard(Box::new(turn), locator.continued()));
    }
    locator.find_unheard(&mut position).await?;
    Ok(Located::New(Box::new(position)))
}

/// The session that a request without a name for it proves to mean: by an id of a turn, or by the answers in its history, all of
/// which one session alone has given. The user's words prove nothing, and neither does an answer that only begins alike: others
/// behind the same key may have said the same and read the same beginning. Among the sessions of one person, or of one temporary
/// chat, an answer that was changed or not read to its end proves enough.
pub(super) async fn proven(
    journal: &Arc<dyn Journal>,
    prefix: &str,
    request: &TurnRequest,
) -> Result<Option<SessionView>, ReadError> {
    let by_message = async |id: &String| journal.turn_by_message(request.owner.clone(), id.clone()).await;
    if let Some(message) = &request.client.message
        && let Some(turn) = by_message(message).await?.filter(|turn| is_same_request(request, turn))
    {
        return journal.session(turn.session).await;
    }
    if let ParentSelector::Ids { parent: Some(parent) } = &request.parent
        && let Some(turn) = by_message(parent).await?
    {
        return journal.session(turn.session).await;
    }
    let told = history_exchanges(&request.history);
    if told.iter().all(|(_, answered)| answered.is_none()) {
        return Ok(None);
    }
    let history = digests(&told);
    let is_own = request.owner.is_some() || prefix.starts_with(TEMPORARY);
    let mut found: Vec<(usize, SessionView)> = Vec::new();
    for view in journal.sessions_by_prefix(prefix.to_owned(), CANDIDATES).await? {
        let turns = journal.turn_summaries(view.id.clone()).await?;
        let HistoryMatch::Here { from, mismatches, .. } = match_history(&turns, &history, |at| before(&told[..at]))
        else {
            continue;
        };
        let shown = history[from..].iter().filter(|exchange| exchange.answered.is_some()).count();
        let mut proves = shown > 0 && (mismatches.is_empty() || is_own && mismatches.len() < shown);
        for mismatch in mismatches.iter().filter(|_| is_own) {
            // One of the two stopped early.
            let shown = told.get(mismatch.exchange).and_then(|(_, answer)| answer.as_deref()).unwrap_or_default();
            let end = journal.turn(mismatch.turn.clone()).await?.and_then(|turn| turn.end);
            proves |= end.is_some_and(|end| same_answer(shown, end.text()));
        }
        if proves {
            found.push((mismatches.len(), view));
        }
    }
    let fewest = found.iter().map(|(mismatches, _)| *mismatches).min();
    found.retain(|(mismatches, _)| Some(*mismatches) == fewest);
    // Of two that gave the same answers, either may be somebody else's.
    Ok(if found.len() == 1 { found.pop().map(|(_, view)| view) } else { None })
}

/// Whether what a client shows is an answer, or as much of it as one of the two had.
fn same_answer(shown: &str, said: &str) -> bool {
    !shown.trim().is_empty() && !said.trim().is_empty() && relation(shown, said) != TextRelation::Different
}

fn is_same_request(request: &TurnRequest, turn: &TurnView) -> bool {
    turn.begin.client.request.is_some() && turn.begin.client.request == request.client.request
}

fn digests(told: &[(String, Option<String>)]) -> Vec<Exchange> {
    let digests = told.iter().map(|(asked, answered)| Exchange {
        asked: TextDigest::new(asked),
        answered: answered.as_deref().map(TextDigest::new),
    });
    digests.collect()
}

/// What a history says the user asked and was answered elsewhere, as one digest; `None` where that is nothing.
pub(super) fn said_elsewhere(history: &[Message]) -> Option<TextDigest> {
    before(&history_exchanges(history))
}

fn before(told: &[(String, Option<String>)]) -> Option<TextDigest> {
    let asked: Vec<&str> =
        told.iter().filter(|(_, answered)| answered.is_some()).map(|(asked, _)| asked.as_str()).collect();
    (!asked.is_empty()).then(|| TextDigest::new(&asked.join("\n")))
}

struct Locator<'a> {
    journal: &'a Arc<dyn Journal>,
    view: &'a SessionView,
    request: &'a TurnRequest,
}

impl Locator<'_> {
    /// The turn of the same request under the same id, if it has an answer.
    async fn answered_by_id(&self) -> Result<Option<TurnView>, ReadError> {
        let Some(message) = &self.request.client.message else { return Ok(None) };
        let turn = self.by_message(message).await?;
        Ok(turn.filter(|turn| is_same_request(self.request, turn) && turn.is_answered()))
    }

    /// The newest turn of the same words at the same place, if it is of the same request and nobody has read its answer. Whoever asks
    /// for another answer sends the same, so that what was read once is answered anew. To go on with an answer that was cut off on its
    /// way, there is the rest of it.
    async fn answered_here(&self, position: &TurnPosition) -> Result<Option<TurnView>, ReadError> {
        if self.request.purpose == Purpose::Continue {
            let shown = self.continued();
            let has_rest = |turn: &TurnView| {
                let text = turn.end.as_ref().map_or("", TurnEnd::text);
                rest_after(text, &shown).is_some_and(|rest| !rest.trim().is_empty())
            };
            return Ok(position.parent.clone().filter(|turn| turn.is_unheard() && has_rest(turn)));
        }
        let turn = match &self.request.parent {
            // Without a history the place is "after the latest", which the lost turn itself is.
            ParentSelector::Latest => position.parent.clone(),
            ParentSelector::Ids { .. } | ParentSelector::History => {
                let (asked, under) =
                    (TextDigest::new(&self.request.words), position.parent.as_ref().map(|turn| &turn.id));
                let turns = self.journal.turn_summaries(self.view.id.clone()).await?;
                let newest = turns.iter().rev().find(|turn| turn.asked == asked && turn.under.as_ref() == under);
                self.turn(newest.map(|turn| &turn.id)).await?
            }
        };
        Ok(turn.filter(|turn| turn.is_unheard() && is_same_request(self.request, turn)))
    }

    /// What the client shows of the answer that it wants more of.
    fn continued(&self) -> String {
        match self.request.purpose {
            Purpose::Answer => String::new(),
            Purpose::Continue => self.shown().unwrap_or_default(),
        }
    }

    /// What the client shows as the last answer.
    fn shown(&self) -> Option<String> {
        history_exchanges(&self.request.history).pop().and_then(|(_, answer)| answer)
    }

    async fn after(&self) -> Result<TurnPosition, ReadError> {
        match &self.request.parent {
            ParentSelector::Latest => match self.latest().await? {
                Some(turn) => Ok(TurnPosition::new(Some(turn), Account::Own)),
                None => Ok(self.at_beginning()),
            },
            ParentSelector::Ids { parent: None } => Ok(self.at_beginning()),
            ParentSelector::Ids { parent: Some(parent) } => match self.by_message(parent).await? {
                Some(turn) if self.is_way_to(&turn).await? => Ok(self.after_turn(turn)),
                // The answer before is another model's, or from before Helix's time; or the client asks for a variant of
                // an answer (Open WebUI's "More Concise"), whose history goes on beyond the parent that it names; or the user has deleted
                // a message before.
                Some(_) | None => self.after_history().await,
            },
            ParentSelector::History => self.after_history().await,
        }
    }

    async fn continuing(&self) -> Result<TurnPosition, ReadError> {
        let known = match (&self.request.client.message, &self.request.parent) {
            (Some(message), _) => self.by_message(message).await?,
            (None, ParentSelector::Latest) => self.latest().await?,
            (None, ParentSelector::Ids { .. } | ParentSelector::History) => None,
        };
        match known {
            Some(turn) => Ok(self.after_turn(turn)),
            None => self.after_history().await,
        }
    }

    fn at_beginning(&self) -> TurnPosition {
        // What the client tells although nothing was before it: a history that was made elsewhere.
        let account = if self.request.history.is_empty() { Account::Own } else { Account::Client };
        TurnPosition::new(None, account)
    }

    /// Whether the history that the client shows is the way to this turn: each answered message of it, and no other, by the user's words
    /// or by the answer. Who deletes a message wants it forgotten.
    async fn is_way_to(&self, turn: &TurnView) -> Result<bool, ReadError> {
        let mut told = history_exchanges(&self.request.history);
        if told.is_empty() {
            return Ok(true);
        }
        let (mut turns, mut next) = (HashMap::new(), Some(turn.id.clone()));
        let mut first = None;
        while let Some(id) = next {
            if !turns.contains_key(&id) {
                // A copy of a session goes on from turns of its origin.
                let Some(turn) = self.journal.turn(id.clone()).await? else { return Ok(false) };
                let of_session = self.journal.turn_summaries(turn.session).await?;
                turns.extend(of_session.into_iter().map(|one: TurnSummary| (one.id.clone(), one)));
            }
            let Some(summary) = turns.get(&id) else { return Ok(false) };
            // Messages without an answer may never have reached Helix.
            loop {
                let Some((asked, answered)) = told.pop() else { return Ok(false) };
                if TextDigest::new(&asked) == summary.asked
                    || self.is_exchange(&id, &asked, answered.as_deref()).await?
                {
                    break;
                }
                if answered.is_some() {
                    return Ok(false);
                }
            }
            (first, next) = (Some(id), summary.under.clone());
        }
        let first = self.turn(first.as_ref()).await?;
        Ok(before(&told) == first.and_then(|turn| turn.begin.before))
    }

    /// Whether a turn is what a client shows: a message that a client wraps anew, or changed words before the same answer.
    async fn is_exchange(&self, turn: &TurnId, asked: &str, answered: Option<&str>) -> Result<bool, ReadError> {
        let Some(turn) = self.turn(Some(turn)).await? else { return Ok(false) };
        let same_words = !asked.trim().is_empty() && turn.begin.message.contains(asked.trim());
        let said = turn.end.as_ref().map_or("", |end| end.text());
        Ok(same_words || answered.is_some_and(|answered| same_answer(answered, said)))
    }

    /// After a turn that the client named. What the client shows as its answer may have been edited.
    fn after_turn(&self, turn: TurnView) -> TurnPosition {
        let mut position = TurnPosition::new(Some(turn), Account::Own);
        if let (Some(shown), Some(turn)) = (self.shown(), &position.parent)
            && let Some(end) = turn.end.as_ref().filter(|_| turn.continues.is_none())
            && relation(&shown, end.text()) == TextRelation::Different
            && end.answered.as_ref() != Some(&TextDigest::new(&shown))
        {
            position.differences.push(Difference::EditedAnswer(shown));
        }
        position
    }

    async fn after_history(&self) -> Result<TurnPosition, ReadError> {
        let told = history_exchanges(&self.request.history);
        let history = digests(&told);
        let stubs = self.journal.turn_summaries(self.view.id.clone()).await?;
        let found = match_history(&stubs, &history, |at| before(&told[..at]));
        let HistoryMatch::Here { after, mismatches, unseen, .. } = found else {
            // After something that Helix does not know.
            return Ok(TurnPosition::new(None, Account::Client));
        };
        for mismatch in mismatches {
            let shown = told.get(mismatch.exchange).and_then(|(_, answer)| answer.as_deref()).unwrap_or_default();
            let recorded = self.turn(Some(&mismatch.turn)).await?.and_then(|turn| turn.end);
            // A client that stopped reading has the beginning of the answer; anything else was changed.
            if recorded.is_none_or(|end| relation(shown, end.text()) == TextRelation::Different) {
                return Ok(TurnPosition::new(self.turn(after.as_ref()).await?, Account::Client));
            }
        }
        let mut position = TurnPosition::new(self.turn(after.as_ref()).await?, Account::Own);
        let lost = unseen.into_iter().filter_map(|index| told.get(index));
        position.differences.extend(lost.map(|(asked, _)| Difference::UnseenMessage(asked.clone())));
        Ok(position)
    }

    /// Answers before this place that nobody has read, the oldest first: the user never saw them. The connection may also have broken
    /// between an answer and the note below it.
    async fn find_unheard(&self, position: &mut TurnPosition) -> Result<(), ReadError> {
        let shown = self.shown();
        let (mut found, mut next) = (Vec::new(), position.parent.clone());
        while let Some(turn) = next {
            let Some(end) = turn.end.as_ref().filter(|end| end.delivery == Delivery::Undelivered) else { break };
            let is_shown = found.is_empty()
                && shown.as_ref().is_some_and(|shown| relation(shown, end.text()) == TextRelation::Same);
            if is_shown {
                let is_untold = |note: &String| !self.request.last_shown.contains(note.trim());
                position.untold = end.note.as_ref().is_some_and(is_untold).then(|| turn.clone());
                break;
            }
            next = self.turn(turn.parent.as_ref()).await?;
            found.push(turn);
        }
        found.retain(TurnView::is_unheard);
        found.reverse();
        position.unheard = found;
        Ok(())
    }

    /// The turn that was started last.
    async fn latest(&self) -> Result<Option<TurnView>, ReadError> {
        self.turn(self.view.latest.as_ref()).await
    }

    async fn turn(&self, id: Option<&TurnId>) -> Result<Option<TurnView>, ReadError> {
        match id {
            Some(id) => self.journal.turn(id.clone()).await,
            None => Ok(None),
        }
    }

    async fn by_message(&self, message: &str) -> Result<Option<TurnView>, ReadError> {
        self.journal.turn_by_message(self.view.owner.clone(), message.to_owned()).await
    }
}

fn history_exchanges(history: &[Message]) -> Vec<(String, Option<String>)> {
    exchanges(history.iter().map(|message| (message.author, message.text.as_str())))
}
