//! The one evaluator of completeness rules.
//!
//! Must not know any rule; its cost is linear in the text for each phrase that a rule asks for.

use std::collections::HashSet;
use std::ops::Range;

use helix_core::diagnostic::Diagnostic;
use helix_core::document::Placed;
use helix_core::source_text::{SourceText, sort_by_place};

use super::codes;
use super::file_name::mentions;
use super::form::AdrForm;
use super::front_matter::FrontMatter;
use super::rules::{Condition, Requirement, Rule};
use super::syntax::Adr;
use super::words::{AdrId, SectionKind};

/// Measures an ADR by completeness rules; each requirement that is not met is one diagnostic.
pub fn complete(adr: &Adr, rules: &[Rule]) -> Vec<Diagnostic> {
    let source = SourceText::new(&adr.file, &adr.source);
    let lower = Lowered::new(adr);
    let nothing = FrontMatter::default();
    let front = adr.front.as_ref().unwrap_or(&nothing);
    let mut problems: Vec<Diagnostic> = Vec::new();
    for rule in rules.iter().filter(|rule| {
        can_be_kept(rule, adr.form) && rule.when.iter().all(|condition| holds(condition, front, Some(&lower)))
    }) {
        for requirement in &rule.require {
            if let Some((message, range)) = unmet(requirement, adr, front, &lower) {
                let mut problem = source.error(codes::INCOMPLETE, range, format!("{}: {message}", rule.id));
                problem.severity = rule.severity;
                problems.push(problem.help(rule.fix.clone()));
            }
        }
    }
    sort_by_place(&mut problems);
    problems
}

/// Whether what a rule asks for can stand in a file of this form: no other form than Helix's has criteria.
fn can_be_kept(rule: &Rule, form: AdrForm) -> bool {
    form == AdrForm::Helix || !rule.require.iter().any(|one| matches!(one, Requirement::Criteria { .. }))
}

/// Whether a condition holds; those on the text never do while there is no text (for templates).
pub(super) fn holds(condition: &Condition, front: &FrontMatter, text: Option<&Lowered>) -> bool {
    match condition {
        Condition::Scope(scope) => front.change_scope.as_ref().is_some_and(|own| own.value == *scope),
        Condition::Classification(class) => front.classification.as_ref().is_some_and(|own| own.value == *class),
        Condition::Component(component) => front.component_type.as_ref().is_some_and(|own| own.value == *component),
        Condition::CreatesFiles => !front.files.create.is_empty(),
        Condition::DependsOnOthers => !front.depends_on.is_empty(),
        Condition::Mentions { any, except } => text.is_some_and(|text| {
            let mut body = text.body.clone();
            for range in except.iter().flat_map(|phrase| occurrences(&text.body, phrase).collect::<Vec<_>>()) {
                body.replace_range(range.clone(), &" ".repeat(range.len()));
            }
            any.iter().any(|phrase| occurrences(&body, phrase).next().is_some())
        }),
    }
}

/// The texts of an ADR in lower case, made once.
pub(super) struct Lowered {
    body: String,
    sections: Vec<(SectionKind, String)>,
}

impl Lowered {
    fn new(adr: &Adr) -> Self {
        let text = |kind| Some((kind, adr.section_text(kind)?.to_lowercase()));
        Self { body: adr.body().to_lowercase(), sections: SectionKind::ALL.into_iter().filter_map(text).collect() }
    }

    fn section(&self, kind: SectionKind) -> Option<&str> {
        self.sections.iter().find(|(own, _)| *own == kind).map(|(_, text)| text.as_str())
    }
}

