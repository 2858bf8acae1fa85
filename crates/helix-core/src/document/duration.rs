//! The one notation of durations: `90s`, `30m`, `2h`, `1h30m`, `500ms`.
//!
//! Must not know what they limit; a bare number is refused: it could mean seconds or minutes.

use std::time::Duration;

use crate::text::clip;

/// Why a text is not a duration, and what was probably meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DurationError {
    message: String,
    /// What would fix it.
    pub remedy: String,
}

/// Units with their milliseconds, the longest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
/// A hundred years, in milliseconds.
const LONGEST: u64 = 100 * 365 * 24 * 3_600_000;

/// Reads whole numbers with units, each unit at most once, the longest first.
///
/// # Errors
/// [`DurationError`] for everything else.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let error = |message: String, remedy: String| Err(DurationError { message, remedy });
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_')) {
        let remedy = format!("write {text}s for seconds or {text}m for minutes");
        return error(format!("the duration {text} has no unit"), remedy);
    }
    let mut rest = text;
    let mut total: u64 = 0;
    for (unit, milliseconds) in UNITS {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (amount, behind) = rest.split_at(digits);
        let word = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
        // `1h30m` goes on with a digit, so that the letters up to it are the unit.
        if digits > 0 && &behind[..word] == unit {
            // The only digits that are no number are too many.
            let amount: u64 = amount.parse().unwrap_or(u64::MAX);
            total = total.saturating_add(amount.saturating_mul(milliseconds));
            rest = &behind[word..];
        }
    }
    if !rest.is_empty() || text.is_empty() {
        let remedy = "write hours, minutes and seconds, such as 90s, 30m, 2h or 1h30m".to_owned();
        return error(format!("{:?} is not a duration", clip(text, 41)), remedy);
    }
    if total > LONGEST {
        return error(format!("the duration {} is too long", clip(text, 41)), "write less than 100 years".into());
    }
    Ok(Duration::from_millis(total))
}

/// Writes the shortest form that [`parse_duration`] reads back; what is below a millisecond is left out.
pub fn format_duration(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut out = String::new();
    for (unit, milliseconds) in UNITS {
        if rest >= milliseconds {
            out.push_str(&format!("{}{unit}", rest / milliseconds));
            rest %= milliseconds;
        }
    }
    if out.is_empty() { "0s".into() } else { out }
}

#[cfg(test)]
#[path = "duration_test.rs"]
mod tests;
