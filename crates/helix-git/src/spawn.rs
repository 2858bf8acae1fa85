//! The one function that starts git, and the one that runs it to its end.
//!
//! Must not know any git command: arguments come from the callers in this module's neighbours.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use helix_core::ids::{CommitId, InvalidId, TreeId};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::PidfdFlags;

use super::environment::GitEnvironment;
use super::error::{GitError, hint_for};
use helix_process::secrets::clean;
use helix_process::{Input, SessionLeader, find_program};

/// Longest time that a single git command may take. Checking out a very big tree on a slow disk takes minutes.
pub(crate) const LIMIT: Duration = Duration::from_secs(600);
/// Most of stdout that is kept; more is an error, since no question of Helix has such an answer.
const MAX_STDOUT: usize = 256 << 20;
/// Most of stderr that is shown.
const MAX_STDERR: usize = 4 << 10;

/// What a finished git process said.
#[derive(Debug)]
pub struct GitOutput {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl GitOutput {
    /// Stdout as text without its last newline; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()
    }

    /// What stdout names, each name ended by a NUL.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty())
    }

    /// The commit that `git commit-tree` has made.
    pub(crate) fn commit(&self) -> Result<CommitId, GitError> {
        let unreadable = |_| GitError::Unreadable { command: "git commit-tree".into(), problem: self.text() };
        CommitId::new(self.text()).map_err(unreadable)
    }

    /// The tree that stdout names first.
    pub(crate) fn tree(&self) -> Result<TreeId, GitError> {
        let name = self.names().next().map(String::from_utf8_lossy).unwrap_or_default();
        let unreadable =
            |error: InvalidId| GitError::Unreadable { command: "git write-tree".into(), problem: error.to_string() };
        TreeId::new(name.trim_end()).map_err(unreadable)
    }
}

/// One git command that is about to run.
pub struct Call<'a> {
    git: &'a GitEnvironment,
    directory: PathBuf,
    args: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
    accepted: &'a [i32],
    limit: Duration,
    memory: Option<u64>,
    /// What takes too long is not killed, since it would leave the user's files half changed.
    left_alone: bool,
}

impl GitEnvironment {
    /// Begins a command in a directory.
    pub(crate) fn call<'a, A: AsRef<OsStr>>(&'a self, directory: &Path, args: impl IntoIterator<Item = A>) -> Call<'a> {
        Call {
            git: self,
            directory: directory.to_path_buf(),
            args: args.into_iter().map(|arg| arg.as_ref().to_os_string()).collect(),
            variables: Vec::new(),
            stdin: Vec::new(),
            accepted: &[0],
            limit: LIMIT,
            memory: None,
            left_alone: false,
        }
    }

    /// Starts git, with at most so many bytes of memory.
    pub(crate) fn start(
        &self,
        memory: Option<u64>,
        directory: &Path,
        args: &[OsString],
        variables: &[(OsString, OsString)],
        input: Input,
    ) -> Result<SessionLeader, GitError> {
        let (program, before) = match memory {
            None => (self.program(), Vec::new()),
            Some(most) => {
                // A limit that is set once git runs comes too late for what it has read by then.
                let limited = ["-c", "ulimit -d \"$0\" && exec \"$@\"", &(most >> 10).to_string()].map(OsString::from);
                (Path::new("/bin/sh"), limited.into_iter().chain([self.program().into()]).collect())
            }
        };
        let all: BTreeMap<&OsStr, &OsStr> =
            self.variables().iter().chain(variables).map(|(name, value)| (&**name, &**value)).collect();
        let search = all.get(OsStr::new("PATH")).copied().unwrap_or_default().to_string_lossy();
        // As a shell looks where nothing is said.
        let search = if search.is_empty() { "/usr/local/bin:/usr/bin:/bin".into() } else { search };
        let place = [OsStr::new("-C"), directory.as_os_str()];
        let words = before.iter().map(OsString::as_os_str).chain(place).chain(args.iter().map(OsString::as_os_str));
        let program = find_program(program, &search, Path::new("/"));
        let started = program.map_err(|missing| io::Error::new(io::ErrorKind::NotFound, missing));
        let started = started.and_then(|program| SessionLeader::spawn(&program, words, all, input));
        started.map_err(|source| GitError::Unstartable { program: self.program().into(), source })
    }
}

