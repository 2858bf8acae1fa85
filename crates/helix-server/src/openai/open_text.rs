//! The text of an answer, and what is open at its end: a code fence, a formula, a folded part. Must not know who wrote it.

/// Text that grows.
#[derive(Debug, Default)]
pub(super) struct OpenText {
    text: String,
    /// Where the first line begins that is not read yet.
    read: usize,
    open: Open,
}

/// What is open after some lines.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    fence: Option<Fence>,
    formula: bool,
    folded: usize,
}

/// The marks that an open code fence begins with.
#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl OpenText {
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Appends text, and reads the lines that it ends.
    pub(super) fn push(&mut self, text: &str) {
        let end = text.rfind('\n').map(|at| self.text.len() + at + 1);
        self.text.push_str(text);
        let Some(end) = end else { return };
        self.text[self.read..end].lines().for_each(|line| self.open.line(line));
        self.read = end;
    }

    /// Begins an item of its own, in which nothing is open.
    pub(super) fn begin_item(&mut self) {
        (self.read, self.open) = (self.text.len(), Open::default());
    }

    /// What closes all that is open, on lines of its own; empty where nothing is.
    pub(super) fn closing(&self) -> String {
        let mut open = self.open;
        open.line(&self.text[self.read..]);
        let fence = open.fence.map(|fence| fence.mark.to_string().repeat(fence.length));
        let formula = open.formula.then(|| "$$".to_owned());
        let folded = std::iter::repeat_n("\n</details>".to_owned(), open.folded);
        fence.into_iter().chain(formula).chain(folded).map(|mark| format!("\n{mark}")).collect()
    }
}

impl Open {
    fn line(&mut self, line: &str) {
        let inner = line.trim_start_matches([' ', '>']).trim_end();
        let mark = inner.chars().next().filter(|mark| ['`', '~'].contains(mark));
        let length = mark.map_or(0, |mark| inner.chars().take_while(|letter| *letter == mark).count());
        match (self.fence, mark) {
            (Some(open), Some(mark)) if open.mark == mark && length >= open.length && inner.len() == length => {
                self.fence = None;
            }
            (None, Some(mark)) if length >= 3 && !inner[length..].contains('`') => {
                self.fence = Some(Fence { mark, length });
            }
            (Some(_), _) => {}
            (None, _) => {
                // Formulas in the middle of a line end on it.
                self.formula ^= inner.matches("$$").count() % 2 == 1;
                self.folded += inner.matches("<details").count();
                self.folded = self.folded.saturating_sub(inner.matches("</details>").count());
            }
        }
    }
}

#[cfg(test)]
#[path = "open_text_test.rs"]
mod tests;
