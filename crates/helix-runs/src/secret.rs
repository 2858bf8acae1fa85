//! Tokens that are derived from a key of the state directory: each opens Helix's tools for one run alone.
//!
//! Must not know what a run is for, nor whether it still runs.

use helix_core::ids::RunId;
use helix_store::Key;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// What each token of a run begins with.
const PREFIX: &str = "hxr-";

/// Signs tokens of runs. A host that follows another one knows its tokens: agents outlive hosts.
#[derive(Clone)]
pub struct RunTokens(Key);

impl RunTokens {
    pub fn new(key: Key) -> Self {
        Self(key)
    }

    /// The token of a run.
    pub fn token(&self, run: &RunId) -> String {
        let signature = self.mac(run).map(|mac| mac.finalize().into_bytes().to_vec()).unwrap_or_default();
        let digits: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{PREFIX}{run}.{digits}")
    }

    /// The run that a token was made for; `None` if it is none of this host's.
    pub fn run(&self, token: &str) -> Option<RunId> {
        let (run, digits) = token.strip_prefix(PREFIX)?.rsplit_once('.')?;
        let run = RunId::new(run).ok()?;
        let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok());
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        // In constant time, and whole.
        self.mac(&run)?.verify_slice(&bytes).ok().map(|()| run)
    }

    fn mac(&self, run: &RunId) -> Option<Hmac<Sha256>> {
        // Any length of key will do.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(b"run\0");
        mac.update(run.as_str().as_bytes());
        Some(mac)
    }
}

#[cfg(test)]
#[path = "secret_test.rs"]
mod tests;
