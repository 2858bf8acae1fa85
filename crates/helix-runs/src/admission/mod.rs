//! Admission: a cap on concurrent work over all jobs and sessions, with a fair queue and a floor of free memory.
//!
//! Must not know what is started. Dropping a [`Permit`] gives it back, so that none is ever lost.

mod memory;
mod queue;

use async_recursion::async_recursion as boxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use helix_core::ids::PhaseId;
use helix_job::Wait;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

pub use memory::{BYTES_PER_AGENT, MemoryGauge, agents_that_fit, cores};
use queue::Queue;
pub use queue::{Owner, Ticket, Urgency};

/// Least memory that has to be available before an agent starts, when nothing else is said: what the system itself and the
/// agents that run already need to go on.
pub const MEMORY_FLOOR: u64 = 256 << 20;
/// How often memory is looked at again while somebody waits for it: it cannot be awaited.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// How many may be under way at the same time over all jobs and sessions.
#[derive(Debug, Clone)]
pub struct AdmissionLimits {
    /// Agent processes, at least 1.
    pub agents: u32,
    /// Gates that run commands, at least 1.
    pub gates: u32,
    /// No agent starts while fewer bytes of memory are available; 0 for no floor.
    pub memory_floor: u64,
    /// Where the available memory is read.
    pub gauge: MemoryGauge,
}

impl Default for AdmissionLimits {
    /// By the machine's cores and memory as they are now.
    fn default() -> Self {
        let gauge = MemoryGauge::default();
        Self { agents: agents_that_fit(cores(), gauge.available()), gates: cores(), memory_floor: MEMORY_FLOOR, gauge }
    }
}

/// A cap with its queue. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Admission {
    shared: Arc<Shared>,
}

struct Shared {
    what: &'static str,
    queue: Mutex<Queue<oneshot::Sender<Permit>>>,
    floor: u64,
    gauge: MemoryGauge,
    look_again: Duration,
    /// Available bytes when somebody could start but for the memory.
    pressure: watch::Sender<Option<u64>>,
}

/// The right to run. Dropping it hands it to the next in the queue.
pub struct Permit {
    shared: Arc<Shared>,
    owner: Owner,
}

/// Places that are shared by all jobs and sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// How many there are.
    pub all: usize,
    /// How many are taken.
    pub taken: usize,
    /// How many wait for one.
    pub waiting: usize,
}

impl Admission {
    /// The cap on agent processes.
    pub fn to_agents(limits: &AdmissionLimits) -> Self {
        Self::new("agents", limits.agents, limits.memory_floor, limits.gauge.clone())
    }

    /// The cap on gates that run commands. Memory does not hold them back: they bring work to its end.
    pub fn to_gates(limits: &AdmissionLimits) -> Self {
        Self::new("gates", limits.gates, 0, limits.gauge.clone())
    }

    fn new(what: &'static str, places: u32, floor: u64, gauge: MemoryGauge) -> Self {
        let (pressure, _) = watch::channel(None);
        let queue = Mutex::new(Queue::new(places));
        Self { shared: Arc::new(Shared { what, queue, floor, gauge, look_again: LOOK_AGAIN, pressure }) }
    }

    /// Joins the line at once, and gives what waits for a place. Dropping it leaves the line.
    ///
    /// # Errors
    /// Nothing is admitted any more, which cannot happen while this value exists.
    pub fn enter(&self, ticket: Ticket) -> impl Future<Output = Result<Permit, RecvError>> + Send + use<> {
        let (told, place) = oneshot::channel();
        let owner = ticket.owner.clone();
        let number = self.shared.queue().join(ticket, told);
        let waiting = Waiting { shared: Arc::clone(&self.shared), owner, number };
        self.shared.settle();
        async move {
            let _waiting = waiting;
            place.await
        }
    }

    pub fn figures(&self) -> Places {
        let queue = self.shared.queue();
        let (taken, all) = queue.taken();
        Places { all, taken, waiting: queue.waiting() }
    }

    /// A place for what runs already, whether or not one is free: those who come after it wait until there is room again.
    pub fn occupy(&self, owner: Owner) -> Permit {
        self.shared.queue().occupy(&owner);
        Permit { shared: Arc::clone(&self.shared), owner }
    }

    /// What of an owner waits, and why it does.
    pub fn waiting_of(&self, owner: &Owner) -> Vec<(Option<PhaseId>, Wait)> {
        let (taken, places) = self.shared.queue().taken();
        let noted = *self.shared.pressure.borrow();
        // Where a place is free, only the memory can be in the way.
        let pressure = noted.or_else(|| self.shared.too_little_memory().filter(|_| taken < places));
        let queue = self.shared.queue();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let wait = match pressure {
            Some(available) => Wait::Memory { available_bytes: available, needed_bytes: self.shared.floor },
            None => Wait::Places {
                of: self.shared.what.to_owned(),
                taken: count(taken),
                places: count(places),
                waiting: count(queue.waiting()),
            },
        };
        queue.waiting_of(owner).map(|ticket| (ticket.phase.clone(), wait.clone())).collect()
    }

    /// Looks at the memory again and again while somebody waits for it. One task of each host; ends with it.
    #[boxed]
    pub async fn watch_memory(self, closing: CancellationToken) {
        let mut pressure = self.shared.pressure.subscribe();
        loop {
            let short = pressure.borrow_and_update().is_some();
            let moment = async {
                match short {
                    true => tokio::time::sleep(self.shared.look_again).await,
                    // The sender lives as long as `self`.
                    false => drop(pressure.changed().await),
                }
            };
            tokio::select! {
                () = closing.cancelled() => return,
                () = moment => {}
            }
            if short {
                self.shared.settle();
            }
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue<oneshot::Sender<Permit>>> {
        // The queue is whole at every step: a panic elsewhere does not make it wrong.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands out places as long as there are any and the memory allows it.
    fn settle(self: &Arc<Self>) {
        loop {
            // Looked at and noted under one lock: what somebody else notes of a later moment must not be undone, or nobody looks at
            // the memory again for those who wait for it.
            let mut queue = self.queue();
            if !queue.can_serve() {
                return self.note(None);
            }
            if let Some(available) = self.too_little_memory() {
                return self.note(Some(available));
            }
            let Some((ticket, told)) = queue.serve() else { continue };
            // Told without the lock: a waiter that has gone meanwhile gives the place back at once.
            drop(queue);
            drop(told.send(Permit { shared: Arc::clone(self), owner: ticket.owner }));
        }
    }

    /// The available bytes, when they are below the floor. What the kernel does not say holds nobody back.
    fn too_little_memory(&self) -> Option<u64> {
        if self.floor == 0 {
            return None;
        }
        self.gauge.available().filter(|available| *available < self.floor)
    }

    fn note(&self, pressure: Option<u64>) {
        self.pressure.send_if_modified(|known| {
            let changed = known.is_some() != pressure.is_some();
            if changed {
                let (what, floor) = (self.what, self.floor);
                match pressure {
                    Some(available) => tracing::warn!(available, floor, "no more {what} start: too little memory"),
                    None => tracing::info!("{what} start again"),
                }
            }
            *known = pressure;
            changed
        });
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.shared.queue().release(&self.owner);
        self.shared.settle();
    }
}

/// Leaves the line when nobody waits any more.
struct Waiting {
    shared: Arc<Shared>,
    owner: Owner,
    number: u64,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.shared.queue().leave(&self.owner, self.number);
        // It may have been the only one that waited for memory.
        self.shared.settle();
    }
}

#[cfg(test)]
#[path = "admission_test.rs"]
mod tests;
