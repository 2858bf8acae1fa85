//! Putting a run's walls up: prepared by the keeper, put up by its child between fork and exec.
//!
//! Must not decide what a run may reach: that stands in its request. What [`Confined::enter`] and [`Confined::close`] do are system
//! calls alone: they run in a process of which only one thread was copied.
#![expect(unsafe_code, reason = "namespaces, mounts and limits of the own process have no safe wrappers")]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use helix_core::recorded;
use helix_core::run::{NoWall, Wall, WallsHeld};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use super::landlock::{self, May, Ruleset};
use crate::run_dir::RunDir;
use crate::walls::{Limits, Network, Walls};

/// Places of the machine that every program writes to or finds sockets in, and what a run gets instead, below [`RunDir::private`].
const COVERED: [(&str, &str); 4] = [("/dev/shm", "shm"), ("/run", "run"), ("/var/tmp", "vartmp"), ("/tmp", TMP)];
/// Of these, what a run may write to.
const WRITABLE: [(&str, &str); 3] = [COVERED[0], COVERED[2], COVERED[3]];
/// The run's own temporary directory.
const TMP: &str = "tmp";
/// What a run finds in place of directories that it must not see into: nothing but what is opened below them; a directory for each,
/// below [`RunDir::private`].
const EMPTY: &str = "empty";
/// What a run finds in place of a socket, below [`RunDir::private`].
const NO_SOCKET: &str = "no-socket";
/// Devices that hold nothing.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];
/// What a run of root keeps of its capabilities: those of somebody who owns all files and starts programs.
const KEPT_CAPABILITIES: [libc::c_int; 8] = [0, 1, 3, 4, 5, 6, 7, 10];

/// Marks in an error number that tell the keeper what failed in its child.
const IN_NAMESPACES: i32 = 1 << 16;
const IN_LANDLOCK: i32 = 1 << 17;
const IN_OVERLAY: i32 = 1 << 18;

/// Which namespaces are tried, one after the other until one can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Namespaces {
    /// As root.
    Direct,
    /// In a namespace of users, where this user is root for its own namespaces.
    OfUser,
    None,
}

/// What is tried, and why not more.
#[derive(Debug)]
pub(crate) struct Attempt {
    namespaces: Namespaces,
    landlock: landlock::Version,
    no_namespaces: Option<io::Error>,
    no_landlock: Option<io::Error>,
    /// Whether directories that were prepared can be shown without copying them.
    overlays: bool,
}

impl Attempt {
    pub(crate) fn first() -> Self {
        let namespaces = if rustix::process::geteuid().is_root() { Namespaces::Direct } else { Namespaces::OfUser };
        let landlock = landlock::version();
        Self { namespaces, landlock, no_namespaces: None, no_landlock: None, overlays: true }
    }

    /// Whether to try again with less, since this is what failed.
    pub(crate) fn with_less(&mut self, error: &io::Error) -> bool {
        let Some(number) = error.raw_os_error() else { return false };
        if number & IN_OVERLAY != 0 {
            return std::mem::take(&mut self.overlays);
        }
        if number & IN_NAMESPACES != 0 {
            self.no_namespaces = Some(io::Error::from_raw_os_error(number & !IN_NAMESPACES));
            self.namespaces = if self.namespaces == Namespaces::Direct { Namespaces::OfUser } else { Namespaces::None };
            return true;
        }
        if number & IN_LANDLOCK != 0 {
            self.no_landlock = Some(io::Error::from_raw_os_error(number & !IN_LANDLOCK));
            self.landlock = landlock::Version::None(number & !IN_LANDLOCK);
            return true;
        }
        false
    }

    fn missing(&self, wall: Wall) -> Option<NoWall> {
        match &self.no_landlock {
            Some(error) => Some(NoWall { wall, why: recorded!("wall-landlock-refused", error = error.to_string()) }),
            None => self.landlock.missing(wall),
        }
    }
}

/// A place in the file system, ready for system calls.
type Mount = (CString, CString);

/// What stays visible of a covered place.
#[derive(Debug)]
struct Kept {
    source: CString,
    target: CString,
    is_read_only: bool,
}

