//! Landlock: which files, ports and processes a process and its descendants can reach. Needs no privileges.
//!
//! Must not know what a run needs. Numbers and structures: `linux/landlock.h`; what each version of the interface (ABI) adds:
//! `Documentation/userspace-api/landlock.rst`.
#![expect(unsafe_code, reason = "the system calls of Landlock have no safe wrapper without a further library")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;

use helix_core::recorded;
use helix_core::run::{NoWall, Wall};
use helix_core::said::Words;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Names a place without reading it.
const HANDLE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_BLOCK: u64 = 1 << 11;
const MAKE_SYM: u64 = 1 << 12;
/// Since version 2: links and renames from one directory to another.
const REFER: u64 = 1 << 13;
/// Since version 3.
const TRUNCATE: u64 = 1 << 14;
/// Since version 5.
const IOCTL_DEV: u64 = 1 << 15;

const READ: u64 = EXECUTE | READ_FILE | READ_DIR;
/// No device files: a run of root would reach the disk itself by one.
const WRITE: u64 = WRITE_FILE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_SYM
    | REFER
    | TRUNCATE
    | IOCTL_DEV;
const ALL: u64 = READ | WRITE | MAKE_CHAR | MAKE_BLOCK;
/// Of these, what a rule of a single file may grant.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

/// Since version 4.
const BIND_TCP: u64 = 1;
const CONNECT_TCP: u64 = 1 << 1;
/// Since version 6.
const ABSTRACT_SOCKETS: u64 = 1;
const SIGNALS: u64 = 1 << 1;

const RULE_PATH_BENEATH: libc::c_int = 1;
const RULE_NET_PORT: libc::c_int = 2;
const CREATE_RULESET_VERSION: u32 = 1;

#[repr(C)]
struct RulesetAttr {
    fs: u64,
    net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneathAttr {
    access: u64,
    parent: i32,
}

#[repr(C)]
struct NetPortAttr {
    access: u64,
    port: u64,
}

/// What the system has of Landlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Abi(u32),
    /// The kernel has none, or it is switched off.
    None(i32),
}

/// Asks the system.
pub(crate) fn version() -> Version {
    // SAFETY: asks for a number; no memory is handed over.
    let found = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<RulesetAttr>(),
            0_usize,
            CREATE_RULESET_VERSION,
        )
    };
    u32::try_from(found).map_or_else(|_| Version::None(last_error().raw_os_error().unwrap_or(0)), Version::Abi)
}

impl Version {
    pub(crate) fn abi(self) -> u32 {
        match self {
            Self::Abi(abi) => abi,
            Self::None(_) => 0,
        }
    }

    /// What this version lacks for a wall; `None` if it has it.
    pub(crate) fn missing(self, wall: Wall) -> Option<NoWall> {
        let (since, kernel) = match wall {
            Wall::Files => (1, "5.13"),
            Wall::Network => (4, "6.7"),
            Wall::Signals => (6, "6.12"),
            Wall::Sockets | Wall::Limits | Wall::Key => return None,
        };
        let why = match self {
            Self::Abi(abi) if abi >= since => return None,
            Self::Abi(abi) => recorded!("wall-old-landlock", version = abi, kernel = kernel),
            Self::None(libc::EOPNOTSUPP) => recorded!("wall-landlock-off"),
            Self::None(_) => recorded!("wall-no-landlock", kernel = kernel),
        };
        Some(NoWall { wall, why })
    }

    /// Why not even an open network leaves walls around runs; `None` if it does.
    pub(crate) fn missing_for_all(self) -> Option<Words> {
        [Wall::Files, Wall::Signals].into_iter().find_map(|wall| self.missing(wall)).map(NoWall::into_words)
    }
}

fn last_error() -> io::Error {
    io::Error::last_os_error()
}

/// Rules, before they hold for anybody.
#[derive(Debug)]
pub(crate) struct Ruleset {
    descriptor: OwnedFd,
    handled: u64,
}

/// What a rule lets a run do below a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum May {
    Read,
    Write,
    /// Write to what is there, and neither read nor replace it.
    Append,
}