/// A command line for people.
pub(crate) fn render(args: &[OsString]) -> String {
    clean(&args.iter().fold("git".to_owned(), |line, arg| format!("{line} {}", arg.to_string_lossy())))
}

impl<'a> Call<'a> {
    /// Adds a variable to the environment.
    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Gives paths on the standard input, each ended by a NUL.
    pub(crate) fn paths<'p>(self, paths: impl IntoIterator<Item = &'p [u8]>) -> Self {
        self.stdin(paths.into_iter().flat_map(|path| path.iter().copied().chain([0])).collect::<Vec<u8>>())
    }

    /// Gives it bytes to read.
    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Names the exit codes that are answers rather than failures.
    pub fn accept(mut self, codes: &'a [i32]) -> Self {
        self.accepted = codes;
        self
    }

    /// Never kills it: for what changes the user's own work tree. One that is overdue is left to finish.
    pub(crate) fn in_users_tree(mut self) -> Self {
        self.left_alone = true;
        self
    }

    /// Ends it after another time than usual.
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Lets it have so many bytes of memory at most.
    pub(crate) fn memory(mut self, most: u64) -> Self {
        self.memory = Some(most);
        self
    }

    /// Runs it to its end.
    pub fn run(self) -> Result<GitOutput, GitError> {
        let input = if self.stdin.is_empty() { Input::Nothing } else { Input::Pipe };
        let mut child = self.git.start(self.memory, &self.directory, &self.args, &self.variables, input)?;
        let collected = self.collect(&mut child);
        match &collected {
            Err(GitError::TimedOut { .. }) if self.left_alone => {
                let pid = child.pid().as_raw_nonzero().get();
                // Reaped whenever it ends.
                std::thread::spawn(move || child.wait());
                return Err(GitError::StillRunning {
                    command: render(&self.args),
                    directory: self.directory,
                    limit: self.limit,
                    pid,
                });
            }
            Err(_) => child.kill(),
            Ok(_) => {}
        }
        // Reaped in every case: after a kill this returns at once.
        let status = child.wait().map_err(|source| self.unreadable(format!("its exit status is lost: {source}")))?;
        let (stdout, stderr) = collected?;
        let stderr = tail(&stderr);
        match status.code() {
            Some(code) if self.accepted.contains(&code) => Ok(GitOutput { code, stdout, stderr }),
            code => {
                let trouble = self.disk_trouble(&stderr);
                Err(GitError::failed(render(&self.args), &self.directory, code, stderr, trouble))
            }
        }
    }

    /// What the disk says, where git's words do not tell.
    fn disk_trouble(&self, stderr: &str) -> Option<String> {
        if hint_for(stderr).is_some() {
            return None;
        }
        let mut variables = self.git.variables().iter().chain(&self.variables);
        let private = variables.find(|(name, _)| name == "GIT_DIR").map(|(_, path)| Path::new(path));
        super::disk::trouble(private.into_iter().chain([self.directory.as_path()]))
    }

    fn unreadable(&self, problem: String) -> GitError {
        GitError::Unreadable { command: render(&self.args), problem }
    }

    /// Feeds stdin and reads both outputs until git has exited, no matter who else still holds the pipes.
    fn collect(&self, child: &mut SessionLeader) -> Result<(Vec<u8>, Vec<u8>), GitError> {
        let lost = |what: &str| self.unreadable(format!("no {what}"));
        let trouble = |error: std::io::Error| self.unreadable(format!("reading it failed: {error}"));
        let exited = rustix::process::pidfd_open(child.pid(), PidfdFlags::empty()).map_err(|e| trouble(e.into()))?;
        let mut stdin = child.stdin.take();
        let mut stdout = child.stdout.take().ok_or_else(|| lost("stdout"))?;
        let mut stderr = child.stderr.take().ok_or_else(|| lost("stderr"))?;
        for fd in [stdout.as_fd(), stderr.as_fd()].into_iter().chain(stdin.as_ref().map(AsFd::as_fd)) {
            rustix::io::ioctl_fionbio(fd, true).map_err(|e| trouble(e.into()))?;
        }
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let (mut out_open, mut err_open) = (true, true);
        let mut unsent = self.stdin.as_slice();
        let deadline = Instant::now() + self.limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(GitError::TimedOut {
                    command: render(&self.args),
                    directory: self.directory.clone(),
                    limit: self.limit,
                });
            }
            let mut fds: Vec<PollFd<'_>> = vec![PollFd::new(&exited, PollFlags::IN)];
            if out_open {
                fds.push(PollFd::new(&stdout, PollFlags::IN));
            }
            if err_open {
                fds.push(PollFd::new(&stderr, PollFlags::IN));
            }
            if let Some(pipe) = &stdin {
                fds.push(PollFd::new(pipe, PollFlags::OUT));
            }
            wait(&mut fds, left).map_err(trouble)?;
            let done = !fds[0].revents().is_empty();
            drop(fds);
            if let Some(pipe) = &mut stdin {
                match pipe.write(unsent) {
                    Ok(sent) => unsent = &unsent[sent..],
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    // It does not want to read any more; its exit code says whether that is all right.
                    Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => unsent = &[],
                    Err(error) => return Err(trouble(error)),
                }
                if unsent.is_empty() {
                    stdin = None;
                }
            }
            out_open = out_open && drain(&mut stdout, &mut out).map_err(trouble)?;
            err_open = err_open && drain(&mut stderr, &mut err).map_err(trouble)?;
            if out.len() > MAX_STDOUT {
                return Err(self.unreadable(format!("it is longer than {MAX_STDOUT} bytes")));
            }
            if err.len() > 16 * MAX_STDERR {
                err.drain(..err.len() - MAX_STDERR);
            }
            if done || !(out_open || err_open) {
                return Ok((out, err));
            }
        }
    }
}

