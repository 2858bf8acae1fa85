//! New decisions in a form, and a decision of one form in the headings of another.
//!
//! Must not know numbers or days: they come from the caller.

use std::fmt::Write as _;

use super::Style;
use crate::file_name::Numbering;
use crate::finalize::replace;
use crate::form::{AdrForm, language, title_heading};
use crate::syntax::Adr;
use crate::template::{hint, quoted};
use crate::tree::Section;
use crate::words::{AdrId, Language, SectionKind, Status};

const KEPT: [&str; 5] = ["files", "depends_on", "related_to", "supersedes", "superseded_by"];

/// The name by which a new decision is read.
const NEW: &str = "new.md";

/// What names a new decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Naming<'a> {
    /// Its number, where the style counts.
    pub number: u32,
    /// The day, such as `2026-11-27`.
    pub day: &'a str,
}

impl Naming<'_> {
    /// The id that a decision has in a style.
    pub fn id(&self, style: Style, slug: &str) -> AdrId {
        match style.numbering {
            Numbering::Digits(_) => AdrId::Number(self.number),
            Numbering::Dated => AdrId::Named(format!("{}-{slug}", self.day.replace('-', "")).into()),
        }
    }
}

impl Style {
    /// A new decision of this title, a proposal; what stands in `<…>` is for the author to fill in.
    pub fn draft(self, title: &str, naming: &Naming<'_>) -> String {
        let mut out = self.head(title, naming, Status::Proposed, "");
        for (kind, level, text) in sections(self) {
            let (english, german) = self.form.headings(kind);
            let _written = write!(out, "\n{level} {}\n\n{text}", self.language.pick(english, german));
        }
        out
    }

    /// A new decision from the template of its directory: with the words of adr-tools (`NUMBER`, `TITLE`, `DATE`, `STATUS`), or with a
    /// heading, a state and a day to replace. `None` where that does not give a proposal in another form than Helix's.
    pub fn filled(self, template: &str, title: &str, naming: &Naming<'_>) -> Option<String> {
        let title = title.replace(['\n', '\r'], " ");
        let number = match self.numbering {
            Numbering::Digits(_) => naming.number.to_string(),
            Numbering::Dated => String::new(),
        };
        let text = if template.contains("TITLE") {
            let word = self.form.status_word(Status::Proposed, self.language);
            let text = template.replace("NUMBER", &number).replace("DATE", naming.day).replace("STATUS", &word);
            text.replace("TITLE", &title)
        } else {
            let adr = Adr::parse(NEW, template);
            let (record, heading) = (adr.record(), title_heading(&adr.sections)?);
            let number = if adr.form == AdrForm::Nygard && !number.is_empty() { number + ". " } else { String::new() };
            let mut edits = adr.status_edits(Status::Proposed).ok()?;
            edits.push((heading.heading_range.clone(), format!("# {number}{title}")));
            edits.extend(record.date().map(|date| (record.place(date), naming.day.to_owned())));
            replace(template, edits)
        };
        let made = Adr::parse(NEW, &text);
        let is_proposal = made.status() == Some(Status::Proposed) && made.title() == title.trim();
        (made.form != AdrForm::Helix && is_proposal).then_some(text)
    }

    /// A decision as it is written in this style: its facts, then its sections under their headings here. Keys that Helix reads in
    /// every form are kept.
    pub fn written(self, adr: &Adr, naming: &Naming<'_>) -> String {
        let style = Self { language: language(&adr.sections), ..self };
        let front = if adr.form == AdrForm::Helix { kept_front(adr) } else { String::new() };
        let mut out = style.head(adr.title(), naming, adr.status().unwrap_or(Status::Proposed), &front);
        let title = title_heading(&adr.sections);
        let body = with_headings(adr, title, |kind| {
            let (english, german) = style.form.headings(kind);
            style.language.pick(english, german)
        });
        let body = body.trim();
        if !body.is_empty() {
            let _written = write!(out, "\n{body}\n");
        }
        out
    }

