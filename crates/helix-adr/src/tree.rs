//! A decision's text as a tree: front matter, sections by their headings, what may be criteria, and code blocks, all with places.
//!
//! Must not know forms of decisions, nor judge: a text of any content becomes a tree.

use std::borrow::Cow;
use std::ops::Range;

use comrak::nodes::{AstNode, NodeValue, Sourcepos};
use comrak::{Arena, Options};

use helix_core::diagnostic::{Diagnostic, Span};
use helix_core::document::{FrontMatter as FrontMatterPlace, Limits, Node, front_matter, read_part};
use helix_core::source_text::SourceText;

use super::codes;
use super::evidence::{self, Evidence, UnusableEvidence};
use super::words::SectionKind;

/// A heading and what stands below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub heading: String,
    /// 1 to 6.
    pub level: u8,
    /// Its meaning, if it has one of those that Helix knows.
    pub kind: Option<SectionKind>,
    /// Bytes of the heading.
    pub heading_range: Range<usize>,
    /// Bytes of its text, subsections included.
    pub body: Range<usize>,
}

/// An acceptance criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// What it says, without marks.
    pub text: String,
    /// Whether the box is ticked; what another form lists without boxes never is.
    pub checked: bool,
    pub span: Span,
    pub evidence: Vec<Evidence>,
    /// What is meant to prove it and cannot.
    pub unusable: Vec<UnusableEvidence>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeBlock {
    /// First word of the fence's info string, lower case.
    pub language: String,
    pub range: Range<usize>,
}

/// The front matter as it stands.
#[derive(Default)]
pub(super) struct Front {
    pub(super) node: Option<Node>,
    /// Whether there is one, with nothing in it.
    pub(super) is_blank: bool,
    pub(super) whole: Range<usize>,
    pub(super) inner: Range<usize>,
    pub(super) problems: Vec<Diagnostic>,
}

pub(super) fn read_front(text: &SourceText<'_>) -> Front {
    let source = text.text();
    let (inner, whole) = match front_matter(source) {
        Ok(Some(FrontMatterPlace { inner, whole })) => (inner, whole),
        Ok(None) => {
            let mark = source.len() - source.trim_start_matches('\u{feff}').len();
            return Front { whole: mark..mark, inner: mark..mark, ..Front::default() };
        }
        Err(opening) => {
            let place = opening.start..opening.start + 3;
            let problem = text.error(codes::BAD_FRONT_MATTER, place, "the front matter is not closed");
            let problems = vec![problem.help("end it with a line of `---`")];
            return Front { inner: opening.end..opening.end, whole: opening, problems, ..Front::default() };
        }
    };
    let front = Front { inner: inner.clone(), whole: whole.clone(), ..Front::default() };
    match read_part(&source[inner.clone()], inner.start, Limits::default()) {
        Ok(Some(node)) => Front { node: Some(node), ..front },
        Ok(None) => {
            let problem = text.error(codes::MISSING_KEY, whole.start..inner.start, "the front matter is empty");
            let problems = vec![problem.help("write `adr_id`, `title` and `status`")];
            Front { is_blank: true, problems, ..front }
        }
        Err(error) => {
            let help = "check the indentation, and put values with `: `, ` #`, quotes or brackets into quotes";
            let message = format!("invalid front matter: {error}");
            let mut problem = Diagnostic::error(codes::BAD_FRONT_MATTER, text.file(), message).help(help);
            problem.span = error.range.map(|range| text.span(range));
            Front { problems: vec![problem], ..front }
        }
    }
}

#[derive(Default)]
pub(super) struct Tree {
    pub(super) sections: Vec<Section>,
    pub(super) criteria: Vec<Criterion>,
    /// Items of a section in which another form says how a decision is confirmed.
    pub(super) confirming: Vec<Criterion>,
    /// Its paragraphs.
    pub(super) said: Vec<Criterion>,
    pub(super) code_blocks: Vec<CodeBlock>,
}

/// Sections in which other forms say how one sees that a decision is kept.
const CONFIRMING: [&str; 7] =
    ["confirmation", "validation", "compliance", "bestätigung", "validierung", "überprüfung", "prüfung"];

