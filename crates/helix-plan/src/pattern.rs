//! Paths and globs of plans: their form, and whether two of them can name the same file.
//!
//! Must not know which files exist: overlap is decided from the patterns alone.

/// Longest path that is accepted; longer ones exist on no system that Helix runs on.
const MAX_PATH: usize = 1024;

/// Why a text is not a path inside the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PathError {
    message: &'static str,
    /// What to write instead.
    pub remedy: &'static str,
}

/// Checks a path or glob and brings it into its plain form: no `./`, no doubled `/`.
///
/// # Errors
/// [`PathError`] when it could name anything outside the working tree, or nothing.
pub fn normal_path(text: &str) -> Result<String, PathError> {
    const RELATIVE: &str = "write it relative to the repository's root, such as src/app.py";
    let trimmed = text.trim();
    let drive = text.as_bytes().get(1) == Some(&b':') && text.starts_with(|first: char| first.is_ascii_alphabetic());
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let plain = format!("{}{}", parts.join("/"), if text.ends_with('/') { "/" } else { "" });
    let too_long = text.len() > MAX_PATH;
    let problems = [
        (trimmed.is_empty(), "the path is empty", "name a file relative to the repository's root, such as src/app.py"),
        (too_long, "the path is longer than 1024 bytes", "shorten it"),
        (trimmed != text, "the path begins or ends with a space", "remove it"),
        (text.contains('\\'), "the path contains a backslash", "separate directories with `/`"),
        (text.chars().any(char::is_control), "the path contains a control character", "remove it"),
        (text.starts_with('/') || drive, "the path is absolute", RELATIVE),
        (text == "~" || text.starts_with("~/"), "the path begins with `~`", RELATIVE),
        (parts.contains(&".."), "the path leaves the repository with `..`", RELATIVE),
        (parts.is_empty(), "the path names the whole repository", "name files or directories in it, such as src/"),
        (parts.first() == Some(&".git"), "the path is in `.git`", "name a file of the working tree"),
        (
            !too_long && Pattern::parse(&plain).is_none(),
            "the glob is not closed",
            "close `[` with `]` and `{` with `}`",
        ),
    ];
    match problems.into_iter().find(|(is_wrong, ..)| *is_wrong) {
        Some((_, message, remedy)) => Err(PathError { message, remedy }),
        None => Ok(plain),
    }
}

/// True when the text has characters that make it match more than itself.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// Steps that a comparison of two globs may take.
const MEETING_BUDGET: u64 = 100_000;

/// Whether some path is named by both paths or globs; `None` when that is too much work to know.
pub fn can_meet(left: &str, right: &str) -> Option<bool> {
    let mut budget = MEETING_BUDGET;
    Pattern::parse(left)?.overlaps(&Pattern::parse(right)?, &mut budget)
}

/// A glob or path made ready for comparison. Braces are expanded; `*` and `?` stop at `/`, `**` does not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    alternatives: Vec<Vec<Token>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Character(char),
    /// `?` or a class: any one character that satisfies it, never `/`.
    Class {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
    /// Any number of characters without `/`.
    Star,
    /// Any number of characters.
    DoubleStar,
}

/// Most alternatives that braces may expand to.
const MAX_ALTERNATIVES: usize = 64;

