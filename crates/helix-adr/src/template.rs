//! The ADR that an author starts from, generated from the rules so that it cannot contradict them.
//!
//! Must not know the date or the next number: a template is a draft.

use helix_core::document::Placed;

use super::complete::holds;
use super::front_matter::FrontMatter;
use super::rules::built_in_rules;
use super::words::{AdrId, ChangeScope, Classification, ComponentType, Language, SectionKind};

/// What the new ADR is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateRequest {
    /// Language of headings and hints.
    pub language: Language,
    pub title: String,
    pub component_type: ComponentType,
    pub classification: Classification,
    pub change_scope: ChangeScope,
    /// Files to be created, relative to the root.
    pub creates: Vec<String>,
}

/// A draft; what stands in `<…>` is for the author to fill in. Filled in, it is valid and complete.
pub fn template(request: &TemplateRequest) -> String {
    let mut out = String::from("---\nadr_id: draft\n");
    out.push_str(&format!("title: {}\n", quoted(&request.title)));
    out.push_str("status: Proposed\n");
    out.push_str(&format!("component_type: {}\n", request.component_type.word()));
    out.push_str(&format!("classification: {}\n", request.classification.word()));
    out.push_str(&format!("change_scope: {}\n", request.change_scope.word()));
    if !request.creates.is_empty() {
        out.push_str("files:\n  create:\n");
        for file in &request.creates {
            out.push_str(&format!("    - {}\n", quoted(file)));
        }
    }
    out.push_str("---\n\n");
    out.push_str(&format!("# {}\n", request.title.replace(['\n', '\r'], " ")));

    let front = front_of(request);
    let offers: Vec<_> = built_in_rules()
        .into_iter()
        .filter(|rule| rule.when.iter().all(|condition| holds(condition, &front, None)))
        .filter_map(|rule| rule.offer)
        .collect();
    for kind in SectionKind::ALL {
        let mut own: Vec<&str> =
            offers.iter().filter(|offer| offer.section == kind).map(|offer| offer.text(request.language)).collect();
        // What every rule wants comes before what this kind of change wants.
        if kind == SectionKind::AcceptanceCriteria {
            own.reverse();
        }
        // The front matter holds the state; a second place for it would drift.
        if kind == SectionKind::Status || (kind == SectionKind::Migration && own.is_empty()) {
            continue;
        }
        let hint = hint(kind, request.language);
        out.push_str(&format!("\n## {}\n\n{hint}", kind.heading(request.language)));
        if kind == SectionKind::Implementation && !request.creates.is_empty() {
            out.push('\n');
            for file in &request.creates {
                out.push_str(&format!("- `{file}`: {}\n", file_hint(request.language)));
            }
        }
        for text in own {
            out.push_str(text);
        }
    }
    out
}

/// What a section asks its author for; empty where only rules ask for something.
pub(super) fn hint(kind: SectionKind, language: Language) -> &'static str {
    let (english, german) = match kind {
        SectionKind::Status | SectionKind::Migration | SectionKind::AcceptanceCriteria => ("", ""),
        SectionKind::Context => ("<what is the problem, and for whom>\n", "<was das Problem ist, und für wen>\n"),
        SectionKind::Options => (
            "- <an option>: <what speaks for and against it>\n",
            "- <eine Möglichkeit>: <was dafür und dagegen spricht>\n",
        ),
        SectionKind::Decision => ("<what is done, and why this way>\n", "<was getan wird, und warum so>\n"),
        SectionKind::Implementation => ("<which parts change, and how>\n", "<welche Teile sich wie ändern>\n"),
        SectionKind::Documentation => {
            ("<which documentation changes, and how>\n", "<welche Dokumentation sich wie ändert>\n")
        }
        SectionKind::Consequences => ("<what gets better, what gets worse>\n", "<was besser wird, was schlechter>\n"),
    };
    language.pick(english, german)
}

/// What is asked of each new file.
pub(super) fn file_hint(language: Language) -> &'static str {
    language.pick("<what it holds>", "<was sie enthält>")
}

fn front_of(request: &TemplateRequest) -> FrontMatter {
    fn placed<T>(value: T) -> Placed<T> {
        Placed::new(value, 0..0)
    }
    let mut front = FrontMatter {
        component_type: Some(placed(request.component_type)),
        classification: Some(placed(request.classification)),
        change_scope: Some(placed(request.change_scope)),
        ..FrontMatter::default()
    };
    front.files.create = request.creates.iter().cloned().map(placed).collect();
    front
}

/// A YAML text in double quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace(char::is_control, " "))
}

impl AdrId {
    /// As front matter has it: quoted, so that no reader takes 012 for a number.
    pub(super) fn quoted(&self) -> String {
        match self {
            Self::Number(number) => format!("\"{number:03}\""),
            Self::Named(name) => quoted(name),
            Self::Draft => self.to_string(),
        }
    }
}
