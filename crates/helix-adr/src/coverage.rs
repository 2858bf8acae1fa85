//! Which concepts of a source (a concept paper, an ADR) a plan or an ADR takes up, and which it leaves out.
//!
//! Must not judge how well: a concept is covered when the target has a heading of its meaning, or one of its blocks names all
//! of its words. English and German words of one meaning count as one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::diagnostic::Span;
use helix_core::source_text::SourceText;
use helix_plan::Plan;

use super::concept_words::{is_structural, terms};
use super::path_index::PathIndex;
use super::syntax::Adr;
use super::words::SectionKind;

/// Something that a source asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Concept {
    /// The heading, or the file's path.
    pub text: String,
    /// What it is.
    pub kind: ConceptKind,
    /// The source, as the user calls it.
    pub file: String,
    /// Where it stands there.
    pub span: Span,
}

/// What a [`Concept`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConceptKind {
    /// A heading.
    Heading,
    /// A file that a decision claims.
    File,
}

/// A part of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What people call it, such as `phase implement` or `section Decision`.
    pub label: String,
    /// Its line in the target, from 1, where that is known.
    pub line: Option<u32>,
    /// Its heading; empty where it has none.
    pub heading: String,
    pub text: String,
    /// The files that it claims.
    pub files: Vec<String>,
}

/// What became of a concept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConceptCoverage {
    /// The concept.
    #[serde(flatten)]
    pub concept: Concept,
    /// The block that takes it up; absent where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered_by: Option<CoveredBy>,
}

/// Where a concept is taken up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoveredBy {
    /// The block.
    pub block: String,
    /// Its line, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// The concepts of a Markdown source: its headings of the second level that are no mere structure. Of an ADR, the headings in
/// Decision and Implementation and the files that it claims.
pub fn concepts(source: &Adr) -> Vec<Concept> {
    let text = SourceText::new(&source.file, &source.source);
    let concept = |name: &str, kind, range: Range<usize>| Concept {
        text: name.to_owned(),
        kind,
        file: source.file.clone(),
        span: text.span(range),
    };
    let is_adr = source.front.as_ref().is_some_and(|front| front.adr_id.is_some());
    let mut found = Vec::new();
    let mut within: Option<(u8, bool)> = None;
    for section in &source.sections {
        if within.is_none_or(|(level, _)| section.level <= level) {
            let carries = matches!(
                section.kind,
                Some(SectionKind::Decision | SectionKind::Implementation | SectionKind::Migration)
            );
            within = section.kind.map(|_| (section.level, carries));
            if section.kind.is_some() && is_adr {
                continue;
            }
        } else if is_adr && let Some((_, carries)) = within {
            if carries && !terms(&section.heading).is_empty() {
                found.push(concept(&section.heading, ConceptKind::Heading, section.heading_range.clone()));
            }
            continue;
        }
        if section.level == 2 && !is_structural(&section.heading) && !terms(&section.heading).is_empty() {
            found.push(concept(&section.heading, ConceptKind::Heading, section.heading_range.clone()));
        }
    }
    if let Some(front) = source.front.as_ref().filter(|_| is_adr) {
        for list in [&front.files.create, &front.files.modify, &front.files.delete, &front.files.docs] {
            found.extend(list.iter().map(|path| concept(&path.value, ConceptKind::File, path.range.clone())));
        }
    }
    found
}

/// The blocks of a Markdown target: its sections without their subsections, and its list of claimed files.
pub fn blocks_of_adr(target: &Adr) -> Vec<Block> {
    let text = SourceText::new(&target.file, &target.source);
    let line = |at: usize| u32::try_from(text.line_of(at)).ok();
    let mut blocks: Vec<Block> = target
        .sections
        .iter()
        .enumerate()
        .map(|(number, section)| Block {
            label: format!("section {}", section.heading),
            line: line(section.heading_range.start),
            heading: section.heading.clone(),
            text: target.own_text(number).to_owned(),
            files: Vec::new(),
        })
        .collect();
    if let Some(front) = &target.front {
        let files = front.files.all().map(str::to_owned).collect();
        let label = "front matter".to_owned();
        blocks.push(Block { label, line: Some(1), heading: String::new(), text: String::new(), files });
    }
    blocks
}

/// The blocks of a plan: its phases.
pub fn blocks_of_plan(plan: &Plan) -> Vec<Block> {
    let phases = plan.phases.iter().map(|phase| Block {
        label: format!("phase {}", phase.id),
        line: None,
        heading: phase.name.clone(),
        text: format!("{} {}", phase.id.as_str().replace('-', " "), phase.description),
        files: phase.outputs.clone(),
    });
    phases.collect()
}

/// Looks each concept up in the blocks of the target. Linear in both, by an index of words and one of paths.
pub fn coverage(concepts: Vec<Concept>, blocks: &[Block]) -> Vec<ConceptCoverage> {
    let mut by_heading: BTreeMap<BTreeSet<String>, usize> = BTreeMap::new();
    let mut by_term: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut by_file = PathIndex::default();
    for (number, block) in blocks.iter().enumerate() {
        for file in &block.files {
            by_file.insert(file, (file.as_str(), number));
        }
        let heading = terms(&block.heading);
        let mut all = terms(&block.text);
        all.extend(heading.iter().cloned());
        if !heading.is_empty() {
            by_heading.entry(heading).or_insert(number);
        }
        for term in all {
            by_term.entry(term).or_default().push(number);
        }
    }
    let find = |concept: &Concept| -> Option<usize> {
        match concept.kind {
            ConceptKind::File => {
                let path = concept.text.as_str();
                let meets = |file: &str| file == path || helix_plan::can_meet(file, path) == Some(true);
                by_file.near(path).filter(|(file, _)| meets(file)).map(|(_, number)| *number).min()
            }
            ConceptKind::Heading => {
                let wanted = terms(&concept.text);
                by_heading.get(&wanted).copied().or_else(|| {
                    let lists: Option<Vec<&Vec<usize>>> = wanted.iter().map(|term| by_term.get(term)).collect();
                    let mut lists = lists?;
                    // The rarest word first: the others only confirm it.
                    lists.sort_by_key(|list| list.len());
                    let (rarest, others) = lists.split_first()?;
                    rarest.iter().copied().find(|number| others.iter().all(|list| list.binary_search(number).is_ok()))
                })
            }
        }
    };
    let covered = concepts.into_iter().map(|concept| {
        let covered_by = find(&concept)
            .and_then(|number| blocks.get(number))
            .map(|block| CoveredBy { block: block.label.clone(), line: block.line });
        ConceptCoverage { concept, covered_by }
    });
    covered.collect()
}
