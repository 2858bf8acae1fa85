//! Standard output and standard error: data on the one, everything else on the other, with or without colour.
//!
//! Must not know what is being said, only how it is shown.

mod editor;
mod keyboard;
mod markdown;
mod problem;
mod table;

use std::io::{ErrorKind, IsTerminal, Write};

use helix_core::diagnostic::Diagnostic;
use helix_language::{Language, say};
use helix_process::secrets::clean;
use serde::Serialize;

use crate::error::{CommandError, Ended, Exit, codes};

pub(crate) use editor::{LineEditor, Typed};
pub(crate) use helix_core::text::{coloured, duration, money, one_line, plain};
pub(crate) use helix_failure::report::Look;
pub(crate) use keyboard::{Hidden, typed_line};
pub(crate) use markdown::{Blocks, rendered};
pub(crate) use table::Cell;

/// A text as it can be pasted into a shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%,".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Whether people or programs read standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    People,
    /// Programs (`--json`).
    Programs,
}

/// What a piece of text means, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Good,
    Bad,
    Attention,
    /// A heading or a name.
    Strong,
    /// Less important than what is around it.
    Weak,
}

/// What a line of a patch means.
pub(crate) fn of_patch(line: &str) -> Option<Meaning> {
    match line.as_bytes().first() {
        Some(b'+') => Some(Meaning::Good),
        Some(b'-') => Some(Meaning::Bad),
        Some(b'@') => Some(Meaning::Weak),
        _ => None,
    }
}

/// Both streams, and how to write to them. What writes data gives [`Exit::Success`], for commands that end with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// Who reads standard output.
    pub(crate) reading: Reading,
    /// Colour on standard output.
    pub(crate) look: Look,
    /// Colour on standard error.
    pub(crate) error_look: Look,
    /// The language of the person who reads; programs read English.
    pub(crate) language: Language,
    /// Whether standard error is a terminal that can move its cursor, so that a screen can be drawn.
    pub(crate) draws: bool,
}

