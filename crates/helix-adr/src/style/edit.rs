//! Changes the state of a decision and its links to others, in the words and at the places of its own form.
//!
//! Must not write files: it turns one text into another, and leaves every other byte as it is.

use std::ops::Range;

use crate::file_name::name_parts;
use crate::finalize::{RewriteError, replace};
use crate::form::{AdrForm, LINKS, Record, first_line, language, title_heading};
use crate::graph::Link;
use crate::syntax::Adr;
use crate::words::{AdrId, Language, SectionKind, Status};

type Edits = Vec<(Range<usize>, String)>;

impl Adr {
    /// The text with another state; everything else stays.
    ///
    /// # Errors
    /// [`RewriteError`] when there is no place where it could be said.
    pub fn with_status(&self, status: Status) -> Result<String, RewriteError> {
        let text = replace(&self.source, self.status_edits(status)?);
        self.certain(text, |now| now.status() == Some(status))
    }

    /// The text as a decision that another one has replaced, which it names.
    ///
    /// # Errors
    /// [`RewriteError`] when there is no place where that could be said.
    pub fn superseded_by(&self, other: &Self) -> Result<String, RewriteError> {
        let edits = match self.form {
            AdrForm::Helix => [self.status_edits(Status::Superseded)?, self.listed("superseded_by", other)?].concat(),
            AdrForm::Madr | AdrForm::Nygard => {
                let by = match self.form.status_word(Status::Superseded, language(&self.sections)) {
                    german if german.eq_ignore_ascii_case("ersetzt") => format!("{german} durch"),
                    english => format!("{english} by"),
                };
                self.state_edits(&format!("{by} {}", reference(self.form, other)))
            }
        };
        let text = replace(&self.source, edits);
        let named = |now: &Self| now.front.as_ref().is_some_and(|front| names(&front.superseded_by, other));
        self.certain(text, |now| now.status() == Some(Status::Superseded) && named(now))
    }

    /// The text with a link to another decision; one that is there already stays the only one.
    ///
    /// # Errors
    /// [`RewriteError`] when there is no place where that could be said.
    pub fn linked(&self, link: Link, other: &Self) -> Result<String, RewriteError> {
        let list = |adr: &Self| {
            let front = adr.front.as_ref()?;
            Some(match link {
                Link::Supersedes => names(&front.supersedes, other),
                Link::DependsOn => names(&front.depends_on, other),
                Link::Related => names(&front.related_to, other),
            })
        };
        if list(self) == Some(true) {
            return Ok(self.source.clone());
        }
        let edits = match self.form {
            AdrForm::Helix => {
                let key = match link {
                    Link::Supersedes => "supersedes",
                    Link::DependsOn => "depends_on",
                    Link::Related => "related_to",
                };
                self.listed(key, other)?
            }
            AdrForm::Madr | AdrForm::Nygard => self.link_edits(link, other),
        };
        self.certain(replace(&self.source, edits), |now| list(now) == Some(true))
    }

    /// A changed text, if it says what it was changed to say.
    fn certain(&self, text: String, says: impl Fn(&Self) -> bool) -> Result<String, RewriteError> {
        if says(&Self::parse(&self.file, &text)) { Ok(text) } else { Err(self.lacks("a place for it")) }
    }

    /// How a file of another form is made to say its state in these words.
    pub(crate) fn state_edits(&self, words: &str) -> Edits {
        let record = self.record();
        if let Some(said) = record.status_text(self.form, &self.sections) {
            return vec![(record.place(first_line(said)), words.to_owned())];
        }
        let (at, line) = match (self.form, title_heading(&self.sections)) {
            (AdrForm::Madr | AdrForm::Helix, _) if !self.front_range.is_empty() => {
                let first = self.source[self.front_range.clone()].find('\n').map_or(0, |line| line + 1);
                (self.front_range.start + first, format!("status: {words}\n"))
            }
            (AdrForm::Madr | AdrForm::Helix, Some(title)) => {
                (title.heading_range.end, format!("\n\n{} Status: {words}", self.bullet()))
            }
            (AdrForm::Nygard, Some(title)) => (title.heading_range.end, format!("\n\n## Status\n\n{words}")),
            (_, None) => (self.front_range.end, format!("## Status\n\n{words}\n\n")),
        };
        vec![(at..at, line)]
    }

    /// What begins the items of its lists.
    pub(super) fn bullet(&self) -> char {
        if self.body().lines().any(|line| line.starts_with("* ")) { '*' } else { '-' }
    }

