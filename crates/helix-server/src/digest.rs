//! Digests of lists of texts, for keys that reveal nothing. Must not know what the texts are.

use sha2::{Digest, Sha256};

/// The SHA-256 of these parts in hexadecimal.
pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // With its length, so that no two lists of parts give the same bytes.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    format!("{:x}", hash.finalize())
}
