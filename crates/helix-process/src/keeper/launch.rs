//! Starting the agent: exactly the given program, environment, directory and files, and nothing inherited.
//!
//! Must not know what becomes of it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use helix_core::recorded;
use helix_core::run::WallsHeld;
use helix_core::said::Words;
use helix_core::text::clip;
use nix::sys::signal::{SigHandler, SigSet, Signal as NixSignal, signal};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_parent_process_death_signal, setsid, waitpid,
};

use super::cgroup::{Cgroup, ProcessCount};
use super::confine::{Attempt, Confined, Counted};
use super::fault::{KeeperFault, MAX_REASON};
use super::spawn::{Groups, spawn};
use crate::invocation::{Invocation, RUN_DIR_VARIABLE, RUN_ID_VARIABLE, RunKind, RunRequest};
use crate::prepared::{Prepared, SERVICES_VARIABLE, WITH_SERVICES};
use crate::program::NoProgram;
use crate::run_dir::{RunDir, RunDirError, name};
use crate::walls::{Walls, shortfall};

/// An agent that was started.
pub(crate) struct Launched {
    pub(crate) agent: Pid,
    /// What holds its processes back; `None` where nothing was asked for.
    pub(crate) walls: Option<WallsHeld>,
}

/// Starts the agent in a session of its own. Its process is reaped by the process tree, together with everything else that ends.
pub(crate) fn start(
    directory: &RunDir,
    request: &RunRequest,
    cgroup: Option<&Cgroup>,
    count: Option<&ProcessCount>,
) -> Result<Launched, KeeperFault> {
    let invocation = &request.invocation;
    let failed = |(why, errno): (Words, Option<i32>)| KeeperFault::Start {
        program: invocation.program.display().to_string(),
        why,
        errno,
    };
    if !invocation.cwd.is_dir() {
        return Err(failed((recorded!("start-no-directory", path = invocation.cwd.display().to_string()), None)));
    }
    let prepared = request.walls.as_ref().and_then(|walls| walls.prepared.as_ref());
    let program = resolve(invocation, prepared).map_err(failed)?;
    close_inherited_on_exec().map_err(KeeperFault::system("list open files"))?;

    let by_group = count.is_some() || cgroup.is_some_and(Cgroup::counts_processes);
    let counted = if by_group { Counted::ByGroup } else { Counted::ByUser };
    let groups = Groups::open(cgroup, count)?;
    let mut attempt = Attempt::first();
    let (agent, stdin, walls) = loop {
        let confined = match &request.walls {
            Some(walls) => Some(confine(walls, directory, &invocation.cwd, &attempt, counted).map_err(&failed)?),
            None => None,
        };
        let walled = confined.is_some();
        let (temporary, held) = confined.as_ref().map(|one| (one.temporary.clone(), one.held.clone())).unzip();
        let mut command = command(directory, request, &program)?;
        if let Some(temporary) = temporary {
            command.env("TMPDIR", temporary);
        }
        let stdin = match request.kind {
            RunKind::Work => {
                let (reader, writer) = io::pipe().map_err(KeeperFault::system("make a pipe"))?;
                command.stdin(reader);
                Some(writer)
            }
            // Some programs read a pipe that they are given: `rg x` would look for x there and not in the directory.
            RunKind::Check => None,
        };
        settle_in_child(&mut command, confined);
        match spawn(command, &groups) {
            Ok(agent) => break (agent, stdin, held),
            Err(error) if attempt.with_less(&error) => {}
            Err(error) => return Err(failed(explain(&error, &program, walled))),
        }
    };
    let input = open(&directory.file(name::STDIN), OpenOptions::new().read(true))?;
    if let Some(stdin) = stdin
        && let Err(fault) = feed(input, stdin)
    {
        // What it is to read will never come, and it counts as not started.
        if let Err(error) = kill_process(agent, Signal::KILL).and_then(|()| waitpid(Some(agent), WaitOptions::empty()))
        {
            super::complain(&format!("cannot end the agent that gets no stdin: {error}"));
        }
        return Err(fault);
    }
    Ok(Launched { agent, walls })
}