    fn link_edits(&self, link: Link, other: &Self) -> Edits {
        let language = language(&self.sections);
        let saying = match link {
            Link::Supersedes => language.pick("Supersedes", "Ersetzt"),
            Link::DependsOn => language.pick("Depends on", "Hängt ab von"),
            Link::Related => language.pick("Related to", "Siehe"),
        };
        let said = format!("{saying} {}", reference(self.form, other));
        let end_of = |range: &Range<usize>| range.start + self.source[range.clone()].trim_end().len();
        let status = self.sections.iter().position(|section| section.kind == Some(SectionKind::Status));
        if let (AdrForm::Nygard, Some(status)) = (self.form, status) {
            let own = self.own_text(status);
            let start = self.sections[status].body.start;
            let at = end_of(&(start..start + own.len()));
            return vec![(at..at, format!("\n\n{said}"))];
        }
        let bullet = self.bullet();
        let listed = |name: &str| LINKS.contains(&name.to_lowercase().as_str());
        if let Some(links) = self.sections.iter().find(|section| listed(&section.heading)) {
            let at = end_of(&links.body);
            let text = &self.source[links.body.clone()];
            let gap = match text.trim_end().rsplit('\n').next() {
                Some(last) if last.trim_start().starts_with(['*', '-']) => "\n",
                Some(_) | None => "\n\n",
            };
            return vec![(at..at, format!("{gap}{bullet} {said}"))];
        }
        let heading = match (self.form, self.front_range.is_empty(), language) {
            (AdrForm::Madr, false, Language::English) => "More Information",
            (AdrForm::Madr, false, Language::German) => "Weitere Informationen",
            _ => "Links",
        };
        let end = self.source.trim_end().len();
        vec![(end..self.source.len(), format!("\n\n## {heading}\n\n{bullet} {said}\n"))]
    }

    /// How Helix's front matter is made to list another decision under a key.
    fn listed(&self, key: &'static str, other: &Self) -> Result<Edits, RewriteError> {
        let no_list = || self.lacks("front matter with `status` on a line of its own");
        let front = self.front.as_ref().ok_or_else(no_list)?;
        let id = other.decided_id().ok_or_else(no_list)?.quoted();
        let known = front.links().into_iter().find(|(name, _)| *name == key).map(|(_, ids)| ids).unwrap_or_default();
        if names(known, other) {
            return Ok(Vec::new());
        }
        let line_end = |from: usize| self.source[from..].find('\n').map_or(self.source.len(), |length| from + length);
        let Some(last) = known.last() else {
            // An empty list has no place of its own: it is replaced by one with an item.
            let name = format!("\n{key}:");
            let Some(at) = self.source[self.front_range.clone()].find(&name) else {
                let at = line_end(front.status.as_ref().ok_or_else(no_list)?.range.end);
                return Ok(vec![(at..at, format!("{name} [{id}]"))]);
            };
            let start = self.front_range.start + at + name.len();
            let value = self.source[start..line_end(start)].split(" #").next().unwrap_or_default().trim_end();
            return match value.trim_start() {
                "" | "[]" | "~" | "null" => Ok(vec![(start..start + value.len(), format!(" [{id}]"))]),
                // Somebody's words.
                _ => Err(self.lacks("readable list of decisions where the link belongs")),
            };
        };
        let line = self.source[..last.range.start].rfind('\n').map_or(0, |at| at + 1);
        let before = &self.source[line..last.range.start];
        let rest = self.source[last.range.end..].trim_start_matches([' ', ',']);
        let at = last.range.end;
        Ok(if before.trim() == "-" {
            let at = line_end(at);
            vec![(at..at, format!("\n{before}{id}"))]
        } else if before.contains('[') || rest.starts_with(']') {
            vec![(at..at, format!(", {id}"))]
        } else {
            let written = self.source[last.range.clone()].to_owned();
            vec![(last.range.clone(), format!("[{written}, {id}]"))]
        })
    }

    /// What the file says outside of its sections.
    pub(crate) fn record(&self) -> Record<'_> {
        Record::read(&self.source, self.front_inner.clone(), self.front_range.end, &self.sections)
    }
}

fn names(ids: &[helix_core::document::Placed<AdrId>], other: &Adr) -> bool {
    let id = other.decided_id();
    ids.iter().any(|known| Some(&known.value) == id.as_ref())
}

/// A link to a decision that lies beside this one, as the form writes it.
fn reference(form: AdrForm, other: &Adr) -> String {
    let file = other.file.rsplit('/').next().unwrap_or(&other.file);
    let stem = file.strip_suffix(".md").unwrap_or(file);
    let (_, digits, _) = name_parts(stem);
    let text = match (form, other.decided_id()) {
        (AdrForm::Nygard, Some(AdrId::Number(number))) => format!("{number}. {}", other.title()),
        (AdrForm::Madr, Some(AdrId::Number(_))) if !digits.is_empty() => format!("ADR-{digits}"),
        _ => stem.to_owned(),
    };
    let plain: String = text.chars().map(|c| if matches!(c, '[' | ']' | '\n' | '\r') { ' ' } else { c }).collect();
    let target = file.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
    format!("[{plain}]({target})")
}
