//! Reads a project's own files, none larger than it may be.
//!
//! Must not know what they hold.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

/// Reads a file of at most so many bytes. A pipe or a device, which would be waited for forever, is refused.
pub(crate) fn read_bytes(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read: what counts is what was read.
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it is too large: at most {most} bytes are read")));
    }
    Ok(bytes)
}

/// Reads a text of at most so many bytes; `None` where there is no such file.
pub(crate) fn read_text(path: &Path, most: u64) -> std::io::Result<Option<String>> {
    match read_bytes(path, most) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}
