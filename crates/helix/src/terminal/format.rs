//! Figures as people read them. Must not know where they come from.

/// A duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and casts saturate")]
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// US dollars: cents, or finer where cents would show nothing.
pub(crate) fn money(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.095 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

/// A text on one line, without control characters, cut to so many characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|character| !character.is_control());
    if line.chars().count() > most {
        line = line.chars().take(most.saturating_sub(1)).chain(['…']).collect();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        let durations = [0.0, 0.44, 9.99, 59.6, 185.0, 7800.0].map(duration);
        assert_eq!(durations, ["0.0 s", "0.4 s", "10 s", "1 min 00 s", "3 min 05 s", "2 h 10 min"]);
        assert_eq!([0.0, 0.0123, 1.5].map(money), ["$0.00", "$0.0123", "$1.50"]);
        assert_eq!(one_line("a\n  b\u{1b}[31m c", 5), "a b[…");
    }
}
