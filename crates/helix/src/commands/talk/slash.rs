//! Commands of a chat: words that begin with a slash and are for Helix, not for the Consultant.
//!
//! Must not do any command's work that another one does already.

use helix_language::say;
use helix_server::wire::SessionPage;
use jiff::Timestamp;

use super::{Conversation, transcript};
use crate::client::Talk;
use crate::commands::jobs;
use crate::error::{CommandError, Exit, codes};
use crate::terminal::one_line;

/// Every command, for completion.
pub(super) const WORDS: &[&str] =
    &["/help", "/plan", "/jobs", "/diff", "/sessions", "/resume", "/new", "/show", "/model", "/quit"];

/// Sessions that are listed.
const MOST_LISTED: usize = 20;

/// A command with what stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    word: String,
    rest: String,
}

impl Command {
    /// The command that a text is, if it is one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_command = word.len() > 1 && word.starts_with('/') && !word[1..].contains('/') && !text.contains('\n');
        is_command.then(|| Self { word: word.to_owned(), rest: rest.trim().to_owned() })
    }
}

impl Conversation<'_> {
    /// Does what a command says. The end of the chat, if it is that.
    pub(super) async fn command(&mut self, command: Command) -> Result<Option<Exit>, CommandError> {
        let (context, language, rest) = (self.context, self.context.terminal.language, command.rest);
        match command.word.as_str() {
            "/help" => context.terminal.say(&say!(language, "chat-help")),
            "/quit" | "/exit" => {
                self.say_how_to_continue().await?;
                return Ok(Some(Exit::Success));
            }
            "/plan" => match self.drafts().await? {
                Some(drafts) => {
                    drafts.show(context)?;
                    self.offered = Some(drafts);
                    return self.ask_about_drafts().await;
                }
                None => context.terminal.say(&say!(language, "drafts-none")),
            },
            "/jobs" => drop(jobs::list_here(context).await?),
            "/diff" => {
                let job = match rest.is_empty() {
                    false => Some(rest),
                    true => self.session().await?.and_then(|found| Some(found.session.jobs.last()?.to_string())),
                };
                match job {
                    Some(job) => drop(jobs::diff(context, &job).await?),
                    None => context.terminal.say(&say!(language, "chat-no-job")),
                }
            }
            "/sessions" => list(self).await?,
            "/resume" => self.resume(&rest).await?,
            "/new" => {
                self.say_how_to_continue().await?;
                (self.talk, self.begun, self.offered) = (Self::named(), false, None);
            }
            "/show" => match self.session().await? {
                Some(found) => drop(context.terminal.data(transcript(context, &found).trim_end())?),
                None => context.terminal.say(&say!(language, "term-no-answer")),
            },
            "/model" => {
                self.model = Some(rest).filter(|name| !name.is_empty());
                context.terminal.say(&match &self.model {
                    Some(model) => say!(language, "chat-model", model = model),
                    None => say!(language, "chat-model-configured"),
                });
            }
            unknown => {
                let error = CommandError::unknown(format!("no command {unknown}"), unknown, WORDS);
                context.terminal.report(&error);
            }
        }
        Ok(None)
    }

    /// Goes on with another session: the one of this number in the list, of this id, or the last one.
    async fn resume(&mut self, wanted: &str) -> Result<(), CommandError> {
        let client = self.client().await?;
        let sessions = client.sessions(MOST_LISTED).await?.sessions;
        let found = match wanted.parse::<usize>() {
            _ if wanted.is_empty() => {
                let current = self.session().await?.map(|current| current.session.id);
                sessions.into_iter().find(|session| Some(&session.id) != current.as_ref())
            }
            Ok(number) => number.checked_sub(1).and_then(|at| sessions.into_iter().nth(at)),
            Err(_) => client.session(wanted).await?.map(|found| found.session),
        };
        let Some(session) = found else {
            return Err(CommandError::usage(codes::NOT_FOUND, format!("no session {wanted:?}"))
                .hint("/sessions lists the last ones"));
        };
        let context = self.context;
        (self.talk, self.begun, self.offered) = (Talk::Session(session.id), true, None);
        if let Some(found) = self.session().await? {
            context.terminal.data(transcript(context, &found).trim_end())?;
        }
        Ok(())
    }
}

async fn list(conversation: &Conversation<'_>) -> Result<(), CommandError> {
    let client = conversation.client().await?;
    let page = client.sessions(MOST_LISTED).await?;
    show_list(conversation.context, &client, &page).await.map(drop)
}

/// Shows sessions, newest first: what was said first in each, and where.
pub(crate) async fn show_list(
    context: &crate::context::Context,
    client: &crate::client::Client,
    page: &SessionPage,
) -> crate::error::Ended {
    let (language, now) = (context.terminal.language, Timestamp::now());
    let mut rows = Vec::new();
    for (number, session) in (1..).zip(&page.sessions) {
        let found = client.session(session.id.as_str()).await?;
        let first = found.and_then(|found| Some(found.turns.first()?.begin.message.clone())).unwrap_or_default();
        let project = session.project.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        rows.push([
            (number.to_string(), None),
            (session.id.to_string(), None),
            (language.ago(session.updated_at, now), None),
            (one_line(project, 24), None),
            (one_line(&first, 60), None),
        ]);
    }
    let headings = ["#", "session", "last-message", "project", "began-with"];
    context.terminal.list(&page.sessions, &say!(language, "sessions-none"), headings, rows)
}

#[cfg(test)]
#[path = "slash_test.rs"]
mod tests;
