//! What a command fails with, and how `helix` ends: code, message, causes, remedy and exit code in one.
//!
//! Must not know how it is shown; `terminal::problem` draws it.

pub(crate) mod codes;
mod library;

use std::error::Error;
use std::fmt::Display;

use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_core::text::count;
use serde::Serialize;

/// What to do where no more files can be opened.
pub(crate) const RAISE_OPEN_FILES: &str =
    "raise the limit of open files (`ulimit -n`); Helix needs about 64, and one for each client";

/// How `helix` ends; the numbers are the contract with scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "u8")]
#[repr(u8)]
pub(crate) enum Exit {
    Success = 0,
    /// An honest "no": the job or the check failed.
    No = 1,
    /// Wrong usage or invalid input; nothing was changed.
    Usage = 2,
    /// A person has to answer or approve.
    NeedsPerson = 3,
    /// The environment is at fault.
    Environment = 4,
    /// Helix itself is at fault.
    Helix = 5,
    /// The record holds, and does not prove the job.
    NotProved = 6,
    /// Evidence does not hold, or nobody has said who may be believed.
    NotVerified = 7,
    /// Interrupted by the user.
    Interrupted = 130,
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit as Self
    }
}

/// The remedy for what is Helix's own fault, if nothing better is known.
const DEFECT: &str = "this is a bug in Helix: please report it with the command that you ran";

/// The remedy for a file that cannot be written.
pub(crate) const WRITABLE: &str = "check that the directory exists and is writable, and that the disk is not full";

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// Something is wrong and has to be said.
    Problem(Box<Problem>),
    /// The reader of standard output has left (`helix jobs | head`): nothing is wrong, and nobody is there to be told.
    ReaderLeft,
}

/// A problem as users see it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Problem {
    /// `HX` and four digits.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// Why, from the nearest cause to the deepest.
    pub(crate) causes: Vec<String>,
    /// Problems in files, in their order.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The text that the diagnostics' places are in.
    #[serde(skip)]
    pub(crate) source_text: String,
    /// How `helix` ends.
    #[serde(rename = "exit_code")]
    pub(crate) exit: Exit,
}

impl CommandError {
    /// An error of a library, with its causes.
    pub(crate) fn wrapping(exit: Exit, code: &str, error: &dyn Error) -> Self {
        Self::new(exit, code, error).because(error)
    }

    /// A problem without cause.
    pub(crate) fn new(exit: Exit, code: impl Into<String>, message: impl Display) -> Self {
        Self::Problem(Box::new(Problem {
            code: code.into(),
            message: message.to_string(),
            hint: (exit == Exit::Helix).then(|| DEFECT.to_owned()),
            causes: Vec::new(),
            diagnostics: Vec::new(),
            source_text: String::new(),
            exit,
        }))
    }

    /// Wrong usage or invalid input.
    pub(crate) fn usage(code: &str, message: impl Display) -> Self {
        Self::new(Exit::Usage, code, message)
    }

    /// A plan with errors, which are shown in its text.
    pub(crate) fn plan(name: &str, diagnostics: Vec<Diagnostic>, source_text: impl Into<String>) -> Self {
        Self::file_errors(codes::PLAN_ERRORS, name, diagnostics, source_text)
            .hint("fix the plan and run the command again; nothing was changed")
    }

    /// A file with errors, which are shown in its text.
    pub(crate) fn file_errors(
        code: &str,
        name: &str,
        diagnostics: Vec<Diagnostic>,
        source_text: impl Into<String>,
    ) -> Self {
        let errors = diagnostics.iter().filter(|one| one.is_error()).count();
        Self::usage(code, format!("{name} has {}", count(errors, "error"))).diagnostics(diagnostics, source_text)
    }

    /// There is nothing of this name. The hint is the known name that was meant, else all of them.
    pub(crate) fn unknown(message: impl Display, name: &str, known: &[&str]) -> Self {
        let hint = match did_you_mean(name, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known: {}", known.join(", ")),
        };
        Self::usage(codes::NOT_FOUND, message).hint(hint)
    }

    /// The environment is at fault.
    pub(crate) fn environment(code: &str, message: impl Display) -> Self {
        Self::new(Exit::Environment, code, message)
    }

    /// Standard output cannot be written.
    pub(crate) fn unwritten(error: &std::io::Error) -> Self {
        Self::environment(codes::OUTPUT_STREAM, "cannot write to standard output").because(error)
    }

    /// Helix itself is at fault.
    pub(crate) fn helix(code: &str, message: impl Display) -> Self {
        Self::new(Exit::Helix, code, message)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.hint = Some(hint.to_string());
        }
        self
    }

    /// Adds the remedy, if there is one.
    #[must_use]
    pub(crate) fn hint_if(self, hint: Option<impl Display>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Adds the cause with all its own causes.
    #[must_use]
    pub(crate) fn because(mut self, cause: &dyn Error) -> Self {
        let mut next = Some(cause);
        while let Some(cause) = next {
            self = self.cause(cause);
            next = cause.source();
        }
        self
    }

    /// Adds a cause. The message itself, and transparent wrappers, would say the same thing twice.
    #[must_use]
    pub(crate) fn cause(mut self, cause: impl Display) -> Self {
        let cause = cause.to_string();
        if let Self::Problem(problem) = &mut self
            && problem.causes.last() != Some(&cause)
            && problem.message != cause
        {
            problem.causes.push(cause);
        }
        self
    }

    /// Adds problems in a file.
    #[must_use]
    pub(crate) fn diagnostics(mut self, diagnostics: Vec<Diagnostic>, source_text: impl Into<String>) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.diagnostics = diagnostics;
            problem.source_text = source_text.into();
        }
        self
    }

    /// Message, causes and remedy in one line, for those who show no more.
    pub(crate) fn in_one_line(&self) -> String {
        match self {
            Self::Problem(problem) => {
                let mut line = format!("{}: {}", problem.code, problem.message);
                for part in problem.causes.iter().chain(&problem.hint) {
                    line.push_str(&format!("; {part}"));
                }
                line
            }
            Self::ReaderLeft => "standard output is closed".into(),
        }
    }

    /// How `helix` ends.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Problem(problem) => problem.exit,
            Self::ReaderLeft => Exit::Success,
        }
    }
}

/// What commands return: how to end, or why not.
pub(crate) type Ended = Result<Exit, CommandError>;
