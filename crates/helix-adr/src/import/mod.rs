//! Turns MADR (2, 3, 4) and Nygard files into Helix's form without losing a sentence.
//!
//! Must not write files or allocate numbers: it turns one text into another. What has no home in the form stays in sections of
//! its own; metadata goes, word for word, to a section at the end.

mod links;
mod record;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use helix_core::finding::fence_for;

use super::file_name::{name_parts, number_of_file_name};
use super::syntax::{Adr, AdrForm, Section};
use super::template::quoted;
use super::words::{AdrId, Language, SectionKind, Status};
use links::{Links, links};
use record::Record;

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

/// The number that a foreign ADR has: by its file's name, or by its heading.
pub fn foreign_number(adr: &Adr) -> Option<u32> {
    let (_, digits, rest) = name_parts(adr.file.rsplit(['/', '\\']).next().unwrap_or(&adr.file));
    // adr-tools writes four digits, others fewer: here the form is no question, only the number.
    let short = digits.parse().ok().filter(|_| rest.starts_with('-'));
    number_of_file_name(&adr.file).or(short).or_else(|| heading_number(&title_heading(adr)?.heading).0)
}

/// Converts an ADR. `renumbered` gives the new numbers of those that are converted with it, for the links between them.
///
/// # Errors
/// [`ImportError`] when it is no MADR or Nygard file.
pub fn import(adr: &Adr, id: AdrId, renumbered: &BTreeMap<u32, u32>) -> Result<Imported, ImportError> {
    let form = match adr.form {
        AdrForm::Madr => format!("MADR {}", madr_version(adr)),
        AdrForm::Nygard => "Nygard".to_owned(),
        AdrForm::Helix if adr.front.as_ref().is_some_and(|front| front.adr_id.is_some()) => {
            return Err(ImportError::Already { file: adr.file.clone() });
        }
        AdrForm::Helix => return Err(ImportError::Unknown { file: adr.file.clone() }),
    };
    let language = language(adr);
    let heading = title_heading(adr);
    let title = match heading {
        Some(heading) => heading_number(&heading.heading).1.to_owned(),
        None => adr.title().to_owned(),
    };
    let record = Record::read(adr, heading);
    let mut notes = Vec::new();
    let status = record.status(adr).unwrap_or_else(|said| {
        notes.push(match said {
            Some(said) => format!("unknown status {said:?}, imported as Proposed"),
            None => "no status found, imported as Proposed".to_owned(),
        });
        Status::Proposed
    });
    let links = links(adr, &record, renumbered);
    let mut text = front_matter(id, &title, status, &record, &links);
    text.push_str(&format!("\n# {title}\n"));
    push_block(&mut text, &body(adr, heading, language));
    if adr.criteria.is_empty() {
        let criteria = record::criteria(adr);
        if criteria.is_empty() {
            notes.push("no acceptance criteria found in the original; please add some".to_owned());
        }
        push_block(&mut text, &criteria_section(&criteria, language));
    }
    push_block(&mut text, &origin(adr, heading, &title, &record, &form, language));
    Ok(Imported { text, title, status, form, notes })
}

/// The heading with the title: the first one, if it is of level 1.
fn title_heading(adr: &Adr) -> Option<&Section> {
    adr.sections.first().filter(|section| section.level == 1)
}

/// Number and text of a heading such as `12. Use CSV` or `ADR-0012: Use CSV`.
fn heading_number(heading: &str) -> (Option<u32>, &str) {
    let after_word = ["ADR-", "adr-", "ADR ", "adr ", "ADR", "adr"].iter().find_map(|word| heading.strip_prefix(word));
    let rest = after_word.unwrap_or(heading);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, tail) = rest.split_at(digits);
    let separated = tail.trim_start_matches([' ', '\t']);
    let shorter = separated.strip_prefix(['.', ':', ')', '-', '–', '—']).filter(|text| text.starts_with(' '));
    let title = match (shorter, after_word) {
        (Some(title), _) => title.trim(),
        (None, Some(_)) if tail.starts_with(' ') => separated.trim(),
        (None, _) => return (None, heading),
    };
    match number.parse() {
        Ok(number) if !title.is_empty() => (Some(number), title),
        Ok(_) | Err(_) => (None, heading),
    }
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

fn language(adr: &Adr) -> Language {
    let german = ["kontext", "entscheidung", "konsequenzen", "folgen"];
    let found = adr.sections.iter().any(|section| {
        let lower = section.heading.to_lowercase();
        german.iter().any(|word| lower.starts_with(word))
    });
    if found { Language::German } else { Language::English }
}

fn front_matter(id: AdrId, title: &str, status: Status, record: &Record<'_>, links: &Links) -> String {
    let id = match id {
        AdrId::Number(number) => format!("\"{number:03}\""),
        AdrId::Draft => "draft".to_owned(),
    };
    let mut out = format!("---\nadr_id: {id}\ntitle: {}\nstatus: {}\n", quoted(title), status.word());
    if let Some(date) = record.date() {
        out.push_str(&format!("date: {}\n", quoted(date)));
    }
    for (key, numbers) in links.iter().filter(|(_, numbers)| !numbers.is_empty()) {
        let list: Vec<String> = numbers.iter().map(|number| format!("\"{number:03}\"")).collect();
        out.push_str(&format!("{key}: [{}]\n", list.join(", ")));
    }
    out.push_str("---\n");
    out
}

/// The text below the title from the first other heading on; headings that Helix names otherwise get its name.
fn body(adr: &Adr, title: Option<&Section>, language: Language) -> String {
    let first = usize::from(title.is_some());
    let Some(from) = adr.sections.get(first).map(|section| section.heading_range.start) else { return String::new() };
    let mut out = String::new();
    let mut done = from;
    let mut named: Vec<SectionKind> = Vec::new();
    for section in &adr.sections[first..] {
        let Some(kind) = section.kind.filter(|kind| !named.contains(kind)) else { continue };
        named.push(kind);
        let wanted = kind.heading(language);
        // A heading that Helix knows under this name stays as it was typed, with its language.
        if SectionKind::is_written(&section.heading, kind) {
            continue;
        }
        out.push_str(adr.source.get(done..section.heading_range.start).unwrap_or_default());
        let _written = write!(out, "{} {wanted}", "#".repeat(usize::from(section.level)));
        done = section.heading_range.end;
    }
    out.push_str(adr.source.get(done..).unwrap_or_default());
    out.replace("\r\n", "\n")
}

/// What an author is asked for where a record names no criterion.
pub(super) fn unknown_criterion(language: Language) -> &'static str {
    language.pick(
        "- [ ] <action> → <expected result> — test: `<tests/test_x.py::test_y>`",
        "- [ ] <Aktion> → <erwartetes Ergebnis> — Test: `<tests/test_x.py::test_y>`",
    )
}

fn criteria_section(criteria: &[String], language: Language) -> String {
    let heading = SectionKind::AcceptanceCriteria.heading(language);
    let mut out = format!("## {heading}\n\n");
    if criteria.is_empty() {
        let _written = writeln!(out, "{}", unknown_criterion(language));
    }
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
    for part in [record.before_title, record.after_title] {
        push_block(&mut out, &part.replace("\r\n", "\n"));
    }
    if !record.front.trim().is_empty() {
        let front = record.front.replace("\r\n", "\n");
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
