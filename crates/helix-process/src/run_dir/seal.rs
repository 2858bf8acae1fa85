//! The mark by which a host knows the run directories that it, or a host before it, has made: names of runs can be foreseen, and whoever
//! makes a directory of such a name in advance must not be taken for the run.
//!
//! Must not know what is in a run directory.

use std::fmt;

use helix_core::ids::RunId;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Makes the marks, by a key that only hosts have. A host that follows another one knows its marks.
#[derive(Clone, PartialEq, Eq)]
pub struct RunSeal([u8; 32]);

impl RunSeal {
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Name of the empty file that marks the directory of a run: nobody else can foresee it. Nothing has to be read, so that a power
    /// cut leaves it whole or not at all.
    pub(crate) fn file_name(&self, run: &RunId) -> String {
        // Any length of key will do.
        let digits = Hmac::<Sha256>::new_from_slice(&self.0).map(|mut mac| {
            mac.update(b"run directory\0");
            mac.update(run.as_str().as_bytes());
            mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        });
        format!("seal-{}", digits.unwrap_or_default())
    }
}

impl fmt::Debug for RunSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunSeal")
    }
}