/// Prepares the walls; a run that must not start without them does not.
fn confine(
    walls: &Walls,
    directory: &RunDir,
    cwd: &Path,
    attempt: &Attempt,
    counted: Counted,
) -> Result<Confined, (Words, Option<i32>)> {
    let confined = Confined::prepare(walls, directory, cwd, attempt, counted)
        .map_err(|error| (recorded!("start-no-sandbox", error = error.to_string()), None))?;
    match shortfall(&confined.held, &walls.network).filter(|_| walls.required) {
        Some(missing) => Err((recorded!("start-sandbox-required", missing = missing), None)),
        None => Ok(confined),
    }
}

/// The program with exactly its environment, directory and files.
fn command(directory: &RunDir, request: &RunRequest, program: &Path) -> Result<Command, KeeperFault> {
    let invocation = &request.invocation;
    let stdout = open(&directory.stdout(), OpenOptions::new().append(true))?;
    let stderr = match request.kind {
        RunKind::Work => open(&directory.stderr(), OpenOptions::new().append(true))?,
        RunKind::Check => stdout.try_clone().map_err(KeeperFault::system("open stdout once more"))?,
    };
    let services = request.walls.as_ref().and_then(|walls| walls.prepared.as_ref()?.services.as_ref());
    let mut command = match services {
        None => {
            let mut command = Command::new(program);
            command.arg0(&invocation.program);
            command
        }
        Some(_) => {
            let own = std::env::current_exe().map_err(KeeperFault::system("find Helix's own program"))?;
            let mut command = Command::new(own);
            command.arg(WITH_SERVICES).arg(&invocation.program).arg(program);
            command
        }
    };
    command
        .args(&invocation.args)
        .env_clear()
        .envs(invocation.env.iter().map(|(name, value)| (name, value)))
        .envs(services.map(|services| (SERVICES_VARIABLE, services)))
        .env(RUN_ID_VARIABLE, request.run.as_str())
        .env(RUN_DIR_VARIABLE, directory.path())
        .current_dir(&invocation.cwd)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr);
    Ok(command)
}

/// Gives the agent its stdin through a pipe: Claude Code 2.1.197 reads nothing from a regular file and exits 0 without a word.
/// A thread of its own writes, since a pipe holds 64 KiB and the agent may read late or never; it begins after the fork and
/// ends when all is written, or with the agent.
fn feed(mut input: File, mut stdin: io::PipeWriter) -> Result<(), KeeperFault> {
    let write = move || match io::copy(&mut input, &mut stdin) {
        Ok(_) => {}
        // An agent need not read to the end; what it did is judged by its output.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => super::complain(&format!("cannot give the agent its stdin: {error}")),
    };
    let thread = std::thread::Builder::new().name("stdin".into()).stack_size(256 << 10).spawn(write);
    thread.map(drop).map_err(KeeperFault::system("start the thread that writes the agent's stdin"))
}

/// What happens between fork and exec. Only system calls: nothing here allocates or takes a lock.
#[expect(
    unsafe_code,
    reason = "pre_exec and signal are unsafe to call; this process has a single thread until after the fork"
)]
fn settle_in_child(command: &mut Command, confined: Option<Confined>) {
    let keeper = getpid();
    let settle = move || -> io::Result<()> {
        setsid()?;
        if let Some(confined) = &confined {
            confined.enter()?;
        }
        // After the namespaces, which take it back. Follows the parent's thread that forks: the keeper's first one, which lives as
        // long as the keeper.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(keeper) {
            // The keeper died before the line above took effect.
            return Err(rustix::io::Errno::SRCH.into());
        }
        for any in NixSignal::iterator().filter(|any| !matches!(any, NixSignal::SIGKILL | NixSignal::SIGSTOP)) {
            // The program that started Helix may have ignored some (a shell's `&`, nohup): the agent has to hear them.
            // SAFETY: sets the default action; no handler of ours is involved.
            unsafe { signal(any, SigHandler::SigDfl) }?;
        }
        SigSet::empty().thread_set_mask()?;
        confined.as_ref().map_or(Ok(()), Confined::close)
    };
    // SAFETY: the closure makes async-signal-safe system calls only, and the keeper has one thread until after the fork, so no lock can
    // be held by another at that time.
    unsafe { command.pre_exec(settle) };
}

