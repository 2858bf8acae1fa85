//! The keeper: the `helix` binary executed again as a small, single-threaded process that owns one run from claim to
//! record.
//!
//! Must not know async, dialects or the supervisor: it talks through the run directory alone (`docs/runs.md`).

pub(crate) mod cgroup;
mod confine;
mod exit_record;
mod fault;
mod gateway;
pub(crate) mod landlock;
mod launch;
mod signals;
mod spawn;
mod stop;
mod tree;

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use helix_core::run::{Ending, StopCause, WallsHeld};
use helix_core::said::Words;
use helix_core::secrets::Secret;
use helix_core::{error_chain, recorded};
use jiff::Timestamp;
use nix::sys::resource::{UsageWho, getrusage};
use rustix::fs::{FileType, FlockOperation, fcntl_lock};
use rustix::process::{Pid, getpid, set_child_subreaper, setsid};

use self::cgroup::{Cgroup, ProcessCount};
use self::fault::KeeperFault;
pub use self::gateway::{Passage, ServeGateway};
use self::signals::Signals;
use self::stop::StopLadder;
use self::tree::ProcessTree;
use crate::invocation::{MAX_OUTPUT, RunEnd, RunKind, RunRequest};
use crate::own_session::close_to_others;
use crate::proc::{ProcessIdentity, boot_id};
use crate::run_dir::{RunDir, RunDirError, RunRecord, name, needed, replace_file, sync_directory, to_json};
use crate::walls::Limits;

/// How often the keeper looks how much its run has printed and taken.
const LOOK: Duration = Duration::from_millis(250);

/// How much later than its agent a keeper may be sent a signal that went to both.
const SWEEP: Duration = Duration::from_millis(200);

/// First byte of the keeper's word to its parent.
pub(crate) mod word {
    /// The run is this keeper's.
    pub(crate) const CLAIMED: u8 = b'+';
    /// Another keeper has, or had, the run.
    pub(crate) const TAKEN: u8 = b'=';
    /// It could not even try; the reason follows.
    pub(crate) const FAULT: u8 = b'!';
}

/// Keeps one run: claims it, starts the agent, enforces its deadline and stop requests, reaps every descendant, and
/// records the end in `exit.json`. Called first thing in `main` for `helix keeper RUN_DIR`, before any thread or runtime
/// exists. Exit status: 0 if the run is recorded or somebody else's, 5 if this keeper failed. `serve` is the gateway to an agent's
/// provider; without one, agents have their keys themselves.
pub fn keeper_main(run_dir: &Path, serve: Option<ServeGateway>) -> ExitCode {
    match keep(run_dir, serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let text = error_chain(&fault);
            say(word::FAULT, &text);
            complain(&text);
            ExitCode::from(5)
        }
    }
}

/// Writes to the keeper's log (its stderr).
fn complain(text: &str) {
    // If even the log cannot be written there is nobody left to tell; the missing record of the end tells it then.
    drop(writeln!(io::stderr(), "{} {text}", Timestamp::now()));
}

/// Tells the process that spawned this keeper how it went, and closes that line. Nobody may be listening any more.
fn say(word: u8, text: &str) {
    let mut stdout = io::stdout().lock();
    let spoken =
        stdout.write_all(&[word]).and_then(|()| stdout.write_all(text.as_bytes())).and_then(|()| stdout.flush());
    drop(spoken);
    let closed =
        OpenOptions::new().write(true).open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdout(null)?));
    if let Err(error) = closed {
        complain(&format!("cannot close the connection to the starter of this keeper: {error}"));
    }
}

