//! Which conversations are kept. Must not remove any.

use jiff::{SignedDuration, Timestamp};

/// Which conversations are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Those in which something happened within so many days; `None`: however old.
    pub days: Option<u32>,
    /// So many, the latest; `None`: any number.
    pub count: Option<u32>,
}

impl Retention {
    pub fn is_unlimited(self) -> bool {
        self.days.is_none() && self.count.is_none()
    }

    /// Whether a conversation may go, by its age and its place among all (0 is the latest).
    pub fn lets_go(self, place: usize, updated_at: Timestamp, now: Timestamp) -> bool {
        let too_old = self
            .days
            .is_some_and(|days| now.duration_since(updated_at) > SignedDuration::from_hours(24 * i64::from(days)));
        too_old || self.count.is_some_and(|count| place >= count as usize)
    }
}

#[cfg(test)]
#[path = "retention_test.rs"]
mod tests;
