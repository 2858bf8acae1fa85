//! Leases with fencing: who may act on something, for how long, and how a late actor is kept from writing.
//!
//! Must not know the clock: the caller says what time it is.

use std::time::Duration;

use jiff::Timestamp;

/// A wish for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acquire {
    /// What the lease is on, such as `job/<id>`.
    pub name: String,
    /// Who wants it; different for every process.
    pub owner: String,
    /// How long it is to hold without being renewed.
    pub ttl: Duration,
    /// What time it is.
    pub now: Timestamp,
}

/// A lease that was obtained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What proves it to the journal.
    pub fence: Fence,
    pub owner: String,
    /// Until when nobody else can have it.
    pub expires_at: Timestamp,
}

/// Proof of a lease: only the newest number of a name may write.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fence {
    /// What the lease is on.
    pub name: String,
    /// Strictly increasing per name, from 1.
    pub number: u64,
}
