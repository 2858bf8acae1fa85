//! Finds where in a conversation's tree a request stands, and whether it was answered already.
//!
//! Must not know agents: what a new run is told of the place is `context`'s business.

use std::sync::Arc;

use helix_core::ids::TurnId;
use helix_job::session::{
    Delivery, Exchange, Located, SessionView, Side, TextRelation, TurnPlace, TurnView, WordsDigest, exchanges, locate,
    relation,
};
use helix_store::{Journal, ReadError};

use super::{Place, Purpose, Said, Speaker, TurnRequest};

/// Where a request stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Placed {
    /// It was answered already and nobody has read the answer to its end: the same request, sent again.
    Again(Box<TurnView>),
    /// It is new.
    New(Box<Position>),
}

/// The place of a new turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Position {
    /// For the record.
    pub(super) place: TurnPlace,
    /// The turn that it goes on from; `None` at the beginning, or where Helix does not know what was before.
    pub(super) parent: Option<TurnView>,
    /// Whose account of what was said before is right.
    pub(super) account: Account,
    /// What the user sees otherwise than the record says, or what Helix never saw.
    pub(super) differences: Vec<Difference>,
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
    Unheard(String),
    /// What happened to a job of the conversation since, told in lines.
    Job(String),
}

/// Finds the place of a request. Called when the request's turn has come, so that nothing moves meanwhile.
pub(super) async fn place(
    journal: &Arc<dyn Journal>,
    view: &SessionView,
    request: &TurnRequest,
) -> Result<Placed, ReadError> {
    let placing = Placing { journal, view, request };
    if let Some(turn) = placing.answered_by_id().await? {
        return Ok(Placed::Again(Box::new(turn)));
    }
    let position = match request.purpose {
        Purpose::Answer => placing.after().await?,
        Purpose::Continue => placing.continuing().await?,
    };
    if let Some(turn) = placing.answered_here(&position).await? {
        return Ok(Placed::Again(Box::new(turn)));
    }
    Ok(Placed::New(Box::new(position)))
}

struct Placing<'a> {
    journal: &'a Arc<dyn Journal>,
    view: &'a SessionView,
    request: &'a TurnRequest,
}

