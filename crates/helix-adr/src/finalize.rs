//! Rewrites single values of the front matter and leaves every other byte as it is.
//!
//! Must not write files: it turns one text into another.

use std::collections::HashSet;
use std::ops::Range;

use super::form::{AdrForm, language};
use super::syntax::Adr;
use super::template::quoted;
use super::words::{AdrId, Language, SectionKind, Status};

/// Who has accepted a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// A person, by name.
    pub by: String,
    /// The day, such as `2026-11-23`.
    pub on: String,
}

/// Why an ADR cannot be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file} cannot be changed by Helix: it has no {what}")]
pub struct RewriteError {
    file: String,
    what: &'static str,
}

impl Adr {
    /// The text with another id and state, also in the section Status where that names one, in its language; comments,
    /// order and spacing stay.
    ///
    /// # Errors
    /// [`RewriteError`] when the front matter has no readable `adr_id` or `status`.
    pub fn with_id_and_status(&self, id: AdrId, status: Status) -> Result<String, RewriteError> {
        let id_place = self
            .front
            .as_ref()
            .and_then(|front| front.adr_id.as_ref())
            .ok_or_else(|| self.lacks("front matter with `adr_id`"))?;
        let mut edits = self.status_edits(status)?;
        edits.push((id_place.range.clone(), id.quoted()));
        Ok(replace(&self.source, edits))
    }

    /// The text with the boxes of these criteria ticked, by what they say, and with a state if one is given; everything else
    /// stays.
    ///
    /// # Errors
    /// [`RewriteError`] when a state is given and the front matter has no readable one.
    pub fn with_met_criteria(&self, met: &[String], status: Option<Status>) -> Result<String, RewriteError> {
        let mut edits = match status {
            Some(status) => self.status_edits(status)?,
            None => Vec::new(),
        };
        let met: HashSet<&String> = met.iter().collect();
        for criterion in self.criteria.iter().filter(|one| !one.checked && met.contains(&one.text)) {
            // Without a box, as in other forms, there is nothing to tick.
            let item = self.source.get(criterion.span.range()).unwrap_or_default();
            if let Some(at) = item.find("[ ]").map(|at| criterion.span.start + at) {
                edits.push((at..at + 3, "[x]".to_owned()));
            }
        }
        Ok(replace(&self.source, edits))
    }

    /// The text as a decision that is to be carried out again, with a note at its end: one that was implemented is accepted, and
    /// criteria that were not met at first are open.
    pub fn reopened(&self, before: &Self, note: &str) -> String {
        let implemented = self.status().filter(|status| *status == Status::Implemented);
        let accepted = implemented.and_then(|_| self.status_edits(Status::Accepted).ok());
        let mut edits = accepted.unwrap_or_default();
        let met: HashSet<&String> = before.criteria.iter().filter(|one| one.checked).map(|one| &one.text).collect();
        for criterion in self.criteria.iter().filter(|one| one.checked && !met.contains(&one.text)) {
            let item = self.source.get(criterion.span.start..).unwrap_or_default();
            // The parser has found a box there: the first brackets of the item are its own.
            if let (Some(open), Some(close)) = (item.find('['), item.find(']')) {
                edits.push((criterion.span.start + open + 1..criterion.span.start + close, " ".to_owned()));
            }
        }
        format!("{}\n\n> {note}\n", replace(&self.source, edits).trim_end())
    }

    /// The text as an accepted decision, with who has accepted it; everything else stays.
    ///
    /// # Errors
    /// [`RewriteError`] when the front matter has no readable `status` on a line of its own.
    pub fn with_acceptance(&self, acceptance: &Acceptance) -> Result<String, RewriteError> {
        if self.form != AdrForm::Helix {
            return self.with_status(Status::Accepted);
        }
        let no_status = || self.lacks("front matter with `status` on a line of its own");
        let front = self.front.as_ref().ok_or_else(no_status)?;
        let status = front.status.as_ref().ok_or_else(no_status)?.range.clone();
        let (by, on) = (quoted(&acceptance.by), acceptance.on.clone());
        let mut edits = self.status_edits(Status::Accepted)?;
        let line_end = self.source.get(status.end..).and_then(|rest| rest.find('\n')).map(|length| status.end + length);
        let line_end = line_end.ok_or_else(no_status)?;
        let mut added = String::new();
        for (key, known, value) in [("accepted_by", &front.accepted_by, by), ("accepted_on", &front.accepted_on, on)] {
            match known {
                Some(known) => edits.push((known.range.clone(), value)),
                None => added.push_str(&format!("\n{key}: {value}")),
            }
        }
        edits.push((line_end..line_end, added));
        let text = replace(&self.source, edits);
        // Front matter of another form, such as a mapping in braces, has no line for it.
        let read = Self::parse(&self.file, &text);
        let said = read.front.as_ref().and_then(|front| front.accepted_by.as_ref()).map(|by| by.value.trim());
        if said.is_some_and(|by| !by.is_empty()) && read.status() == Some(Status::Accepted) {
            Ok(text)
        } else {
            Err(no_status())
        }
    }

    /// How the front matter is made to say it, and the section Status where that names a state.
    pub(super) fn status_edits(&self, status: Status) -> Result<Vec<(Range<usize>, String)>, RewriteError> {
        if self.form != AdrForm::Helix {
            return Ok(self.state_edits(&self.form.status_word(status, language(&self.sections))));
        }
        let lacks = || self.lacks("front matter with `status`");
        let said = self.front.as_ref().and_then(|front| front.status.as_ref()).ok_or_else(lacks)?;
        let mut edits = vec![(said.range.clone(), status.word().to_owned())];
        let section = self.section(SectionKind::Status);
        let word = section.and_then(|section| status_word(&self.source, section.body.clone()));
        edits.extend(word.map(|(place, _, language)| (place, status.word_in(language).to_owned())));
        Ok(edits)
    }

    pub(super) fn lacks(&self, what: &'static str) -> RewriteError {
        RewriteError { file: self.file.clone(), what }
    }
}

/// The word that names the state at the beginning of a section Status: its place, what it means and its language.
pub(super) fn status_word(text: &str, body: Range<usize>) -> Option<(Range<usize>, Status, Language)> {
    let inside = text.get(body.clone())?;
    let start = inside.find(char::is_alphabetic)?;
    let rest = inside.get(start..)?;
    let length = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let (status, language) = Status::named(rest.get(..length)?)?;
    Some((body.start + start..body.start + start + length, status, language))
}

/// Replaces ranges, which do not overlap.
pub(super) fn replace(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for (range, new) in edits {
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(&new);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
