//! What a run is told of the session so far: the agent's own session where it ends at the right point, a copy of it
//! that is cut there, or else the record as text.
//!
//! Must not know how a place was found, nor how runs are carried out.

use std::sync::Arc;

use helix_agents::SessionRef;
use helix_core::ids::AgentSessionId;
use helix_core::run::Outcome;
use helix_job::session::{SessionView, TurnView};
use helix_language::{ErrorView, Language};
use helix_store::{Journal, ReadError};

use super::facts::{Facts, Told};
use super::locator::{Account, Difference, TurnPosition};
use super::phrases::{of_outcome, unreadable_record};
use super::prompt::USER_MESSAGE;
use super::{Author, Message, TurnRequest};

/// Longest record of a session that a new agent session is given, in characters; the oldest is left out first.
const HISTORY_LIMIT: usize = 60_000;

/// What a run is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) session: SessionRef,
    /// What stands before the user's message: notes, or the record of what was said.
    pub(super) preface: String,
    /// Which facts the session has been told.
    pub(super) told: Told,
}

impl Context {
    /// The agent session that the run writes to.
    pub(super) fn writes_to(&self) -> &AgentSessionId {
        match &self.session {
            SessionRef::New(id) | SessionRef::Resume(id) => id,
            SessionRef::Fork { new, .. } | SessionRef::Cut { new, .. } => new,
        }
    }

    /// The agent session that the run goes on from.
    pub(super) fn resumes(&self) -> Option<&AgentSessionId> {
        match &self.session {
            SessionRef::New(_) => None,
            SessionRef::Resume(id) => Some(id),
            SessionRef::Fork { from, .. } | SessionRef::Cut { from, .. } => Some(from),
        }
    }
}

/// Finds what the first run of a turn is told.
pub(super) async fn at(
    journal: &Arc<dyn Journal>,
    view: &SessionView,
    position: &TurnPosition,
    request: &TurnRequest,
) -> Result<Context, ErrorView> {
    match (position.account, &position.parent) {
        (Account::Own, Some(parent)) => {
            match resumable(journal, parent).await.map_err(unreadable_record(request.language()))? {
                Some(base) => going_on(journal, view, position, request, base).await,
                None => rebuilt(journal, position, request).await,
            }
        }
        (Account::Own, None) | (Account::Client, _) => rebuilt(journal, position, request).await,
    }
}

/// What a run is told that cannot go on from the agent's own session: the record, as data.
pub(super) async fn rebuilt(
    journal: &Arc<dyn Journal>,
    position: &TurnPosition,
    request: &TurnRequest,
) -> Result<Context, ErrorView> {
    let mut preface = Preface::default();
    let said = match (position.account, &position.parent) {
        (Account::Own, Some(parent)) => {
            recorded(journal, parent).await.map_err(unreadable_record(request.language()))?
        }
        (Account::Own, None) | (Account::Client, _) => request.history.clone(),
    };
    preface.record(&said);
    preface.about(position);
    Ok(Context { session: SessionRef::New(new_session()?), preface: preface.0, told: Told::new() })
}

/// A turn whose agent session can be resumed, and what was said after it without an answer.
struct Base {
    turn: TurnView,
    session: AgentSessionId,
    unanswered: Vec<String>,
}

/// The nearest turn, upwards from one, that left a session behind. None where the session has outgrown the model:
/// resuming would only fail again.
async fn resumable(journal: &Arc<dyn Journal>, parent: &TurnView) -> Result<Option<Base>, ReadError> {
    let (mut turn, mut unanswered) = (parent.clone(), Vec::new());
    loop {
        if let Some(end) = &turn.end {
            if Outcome::from_facts(&end.facts) == Outcome::ContextOverflow {
                return Ok(None);
            }
            if let Some(session) = end.session.clone() {
                unanswered.reverse();
                return Ok(Some(Base { turn, session, unanswered }));
            }
        }
        unanswered.push(turn.begin.message.clone());
        let Some(before) = turn.parent else { return Ok(None) };
        match journal.turn(before).await? {
            Some(before) => turn = before,
            None => return Ok(None),
        }
    }
}

async fn going_on(
    journal: &Arc<dyn Journal>,
    view: &SessionView,
    position: &TurnPosition,
    request: &TurnRequest,
    base: Base,
) -> Result<Context, ErrorView> {
    let last = journal.last_writer(base.session.clone()).await;
    let last = last.map_err(unreadable_record(request.language()))?;
    let at_its_end = last.as_ref() == Some(&base.turn.id);
    let at_home = base.turn.session == view.id;
    let point = base.turn.end.as_ref().and_then(|end| end.point.clone());
    let session = match (at_its_end && at_home, point) {
        (true, _) => SessionRef::Resume(base.session),
        (false, Some(at)) => SessionRef::Cut { from: base.session, new: new_session()?, at },
        (false, None) if at_its_end => SessionRef::Fork { from: base.session, new: new_session()? },
        (false, None) => {
            // The agent cannot cut its session there: its record does.
            return rebuilt(journal, position, request).await;
        }
    };
    let mut preface = Preface::default();
    if !at_home {
        preface.remark(&format!(
            "this session is a copy of another one. Your directory is now {}; your files were copied there",
            view.directory
        ));
    }
    for message in &base.unanswered {
        preface.quote("the user's earlier message, which got no answer", message);
    }
    preface.about(position);
    Ok(Context { session, preface: preface.0, told: told_by(base.turn) })
}

