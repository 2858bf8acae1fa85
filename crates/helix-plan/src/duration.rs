//! Durations as people write them in plans: `90s`, `30m`, `2h`, `1h30m`.
//!
//! Must not know what they limit; a bare number is refused because nobody can tell whether it means seconds or minutes.

use super::model::Seconds;

/// Why a text is not a duration, and what was probably meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// A number without a unit.
    #[error("the duration {number} has no unit")]
    NoUnit {
        /// The number.
        number: String,
    },
    /// Something else.
    #[error("{text:?} is not a duration")]
    Malformed {
        /// What was written.
        text: String,
    },
    /// Nothing at all.
    #[error("the duration is zero")]
    Zero,
    /// More seconds than fit.
    #[error("the duration {text} is too long")]
    TooLong {
        /// What was written.
        text: String,
    },
}

impl DurationError {
    /// What would mend it.
    pub fn remedy(&self) -> String {
        match self {
            Self::NoUnit { number } => format!("write {number}s for seconds or {number}m for minutes"),
            Self::Malformed { .. } => "write hours, minutes and seconds, such as 90s, 30m, 2h or 1h30m".into(),
            Self::Zero => "write at least 1s, or leave the key out".into(),
            Self::TooLong { .. } => "write less than 100 years".into(),
        }
    }
}

impl std::str::FromStr for Seconds {
    type Err = DurationError;

    /// Reads `90s`, `30m`, `2h`, `1h30m`: whole numbers with units, each unit at most once, the longest first.
    fn from_str(text: &str) -> Result<Self, DurationError> {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_')) {
            return Err(DurationError::NoUnit { number: text.into() });
        }
        let malformed = || DurationError::Malformed { text: text.chars().take(40).collect() };
        let mut rest = text;
        let mut total: u64 = 0;
        for (unit, seconds) in [('h', 3600), ('m', 60), ('s', 1)] {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 && rest[digits..].starts_with(unit) {
                let amount: u64 = rest[..digits].parse().map_err(|_| DurationError::TooLong { text: text.into() })?;
                total = total.saturating_add(amount.saturating_mul(seconds));
                rest = &rest[digits + 1..];
            }
        }
        if !rest.is_empty() || text.is_empty() {
            return Err(malformed());
        }
        match u32::try_from(total) {
            Ok(0) => Err(DurationError::Zero),
            Ok(seconds) => Ok(Seconds(seconds)),
            Err(_) => Err(DurationError::TooLong { text: text.into() }),
        }
    }
}

impl std::fmt::Display for Seconds {
    /// Writes the shortest form that [`std::str::FromStr`] reads back.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (hours, minutes, seconds) = (self.0 / 3600, self.0 / 60 % 60, self.0 % 60);
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if minutes > 0 {
            write!(f, "{minutes}m")?;
        }
        if seconds > 0 || self.0 == 0 {
            write!(f, "{seconds}s")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_and_write() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), ("1h1s", 3601)] {
            assert_eq!(text.parse(), Ok(Seconds(seconds)), "{text}");
            assert_eq!(Seconds(seconds).to_string().parse(), Ok(Seconds(seconds)));
        }
        assert_eq!(Seconds(90).to_string(), "1m30s");
    }

    #[test]
    fn everything_else_is_an_error_with_a_remedy() {
        for text in ["600", "1.5", ""] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
        assert_eq!("600".parse::<Seconds>().unwrap_err().remedy(), "write 600s for seconds or 600m for minutes");
        for text in ["30 m", "5min", "m", "30m1h", "1m1m", "-5m", "1.5h", "5m ", "ä"] {
            assert!(matches!(text.parse::<Seconds>(), Err(DurationError::Malformed { .. })), "{text}");
        }
        assert_eq!("0s".parse::<Seconds>(), Err(DurationError::Zero));
        assert!(matches!("9999999999999999999999h".parse::<Seconds>(), Err(DurationError::TooLong { .. })));
        assert!(matches!("2000000h".parse::<Seconds>(), Err(DurationError::TooLong { .. })));
    }
}
