//! Opens and reads files that somebody else has written: plain ones, none larger than it may be, those of a project or checkout beneath
//! its root. Nothing here waits for a pipe, reads a device, or ends only with the memory.
//!
//! Must not know what they hold.

use std::fs::File;
use std::io::{BufRead, Error, ErrorKind, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, makedev, openat2};
use rustix::io::Errno;

/// Reads a file of at most so many bytes. A pipe or a device, which would be waited for forever, is refused.
///
/// # Errors
/// When it cannot be read, is no plain file, or larger.
pub fn read_bytes(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    contents(open_plain(path)?, most)
}

/// Opens a file of any size, for who reads it a piece at a time.
///
/// # Errors
/// When it cannot be opened or is no plain file.
pub fn open_plain(path: &Path) -> std::io::Result<File> {
    plain(open(path, None)?)
}

/// The same below a directory, as [`read_bytes_beneath`].
///
/// # Errors
/// Those of [`open_plain`], and a path that leads out of the directory.
pub fn open_plain_beneath(root: &Path, path: &Path) -> std::io::Result<File> {
    plain(open(path, Some(root))?)
}

/// Reads a file below a directory, as [`read_bytes`] does: links count as long as they stay below it, so that nobody who writes a
/// repository has another file of its user read.
///
/// # Errors
/// Those of [`read_bytes`], and a path that leads out of the directory.
pub fn read_bytes_beneath(root: &Path, path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    contents(open_plain_beneath(root, path)?, most)
}

/// A text of at most so many bytes, below a directory where one is given; `None` where there is no such file.
///
/// # Errors
/// Those of [`read_bytes`], and a text that is not UTF-8.
pub fn read_text(root: Option<&Path>, path: &Path, most: u64) -> std::io::Result<Option<String>> {
    match open(path, root).and_then(plain).and_then(|file| contents(file, most)) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A line that is longer than it may be; the rest of it was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line of more than {most} bytes")]
pub struct TooLong {
    most: u64,
}

/// The next line, without its end, of what another process sends; `None` where there is no more.
///
/// # Errors
/// It cannot be read.
pub fn read_line(from: &mut impl BufRead, most: u64) -> std::io::Result<Option<Result<Vec<u8>, TooLong>>> {
    let mut line = Vec::new();
    from.take(most + 1).read_until(b'\n', &mut line)?;
    Ok(match line.pop() {
        None => None,
        Some(b'\n') => Some(Ok(line)),
        Some(_) if line.len() as u64 == most => {
            drop(line);
            from.skip_until(b'\n')?;
            Some(Err(TooLong { most }))
        }
        Some(last) => {
            line.push(last);
            Some(Ok(line))
        }
    })
}

fn open(path: &Path, root: Option<&Path>) -> std::io::Result<File> {
    // Without waiting: a pipe that nobody writes would hold it up.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let Some(root) = root else { return Ok(rustix::fs::open(path, flags, Mode::empty())?.into()) };
    let out = || Error::other(format!("it leads out of {}", root.display()));
    let inside = path.strip_prefix(root).map_err(|_| out())?;
    let directory = rustix::fs::openat(CWD, root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match openat2(directory, inside, flags, Mode::empty(), resolve) {
        Ok(file) => Ok(file.into()),
        Err(Errno::XDEV) => Err(out()),
        Err(Errno::NOSYS | Errno::PERM) => open_resolved(root, path, flags)?.ok_or_else(out),
        Err(error) => Err(error.into()),
    }
}

/// The same where the system refuses `openat2`, as some containers do: whoever changes links meanwhile could win. `None` where the
/// path leads out.
fn open_resolved(root: &Path, path: &Path, flags: OFlags) -> std::io::Result<Option<File>> {
    let (root, path) = (root.canonicalize()?, path.canonicalize()?);
    let inside = path.starts_with(&root).then(|| rustix::fs::open(&path, flags | OFlags::NOFOLLOW, Mode::empty()));
    Ok(inside.transpose()?.map(File::from))
}

fn plain(file: File) -> std::io::Result<File> {
    let found = file.metadata()?;
    let kind = found.file_type();
    // People name /dev/null for a file with nothing in it.
    if kind.is_file() || (kind.is_char_device() && found.rdev() == makedev(1, 3)) {
        return Ok(file);
    }
    let what = if kind.is_dir() { "a directory" } else { "a pipe, socket or device" };
    Err(Error::other(format!("it is not a file but {what}")))
}

fn contents(file: File, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // It may grow while it is read: what counts is what was read.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it is too large: at most {most} bytes are read")));
    }
    Ok(bytes)
}

#[cfg(test)]
#[path = "bounded_test.rs"]
mod tests;
