//! Finds the message in blocks of several lines that tools print: TAP diagnostics, CMake's and Jest's reports, code with a caret.
//!
//! Must not know the rules; it only says which line of a block speaks and which only quotes.

use super::reading::{Mark, Prepared};

/// Lines of a TAP diagnostic that are searched for the class of what was thrown.
const DIAGNOSTIC: usize = 24;

/// Lines of a message that stands indented below its title.
const PARAGRAPH: usize = 12;

/// Marks the lines of one stream, given by their indices in order.
pub(super) fn mark(lines: &mut [Prepared<'_>], indices: &[usize]) {
    for (position, &at) in indices.iter().enumerate() {
        let rest = &indices[position + 1..];
        if rest.first().is_some_and(|&next| is_caret(&lines[next].text)) {
            quoted(lines, at);
            continue;
        }
        let text = lines[at].text.as_str();
        if text.starts_with("CMake Error") && text.ends_with(':') {
            speaks_below(lines, at, rest);
        } else if text.starts_with("● ") && !text.starts_with("● Console") {
            jest(lines, rest);
        } else if text.starts_with("Failure/Error: ") {
            rspec(lines, rest);
        } else if text.starts_with("not ok ") {
            tap(lines, at, rest);
        } else if text.starts_with("Warning: ") && lines[at].line.raw.trim_start().starts_with('│') {
            boxed_warning(lines, at, rest);
        }
    }
}

/// Whether a line only points at the one above it.
fn is_caret(text: &str) -> bool {
    !text.is_empty() && text.contains('^') && text.bytes().all(|byte| matches!(byte, b'^' | b'~' | b'-' | b' '))
}

/// Code that a caret points at is no message, unless it names its file as one.
fn quoted(lines: &mut [Prepared<'_>], at: usize) {
    let text = &lines[at].text;
    let message = [": error", ": fatal", "rror: ", ": syntax error"].iter().any(|word| text.contains(word));
    if !message && matches!(lines[at].mark, Mark::Plain | Mark::Raised) {
        lines[at].mark = Mark::Noise;
    }
}

/// A title that says where; the lines that are indented below it say what.
fn speaks_below(lines: &mut [Prepared<'_>], at: usize, rest: &[usize]) {
    let outer = lines[at].indent();
    for &below in rest.iter().take(PARAGRAPH) {
        if lines[below].text.is_empty() {
            continue;
        }
        if lines[below].indent() <= outer {
            return;
        }
        lines[below].mark = Mark::Raised;
    }
}

/// What stands first below the name of a test that failed is its message.
fn jest(lines: &mut [Prepared<'_>], rest: &[usize]) {
    let message = rest.iter().copied().find(|&below| !lines[below].text.is_empty());
    if let Some(message) = message.filter(|&message| lines[message].indent() >= 4 && lines[message].mark == Mark::Plain)
    {
        lines[message].mark = Mark::Raised;
    }
}

/// Below the code that failed stands the class of what was raised, and below that what it says.
fn rspec(lines: &mut [Prepared<'_>], rest: &[usize]) {
    let mut said = rest.iter().copied().take(PARAGRAPH).filter(|&below| !lines[below].text.is_empty());
    let class = said.find(|&below| {
        let name = lines[below].text.strip_suffix(':').unwrap_or_default();
        name.ends_with("Error")
            && name.split("::").all(|part| part.starts_with(|letter: char| letter.is_ascii_uppercase()))
    });
    if let (Some(class), Some(message)) = (class, said.next())
        && lines[message].indent() > lines[class].indent()
    {
        lines[message].text = format!("{} {}", lines[class].text, lines[message].text);
        lines[message].mark = Mark::Raised;
    }
}

/// A diagnostic in YAML below `not ok`: `error` is the message, `name` the class.
fn tap(lines: &mut [Prepared<'_>], title: usize, rest: &[usize]) {
    if rest.first().is_none_or(|&first| lines[first].text != "---") {
        return;
    }
    let block: Vec<usize> = rest.iter().copied().take(DIAGNOSTIC).take_while(|&at| lines[at].text != "...").collect();
    let of = |key: &str| {
        block.iter().enumerate().find_map(|(position, &at)| {
            let value = lines[at].text.strip_prefix(key)?.trim();
            Some((position, at, unquoted(value).to_owned()))
        })
    };
    let Some((position, at, error)) = of("error:") else {
        // What was compared, and no error: the check itself said no.
        if of("operator:").is_some() || (of("expected:").is_some() && of("actual:").is_some()) {
            lines[title].text = format!("AssertionError: {}", lines[title].text);
            lines[title].mark = Mark::Raised;
        }
        return;
    };
    if error.ends_with("subtest failed") || error.ends_with("subtests failed") {
        return;
    }
    let class = of("name:").map(|(_, _, class)| format!("{class}: ")).unwrap_or_default();
    let folded = error.starts_with('|') || error.starts_with('>');
    let message = if folded { block.get(position + 1).copied() } else { Some(at) };
    if let Some(message) = message {
        let said = if folded { lines[message].text.clone() } else { error };
        lines[message].text = format!("{class}{said}");
        lines[message].mark = Mark::Raised;
    }
}

/// A value without the quotes around it; quotes inside stay.
fn unquoted(value: &str) -> &str {
    let pair = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    pair('"').or_else(|| pair('\'')).unwrap_or(value)
}

/// Everything in a box that begins with a warning is part of it.
fn boxed_warning(lines: &mut [Prepared<'_>], at: usize, rest: &[usize]) {
    let inside = rest.iter().copied().take_while(|&below| {
        let raw = lines[below].line.raw.trim_start();
        raw.starts_with('│') && !lines[below].text.starts_with("Error:")
    });
    let all: Vec<usize> = std::iter::once(at).chain(inside).collect();
    for line in all {
        lines[line].mark = Mark::Noise;
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::Log;
    use super::super::reading::{Forms, prepare};
    use super::*;

    fn raised(text: &str) -> Option<String> {
        let log = Log::of_texts("", text);
        let lines = prepare(&Forms::new().unwrap(), &log);
        lines.into_iter().find(|line| line.mark == Mark::Raised).map(|line| line.text)
    }

    #[test]
    fn the_message_of_a_block_is_found() {
        for (text, wanted) in [
            ("CMake Error at CMakeLists.txt:3 (find_package):\n  Could not find X\n", "Could not find X"),
            ("● cart adds\n\n    no rate for EUR\n\n      at pay (a.js:1:2)\n", "no rate for EUR"),
            ("not ok 1 - adds\n  ---\n  error: \"no 'push'\"\n  name: 'TypeError'\n  ...\n", "TypeError: no 'push'"),
            (
                "Failure/Error: expect(Cart.new)\n\n  NameError:\n    uninitialized constant Cart\n",
                "NameError: uninitialized constant Cart",
            ),
            (
                "not ok 1 - adds\n  ---\n  error: |-\n    2 !== 3\n  name: 'AssertionError'\n  ...\n",
                "AssertionError: 2 !== 3",
            ),
        ] {
            assert_eq!(raised(text).as_deref(), Some(wanted), "{text}");
        }
        assert_eq!(
            raised("not ok 1 adds\n  ---\n  operator: equal\n  ...\n").as_deref(),
            Some("AssertionError: not ok 1 adds")
        );
        assert_eq!(raised("not ok 1 - cart\n  ---\n  error: '1 subtest failed'\n  ...\n"), None);
    }

    #[test]
    fn code_above_a_caret_and_boxed_warnings_are_quoted_only() {
        let log =
            Log::of_texts("", "throw new Error('connection refused')\n      ^\nboom\n│ Warning: x\n│ not found\n");
        let marks: Vec<Mark> = prepare(&Forms::new().unwrap(), &log).into_iter().map(|line| line.mark).collect();
        assert_eq!(marks[0], Mark::Noise);
        assert_eq!(marks[2], Mark::Plain);
        assert_eq!(marks[4], Mark::Noise);
    }
}
