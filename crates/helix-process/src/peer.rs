//! Who is at the other end of a connection: whether that process belongs to one of the host's runs.
//!
//! Must not know what it asks for. The kernel tells the process of a Unix socket; that of a TCP connection on this machine is looked
//! for among all that hold its socket. A keeper reaps whatever leaves its parent, so that its runs' processes stay below it; and each carries the run's
//! mark in the environment that it was started with.

mod socket;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::invocation::{RUN_DIR_VARIABLE, WITHIN_RUN_VARIABLE};
use crate::proc::{all_pids, parent_of};

/// Longest line of ancestors that is followed.
const MOST_ANCESTORS: usize = 256;

/// Where a process stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// In none of the runs.
    Outside,
    /// It was started by the run with this name, at however many removes.
    Within(String),
    /// It has ended, or cannot be seen: nobody knows.
    Unknown,
}

/// Where a process stands to the runs whose directories lie in `runs`.
pub fn standing(pid: i32, runs: &Path) -> Standing {
    let (mut next, mut within) = (pid, None);
    for _ in 0..MOST_ANCESTORS {
        // Whoever is not there any more may have been anybody.
        let Some(parent) = parent_of(next) else { return within.map_or(Standing::Unknown, Standing::Within) };
        // What a process itself says may be false: the keeper at the top is believed.
        within = run_of(next, runs).or(within);
        if parent <= 0 {
            return within.map_or(Standing::Outside, Standing::Within);
        }
        next = parent;
    }
    Standing::Unknown
}

/// Whether an address is one of this machine's: a connection may come from any of them, whichever it goes to.
pub fn is_of_this_machine(address: SocketAddr) -> bool {
    let mut own = address;
    own.set_port(0);
    address.ip().to_canonical().is_loopback() || UdpSocket::bind(own).is_ok()
}

/// The process that was last found at the other end: a client that has connected once connects again.
static LAST: AtomicI32 = AtomicI32::new(0);

/// The same for the process at the other end of a TCP connection on this machine. Reads all of `/proc` where it is not the same as the
/// last time: blocks for milliseconds.
pub fn standing_of_tcp(peer: SocketAddr, own: SocketAddr, runs: &Path) -> Standing {
    let Some(socket) = socket::connected(peer, own) else { return Standing::Unknown };
    // Runs have the host's own user; those of root may take another one.
    let own_user = rustix::process::geteuid();
    if !own_user.is_root() && socket.user != own_user.as_raw() {
        return Standing::Outside;
    }
    let last = LAST.load(Ordering::Relaxed);
    // Who stands outside and holds it is who asks, whoever may have got it from there as well.
    if holds(last, socket.inode).is_ok_and(|holds| holds) && standing(last, runs) == Standing::Outside {
        return Standing::Outside;
    }
    let (mut holders, mut hidden) = (Vec::new(), Vec::new());
    for pid in all_pids().into_iter().flatten() {
        match holds(pid, socket.inode) {
            Ok(true) => holders.push(pid),
            // Such as a browser's process, which lets nobody look. Keepers do not either, and connect to nobody.
            Err(error) if error.kind() == ErrorKind::PermissionDenied && !is_keeper(pid, runs) => hidden.push(pid),
            Ok(false) | Err(_) => {}
        }
    }
    let of = |pids: &[i32]| {
        let standings: Vec<Standing> = pids.iter().map(|pid| standing(*pid, runs)).collect();
        let within = standings.iter().find(|one| matches!(one, Standing::Within(_))).cloned();
        within.or_else(|| standings.contains(&Standing::Outside).then_some(Standing::Outside))
    };
    if let [only] = holders[..] {
        LAST.store(only, Ordering::Relaxed);
    }
    of(&holders).or_else(|| of(&hidden)).unwrap_or(Standing::Unknown)
}

/// Whether another user of this machine, who is not root, is at the other end of a TCP connection. A host of root has nobody of its own
/// to compare with.
pub fn is_of_other_user(peer: SocketAddr, own: SocketAddr) -> bool {
    let host = rustix::process::geteuid();
    let other = |socket: socket::Socket| socket.user != 0 && socket.user != host.as_raw();
    !host.is_root() && socket::connected(peer, own).is_some_and(other)
}

/// Whether a process has a socket open.
fn holds(pid: i32, inode: u64) -> io::Result<bool> {
    let wanted = format!("socket:[{inode}]");
    let is_it = |entry: fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|to| to.as_os_str() == &*wanted);
    Ok(fs::read_dir(format!("/proc/{pid}/fd"))?.any(|entry| entry.is_ok_and(is_it)))
}

/// Whether a process keeps a run: by its command line, and since it stands within no run itself.
fn is_keeper(pid: i32, runs: &Path) -> bool {
    kept_by(pid, runs).is_some() && parent_of(pid).is_some_and(|parent| standing(parent, runs) == Standing::Outside)
}

/// The run that a path leads to.
fn run_at(path: &[u8], runs: &Path) -> Option<String> {
    let name = Path::new(OsStr::from_bytes(path)).strip_prefix(runs).ok()?.components().next()?;
    Some(name.as_os_str().to_string_lossy().into_owned())
}

/// The run that a process keeps, by its command line.
fn kept_by(pid: i32, runs: &Path) -> Option<String> {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = words.split(|byte| *byte == 0).skip_while(|word| *word != b"keeper").skip(1);
    words.next().and_then(|path| run_at(path, runs))
}

/// The run that a process itself belongs to: as its keeper, or by the mark in its environment.
fn run_of(pid: i32, runs: &Path) -> Option<String> {
    if let Some(run) = kept_by(pid, runs) {
        return Some(run);
    }
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let marks = environment.split(|byte| *byte == 0).filter_map(|entry| {
        [RUN_DIR_VARIABLE, WITHIN_RUN_VARIABLE]
            .iter()
            .find_map(|name| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    });
    marks.filter_map(|path| run_at(path, runs)).next()
}

#[cfg(test)]
#[path = "peer_test.rs"]
mod tests;
