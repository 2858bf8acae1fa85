//! Which sessions are kept. Must not remove any.

use jiff::{SignedDuration, Timestamp};

/// Which sessions are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Those in which something happened within so many days; `None`: however old.
    pub days: Option<u32>,
    /// So many, the latest, temporary ones not counted; `None`: any number.
    pub count: Option<u32>,
}

/// How the keys begin of sessions that their client forgets: it calls them temporary.
pub const TEMPORARY: &str = "temporary:";
/// Days that such a one is kept.
const TEMPORARY_DAYS: u32 = 1;

impl Retention {
    /// Whether a session with this key may go, by its age and its place among those that are not temporary (0 is the latest).
    pub fn lets_go(self, key: &str, place: usize, updated_at: Timestamp, now: Timestamp) -> bool {
        let temporary = key.starts_with(TEMPORARY).then_some(TEMPORARY_DAYS);
        let days = self.days.into_iter().chain(temporary).min();
        let age = now.duration_since(updated_at);
        let too_old = days.is_some_and(|days| age > SignedDuration::from_hours(24 * i64::from(days)));
        too_old || temporary.is_none() && self.count.is_some_and(|count| place >= count as usize)
    }
}

#[cfg(test)]
#[path = "retention_test.rs"]
mod tests;
