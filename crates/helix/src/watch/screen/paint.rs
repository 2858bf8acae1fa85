//! Texts as pieces of a frame: with their meaning, cut or broken to a width.
//!
//! Must not know what is said.

use helix_core::text::plain;
use helix_language::Language;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::terminal::Meaning;

/// How texts look to the person at the terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) language: Language,
    pub(super) colour: bool,
}

impl Paint {
    /// A text with its meaning. Everything that the screen shows goes through here: nothing in it steers the terminal.
    pub(super) fn span(&self, meaning: Option<Meaning>, text: &str) -> Span<'static> {
        Span::styled(plain(text).replace(['\n', '\t'], " "), self.style(meaning))
    }

    pub(super) fn line(&self, meaning: Meaning, text: &str, width: usize) -> Line<'static> {
        self.line_of(Some(meaning), text, width)
    }

    pub(super) fn line_of(&self, meaning: Option<Meaning>, text: &str, width: usize) -> Line<'static> {
        fitted(Line::from(self.span(meaning, text)), width)
    }

    fn style(&self, meaning: Option<Meaning>) -> Style {
        let style = Style::new();
        if !self.colour {
            return style;
        }
        match meaning {
            None => style,
            Some(Meaning::Good) => style.fg(Color::Green),
            Some(Meaning::Bad) => style.fg(Color::Red).add_modifier(Modifier::BOLD),
            Some(Meaning::Attention) => style.fg(Color::Yellow),
            Some(Meaning::Strong) => style.add_modifier(Modifier::BOLD),
            Some(Meaning::Weak) => style.add_modifier(Modifier::DIM),
        }
    }
}

/// A text of at most so many columns; a cut is marked.
pub(super) fn cut(text: &str, width: usize) -> String {
    let mut line = fitted(Line::raw(text.to_owned()), width);
    line.spans.drain(..).map(|span| span.content.into_owned()).collect()
}

/// A line of at most so many columns; a cut is marked with `…`.
pub(super) fn fitted(line: Line<'static>, width: usize) -> Line<'static> {
    if line.width() <= width {
        return line;
    }
    let (mut kept, mut left) = (Line::default(), width.saturating_sub(1));
    for span in line.spans {
        let (mut text, mut whole) = (String::new(), true);
        for letter in span.content.chars() {
            let columns = Span::raw(letter.to_string()).width();
            if columns > left {
                whole = false;
                break;
            }
            left -= columns;
            text.push(letter);
        }
        if !whole {
            text.push('…');
        }
        kept.push_span(Span::styled(text, span.style));
        if !whole {
            break;
        }
    }
    kept
}

/// A text as lines of at most so many columns, broken between words where that is possible; later lines are indented as the first.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    for line in plain(text).lines() {
        let indent: String = line.chars().take_while(|letter| *letter == ' ').take(width / 2).collect();
        let mut current = indent.clone();
        for word in line.split(' ').filter(|word| !word.is_empty()) {
            let columns = |text: &str| Span::raw(text.to_owned()).width();
            let is_first = current.len() == indent.len();
            if !is_first && columns(&current) + 1 + columns(word) > width {
                lines.push(std::mem::replace(&mut current, indent.clone()));
            } else if !is_first {
                current.push(' ');
            }
            for letter in word.chars() {
                if columns(&current) + columns(letter.encode_utf8(&mut [0; 4])) > width {
                    lines.push(std::mem::replace(&mut current, indent.clone()));
                }
                current.push(letter);
            }
        }
        lines.push(current);
    }
    lines
}