impl Pattern {
    /// Reads a pattern; `None` when a bracket or brace is open or the braces expand to too many.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut alternatives = Vec::new();
        for text in expand_braces(text)? {
            let mut tokens = tokens(&text)?;
            // A path also claims what lies below it, if it turns out to be a directory.
            if tokens.last() == Some(&Token::Character('/')) {
                tokens.push(Token::DoubleStar);
            }
            alternatives.push(tokens);
        }
        Some(Self { alternatives })
    }

    /// Whether some path is matched by both; `None` when `budget` (steps) ran out before that was known.
    pub(super) fn overlaps(&self, other: &Self, budget: &mut u64) -> Option<bool> {
        for left in &self.alternatives {
            for right in &other.alternatives {
                if literal_prefixes_differ(left, right) {
                    *budget = budget.checked_sub(1)?;
                    continue;
                }
                // A literal path may turn out to be a directory, and then claims what a pattern names inside it. Nothing is
                // inferred from patterns without that directory in front: `**/*.py` does not collide with `README.md`.
                if lies_below(left, right) || lies_below(right, left) || intersect(left, right, budget)? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }
}

/// Whether `inner` begins with all of `outer`, which has no wildcard, and a slash.
fn lies_below(outer: &[Token], inner: &[Token]) -> bool {
    outer.iter().all(|token| matches!(token, Token::Character(_)))
        && inner.starts_with(outer)
        && inner.get(outer.len()) == Some(&Token::Character('/'))
}

/// A quick "no" for the usual case of two patterns that begin differently.
fn literal_prefixes_differ(left: &[Token], right: &[Token]) -> bool {
    for pair in left.iter().zip(right) {
        match pair {
            (Token::Character(a), Token::Character(b)) if a == b => {}
            (Token::Character(_), Token::Character(_)) => return true,
            _ => return false,
        }
    }
    false
}

/// Walks both patterns at once; the reachable pairs of positions are kept row by row.
fn intersect(left: &[Token], right: &[Token], budget: &mut u64) -> Option<bool> {
    let width = right.len() + 1;
    let cost = (left.len() as u64 + 1) * width as u64;
    *budget = budget.checked_sub(cost)?;
    let mut reached = vec![false; width];
    reached[0] = true;
    for row in 0..=left.len() {
        let mut next = vec![false; width];
        for column in 0..width {
            if !reached[column] {
                continue;
            }
            let (a, b) = (left.get(row), right.get(column));
            // A star may end here …
            if matches!(b, Some(Token::Star | Token::DoubleStar)) {
                reached[column + 1] = true;
            }
            if matches!(a, Some(Token::Star | Token::DoubleStar)) {
                next[column] = true;
            }
            // … or swallow what the other side asks for.
            if let (Some(a), Some(b)) = (a, b)
                && meet(a, b)
            {
                match (a.repeats(), b.repeats()) {
                    (true, false) => reached[column + 1] = true,
                    (false, true) => next[column] = true,
                    (false, false) => next[column + 1] = true,
                    (true, true) => {}
                }
            }
        }
        if row < left.len() {
            reached = next;
        }
    }
    reached.last().copied()
}

impl Token {
    fn repeats(&self) -> bool {
        matches!(self, Self::Star | Self::DoubleStar)
    }

    fn accepts(&self, character: char) -> bool {
        match self {
            Self::Character(own) => *own == character,
            Self::Class { ranges, negated } => {
                character != '/' && ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != *negated
            }
            Self::Star => character != '/',
            Self::DoubleStar => true,
        }
    }
}

/// Whether one character satisfies both.
fn meet(left: &Token, right: &Token) -> bool {
    match (left, right) {
        (Token::Character(character), other) | (other, Token::Character(character)) => other.accepts(*character),
        (Token::Class { ranges: a, negated: false }, Token::Class { ranges: b, negated: false }) => {
            a.iter().any(|(low, high)| b.iter().any(|(from, to)| low <= to && from <= high))
        }
        // Two classes of which one is negated nearly always share a character; saying so errs on the loud side.
        (
            Token::Class { .. } | Token::Star | Token::DoubleStar,
            Token::Class { .. } | Token::Star | Token::DoubleStar,
        ) => true,
    }
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut out = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '*' if rest.peek() == Some(&'*') => {
                while rest.peek() == Some(&'*') {
                    rest.next();
                }
                // `a/**/b` also matches `a/b`: the slash after it belongs to what may be nothing.
                if rest.peek() == Some(&'/') && matches!(out.last(), None | Some(Token::Character('/'))) {
                    rest.next();
                }
                out.push(Token::DoubleStar);
            }
            '*' => out.push(Token::Star),
            '?' => out.push(Token::Class { ranges: Vec::new(), negated: true }),
            '[' => {
                let negated = rest.next_if(|c| matches!(c, '!' | '^')).is_some();
                let mut ranges = Vec::new();
                loop {
                    let low = rest.next()?;
                    if low == ']' && !ranges.is_empty() {
                        break;
                    }
                    let mut ahead = rest.clone();
                    match (ahead.next(), ahead.next()) {
                        (Some('-'), Some(high)) if high != ']' => {
                            rest = ahead;
                            ranges.push((low, high));
                        }
                        _ => ranges.push((low, low)),
                    }
                }
                out.push(Token::Class { ranges, negated });
            }
            other => out.push(Token::Character(other)),
        }
    }
    Some(out)
}

fn expand_braces(text: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(next) = open.pop() {
        let Some(start) = next.find('{') else {
            if next.contains('}') {
                return None;
            }
            done.push(next);
            continue;
        };
        let mut depth = 0_usize;
        let mut cuts = vec![start + 1];
        let mut end = None;
        for (at, character) in next.char_indices().skip_while(|(at, _)| *at < start) {
            match character {
                '{' => depth += 1,
                '}' if depth == 1 => {
                    end = Some(at);
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 1 => cuts.push(at + 1),
                _ => {}
            }
        }
        let end = end?;
        for (index, from) in cuts.iter().enumerate() {
            let to = cuts.get(index + 1).map_or(end, |next| next - 1);
            open.push(format!("{}{}{}", &next[..start], &next[*from..to], &next[end + 1..]));
        }
        if open.len() + done.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(done)
}

#[cfg(test)]
#[path = "pattern_test.rs"]
mod tests;
