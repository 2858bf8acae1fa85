//! Turns MADR (2, 3, 4) and Nygard files into Helix's form without losing a sentence.
//!
//! Must not write files or allocate numbers: it turns one text into another. What has no home in the form stays in sections of
//! its own; metadata goes, word for word, to a section at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use helix_core::finding::fence_for;
use helix_core::text::clip;

use super::form::{AdrForm, Record, first_line, language, title_heading};
use super::style::with_headings;
use super::syntax::Adr;
use super::template::quoted;
use super::tree::{Section, is_confirming, paragraphs};
use super::words::{AdrId, Language, SectionKind, Status};

/// A converted ADR.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Imported {
    /// Its text in Helix's form.
    pub text: String,
    pub title: String,
    pub status: Status,
    /// What it was, such as `MADR 4`.
    pub form: String,
    /// What a person should look at.
    pub notes: Vec<String>,
}

/// Why a file cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It needs no conversion.
    #[error("{file} is already in Helix's format")]
    Already { file: String },
    /// It is none of the known forms.
    #[error("{file} is neither a MADR nor a Nygard file")]
    Unknown { file: String },
}

/// Converts an ADR. `renumbered` gives the new numbers of those that are converted with it, for the links between them.
///
/// # Errors
/// [`ImportError`] when it is neither a MADR nor a Nygard file.
pub fn import(adr: &Adr, number: u32, renumbered: &BTreeMap<u32, u32>) -> Result<Imported, ImportError> {
    let form = match adr.form {
        AdrForm::Madr => format!("MADR {}", madr_version(adr)),
        AdrForm::Nygard => "Nygard".to_owned(),
        AdrForm::Helix if adr.front.as_ref().is_some_and(|front| front.adr_id.is_some()) => {
            return Err(ImportError::Already { file: adr.file.clone() });
        }
        AdrForm::Helix => return Err(ImportError::Unknown { file: adr.file.clone() }),
    };
    let (language, heading, record) = (language(&adr.sections), title_heading(&adr.sections), adr.record());
    let title = adr.title().to_owned();
    let mut notes = Vec::new();
    let status = adr.status().unwrap_or_else(|| {
        notes.push(match record.status_text(adr.form, &adr.sections) {
            Some(said) => format!("unknown status {:?}, imported as Proposed", clip(first_line(said), 60)),
            None => "no status found, imported as Proposed".to_owned(),
        });
        Status::Proposed
    });
    let links = links(adr, renumbered);
    let mut text = front_matter(number, &title, status, &record, &links);
    text.push_str(&format!("\n# {title}\n"));
    push_block(&mut text, &with_headings(adr, heading, |kind| kind.heading(language)));
    if adr.section(SectionKind::AcceptanceCriteria).is_none() {
        let criteria = criteria(adr);
        if criteria.is_empty() {
            notes.push("no acceptance criteria found in the original; please add some".to_owned());
        } else {
            push_block(&mut text, &criteria_section(&criteria, language));
        }
    }
    push_block(&mut text, &origin(adr, heading, &title, &record, &form, language));
    Ok(Imported { text, title, status, form, notes })
}

fn madr_version(adr: &Adr) -> u8 {
    let front = adr.source.get(adr.front_range.clone()).unwrap_or_default();
    let has = |name: &str| adr.sections.iter().any(|section| section.heading.eq_ignore_ascii_case(name));
    if front.contains("decision-makers") || has("Confirmation") {
        4
    } else if !front.trim().is_empty() || has("Validation") || has("More Information") {
        3
    } else {
        2
    }
}

/// Numbers by the keys of the front matter.
type Links = BTreeMap<&'static str, BTreeSet<u32>>;

/// The links of an ADR, with the new numbers of those that are converted too. One that is named by its file has no number here.
fn links(adr: &Adr, renumbered: &BTreeMap<u32, u32>) -> Links {
    let mut links = Links::new();
    for (key, ids) in adr.front.iter().flat_map(|front| front.links()) {
        let numbers = ids.iter().filter_map(|id| id.value.number());
        links.entry(key).or_default().extend(numbers.map(|number| *renumbered.get(&number).unwrap_or(&number)));
    }
    links
}

/// Sentences that become criteria: list items of sections that confirm the decision, or their paragraphs.
fn criteria(adr: &Adr) -> Vec<String> {
    let mut found = Vec::new();
    for (number, _) in adr.sections.iter().enumerate().filter(|(_, section)| is_confirming(&section.heading)) {
        let (items, paragraphs) = paragraphs(adr.own_text(number));
        found.extend(if items.is_empty() { paragraphs } else { items });
    }
    found
}

fn front_matter(number: u32, title: &str, status: Status, record: &Record<'_>, links: &Links) -> String {
    let id = AdrId::Number(number).quoted();
    let mut out = format!("---\nadr_id: {id}\ntitle: {}\nstatus: {}\n", quoted(title), status.word());
    if let Some(date) = record.date() {
        out.push_str(&format!("date: {}\n", quoted(date)));
    }
    for (key, numbers) in links.iter().filter(|(_, numbers)| !numbers.is_empty()) {
        let list: Vec<String> = numbers.iter().map(|number| AdrId::Number(*number).quoted()).collect();
        out.push_str(&format!("{key}: [{}]\n", list.join(", ")));
    }
    out.push_str("---\n");
    out
}

fn criteria_section(criteria: &[String], language: Language) -> String {
    let heading = SectionKind::AcceptanceCriteria.heading(language);
    let mut out = format!("## {heading}\n\n");
    for criterion in criteria {
        let _written = writeln!(out, "- [ ] {criterion}");
    }
    out
}

/// Where it came from, and every line that stood outside of sections.
fn origin(
    adr: &Adr,
    heading: Option<&Section>,
    title: &str,
    record: &Record<'_>,
    form: &str,
    language: Language,
) -> String {
    let (name, imported, was) = language.pick(
        ("Original record", "Imported from", "its heading was"),
        ("Ursprüngliche Angaben", "Übernommen aus", "die Überschrift war"),
    );
    let mut out = format!("## {name}\n\n{imported} {}, {form}", code(&adr.file));
    if let Some(heading) = heading.filter(|heading| heading.heading != title) {
        let _written = write!(out, "; {was}: {}", heading.heading);
    }
    out.push_str(".\n");
    for part in [&record.before_title, &record.after_title] {
        push_block(&mut out, &record.text(part).replace("\r\n", "\n"));
    }
    let front = record.text(&record.front);
    if !front.trim().is_empty() {
        let front = front.replace("\r\n", "\n");
        let fence = fence_for(&front);
        push_block(&mut out, &format!("{fence}yaml\n{}\n{fence}", front.trim_matches('\n')));
    }
    out
}

fn code(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect();
    format!("`{plain}`")
}

/// Adds a block with one empty line before it and one line's end after it.
fn push_block(out: &mut String, block: &str) {
    let block = block.trim_matches(['\n', '\r']).trim_end();
    if block.trim().is_empty() {
        return;
    }
    out.truncate(out.trim_end().len());
    out.push_str("\n\n");
    out.push_str(block);
    out.push('\n');
}