/// Whether a section says how a decision is confirmed.
pub(super) fn is_confirming(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    CONFIRMING.iter().any(|known| lower.starts_with(known))
}

/// Offsets of the Markdown parser's places in the whole text.
struct Offsets<'t> {
    text: &'t SourceText<'t>,
    first_line: usize,
    first_column: usize,
}

impl Offsets<'_> {
    fn range(&self, place: Sourcepos) -> Range<usize> {
        let at = |line: usize, column: usize| {
            let skipped = if line == 1 { self.first_column } else { 0 };
            let start = self.text.line_start(self.first_line + line.max(1) - 1);
            (start + skipped + column).min(self.text.text().len())
        };
        let start = at(place.start.line, place.start.column.saturating_sub(1));
        start..at(place.end.line, place.end.column).max(start)
    }
}

pub(super) fn read_body(text: &SourceText<'_>, start: usize) -> Tree {
    let body = text.text().get(start..).unwrap_or_default();
    let body = without_lone_returns(body);
    let first_line = text.line_of(start);
    let offsets = Offsets { text, first_line, first_column: start - text.line_start(first_line) };
    let mut options = Options::default();
    options.extension.tasklist = true;
    options.extension.table = true;
    let arena = Arena::new();
    let root = comrak::parse_document(&arena, &body, &options);
    let mut tree = Tree::default();
    let (mut open_criteria, mut open_confirming): (Option<u8>, Option<u8>) = (None, None);
    for node in root.descendants() {
        let ast = node.data.borrow();
        match &ast.value {
            // Headings inside lists or quotations structure those, not the document.
            NodeValue::Heading(heading) if is_on_top(node) => {
                let title = plain_text(node);
                let kind = SectionKind::of_heading(&title);
                if open_criteria.is_none_or(|level| heading.level <= level) {
                    open_criteria = (kind == Some(SectionKind::AcceptanceCriteria)).then_some(heading.level);
                }
                if open_confirming.is_none_or(|level| heading.level <= level) {
                    open_confirming = is_confirming(&title).then_some(heading.level);
                }
                let heading_range = offsets.range(ast.sourcepos);
                let body = heading_range.end..text.text().len();
                tree.sections.push(Section { heading: title, level: heading.level, kind, heading_range, body });
            }
            NodeValue::CodeBlock(code) => {
                let language = code.info.split_whitespace().next().unwrap_or_default().to_lowercase();
                tree.code_blocks.push(CodeBlock { language, range: offsets.range(ast.sourcepos) });
            }
            NodeValue::TaskItem(item) if open_criteria.is_some() => {
                tree.criteria.push(criterion(node, ast.sourcepos, &offsets, item.symbol.is_some()));
            }
            NodeValue::TaskItem(item) if open_confirming.is_some() => {
                tree.confirming.push(criterion(node, ast.sourcepos, &offsets, item.symbol.is_some()));
            }
            NodeValue::Item(_) if open_confirming.is_some() && open_criteria.is_none() => {
                tree.confirming.push(criterion(node, ast.sourcepos, &offsets, false));
            }
            NodeValue::Paragraph if open_confirming.is_some() && open_criteria.is_none() && is_on_top(node) => {
                tree.said.push(criterion(node, ast.sourcepos, &offsets, false));
            }
            _ => {}
        }
    }
    close_sections(&mut tree.sections);
    tree
}

fn is_on_top<'a>(node: &'a AstNode<'a>) -> bool {
    node.parent().is_some_and(|parent| matches!(parent.data.borrow().value, NodeValue::Document))
}

