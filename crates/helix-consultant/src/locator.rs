//! Finds where in a conversation's tree a request stands, and whether it was answered already.
//!
//! Must not know agents: what a new run is told of the place is `context`'s business.

use std::sync::Arc;

use helix_core::ids::TurnId;
use helix_job::session::{
    Delivery, Exchange, HistoryMatch, SessionView, TextDigest, TextRelation, TurnParent, TurnView, exchanges,
    match_history, relation,
};
use helix_store::{Journal, ReadError};

use super::{Message, ParentSelector, Purpose, TurnRequest};

/// Where a request stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Located {
    /// It was answered already and nobody has read the answer to its end: the same request, sent again.
    Again(Box<TurnView>),
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
}

impl TurnPosition {
    fn new(parent: Option<TurnView>, account: Account) -> Self {
        Self { parent, account, differences: Vec::new() }
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
    /// What happened to a job of the conversation since, told in lines.
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
        return Ok(Located::Again(Box::new(turn)));
    }
    let position = match request.purpose {
        Purpose::Answer => locator.after().await?,
        Purpose::Continue => locator.continuing().await?,
    };
    if let Some(turn) = locator.answered_here(&position).await? {
        return Ok(Located::Again(Box::new(turn)));
    }
    Ok(Located::New(Box::new(position)))
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
        Ok(turn.filter(|turn| self.is_same_request(turn) && turn.is_answered()))
    }

    /// The turn of the same request at the same place whose answer nobody has read. A client without ids that asks for
    /// another answer sends the same, so that what was read once is answered anew.
    async fn answered_here(&self, position: &TurnPosition) -> Result<Option<TurnView>, ReadError> {
        if self.request.client.message.is_some() {
            return Ok(None);
        }
        let Some(turn) = self.latest().await? else { return Ok(None) };
        let unread = turn.end.as_ref().is_some_and(|end| end.delivery == Delivery::Undelivered);
        // Without a history the place is "after the latest", which the lost turn itself may be.
        let here = turn.parent == position.parent.as_ref().map(|parent| parent.id.clone())
            || (self.request.parent == ParentSelector::Latest
                && position.parent.as_ref().is_some_and(|at| at.id == turn.id));
        Ok(Some(turn).filter(|turn| unread && here && self.is_same_request(turn) && turn.is_answered()))
    }

    fn is_same_request(&self, turn: &TurnView) -> bool {
        turn.begin.client.request.is_some() && turn.begin.client.request == self.request.client.request
    }

    async fn after(&self) -> Result<TurnPosition, ReadError> {
        match &self.request.parent {
            ParentSelector::Latest => match self.latest().await? {
                Some(turn) => Ok(TurnPosition::new(Some(turn), Account::Own)),
                None => Ok(self.at_beginning()),
            },
            ParentSelector::Ids { parent: None } => Ok(self.at_beginning()),
            ParentSelector::Ids { parent: Some(parent) } => match self.by_message(parent).await? {
                Some(turn) if self.history_ends_with(&turn) => Ok(self.after_turn(turn)),
                // The answer before is another model's, or from before Helix's time; or the client asks for a variant of
                // an answer (Open WebUI's "More Concise"), whose history goes on beyond the parent that it names.
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

    /// Whether the history that the client shows ends with this turn, by the user's words or by the answer.
    fn history_ends_with(&self, turn: &TurnView) -> bool {
        let Some((asked, answered)) = history_exchanges(&self.request.history).pop() else { return true };
        let same_words = TextDigest::of(&asked) == turn.begin.asked
            || (!asked.trim().is_empty() && turn.begin.message.contains(asked.trim()));
        let text = turn.end.as_ref().map_or("", |end| end.text());
        let same_answer = answered.is_some_and(|answered| {
            !answered.trim().is_empty()
                && !text.trim().is_empty()
                && relation(&answered, text) != TextRelation::Different
        });
        same_words || same_answer
    }

    /// After a turn that the client named. What the client shows as its answer may have been edited.
    fn after_turn(&self, turn: TurnView) -> TurnPosition {
        let shown = history_exchanges(&self.request.history).pop().and_then(|(_, answer)| answer);
        let mut position = TurnPosition::new(Some(turn), Account::Own);
        if let (Some(shown), Some(turn)) = (shown, &position.parent)
            && let Some(end) = turn.end.as_ref().filter(|_| turn.continues.is_none())
            && relation(&shown, end.text()) == TextRelation::Different
            && end.answered.as_ref() != Some(&TextDigest::of(&shown))
        {
            position.differences.push(Difference::EditedAnswer(shown));
        }
        position
    }

    async fn after_history(&self) -> Result<TurnPosition, ReadError> {
        let told = history_exchanges(&self.request.history);
        let history: Vec<Exchange> = told
            .iter()
            .map(|(asked, answered)| Exchange {
                asked: TextDigest::of(asked),
                answered: answered.as_deref().map(TextDigest::of),
            })
            .collect();
        let stubs = self.journal.turn_summaries(self.view.id.clone()).await?;
        let HistoryMatch::Here { after, mismatches, unseen } = match_history(&stubs, &history) else {
            // After something that Helix does not know.
            return Ok(TurnPosition::new(None, Account::Client));
        };
        for mismatch in mismatches {
            let shown = told.get(mismatch.exchange).and_then(|(_, answer)| answer.as_deref()).unwrap_or_default();
            let recorded = self.journal.turn(mismatch.turn).await?.and_then(|turn| turn.end);
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
