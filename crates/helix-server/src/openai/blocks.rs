//! Which lines of a Markdown text are code, for every renderer alike, while the text comes in pieces.
//!
//! Must not know what stands in a line of words. Renderers disagree on odd texts, which an agent can write on purpose: where they might, nothing that follows counts as
//! code any more.

/// As much of a line as is looked at, in bytes.
pub(super) const LINE: usize = 1_000;
/// How lines end a part that chat clients read before any code, such as a formula.
const ENDS_PART: [&str; 4] = ["$$", "\\]", "\\end{", ":::"];

/// What a line is, as far as it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What follows decides it.
    Undecided,
    Code,
    Words,
    /// Renderers may disagree, here and from here on.
    Lost,
}

/// What is open after some lines.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    fence: Option<Fence>,
    /// Marks of quotation before the last line.
    quotes: usize,
    /// Where the content of the open items of lists begins, in columns. An item that some renderer may not see is none.
    items: Vec<usize>,
    /// Whether lists or other parts may be open in which indentation is no code.
    may_be_inside: bool,
    /// What the last line was.
    last: Last,
    /// Whether a part may be open that chat clients read before any code.
    may_be_part: bool,
    is_lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Blank,
    Indented,
    /// Words that the next line may go on with.
    Words,
    /// Words of which it is certain where the next line stands, or a fence.
    Other,
}

/// The marks that an open code fence begins with, and what stands before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    quotes: usize,
    indent: usize,
    mark: char,
    length: usize,
    /// Whether words stand directly above: some renderers make a heading of all down to a line that underlines one.
    is_below: bool,
}

/// How a line within a fence relates to its end.
enum Closes {
    No,
    Yes,
    /// For some renderers.
    Maybe,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            fence: None,
            quotes: 0,
            items: Vec::new(),
            may_be_inside: false,
            last: Last::Blank,
            may_be_part: false,
            is_lost: false,
        }
    }
}

impl Blocks {
    /// Whether renderers may disagree on what is code.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// From now on nothing counts as code.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
    }

    /// What ends the code that is open, on a line of its own.
    pub(super) fn closing(&self) -> Option<String> {
        let Fence { quotes, indent, mark, length, is_below: _ } = self.fence?;
        Some(format!("{}{}{}", "> ".repeat(quotes), " ".repeat(indent), mark.to_string().repeat(length)))
    }

    /// What a line is that begins so.
    pub(super) fn begins(&self, line: &str, is_whole: bool) -> Kind {
        match &self.fence {
            _ if self.is_lost => Kind::Words,
            Some(fence) => fence.line(line, is_whole, self.may_be_part),
            None => self.outside(line, is_whole),
        }
    }

    /// Takes a line, or as much of it as is looked at.
    pub(super) fn end(&mut self, line: &str) {
        if let Some(fence) = self.fence {
            if fence.line(line, true, self.may_be_part) == Kind::Code {
                match fence.closes(line) {
                    Closes::No => return,
                    Closes::Yes => {}
                    Closes::Maybe => self.is_lost = true,
                }
                self.fence = None;
                self.last = Last::Other;
                return;
            }
            // It ends with what it stands in.
            self.is_lost = true;
            self.fence = None;
        }
        let (quotes, rest) = quoted(line);
        if std::mem::replace(&mut self.quotes, quotes) != quotes {
            self.items.clear();
        }
        let inner = rest.trim_start_matches(' ');
        let indent = rest.len() - inner.len();
        if is_blank(line) {
            self.last = Last::Blank;
            return;
        }
        match self.outside(line, true) {
            Kind::Code => match self.opener(quotes, indent, inner) {
                Some(fence) => {
                    self.fence = Some(fence);
                    self.is_lost |= line.len() >= LINE;
                }
                None => self.last = Last::Indented,
            },
            Kind::Lost => self.is_lost = true,
            Kind::Words | Kind::Undecided => self.words(indent, inner),
        }
    }

    fn words(&mut self, indent: usize, inner: &str) {
        let was = self.last;
        self.last = Last::Words;
        let has_items = !self.items.is_empty();
        self.items.retain(|item| *item <= indent);
        if let Some((length, is_first)) = marker(inner) {
            let may_begin = is_first || has_items || was == Last::Blank;
            if may_begin && indent < self.inside() + 4 {
                self.items.push(indent + length);
                self.last = Last::Other;
            }
        }
        let is_plain = inner.starts_with(char::is_alphabetic) && self.quotes == 0 && indent == 0;
        let may_begin_part = |one: char| one.is_ascii_digit() || "-*+[:".contains(one);
        if self.quotes > 0 || inner.starts_with(may_begin_part) {
            self.may_be_inside = true;
        } else if is_plain && was == Last::Blank {
            self.may_be_inside = false;
        }
        let end = inner.trim_end();
        let begins_part = end.ends_with("$$") || end.ends_with("\\[") || end.contains("\\begin{");
        self.may_be_part |= begins_part || inner.starts_with(":::");
    }

    /// Where the content of the innermost item begins.
    fn inside(&self) -> usize {
        self.items.last().copied().unwrap_or_default()
    }

    fn outside(&self, line: &str, is_whole: bool) -> Kind {
        let (quotes, rest) = quoted(line);
        let inner = rest.trim_start_matches(' ');
        let indent = rest.len() - inner.len();
        let Some(first) = inner.trim_start_matches(['\t', ' ']).chars().next() else {
            return if is_whole { Kind::Words } else { Kind::Undecided };
        };
        let is_deep = indent >= 4 || inner.starts_with('\t');
        let may_be_code = quotes == 0 && !self.may_be_inside && matches!(self.last, Last::Blank | Last::Indented);
        if is_deep && may_be_code {
            return Kind::Code;
        }
        if !['`', '~'].contains(&first) {
            return Kind::Words;
        }
        let marks = inner.trim_start_matches(['\t', ' ']);
        let info = marks.trim_start_matches(first);
        match marks.len() - info.len() {
            _ if info.is_empty() && !is_whole => Kind::Undecided,
            1 | 2 => Kind::Words,
            _ if first == '`' && info.contains('`') => Kind::Words,
            _ if !is_whole => Kind::Undecided,
            _ if self.opener(quotes, indent, inner).is_some() => Kind::Code,
            _ => Kind::Lost,
        }
    }

    /// The fence that a line begins, if each renderer sees one there.
    fn opener(&self, quotes: usize, indent: usize, inner: &str) -> Option<Fence> {
        let mark = inner.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
        let info = inner.trim_start_matches(mark);
        let length = inner.len() - info.len();
        let item = self.items.iter().rev().find(|item| quotes == self.quotes && **item <= indent);
        let is_deep = indent >= item.copied().unwrap_or_default() + 4;
        let goes_on = indent >= 4 && self.last == Last::Words;
        // Some renderers see no fence in a last line.
        (length >= 3 && !info.contains(['`', '~', '<', '!']) && !is_deep && !goes_on).then_some(Fence {
            quotes,
            indent,
            mark,
            length,
            is_below: self.last != Last::Blank,
        })
    }
}

