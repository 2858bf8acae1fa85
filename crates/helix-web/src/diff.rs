//! Differences as tables: a patch file by file and line by line, with the words that changed within lines.
//!
//! Must not know where a patch comes from. What its lines say never counts as its structure: each hunk says how many it has.

use std::time::Duration;

use helix_core::text::visible;
use helix_language::{Language, say};
use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

/// Longest line whose words are compared, in bytes.
const LONGEST_LINE: usize = 500;
/// Most pairs of lines whose words are compared.
pub(crate) const MOST_PAIRS: usize = 2_000;
/// Longest comparison of two texts. One that takes longer is coarse: texts in which no line is like another take the square of their length.
const COMPARED: Duration = Duration::from_millis(200);

/// One file of a patch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) is_new: bool,
    pub(crate) is_gone: bool,
    pub(crate) is_binary: bool,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    pub(crate) hunks: Vec<Hunk>,
}

/// Lines that stand together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// What stands behind the numbers: the function, for example.
    pub(crate) head: String,
    pub(crate) lines: Vec<Line>,
}

/// A line on one side or on both.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) old: Option<usize>,
    pub(crate) new: Option<usize>,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn lines(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.lines.len()).sum()
    }
}

/// The files of a patch in git's form.
pub(crate) fn files(patch: &str) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            files.push(File { path: same_name(names), ..File::default() });
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if line.starts_with("new file mode") {
            file.is_new = true;
        } else if line.starts_with("deleted file mode") {
            file.is_gone = true;
        } else if line.starts_with("Binary files ") || line == "GIT binary patch" {
            file.is_binary = true;
        } else if let Some(name) = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- ")) {
            if let Some(name) = side(name) {
                file.path = name;
            }
        } else if let Some((mut old, mut olds, mut new, mut news, head)) = numbers(line) {
            let mut hunk = Hunk { head: head.to_owned(), lines: Vec::new() };
            while olds > 0 || news > 0 {
                let Some(line) = lines.next() else { break };
                let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
                let mut shown = Line { old: None, new: None, text: text.to_owned() };
                if sign == "\\" {
                    continue;
                }
                if sign != "+" {
                    shown.old = Some(old);
                    (old, olds) = (old + 1, olds.saturating_sub(1));
                }
                if sign != "-" {
                    shown.new = Some(new);
                    (new, news) = (new + 1, news.saturating_sub(1));
                }
                file.added += usize::from(sign == "+");
                file.removed += usize::from(sign == "-");
                hunk.lines.push(shown);
            }
            file.hunks.push(hunk);
        }
    }
    files
}

/// `@@ -1,2 +3,4 @@ head`: where the lines begin and how many there are, on both sides.
fn numbers(line: &str) -> Option<(usize, usize, usize, usize, &str)> {
    let (places, head) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = places.split_once(" +")?;
    let pair = |text: &str| match text.split_once(',') {
        Some((at, count)) => Some((at.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    let ((old, olds), (new, news)) = (pair(old)?, pair(new)?);
    Some((old, olds, new, news, head.trim()))
}

/// The name behind `--- ` or `+++ `; `None` where the file is not on that side.
fn side(name: &str) -> Option<String> {
    let name = unquoted(name.trim_end_matches('\t'));
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).map(str::to_owned)
}

/// The name in `a/NAME b/NAME`, for files without lines.
fn same_name(names: &str) -> String {
    let half = names.len().saturating_sub(1) / 2;
    let first = names.get(..half).unwrap_or(names);
    side(first).unwrap_or_else(|| names.to_owned())
}

/// A name as git quotes it where it has unusual bytes.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else { return name.to_owned() };
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes().peekable());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'3') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(next @ b'0'..=b'7') = rest.peek().copied() {
                        value = value * 8 + u32::from(next - b'0');
                        rest.next();
                    }
                }
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(b't') => bytes.push(b'\t'),
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The lines of one file as a table. `pairs` is how many pairs of lines may still be compared word by word.
pub(crate) fn table(language: Language, file: &File, number: usize, pairs: &mut usize) -> Markup {
    if file.is_binary {
        return html! { p.weak.note { (say!(language, "web-binary")) } };
    }
    if file.hunks.is_empty() {
        return html! { p.weak.note { (say!(language, "web-no-lines")) } };
    }
    html! {
        div.scroll tabindex="0" {
            table.diff {
                @for (at, hunk) in file.hunks.iter().enumerate() {
                    @if at > 0 || !hunk.head.is_empty() { tr.hunk { td.n {} td.n {} td.s {} td.c { (visible(&hunk.head)) } } }
                    (rows(&hunk.lines, number, pairs))
                }
            }
        }
    }
}

