//! The socket at the other end of a TCP connection on this machine: the kernel is asked for this one by its addresses (sock_diag(7)), or
//! its whole table is read, which takes milliseconds, where it cannot be asked.
//!
//! Must not know who holds it.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

/// A socket as the kernel knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Socket {
    pub(super) user: u32,
    pub(super) inode: u64,
}

/// The socket that is bound to `peer` and connected to `own`; `None` where there is none, or nobody has it open any more.
pub(super) fn connected(peer: SocketAddr, own: SocketAddr) -> Option<Socket> {
    // Whether the kernel has no such socket or takes no questions, it says the same.
    let in_tables = || ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| in_table(table, peer, own));
    asked(peer, own).ok().or_else(in_tables).filter(|socket| socket.inode != 0)
}

/// `linux/netlink.h`: the length of a header, where the kind of the message stands in it, and a flag.
const HEADER: usize = 16;
const KIND: std::ops::Range<usize> = 4..6;
const NLM_F_REQUEST: u16 = 1;
/// `linux/sock_diag.h`
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// `linux/inet_diag.h`: `inet_diag_req_v2`, and where in `inet_diag_msg` what is read of it stands.
const REQUEST: usize = HEADER + 56;
const ASKED_PORTS: std::ops::Range<usize> = HEADER + 8..HEADER + 12;
const PORTS: std::ops::Range<usize> = HEADER + 4..HEADER + 8;
const USER: usize = HEADER + 64;
const INODE: usize = HEADER + 68;
const TCP: u8 = 6;
const ANY_STATE: u32 = u32::MAX;

/// Asks the kernel.
fn asked(peer: SocketAddr, own: SocketAddr) -> io::Result<Socket> {
    let (from, to) = (peer.ip().to_canonical(), own.ip().to_canonical());
    let family = if from.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let mut request = Vec::with_capacity(REQUEST);
    request.extend(u32::try_from(REQUEST).map_err(io::Error::other)?.to_ne_bytes());
    request.extend([SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST].into_iter().flat_map(u16::to_ne_bytes));
    request.extend([0; 8]);
    request.extend([u8::try_from(family.as_raw()).map_err(io::Error::other)?, TCP, 0, 0]);
    request.extend(ANY_STATE.to_ne_bytes());
    request.extend([peer.port(), own.port()].into_iter().flat_map(u16::to_be_bytes));
    for ip in [from, to] {
        let mut words = [0; 16];
        match ip {
            IpAddr::V4(ip) => words[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => words = ip.octets(),
        }
        request.extend(words);
    }
    // Any device, and no cookie.
    request.extend([0; 4]);
    request.extend([0xff; 8]);
    let kernel =
        socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
    send(&kernel, &request, SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (length, _) = recv(&kernel, &mut answer, RecvFlags::empty())?;
    let answer = answer.get(..length).unwrap_or_default();
    let number = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
    // Where none is connected, one that listens at this port is named, or there is an error.
    let is_it = answer.get(KIND) == Some(&SOCK_DIAG_BY_FAMILY.to_ne_bytes())
        && answer.get(PORTS).is_some_and(|ports| Some(ports) == request.get(ASKED_PORTS));
    match (number(USER), number(INODE)) {
        (Some(user), Some(inode)) if is_it => Ok(Socket { user, inode: inode.into() }),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Looks in a table of all sockets.
fn in_table(table: &str, peer: SocketAddr, own: SocketAddr) -> Option<Socket> {
    let is = |text: &str, wanted: SocketAddr| {
        address(text).is_some_and(|(ip, port)| ip == wanted.ip().to_canonical() && port == wanted.port())
    };
    fs::read_to_string(table).ok()?.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, local, remote, _, _, _, _, user, _, inode, ..] = fields[..] else { return None };
        let is_it = is(local, peer) && is(remote, own);
        is_it.then_some(Socket { user: user.parse().ok()?, inode: inode.parse().ok()? })
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
#[path = "socket_test.rs"]
mod tests;
