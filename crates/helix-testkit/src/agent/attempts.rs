//! Counts attempts across processes and notices two of them at once, by files next to the script.
//!
//! Must not know what an attempt does.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// An attempt that is under way; the lock goes with the process, however it ends.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// Its number, from 1.
    pub(crate) number: usize,
    _lock: Option<File>,
}

impl Attempt {
    /// An attempt that is counted nowhere.
    pub(crate) fn uncounted(number: usize) -> Self {
        Self { number, _lock: None }
    }

    /// Counts a new attempt at `part`, and leaves a mark if another one is still alive.
    pub(crate) fn begin(state: &Path, part: &str) -> Result<Self, String> {
        let failed = |path: &Path| {
            let path = path.display().to_string();
            move |error: std::io::Error| format!("{path}: {error}")
        };
        let directory = state.join(part);
        std::fs::create_dir_all(&directory).map_err(failed(&directory))?;
        let lock_path = directory.join("lock");
        let lock = OpenOptions::new().create(true).append(true).open(&lock_path).map_err(failed(&lock_path))?;
        let alone = match lock.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => return Err(failed(&lock_path)(error)),
        };
        let mut number = 1;
        let (mut file, path) = loop {
            let path = directory.join(format!("attempt-{number}"));
            match OpenOptions::new().create_new(true).write(true).open(&path) {
                Ok(file) => break (file, path),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(&path)(error)),
            }
        };
        writeln!(file, "{}", std::process::id()).map_err(failed(&path))?;
        if !alone {
            let mark = directory.join(format!("overlap-{number}"));
            std::fs::write(&mark, std::process::id().to_string()).map_err(failed(&mark))?;
        }
        Ok(Self { number, _lock: Some(lock) })
    }
}

/// Marks of attempts at one part that ran at the same time, below a script's state directory; none is what is wanted.
///
/// # Errors
/// The directory cannot be read.
pub fn overlaps(state: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut marks = Vec::new();
    if !state.exists() {
        return Ok(marks);
    }
    for part in std::fs::read_dir(state)? {
        let part = part?.path();
        if !part.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(part)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("overlap-") {
                marks.push(entry.path());
            }
        }
    }
    marks.sort();
    Ok(marks)
}