/// Marks every inherited descriptor so that the agent gets stdin, stdout and stderr and nothing else.
fn close_inherited_on_exec() -> io::Result<()> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if number > 2 {
            mark_close_on_exec(number)?;
        }
    }
    Ok(())
}

#[expect(unsafe_code, reason = "an inherited descriptor has no owner in Rust to borrow from")]
fn mark_close_on_exec(number: i32) -> io::Result<()> {
    // SAFETY: only its flag is changed, it is neither read, written nor closed; a closed number gives EBADF.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    match fcntl_setfd(descriptor, FdFlags::CLOEXEC) {
        Ok(()) | Err(rustix::io::Errno::BADF) => Ok(()),
        Err(errno) => Err(io::Error::new(errno.kind(), format!("descriptor {}: {errno}", descriptor.as_raw_fd()))),
    }
}

fn open(path: &Path, how: &OpenOptions) -> Result<File, RunDirError> {
    how.open(path).map_err(RunDirError::io("open", path))
}

/// Finds the program in the agent's own `PATH`, or from its working directory.
fn resolve(invocation: &Invocation, prepared: Option<&Prepared>) -> Result<PathBuf, (Words, Option<i32>)> {
    if invocation.program.as_os_str().is_empty() {
        return Err((recorded!("start-no-program"), None));
    }
    let search = invocation.env.iter().rev().find(|(name, _)| name == "PATH").map_or("", |(_, search)| search);
    Prepared::find_program(prepared, &invocation.program, search, &invocation.cwd).map_err(|error| {
        let (why, errno) = match &error {
            NoProgram::NotInPath(search) => {
                (recorded!("start-not-in-path", search = clip(search, MAX_REASON)), Errno::NOENT)
            }
            NoProgram::Missing(file) => (recorded!("start-missing", file = file.display().to_string()), Errno::NOENT),
            NoProgram::NotExecutable(file) => {
                (recorded!("start-not-executable", file = file.display().to_string()), Errno::ACCESS)
            }
        };
        (why, Some(errno.raw_os_error()))
    })
}

/// The operating system's words, and what they mean here, with its number. From outside of the walls the program was found, and
/// found executable.
fn explain(error: &io::Error, program: &Path, walled: bool) -> (Words, Option<i32>) {
    let refused = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
    let interpreter = interpreter(program);
    if walled && refused && interpreter.as_ref().is_none_or(|path| path.exists()) {
        let hidden = interpreter.as_deref().unwrap_or(program).display().to_string();
        return (recorded!("start-hidden", file = hidden), None);
    }
    let system = error.to_string();
    let why = match error.kind() {
        io::ErrorKind::NotFound => recorded!("start-no-interpreter", error = system),
        io::ErrorKind::PermissionDenied => recorded!("start-closed", error = system),
        io::ErrorKind::ArgumentListTooLong => recorded!("start-too-long", error = system),
        _ => system.into(),
    };
    (why, error.raw_os_error())
}

/// The program that the first line of a script names.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    File::open(program).ok()?.take(LONGEST_FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.trim_ascii().split(|byte| byte.is_ascii_whitespace()).next()?;
    Some(PathBuf::from(OsStr::from_bytes(word)))
}

/// How much of a script's first line the kernel reads, in bytes.
const LONGEST_FIRST_LINE: u64 = 256;
