//! Gives a command that Helix starts a session of its own, so that neither it nor anything under it can reach the terminal.
//!
//! Must not know what is run.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Makes the command the leader of a session of its own, and by that of a process group: without a controlling terminal nobody
/// under it can ask a person for a password (`sudo`, `ssh`, `gpg` open `/dev/tty` whatever their stdin is) or be stopped for
/// trying, a Ctrl-C at the terminal does not reach it half-way through a write, and the group can be killed as one.
#[expect(unsafe_code, reason = "pre_exec is unsafe to call; setsid is async-signal-safe")]
pub fn in_own_session(command: &mut Command) {
    let settle = || rustix::process::setsid().map(drop).map_err(std::io::Error::from);
    // SAFETY: between fork and exec the closure makes one system call; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(settle) };
}

/// Closes this process to others of the same user: its memory, its environment, its open files, and core dumps of it.
///
/// # Errors
/// The system refuses.
pub fn close_to_others() -> std::io::Result<()> {
    let closed = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    closed.map_err(std::io::Error::from)
}

/// Has a program told to end when the thread that started it does.
#[expect(unsafe_code, reason = "pre_exec is unsafe to call")]
pub fn end_with_parent(command: &mut std::process::Command) -> &mut std::process::Command {
    use std::os::unix::process::CommandExt as _;
    let settle = || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
        Ok(())
    };
    // SAFETY: the closure makes one system call and takes no memory.
    unsafe { command.pre_exec(settle) }
}
