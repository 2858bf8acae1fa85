//! Settings of a user's repository that count in the host's own one and in work places, and how they are written there.
//!
//! Must not ask git.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::GitError;
use super::files::{put, remove_tree};

/// Who makes commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    pub email: String,
}

/// Settings of a user's repository that count in the host's one and in work places.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    /// Lines of a section `core`.
    pub(super) core: String,
    pub(super) format: Option<String>,
    /// What is ignored without being in the tree.
    pub(super) exclude: Vec<u8>,
    pub(super) shallow: Option<Vec<u8>>,
    /// Names of the programs that convert files of the user's work tree.
    pub(super) filters: BTreeSet<String>,
}

impl Settings {
    /// The configuration file of a repository.
    pub(super) fn config(&self, bare: bool, authors: Option<&[Identity; 2]>) -> String {
        let version = i32::from(self.format.is_some());
        let mut text = format!("[core]\n\trepositoryformatversion = {version}\n\tbare = {bare}\n{}", self.core);
        if let Some(format) = &self.format {
            text.push_str(&format!("[extensions]\n\tobjectformat = {format}\n"));
        }
        // What is shared is never tidied up while somebody may need it, and nobody waits for a key.
        text.push_str("[gc]\n\tauto = 0\n[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n");
        if bare {
            text.push_str("[uploadpack]\n\tallowAnySHA1InWant = true\n");
        }
        for (section, Identity { name, email }) in ["author", "committer"].iter().zip(authors.into_iter().flatten()) {
            text.push_str(&format!("[{section}]\n\tname = {}\n\temail = {}\n", quoted(name), quoted(email)));
        }
        text
    }

    pub(super) fn put_shallow(&self, place: &Path) -> Result<(), GitError> {
        let file = place.join("shallow");
        match &self.shallow {
            Some(shallow) => put(&file, shallow),
            None => remove_tree(&file),
        }
    }
}

/// A value of a configuration file.
fn quoted(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