/// Waits until one of the descriptors is ready or the time is over.
pub(crate) fn wait(fds: &mut [PollFd<'_>], limit: Duration) -> std::io::Result<usize> {
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    loop {
        match rustix::event::poll(fds, Some(&limit)) {
            Ok(ready) => return Ok(ready),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Reads what is there; false when the pipe is closed.
fn drain(pipe: &mut impl Read, into: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut chunk = [0_u8; 16 << 10];
    loop {
        match pipe.read(&mut chunk) {
            Ok(0) => return Ok(false),
            Ok(count) => into.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if into.len() > MAX_STDOUT {
            return Ok(true);
        }
    }
}

fn tail(stderr: &[u8]) -> String {
    let from = stderr.len().saturating_sub(MAX_STDERR);
    String::from_utf8_lossy(&stderr[from..]).trim().to_owned()
}

/// A descriptor with a time limit on every read.
pub(crate) struct TimedReader<R> {
    inner: R,
    limit: Duration,
}

impl<R: Read + AsFd> TimedReader<R> {
    pub(crate) fn new(inner: R, limit: Duration) -> Self {
        Self { inner, limit }
    }
}

impl<R: Read + AsFd> Read for TimedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let fd: BorrowedFd<'_> = self.inner.as_fd();
        if wait(&mut [PollFd::new(&fd, PollFlags::IN)], self.limit)? == 0 {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        self.inner.read(buffer)
    }
}

#[cfg(test)]
#[path = "spawn_test.rs"]
mod tests;