fn unmet(requirement: &Requirement, adr: &Adr, front: &FrontMatter, lower: &Lowered) -> Option<(String, Range<usize>)> {
    let place = |kind: SectionKind| adr.section(kind).map_or(top(adr), |section| section.heading_range.clone());
    match requirement {
        Requirement::Section { section, min_length } => match lower.section(*section) {
            None => Some((format!("the section {} is missing", name(*section)), top(adr))),
            Some(text) => {
                let length = text.trim().chars().take(*min_length).count();
                let message =
                    format!("the section {} has {length} characters, needs at least {min_length}", name(*section));
                (length < *min_length).then(|| (message, place(*section)))
            }
        },
        Requirement::Phrase { any, section } => {
            let text = match section {
                Some(kind) => lower.section(*kind).unwrap_or_default(),
                None => &lower.body,
            };
            let found = any.iter().any(|phrase| occurrences(text, phrase).next().is_some());
            let shown: Vec<&str> = any.iter().map(|phrase| phrase.trim_end_matches('*')).collect();
            let (place, place_name) = match section {
                Some(kind) => (place(*kind), format!("the section {}", name(*kind))),
                None => (top(adr), "the text".into()),
            };
            (!found).then(|| (format!("{place_name} contains none of: {}", shown.join(", ")), place))
        }
        Requirement::CodeBlock { languages } => {
            let found = adr.code_blocks.iter().any(|block| languages.is_empty() || languages.contains(&block.language));
            let which = if languages.is_empty() { String::new() } else { format!(" in {}", languages.join(" or ")) };
            (!found).then(|| (format!("no code block{which}"), place(SectionKind::Implementation)))
        }
        Requirement::Criteria { min } => {
            let count = adr.criteria.len();
            let criteria = if count == 1 { "criterion" } else { "criteria" };
            let message = format!("{count} acceptance {criteria}, needs at least {min}");
            (count < *min).then(|| (message, place(SectionKind::AcceptanceCriteria)))
        }
        Requirement::DependenciesNamed => {
            let named: HashSet<u32> = mentions(&lower.body).into_iter().map(|(_, number)| number).collect();
            let unnamed = |id: &&Placed<AdrId>| matches!(id.value, AdrId::Number(number) if !named.contains(&number));
            let id = front.depends_on.iter().find(unnamed)?;
            Some((format!("{} is in `depends_on` but not mentioned in the text", id.value), id.range.clone()))
        }
        Requirement::CreatedFilesNamed { section } => {
            let text = lower.section(*section).unwrap_or_default();
            let mentions = Mentions::new(text);
            front.files.create.iter().find_map(|file| {
                let message = format!("`{}` is not named in the section {}", file.value, name(*section));
                (!mentions.has(&file.value.to_lowercase())).then(|| (message, file.range.clone()))
            })
        }
    }
}

fn name(kind: SectionKind) -> &'static str {
    kind.heading(super::words::Language::English)
}

fn top(adr: &Adr) -> Range<usize> {
    adr.sections.first().map_or(0..0, |section| section.heading_range.clone())
}

/// Where a phrase stands as whole words; with a final `*` as the beginning of one. Both are in lower case.
fn occurrences<'t>(text: &'t str, phrase: &str) -> impl Iterator<Item = Range<usize>> + 't {
    let open_end = phrase.ends_with('*');
    let phrase = phrase.trim_end_matches('*').to_lowercase();
    let finder =
        if phrase.is_empty() { Vec::new() } else { text.match_indices(phrase.as_str()).map(|(at, _)| at).collect() };
    let length = phrase.len();
    finder.into_iter().map(move |at| at..at + length).filter(move |range| {
        let free_before = !text[..range.start].chars().next_back().is_some_and(char::is_alphanumeric);
        let free_after = open_end || !text[range.end..].chars().next().is_some_and(char::is_alphanumeric);
        free_before && free_after
    })
}

/// The path-like words of a text, so that many files are looked up in one reading.
pub(super) struct Mentions<'t> {
    words: HashSet<&'t str>,
}

impl<'t> Mentions<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let outside = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '*' | '+' | '@'));
        let mut words = HashSet::new();
        for word in text.split(outside) {
            let plain = word.trim_end_matches(['.', '-', '*']).trim_start_matches(['*', '-']).trim_start_matches("./");
            words.insert(word);
            words.insert(plain);
        }
        // A path with a space is one word only between backticks.
        words.extend(text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)));
        Self { words }
    }

    /// Whether the path is named, in full or by its file name.
    pub(super) fn has(&self, path: &str) -> bool {
        let file_name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
        self.words.contains(path) || self.words.contains(path.trim_end_matches('/')) || self.words.contains(file_name)
    }
}
