//! The bearer token: made once, kept with mode 0600. Must not know who checks it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use helix_core::secrets::Secret;
use helix_store::StateDir;

use super::Access;
use crate::config::Settings;
use crate::error::{CommandError, codes};
use crate::files::unwritable;

/// Random bytes of a token: 192 bits.
const BYTES: usize = 24;

/// The token in force.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) value: String,
    /// The file that keeps it.
    pub(crate) file: PathBuf,
    /// Whether it was made just now: then it has never been shown.
    pub(crate) is_new: bool,
}

/// Finds the token: the given one, that of the configured file, that of the state directory, or a new one.
pub(super) fn prepare(settings: &Settings, state: &StateDir, access: &Access) -> Result<Token, CommandError> {
    let (given, file) = match access {
        Access::Token(Some(given)) => (Some(given.clone()), state.token_file()),
        Access::Token(None) | Access::Open => (None, settings.token_file.clone().unwrap_or_else(|| state.token_file())),
    };
    let kept = read(&file)?;
    let from = if given.is_some() { "HELIX_TOKEN".to_owned() } else { file.display().to_string() };
    let (value, is_new) = match given.or(kept.clone()) {
        Some(known) => (known, false),
        None => (random()?, true),
    };
    check(&value, &from)?;
    if kept.as_ref() != Some(&value) {
        helix_process::replace_private(&file, format!("{value}\n").as_bytes()).map_err(unwritable(&file))?;
    }
    helix_process::secrets::hold([Secret { name: "HELIX_TOKEN".into(), value: value.clone() }]);
    Ok(Token { value, file, is_new })
}

fn read(file: &Path) -> Result<Option<String>, CommandError> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(CommandError::environment(codes::TOKEN, format!("cannot read the token in {}", file.display()))
                .because(&error)
                .hint("make the file readable for this user, or delete it to get a new token"))
        }
    }
}

fn check(value: &str, from: &str) -> Result<(), CommandError> {
    if value.len() >= 16 && value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    Err(CommandError::usage(codes::TOKEN, format!("the token from {from} is not usable"))
        .hint("a token has at least 16 printable ASCII characters and no spaces"))
}

fn random() -> Result<String, CommandError> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        CommandError::environment(codes::TOKEN, "the system provides no random numbers for a token").cause(error)
    })?;
    Ok(format!("hx-{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}
