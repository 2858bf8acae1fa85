//! An ADR: what its text says, in whichever form it is written.
//!
//! Must not judge: a file of any content becomes an [`Adr`], and `check` says what is wrong with it.

use std::ops::Range;

use helix_core::diagnostic::{Diagnostic, Severity};
use helix_core::source_text::{SourceText, utf8};

use super::codes;
use super::form::{self, AdrForm, Record};
use super::front_matter::{self, FrontMatter};
use super::tree::{CodeBlock, Criterion, Section, read_body, read_front};
use super::words::{AdrId, SectionKind, Status};

/// A read ADR.
#[derive(Debug, Clone, PartialEq)]
pub struct Adr {
    /// What the user calls the file.
    pub file: String,
    pub source: String,
    /// What the front matter says; `None` when there is none or it is not YAML.
    pub front: Option<FrontMatter>,
    /// Bytes of the front matter with its delimiters; empty when there is none.
    pub front_range: Range<usize>,
    /// The same without them.
    pub(super) front_inner: Range<usize>,
    /// Headings with the text that belongs to them, in the order of the file.
    pub sections: Vec<Section>,
    /// Checkboxes below acceptance criteria, also in subsections; of other forms also what they say of how a decision is confirmed.
    pub criteria: Vec<Criterion>,
    /// Fenced and indented code.
    pub code_blocks: Vec<CodeBlock>,
    /// Which convention the file follows.
    pub form: AdrForm,
    /// What was wrong with the front matter.
    pub(super) front_problems: Vec<Diagnostic>,
}

impl Adr {
    /// Reads a file. Never fails: problems are kept for [`super::check`].
    pub fn parse(file: &str, source: &str) -> Self {
        let text = SourceText::new(file, source);
        let place = read_front(&text);
        let (front_range, front_inner) = (place.whole, place.inner);
        let tree = read_body(&text, front_range.end);
        let record = Record::read(source, front_inner.clone(), front_range.end, &tree.sections);
        let form = AdrForm::read(file, place.node.as_ref(), !front_range.is_empty(), &tree.sections, &record);
        let mut criteria = tree.criteria;
        let (front, problems) = match (form, &place.node) {
            (AdrForm::Helix, Some(node)) => {
                let (front, problems) = front_matter::read(node, &text);
                (Some(front), problems)
            }
            (AdrForm::Helix, None) => (place.is_blank.then(FrontMatter::default), Vec::new()),
            (AdrForm::Madr | AdrForm::Nygard, node) => {
                criteria.extend(if tree.confirming.is_empty() { tree.said } else { tree.confirming });
                let (front, problems) = form::read(form, &text, node.as_ref(), &record, &tree.sections);
                (Some(front), problems)
            }
        };
        let mut front_problems = place.problems;
        if form != AdrForm::Helix {
            front_problems.retain(|problem| problem.code != codes::MISSING_KEY);
            front_problems.iter_mut().for_each(|problem| problem.severity = Severity::Warning);
        }
        front_problems.extend(problems);
        Self {
            file: file.into(),
            front,
            front_range,
            front_inner,
            form,
            sections: tree.sections,
            criteria,
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
        Some(self.front.as_ref()?.adr_id.as_ref()?.value.clone())
    }

    /// Its id, unless it is a draft.
    pub fn decided_id(&self) -> Option<AdrId> {
        self.id().filter(|id| *id != AdrId::Draft)
    }

    /// Its number; a draft has none.
    pub fn number(&self) -> Option<u32> {
        self.id()?.number()
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
