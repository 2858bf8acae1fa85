//! Markdown as a terminal shows it: headings, lists, tables, code and quotes, wrapped to its width.
//!
//! Must not know who wrote the text: nothing in it, entities included, steers the terminal.

use comrak::nodes::{AstNode, ListType, NodeValue};
use comrak::{Arena, Options, parse_document};
use helix_language::{Language, say};
use unicode_width::UnicodeWidthStr as _;

use super::{Look, plain};

/// Codes of what is said in colour (ECMA-48, select graphic rendition).
const BOLD: &str = "1";
const WEAK: &str = "2";
/// Of the mark of Helix's own blocks. No text of an agent has a colour.
const OWN: &str = "33";
const ITALIC: &str = "3";
const LINK: &str = "4";
const STRUCK: &str = "9";
const CODE: &str = "36";

/// Narrowest column in which text is wrapped.
const NARROWEST: usize = 20;

/// A text as it comes: whole blocks are shown, the last one waits for its end.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    open: String,
}

impl Blocks {
    /// Takes a piece of the text; what can be shown now.
    pub(crate) fn push(&mut self, piece: &str) -> Option<String> {
        self.open.push_str(piece);
        let (mut at, mut end, mut fence) = (0, 0, None::<String>);
        for line in self.open.split_inclusive('\n') {
            at += line.len();
            let text = line.trim();
            let marks: String = text.chars().take_while(|mark| *mark == '`' || *mark == '~').collect();
            match &fence {
                Some(open) if marks.starts_with(open.as_str()) && text == marks => fence = None,
                Some(_) => {}
                None if marks.len() >= 3 => fence = Some(marks),
                None if text.is_empty() && line.ends_with('\n') => end = at,
                None => {}
            }
        }
        (end > 0).then(|| self.open.drain(..end).collect())
    }

    /// What is left at the end.
    pub(crate) fn rest(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.open)).filter(|text| !text.trim().is_empty())
    }
}

/// A Markdown text for a terminal of this width; ends with a line break.
pub(crate) fn rendered(text: &str, language: Language, look: Look, width: usize) -> String {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.autolink = true;
    options.extension.alerts = true;
    options.extension.front_matter_delimiter = Some("---".into());
    let (arena, text) = (Arena::new(), plain(text));
    let root = parse_document(&arena, &text, &options);
    let lines = Writer { language, look }.blocks(root, width.max(NARROWEST), true);
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A character and how it is shown.
type Styled = (char, Style);

/// Codes that hold for a character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Style([Option<&'static str>; 4]);

impl Style {
    fn with(mut self, code: &'static str) -> Self {
        if let Some(free) = self.0.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(code);
        }
        self
    }
}

struct Writer {
    /// What a block of a kind is called, is in this language.
    language: Language,
    look: Look,
}

