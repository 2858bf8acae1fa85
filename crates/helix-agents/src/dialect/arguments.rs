//! What the operating system demands of arguments and variables, checked before anything is started.
//!
//! Must not know any dialect: who adds an argument says what it is.

use super::InvocationError;

/// Linux takes 128 KiB for one argument, its NUL included.
const ARGUMENT_LIMIT: usize = 128 * 1024 - 1;

/// One argument of a program.
pub(super) struct Argument {
    pub(super) text: String,
    /// What it is, for people.
    pub(super) what: &'static str,
}

impl Argument {
    /// One of which nobody says what it is.
    pub(super) fn plain(text: String) -> Self {
        Self { text, what: "an argument" }
    }
}

/// Checks that every argument can be given to a process.
pub(super) fn check_arguments(args: &[Argument]) -> Result<(), InvocationError> {
    let mut before = "the program";
    for Argument { text, what } in args {
        if text.contains('\0') {
            return Err(InvocationError::NulByte { what: format!("the value of {before}") });
        }
        if text.len() > ARGUMENT_LIMIT {
            return Err(InvocationError::ArgumentTooLong { what, bytes: text.len(), limit: ARGUMENT_LIMIT });
        }
        before = text;
    }
    Ok(())
}

/// Checks that every variable can be given to a process.
pub(super) fn check_environment(env: &[(String, String)]) -> Result<(), InvocationError> {
    match env.iter().find(|(name, value)| name.contains('\0') || value.contains('\0')) {
        Some((name, _)) => Err(InvocationError::NulByte { what: format!("the variable {name:?}") }),
        None => Ok(()),
    }
}
