//! An ADR as a tree: front matter, sections by their headings, acceptance criteria and code blocks, all with places.
//!
//! Must not judge: a file of any content becomes an [`Adr`], and `check` says what is wrong with it.

use std::borrow::Cow;
use std::ops::Range;

use comrak::nodes::{AstNode, NodeValue, Sourcepos};
use comrak::{Arena, Options};

use helix_core::diagnostic::{Diagnostic, Span};
use helix_core::document::{FrontMatter as FrontMatterPlace, Limits, front_matter, read_part};
use helix_core::source_text::{SourceText, utf8};

use super::codes;
use super::evidence::{self, Evidence, UnusableEvidence};
use super::front_matter::{self, FrontMatter};
use super::words::{AdrId, SectionKind, Status};

/// A read ADR.
#[derive(Debug, Clone, PartialEq)]
pub struct Adr {
    /// What the user calls the file.
    pub file: String,
    pub source: String,
    /// What the front matter says; `None` when there is none or it is no YAML.
    pub front: Option<FrontMatter>,
    /// Bytes of the front matter with its delimiters; empty when there is none.
    pub front_range: Range<usize>,
    /// Headings with the text that belongs to them, in the order of the file.
    pub sections: Vec<Section>,
    /// Checkboxes below acceptance criteria, also in subsections.
    pub criteria: Vec<Criterion>,
    /// Fenced and indented code.
    pub code_blocks: Vec<CodeBlock>,
    /// Which convention the file follows.
    pub form: AdrForm,
    /// What was wrong with the front matter.
    pub(super) front_problems: Vec<Diagnostic>,
}

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
    /// Whether the box is ticked.
    pub checked: bool,
    pub span: Span,
    pub evidence: Vec<Evidence>,
    /// What is meant to prove it and cannot.
    pub unusable: Vec<UnusableEvidence>,
}

/// A block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeBlock {
    /// First word of the fence's info string, lower case.
    pub language: String,
    pub range: Range<usize>,
}

/// The convention that an ADR file follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdrForm {
    /// Helix's own, or too little to tell.
    Helix,
    /// Markdown Any Decision Records.
    Madr,
    Nygard,
}

impl Adr {
    /// Reads a file. Never fails: problems are kept for [`super::check`].
    pub fn parse(file: &str, source: &str) -> Self {
        let text = SourceText::new(file, source);
        let (front, front_range, front_problems) = read_front(&text);
        let tree = read_body(&text, front_range.end);
        let form = form(&tree.sections, front.as_ref());
        Self {
            file: file.into(),
            front,
            front_range,
            form,
            sections: tree.sections,
            criteria: tree.criteria,
            code_blocks: tree.code_blocks,
            front_problems,
            source: source.into(),
        }
    }

    /// Reads bytes, which must be UTF-8.
    ///
    /// # Errors
    /// One diagnostic at the first byte that is not UTF-8.
    pub fn parse_bytes(file: &str, bytes: &[u8]) -> Result<Self, Box<Diagnostic>> {
        Ok(Self::parse(file, utf8(file, bytes, codes::NOT_UTF8)?))
    }

    /// Its id, where one can be read.
    pub fn id(&self) -> Option<AdrId> {
        Some(self.front.as_ref()?.adr_id.as_ref()?.value)
    }

    /// Its number; a draft has none.
    pub fn number(&self) -> Option<u32> {
        match self.id()? {
            AdrId::Number(number) => Some(number),
            AdrId::Draft => None,
        }
    }

    /// Its state, where one can be read.
    pub fn status(&self) -> Option<Status> {
        Some(self.front.as_ref()?.status.as_ref()?.value)
    }

    /// The first section of a kind.
    pub fn section(&self, kind: SectionKind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == Some(kind))
    }

    /// The text of the first section of a kind, subsections included.
    pub fn section_text(&self, kind: SectionKind) -> Option<&str> {
        self.section(kind).and_then(|section| self.source.get(section.body.clone()))
    }

    /// The text of a section, by its number, up to the next heading.
    pub(super) fn own_text(&self, number: usize) -> &str {
        let end = self.sections.get(number + 1).map_or(self.source.len(), |next| next.heading_range.start);
        self.sections.get(number).and_then(|section| self.source.get(section.body.start..end)).unwrap_or_default()
    }

    /// The text below the front matter.
    pub fn body(&self) -> &str {
        self.source.get(self.front_range.end..).unwrap_or_default()
    }

    /// The title: of the front matter, else of the first heading, else the file's name.
    pub fn title(&self) -> &str {
        let front = self.front.as_ref().and_then(|front| front.title.as_ref()).map(|title| title.value.as_str());
        front.or_else(|| self.sections.first().map(|section| section.heading.as_str())).unwrap_or(&self.file)
    }
}