impl Ruleset {
    /// Rules by which nothing may be reached, as far as this version has them; with `ports`, TCP to these alone.
    pub(crate) fn new(version: Version, ports: Option<&[u16]>) -> io::Result<Self> {
        let abi = version.abi();
        let later = [(2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)].into_iter().filter(|(since, _)| abi < *since);
        let handled = later.fold(ALL, |all, (_, access)| all & !access);
        let limited = ports.filter(|_| abi >= 4);
        let attr = RulesetAttr {
            fs: handled,
            net: if limited.is_some() { BIND_TCP | CONNECT_TCP } else { 0 },
            scoped: if abi >= 6 { ABSTRACT_SOCKETS | SIGNALS } else { 0 },
        };
        // SAFETY: the structure lives for the call and its size is given; what older kernels do not know in it is zero.
        let made = unsafe {
            libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attr, size_of::<RulesetAttr>(), 0_u32)
        };
        let made = i32::try_from(made).ok().filter(|number| *number >= 0).ok_or_else(last_error)?;
        // SAFETY: the kernel has just given this descriptor to us alone; it closes at exec.
        let descriptor = unsafe { OwnedFd::from_raw_fd(made) };
        for port in limited.unwrap_or_default() {
            let attr = NetPortAttr { access: CONNECT_TCP, port: u64::from(*port) };
            // SAFETY: the structure lives for the call and has the form of this kind of rule.
            check(unsafe { libc::syscall(libc::SYS_landlock_add_rule, made, RULE_NET_PORT, &raw const attr, 0_u32) })?;
        }
        Ok(Self { descriptor, handled })
    }

    /// Opens a path; one that is not there, or that this process may not look at, is left out.
    pub(crate) fn open(&self, path: &Path, may: May) -> io::Result<()> {
        self.open_found(path, may, rustix::fs::open(path, HANDLE, Mode::empty()))
    }

    /// The same of a path that had no links when it was chosen: one with a link in it, put there since, leads to what nobody chose.
    pub(crate) fn open_without_links(&self, path: &Path, may: May) -> io::Result<()> {
        match rustix::fs::openat2(CWD, path, HANDLE, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // A container may forbid this call.
            Err(Errno::NOSYS | Errno::PERM) => self.open(path, may),
            Err(Errno::LOOP) => Ok(()),
            found => self.open_found(path, may, found),
        }
    }

    fn open_found(&self, path: &Path, may: May, found: rustix::io::Result<OwnedFd>) -> io::Result<()> {
        let place = match found {
            Ok(place) => File::from(place),
            Err(Errno::NOENT | Errno::ACCESS | Errno::PERM) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let access = match (may, place.metadata()?.is_dir()) {
            (May::Read, true) => READ,
            (May::Read, false) => READ & OF_FILES,
            (May::Write, true) => READ | WRITE,
            (May::Write, false) => (READ | WRITE) & OF_FILES,
            (May::Append, _) => WRITE_FILE | TRUNCATE,
        };
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        self.allow(place.as_fd(), access).map_err(named)
    }

    /// One system call: it may be called between fork and exec.
    pub(crate) fn allow_all_below(&self, place: BorrowedFd<'_>) -> io::Result<()> {
        self.allow(place, READ | WRITE)
    }

    fn allow(&self, place: BorrowedFd<'_>, access: u64) -> io::Result<()> {
        let attr = PathBeneathAttr { access: access & self.handled, parent: place.as_raw_fd() };
        // SAFETY: the structure lives for the call and has the form of this kind of rule.
        check(unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.descriptor.as_raw_fd(),
                RULE_PATH_BENEATH,
                &raw const attr,
                0_u32,
            )
        })
    }

    /// Puts the rules up around this thread and all that it starts, for good. System calls alone: it may be called between fork
    /// and exec.
    pub(crate) fn restrict_self(&self) -> io::Result<()> {
        // SAFETY: no memory is handed over.
        check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.descriptor.as_raw_fd(), 0_u32) })
    }
}

fn check(answer: libc::c_long) -> io::Result<()> {
    if answer < 0 { Err(last_error()) } else { Ok(()) }
}

#[cfg(test)]
#[path = "landlock_test.rs"]
mod tests;
