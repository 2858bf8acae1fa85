//! Who is next when a place becomes free: the most pressing work first, then whoever has least, then whoever waits longest.
//!
//! Pure: must not know clocks, memory or tasks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use helix_core::ids::{JobId, PhaseId, SessionId};

/// On whose behalf something runs: places are shared fairly between these.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    Job(JobId),
    Session(SessionId),
}

/// How pressing something is. Earlier variants come first, whoever owns them.
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

/// Everybody who waits and everybody who has a place. `W` is how somebody who waits is told.
#[derive(Debug)]
pub(super) struct Queue<W> {
    capacity: usize,
    held: usize,
    waiting: usize,
    clock: u64,
    accounts: HashMap<Owner, Account<W>>,
    /// Owners who wait, the next one first.
    line: BTreeSet<Standing>,
}

#[derive(Debug)]
struct Account<W> {
    held: usize,
    /// When the owner got or gave back a place last, or came.
    turn: u64,
    waiting: BTreeMap<(Urgency, u64), (Ticket, W)>,
}

/// Where an owner stands in the line. Derived order: urgency of its first wish, places that it has, how long it waits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Standing {
    urgency: Urgency,
    held: usize,
    turn: u64,
    owner: Owner,
}

impl<W> Queue<W> {
    /// A queue before so many places, at least one.
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            capacity: capacity.max(1) as usize,
            held: 0,
            waiting: 0,
            clock: 0,
            accounts: HashMap::new(),
            line: BTreeSet::new(),
        }
    }

    /// Joins the line; the number leaves it again.
    pub(super) fn join(&mut self, ticket: Ticket, told: W) -> u64 {
        self.clock += 1;
        let (number, owner) = (self.clock, ticket.owner.clone());
        self.change(&owner, |account| {
            account.waiting.insert((ticket.urgency, number), (ticket, told));
        });
        number
    }

    /// Leaves the line; nothing happens to one who has been served.
    pub(super) fn leave(&mut self, owner: &Owner, number: u64) {
        self.change(owner, |account| account.waiting.retain(|(_, known), _| *known != number));
    }

    /// Gives the next place to whoever is first in the line; `None` when no place is free or nobody waits.
    pub(super) fn serve(&mut self) -> Option<(Ticket, W)> {
        if self.held >= self.capacity {
            return None;
        }
        let owner = self.line.first()?.owner.clone();
        self.clock += 1;
        let (now, mut served) = (self.clock, None);
        self.change(&owner, |account| {
            served = account.waiting.pop_first().map(|(_, waiter)| waiter);
            account.held += usize::from(served.is_some());
            account.turn = now;
        });
        self.held += usize::from(served.is_some());
        served
    }

    /// Takes a place that nobody was asked for, over the capacity if need be.
    pub(super) fn occupy(&mut self, owner: &Owner) {
        self.held += 1;
        self.change(owner, |account| account.held += 1);
    }

    /// Whether somebody waits and a place is free.
    pub(super) fn can_serve(&self) -> bool {
        self.held < self.capacity && !self.line.is_empty()
    }

    /// Gives a place back.
    pub(super) fn release(&mut self, owner: &Owner) {
        self.clock += 1;
        let now = self.clock;
        self.held = self.held.saturating_sub(1);
        self.change(owner, |account| {
            account.held = account.held.saturating_sub(1);
            account.turn = now;
        });
    }

    /// Places that are taken, and how many there are.
    pub(super) fn taken(&self) -> (usize, usize) {
        (self.held, self.capacity)
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// What an owner waits for, the first to be served first.
    pub(super) fn waiting_of(&self, owner: &Owner) -> impl Iterator<Item = &Ticket> {
        self.accounts.get(owner).into_iter().flat_map(|account| account.waiting.values().map(|(ticket, _)| ticket))
    }

    /// Changes an owner's account and puts it where it then belongs in the line; an empty account is forgotten.
    fn change(&mut self, owner: &Owner, change: impl FnOnce(&mut Account<W>)) {
        let turn = self.clock;
        let account =
            self.accounts.entry(owner.clone()).or_insert_with(|| Account { held: 0, turn, waiting: BTreeMap::new() });
        if let Some(before) = account.standing(owner) {
            self.line.remove(&before);
        }
        self.waiting -= account.waiting.len();
        change(account);
        self.waiting += account.waiting.len();
        match account.standing(owner) {
            Some(after) => drop(self.line.insert(after)),
            None if account.held == 0 => drop(self.accounts.remove(owner)),
            None => {}
        }
    }
}