type Front = (Option<FrontMatter>, Range<usize>, Vec<Diagnostic>);

fn read_front(text: &SourceText<'_>) -> Front {
    let source = text.text();
    let (inner, whole) = match front_matter(source) {
        Ok(Some(FrontMatterPlace { inner, whole })) => (inner, whole),
        Ok(None) => return (None, 0..source.len() - source.trim_start_matches('\u{feff}').len(), Vec::new()),
        Err(opening) => {
            let place = opening.start..opening.start + 3;
            let problem = text.error(codes::BAD_FRONT_MATTER, place, "the front matter is not closed");
            return (None, opening, vec![problem.help("end it with a line of `---`")]);
        }
    };
    match read_part(&source[inner.clone()], inner.start, Limits::default()) {
        Ok(Some(node)) => {
            let (front, problems) = front_matter::read(&node, text);
            (Some(front), whole, problems)
        }
        Ok(None) => {
            let problem = text.error(codes::MISSING_KEY, whole.start..inner.start, "the front matter is empty");
            (Some(FrontMatter::default()), whole, vec![problem.help("write `adr_id`, `title` and `status`")])
        }
        Err(error) => {
            let help = "check the indentation, and put values with `: `, ` #`, quotes or brackets into quotes";
            let message = format!("invalid front matter: {error}");
            let mut problem = Diagnostic::error(codes::BAD_FRONT_MATTER, text.file(), message).help(help);
            problem.span = error.range.map(|range| text.span(range));
            (None, whole, vec![problem])
        }
    }
}

#[derive(Default)]
struct Tree {
    sections: Vec<Section>,
    criteria: Vec<Criterion>,
    code_blocks: Vec<CodeBlock>,
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

fn read_body(text: &SourceText<'_>, start: usize) -> Tree {
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
    let mut open_criteria: Option<u8> = None;
    for node in root.descendants() {
        let ast = node.data.borrow();
        match &ast.value {
            NodeValue::Heading(heading) => {
                // Headings inside lists or quotations structure those, not the document.
                if !node.parent().is_some_and(|parent| matches!(parent.data.borrow().value, NodeValue::Document)) {
                    continue;
                }
                let title = plain_text(node);
                let kind = SectionKind::of_heading(&title);
                if open_criteria.is_none_or(|level| heading.level <= level) {
                    open_criteria = (kind == Some(SectionKind::AcceptanceCriteria)).then_some(heading.level);
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
                let range = offsets.range(ast.sourcepos);
                let first_line_end = text.line_start(text.line_of(range.start) + 1).min(range.end);
                let end = range.start + text.slice(range.start..first_line_end).trim_end().len();
                let mut parts = Vec::new();
                evidence_parts(node, &offsets, &mut parts);
                let (evidence, unusable) = evidence::read(text, &parts);
                tree.criteria.push(Criterion {
                    text: item_text(node),
                    checked: item.symbol.is_some(),
                    span: text.span(range.start..end),
                    evidence,
                    unusable,
                });
            }
            _ => {}
        }
    }
    close_sections(&mut tree.sections);
    tree
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

/// Headings of MADR, in English and in the German translation.
const MADR_CONTEXT: [&str; 2] = ["Context and Problem Statement", "Kontext und Problemstellung"];
const MADR_OTHERS: [&str; 5] =
    ["Considered Options", "Decision Outcome", "Betrachtete Optionen", "Mögliche Optionen", "Entscheidungsergebnis"];

fn form(sections: &[Section], front: Option<&FrontMatter>) -> AdrForm {
    if front.is_some_and(|front| front.adr_id.is_some()) {
        return AdrForm::Helix;
    }
    let has = |name: &str| sections.iter().any(|section| section.heading.to_lowercase() == name.to_lowercase());
    let means = |kind: SectionKind| sections.iter().any(|section| section.kind == Some(kind));
    if MADR_CONTEXT.into_iter().any(has) && MADR_OTHERS.into_iter().any(has) {
        return AdrForm::Madr;
    }
    let core = [SectionKind::Status, SectionKind::Context, SectionKind::Decision].into_iter().all(means);
    if front.is_none() && core && !means(SectionKind::AcceptanceCriteria) {
        return AdrForm::Nygard;
    }
    AdrForm::Helix
}
