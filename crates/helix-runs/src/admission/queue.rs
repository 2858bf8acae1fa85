//! Who is next when a permit becomes free: the most urgent work first, then the owner with the fewest permits, then the one who
//! waits longest.
//!
//! Pure: must not know clocks, memory or tasks.

use std::collections::HashMap;

use helix_core::ids::{JobId, PhaseId, SessionId};

/// On whose behalf something runs: places are shared fairly between these.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    Job(JobId),
    Session(SessionId),
}

/// How pressing something is. Earlier variants come first, no matter who owns them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// A person sits before it and waits.
    Person,
    /// A phase that has begun needs it to get on: another try, a reviewer, an adviser, a gate. Bounded by what has begun.
    Continue,
    Begin,
}

/// What asks for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub owner: Owner,
    /// The phase of a job.
    pub phase: Option<PhaseId>,
    /// How pressing it is.
    pub urgency: Urgency,
}

/// Everybody who waits and everybody who has a permit. `W` is how somebody who waits is told.
#[derive(Debug)]
pub(super) struct Queue<W> {
    capacity: usize,
    held: usize,
    clock: u64,
    /// Owners who wait or have a permit.
    owners: HashMap<Owner, Share>,
    /// In the order in which they came.
    waiting: Vec<Waiter<W>>,
}

#[derive(Debug)]
struct Share {
    held: usize,
    /// When the owner got or gave back a permit last, or came.
    turn: u64,
}

#[derive(Debug)]
struct Waiter<W> {
    number: u64,
    ticket: Ticket,
    told: W,
}

impl<W> Queue<W> {
    /// A queue before so many permits, at least one.
    pub(super) fn new(capacity: u32) -> Self {
        let capacity = capacity.max(1) as usize;
        Self { capacity, held: 0, clock: 0, owners: HashMap::new(), waiting: Vec::new() }
    }

    /// Joins the line; the number leaves it again.
    pub(super) fn join(&mut self, ticket: Ticket, told: W) -> u64 {
        let number = self.tick();
        self.share(&ticket.owner);
        self.waiting.push(Waiter { number, ticket, told });
        number
    }

    /// Leaves the line; nothing happens to one who has been served.
    pub(super) fn leave(&mut self, owner: &Owner, number: u64) {
        self.waiting.retain(|waiter| waiter.number != number);
        self.forget_if_gone(owner);
    }

    /// Gives the next permit to the first in the line: the most urgent, then the owner with the fewest permits, then the owner who
    /// waits longest. `None` when no permit is free or nobody waits.
    pub(super) fn serve(&mut self) -> Option<(Ticket, W)> {
        if self.held >= self.capacity {
            return None;
        }
        let rank = |waiter: &Waiter<W>| {
            let share = self.owners.get(&waiter.ticket.owner).map(|share| (share.held, share.turn));
            (waiter.ticket.urgency, share, waiter.number)
        };
        let (first, _) = self.waiting.iter().enumerate().min_by_key(|(_, waiter)| rank(waiter))?;
        let Waiter { ticket, told, .. } = self.waiting.remove(first);
        self.held += 1;
        let now = self.tick();
        let share = self.share(&ticket.owner);
        (share.held, share.turn) = (share.held + 1, now);
        Some((ticket, told))
    }

    /// Takes a permit that nobody was asked for, over the capacity if need be.
    pub(super) fn occupy(&mut self, owner: &Owner) {
        self.held += 1;
        self.share(owner).held += 1;
    }

    /// Whether somebody waits and a permit is free.
    pub(super) fn can_serve(&self) -> bool {
        self.held < self.capacity && !self.waiting.is_empty()
    }

    /// Gives a permit back.
    pub(super) fn release(&mut self, owner: &Owner) {
        self.held = self.held.saturating_sub(1);
        let now = self.tick();
        let share = self.share(owner);
        (share.held, share.turn) = (share.held.saturating_sub(1), now);
        self.forget_if_gone(owner);
    }

    /// Permits that are taken, and how many there are.
    pub(super) fn taken(&self) -> (usize, usize) {
        (self.held, self.capacity)
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What an owner waits for.
    pub(super) fn waiting_of(&self, owner: &Owner) -> impl Iterator<Item = &Ticket> {
        self.waiting.iter().map(|waiter| &waiter.ticket).filter(move |ticket| ticket.owner == *owner)
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn share(&mut self, owner: &Owner) -> &mut Share {
        self.owners.entry(owner.clone()).or_insert(Share { held: 0, turn: self.clock })
    }

    fn forget_if_gone(&mut self, owner: &Owner) {
        if self.waiting_of(owner).next().is_none() && self.owners.get(owner).is_some_and(|share| share.held == 0) {
            self.owners.remove(owner);
        }
    }
}

#[cfg(test)]
#[path = "queue_test.rs"]
mod tests;
