//! What an error of a library means to a command's user: its code, its exit code and its remedy.
//!
//! Must not know which command met it.

use helix_engine::EngineError;
use helix_engine::submit::SubmitError;
use helix_project::adr_files::AdrFileError;
use helix_store::{DatabaseError, OpenError, ReadError, StateDirError};

use crate::codes;
use crate::error::CommandError;
use crate::exit::Exit;

/// A state directory that cannot be used is a wrong choice of directory, or one that is in use; only a full disk is the
/// environment's fault.
impl From<StateDirError> for CommandError {
    fn from(error: StateDirError) -> Self {
        let exit = match error {
            StateDirError::Full { .. } => Exit::Environment,
            StateDirError::NotWritable { .. }
            | StateDirError::Held { .. }
            | StateDirError::Announcement { .. }
            | StateDirError::Io { .. } => Exit::Usage,
        };
        Self::wrapping(exit, error.code(), &error).hint(error.hint())
    }
}

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> Self {
        Self::from(&error)
    }
}

impl From<&OpenError> for CommandError {
    fn from(error: &OpenError) -> Self {
        let full = matches!(error, OpenError::Database(DatabaseError::Full { .. }));
        let exit = if full { Exit::Environment } else { Exit::Usage };
        Self::wrapping(exit, error.code(), error).hint(error.hint())
    }
}

impl From<ReadError> for CommandError {
    fn from(error: ReadError) -> Self {
        let exit = match error {
            ReadError::Database(error) => return OpenError::from(error).into(),
            ReadError::Ambiguous { .. } => Exit::Usage,
            ReadError::Event(_) | ReadError::Row { .. } => Exit::Environment,
        };
        Self::wrapping(exit, error.code(), &error).hint(error.hint())
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        let (exit, code, hint) = match &error {
            EngineError::NotFound { .. } => {
                (Exit::Usage, codes::NOT_FOUND, "`helix jobs list` shows all jobs; a unique prefix of the id is enough")
            }
            EngineError::Ambiguous { .. } => (Exit::Usage, helix_engine::codes::AMBIGUOUS, "give a longer prefix"),
            EngineError::Refused { .. } => (
                Exit::Usage,
                codes::CANNOT_BE_DONE,
                "`helix jobs show ID` shows the job's state, `helix answer` the open questions",
            ),
            EngineError::Over { .. } => (Exit::Usage, codes::JOB_OVER, "it has already ended"),
            EngineError::Journal(source) => {
                if let Some(open) = opened(source.as_ref()) {
                    return open;
                }
                let hint = "run `helix doctor`: it checks the state directory and the database";
                (Exit::Environment, codes::ENGINE, hint)
            }
            EngineError::Contradiction { .. } => (
                Exit::Helix,
                codes::ENGINE,
                "this is a bug in Helix: please report it with the job's events (`helix jobs show --json`)",
            ),
            EngineError::Environment { hint, .. } => {
                return Self::environment(codes::ENGINE, &error).hint_if(hint.as_ref());
            }
        };
        Self::wrapping(exit, code, &error).hint(hint)
    }
}

/// A database that does not open, or that failed, among the causes of an error.
fn opened(error: &(dyn std::error::Error + 'static)) -> Option<CommandError> {
    let open = std::iter::successors(Some(error), |error| error.source()).find_map(|error| error.downcast_ref());
    open.map(|open: &OpenError| open.into())
        .or_else(|| Some(OpenError::from(DatabaseError::among(error)?.clone()).into()))
}

impl From<SubmitError> for CommandError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Plan { file, source_text, diagnostics } => Self::plan(&file, diagnostics, source_text),
            SubmitError::Refused { code, message, hint, blame } => Self::new(blame.into(), code, message).hint_if(hint),
        }
    }
}

impl From<AdrFileError> for CommandError {
    fn from(error: AdrFileError) -> Self {
        let (code, hint) = match &error {
            AdrFileError::Disk { action, .. } => {
                let (code, hint) = match *action {
                    "read" | "list" | "find" => {
                        (codes::INPUT_UNREADABLE, "check that you may read it, and that it has at most 8 MiB")
                    }
                    _ => (
                        codes::OUTPUT_UNWRITABLE,
                        "check that the directory exists and is writable, and that the disk is not full",
                    ),
                };
                return Self::wrapping(Exit::Environment, code, &error).hint(hint);
            }
            AdrFileError::Unreadable(diagnostic) => {
                return Self::usage(codes::ADR_ERRORS, "the ADR cannot be read")
                    .hint("save it as UTF-8; nothing was written")
                    .diagnostics(vec![(**diagnostic).clone()], "");
            }
            AdrFileError::Invalid { source_text, diagnostics, .. } => {
                return Self::usage(codes::ADR_ERRORS, &error)
                    .hint("fix the draft; nothing was written")
                    .diagnostics(diagnostics.clone(), source_text.clone());
            }
            AdrFileError::Rules { diagnostic, source_text } => {
                return Self::usage(codes::ADR_ERRORS, &error)
                    .hint("fix the rules, or remove the file")
                    .diagnostics(vec![(**diagnostic).clone()], source_text.clone());
            }
            AdrFileError::Import { .. } => {
                (codes::ADR_ERRORS, "`helix adr new TITLE` writes a draft for other texts; nothing was written")
            }
            AdrFileError::Numbered { .. } => (codes::ADR_ERRORS, "write `adr_id: draft` to get a new number"),
            AdrFileError::Unknown { .. } => (codes::NOT_FOUND, "`helix adr list` shows all"),
            AdrFileError::Rewrite { .. } => (codes::ADR_ERRORS, "add `adr_id` and `status` to the front matter"),
        };
        Self::wrapping(Exit::Usage, code, &error).hint(hint)
    }
}