impl Fence {
    /// What a line within is: no line of words stands there.
    fn line(&self, line: &str, is_whole: bool, may_be_part: bool) -> Kind {
        let open = if is_whole { Kind::Lost } else { Kind::Undecided };
        let mut rest = line;
        for _ in 0..self.quotes {
            let inner = rest.trim_start_matches(' ');
            match inner.strip_prefix('>') {
                _ if rest.len() - inner.len() > 3 => return Kind::Lost,
                Some(inner) => rest = inner.strip_prefix(' ').unwrap_or(inner),
                None if inner.is_empty() => return open,
                None => return Kind::Lost,
            }
        }
        let inner = rest.trim_start_matches(' ');
        match inner.is_empty() {
            true if is_whole => return Kind::Code,
            true => return Kind::Undecided,
            false if rest.len() - inner.len() < self.indent => return Kind::Lost,
            false => {}
        }
        if self.is_below && inner.starts_with(['-', '=']) {
            let rest = inner.trim_start_matches(&inner[..1]).trim_start_matches([' ', '\t']);
            match rest.is_empty() {
                true if is_whole => return Kind::Lost,
                true => return Kind::Undecided,
                false => {}
            }
        }
        if may_be_part && ENDS_PART.iter().any(|end| inner.starts_with(end)) {
            return Kind::Lost;
        }
        let may_end_part = may_be_part && !is_whole && ENDS_PART.iter().any(|end| end.starts_with(inner));
        if may_end_part { Kind::Undecided } else { Kind::Code }
    }

    fn closes(&self, line: &str) -> Closes {
        let rest = (0..self.quotes).fold(line, |rest, _| {
            let inner = rest.trim_start_matches([' ', '>']);
            let marks = &rest[..rest.len() - inner.len()];
            marks.find('>').map_or(rest, |at| rest[at + 1..].strip_prefix(' ').unwrap_or(&rest[at + 1..]))
        });
        let inner = rest.trim_start_matches([' ', '\t']);
        let before = &rest[..rest.len() - inner.len()];
        let after = inner.trim_start_matches(self.mark);
        if inner.len() - after.len() < self.length || !after.chars().all(|one| "`~ \t".contains(one)) {
            return Closes::No;
        }
        let is_plain = after.chars().all(|one| one == ' ') && !before.contains('\t') && line.len() < LINE;
        match before.len() {
            at if at == self.indent && is_plain => Closes::Yes,
            at if at >= self.indent + 4 && !before.contains('\t') => Closes::No,
            _ => Closes::Maybe,
        }
    }
}

/// Whether a line has nothing but marks of quotation: words that go on above it end there.
pub(super) fn is_blank(line: &str) -> bool {
    quoted(line).1.trim_matches([' ', '\t']).is_empty()
}

/// The marks of quotation that a line begins with, and what follows.
fn quoted(line: &str) -> (usize, &str) {
    let (mut quotes, mut rest) = (0, line);
    loop {
        let inner = rest.trim_start_matches(' ');
        match inner.strip_prefix('>').filter(|_| rest.len() - inner.len() <= 3) {
            Some(inner) => (quotes, rest) = (quotes + 1, inner.strip_prefix(' ').unwrap_or(inner)),
            None => return (quotes, rest),
        }
    }
}

/// How far an item's content is from its mark, and whether the mark may stand directly below words.
fn marker(text: &str) -> Option<(usize, bool)> {
    let digits = text.trim_start_matches(|one: char| one.is_ascii_digit());
    let number = &text[..text.len() - digits.len()];
    let after = match number.len() {
        0 => text.strip_prefix(['-', '*', '+'])?,
        1..=9 => digits.strip_prefix(['.', ')'])?,
        _ => return None,
    };
    let content = after.trim_start_matches(' ');
    let gap = after.len() - content.len();
    if gap == 0 || content.trim().is_empty() {
        return None;
    }
    let gap = if gap > 4 { 1 } else { gap };
    Some((text.len() - after.len() + gap, number.is_empty() || number == "1"))
}

#[cfg(test)]
#[path = "blocks_test.rs"]
mod tests;
