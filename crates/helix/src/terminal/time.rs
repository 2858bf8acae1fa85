//! Moments as people read them: how long ago, or the local time. Must not know what happened then.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `just now`, `2 min ago`, `3 h ago`, `5 days ago`; the local date after a month.
pub(crate) fn ago(then: Timestamp) -> String {
    before(then, Timestamp::now())
}

/// The local date and time, to the minute.
pub(crate) fn local(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
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
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_by_their_distance() {
        let now: Timestamp = "2026-05-20T12:00:00Z".parse().unwrap();
        let told = [30, 120, 7_200, 172_800, 31 * 86_400]
            .map(|seconds| before(now - jiff::SignedDuration::from_secs(seconds), now));
        assert_eq!(told[..4], ["just now", "2 min ago", "2 h ago", "2 days ago"]);
        assert!(told[4].starts_with("2026-04-"), "{told:?}");
    }
}
