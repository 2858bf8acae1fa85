//! Who is at the other end of a connection: whether that process belongs to one of the host's runs.
//!
//! Must not know what it asks for. The kernel tells the process of a Unix socket; that of a TCP connection on this machine is looked
//! for in `/proc`. A keeper reaps whatever leaves its parent, so that its runs' processes stay below it; and each carries the run's
//! mark in the environment that it was started with.

use std::ffi::OsStr;
use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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

/// The same for the process at the other end of a TCP connection on this machine. Reads all of `/proc`: blocks for milliseconds.
pub fn standing_of_tcp(peer: SocketAddr, own: SocketAddr, runs: &Path) -> Standing {
    let Some(socket) = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| socket(table, peer, own))
    else {
        return Standing::Unknown;
    };
    // Runs have the host's own user; those of root may take another one.
    let own_user = rustix::process::geteuid();
    if !own_user.is_root() && socket.user != own_user.as_raw() {
        return Standing::Outside;
    }
    let (mut holders, mut hidden) = (Vec::new(), Vec::new());
    for pid in all_pids().into_iter().flatten() {
        match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(mut open) => {
                let wanted = format!("socket:[{}]", socket.inode);
                let is_it =
                    |entry: fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|to| to.as_os_str() == &*wanted);
                if open.any(|entry| entry.is_ok_and(is_it)) {
                    holders.push(pid);
                }
            }
            // Such as a browser's process, which lets nobody look. Keepers do not either, and connect to nobody.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied && !is_keeper(pid, runs) => {
                hidden.push(pid)
            }
            Err(_) => {}
        }
    }
    let of = |pids: &[i32]| {
        let standings: Vec<Standing> = pids.iter().map(|pid| standing(*pid, runs)).collect();
        let within = standings.iter().find(|one| matches!(one, Standing::Within(_))).cloned();
        within.or_else(|| standings.contains(&Standing::Outside).then_some(Standing::Outside))
    };
    of(&holders).or_else(|| of(&hidden)).unwrap_or(Standing::Unknown)
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

/// A socket as the kernel's table shows it.
struct Socket {
    user: u32,
    inode: u64,
}

/// The socket that is bound to `peer` and connected to `own`.
fn socket(table: &str, peer: SocketAddr, own: SocketAddr) -> Option<Socket> {
    let is = |text: &str, wanted: SocketAddr| {
        address(text).is_some_and(|(ip, port)| ip == wanted.ip().to_canonical() && port == wanted.port())
    };
    fs::read_to_string(table).ok()?.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, local, remote, _, _, _, _, user, _, inode, ..] = fields[..] else { return None };
        if !is(local, peer) || !is(remote, own) {
            return None;
        }
        // A socket without a number has been closed by everybody.
        let inode = inode.parse().ok().filter(|inode| *inode != 0)?;
        Some(Socket { user: user.parse().ok()?, inode })
    })
}

/// An address of that table: words of four bytes in the machine's order, as hexadecimal digits.
fn address(text: &str) -> Option<(IpAddr, u16)> {
    let (ip, port) = text.split_once(':')?;
    let mut bytes = Vec::with_capacity(16);
    for at in (0..ip.len()).step_by(8) {
        bytes.extend(u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    }
    let ip = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => IpAddr::from(four),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?),
    };
    Some((ip.to_canonical(), u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
#[path = "peer_test.rs"]
mod tests;