/// What an item of a list, or a paragraph, says as a criterion.
fn criterion<'a>(node: &'a AstNode<'a>, place: Sourcepos, offsets: &Offsets<'_>, checked: bool) -> Criterion {
    let (text, range) = (offsets.text, offsets.range(place));
    let first_line_end = text.line_start(text.line_of(range.start) + 1).min(range.end);
    let end = range.start + text.slice(range.start..first_line_end).trim_end().len();
    let paragraph = matches!(node.data.borrow().value, NodeValue::Paragraph);
    let mut parts = Vec::new();
    if paragraph {
        parts.push(range.clone())
    } else {
        evidence_parts(node, offsets, &mut parts)
    }
    let (evidence, unusable) = evidence::read(text, &parts);
    let said = if paragraph { plain_text(node) } else { item_text(node) };
    Criterion { text: said, checked, span: text.span(range.start..end), evidence, unusable }
}

/// A lone carriage return ends a line for the Markdown parser but not for places; a space keeps all offsets.
fn without_lone_returns(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        out.push(if character == '\r' && rest.peek() != Some(&'\n') { ' ' } else { character });
    }
    Cow::Owned(out)
}

/// Ends each section where the next of the same or a higher level begins: one walk with a stack.
fn close_sections(sections: &mut [Section]) {
    let mut open: Vec<usize> = Vec::new();
    for number in 0..sections.len() {
        let (level, start) = (sections[number].level, sections[number].heading_range.start);
        while let Some(last) = open.last().copied().filter(|last| sections[*last].level >= level) {
            sections[last].body.end = start.max(sections[last].body.start);
            open.pop();
        }
        open.push(number);
    }
}

fn plain_text<'a>(node: &'a AstNode<'a>) -> String {
    let mut out = String::new();
    for inner in node.descendants() {
        match &inner.data.borrow().value {
            NodeValue::Text(text) => out.push_str(text),
            NodeValue::Code(code) => out.push_str(&code.literal),
            NodeValue::SoftBreak | NodeValue::LineBreak => out.push(' '),
            _ => {}
        }
    }
    out.trim().to_owned()
}

/// Where the evidence of a criterion may stand: in its paragraphs, and in those of plain list items below it. Criteria below
/// it have their own.
fn evidence_parts<'a>(item: &'a AstNode<'a>, offsets: &Offsets<'_>, parts: &mut Vec<Range<usize>>) {
    let mut open: Vec<&AstNode<'_>> = item.children().collect();
    open.reverse();
    while let Some(node) = open.pop() {
        let ast = node.data.borrow();
        match &ast.value {
            NodeValue::Paragraph => {
                let range = offsets.range(ast.sourcepos);
                let text = offsets.text.slice(range.clone());
                let mark =
                    ["[ ] ", "[x] ", "[X] "].iter().find(|mark| text.starts_with(**mark)).map_or(0, |mark| mark.len());
                parts.push(range.start + mark..range.end);
            }
            NodeValue::List(_) | NodeValue::Item(_) => {
                let below: Vec<&AstNode<'_>> = node.children().collect();
                open.extend(below.into_iter().rev());
            }
            _ => {}
        }
    }
}

/// The text of an item's own paragraphs, without nested items, so that deep nesting stays linear.
fn item_text<'a>(item: &'a AstNode<'a>) -> String {
    let paragraphs = item.children().filter(|child| matches!(child.data.borrow().value, NodeValue::Paragraph));
    let texts: Vec<String> = paragraphs.map(plain_text).collect();
    texts.join(" ")
}

/// The paragraphs of list items, and all others, each as it is written but on one line.
pub(super) fn paragraphs(text: &str) -> (Vec<String>, Vec<String>) {
    let text = without_lone_returns(text);
    let source = SourceText::new("", &text);
    let offsets = Offsets { text: &source, first_line: 1, first_column: 0 };
    let arena = Arena::new();
    let (mut items, mut others) = (Vec::new(), Vec::new());
    for node in comrak::parse_document(&arena, &text, &Options::default()).descendants() {
        if !matches!(node.data.borrow().value, NodeValue::Paragraph) {
            continue;
        }
        let is_item = node.parent().is_some_and(|parent| matches!(parent.data.borrow().value, NodeValue::Item(_)));
        let written = source.slice(offsets.range(node.data.borrow().sourcepos)).split_whitespace();
        if is_item { &mut items } else { &mut others }.push(written.collect::<Vec<_>>().join(" "));
    }
    (items, others)
}