impl<W> Account<W> {
    fn standing(&self, owner: &Owner) -> Option<Standing> {
        let ((urgency, _), _) = self.waiting.first_key_value()?;
        Some(Standing { urgency: *urgency, held: self.held, turn: self.turn, owner: owner.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: u64) -> Owner {
        Owner::Job(JobId::from_parts(1_700_000_000_000, number))
    }

    fn ticket(owner: &Owner, urgency: Urgency) -> Ticket {
        Ticket { owner: owner.clone(), phase: None, urgency }
    }

    fn owners_served(queue: &mut Queue<()>, times: usize) -> Vec<Owner> {
        (0..times).map_while(|_| queue.serve().map(|(ticket, ())| ticket.owner)).collect()
    }

    #[test]
    fn fifty_ready_phases_do_not_starve_a_job_that_came_later() {
        let (mut queue, big, small) = (Queue::new(2), job(1), job(2));
        for _ in 0..50 {
            queue.join(ticket(&big, Urgency::Begin), ());
        }
        assert_eq!(owners_served(&mut queue, 9), [big.clone(), big.clone()], "there are two places");
        queue.join(ticket(&small, Urgency::Begin), ());
        queue.join(ticket(&small, Urgency::Begin), ());
        // Whoever has less is next, although the other has waited longer.
        queue.release(&big);
        assert_eq!(owners_served(&mut queue, 9), std::slice::from_ref(&small));
        // Both have one place: they take turns from here on.
        let mut turns = Vec::new();
        for _ in 0..2 {
            queue.release(&big);
            turns.extend(owners_served(&mut queue, 9));
            queue.release(&small);
            turns.extend(owners_served(&mut queue, 9));
        }
        assert_eq!(turns, [big.clone(), small, big.clone(), big], "the small job has nothing left at last");
        assert_eq!(queue.waiting(), 50 - 2 - 3);
    }

    #[test]
    fn jobs_take_turns_and_each_job_keeps_its_order() {
        let mut queue = Queue::new(1);
        let jobs: Vec<Owner> = (1..=3).map(job).collect();
        for number in 0..3 {
            for owner in &jobs {
                let phase = PhaseId::new(format!("p{number}")).unwrap();
                queue.join(Ticket { phase: Some(phase), ..ticket(owner, Urgency::Begin) }, ());
            }
        }
        let mut served = Vec::new();
        while let Some((ticket, ())) = queue.serve() {
            queue.release(&ticket.owner);
            let number = jobs.iter().position(|owner| *owner == ticket.owner).unwrap() + 1;
            served.push(format!("{number}{}", ticket.phase.unwrap()));
        }
        assert_eq!(served, ["1p0", "2p0", "3p0", "1p1", "2p1", "3p1", "1p2", "2p2", "3p2"]);
        assert!(queue.accounts.is_empty() && queue.line.is_empty(), "nothing is kept of who has gone");
    }

    #[test]
    fn what_has_begun_comes_before_what_begins_and_a_person_before_both() {
        let (mut queue, one, other) = (Queue::new(1), job(1), job(2));
        let chat = Owner::Session(SessionId::from_parts(1_700_000_000_000, 7));
        queue.join(ticket(&one, Urgency::Begin), ());
        queue.join(ticket(&other, Urgency::Begin), ());
        queue.join(ticket(&other, Urgency::Continue), ());
        queue.join(ticket(&chat, Urgency::Person), ());
        let mut served = Vec::new();
        while let Some((ticket, ())) = queue.serve() {
            queue.release(&ticket.owner);
            served.push((ticket.owner, ticket.urgency));
        }
        let expected = [
            (chat, Urgency::Person),
            (other.clone(), Urgency::Continue),
            (one, Urgency::Begin),
            (other, Urgency::Begin),
        ];
        assert_eq!(served, expected);
    }

    #[test]
    fn who_leaves_is_not_served_and_costs_nobody_a_place() {
        let (mut queue, one, other) = (Queue::new(1), job(1), job(2));
        let number = queue.join(ticket(&one, Urgency::Begin), ());
        queue.join(ticket(&other, Urgency::Begin), ());
        queue.leave(&one, number);
        queue.leave(&one, number);
        assert_eq!(queue.serve().unwrap().0.owner, other);
        assert_eq!((queue.taken(), queue.waiting()), ((1, 1), 0));
    }
}