/// Walls that only have to be put up.
#[derive(Debug)]
pub(crate) struct Confined {
    ruleset: Option<Ruleset>,
    namespaces: Namespaces,
    /// Whether the run has a network of its own, without any way out.
    closed: bool,
    /// Lines of `uid_map` and `gid_map`.
    maps: [CString; 2],
    private: CString,
    /// Options of overlays, with their places.
    overlays: Vec<Mount>,
    /// The work place, and where it is to be found as well.
    also: Option<Mount>,
    /// What stays visible of covered places, below the private directory.
    kept: Vec<Kept>,
    covers: Vec<Mount>,
    /// Sockets of others, which may be gone by then.
    sockets: Vec<Mount>,
    cwd: CString,
    limits: Vec<(Resource, rlim_t, rlim_t)>,
    pub(crate) held: WallsHeld,
    /// Where the run finds its temporary directory.
    pub(crate) temporary: PathBuf,
}

/// Whether the processes of a run are counted by a control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    ByGroup,
    ByUser,
}

impl Confined {
    /// Opens what the walls need, and makes the run's private directories.
    pub(crate) fn prepare(
        walls: &Walls,
        directory: &RunDir,
        cwd: &Path,
        attempt: &Attempt,
        counted: Counted,
    ) -> io::Result<Self> {
        let private = directory.private();
        for (_, name) in COVERED {
            DirBuilder::new().recursive(true).mode(0o700).create(private.join(name))?;
        }
        let spaces = attempt.namespaces != Namespaces::None;
        let closed = walls.network == Network::Closed && spaces;
        let overlays = overlays(walls, spaces && attempt.overlays)?;
        let also = walls.prepared.as_ref().filter(|prepared| spaces && prepared.made_at.is_dir());
        let also =
            also.map(|prepared| Ok::<_, io::Error>((text(&prepared.place)?, text(&prepared.made_at)?))).transpose()?;
        let (kept, covers) = if spaces { mounts(walls, &private)? } else { (Vec::new(), Vec::new()) };
        let sockets = if spaces { sockets(walls, &private)? } else { Vec::new() };
        let covered = |place: &str| covers.iter().any(|(_, target)| target.as_bytes() == place.as_bytes());
        let ports = match &walls.network {
            Network::Open => None,
            Network::Closed => (!closed).then_some([].as_slice()),
            Network::Ports(ports) => Some(ports.as_slice()),
        };
        let ruleset = match attempt.landlock {
            landlock::Version::None(_) => None,
            version @ landlock::Version::Abi(_) => {
                let ruleset = Ruleset::new(version, ports)?;
                for path in &walls.readable {
                    ruleset.open_without_links(path, May::Read)?;
                }
                for path in &walls.writable {
                    ruleset.open_without_links(path, May::Write)?;
                }
                for device in DEVICES {
                    ruleset.open(Path::new(device), May::Write)?;
                }
                for (place, name) in WRITABLE {
                    match name == TMP || covered(place) {
                        true => ruleset.open(&private.join(name), May::Write)?,
                        // Memory that programs share by name: there is no other place for it.
                        false if name == "shm" => ruleset.open(Path::new(place), May::Write)?,
                        false => {}
                    }
                }
                // A shell opens them by name for `> /dev/stderr`.
                for output in [directory.stdout(), directory.stderr()] {
                    ruleset.open(&output, May::Append)?;
                }
                Some(ruleset)
            }
        };
        let temporary = if covered("/tmp") { PathBuf::from("/tmp") } else { private.join(TMP) };
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let map = |id: u32| CString::new(format!("{id} {id} 1\n")).map_err(io::Error::other);
        Ok(Self {
            ruleset,
            namespaces: attempt.namespaces,
            closed,
            maps: [map(uid)?, map(gid)?],
            private: text(&private)?,
            overlays,
            also,
            kept,
            covers,
            sockets,
            cwd: text(&cwd.canonicalize()?)?,
            limits: limits(&walls.limits.unwrap_or_default(), attempt),
            held: held(walls, attempt, closed, counted),
            temporary,
        })
    }

