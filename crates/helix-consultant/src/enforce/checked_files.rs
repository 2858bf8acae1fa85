//! What has been judged of the files in a session's directory, so that each content is looked at once: an ordinary question
//! never gets a correction for a file of an earlier turn.
//!
//! Must not know what is wrong with a file. Without a readable record everything is looked at again, never less.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use helix_process::replace_private;

/// Name of the record, beside the session's directory.
const RECORD: &str = "judged.json";

/// The record of one session's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedFiles {
    directory: PathBuf,
    record: PathBuf,
}

impl CheckedFiles {
    /// The record that belongs to a session's directory.
    pub fn beside(directory: &Path) -> Self {
        let record = directory.parent().unwrap_or(directory).join(RECORD);
        Self { directory: directory.to_path_buf(), record }
    }

    /// Whether this content of a file was judged.
    pub(crate) fn has(&self, file: &Path, content: &[u8]) -> bool {
        self.read().get(&self.key(file)).is_some_and(|digest| *digest == digest_of(content))
    }

    /// Notes that this content of a file was judged.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn accept(&self, file: &Path, content: &[u8]) -> std::io::Result<()> {
        self.accept_all([(file.to_path_buf(), content.to_vec())])
    }

    /// The same for several files, in one write.
    ///
    /// # Errors
    /// The record cannot be written.
    pub(crate) fn accept_all(&self, files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> std::io::Result<()> {
        // Tools and the end of a turn may write at the same time: the directory's lock keeps them apart, and leaves nothing behind.
        let parent = self.record.parent().unwrap_or(&self.directory);
        let lock = File::open(parent)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
        let mut known = self.read();
        // Files that are gone need no entry: the record stays as small as the directory.
        known.retain(|file, _| self.directory.join(file).exists());
        known.extend(files.into_iter().map(|(file, content)| (self.key(&file), digest_of(&content))));
        replace_private(&self.record, serde_json::to_string(&known)?.as_bytes())
    }

    fn read(&self) -> BTreeMap<String, String> {
        let read = match std::fs::read(&self.record) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return BTreeMap::new(),
            read => read.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?)),
        };
        read.unwrap_or_else(|error| {
            tracing::warn!(file = %self.record.display(), %error, "a record of judged files cannot be read; all are looked at");
            BTreeMap::new()
        })
    }

    /// The file's name in the record. Drafts are named with links resolved, the directory perhaps not.
    fn key(&self, file: &Path) -> String {
        let real = self.directory.canonicalize().unwrap_or_else(|_| self.directory.clone());
        let within = file.strip_prefix(&self.directory).or_else(|_| file.strip_prefix(&real)).unwrap_or(file);
        within.to_string_lossy().into_owned()
    }
}

fn digest_of(content: &[u8]) -> String {
    format!("{:x}", Sha256::digest(content))
}

#[cfg(test)]
#[path = "checked_files_test.rs"]
mod tests;
