//! A turn as it stands. Must not know how turns hang together.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::TextDigest;
use helix_core::finding::Finding;
use helix_core::ids::{AgentSessionId, RunId, SessionId, TurnId};
use helix_core::run::{Outcome, Retry, RunFacts};
use helix_core::usage::Usage;

/// A turn as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnView {
    /// Its id.
    pub id: TurnId,
    /// Its session.
    pub session: SessionId,
    /// Its number in the session, from 1, by time of start.
    pub number: u32,
    /// The turn that it goes on from; absent at the beginning. May be one of another session.
    pub parent: Option<TurnId>,
    /// What stands before it in the client's tree. Differs from `parent` where the turn continues an answer.
    pub under: Option<TurnId>,
    /// The turn whose answer it continues, if it does.
    pub continues: Option<TurnId>,
    /// What it is about.
    #[serde(flatten)]
    pub begin: TurnStart,
    /// When it began.
    pub started_at: Timestamp,
    /// What was found in answers of its runs, in their order; nothing where all was well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<AnswerCheck>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How it ended; absent while it runs.
    pub end: Option<TurnEnd>,
}

/// What a turn begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStart {
    /// Its first run.
    pub run: RunId,
    /// The user's message.
    pub message: String,
    /// The user's own words.
    pub asked: TextDigest,
    /// What the client calls it.
    pub client: ClientIds,
    /// What the user said before it to somebody else, where the client tells of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<TextDigest>,
    /// Model that the client chose, in the agent's words.
    pub model: Option<String>,
    /// Files that came with the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Whether the client itself shows drafts to the user and starts them on their yes: then the agent cannot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirms: bool,
    /// Agent session that the turn writes to.
    pub agent_session: Option<AgentSessionId>,
    /// Digests of Helix's facts, by name, that this agent session knows with the turn's message.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, TextDigest>,
}

/// What was found in one run's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerCheck {
    /// The run that gave the answer.
    pub run: RunId,
    /// What was found, never empty.
    pub findings: Vec<AnswerFinding>,
}

/// Something that is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerFinding {
    /// Name of the validator that found it, such as `adr_structure`.
    pub validator: String,
    /// What, where, and how to fix it.
    #[serde(flatten)]
    pub finding: Finding,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnd {
    /// The evidence, of its last run.
    pub facts: Box<RunFacts>,
    /// The answer, also when it was cut off.
    pub answer: String,
    /// What the user was shown, where that is more than the answer.
    pub shown: Option<String>,
    /// Digest of what the client shows: with the answer that this one continues, if it does.
    pub answered: Option<TextDigest>,
    /// What it consumed, all runs together.
    pub usage: Usage,
    /// The agent session that the next turn resumes.
    pub session: Option<AgentSessionId>,
    /// The point of that session at which the turn ended.
    pub point: Option<String>,
    /// How many runs it took.
    pub runs: u32,
    /// Whether somebody read it to its end.
    pub delivery: Delivery,
    /// What stands below it in Helix's own words; absent where it passed all its checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What was found in the answer; nothing where it is in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfixed: Vec<AnswerFinding>,
}

/// What a client calls a turn; each opaque.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientIds {
    /// Id of the answer.
    pub message: Option<String>,
    /// Id of the user's message.
    pub user_message: Option<String>,
    /// What the request said, as a digest: the same request sent again has the same.
    pub request: Option<String>,
}

/// A file that came with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// Path, relative to the session's directory.
    pub path: String,
    /// What the user calls it, if anything.
    pub name: Option<String>,
    /// Media type as the client names it.
    pub media_type: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// Whether a turn's end reached a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Somebody read it to its end.
    Delivered,
    /// Nobody was there any more: the same request, sent again, is given this answer; another one is told of it.
    Undelivered,
}

impl TurnView {
    /// What was found in the answer that was kept.
    pub fn unfixed(&self) -> &[AnswerFinding] {
        self.end.as_ref().map_or(&[], |end| &end.unfixed)
    }

    /// Whether it has an answer that nobody has read to its end.
    pub fn is_unheard(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.delivery == Delivery::Undelivered && end.is_answer())
    }

    /// Whether the turn ended with an answer.
    pub fn is_answered(&self) -> bool {
        self.end.as_ref().is_some_and(TurnEnd::is_answer)
    }

    /// Names of the runs that it took, or of the first while it runs; none where it only gives an answer that was there.
    pub fn runs(&self) -> Vec<RunId> {
        let count = self.end.as_ref().map_or(1, |end| end.runs);
        (1..=count).map(|number| RunId::for_turn(&self.id, number)).collect()
    }
}

impl TurnEnd {
    /// What the user read: everything that was shown.
    pub fn text(&self) -> &str {
        self.shown.as_deref().unwrap_or_else(|| helix_core::step_marker::split(&self.answer).0)
    }

    /// Whether it is an answer, and not an answer's failure.
    pub fn is_answer(&self) -> bool {
        Outcome::from_facts(&self.facts).retry() == Retry::Accept
    }
}