impl Writer {
    /// The blocks below a node, with or without a blank line between them.
    fn blocks<'a>(&self, parent: &'a AstNode<'a>, width: usize, apart: bool) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for node in parent.children() {
            let block = self.block(node, width);
            if apart && !lines.is_empty() && !block.is_empty() {
                lines.push(String::new());
            }
            lines.extend(block);
        }
        lines
    }

    fn block<'a>(&self, node: &'a AstNode<'a>, width: usize) -> Vec<String> {
        match &node.data.borrow().value {
            NodeValue::Paragraph => self.wrapped(node, Style::default(), width),
            NodeValue::Heading(_) => self.wrapped(node, Style::default().with(BOLD), width),
            NodeValue::BlockQuote => {
                Self::behind(&self.paint(WEAK, "│ "), self.blocks(node, width.saturating_sub(2), true))
            }
            NodeValue::Alert(alert) => {
                let kind = || alert.alert_type.default_title().to_lowercase();
                let name = alert.title.clone().unwrap_or_else(|| say!(self.language, "block", kind = kind()));
                let mut lines = vec![self.paint(BOLD, &plain(&name))];
                lines.extend(self.blocks(node, width.saturating_sub(2), true));
                Self::behind(&self.paint(OWN, "┃ "), lines)
            }
            NodeValue::List(list) => {
                let mut lines = Vec::new();
                for (number, item) in (list.start..).zip(node.children()) {
                    let mark = match (&item.data.borrow().value, list.list_type) {
                        (NodeValue::TaskItem(task), _) => if task.symbol.is_some() { "☑ " } else { "☐ " }.to_owned(),
                        (_, ListType::Ordered) => format!("{number}. "),
                        (_, ListType::Bullet) => "• ".to_owned(),
                    };
                    let indent = mark.width();
                    let inside = self.blocks(item, width.saturating_sub(indent), !list.tight);
                    if !list.tight && !lines.is_empty() {
                        lines.push(String::new());
                    }
                    let first = |line: usize| if line == 0 { mark.clone() } else { " ".repeat(indent) };
                    lines.extend(inside.iter().enumerate().map(|(at, line)| format!("{}{line}", first(at))));
                }
                lines
            }
            NodeValue::CodeBlock(code) => {
                let text = plain(&code.literal);
                text.lines().map(|line| format!("    {}", self.paint(CODE, line))).collect()
            }
            NodeValue::HtmlBlock(html) if html.literal.trim_start().starts_with("<!--") => Vec::new(),
            NodeValue::HtmlBlock(html) => plain(&html.literal).lines().map(|line| self.paint(WEAK, line)).collect(),
            NodeValue::ThematicBreak => vec![self.paint(WEAK, &"─".repeat(width))],
            NodeValue::Table(_) => self.table(node, width),
            NodeValue::FrontMatter(_) => Vec::new(),
            _ => self.blocks(node, width, true),
        }
    }

    fn behind(painted: &str, lines: Vec<String>) -> Vec<String> {
        lines.into_iter().map(|line| format!("{painted}{line}")).collect()
    }

    /// A table in columns; as a list of its cells where the terminal is too narrow.
    fn table<'a>(&self, node: &'a AstNode<'a>, width: usize) -> Vec<String> {
        let cells = |row: &'a AstNode<'a>, style| -> Vec<Vec<Styled>> {
            row.children().map(|cell| self.inline(cell, style)).collect()
        };
        let style = |at| if at == 0 { Style::default().with(BOLD) } else { Style::default() };
        let rows: Vec<Vec<Vec<Styled>>> = node.children().enumerate().map(|(at, row)| cells(row, style(at))).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let of = |column: usize| rows.iter().filter_map(move |row| row.get(column)).map(|cell| wide(cell)).max();
        let widths: Vec<usize> = (0..columns).map(|column| of(column).unwrap_or(0)).collect();
        let Some((head, body)) = rows.split_first() else { return Vec::new() };
        if widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1) > width {
            let mut lines = Vec::new();
            for row in body {
                for (at, cell) in row.iter().enumerate() {
                    let mut text = head.get(at).cloned().unwrap_or_default();
                    text.extend(": ".chars().map(|one| (one, Style::default())));
                    text.extend(cell);
                    let indent = if at == 0 { "• " } else { "  " };
                    lines.extend(
                        self.lines(&text, width.saturating_sub(2))
                            .into_iter()
                            .enumerate()
                            .map(|(line, text)| format!("{}{text}", if line == 0 { indent } else { "  " })),
                    );
                }
            }
            return lines;
        }
        let drawn = |row: &Vec<Vec<Styled>>| {
            let cell = |(at, width): (usize, &usize)| {
                let cell = row.get(at).map_or(&[][..], Vec::as_slice);
                format!("{}{}", self.painted(cell), " ".repeat(width.saturating_sub(wide(cell))))
            };
            widths.iter().enumerate().map(cell).collect::<Vec<_>>().join(&self.paint(WEAK, " │ "))
        };
        let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("─┼─");
        [drawn(head), self.paint(WEAK, &rule)].into_iter().chain(body.iter().map(drawn)).collect()
    }

    fn wrapped<'a>(&self, node: &'a AstNode<'a>, style: Style, width: usize) -> Vec<String> {
        self.lines(&self.inline(node, style), width)
    }

    /// The text below a node, character by character.
    fn inline<'a>(&self, node: &'a AstNode<'a>, style: Style) -> Vec<Styled> {
        let mut out: Vec<Styled> = Vec::new();
        let put = |out: &mut Vec<Styled>, text: &str, style| {
            out.extend(plain(text).chars().map(|one| (one, style)));
        };
        for child in node.children() {
            match &child.data.borrow().value {
                NodeValue::Text(text) => put(&mut out, text, style),
                NodeValue::Code(code) => put(&mut out, &code.literal, style.with(CODE)),
                NodeValue::SoftBreak => out.push((' ', style)),
                NodeValue::LineBreak => out.push(('\n', style)),
                NodeValue::HtmlInline(html) if html.starts_with("<!--") => {}
                NodeValue::HtmlInline(html) => put(&mut out, html, style.with(WEAK)),
                NodeValue::Emph => out.extend(self.inline(child, style.with(ITALIC))),
                NodeValue::Strong => out.extend(self.inline(child, style.with(BOLD))),
                NodeValue::Strikethrough => out.extend(self.inline(child, style.with(STRUCK))),
                NodeValue::Link(link) | NodeValue::Image(link) => {
                    let text = self.inline(child, style.with(LINK));
                    let said: String = text.iter().map(|(one, _)| *one).collect();
                    out.extend(text);
                    if said != link.url {
                        put(&mut out, &format!(" ({})", link.url), style.with(WEAK));
                    }
                }
                _ => out.extend(self.inline(child, style)),
            }
        }
        out
    }

    /// Lines of at most this width, broken at spaces; a longer word stands alone.
    fn lines(&self, text: &[Styled], width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for part in text.split(|(one, _)| *one == '\n') {
            let (mut line, mut used): (Vec<Styled>, usize) = (Vec::new(), 0);
            for word in part.split(|(one, _)| *one == ' ').filter(|word| !word.is_empty()) {
                let needs = wide(word);
                if used > 0 && used + 1 + needs > width {
                    lines.push(self.painted(&line));
                    (line, used) = (Vec::new(), 0);
                }
                if used > 0 {
                    // Between two words of one style, the space has it, too.
                    let style = line.last().map(|(_, style)| *style).filter(|style| *style == word[0].1);
                    line.push((' ', style.unwrap_or_default()));
                    used += 1;
                }
                line.extend(word);
                used += needs;
            }
            lines.push(self.painted(&line));
        }
        lines
    }

    fn painted(&self, text: &[Styled]) -> String {
        let mut out = String::new();
        for run in text.chunk_by(|one, next| one.1 == next.1) {
            let words: String = run.iter().map(|(one, _)| *one).collect();
            let codes: Vec<&str> =
                run.first().map(|(_, style)| style.0.into_iter().flatten().collect()).unwrap_or_default();
            out.push_str(&if codes.is_empty() { words } else { self.paint(&codes.join(";"), &words) });
        }
        out
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if text.is_empty() { String::new() } else { self.look.paint(code, text) }
    }
}

fn wide(text: &[Styled]) -> usize {
    text.iter().map(|(one, _)| *one).collect::<String>().width()
}

#[cfg(test)]
#[path = "markdown_test.rs"]
mod tests;
