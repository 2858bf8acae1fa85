//! The asynchronous runtime of a command: its threads, and what must hold in the process before anything runs on them.
//!
//! Must not know what runs on it.

use std::io;
use std::sync::mpsc;
use std::thread;

use rustix::process::Signal as SignalNumber;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::{CommandError, codes};

/// Threads for blocking work that every command soon needs: files, the database's writer and a reader, address look-up.
const BESIDE_WORKERS: usize = 4;

/// Stack of a thread that only waits.
const SMALL_STACK: usize = 64 << 10;

/// Starts the runtime.
///
/// # Errors
/// When the system gives no threads, or takes no handler of a signal.
pub(crate) fn start() -> Result<Runtime, CommandError> {
    let failed = |error: io::Error| {
        CommandError::environment(codes::RUNTIME, "cannot start threads")
            .because(&error)
            .hint("raise the limit of processes (`ulimit -u`, `pids.max` of the control group), or end some")
    };
    helix_process::keep_little_memory();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    check_threads(workers + BESIDE_WORKERS).map_err(failed)?;
    let runtime = Builder::new_multi_thread().worker_threads(workers).enable_all().build().map_err(failed)?;
    let entered = runtime.enter();
    hear_of_large_files().map_err(failed)?;
    drop(entered);
    Ok(runtime)
}

/// A stream of this signal.
///
/// # Errors
/// When the system takes no handler.
pub(crate) fn signal_stream(kind: SignalKind) -> Result<Signal, CommandError> {
    signal(kind).map_err(|error| CommandError::helix(codes::RUNTIME, "cannot listen for signals").because(&error))
}

/// Waits until the user or the system ends this command; listens from now on.
///
/// # Errors
/// When the system takes no handler.
pub(crate) fn stopped() -> Result<impl Future<Output = ()>, CommandError> {
    let mut interrupts = signal_stream(SignalKind::interrupt())?;
    let mut terminations = signal_stream(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
    })
}

/// What processes come to; `None` where this command was ended before. They end first, however they do.
///
/// # Errors
/// Those of the work, and when the system takes no handler.
pub(crate) async fn unless_stopped<T, E: Into<CommandError>>(
    work: impl Future<Output = Result<T, E>>,
    cancel: &CancellationToken,
) -> Result<Option<T>, CommandError> {
    let stopped = stopped()?;
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => done.map(Some).map_err(Into::into),
        () = stopped => {
            cancel.cancel();
            drop(work.await);
            Ok(None)
        }
    }
}

/// Tries whether so many threads can be had at once. Tokio panics, or waits forever for those that it has, if one of its own
/// cannot be started.
fn check_threads(count: usize) -> io::Result<()> {
    let mut waiting = Vec::with_capacity(count);
    let started = (0..count).try_for_each(|_| {
        let (end, ended) = mpsc::channel::<()>();
        let wait = move || ended.recv().is_ok();
        waiting.push((end, thread::Builder::new().stack_size(SMALL_STACK).spawn(wait)?));
        Ok(())
    });
    for (end, thread) in waiting {
        drop(end);
        if thread.join().is_err() {
            return Err(io::Error::other("an internal thread panicked"));
        }
    }
    started
}

/// A file that reaches `RLIMIT_FSIZE` shall be a failed write, which names its file, not the silent death of the process.
/// Programs that are started from here hear of it as usual: handlers do not outlive an exec.
fn hear_of_large_files() -> io::Result<()> {
    signal(SignalKind::from_raw(SignalNumber::XFSZ.as_raw())).map(drop)
}
