//! What an error of a library means to a command's user: its code, its exit code and its remedy.
//!
//! Must not know which command met it.

use helix_adr::AdrId;
use helix_engine::EngineError;
use helix_engine::submit::{Blame, SubmitError};
use helix_project::adr_files::AdrFileError;
use helix_store::failures::MemoryError;
use helix_store::{DatabaseError, OpenError, ReadError, StateDirError};

use super::{CommandError, Exit, codes};

/// A state directory that is a file or in use is a wrong choice; what cannot be written is the environment's fault.
impl From<StateDirError> for CommandError {
    fn from(error: StateDirError) -> Self {
        let exit = match error {
            StateDirError::Full { .. } | StateDirError::NotWritable { .. } => Exit::Environment,
            _ => Exit::Usage,
        };
        Self::wrapping(exit, error.code(), &error).hint(error.hint())
    }
}

impl From<&OpenError> for CommandError {
    fn from(error: &OpenError) -> Self {
        let exit = match error {
            OpenError::Database(
                DatabaseError::Full { .. } | DatabaseError::NotWritable { .. } | DatabaseError::Unreadable { .. },
            ) => Exit::Environment,
            _ => Exit::Usage,
        };
        Self::wrapping(exit, error.code(), error).hint(error.hint())
    }
}

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> Self {
        Self::from(&error)
    }
}

impl From<ReadError> for CommandError {
    fn from(error: ReadError) -> Self {
        let exit = match error {
            ReadError::Database(error) => return OpenError::from(error).into(),
            ReadError::Ambiguous { .. } => Exit::Usage,
            ReadError::Event(_) => Exit::Environment,
        };
        Self::wrapping(exit, error.code(), &error).hint(error.hint())
    }
}

impl From<MemoryError> for CommandError {
    fn from(error: MemoryError) -> Self {
        let exit = match error {
            MemoryError::Ambiguous { .. } | MemoryError::Record { .. } | MemoryError::Orphan { .. } => Exit::Usage,
            MemoryError::Database(_) => Exit::Environment,
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
            EngineError::LeftToPerson { .. } => return Self::new(Exit::No, codes::LEFT_TO_PERSON, &error),
            EngineError::Refused { .. } | EngineError::Over { .. } => (
                Exit::Usage,
                codes::CANNOT_BE_DONE,
                "`helix jobs show ID` shows the job's state, `helix answer` the open questions",
            ),
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
            SubmitError::Refused { code, message, hint, blame } => {
                let exit = match blame {
                    Blame::Request | Blame::Permission => Exit::Usage,
                    Blame::Environment => Exit::Environment,
                    Blame::Helix => Exit::Helix,
                };
                Self::new(exit, code, message).hint_if(hint)
            }
        }
    }
}

/// What to do about an ADR that is no text.
const UTF8: &str = "save it as UTF-8; nothing was written";

impl From<AdrFileError> for CommandError {
    fn from(error: AdrFileError) -> Self {
        fn invalid(hint: &str) -> (Exit, &'static str, &str) {
            (Exit::Usage, codes::ADR_ERRORS, hint)
        }
        let accept;
        let (exit, code, hint) = match &error {
            AdrFileError::Disk { action: "read" | "find", .. } => {
                (Exit::Usage, codes::INPUT_UNREADABLE, "check the path and its permissions; an ADR has at most 8 MiB")
            }
            AdrFileError::Disk { .. } => (Exit::Environment, codes::OUTPUT_UNWRITABLE, super::WRITABLE),
            AdrFileError::Unreadable(_) => invalid(UTF8),
            AdrFileError::Invalid { .. } => invalid("fix the draft; nothing was written"),
            AdrFileError::Rules { .. } => invalid("fix the rules, or remove the file"),
            AdrFileError::Import { .. } => {
                invalid("`helix adr new TITLE` writes a draft for other texts; nothing was written")
            }
            AdrFileError::Numbered { .. } => invalid("write `adr_id: draft` to get a new number"),
            AdrFileError::NotProposed { .. } => (Exit::No, codes::CANNOT_BE_DONE, "nothing was changed"),
            AdrFileError::NotAccepted { id, .. } => {
                let wanted = match id {
                    AdrId::Number(number) => number.to_string(),
                    AdrId::Draft | AdrId::Named(_) => id.to_string(),
                };
                accept = format!("a person accepts it: `helix adr accept {wanted}`; nothing was changed");
                (Exit::No, codes::CANNOT_BE_DONE, accept.as_str())
            }
            AdrFileError::Unknown { .. } => (Exit::Usage, codes::NOT_FOUND, "`helix adr list` shows all"),
            AdrFileError::Rewrite { .. } => invalid("nothing was changed; `helix adr edit` opens it"),
            AdrFileError::Place { hint, .. } => invalid(hint.as_str()),
        };
        let refused = Self::wrapping(exit, code, &error).hint(hint);
        match error {
            AdrFileError::Invalid { source_text, diagnostics, .. } => refused.diagnostics(diagnostics, source_text),
            AdrFileError::Rules { diagnostic, source_text } => refused.diagnostics(vec![*diagnostic], source_text),
            AdrFileError::Unreadable(diagnostic) => {
                Self::new(exit, code, "the ADR cannot be read").hint(UTF8).diagnostics(vec![*diagnostic], "")
            }
            _ => refused,
        }
    }
}