/// Which facts a turn left its agent session with. Of one without an answer nobody knows how far its message came, and a summary
/// may have lost any of them.
fn told_by(turn: TurnView) -> Told {
    let kept = turn.end.as_ref().is_some_and(|end| end.is_answer() && !end.facts.compacted);
    if kept { turn.begin.facts } else { Told::new() }
}

/// What was said up to and with a turn, by Helix's own record; the newest part, as far as an agent is told.
async fn recorded(journal: &Arc<dyn Journal>, last: &TurnView) -> Result<Vec<Message>, ReadError> {
    let (mut said, mut length, mut next) = (Vec::new(), 0, Some(last.clone()));
    while let Some(turn) = next {
        let answer = turn.end.as_ref().map(|end| end.text().to_owned()).filter(|answer| !answer.trim().is_empty());
        length += turn.begin.message.len() + answer.as_ref().map_or(0, String::len);
        said.extend(answer.map(|text| Message { author: Author::Consultant, text }));
        said.push(Message { author: Author::User, text: turn.begin.message });
        if length > 4 * HISTORY_LIMIT {
            break;
        }
        next = match turn.parent {
            Some(parent) => journal.turn(parent).await?,
            None => None,
        };
    }
    said.reverse();
    Ok(said)
}

/// Text before the user's message.
#[derive(Default)]
struct Preface(String);

impl Preface {
    /// What the agent cannot know of the place.
    fn about(&mut self, position: &TurnPosition) {
        let end = position.parent.as_ref().and_then(|parent| parent.end.as_ref());
        let outcome = end.map(|end| Outcome::from_facts(&end.facts));
        if let Some(Outcome::Cancelled | Outcome::Interrupted) = outcome {
            self.remark("the user, or the end of the connection to the user's client, stopped your last answer before it was finished");
        } else if let Some(error) = outcome.as_ref().and_then(|outcome| of_outcome(Language::English, outcome)) {
            self.remark(&format!("your last answer failed: {}", error.message));
        }
        for difference in &position.differences {
            let (what, text) = match difference {
                Difference::EditedAnswer(text) => ("the user has edited your last answer. This text counts now", text),
                Difference::Job(text) => {
                    ("news of a job of this session since the user's last message, from the journal", text)
                }
                Difference::UnseenMessage(text) => ("another earlier message of the user, which got no answer", text),
            };
            self.quote(what, text);
        }
    }

    fn remark(&mut self, text: &str) {
        self.0.push_str(&format!("[Helix: {text}.]\n\n"));
    }

    fn quote(&mut self, what: &str, quoted: &str) {
        let fence = helix_core::finding::fence_for(quoted);
        self.0.push_str(&format!("[Helix: {what}:]\n{fence}text\n{quoted}\n{fence}\n\n"));
    }

    fn record(&mut self, said: &[Message]) {
        if said.is_empty() {
            return;
        }
        let (mut lines, mut length): (Vec<String>, usize) = (Vec::new(), 0);
        for one in said.iter().rev() {
            length += one.text.chars().count();
            if length > HISTORY_LIMIT {
                lines.push("(earlier parts are omitted)".into());
                break;
            }
            let who = match one.author {
                Author::User => "user",
                Author::Consultant => "consultant",
            };
            lines.push(format!("[{who}]\n{}", one.text));
        }
        lines.reverse();
        let record = lines.join("\n\n");
        let fence = helix_core::finding::fence_for(&record);
        self.0.push_str(&format!("The record of this session so far, as data:\n{fence}text\n{record}\n{fence}\n\n"));
    }
}

impl Context {
    /// The whole message: what Helix has to say first, and then nothing but the user's own. `files` tells of those that came with it.
    pub(super) fn prompt(&self, facts: &Facts, files: &str, message: &str) -> String {
        format!("{}{}{files}{USER_MESSAGE}\n\n{message}", self.preface, facts.news(&self.told))
    }
}

fn new_session() -> Result<AgentSessionId, ErrorView> {
    AgentSessionId::new(uuid::Uuid::now_v7().to_string()).map_err(|error| ErrorView::new(error.to_string()))
}

#[cfg(test)]
#[path = "context_test.rs"]
mod tests;