    /// Facts and title.
    fn head(self, title: &str, naming: &Naming<'_>, status: Status, front: &str) -> String {
        let (title, day, bullet) = (title.replace(['\n', '\r'], " "), naming.day, self.bullet);
        let word = self.form.status_word(status, self.language);
        let extra = if front.is_empty() { String::new() } else { format!("---\n{front}---\n\n") };
        match (self.form, self.front) {
            (AdrForm::Helix, _) => format!(
                "---\nadr_id: draft\ntitle: {}\nstatus: {}\n{front}---\n\n# {title}\n",
                quoted(&title),
                status.word()
            ),
            (AdrForm::Madr, true) => format!("---\nstatus: {word}\ndate: {day}\n{front}---\n\n# {title}\n"),
            (AdrForm::Madr, false) => {
                format!("{extra}# {title}\n\n{bullet} Status: {word}\n{bullet} Date: {day}\n")
            }
            (AdrForm::Nygard, _) => {
                let number = match self.numbering {
                    Numbering::Digits(_) => format!("{}. ", naming.number),
                    Numbering::Dated => String::new(),
                };
                format!("{extra}# {number}{title}\n\nDate: {day}\n\n## Status\n\n{word}\n")
            }
        }
    }
}

/// The lines of the keys that Helix reads in every form, as they are written.
fn kept_front(adr: &Adr) -> String {
    let (mut out, mut keep) = (String::new(), false);
    for line in adr.source.get(adr.front_inner.clone()).unwrap_or_default().lines() {
        if !line.starts_with([' ', '\t', '-', '#']) && !line.trim().is_empty() {
            keep = line.split_once(':').is_some_and(|(key, _)| KEPT.contains(&key.trim()));
        }
        if keep {
            let _written = writeln!(out, "{line}");
        }
    }
    out
}

/// The sections of a new decision, with the level of their headings and what they ask for.
fn sections(style: Style) -> Vec<(SectionKind, &'static str, String)> {
    let pick =
        |english: &str, german: &str| style.language.pick(english, german).replace("* ", &format!("{} ", style.bullet));
    let plain = |kind| (kind, "##", hint(kind, style.language).to_owned());
    match style.form {
        AdrForm::Helix | AdrForm::Nygard => {
            [SectionKind::Context, SectionKind::Decision, SectionKind::Consequences].map(plain).into()
        }
        AdrForm::Madr => {
            let options = pick(
                "* <the first option>\n* <another option>\n",
                "* <die erste Möglichkeit>\n* <eine andere Möglichkeit>\n",
            );
            let outcome = pick(
                "Chosen option: \"<the first option>\", because <why this one>.\n",
                "Gewählte Option: \"<die erste Möglichkeit>\", denn <warum diese>.\n",
            );
            let consequences = pick(
                "* Good, because <what gets better>\n* Bad, because <what gets worse>\n",
                "* Gut, weil <was besser wird>\n* Schlecht, weil <was schlechter wird>\n",
            );
            vec![
                plain(SectionKind::Context),
                (SectionKind::Options, "##", options),
                (SectionKind::Decision, "##", outcome),
                (SectionKind::Consequences, "###", consequences),
            ]
        }
    }
}

/// What new decisions of every form ask their authors for.
pub(crate) fn hints() -> impl Iterator<Item = String> {
    let languages = [Language::English, Language::German];
    let styles = languages
        .into_iter()
        .flat_map(|language| [Style::MADR, Style::NYGARD].map(|style| Style { language, ..style }));
    styles.flat_map(|style| sections(style).into_iter().map(|(_, _, text)| text))
}

/// The text below the title from the first other heading on; headings that are named otherwise there get their name.
pub(crate) fn with_headings(adr: &Adr, title: Option<&Section>, name: impl Fn(SectionKind) -> &'static str) -> String {
    let first = usize::from(title.is_some());
    let Some(from) = adr.sections.get(first).map(|section| section.heading_range.start) else { return String::new() };
    let mut edits = Vec::new();
    let mut named: Vec<SectionKind> = Vec::new();
    for section in &adr.sections[first..] {
        let Some(kind) = section.kind.filter(|kind| !named.contains(kind)) else { continue };
        named.push(kind);
        let wanted = name(kind);
        // A heading that is known under this name stays as it was typed.
        let typed = section.heading.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        if !typed.starts_with(&wanted.to_lowercase()) {
            edits.push((section.heading_range.clone(), format!("{} {wanted}", "#".repeat(usize::from(section.level)))));
        }
    }
    edits.push((0..from, String::new()));
    replace(&adr.source, edits).replace("\r\n", "\n")
}