impl Terminal {
    /// Looks at both streams, at `NO_COLOR`, `CLICOLOR_FORCE` and `TERM`, and at the locale.
    pub(crate) fn new(reading: Reading) -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = variable("TERM").is_some_and(|value| value == "dumb");
        let forced = variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let refused = variable("NO_COLOR").is_some();
        let look = |draws: bool| if !refused && (forced || draws) { Look::Colour } else { Look::Plain };
        let language = match reading {
            Reading::People => Language::of_locale(|name| std::env::var(name).ok()),
            Reading::Programs => Language::English,
        };
        let error_draws = std::io::stderr().is_terminal() && !dumb;
        Self {
            reading,
            look: look(std::io::stdout().is_terminal() && !dumb),
            error_look: look(error_draws),
            language,
            draws: error_draws && reading == Reading::People,
        }
    }

    /// Whether somebody sits there who can be asked.
    pub(crate) fn is_attended(&self) -> bool {
        self.reading == Reading::People && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Writes a line of data.
    ///
    /// # Errors
    /// [`CommandError::ReaderLeft`] when nobody reads any more.
    pub(crate) fn data(&self, line: &str) -> Ended {
        self.raw(&format!("{line}\n"))
    }

    /// Writes data as it is; to a terminal nothing that would steer it.
    ///
    /// # Errors
    /// As for [`Terminal::data`].
    pub(crate) fn raw(&self, text: &str) -> Ended {
        let mut stdout = std::io::stdout().lock();
        let text = if stdout.is_terminal() { coloured(text) } else { text.into() };
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(Exit::Success),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(CommandError::ReaderLeft),
            Err(error) => Err(CommandError::unwritten(&error)),
        }
    }

    /// Columns of the terminal that standard output is; `None` where it is none, which gets text as it is.
    pub(crate) fn columns(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        (self.reading == Reading::People).then(|| if size.ws_col == 0 { 80 } else { usize::from(size.ws_col) })
    }

    /// Writes a value as JSON that people can read, too.
    ///
    /// # Errors
    /// As for [`Terminal::data`].
    pub(crate) fn json(&self, value: &impl Serialize) -> Ended {
        self.data(&serde_json::to_string_pretty(value).map_err(no_json)?)
    }

    /// Writes a value as one line of JSON.
    ///
    /// # Errors
    /// As for [`Terminal::data`].
    pub(crate) fn json_line(&self, value: &impl Serialize) -> Ended {
        self.data(&one_json_line(value)?)
    }

    /// Writes what a command found: a value for programs, lines for people.
    ///
    /// # Errors
    /// As for [`Terminal::data`].
    pub(crate) fn answer(&self, value: &impl Serialize, text: &str) -> Ended {
        match self.reading {
            Reading::Programs => self.json(value),
            Reading::People if text.is_empty() => Ok(Exit::Success),
            Reading::People => self.data(&coloured(text.trim_end_matches('\n'))),
        }
    }

    /// Writes a list: a value for programs, a table for people, who are told `nothing` if it is empty.
    ///
    /// # Errors
    /// As for [`Terminal::data`].
    pub(crate) fn list<const N: usize>(
        &self,
        value: &impl Serialize,
        nothing: &str,
        headings: [&str; N],
        rows: impl IntoIterator<Item = [Cell; N]>,
    ) -> Ended {
        let table = self.table(headings, rows);
        if table.is_empty() {
            self.note(nothing);
        }
        self.answer(value, &table)
    }

    /// A table for standard output; empty without rows. Headings are named in English.
    pub(crate) fn table<const N: usize>(
        &self,
        headings: [&str; N],
        rows: impl IntoIterator<Item = [Cell; N]>,
    ) -> String {
        let headings = headings.map(|name| heading(self.language, name));
        table::draw(headings, rows, |meaning, text| self.paint(meaning, text))
    }

    /// Writes a line to standard error that programs can do without: what to do next, or that there is nothing.
    pub(crate) fn note(&self, line: &str) {
        if self.reading == Reading::People {
            self.say(line);
        }
    }

    /// Writes a line for people to standard error.
    pub(crate) fn say(&self, line: &str) {
        to_standard_error(&format!("{}\n", coloured(line)));
    }

    /// Asks for a line on standard error.
    pub(crate) fn prompt(&self, text: &str) {
        to_standard_error(&format!("{} ", coloured(&self.paint_error(Meaning::Strong, text))));
    }

    /// Colours a text for standard output.
    pub(crate) fn paint(&self, meaning: Meaning, text: &str) -> String {
        paint(self.look, meaning, text)
    }

    /// Colours a text for standard error.
    pub(crate) fn paint_error(&self, meaning: Meaning, text: &str) -> String {
        paint(self.error_look, meaning, text)
    }

    /// Says what a command failed with.
    pub(crate) fn report(&self, error: &CommandError) {
        match (error, self.reading) {
            (CommandError::ReaderLeft, _) => {}
            (CommandError::Problem(problem), Reading::People) => {
                self.say(&clean(&problem::draw(problem, self.error_look)));
            }
            (CommandError::Problem(problem), Reading::Programs) => {
                let said = serde_json::json!({ "error": problem });
                let said =
                    serde_json::to_string_pretty(&said).map_err(no_json).and_then(|said| self.data(&clean(&said)));
                if said.is_err() {
                    // The reader has left, or standard output is broken: the exit code remains.
                }
            }
        }
    }

    /// A problem in a text, as standard output shows it.
    pub(crate) fn pictured(&self, diagnostic: &Diagnostic, source: &str) -> String {
        problem::picture(diagnostic, source, self.look)
    }

    /// Draws diagnostics of a file for people, on standard error.
    pub(crate) fn say_diagnostics(&self, diagnostics: &[Diagnostic], source: &str) {
        for diagnostic in diagnostics {
            self.note(&problem::picture(diagnostic, source, self.error_look));
        }
    }
}

/// What a column of a table or a line is about.
pub(crate) fn heading(language: Language, name: &str) -> String {
    say!(language, "heading", of = name)
}

fn to_standard_error(text: &str) {
    let mut stderr = std::io::stderr().lock();
    if stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).is_err() {
        // Nowhere is left to say that nothing can be said; what is typed after a prompt still counts.
    }
}

/// A value as one line of JSON.
///
/// # Errors
/// When it cannot be one.
pub(crate) fn one_json_line(value: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string(value).map_err(no_json)
}

fn no_json(error: serde_json::Error) -> CommandError {
    CommandError::helix(codes::BROKEN, "cannot write an answer as JSON").because(&error)
}

fn paint(look: Look, meaning: Meaning, text: &str) -> String {
    let code = match meaning {
        Meaning::Good => "32",
        Meaning::Bad => "31;1",
        Meaning::Attention => "33",
        Meaning::Strong => "1",
        Meaning::Weak => "2",
    };
    look.paint(code, text)
}