    /// The first part: own namespaces and limits. Where it fails, nothing of the run may be started in this process.
    pub(crate) fn enter(&self) -> io::Result<()> {
        if self.namespaces != Namespaces::None {
            self.own_namespaces().map_err(|error| match error.raw_os_error() {
                Some(number) if number & IN_OVERLAY != 0 => error,
                _ => marked(&error, IN_NAMESPACES),
            })?;
        }
        // Where memory runs out, the system is to end a run before anything else. It counts on nothing.
        drop(write(c"/proc/self/oom_score_adj", c"500"));
        for (resource, soft, hard) in &self.limits {
            setrlimit(*resource, *soft, *hard)?;
        }
        drop_capabilities();
        Ok(())
    }

    /// The last part, after which nothing else can be set up.
    pub(crate) fn close(&self) -> io::Result<()> {
        // SAFETY: no memory is handed over.
        called(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
        let Some(ruleset) = &self.ruleset else { return Ok(()) };
        // The terminals of this namespace, or those of the machine; nobody's files.
        let opened = open(c"/dev/pts", libc::O_PATH | libc::O_DIRECTORY);
        if let Ok(terminals) = opened {
            ruleset.allow_all_below(terminals.as_fd()).map_err(|error| marked(&error, IN_LANDLOCK))?;
        }
        ruleset.restrict_self().map_err(|error| marked(&error, IN_LANDLOCK))
    }

    fn own_namespaces(&self) -> io::Result<()> {
        let user = if self.namespaces == Namespaces::OfUser { libc::CLONE_NEWUSER } else { 0 };
        let network = if self.closed { libc::CLONE_NEWNET } else { 0 };
        // SAFETY: this process has one thread, and no memory is handed over.
        called(unsafe { libc::unshare(user | network | libc::CLONE_NEWNS) })?;
        if self.namespaces == Namespaces::OfUser {
            // The keeper is not dumpable, so that its `/proc` files belong to root; exec makes the run's program dumpable again.
            // SAFETY: no memory is handed over.
            called(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) })?;
            write(c"/proc/self/setgroups", c"deny")?;
            write(c"/proc/self/uid_map", &self.maps[0])?;
            write(c"/proc/self/gid_map", &self.maps[1])?;
        }
        mount(c"none", c"/", libc::MS_REC | libc::MS_PRIVATE)?;
        // What is mounted below a place goes with it, wherever that is shown.
        for (options, at) in &self.overlays {
            overlay(options, at).map_err(|error| marked(&error, IN_OVERLAY))?;
        }
        if let Some((place, made_at)) = &self.also {
            mount(place, made_at, libc::MS_BIND | libc::MS_REC)?;
        }
        change_directory(&self.private)?;
        for Kept { source, target, is_read_only } in &self.kept {
            mount(source, target, libc::MS_BIND | libc::MS_REC)?;
            if *is_read_only {
                // Landlock opens the private directory for writing, with all that is mounted below it.
                read_only(target)?;
            }
        }
        for (source, target) in &self.covers {
            mount(source, target, libc::MS_BIND | libc::MS_REC)?;
        }
        for (source, target) in &self.sockets {
            drop(mount(source, target, libc::MS_BIND));
        }
        // Without its own the run shares the machine's terminals, which Landlock cannot tell apart.
        // SAFETY: all four are texts that end with a zero.
        let _terminals = unsafe {
            let options = c"newinstance,ptmxmode=0666,mode=0620".as_ptr().cast();
            libc::mount(
                c"devpts".as_ptr(),
                c"/dev/pts".as_ptr(),
                c"devpts".as_ptr(),
                libc::MS_NOSUID | libc::MS_NOEXEC,
                options,
            )
        };
        if self.closed {
            loopback_up()?;
        }
        change_directory(&self.cwd)
    }
}

