//! A conversation with the Consultant at the terminal: messages, drafts that wait for a yes, and the jobs that come of them.
//!
//! Must not know the wire, nor how a job is watched.

mod drafts;
mod slash;

use std::path::{Path, PathBuf};

use helix_core::ids::JobId;
use helix_core::run::{Outcome, Retry};
use helix_engine::tools::PLAN_DRAFT;
use helix_job::JobView;
use helix_job::phrases::described;
use helix_job::session::TurnView;
use helix_language::say;
use helix_process::bounded::read_text;
use helix_server::Profile;
use helix_server::wire::{DraftStart, SessionDetail};
use jiff::Timestamp;
use tokio::signal::unix::SignalKind;

use crate::client::{ChatEvent, ChatStream, Client, ClientError, Here, Talk};
use crate::commands::run::follow;
use crate::context::Context;
use crate::editor::edit;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::runtime::signal_stream;
use crate::terminal::{Blocks, LineEditor, Meaning, Typed, one_line, plain, rendered};
use crate::watch::Interrupt;

use drafts::Answer;
pub(crate) use drafts::Drafts;
pub(crate) use slash::show_list;
use slash::{Command, WORDS};

/// Name of the file with the texts of former chats, in the state directory.
const HISTORY: &str = "chat-history";

/// A conversation under way.
pub(crate) struct Conversation<'a> {
    context: &'a Context,
    pub(crate) talk: Talk,
    pub(crate) model: Option<String>,
    /// Where the user is, and whether this terminal starts drafts itself.
    here: Here,
    /// How drafts are to run.
    pub(crate) start: DraftStart,
    /// The drafts that were offered last, which are offered once.
    offered: Option<Drafts>,
    /// Whether something was said.
    pub(crate) begun: bool,
    /// Whether the command ends with the job of the person's yes.
    ends_with_job: bool,
    editor: Option<LineEditor>,
}

/// How a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Answered,
    /// The user stopped the answer.
    Stopped,
}

impl<'a> Conversation<'a> {
    /// A conversation of this terminal. `confirms`: drafts are shown here, and start on a yes.
    pub(crate) fn new(context: &'a Context, talk: Talk, model: Option<String>, confirms: bool) -> Self {
        let begun = matches!(talk, Talk::Session(_));
        let (directory, language) = (context.environment.directory.clone(), context.terminal.language);
        let here = Here { directory, profile: Profile::Terminal, confirms, language };
        let start = DraftStart::default();
        Self { context, talk, model, here, start, offered: None, begun, ends_with_job: false, editor: None }
    }

    /// A conversation in an editor, which shows drafts as this does.
    pub(crate) fn in_editor(context: &'a Context, talk: Talk) -> Self {
        let mut conversation = Self::new(context, talk, None, true);
        conversation.here.profile = Profile::Editor;
        conversation
    }

    /// Sends a message; the answer streams.
    ///
    /// # Errors
    /// The Consultant or the host failed.
    pub(crate) async fn ask(&self, client: &Client, message: &str) -> Result<ChatStream, ClientError> {
        client.chat(&self.talk, self.model.as_deref(), &self.here, message).await
    }

    /// A new name for a conversation that begins here.
    pub(crate) fn named() -> Talk {
        Talk::New(format!("terminal-{}-{}", Timestamp::now().as_millisecond(), std::process::id()))
    }

    /// The host, which stays when this command ends: what was begun goes on there.
    pub(crate) async fn client(&self) -> Result<Client, CommandError> {
        self.context.host().await
    }

    /// The record so far; `None` before the first message.
    pub(crate) async fn session(&self) -> Result<Option<SessionDetail>, CommandError> {
        Ok(self.client().await?.session(self.talk.name()).await?)
    }

    /// How to come back.
    pub(crate) async fn say_how_to_continue(&self) -> Result<(), CommandError> {
        // A message that reached no agent has left no session.
        if self.begun && self.session().await?.is_some() {
            let resume = say!(self.context.terminal.language, "term-continue", session = self.talk.name());
            self.context.terminal.say(&resume);
        }
        Ok(())
    }

