//! The line editor of a chat: history, several lines, and a paste as one text.
//!
//! Must not know what is done with a text. The terminal is in its hands only while it reads.

use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};

use super::plain;
use crate::error::{CommandError, codes};

/// Texts that are remembered.
const MOST_TEXTS: usize = 1_000;

/// What a person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D.
    End,
}

/// The editor, with the texts of former chats.
pub(crate) struct LineEditor {
    /// Gone only after a reading that never came back.
    editor: Option<Editor<Message, FileHistory>>,
    history: PathBuf,
}

impl LineEditor {
    /// An editor that remembers texts in a file, and completes these words at the beginning of a text.
    ///
    /// # Errors
    /// When there is no terminal that it can use.
    pub(crate) fn new(history: PathBuf, commands: &'static [&'static str]) -> Result<Self, CommandError> {
        let config = Config::builder().max_history_size(MOST_TEXTS).and_then(|config| config.history_ignore_dups(true));
        let config = config.map_err(unusable)?.history_ignore_space(true).auto_add_history(false).build();
        let mut editor = Editor::with_config(config).map_err(unusable)?;
        editor.set_helper(Some(Message { commands }));
        match editor.load_history(&history) {
            Ok(()) => {}
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(%error, path = ?history, "the history of chats cannot be read"),
        }
        Ok(Self { editor: Some(editor), history })
    }

    /// Reads a text. What is dropped while it reads leaves the terminal to the reading.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub(crate) async fn read(&mut self, prompt: &str) -> Result<Typed, CommandError> {
        let Some(mut editor) = self.editor.take() else { return Ok(Typed::End) };
        let (prompt, history) = (prompt.to_owned(), self.history.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let read = editor.readline(&prompt);
            if let Ok(text) = &read
                && !text.trim().is_empty()
                && editor.add_history_entry(text.as_str()).unwrap_or(false)
                && let Err(error) = editor.append_history(&history)
            {
                tracing::warn!(%error, path = ?history, "the history of chats cannot be written");
            }
            (editor, read)
        });
        let (editor, read) = reading
            .await
            .map_err(|error| CommandError::helix(codes::BROKEN, "reading the terminal failed").because(&error))?;
        self.editor = Some(editor);
        match read {
            Ok(text) => Ok(Typed::Text(plain(&text.replace("\\\n", "\n")))),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupted),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(unusable(error)),
        }
    }
}

fn unusable(error: ReadlineError) -> CommandError {
    CommandError::environment(codes::INPUT_UNREADABLE, "cannot read the terminal").because(&error)
}

/// A message under way: it goes on behind a backslash, and within a fence.
struct Message {
    commands: &'static [&'static str],
}

impl Validator for Message {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
        let goes_on = text.ends_with('\\') || fences % 2 == 1;
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Message {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = line.get(..at).unwrap_or_default();
        let fitting = self.commands.iter().filter(|word| begun.starts_with('/') && word.starts_with(begun));
        Ok((0, fitting.map(|word| format!("{word} ")).collect()))
    }
}

impl Hinter for Message {
    type Hint = String;
}

impl Highlighter for Message {}
impl Helper for Message {}