/// Rows of lines, each pair of a removed and an added one with the words that differ.
fn rows(lines: &[Line], number: usize, pairs: &mut usize) -> Markup {
    let mut shown = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        let count = |from: usize, is: fn(&Line) -> bool| lines[from..].iter().take_while(|line| is(line)).count();
        let gone = count(at, |line| line.new.is_none());
        let come = count(at + gone, |line| line.old.is_none());
        if gone > 0 && gone == come && *pairs >= gone {
            *pairs -= gone;
            let compared: Vec<(Markup, Markup)> =
                (0..gone).map(|one| words(&lines[at + one].text, &lines[at + gone + one].text)).collect();
            let (olds, news): (Vec<Markup>, Vec<Markup>) = compared.into_iter().unzip();
            shown.extend(
                olds.into_iter().chain(news).enumerate().map(|(one, text)| row(&lines[at + one], number, text)),
            );
            at += gone + come;
            continue;
        }
        let all = (gone + come).max(1);
        shown.extend(lines[at..at + all].iter().map(|line| row(line, number, html! { (visible(&line.text)) })));
        at += all;
    }
    html! { @for row in &shown { (row) } }
}

fn row(line: &Line, number: usize, text: Markup) -> Markup {
    let (class, sign) = match (line.old, line.new) {
        (None, _) => ("add", "+"),
        (_, None) => ("del", "−"),
        _ => ("", ""),
    };
    html! {
        tr class=[(!class.is_empty()).then_some(class)] id=[line.new.filter(|_| number > 0).map(|new| format!("f{number}-{new}"))] {
            td.n { @if let Some(old) = line.old { (old) } }
            td.n { @if let Some(new) = line.new { (new) } }
            td.s { (sign) }
            td.c { (text) }
        }
    }
}

/// Two lines with the words that only one of them has.
fn words(old: &str, new: &str) -> (Markup, Markup) {
    let (old, new) = (visible(old), visible(new));
    if old.len().max(new.len()) > LONGEST_LINE {
        return (html! { (old) }, html! { (new) });
    }
    let compared = TextDiff::from_unicode_words(old.as_str(), new.as_str());
    if compared.ratio() < 0.4 {
        return (html! { (old) }, html! { (new) });
    }
    let one = |own: ChangeTag| {
        html! {
            @for change in compared.iter_all_changes() {
                @if change.tag() == ChangeTag::Equal { (change.value()) } @else if change.tag() == own { mark { (change.value()) } }
            }
        }
    };
    (one(ChangeTag::Delete), one(ChangeTag::Insert))
}

/// What changed from one text to another, as a small table.
pub(crate) fn of_texts(old: &str, new: &str) -> Markup {
    let compared = TextDiff::configure().timeout(COMPARED).diff_lines(old, new);
    let lines: Vec<Line> = compared
        .iter_all_changes()
        .map(|change| Line {
            old: change.old_index().map(|old| old + 1),
            new: change.new_index().map(|new| new + 1),
            text: change.value().trim_end_matches('\n').to_owned(),
        })
        .collect();
    let mut pairs = MOST_PAIRS;
    html! { div.scroll tabindex="0" { table.diff { (rows(&lines, 0, &mut pairs)) } } }
}

#[cfg(test)]
#[path = "diff_test.rs"]
mod tests;
