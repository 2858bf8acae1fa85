//! Files of a session's directory: copies of all of them for a session that is a copy, and files that are written whole.
//!
//! Must not know sessions. Bounded: what is larger than a session's drafts ever are is not copied, and the result says so.

use std::io::Read as _;
use std::path::Path;

use helix_process::bounded::open_plain_beneath;

/// Most bytes that are copied.
const BYTES: u64 = 256 * 1024 * 1024;
/// Most files that are copied.
const FILES: u32 = 10_000;

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) files: u32,
    pub(super) bytes: u64,
    /// Whether that is all there was.
    pub(super) is_whole: bool,
}

/// Copies files and directories below one directory to another. Links are not followed and not copied.
///
/// # Errors
/// When a file cannot be read or written.
pub(super) async fn copy(from: String, to: std::path::PathBuf) -> std::io::Result<Copied> {
    tokio::task::spawn_blocking(move || {
        let mut copied = Copied { files: 0, bytes: 0, is_whole: true };
        copy_below(Path::new(&from), &to, &mut copied)?;
        Ok(copied)
    })
    .await
    .map_err(std::io::Error::other)?
}

fn copy_below(from: &Path, to: &Path, copied: &mut Copied) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    std::fs::create_dir_all(to)?;
    for entry in entries {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_below(&entry.path(), &target, copied)?;
        } else if kind.is_file() {
            let size = entry.metadata()?.len();
            if copied.files >= FILES || copied.bytes + size > BYTES {
                copied.is_whole = false;
                continue;
            }
            // A process that still writes there could put something else in its place meanwhile.
            let file = open_plain_beneath(from, &entry.path())?;
            let mode = file.metadata()?.permissions();
            let mut copy = std::fs::File::create(target)?;
            std::io::copy(&mut file.take(size), &mut copy)?;
            copy.set_permissions(mode)?;
            copied.files += 1;
            copied.bytes += size;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "files_test.rs"]
mod tests;
