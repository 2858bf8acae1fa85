//! Who is logged in with a browser: codes that log in once, and sessions, kept as digests.
//!
//! Must not know pages or cookies, nor who may make a code.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use helix_job::{How, Person};
use helix_runs::mutex::lock;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::absent::unless_absent;
use crate::error::EngineError;
use crate::keys::{Holder, Keys, digest, keep, random};

/// How long a code logs in.
const CODE: SignedDuration = SignedDuration::from_mins(10);
/// How long a session lasts.
const SESSION: SignedDuration = SignedDuration::from_hours(24 * 30);
/// Most codes and most sessions; the oldest ones go first.
const MOST: usize = 100;

/// Whose a code or a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Login {
    /// SHA-256 of it, as hexadecimal digits.
    digest: String,
    name: String,
    /// The digest of the person's key, without which it opens nothing any more; `None`: the owner of the host.
    key: Option<String>,
    until: Timestamp,
}

/// A code that logs in once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginCode {
    pub code: String,
    pub until: Timestamp,
}

/// The codes and sessions of a host.
pub struct Logins {
    file: PathBuf,
    keys: Arc<Keys>,
    /// Of this host alone: who asked for one waits for it.
    codes: Mutex<Vec<Login>>,
    sessions: Mutex<Vec<Login>>,
    /// When a session was last in use, in seconds since 1970.
    used: AtomicI64,
}

impl Logins {
    /// Those that a state directory keeps.
    ///
    /// # Errors
    /// [`EngineError::Environment`]: they cannot be read.
    pub(crate) fn open(state: &Path, keys: Arc<Keys>) -> Result<Self, EngineError> {
        let file = state.join("logins.json");
        let kept = unless_absent(std::fs::read(&file)).map_err(EngineError::environment)?;
        let kept = kept.map_or(Ok(Vec::new()), |bytes| serde_json::from_slice(&bytes));
        let sessions = Mutex::new(kept.map_err(EngineError::environment)?);
        Ok(Self { file, keys, codes: Mutex::default(), sessions, used: AtomicI64::new(0) })
    }

    /// Makes a code for a person; `None` for one whom nothing proves, and for one who is in a browser already: no session makes another one.
    ///
    /// # Errors
    /// [`EngineError::Environment`]: the system gives no random bytes.
    pub fn code(&self, person: &Person) -> Result<Option<LoginCode>, EngineError> {
        let key = match person.how {
            How::Key => match self.keys.digest_of(Holder::Person, &person.name) {
                Some(key) => Some(key),
                None => return Ok(None),
            },
            How::Terminal | How::Token => None,
            How::Browser | How::Chat | How::Open | How::Told => return Ok(None),
        };
        let (code, until) = (random()?, Timestamp::now() + CODE);
        let login = Login { digest: digest(&code), name: person.name.clone(), key, until };
        add(&mut lock(&self.codes), login);
        Ok(Some(LoginCode { code, until }))
    }

    /// Makes a session of a code, which works this once; `None` if it does not.
    ///
    /// # Errors
    /// [`EngineError::Environment`]: the session cannot be kept.
    pub fn log_in(&self, code: &str) -> Result<Option<String>, EngineError> {
        let (wanted, now) = (digest(code), Timestamp::now());
        let found = {
            let mut codes = lock(&self.codes);
            let at = codes.iter().position(|one| one.digest == wanted);
            at.map(|at| codes.remove(at))
        };
        let Some(login) = found.filter(|one| one.until > now && self.is_valid(one)) else { return Ok(None) };
        let token = random()?;
        let mut sessions = lock(&self.sessions);
        let mut all = sessions.clone();
        all.retain(|one| one.until > now && self.is_valid(one));
        add(&mut all, Login { digest: digest(&token), until: now + SESSION, ..login });
        keep(&self.file, &all)?;
        *sessions = all;
        Ok(Some(token))
    }

    /// Who is logged in with this.
    pub fn person(&self, token: &str) -> Option<Person> {
        let (wanted, now) = (digest(token), Timestamp::now());
        let sessions = lock(&self.sessions);
        let found = sessions.iter().find(|one| one.digest == wanted && one.until > now && self.is_valid(one))?;
        self.touch();
        Some(Person::new(&found.name, How::Browser))
    }

    /// Ends a session, wherever its token is.
    ///
    /// # Errors
    /// [`EngineError::Environment`]; then it goes on.
    pub fn log_out(&self, token: &str) -> Result<(), EngineError> {
        let wanted = digest(token);
        let mut sessions = lock(&self.sessions);
        let left: Vec<Login> = sessions.iter().filter(|one| one.digest != wanted).cloned().collect();
        keep(&self.file, &left)?;
        *sessions = left;
        Ok(())
    }

    /// Notes that a page is open.
    pub fn touch(&self) {
        self.used.store(Timestamp::now().as_second(), Ordering::Relaxed);
    }

    /// Whether somebody has looked at a page within this time, or a code still waits for somebody.
    pub fn is_in_use(&self, within: std::time::Duration) -> bool {
        let now = Timestamp::now();
        let age = now.as_second().saturating_sub(self.used.load(Ordering::Relaxed));
        u64::try_from(age).is_ok_and(|age| age < within.as_secs())
            || lock(&self.codes).iter().any(|one| one.until > now)
    }

    /// Whether whoever it is still has the key that they had.
    fn is_valid(&self, login: &Login) -> bool {
        login.key.is_none() || login.key == self.keys.digest_of(Holder::Person, &login.name)
    }
}

fn add(all: &mut Vec<Login>, login: Login) {
    if all.len() >= MOST {
        all.remove(0);
    }
    all.push(login);
}

#[cfg(test)]
#[path = "logins_test.rs"]
mod tests;
