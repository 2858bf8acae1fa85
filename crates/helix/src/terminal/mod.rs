//! Standard output and standard error: data on the one, everything else on the other, with or without colour.
//!
//! Must not know what is being said, only how it is shown.

mod keyboard;
mod problem;
mod table;
mod time;

use std::io::{ErrorKind, IsTerminal, Write};

use helix_core::diagnostic::Diagnostic;
use helix_failure::report::Look;
use serde::Serialize;

use crate::codes;
use crate::environment::Environment;
use crate::error::CommandError;

pub(crate) use helix_core::text::{duration, money, one_line, plain};
pub(crate) use keyboard::{typed_line, typed_text};
pub(crate) use table::Table;
pub(crate) use time::{ago, local};

/// Whether people or programs read standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    People,
    /// Programs (`--json`).
    Programs,
}

/// Whether to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    On,
    Off,
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

/// Both streams, and how to write to them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// Who reads standard output.
    pub(crate) reading: Reading,
    /// Colour on standard output.
    pub(crate) colour: Colour,
    /// Colour on standard error.
    pub(crate) error_colour: Colour,
    /// Whether standard error is a terminal, so that bars can be drawn.
    pub(crate) bars: Bars,
}

/// Whether bars can be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bars {
    /// Standard error is a terminal that can move its cursor.
    Drawn,
    /// It is not: plain lines.
    Plain,
}

impl Terminal {
    /// Looks at both streams and at `NO_COLOR`, `CLICOLOR_FORCE` and `TERM`.
    pub(crate) fn new(environment: &Environment, reading: Reading) -> Self {
        let dumb = environment.variable("TERM") == Some("dumb");
        let forced = environment.variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let refused = environment.variable("NO_COLOR").is_some();
        let colour = |is_terminal: bool| match (refused, forced, is_terminal && !dumb) {
            (true, _, _) | (false, false, false) => Colour::Off,
            (false, true, _) | (false, false, true) => Colour::On,
        };
        let error_is_terminal = std::io::stderr().is_terminal();
        Self {
            reading,
            colour: colour(std::io::stdout().is_terminal()),
            error_colour: colour(error_is_terminal),
            bars: if error_is_terminal && !dumb && reading == Reading::People { Bars::Drawn } else { Bars::Plain },
        }
    }

    /// Plain text for people, when nothing is known of the surroundings.
    pub(crate) fn without_surroundings() -> Self {
        Self { reading: Reading::People, colour: Colour::Off, error_colour: Colour::Off, bars: Bars::Plain }
    }

    /// Writes a line of data.
    ///
    /// # Errors
    /// [`CommandError::ReaderLeft`] when nobody reads any more.
    pub(crate) fn data(&self, line: &str) -> Result<(), CommandError> {
        self.raw(&format!("{line}\n"))
    }

    /// Writes data as it is.
    ///
    /// # Errors
    /// As for [`Terminal::data`].
    pub(crate) fn raw(&self, text: &str) -> Result<(), CommandError> {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => CommandError::ReaderLeft,
            _ => CommandError::environment(codes::OUTPUT_STREAM, "cannot write to standard output").because(&error),
        })
    }

    /// Writes a value as JSON that people can read, too.
    ///
    /// # Errors
    /// As for [`Terminal::data`].
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), CommandError> {
        self.data(&serde_json::to_string_pretty(value).map_err(unwritable)?)
    }

    /// Writes a value as one line of JSON.
    ///
    /// # Errors
    /// As for [`Terminal::data`].
    pub(crate) fn json_line(&self, value: &impl Serialize) -> Result<(), CommandError> {
        self.data(&serde_json::to_string(value).map_err(unwritable)?)
    }

    /// Writes what a command found: a value for programs, lines for people.
    ///
    /// # Errors
    /// As for [`Terminal::data`].
    pub(crate) fn answer(&self, value: &impl Serialize, text: &str) -> Result<(), CommandError> {
        match self.reading {
            Reading::Programs => self.json(value),
            Reading::People if text.is_empty() => Ok(()),
            Reading::People => self.data(text.trim_end_matches('\n')),
        }
    }

    /// Writes a line to standard error that programs can do without: what to do next, or that there is nothing.
    pub(crate) fn note(&self, line: &str) {
        if self.reading == Reading::People {
            self.say(line);
        }
    }

    /// Writes a line for people to standard error.
    pub(crate) fn say(&self, line: &str) {
        let mut stderr = std::io::stderr().lock();
        if writeln!(stderr, "{line}").is_err() {
            // Nowhere is left to say that nothing can be said.
        }
    }

    /// Asks for a line on standard error.
    pub(crate) fn prompt(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let prompt = self.paint_error(Meaning::Strong, text);
        if write!(stderr, "{prompt} ").and_then(|()| stderr.flush()).is_err() {
            // Nobody sees the prompt; what is typed still counts.
        }
    }

    /// Colours a text for standard output.
    pub(crate) fn paint(&self, meaning: Meaning, text: &str) -> String {
        paint(self.colour, meaning, text)
    }

    /// Colours a text for standard error.
    pub(crate) fn paint_error(&self, meaning: Meaning, text: &str) -> String {
        paint(self.error_colour, meaning, text)
    }

    /// Says what a command failed with.
    pub(crate) fn report(&self, error: &CommandError) {
        match (error, self.reading) {
            (CommandError::ReaderLeft, _) => {}
            (CommandError::Problem(problem), Reading::People) => self.say(&problem::draw(problem, self.error_colour)),
            (CommandError::Problem(problem), Reading::Programs) => {
                if self.json(&serde_json::json!({ "error": problem })).is_err() {
                    // The reader has left, or standard output is broken: the exit code remains.
                }
            }
        }
    }

    /// How the reports of failures are drawn on standard output.
    pub(crate) fn look(&self) -> Look {
        match self.colour {
            Colour::On => Look::Colour,
            Colour::Off => Look::Plain,
        }
    }

    /// Draws diagnostics of a file for standard error.
    pub(crate) fn say_diagnostics(&self, diagnostics: &[Diagnostic], source: &str) {
        for diagnostic in diagnostics {
            self.say(&problem::picture(diagnostic, source, self.error_colour));
        }
    }
}

fn unwritable(error: serde_json::Error) -> CommandError {
    CommandError::helix(codes::BROKEN, "cannot write an answer as JSON").because(&error)
}

fn paint(colour: Colour, meaning: Meaning, text: &str) -> String {
    let code = match meaning {
        Meaning::Good => "32",
        Meaning::Bad => "31;1",
        Meaning::Attention => "33",
        Meaning::Strong => "1",
        Meaning::Weak => "2",
    };
    match colour {
        Colour::On => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        Colour::Off => text.to_owned(),
    }
}