    /// Which job of the session goes on.
    pub(crate) async fn say_what_goes_on(&self) -> Result<(), CommandError> {
        let session = self.session().await?;
        let Some(last) = session.as_ref().and_then(|found| found.session.jobs.last()) else { return Ok(()) };
        let job = self.client().await?.job(last.as_str()).await?;
        if !job.status.is_final() {
            let (language, id) = (self.context.terminal.language, job.id.as_str());
            self.context.terminal.say(&say!(language, "term-job-goes-on", job = &job.name, id = id));
        }
        Ok(())
    }

    /// Sends a message and shows its answer. Ctrl-C stops the answer and its agent.
    ///
    /// # Errors
    /// The Consultant or the host failed.
    pub(crate) async fn say(&mut self, message: &str) -> Result<Said, CommandError> {
        let mut interrupts = signal_stream(SignalKind::interrupt())?;
        let client = self.client().await?;
        self.begun = true;
        let mut answer = tokio::select! {
            answer = self.ask(&client, message) => answer?,
            _ = interrupts.recv() => return Ok(Said::Stopped),
        };
        let (terminal, columns) = (self.context.terminal, self.context.terminal.columns());
        // Around an answer as within it: Helix speaks the language of the conversation, whatever the terminal's is.
        let language = answer.language.unwrap_or(terminal.language);
        let (mut blocks, mut stopped, mut said, mut thought) = (Blocks::default(), false, false, String::new());
        let show = |text: &str, columns: usize| {
            terminal.raw(&format!("{}\n", rendered(text, language, terminal.look, columns)))
        };
        let status = |text: &str| {
            terminal.say(&terminal.paint_error(Meaning::Weak, &format!("  {}", one_line(text, 120))));
        };
        let ended = loop {
            let event = tokio::select! {
                event = answer.next() => event,
                _ = interrupts.recv() => {
                    // At the second one, the agent is left to its host.
                    if std::mem::replace(&mut stopped, true) {
                        break Ok(());
                    }
                    if let Some(session) = client.session(self.talk.name()).await? {
                        client.stop_turn(&session.session.id).await?;
                    }
                    continue;
                }
            };
            said |= matches!(event, Ok(Some(ChatEvent::Text(_))));
            // Thoughts come in pieces of lines. At a terminal, they would stand between the lines of the answer.
            let goes_on = matches!(event, Ok(Some(ChatEvent::Thought(_))));
            if let (Ok(Some(ChatEvent::Thought(text))), None) = (&event, columns) {
                thought.push_str(text);
            }
            let end = if goes_on { thought.rfind('\n').map_or(0, |end| end + 1) } else { thought.len() };
            thought.drain(..end).collect::<String>().lines().filter(|line| !line.trim().is_empty()).for_each(status);
            match (event, columns) {
                (Ok(Some(ChatEvent::Text(text))), None) => drop(terminal.raw(&plain(&text))?),
                (Ok(Some(ChatEvent::Text(text))), Some(columns)) => {
                    if let Some(whole) = blocks.push(&text) {
                        show(&whole, columns)?;
                    }
                }
                (Ok(Some(ChatEvent::Activity(text))), _) => status(&text),
                (Ok(Some(ChatEvent::Thought(_))), _) => {}
                // Terminals are told of calls as activity.
                (Ok(Some(ChatEvent::Call(_))), _) => {}
                (Ok(None), _) => break Ok(()),
                (Err(error), _) => break Err(error),
            }
        };
        match (blocks.rest(), columns) {
            (Some(rest), Some(columns)) => drop(show(&rest, columns)?),
            (_, None) if said => drop(terminal.raw("\n")?),
            (None, _) | (_, None) => {}
        }
        match ended {
            Err(_) if stopped => terminal.say(&say!(language, "term-stopped")),
            ended => ended?,
        }
        Ok(if stopped { Said::Stopped } else { Said::Answered })
    }

    /// Sends a message and waits for the end of its answer, which is in the record then.
    ///
    /// # Errors
    /// The Consultant or the host failed.
    pub(crate) async fn send(&self, message: &str) -> Result<(), CommandError> {
        let mut answer = self.ask(&self.client().await?, message).await?;
        while answer.next().await?.is_some() {}
        Ok(())
    }

