//! Files that an answer links to, in the session's directory or its project: opened beneath it, never through a link, and signed, so that
//! whoever is given the name of one can read that one and no other.
//!
//! Must not know HTTP.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::Once;

use async_recursion::async_recursion as boxed;
use helix_consultant::linked_path;
use helix_core::ids::{JobId, SessionId};
use helix_store::Key;
use hmac::{Hmac, Mac};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use sha2::Sha256;

use super::Sessions;
use crate::error::EngineError;

/// Largest file that is given out, in bytes.
pub const LARGEST_LINKED: u64 = 32 << 20;
/// Ends of the names of files that hold secrets. Names that begin with a dot are left out anyway.
const SECRETS: [&str; 4] = ["key", "pem", "p12", "pfx"];

/// Proves that Helix has named a file.
pub type FileSignature = [u8; 16];

/// A file that an answer links to.
#[derive(Debug)]
pub struct LinkedFile {
    pub file: File,
    /// Where it is, absolute.
    pub path: PathBuf,
    pub signature: FileSignature,
}

impl Sessions {
    /// The file that an answer of a session means by a link, as it is `written`; `None` where that is none to be shown. `signed`: only
    /// the one with this signature.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn linked(
        &self,
        session: &SessionId,
        written: &str,
        signed: Option<FileSignature>,
    ) -> Result<Option<LinkedFile>, EngineError> {
        let Some(path) = linked_path(written).map(PathBuf::from) else { return Ok(None) };
        let Some(view) = self.services.journal().session(session.clone()).await? else { return Ok(None) };
        let roots = [Some(view.directory), view.project].into_iter().flatten().map(PathBuf::from);
        let mut places = Vec::new();
        for root in roots {
            let Some(within) = beneath(&root, &path) else { continue };
            // A project may lie above Helix's state, with what other sessions and jobs have.
            let state = self.services.state.root();
            if !root.starts_with(state) && root.join(&within).starts_with(state) {
                continue;
            }
            let mac = signature(&self.link_key, session, &root.join(&within))?;
            // In constant time.
            if signed.is_none_or(|signed| mac.clone().verify_truncated_left(&signed).is_ok()) {
                places.push((root, within, mac));
            }
        }
        let found = helix_process::spawn_blocking(move || {
            places.into_iter().find_map(|(root, within, mac)| {
                let file = open_beneath(&root, &within)?;
                let mut signature = FileSignature::default();
                signature.copy_from_slice(&mac.finalize().into_bytes()[..16]);
                Some(LinkedFile { file, path: root.join(within), signature })
            })
        });
        found.await.map_err(EngineError::environment)
    }
}

impl Sessions {
    /// Proves that Helix has named a job's changes and evidence.
    pub fn signature_of_job(&self, job: &JobId) -> Option<FileSignature> {
        let mut signature = FileSignature::default();
        signature.copy_from_slice(&self.mac_of_job(job)?.finalize().into_bytes()[..16]);
        Some(signature)
    }

    /// Whether it has.
    pub fn is_signature_of_job(&self, job: &JobId, signature: &FileSignature) -> bool {
        self.mac_of_job(job).is_some_and(|mac| mac.verify_truncated_left(signature).is_ok())
    }

    fn mac_of_job(&self, job: &JobId) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.link_key).ok()?;
        // No session is called so.
        mac.update(b"job\0");
        mac.update(job.as_str().as_bytes());
        Some(mac)
    }
}

/// A path as it is beneath a directory, by name alone; `None` where it is not, or is none that may be shown.
fn beneath(root: &Path, path: &Path) -> Option<PathBuf> {
    let within = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let parts: Vec<Component<'_>> = within.components().filter(|part| *part != Component::CurDir).collect();
    let is_shown =
        |part: &Component<'_>| matches!(part, Component::Normal(name) if !name.as_encoded_bytes().starts_with(b"."));
    let within: PathBuf = parts.iter().collect();
    let is_secret =
        within.extension().and_then(OsStr::to_str).is_some_and(|end| SECRETS.contains(&&*end.to_ascii_lowercase()));
    (!parts.is_empty() && parts.iter().all(is_shown) && !is_secret).then_some(within)
}

/// Opens a file beneath a directory; `None` where there is none, or it is too large.
fn open_beneath(root: &Path, within: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = openat(CWD, root, flags | OFlags::DIRECTORY, Mode::empty()).and_then(|root| {
        openat2(root, within, flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    });
    if let Err(error @ (Errno::NOSYS | Errno::PERM)) = opened {
        static WARNED: Once = Once::new();
        WARNED.call_once(|| {
            tracing::warn!(
                %error,
                "the system refuses `openat2`: no file that an answer links to is shown; allow the call, such as in the container's seccomp profile"
            );
        });
    }
    let file = File::from(opened.ok()?);
    let about = file.metadata().ok()?;
    (about.is_file() && about.len() <= LARGEST_LINKED).then_some(file)
}

fn signature(key: &Key, session: &SessionId, path: &Path) -> Result<Hmac<Sha256>, EngineError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(EngineError::environment)?;
    mac.update(session.as_str().as_bytes());
    mac.update(b"\0");
    mac.update(path.as_os_str().as_encoded_bytes());
    Ok(mac)
}

#[cfg(test)]
#[path = "linked_test.rs"]
mod tests;
