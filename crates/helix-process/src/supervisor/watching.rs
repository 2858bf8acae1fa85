//! Notices changes in run directories: one inotify instance for all of them, or a timer where there is none.
//!
//! Must not know what the changes mean; it wakes those who look for themselves.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use inotify::{EventMask, Inotify, WatchDescriptor, WatchMask, Watches};
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Watching;

/// How often directories are looked at where inotify cannot be had.
const FALLBACK_INTERVAL: Duration = Duration::from_millis(100);

/// Room for some hundred events; what does not fit is read in the next round.
const EVENT_BUFFER: usize = 16 * 1024;

/// Counters that go up when something may have changed.
#[derive(Debug, Clone)]
pub(crate) struct Changes {
    /// The record of stdout.
    pub(crate) output: watch::Sender<u64>,
    /// The record of the end, or the directory itself.
    pub(crate) state: watch::Sender<u64>,
}

impl Changes {
    pub(crate) fn new() -> Self {
        Self { output: watch::Sender::new(0), state: watch::Sender::new(0) }
    }

    pub(crate) fn output_changed(&self) {
        self.output.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(crate) fn state_changed(&self) {
        self.state.send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// All watches of a supervisor.
#[derive(Debug)]
pub(crate) enum Hub {
    Inotify {
        shared: Arc<Mutex<Shared>>,
        /// Ends the task that reads events, when the last watch and the supervisor are gone.
        _reader: DropGuard,
    },
    Timed(Duration),
}

#[derive(Debug)]
pub(crate) struct Shared {
    watches: Watches,
    /// A directory that is followed twice has one descriptor and two entries.
    table: HashMap<WatchDescriptor, Vec<(u64, Changes)>>,
    next: u64,
}

/// A watched directory; the watch ends with this.
#[derive(Debug)]
pub(crate) enum Watch {
    Inotify { hub: Arc<Hub>, descriptor: WatchDescriptor, number: u64 },
    Timed(Duration),
}

impl Watch {
    /// How often the follower has to look again by itself, if events do not come by themselves.
    pub(crate) fn interval(&self) -> Option<Duration> {
        match self {
            Self::Inotify { .. } => None,
            Self::Timed(interval) => Some(*interval),
        }
    }
}

impl Hub {
    /// Opens an inotify instance, or says why it could not and falls back to looking again and again.
    pub(crate) fn open(watching: Watching) -> Arc<Self> {
        Arc::new(match watching {
            Watching::Timed(interval) => Self::Timed(interval),
            Watching::Inotify => open_inotify().unwrap_or_else(|error| {
                tracing::warn!(
                    %error,
                    remedy = "raise fs.inotify.max_user_instances",
                    "inotify cannot be had: run directories are looked at ten times a second instead"
                );
                Self::Timed(FALLBACK_INTERVAL)
            }),
        })
    }

    /// Watches a run directory. Call before the first look, so that no change falls between the two.
    pub(crate) fn watch(self: &Arc<Self>, directory: &Path, changes: Changes) -> Watch {
        let shared = match &**self {
            Self::Timed(interval) => return Watch::Timed(*interval),
            Self::Inotify { shared, .. } => shared,
        };
        let mask = WatchMask::MODIFY
            | WatchMask::CREATE
            | WatchMask::DELETE
            | WatchMask::MOVE
            | WatchMask::DELETE_SELF
            | WatchMask::MOVE_SELF
            | WatchMask::ONLYDIR;
        let mut locked = lock(shared);
        match locked.watches.add(directory, mask) {
            Ok(descriptor) => {
                locked.next += 1;
                let number = locked.next;
                locked.table.entry(descriptor.clone()).or_default().push((number, changes));
                Watch::Inotify { hub: Arc::clone(self), descriptor, number }
            }
            Err(error) => {
                tracing::warn!(
                    directory = %directory.display(), %error,
                    remedy = "raise fs.inotify.max_user_watches",
                    "a run directory cannot be watched: it is looked at ten times a second instead"
                );
                Watch::Timed(FALLBACK_INTERVAL)
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Self::Inotify { hub, descriptor, number } = self else { return };
        let Hub::Inotify { shared, .. } = &**hub else { return };
        let mut locked = lock(shared);
        let Some(entries) = locked.table.get_mut(descriptor) else { return };
        entries.retain(|(entry, _)| entry != number);
        if entries.is_empty() {
            locked.table.remove(descriptor);
            if let Err(error) = locked.watches.remove(descriptor.clone()) {
                // The kernel drops it by itself when the directory goes; that may have been a moment ago.
                tracing::debug!(%error, "a watch was gone before it was removed");
            }
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_inotify() -> io::Result<Hub> {
    let inotify = Inotify::init()?;
    let shared = Arc::new(Mutex::new(Shared { watches: inotify.watches(), table: HashMap::new(), next: 0 }));
    let descriptor = register(inotify)?;
    let token = CancellationToken::new();
    let (table, ended) = (Arc::clone(&shared), token.clone());
    tokio::spawn(async move {
        let reading = ended.run_until_cancelled(dispatch(descriptor, &table)).await;
        if let Some(Err(error)) = reading {
            tracing::error!(%error, "inotify failed: changes in run directories go unnoticed until Helix is restarted");
        }
    });
    Ok(Hub::Inotify { shared, _reader: token.drop_guard() })
}

#[expect(unsafe_code, reason = "tokio asks for a promise about the descriptor that the type cannot give")]
fn register(inotify: Inotify) -> io::Result<AsyncFd<Inotify>> {
    // SAFETY: an `Inotify` names the same open descriptor until it is dropped (only `close` ends it earlier, which takes
    // it by value), and the `AsyncFd` that owns it does that last.
    unsafe { AsyncFd::register(inotify) }.map_err(io::Error::from)
}

async fn dispatch(mut descriptor: AsyncFd<Inotify>, shared: &Mutex<Shared>) -> io::Result<()> {
    let mut buffer = vec![0; EVENT_BUFFER];
    loop {
        let mut ready = descriptor.readable_mut().await?;
        let events = match ready.try_io(|inotify| inotify.get_mut().read_events(&mut buffer)) {
            Ok(events) => events?,
            Err(_would_block) => continue,
        };
        let mut locked = lock(shared);
        for event in events {
            if event.mask.contains(EventMask::Q_OVERFLOW) {
                for (_, changes) in locked.table.values().flatten() {
                    changes.output_changed();
                    changes.state_changed();
                }
                continue;
            }
            let Some(entries) = locked.table.get(&event.wd) else { continue };
            let (output, state) = concerns(event.mask, event.name);
            for (_, changes) in entries {
                if output {
                    changes.output_changed();
                }
                if state {
                    changes.state_changed();
                }
            }
            if event.mask.contains(EventMask::IGNORED) {
                locked.table.remove(&event.wd);
            }
        }
    }
}

/// Whether an event concerns the record of stdout, and whether it concerns the run's state.
fn concerns(mask: EventMask, name: Option<&OsStr>) -> (bool, bool) {
    match name.and_then(OsStr::to_str) {
        Some("stdout.jsonl") => (true, false),
        Some("exit.json") => (false, true),
        Some(_) => (false, false),
        None => {
            let own = EventMask::DELETE_SELF | EventMask::MOVE_SELF | EventMask::IGNORED;
            (mask.intersects(own), mask.intersects(own))
        }
    }
}