    /// The turn of a message that was answered.
    ///
    /// # Errors
    /// The host does not answer, or has no record of it.
    pub(crate) async fn turn(&self, message: &str) -> Result<TurnView, CommandError> {
        let turns = self.session().await?.map(|session| session.turns).unwrap_or_default();
        let answered = |turn: &TurnView| turn.begin.message == message && turn.end.is_some();
        turns.into_iter().rfind(answered).ok_or_else(|| {
            CommandError::helix(codes::HOST_UNINTELLIGIBLE, "the host has no record of the answer")
                .hint("send the message again")
        })
    }

    /// The drafts that wait for a yes.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) async fn drafts(&self) -> Result<Option<Drafts>, CommandError> {
        let Some(found) = self.session().await? else { return Ok(None) };
        let last = match found.session.jobs.last() {
            Some(last) => Some(self.client().await?.job(last.as_str()).await?.created_at),
            None => None,
        };
        Drafts::waiting(self.context, &found.session, last)
    }

    /// The last job of a session whose plan does not wait any more.
    ///
    /// # Errors
    /// The host failed.
    pub(crate) async fn started(&self) -> Result<Option<JobId>, CommandError> {
        let Some(SessionDetail { session, .. }) = self.session().await? else { return Ok(None) };
        let has_plan = Path::new(&session.directory).join(PLAN_DRAFT).exists();
        Ok(session.jobs.last().filter(|_| has_plan).cloned())
    }

    /// Starts the drafts on the person's yes.
    ///
    /// # Errors
    /// They cannot be run.
    pub(crate) async fn start_drafts(&self) -> Result<(JobView, Client), CommandError> {
        let client = self.client().await?;
        let found = client.session(self.talk.name()).await?;
        let found = found.ok_or_else(|| CommandError::usage(codes::NOT_FOUND, "nothing was said yet"))?;
        let mut start = self.start.clone();
        start.venv = self.context.venv()?;
        let accepted = client.start_drafts(&found.session.id, &start).await?;
        self.context.terminal.say_diagnostics(&accepted.warnings, "");
        Ok((accepted.job, client))
    }

    /// Starts the drafts and follows their job.
    pub(crate) async fn run_drafts(&self, interrupt: Interrupt) -> Ended {
        let (job, _) = self.start_drafts().await?;
        follow(self.context, interrupt, 0, async |_| Ok(job)).await
    }

    /// Talks with the person at the terminal until they leave; with `ends_with_job`, until the job of their yes is over, which is the
    /// end of the command then. `first` is said at once.
    ///
    /// # Errors
    /// The terminal or the host failed.
    pub(crate) async fn converse(&mut self, first: Option<String>, ends_with_job: bool) -> Ended {
        let (context, language) = (self.context, self.context.terminal.language);
        let history = context.settings()?.state_dir.value.join(HISTORY);
        self.editor = Some(LineEditor::new(history, WORDS)?);
        self.ends_with_job = ends_with_job;
        if !ends_with_job {
            context.terminal.say(&say!(language, "term-start"));
        }
        let (mut next, mut warned) = (first, false);
        loop {
            // A session that is taken up may have drafts that wait.
            if self.begun {
                let offered = self.offer().await;
                if let Some(exit) = self.told(offered)? {
                    return Ok(exit);
                }
            }
            let text = match next.take() {
                Some(text) => text,
                None => match self.read(&say!(language, "term-you")).await? {
                    Typed::Text(text) => text,
                    Typed::Interrupted if !warned => {
                        warned = true;
                        context.terminal.say(&say!(language, "term-how-to-leave"));
                        continue;
                    }
                    Typed::Interrupted => {
                        self.say_how_to_continue().await?;
                        return Ok(Exit::Interrupted);
                    }
                    Typed::End => {
                        self.say_how_to_continue().await?;
                        return Ok(Exit::Success);
                    }
                },
            };
            warned = false;
            let said = match Command::parse(text.trim()) {
                None if text.trim().is_empty() => continue,
                None => self.say(text.trim()).await.map(|_| None),
                Some(command) => self.command(command).await,
            };
            if let Some(exit) = self.told(said)? {
                return Ok(exit);
            }
        }
    }

    /// What failed is said, and the conversation goes on; unless nobody reads any more.
    fn told(&self, done: Result<Option<Exit>, CommandError>) -> Result<Option<Exit>, CommandError> {
        match done {
            Err(error @ CommandError::Problem(_)) => {
                self.context.terminal.report(&error);
                Ok(None)
            }
            done => done,
        }
    }

    async fn read(&mut self, prompt: &str) -> Result<Typed, CommandError> {
        match &mut self.editor {
            Some(editor) => editor.read(&format!("{prompt} ")).await,
            None => Ok(Typed::End),
        }
    }

    /// Shows drafts that are new, and does what the person says. The end of the command, if it is that.
    async fn offer(&mut self) -> Result<Option<Exit>, CommandError> {
        let Some(drafts) = self.drafts().await? else { return Ok(None) };
        if self.offered.as_ref() == Some(&drafts) {
            return Ok(None);
        }
        drafts.show(self.context)?;
        self.offered = Some(drafts);
        self.ask_about_drafts().await
    }

    /// Asks whether the drafts shall run.
    async fn ask_about_drafts(&mut self) -> Result<Option<Exit>, CommandError> {
        let language = self.context.terminal.language;
        loop {
            let Some(drafts) = self.offered.clone() else { return Ok(None) };
            let typed = match self.read(&say!(language, "drafts-run")).await? {
                Typed::Text(typed) => typed,
                Typed::Interrupted | Typed::End => String::new(),
            };
            match Answer::parse(&typed) {
                Answer::Yes if !drafts.is_valid() => {
                    self.context.terminal.say(&say!(language, "drafts-invalid"));
                }
                Answer::Yes => {
                    let interrupt = if self.ends_with_job { Interrupt::Cancels } else { Interrupt::Leaves };
                    let ended = self.run_drafts(interrupt).await.map(Some);
                    if let Some(exit) = self.told(ended)? {
                        return Ok(self.ends_with_job.then_some(exit));
                    }
                }
                Answer::NotNow if self.ends_with_job => {
                    self.context.terminal.say(&say!(language, "do-run-it", session = self.talk.name()));
                    return Ok(Some(Exit::NeedsPerson));
                }
                Answer::NotNow => {
                    self.context.terminal.say(&say!(language, "drafts-kept"));
                    return Ok(None);
                }
                Answer::Edit(which) => {
                    let edited = edit(self.context, &drafts.file(which)).await.map(|()| None);
                    self.told(edited)?;
                }
                Answer::Change(text) => {
                    let said = self.say(&text).await.map(|_| None);
                    self.told(said)?;
                }
            }
            match self.drafts().await? {
                // Nothing has changed: the question stands.
                Some(now) if now == drafts => {}
                Some(now) => {
                    now.show(self.context)?;
                    self.offered = Some(now);
                }
                None => return Ok(None),
            }
        }
    }
}

