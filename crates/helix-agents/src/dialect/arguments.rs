//! What the operating system demands of arguments and variables, checked before anything is started.
//!
//! Must not know any dialect but by the names of its options in messages.

use super::InvocationError;

/// Linux takes 128 KiB for one argument, its NUL included.
pub(crate) const ARGUMENT_LIMIT: usize = 128 * 1024 - 1;

/// Checks that every argument can be given to a process.
pub(crate) fn check_arguments(args: &[String]) -> Result<(), InvocationError> {
    for (place, arg) in args.iter().enumerate() {
        let name = place.checked_sub(1).map_or("the program", |before| args[before].as_str());
        if arg.contains('\0') {
            return Err(InvocationError::NulByte { what: format!("the value of {name}") });
        }
        if arg.len() > ARGUMENT_LIMIT {
            let what = match name {
                "--append-system-prompt" => "the system prompt",
                "--config" if arg.starts_with("developer_instructions=") => "the system prompt",
                "--json-schema" => "the JSON schema",
                "--agents" => "the list of experts",
                _ => "an argument",
            };
            return Err(InvocationError::ArgumentTooLong { what, bytes: arg.len(), limit: ARGUMENT_LIMIT });
        }
    }
    Ok(())
}

/// Checks that every variable can be given to a process.
pub(crate) fn check_environment(env: &[(String, String)]) -> Result<(), InvocationError> {
    match env.iter().find(|(name, value)| name.contains('\0') || value.contains('\0')) {
        Some((name, _)) => Err(InvocationError::NulByte { what: format!("the variable {name:?}") }),
        None => Ok(()),
    }
}
