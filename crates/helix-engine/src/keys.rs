//! The keys of further people, and the tokens of chat clients: shown once, kept as digests, found by what a request carries.
//!
//! Must not know what one opens, nor who may make them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use helix_core::words;
use helix_process::replace_private;
use helix_runs::mutex::lock;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::absent::unless_absent;
use crate::error::EngineError;

/// Longest name, in characters.
const LONGEST: usize = 64;
/// Most keys.
const MOST: usize = 1_000;

words! {
    /// Whose a key is.
    pub enum Holder {
        /// A person: what they do is recorded under their name.
        Person = "person",
        /// A chat client: it opens the OpenAI-compatible API, and nothing else.
        Chat = "chat",
    }
}

/// A key that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownKey {
    pub holder: Holder,
    pub name: String,
    /// SHA-256 of it, as hexadecimal digits.
    digest: String,
    pub created_at: Timestamp,
}

/// Why a key was not made.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("{0:?} cannot be a name: use at most {LONGEST} letters, digits, spaces and `.`, `_`, `-`, `@`")]
    Name(String),
    #[error("there is a key for {0} already")]
    Taken(String),
    #[error("there are {MOST} keys already")]
    TooMany,
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The keys of a state directory.
pub struct Keys {
    file: PathBuf,
    known: Mutex<Vec<KnownKey>>,
}

impl Keys {
    /// Those that a state directory keeps.
    ///
    /// # Errors
    /// [`EngineError::Environment`]: they cannot be read.
    pub(crate) fn open(state: &Path) -> Result<Self, EngineError> {
        let file = state.join("keys.json");
        let kept = unless_absent(std::fs::read(&file)).map_err(EngineError::environment)?;
        let known = kept.map_or(Ok(Vec::new()), |bytes| serde_json::from_slice(&bytes));
        Ok(Self { file, known: Mutex::new(known.map_err(EngineError::environment)?) })
    }

    /// Whose this is.
    pub fn holder(&self, key: &str) -> Option<(Holder, String)> {
        let digest = digest(key);
        // Of what is compared nobody learns anything: it is a digest of a random text.
        let known = lock(&self.known);
        known.iter().find(|one| one.digest == digest).map(|one| (one.holder, one.name.clone()))
    }

    /// The digest of the key that somebody of this name has now.
    pub(crate) fn digest_of(&self, holder: Holder, name: &str) -> Option<String> {
        let known = lock(&self.known);
        known.iter().find(|one| one.holder == holder && one.name == name).map(|one| one.digest.clone())
    }

    /// All of them, oldest first.
    pub fn list(&self) -> Vec<KnownKey> {
        lock(&self.known).clone()
    }

    /// Makes a key, which nobody can read again.
    ///
    /// # Errors
    /// [`KeyError`]; then nothing has changed.
    pub fn create(&self, holder: Holder, name: &str) -> Result<String, KeyError> {
        let name = name.trim();
        let is_plain = |letter: char| letter.is_alphanumeric() || " ._-@".contains(letter);
        if name.is_empty() || name.chars().count() > LONGEST || !name.chars().all(is_plain) {
            return Err(KeyError::Name(name.to_owned()));
        }
        let letter = match holder {
            Holder::Person => 'p',
            Holder::Chat => 'c',
        };
        let key = format!("hx{letter}-{}", random()?);
        let mut known = lock(&self.known);
        if known.iter().any(|one| one.holder == holder && one.name.to_lowercase() == name.to_lowercase()) {
            return Err(KeyError::Taken(name.to_owned()));
        }
        if known.len() >= MOST {
            return Err(KeyError::TooMany);
        }
        let one = KnownKey { holder, name: name.to_owned(), digest: digest(&key), created_at: Timestamp::now() };
        let all: Vec<KnownKey> = known.iter().cloned().chain([one]).collect();
        keep(&self.file, &all)?;
        *known = all;
        Ok(key)
    }

    /// Makes a key invalid; `false` if there is none of this name.
    ///
    /// # Errors
    /// [`EngineError::Environment`]; then nothing has changed.
    pub fn revoke(&self, holder: Holder, name: &str) -> Result<bool, EngineError> {
        let mut known = lock(&self.known);
        let left: Vec<KnownKey> =
            known.iter().filter(|one| one.holder != holder || one.name != name).cloned().collect();
        let found = left.len() < known.len();
        if found {
            keep(&self.file, &left)?;
            *known = left;
        }
        Ok(found)
    }
}

/// Writes a file for its owner only, whole or not at all.
pub(crate) fn keep(file: &Path, what: &(impl Serialize + ?Sized)) -> Result<(), EngineError> {
    let text = serde_json::to_vec_pretty(what).map_err(EngineError::environment)?;
    replace_private(file, &text).map_err(EngineError::environment)
}

/// 24 random bytes as hexadecimal digits.
pub(crate) fn random() -> Result<String, EngineError> {
    let mut random = [0_u8; 24];
    getrandom::fill(&mut random).map_err(EngineError::environment)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(crate) fn digest(key: &str) -> String {
    format!("{:x}", Sha256::digest(key))
}

#[cfg(test)]
#[path = "keys_test.rs"]
mod tests;
