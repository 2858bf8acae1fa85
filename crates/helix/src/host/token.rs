//! The bearer token: made once, kept with mode 0600. Must not know who checks it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use helix_store::StateDir;

use super::Access;
use crate::codes;
use crate::config::Settings;
use crate::error::{CommandError, unwritable};

/// Random bytes of a token: 192 bits.
const BYTES: usize = 24;

/// The token in force.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) value: String,
    /// The file that keeps it.
    pub(crate) file: PathBuf,
    /// Whether it was made just now.
    pub(crate) made: Made,
}

/// When a token was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// Just now: it has never been shown.
    Now,
    /// Before, or by the user.
    Before,
}

/// Finds the token: the given one, that of the configured file, that of the state directory, or a new one.
pub(super) fn prepare(settings: &Settings, state: &StateDir, access: &Access) -> Result<Token, CommandError> {
    if let Access::Token(Some(value)) = access {
        check(value, "--token")?;
        let file = state.token_file();
        let kept = read(&file)?;
        if kept.as_deref() != Some(value) {
            write(&file, value)?;
        }
        return Ok(Token { value: value.clone(), file, made: Made::Before });
    }
    let file = settings.token_file.clone().unwrap_or_else(|| state.token_file());
    if let Some(value) = read(&file)? {
        check(&value, &file.display().to_string())?;
        return Ok(Token { value, file, made: Made::Before });
    }
    let value = random()?;
    write(&file, &value)?;
    Ok(Token { value, file, made: Made::Now })
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

/// Written under another name and renamed: nobody ever reads half a token.
fn write(file: &Path, value: &str) -> Result<(), CommandError> {
    let draft = file.with_extension(format!("new-{}", std::process::id()));
    let mut handle = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&draft)
        .map_err(unwritable(&draft))?;
    handle.write_all(format!("{value}\n").as_bytes()).and_then(|()| handle.sync_all()).map_err(unwritable(&draft))?;
    std::fs::rename(&draft, file).map_err(unwritable(file))
}

fn random() -> Result<String, CommandError> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        CommandError::environment(codes::TOKEN, "the system provides no random numbers for a token")
            .because(&std::io::Error::other(error.to_string()))
    })?;
    Ok(format!("hx-{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}
