//! Moments as people read them: how long ago, or the local time. Must not know what happened then.

use helix_job::Language;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `just now`, `2 min ago`, `3 h ago`, `5 days ago`; the local date after a month.
pub(crate) fn ago(then: Timestamp) -> String {
    before(then, Timestamp::now())
}

/// The local date and time, to the minute.
pub(crate) fn local(language: Language, at: Timestamp) -> String {
    language.date(at, TimeZone::system())
}

fn before(then: Timestamp, now: Timestamp) -> String {
    let minutes = now.duration_since(then).as_secs().max(0) / 60;
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..2880 => format!("{} h ago", minutes / 60),
        2880..43_200 => format!("{} days ago", minutes / 1440),
        _ => then.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string(),
    }
}

#[cfg(test)]
#[path = "time_test.rs"]
mod tests;
