//! Removes a directory that somebody else has filled: however deep it is, whatever its modes, and without following links.
//!
//! Must not hold more than the names of one directory, nor need a path longer than the first.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, openat, renameat, unlinkat};
use rustix::io::Errno;

/// Begins the names of directories that were moved up to be emptied.
const MOVED: &str = ".helix-removed-";

/// Removes it if it is there, also if it is no directory. Blocks. Directories are moved up and emptied one by one: a tree of any depth needs neither stack
/// nor many open files. Nobody may write to it meanwhile.
///
/// # Errors
/// What the system refuses; what is left can be removed by another call.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let top = match open(CWD, path) {
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(unlinkat(CWD, path, AtFlags::empty())?),
        opened => opened?,
    };
    let mut number = 0_u64;
    loop {
        let names = names(&top)?;
        if names.is_empty() {
            break;
        }
        for (name, kind) in names {
            if kind != FileType::Directory && unlink(&top, &name)? {
                continue;
            }
            empty(&top, &name, &mut number)?;
            unlinkat(&top, &name, AtFlags::REMOVEDIR)?;
        }
    }
    Ok(unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

/// Removes the files of a directory and moves its directories up.
fn empty(top: &OwnedFd, name: &CString, number: &mut u64) -> io::Result<()> {
    let directory = open(top.as_fd(), name)?;
    for (inner, kind) in names(&directory)? {
        if kind != FileType::Directory && unlink(&directory, &inner)? {
            continue;
        }
        // A directory that may not be written cannot be moved: its entry for the one above changes.
        chmodat(&directory, &inner, Mode::RWXU, AtFlags::empty())?;
        loop {
            *number += 1;
            match renameat(&directory, &inner, top, format!("{MOVED}{number}")) {
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                moved => break moved?,
            }
        }
    }
    Ok(())
}

/// Removes what is no directory; whether it was none.
fn unlink(directory: &OwnedFd, name: &CString) -> io::Result<bool> {
    match unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn open<P: rustix::path::Arg + Copy>(at: impl AsFd, path: P) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    match openat(&at, path, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            chmodat(&at, path, Mode::RWXU, AtFlags::empty())?;
            openat(&at, path, flags, Mode::empty())
        }
        opened => {
            let opened = opened?;
            rustix::fs::fchmod(&opened, Mode::RWXU)?;
            Ok(opened)
        }
    }
}

fn names(directory: &OwnedFd) -> io::Result<Vec<(CString, FileType)>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push((entry.file_name().to_owned(), entry.file_type()));
        }
    }
    Ok(names)
}

#[cfg(test)]
#[path = "remove_tree_test.rs"]
mod tests;