/// The record of a session, for people.
pub(crate) fn transcript(context: &Context, session: &SessionDetail) -> String {
    let (mut text, language) = (String::new(), context.terminal.language);
    for turn in &session.turns {
        let after = turn.parent.as_ref().map(|parent| say!(language, "term-turn-after", turn = parent.as_str()));
        let after = after.map(|after| format!(" {after}")).unwrap_or_default();
        let you = say!(language, "term-you");
        text.push_str(&format!("── {}{after}\n{you} {}\n", turn.id, turn.begin.message.trim()));
        match &turn.end {
            None => text.push_str(&format!("{}\n", say!(language, "term-no-answer"))),
            Some(end) => {
                text.push_str(&format!("{}\n", end.text().trim()));
                let outcome = Outcome::from_facts(&end.facts);
                if outcome.retry() != Retry::Accept {
                    let why = described(language, &outcome).message;
                    text.push_str(&format!("{}\n", say!(language, "term-turn-failed", why = why)));
                }
            }
        }
    }
    plain(&text)
}

/// A file of an agent, of at most so many bytes.
fn read_draft(directory: &std::path::Path, name: &str) -> std::io::Result<Option<String>> {
    const LARGEST: u64 = 8 << 20;
    read_text(Some(directory), &PathBuf::from(directory).join(name), LARGEST)
}
