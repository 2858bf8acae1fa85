//! Text and figures as people read them: lines cut to a length, counts, durations, money.
//!
//! Must not know what is being said, nor where it is shown.

use std::borrow::Cow;

/// At most so many characters; a cut is marked with `…`.
pub fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The beginning and the end of a text that is too long; where it was cut is said.
pub fn bounded(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 4);
    let tail = text.ceil_char_boundary(text.len() - limit * 3 / 4);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}

/// A text on one line, without control characters, of at most so many characters. A cut never leaves the half of a command in
/// backticks: that could be copied.
pub fn one_line(text: &str, most: usize) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|character| !steers(character));
    let cut = clip(&line, most);
    let is_open = cut != line && cut.matches('`').count() % 2 == 1;
    match cut.rfind('`').filter(|open| is_open && *open > cut.len() / 2) {
        Some(open) => format!("{}…", cut[..open].trim_end()),
        None => cut,
    }
}

/// A text whose control characters cannot steer a terminal: only line breaks and tabs stay.
pub fn plain(text: &str) -> String {
    text.chars().filter(|character| !steers(*character)).collect()
}

/// The same with `\n` for whatever ends a line in Markdown.
pub fn plain_lines(text: &str) -> String {
    plain(&text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// As [`plain`] of a text that is already coloured: colours stay as well (`ESC [ … m`, ECMA-48 8.3.117). Everything for a terminal goes
/// through it last, whatever was forgotten on the way.
pub fn coloured(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut pieces = text.split('\u{1b}');
    let mut shown = plain(pieces.next().unwrap_or_default());
    for piece in pieces {
        let colour = piece.strip_prefix('[').and_then(|rest| {
            let end = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == ';'))?;
            rest[end..].starts_with('m').then(|| piece.split_at("[".len() + end + "m".len()))
        });
        let (colour, text) = colour.unwrap_or(("", piece));
        if !colour.is_empty() {
            shown.push('\u{1b}');
            shown.push_str(colour);
        }
        shown.push_str(&plain(text));
    }
    Cow::Owned(shown)
}

/// Whether a character moves a terminal's cursor, changes what it does, begins a line, or turns the direction of what follows.
fn steers(character: char) -> bool {
    let turns = matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || character.is_control() && !matches!(character, '\n' | '\t')
}

/// A text as people can see it: what would be invisible, or would turn the direction of what follows, is written out as its
/// code point; other control characters are blanks.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => shown.push_str("    "),
            '\n' => shown.push('\n'),
            character if is_deceptive(character) => shown.push_str(&format!("<U+{:04X}>", u32::from(character))),
            character if character.is_control() => shown.push(' '),
            character => shown.push(character),
        }
    }
    shown
}

/// Format characters that are not seen or that change the order of what is: directions, joiners, tags, selectors, separators.
fn is_deceptive(character: char) -> bool {
    matches!(
        u32::from(character),
        0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
            | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
            | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF
    )
}

/// `1 file`, `2 files`, `3 entries`.
pub fn count(number: usize, singular: &str) -> String {
    match (number, singular.strip_suffix('y')) {
        (1, _) => format!("1 {singular}"),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o']) => format!("{number} {stem}ies"),
        (_, _) => format!("{number} {singular}s"),
    }
}

/// `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`.
pub fn duration(seconds: f64) -> String {
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
pub fn money(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.095 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

/// The first digits of a commit or tree, as git shows them.
pub fn short_commit(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

#[cfg(test)]
#[path = "text_test.rs"]
mod tests;