/// The mounts that leave of covered places what the walls open: those below the private directory, and those over the places and over what
/// is to be empty.
fn mounts(walls: &Walls, private: &Path) -> io::Result<(Vec<Kept>, Vec<Mount>)> {
    let (mut kept, mut covers) = (Vec::new(), Vec::<(PathBuf, &Path)>::new());
    let opened = || walls.readable.iter().chain(&walls.writable);
    // Somebody may want the machine's own.
    let wanted = |place: &Path| opened().any(|path| place.starts_with(path));
    let machines = COVERED.into_iter().map(|(place, name)| (Path::new(place), PathBuf::from(name)));
    let machines =
        machines.filter(|(place, _)| fs::symlink_metadata(place).is_ok_and(|found| found.is_dir()) && !wanted(place));
    let empty = walls.empty.iter().enumerate();
    let empty = empty.map(|(number, path)| (path.as_path(), Path::new(EMPTY).join(number.to_string())));
    for (place, name) in machines.chain(empty.filter(|(path, _)| path.is_dir())) {
        // One in a covered place is not there any more.
        if covers.iter().any(|(_, above)| place.starts_with(above)) {
            continue;
        }
        DirBuilder::new().recursive(true).mode(0o700).create(private.join(&name))?;
        // What lies below comes after what is above it.
        let inside: BTreeSet<&Path> = opened().map(PathBuf::as_path).filter(|path| path.starts_with(place)).collect();
        // Where the work place is found as well, it is as open as it is.
        let is_place = |path: &Path| walls.prepared.as_ref().is_some_and(|prepared| path == prepared.made_at);
        let is_written = |path: &Path| is_place(path) || walls.writable.iter().any(|above| path.starts_with(above));
        for path in &inside {
            let mut above = path.ancestors().skip(1).filter(|above| inside.contains(above));
            let is_there = above.any(|above| is_written(above) || !is_written(path));
            let (Ok(below), Ok(found)) = (path.strip_prefix(place), fs::metadata(path)) else { continue };
            if is_there {
                continue;
            }
            let target = private.join(&name).join(below);
            if found.is_dir() {
                fs::create_dir_all(&target)?;
            } else {
                target.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::File::create(&target)?;
            }
            kept.push(Kept { source: text(path)?, target: text(&name.join(below))?, is_read_only: !is_written(path) });
        }
        covers.push((name, place));
    }
    let covers = covers.into_iter().map(|(name, place)| Ok((text(&name)?, text(place)?))).collect::<io::Result<_>>()?;
    Ok((kept, covers))
}

/// What shows the prepared directories of a work place without copying them, and their places. Where that cannot be, they are copied.
fn overlays(walls: &Walls, can_be: bool) -> io::Result<Vec<Mount>> {
    let Some(prepared) = &walls.prepared else { return Ok(Vec::new()) };
    let options: Option<Vec<String>> = prepared.layers.iter().map(|layer| layer.options().filter(|_| can_be)).collect();
    let Some(options) = options else { return prepared.copy().map(|()| Vec::new()) };
    let mut found = Vec::new();
    for (layer, options) in prepared.layers.iter().zip(options) {
        if layer.is_ready()? {
            found.push((CString::new(options)?, text(&layer.at)?));
        }
    }
    Ok(found)
}

/// The sockets with a name that there are, but for those below what the walls open: Landlock asks nothing of who connects. Each is
/// covered by a file.
fn sockets(walls: &Walls, private: &Path) -> io::Result<Vec<Mount>> {
    fs::File::create(private.join(NO_SOCKET))?;
    let opened = |path: &Path| walls.readable.iter().chain(&walls.writable).any(|open| path.starts_with(open));
    let read = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    // Seven fields, then the name as it was given: one that is relative to somebody's directory is not found.
    let named = read.lines().filter_map(|line| Some(&line[line.find(" /")? + 1..]));
    let others = named.filter(|name| !opened(Path::new(name)) && fs::symlink_metadata(name).is_ok());
    others.map(|name| Ok((text(Path::new(NO_SOCKET))?, text(Path::new(name))?))).collect()
}

fn limits(limits: &Limits, attempt: &Attempt) -> Vec<(Resource, rlim_t, rlim_t)> {
    // Since Linux 5.14 a namespace of users counts its own, and all kernels with Landlock 2 are newer.
    let counted_apart = attempt.namespaces == Namespaces::OfUser && attempt.landlock.abi() >= 2;
    let others = if counted_apart { 0 } else { threads_now() };
    let wanted = [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_FSIZE, limits.file_size),
        (Resource::RLIMIT_NOFILE, limits.open_files),
        (Resource::RLIMIT_NPROC, limits.processes.saturating_add(others)),
    ];
    let within = |(resource, most): (Resource, u64)| {
        let (soft, hard) = getrlimit(resource).ok()?;
        // A limit of open files that is raised breaks programs that use `select`.
        Some((resource, soft.min(most), hard.min(most)))
    };
    wanted.into_iter().filter_map(within).collect()
}