fn keep(run_dir: &Path, serve: Option<ServeGateway>) -> Result<(), KeeperFault> {
    // What runs under a keeper has the same user: it must not read this process' memory, nor trace it.
    close_to_others().map_err(KeeperFault::system("close this process to others"))?;
    // Signals first: from here on a request to stop waits to be read and cannot kill.
    let signals = Signals::block()?;
    let directory = RunDir::at(std::path::absolute(run_dir).map_err(KeeperFault::system("resolve the run directory"))?);
    std::env::set_current_dir("/").map_err(KeeperFault::system("leave the working directory"))?;
    match setsid() {
        // Leading a process group already (started from a shell, say) is good enough.
        Ok(_) | Err(rustix::io::Errno::PERM) => {}
        Err(errno) => return Err(KeeperFault::system("leave the session")(errno)),
    }
    let secrets = told_secrets();
    set_child_subreaper(Some(getpid())).map_err(KeeperFault::system("become the reaper of all descendants"))?;

    let Some(_lock) = claim(&directory)? else {
        say(word::TAKEN, "");
        return Ok(());
    };
    // A request that cannot be read is named when the run is prepared.
    let kind = needed::<RunRequest>(&directory.file(name::REQUEST)).map_or(RunKind::Work, |request| request.kind);
    if kind == RunKind::Work {
        // A claim lost in a power cut would let the run be executed again.
        sync_directory(directory.path())?;
        directory.path().parent().map_or(Ok(()), sync_directory)?;
    }
    say(word::CLAIMED, "");
    let claimed_at = Timestamp::now();

    let not_started = |reason: Words, errno, cause| {
        remove_private(&directory);
        mask(&directory, &secrets);
        let end = directory.end(Ending::NotStarted { reason, errno }, cause, claimed_at, 0);
        exit_record::write(&directory, end, kind)
    };
    let mut run = match prepare(&directory, claimed_at, serve) {
        Ok(Prepared::Running(run)) => *run,
        Ok(Prepared::StoppedBefore(cause)) => {
            return not_started(recorded!("start-stopped"), None, Some(cause));
        }
        Err(fault) => {
            let errno = if let KeeperFault::Start { errno, .. } = &fault { *errno } else { None };
            return not_started(fault.words(), errno, None);
        }
    };

    let (ending, leftovers) = run.attend(&directory, &signals)?;
    remove_private(&directory);
    mask(&directory, &secrets);
    let end = directory.end(ending, run.ladder.cause(), run.started_at, leftovers);
    let (peak_rss_kib, walls) = (peak_rss_kib(), run.walls.take());
    exit_record::write(&directory, RunEnd { peak_rss_kib, walls, ..end }, kind)
}

/// What the host that started this keeper knows, given through a pipe: it stands in no file, variable or argument.
fn told_secrets() -> Vec<Secret> {
    let stdin = io::stdin();
    let is_pipe = rustix::fs::fstat(&stdin).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo);
    if !is_pipe {
        return Vec::new();
    }
    let mut text = Vec::new();
    // A host that was killed meanwhile has told a part: the next one knows them.
    drop(stdin.lock().read_to_end(&mut text));
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Masks what the run has printed. What cannot be masked stays to be masked by the host, which shows nothing else.
fn mask(directory: &RunDir, secrets: &[Secret]) {
    crate::secrets::hold(secrets.iter().cloned());
    if let Err(error) = crate::secrets::mask_record(directory) {
        complain(&format!("{}; what the run printed is not masked", error_chain(&error)));
    }
}

/// What the run's processes had for themselves goes with the last of them.
fn remove_private(directory: &RunDir) {
    if let Err(error) = directory.remove_private() {
        complain(&format!("{}; the run's temporary files stay", error_chain(&error)));
    }
}

/// Of the largest process that was reaped. 0 if the system does not say.
fn peak_rss_kib() -> u64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).ok().and_then(|usage| u64::try_from(usage.max_rss()).ok()).unwrap_or(0)
}

/// Takes the run, once and for all time. The lock says "alive" and goes with this process; the claim says "ever
/// started" and stays, so that a run is never executed twice.
fn claim(directory: &RunDir) -> Result<Option<std::fs::File>, KeeperFault> {
    let path = directory.file(name::LOCK);
    let lock = OpenOptions::new().write(true).open(&path).map_err(RunDirError::io("open", &path))?;
    match fcntl_lock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => return Ok(None),
        Err(errno) => return Err(RunDirError::io("lock", &path)(errno.into()).into()),
    }
    Ok(directory.take_claim()?.then_some(lock))
}

enum Prepared {
    Running(Box<KeptRun>),
    StoppedBefore(StopCause),
}

/// A run whose agent was started.
struct KeptRun {
    agent: Pid,
    tree: ProcessTree,
    ladder: StopLadder,
    started_at: Timestamp,
    walls: Option<WallsHeld>,
    limits: Option<Limits>,
}

