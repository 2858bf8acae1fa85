//! Starts a program in a process that is in its control groups before anything of the program runs.
//!
//! Must not know what the program is. A process that is made *in* a group (`clone3` with `CLONE_INTO_CGROUP`, since Linux 5.7) is there at
//! once; one that moves there waits until every processor has passed a quiet state: 7 to 20 ms on a machine that has nothing else to do.
#![expect(unsafe_code, reason = "fork has no safe wrapper; this process has a single thread")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, WaitOptions, waitpid};

use super::cgroup::{Cgroup, ProcessCount};
use crate::run_dir::RunDirError;

/// `linux/sched.h`
const CLONE_INTO_CGROUP: u64 = 1 << 33;

/// The files through which a process enters groups.
pub(super) struct Groups {
    group: Option<(File, File)>,
    count: Option<File>,
}

impl Groups {
    pub(super) fn open(group: Option<&Cgroup>, count: Option<&ProcessCount>) -> Result<Self, RunDirError> {
        let group = group.map(|group| Ok::<_, RunDirError>((group.directory()?, group.membership()?))).transpose()?;
        Ok(Self { group, count: count.map(ProcessCount::membership).transpose()? })
    }
}

/// Starts the command in a new process, which the caller has to reap. The process must have no other threads.
///
/// # Errors
/// It cannot be forked or executed, or what it does before that fails. Nothing of the program runs then.
pub(super) fn spawn(mut command: Command, groups: &Groups) -> io::Result<Pid> {
    let (mut failure, tell) = io::pipe()?;
    let Some(child) = fork(groups)? else {
        drop(failure);
        exec(&mut command, tell)
    };
    // The child alone has what it is to read and to write from now on.
    drop((command, tell));
    let mut errno = [0; 4];
    if failure.read_exact(&mut errno).is_err() {
        return Ok(child);
    }
    waitpid(Some(child), WaitOptions::empty())?;
    Err(match i32::from_ne_bytes(errno) {
        0 => io::Error::new(io::ErrorKind::InvalidInput, "a NUL byte is in the command or its environment"),
        errno => io::Error::from_raw_os_error(errno),
    })
}

/// Executes the command in this process; where that fails, says so and ends.
fn exec(command: &mut Command, mut tell: io::PipeWriter) -> ! {
    // Words with a NUL byte are refused before the system is asked.
    let errno = command.exec().raw_os_error().unwrap_or(0);
    // A keeper that is not there any more needs not be told.
    drop(tell.write_all(&errno.to_ne_bytes()));
    // SAFETY: ends the process without what belongs to the one that it was copied from.
    unsafe { libc::_exit(127) }
}

/// The new process; `None` in that process itself, which is in all groups then, or in none where the system refuses.
fn fork(groups: &Groups) -> io::Result<Option<Pid>> {
    let into = groups.group.as_ref().and_then(|(directory, _)| fork_into(directory).ok());
    let child = match into {
        Some(child) => child,
        // SAFETY: this process has one thread, so that no lock is held in the copy.
        None => unsafe { libc::fork() },
    };
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    let child = Pid::from_raw(child);
    if child.is_none() {
        let group = groups.group.as_ref().filter(|_| into.is_none()).map(|(_, membership)| membership);
        // "0" is the writer itself. Before anything can be forked, so that nothing starts outside the group. If that is refused, the
        // run goes without a group, as on a system that has none.
        for membership in group.into_iter().chain(&groups.count) {
            if rustix::io::write(membership, b"0").is_err() {}
        }
    }
    Ok(child)
}

/// Forks into a group; fails where the system or a container does not allow that.
fn fork_into(directory: &File) -> io::Result<libc::pid_t> {
    // SAFETY: all zeros are a valid value of this structure of numbers.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = u64::try_from(libc::SIGCHLD).map_err(io::Error::other)?;
    arguments.cgroup = u64::try_from(directory.as_raw_fd()).map_err(io::Error::other)?;
    // SAFETY: the structure lives for the call and its size is given. Memory is copied as by `fork`, and this process has one thread.
    let child = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>()) };
    if child < 0 { Err(io::Error::last_os_error()) } else { libc::pid_t::try_from(child).map_err(io::Error::other) }
}