/// All threads of the machine: the system counts those of the user, which are not more.
fn threads_now() -> u64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let total = load.split(' ').nth(3).and_then(|running| running.split_once('/')?.1.parse().ok());
    total.unwrap_or(32_768)
}

fn held(walls: &Walls, attempt: &Attempt, closed: bool, counted: Counted) -> WallsHeld {
    let mut held = WallsHeld { landlock: attempt.landlock.abi(), ..WallsHeld::default() };
    let mut note = |wall, missing: Option<NoWall>| match missing {
        Some(missing) => held.missing.push(missing),
        None => held.held.push(wall),
    };
    for wall in [Wall::Files, Wall::Signals] {
        note(wall, attempt.missing(wall));
    }
    let refused = attempt.no_namespaces.as_ref().map(io::Error::to_string).unwrap_or_default();
    let no_namespaces =
        |wall| NoWall { wall, why: recorded!("wall-no-namespaces", wall = wall.to_string(), error = &refused) };
    match &walls.network {
        Network::Open => {}
        Network::Ports(_) => note(Wall::Network, attempt.missing(Wall::Network)),
        Network::Closed if closed => note(Wall::Network, None),
        Network::Closed => note(Wall::Network, Some(no_namespaces(Wall::Network))),
    }
    let spaces = attempt.namespaces != Namespaces::None;
    note(Wall::Sockets, (!spaces).then(|| no_namespaces(Wall::Sockets)));
    let root = rustix::process::geteuid().is_root();
    let uncounted = root && counted == Counted::ByUser;
    note(Wall::Limits, uncounted.then(|| NoWall { wall: Wall::Limits, why: recorded!("wall-uncounted") }));
    held
}

/// The same number with a mark that survives the way to the keeper.
fn marked(error: &io::Error, mark: i32) -> io::Error {
    io::Error::from_raw_os_error(mark | error.raw_os_error().unwrap_or(libc::EINVAL))
}

fn text(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

fn called(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets nothing be written in what is mounted at a place, with all that is mounted below it.
fn read_only(target: &CStr) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the text ends with a zero, and the structure is as large as is said.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            target.as_ptr(),
            libc::AT_RECURSIVE,
            std::ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn mount(source: &CStr, target: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    // SAFETY: both are texts that end with a zero; this kind of mount takes no type and no data.
    called(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), std::ptr::null(), flags, std::ptr::null()) })
}

fn overlay(options: &CStr, target: &CStr) -> io::Result<()> {
    let kind = c"overlay";
    // SAFETY: all four are texts that end with a zero.
    called(unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), 0, options.as_ptr().cast()) })
}

fn change_directory(path: &CStr) -> io::Result<()> {
    // SAFETY: a text that ends with a zero.
    called(unsafe { libc::chdir(path.as_ptr()) })
}

fn open(path: &CStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: a text that ends with a zero; no mode is needed, since nothing is created.
    let opened = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) };
    called(opened)?;
    // SAFETY: the kernel has just given this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(opened) })
}

fn write(path: &CStr, content: &CStr) -> io::Result<()> {
    let file = open(path, libc::O_WRONLY)?;
    rustix::io::write(&file, content.to_bytes()).map(drop).map_err(io::Error::from)
}

/// A new network has nothing but a loopback device, which is down.
fn loopback_up() -> io::Result<()> {
    /// `SIOCSIFFLAGS`, in the type that this C library has for requests.
    const SET_FLAGS: libc::Ioctl = 0x8914;
    // SAFETY: takes numbers alone.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    called(socket)?;
    // SAFETY: the kernel has just given this descriptor to us alone.
    let _closes = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: all zeros are a valid value of this structure of numbers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let name = c"lo".to_bytes_with_nul();
    for (to, from) in request.ifr_name.iter_mut().zip(name) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: the structure lives for the call and is the one that this request takes.
    called(unsafe { libc::ioctl(socket, SET_FLAGS, &raw const request) })
}

/// Takes from root what reaches around files: raw disks, modules of the kernel, other processes, the clock. Who is not root has none,
/// and nothing is taken from who may not take it.
fn drop_capabilities() {
    for capability in 0..64 {
        if KEPT_CAPABILITIES.contains(&capability) {
            continue;
        }
        // SAFETY: takes numbers alone.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } < 0 {
            break;
        }
    }
}
