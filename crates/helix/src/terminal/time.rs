//! Moments as people read them: how long ago. Must not know what happened then.

use helix_job::{Language, say};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `just now`, `2 min ago`, `3 h ago`, `5 days ago`; the local date after a month.
pub(crate) fn ago(language: Language, then: Timestamp) -> String {
    before(language, then, Timestamp::now())
}

fn before(language: Language, then: Timestamp, now: Timestamp) -> String {
    let minutes = now.duration_since(then).as_secs().max(0) / 60;
    match minutes {
        0 => say!(language, "ago-now"),
        1..60 => say!(language, "ago-minutes", minutes = minutes),
        60..2880 => say!(language, "ago-hours", hours = minutes / 60),
        2880..43_200 => say!(language, "ago-days", days = minutes / 1440),
        _ => then.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string(),
    }
}

#[cfg(test)]
#[path = "time_test.rs"]
mod tests;