impl Placing<'_> {
    /// The turn of the same request under the same id, if it has an answer.
    async fn answered_by_id(&self) -> Result<Option<TurnView>, ReadError> {
        let Some(message) = &self.request.client.message else { return Ok(None) };
        let turn = self.by_message(message).await?;
        Ok(turn.filter(|turn| self.is_same_request(turn) && turn.is_answered()))
    }

    /// The turn of the same request at the same place whose answer nobody has read. A client without ids that asks for
    /// another answer sends the same, so that what was read once is answered anew.
    async fn answered_here(&self, position: &Position) -> Result<Option<TurnView>, ReadError> {
        if self.request.client.message.is_some() {
            return Ok(None);
        }
        let Some(latest) = &self.view.latest else { return Ok(None) };
        let Some(turn) = self.journal.turn(latest.clone()).await? else { return Ok(None) };
        let unread = turn.end.as_ref().is_some_and(|end| end.delivery == Delivery::Unheard);
        // Without a history the place is "after the latest", which the lost turn itself may be.
        let here = turn.parent == position.parent.as_ref().map(|parent| parent.id.clone())
            || (self.request.place == Place::Latest && position.parent.as_ref().is_some_and(|at| at.id == turn.id));
        Ok(Some(turn).filter(|turn| unread && here && self.is_same_request(turn) && turn.is_answered()))
    }

    fn is_same_request(&self, turn: &TurnView) -> bool {
        turn.client.request.is_some() && turn.client.request == self.request.client.request
    }

    async fn after(&self) -> Result<Position, ReadError> {
        match &self.request.place {
            Place::Latest => self.after_latest().await,
            Place::Ids { parent: None } => Ok(self.at_beginning()),
            Place::Ids { parent: Some(parent) } => match self.by_message(parent).await? {
                Some(turn) if self.history_ends_with(&turn) => Ok(self.after_turn(turn)),
                // The answer before is another model's, or from before Helix's time; or the client asks for a variant of
                // an answer (Open WebUI's "More Concise"), whose history goes on beyond the parent that it names.
                Some(_) | None => self.after_history().await,
            },
            Place::History => self.after_history().await,
        }
    }

    async fn continuing(&self) -> Result<Position, ReadError> {
        let known = match (&self.request.client.message, &self.request.place) {
            (Some(message), _) => self.by_message(message).await?,
            (None, Place::Latest) => match &self.view.latest {
                Some(latest) => self.journal.turn(latest.clone()).await?,
                None => None,
            },
            (None, Place::Ids { .. } | Place::History) => None,
        };
        let mut position = match known {
            Some(turn) => self.after_turn(turn),
            None => self.after_history().await?,
        };
        if let Some(turn) = &position.parent {
            position.place = TurnPlace::Continuing { turn: turn.id.clone(), under: turn.under.clone() };
        }
        Ok(position)
    }

    async fn after_latest(&self) -> Result<Position, ReadError> {
        let latest = match &self.view.latest {
            Some(latest) => self.journal.turn(latest.clone()).await?,
            None => None,
        };
        Ok(match latest {
            Some(turn) => own(turn),
            None => self.at_beginning(),
        })
    }

    fn at_beginning(&self) -> Position {
        // What the client tells although nothing was before it: a history that was made elsewhere.
        let account = if self.request.history.is_empty() { Account::Own } else { Account::Client };
        Position { place: TurnPlace::Beginning, parent: None, account, differences: Vec::new() }
    }

    /// Whether the history that the client shows ends with this turn, by the user's words or by the answer.
    fn history_ends_with(&self, turn: &TurnView) -> bool {
        let Some((asked, answered)) = history_exchanges(&self.request.history).pop() else { return true };
        let same_words =
            WordsDigest::of(&asked) == turn.asked || (!asked.trim().is_empty() && turn.message.contains(asked.trim()));
        let text = turn.end.as_ref().map_or("", |end| end.text());
        let same_answer = answered.is_some_and(|answered| {
            !answered.trim().is_empty()
                && !text.trim().is_empty()
                && relation(&answered, text) != TextRelation::Different
        });
        same_words || same_answer
    }

    /// After a turn that the client named. What the client shows as its answer may have been edited.
    fn after_turn(&self, turn: TurnView) -> Position {
        let shown = history_exchanges(&self.request.history).pop().and_then(|(_, answer)| answer);
        let mut position = own(turn);
        if let (Some(shown), Some(turn)) = (shown, &position.parent)
            && let Some(end) = turn.end.as_ref().filter(|_| turn.continues.is_none())
            && relation(&shown, end.text()) == TextRelation::Different
        {
            position.differences.push(Difference::EditedAnswer(shown));
        }
        position
    }

    async fn after_history(&self) -> Result<Position, ReadError> {
        let told = history_exchanges(&self.request.history);
        let history: Vec<Exchange> = told
            .iter()
            .map(|(asked, answered)| Exchange {
                asked: WordsDigest::of(asked),
                answered: answered.as_deref().map(WordsDigest::of),
            })
            .collect();
        let stubs = self.journal.turn_stubs(self.view.id.clone()).await?;
        let Located::Here { after, mismatches, unheard } = locate(&stubs, &history) else {
            return Ok(self.elsewhere());
        };
        for mismatch in mismatches {
            let shown = told.get(mismatch.exchange).and_then(|(_, answer)| answer.as_deref()).unwrap_or_default();
            let recorded = self.journal.turn(mismatch.turn).await?.and_then(|turn| turn.end);
            // A client that stopped reading has the beginning of the answer; anything else was changed.
            if recorded.is_none_or(|end| relation(shown, end.text()) == TextRelation::Different) {
                return Ok(Position { account: Account::Client, ..self.after_id(after).await? });
            }
        }
        let mut position = self.after_id(after).await?;
        let lost = unheard.into_iter().filter_map(|index| told.get(index));
        position.differences.extend(lost.map(|(asked, _)| Difference::Unheard(asked.clone())));
        Ok(position)
    }

    /// After something that Helix does not know.
    fn elsewhere(&self) -> Position {
        Position { place: TurnPlace::Beginning, parent: None, account: Account::Client, differences: Vec::new() }
    }

    async fn after_id(&self, after: Option<TurnId>) -> Result<Position, ReadError> {
        let turn = match after {
            Some(id) => self.journal.turn(id).await?,
            None => None,
        };
        Ok(match turn {
            Some(turn) => own(turn),
            None => Position { account: Account::Own, ..self.elsewhere() },
        })
    }

    async fn by_message(&self, message: &str) -> Result<Option<TurnView>, ReadError> {
        self.journal.turn_by_message(self.view.owner.clone(), message.to_owned()).await
    }
}

fn own(turn: TurnView) -> Position {
    Position {
        place: TurnPlace::After { turn: turn.id.clone() },
        parent: Some(turn),
        account: Account::Own,
        differences: Vec::new(),
    }
}

fn history_exchanges(history: &[Said]) -> Vec<(String, Option<String>)> {
    let side = |by: Speaker| match by {
        Speaker::User => Side::User,
        Speaker::Consultant => Side::Consultant,
    };
    exchanges(history.iter().map(|said| (side(said.by), said.text.as_str())))
}