fn prepare(directory: &RunDir, claimed_at: Timestamp, serve: Option<ServeGateway>) -> Result<Prepared, KeeperFault> {
    let mut request: RunRequest = needed(&directory.file(name::REQUEST))?;
    request.invocation.env = needed(&directory.file(name::ENVIRONMENT))?;
    if let Some(stop) = directory.read_stop()? {
        forget_environment(directory);
        return Ok(Prepared::StoppedBefore(stop.cause));
    }
    let own = std::process::id();
    let cgroup = Cgroup::create(&format!("helix-{}-{own}", request.run));
    let mut record = RunRecord {
        run: request.run.clone(),
        directory: directory.path().to_owned(),
        keeper: i32::try_from(own).ok().and_then(ProcessIdentity::read),
        agent: None,
        boot_id: boot_id(),
        cgroup: cgroup.as_ref().map(|group| group.path().to_owned()),
        claimed_at,
        walls: None,
    };
    if cgroup.is_some() {
        // Before the first process can be in it, so that a sweep after this keeper's death finds the group.
        publish(directory, &record);
    }
    let started_at = Timestamp::now();
    let started = Instant::now();
    let count = request.walls.as_ref().map(|walls| walls.limits.unwrap_or_default().processes).and_then(|most| {
        let counted = cgroup.as_ref().is_some_and(|group| group.limit_processes(most));
        if counted { None } else { ProcessCount::create(&format!("helix-{}-{own}", request.run), most) }
    });
    let passage = gateway::open(&mut request, serve);
    let launched = passage.and_then(|passage| {
        let launched = launch::start(directory, &request, cgroup.as_ref(), count.as_ref())?;
        // After the fork, which copies one thread alone. A connection that is made before waits.
        passage.map_or(Ok(()), gateway::Open::serve)?;
        Ok(launched)
    });
    forget_environment(directory);
    let launch::Launched { agent, mut walls } = launched?;
    if let (Some(held), Some(gateway)) = (&mut walls, request.walls.as_ref().and_then(|walls| walls.gateway.as_ref())) {
        gateway::note(held, gateway);
    }
    record.agent = ProcessIdentity::read(agent.as_raw_pid());
    record.walls.clone_from(&walls);
    publish(directory, &record);
    let ladder = StopLadder::new(request.grace, request.deadline.and_then(|limit| started.checked_add(limit)));
    let tree = ProcessTree::new(directory.path().to_owned(), cgroup, count);
    let limits = request.walls.and_then(|walls| walls.limits);
    Ok(Prepared::Running(Box::new(KeptRun { agent, tree, ladder, started_at, walls, limits })))
}

/// `run.json` is for people and sweeps; a run does not fail for want of it.
fn publish(directory: &RunDir, record: &RunRecord) {
    let path = directory.file(name::RECORD);
    if let Err(error) = to_json(&path, record).and_then(|bytes| replace_file(&path, &bytes)) {
        complain(&format!("{error}; the run goes on without its current record"));
    }
}

fn forget_environment(directory: &RunDir) {
    let path = directory.file(name::ENVIRONMENT);
    if let Err(error) = std::fs::remove_file(&path) {
        complain(&format!("cannot remove {}, which may hold secrets: {error}", path.display()));
    }
}

impl KeptRun {
    /// Waits for the agent, drives a stop where one is due, and clears up what it left behind.
    fn attend(&mut self, directory: &RunDir, signals: &Signals) -> Result<(Ending, u32), KeeperFault> {
        let ending = loop {
            if let Some(ending) = self.tree.reap(self.agent)?.agent {
                break ending;
            }
            match self.ladder.requested(directory) {
                Ok(()) => {}
                Err(error) => complain(&format!("{error}; going on without it")),
            }
            if directory.printed() > MAX_OUTPUT {
                self.ladder.took_too_much(StopCause::Output, directory);
            }
            if self.limits.is_some_and(|limits| self.tree.takes_more_than(&limits)) {
                self.ladder.took_too_much(StopCause::Memory, directory);
            }
            self.ladder.climb(Instant::now(), directory, self.agent, &self.tree);
            let look = Instant::now() + LOOK;
            let until = self.ladder.next_step().map_or(look, |step| step.min(look));
            if signals.wait(Some(until))? {
                self.ladder.asked_by_signal(directory);
            }
        };
        if matches!(ending, Ending::Signaled { .. }) {
            // A service manager that ends everything at once ends the agent first and asks this keeper next.
            let until = Instant::now() + SWEEP;
            while self.ladder.cause().is_none() && Instant::now() < until {
                if signals.wait(Some(until))? {
                    self.ladder.asked_by_signal(directory);
                }
            }
        }
        let leftovers = self.tree.clear(signals, self.agent, self.ladder.patience())?;
        Ok((ending, leftovers))
    }
}
