//! Whether an ADR is valid: one rule set for the command, the gates, the save hook and the Consultant.
//!
//! Must not know a disk: what a repository holds comes through [`RepoFacts`]. Every check reads the text at most once.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

use helix_core::diagnostic::Diagnostic;
use helix_core::source_text::{SourceText, sort_by_place};

use super::claims::Claimant;
use super::codes;
use super::complete::Mentions;
use super::file_name::number_of_file_name;
use super::finalize::status_word;
use super::form::AdrForm;
use super::front_matter::FrontMatter;
use super::known::KnownAdrs;
use super::mojibake::mojibake;
use super::rules::MIN_CRITERIA;
use super::syntax::Adr;
use super::unfilled::is_left;
use super::words::{AdrId, SectionKind, Status};

/// Fewest characters of a section that says something.
const MIN_SECTION: usize = 10;
/// Most places that one check reports; more would only hide the rest.
const MOST_PLACES: usize = 20;
/// Most decisions that a message names.
const MOST_NAMED: usize = 3;

/// What a repository holds, as far as a check needs it.
pub trait RepoFacts {
    /// Whether a file exists before the decision is carried out, relative to the root; `None` when that cannot be known. Gates
    /// answer for the commit that the job started from: a file that one of its phases created does not exist there.
    fn exists(&self, path: &str) -> Option<bool>;
    /// Whether it exists now, once the decision is carried out.
    fn exists_now(&self, path: &str) -> Option<bool> {
        self.exists(path)
    }
    /// The project's decisions; `None` when they cannot be known.
    fn adrs(&self) -> Option<&KnownAdrs> {
        None
    }
}

/// Facts for a text without a repository: nothing can be known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRepo;

impl RepoFacts for NoRepo {
    fn exists(&self, _: &str) -> Option<bool> {
        None
    }
}

/// What an ADR is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A draft: it may still have lines of the template.
    Draft,
    /// A decision, or what is about to become one: an unfilled template must not.
    Decision,
}

impl Standing {
    /// By its id: a draft has none.
    pub fn from_adr(adr: &Adr) -> Self {
        if adr.decided_id().is_some() { Self::Decision } else { Self::Draft }
    }
}

/// Checks an ADR as what its number makes it; the answer is in the order of the file. An ADR is valid when no diagnostic is an
/// error.
pub fn check(adr: &Adr, facts: &dyn RepoFacts) -> Vec<Diagnostic> {
    check_as(adr, facts, Standing::from_adr(adr))
}

/// The same for an ADR that is taken for something.
pub fn check_as(adr: &Adr, facts: &dyn RepoFacts, standing: Standing) -> Vec<Diagnostic> {
    let source = SourceText::new(&adr.file, &adr.source);
    let mut problems = Vec::new();
    encoding(adr, &source, &mut problems);
    problems.extend(adr.front_problems.iter().cloned());
    let mut checker = Checker { adr, source: &source, facts, standing, problems };
    checker.run();
    problems = checker.problems;
    sort_by_place(&mut problems);
    problems
}

fn encoding(adr: &Adr, source: &SourceText<'_>, problems: &mut Vec<Diagnostic>) {
    let places = mojibake(source.text(), MOST_PLACES);
    // Who writes about wrong encodings shows them as code; a file that was read wrongly has them everywhere.
    if places.iter().all(|place| is_code(adr, source, place.range.start)) {
        return;
    }
    for place in places {
        let shown = source.slice(place.range.clone());
        let (message, help) = match &place.repaired {
            Some(repaired) => (
                format!("`{shown}` is UTF-8 that was read in another encoding; it was `{repaired}`"),
                "`helix adr check --fix` repairs it",
            ),
            None => (
                "a character was lost when the text was read in another encoding".to_owned(),
                "restore it from the text's source, and save the file as UTF-8",
            ),
        };
        problems.push(source.error(codes::MOJIBAKE, place.range, message).help(help));
    }
}

/// Whether a place lies in a block of code or between backticks of its line.
fn is_code(adr: &Adr, source: &SourceText<'_>, at: usize) -> bool {
    let line_start = source.line_start(source.line_of(at));
    let quoted = source.slice(line_start..at).matches('`').count() % 2 == 1;
    quoted || adr.code_blocks.iter().any(|block| block.range.contains(&at))
}

struct Checker<'a> {
    adr: &'a Adr,
    source: &'a SourceText<'a>,
    facts: &'a dyn RepoFacts,
    standing: Standing,
    problems: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn run(&mut self) {
        self.sections();
        self.unfilled();
        self.criteria();
        match &self.adr.front {
            Some(front) => self.front(front),
            None if self.adr.front_problems.is_empty() && self.own() => {
                let help = "begin the file with `---`, then `adr_id`, `title` and `status`, then `---`";
                self.error(codes::NO_FRONT_MATTER, &(0..0), "the ADR has no front matter", help);
            }
            None => {}
        }
        if self.own() {
            self.file_name();
        }
    }

    /// Whether the file has Helix's own form, and so all that Helix asks for. Of another form only what it has is judged.
    fn own(&self) -> bool {
        self.adr.form == AdrForm::Helix
    }

    /// An error where the form is Helix's own, else a warning: other tools take the file as it is.
    fn own_error(&mut self, code: &str, range: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        if self.own() { self.error(code, range, message, help) } else { self.warning(code, range, message, help) }
    }

    fn error(&mut self, code: &str, range: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(self.source.error(code, range.clone(), message).help(help));
    }

    fn warning(&mut self, code: &str, range: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(self.source.warning(code, range.clone(), message).help(help));
    }

    fn sections(&mut self) {
        let end = self.adr.source.trim_end().len();
        for kind in SectionKind::REQUIRED {
            if self.adr.section(kind).is_some() {
                continue;
            }
            let (english, german) = self.adr.form.headings(kind);
            let message = format!("the section {english} is missing");
            let help = format!("add `## {english}` or `## {german}`");
            // No other form has criteria; and what was decided before, as by an import, is not undecided for want of them.
            match kind == SectionKind::AcceptanceCriteria {
                true if !self.own() => {}
                true if self.adr.status().is_some_and(|status| status != Status::Proposed) => {
                    self.warning(codes::MISSING_SECTION, &(end..end), message, help);
                }
                true | false => self.own_error(codes::MISSING_SECTION, &(end..end), message, help),
            }
        }
        let mut seen = HashSet::new();
        let mut repeated = 0;
        for section in &self.adr.sections {
            let Some(kind) = section.kind else { continue };
            if !seen.insert(kind) {
                repeated += 1;
                if repeated > MOST_PLACES {
                    continue;
                }
                let message = format!("duplicate section {}", section.heading);
                self.warning(codes::DUPLICATE_SECTION, &section.heading_range, message, "merge them, or rename one");
                continue;
            }
            let length = self.source.slice(section.body.clone()).trim().chars().take(MIN_SECTION).count();
            if length < MIN_SECTION && !matches!(kind, SectionKind::Status | SectionKind::Options) {
                let message = format!("the section {} has fewer than {MIN_SECTION} characters", section.heading);
                self.warning(codes::THIN_SECTION, &section.heading_range, message, "write at least a sentence");
            }
        }
    }

    fn unfilled(&mut self) {
        let unfilled: Vec<Range<usize>> = self
            .source
            .text()
            .split_inclusive('\n')
            .scan(0, |at, line| {
                let start = *at;
                *at += line.len();
                Some((start..start + line.trim_end().len(), line))
            })
            .filter(|(_, line)| is_left(line))
            .map(|(range, _)| range)
            .collect();
        let Some(first) = unfilled.first() else { return };
        let message = match unfilled.len() {
            1 => "a line still contains template text".to_owned(),
            more => format!("{more} lines still contain template text; this is the first"),
        };
        let help = "replace the placeholder, or remove the line";
        match self.standing {
            Standing::Decision => self.error(codes::UNFILLED, first, message, help),
            Standing::Draft => self.warning(codes::UNFILLED, first, message, help),
        }
    }

    fn criteria(&mut self) {
        if self.own() {
            self.count_criteria();
        }
        for unusable in self.adr.criteria.iter().flat_map(|criterion| &criterion.unusable).take(MOST_PLACES) {
            let range = unusable.span.range();
            self.warning(codes::UNUSABLE_EVIDENCE, &range, unusable.message.clone(), unusable.help.clone());
        }
    }

    fn count_criteria(&mut self) {
        let Some(section) = self.adr.section(SectionKind::AcceptanceCriteria) else { return };
        let count = self.adr.criteria.len();
        if count == 0 {
            let message = "no acceptance criteria with a checkbox";
            let help = "write each criterion with a checkbox: `- [ ] …`";
            self.error(codes::NO_CRITERIA, &section.heading_range, message, help);
        } else if count < MIN_CRITERIA {
            let message = match count {
                1 => "only 1 acceptance criterion".to_owned(),
                more => format!("only {more} acceptance criteria"),
            };
            let help = format!("write at least {MIN_CRITERIA}, also for invalid input");
            self.warning(codes::FEW_CRITERIA, &section.heading_range, message, help);
        }
        let vague = self.adr.criteria.iter().filter_map(|criterion| vague(&criterion.text).map(|why| (criterion, why)));
        for (criterion, why) in vague.take(MOST_PLACES) {
            let range = criterion.span.range();
            let help = "write an action and its expected result, such as a command and its output";
            self.warning(codes::VAGUE_CRITERION, &range, format!("this criterion cannot be checked: {why}"), help);
        }
    }

    fn front(&mut self, front: &FrontMatter) {
        // A value that could not be read has been reported already.
        let missing: Vec<String> = [
            ("component_type", front.component_type.is_none()),
            ("classification", front.classification.is_none()),
            ("change_scope", front.change_scope.is_none()),
        ]
        .into_iter()
        .filter(|(key, missing)| *missing && !front.unreadable.contains(key))
        .map(|(key, _)| format!("`{key}`"))
        .collect();
        if !missing.is_empty() && self.own() {
            let head = self.adr.front_range.start..self.adr.front_range.start;
            let are = if missing.len() == 1 { "is" } else { "are" };
            let message = format!("{} {are} missing", missing.join(", "));
            self.warning(codes::NO_CLASSIFICATION, &head, message, "`helix adr new --help` lists the values of each");
        }
        self.status(front);
        self.files(front);
        self.references(front);
        self.number(front);
    }

    /// The same fact in two places drifts apart.
    fn status(&mut self, front: &FrontMatter) {
        let Some(section) = self.adr.section(SectionKind::Status) else { return };
        let Some(status) = &front.status else { return };
        if let Some((place, said, _)) = status_word(self.adr.source.as_str(), section.body.clone())
            && said != status.value
        {
            let word = self.source.slice(place);
            let message = format!("this section says {word}, the front matter says {}", status.value.word());
            let help = "remove the section's text; the front matter decides";
            self.warning(codes::STATUS_DIFFERS, &section.heading_range, message, help);
        }
    }

    fn files(&mut self, front: &FrontMatter) {
        let status = self.adr.status();
        let draft = self.adr.id() == Some(AdrId::Draft);
        let open = draft || status.is_none_or(Status::is_open);
        // Once it has its number, a file that is there has been created, and one that is gone has been deleted.
        let unnumbered = self.adr.decided_id().is_none();
        let deleted = front.files.delete.iter().filter(|_| unnumbered);
        if open {
            for file in front.files.modify.iter().chain(deleted) {
                if self.facts.exists(&file.value) == Some(false) {
                    let message = format!("`{}` does not exist, so it cannot be changed", file.value);
                    let help = "correct the path, or move it to `files.create`";
                    self.error(codes::MODIFY_MISSING, &file.range, message, help);
                }
            }
        }
        if unnumbered {
            for file in &front.files.create {
                if self.facts.exists(&file.value) == Some(true) {
                    let message = format!("`{}` exists already, so it cannot be created", file.value);
                    let help = "correct the path, or move it to `files.modify`";
                    self.error(codes::CREATE_EXISTS, &file.range, message, help);
                }
            }
        }
        if !draft && status == Some(Status::Implemented) {
            self.implemented(front);
        }
        if open {
            self.conflicts(front);
        }
        let text = self.adr.section_text(SectionKind::Documentation).unwrap_or_default();
        let mentions = Mentions::new(text);
        for file in front.files.docs.iter().filter(|file| !mentions.has(&file.value)) {
            let message = format!("`{}` of `files.docs` is not mentioned in the section Documentation", file.value);
            self.warning(codes::DOCS_NOT_MENTIONED, &file.range, message, "describe the change there");
        }
    }

    /// A word in a file is not evidence: what the decision claims to have made has to be there.
    fn implemented(&mut self, front: &FrontMatter) {
        let help =
            "correct the status or the path; if another decision replaced this one, list it in `supersedes` there";
        let files = &front.files;
        let made = files.create.iter().chain(&files.modify).map(|file| (file, false, "does not exist"));
        for (file, wrong, how) in made.chain(files.delete.iter().map(|file| (file, true, "still exists"))) {
            if self.facts.exists_now(&file.value) == Some(wrong) {
                let message = format!("the status is Implemented, but `{}` {how}", file.value);
                self.warning(codes::IMPLEMENTED_MISSING, &file.range, message, help);
            }
        }
    }

    fn references(&mut self, front: &FrontMatter) {
        let Some(known) = self.facts.adrs() else { return };
        for (key, ids) in front.links() {
            for id in ids {
                if known.files(&id.value).is_empty() {
                    let message = format!("`{key}` names {}, which does not exist", id.value);
                    let help = "correct the number, or remove it; `helix adr list` lists all";
                    match key {
                        "related_to" => self.warning(codes::UNKNOWN_ADR, &id.range, message, help),
                        _ => self.own_error(codes::UNKNOWN_ADR, &id.range, message, help),
                    }
                }
            }
        }
        let Some(own) = self.adr.decided_id() else { return };
        for first in &front.supersedes {
            if let Some(way) = known.supersedes.cycle(&own, &first.value) {
                let message = format!("ADRs supersede each other in a cycle: {way}");
                self.error(codes::SUPERSEDE_CYCLE, &first.range, message, "remove one of these from `supersedes`");
            }
        }
        for first in &front.depends_on {
            if let Some(way) = known.depends_on.cycle(&own, &first.value) {
                let message = format!("ADRs depend on each other in a cycle: {way}");
                self.warning(codes::DEPENDENCY_CYCLE, &first.range, message, "remove one of these from `depends_on`");
            }
        }
    }

    /// Two decisions about one file must know of each other; the newer one is told.
    fn conflicts(&mut self, front: &FrontMatter) {
        let Some(adrs) = self.facts.adrs() else { return };
        let own = self.adr.id().unwrap_or(AdrId::Draft);
        let known: HashSet<&AdrId> =
            front.supersedes.iter().chain(&front.depends_on).map(|id| &id.value).chain([&own]).collect();
        let (files, mut said) = (&front.files, HashSet::new());
        for file in files.create.iter().chain(&files.modify).chain(&files.delete) {
            let mut shown: Vec<&Claimant> = Vec::new();
            adrs.claims().before(&file.value, &own, |claimant| {
                let elsewhere = claimant.file != self.adr.file && !known.contains(&claimant.id);
                if elsewhere && said.insert((&file.value, &claimant.id)) {
                    shown.push(claimant);
                }
                // One more than is named says that there are others.
                if shown.len() > MOST_NAMED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let Some(first) = shown.first() else { continue };
            let named = |one: &&Claimant| format!("{} ({})", one.id, one.title);
            let mut names: Vec<String> = shown.iter().take(MOST_NAMED).map(named).collect();
            names.extend((shown.len() > MOST_NAMED).then(|| "others".to_owned()));
            let (whom, them, one) = match names.split_last() {
                Some((last, before)) if !before.is_empty() => {
                    (format!("{} and {last}", before.join(", ")), "them", "each".to_owned())
                }
                _ => (names.concat(), first.file.as_str(), first.id.to_string()),
            };
            let message = format!("`{}` is claimed by {whom}, which this decision does not refer to", file.value);
            let help = format!(
                "read {them}; then add {one} to `depends_on` if this builds on it, or to `supersedes` if it replaces it"
            );
            self.warning(codes::CLAIM_CONFLICT, &file.range, message, help);
        }
    }

    fn number(&mut self, front: &FrontMatter) {
        let (Some(id), Some(number)) = (&front.adr_id, self.adr.number()) else { return };
        let holders = self.facts.adrs().map_or(&[][..], |known| known.files(&id.value));
        let others: Vec<&str> = holders.iter().filter(|file| **file != self.adr.file).map(String::as_str).collect();
        if !others.is_empty() {
            let message = format!("{} is also the number of {}", id.value, others.join(", "));
            let help = "`helix adr renumber` gives the later one the next number";
            self.error(codes::NUMBER_COLLISION, &id.range, message, help);
        }
        if let Some(named) = number_of_file_name(&self.adr.file).filter(|named| *named != number && self.own()) {
            let message = format!("the file name says {named:03}, the front matter says {number:03}");
            let help = "`helix adr renumber` renames it; or correct `adr_id`";
            self.error(codes::NUMBER_COLLISION, &id.range, message, help);
        }
    }

    fn file_name(&mut self) {
        if self.adr.number().is_some() && number_of_file_name(&self.adr.file).is_none() {
            let message = "the file name does not have the form 012-title-in-few-words.md";
            let help = "rename it; `helix adr finalize` does that for drafts";
            self.warning(codes::FILE_NAME_FORM, &(0..0), message, help);
        }
    }
}

/// Words that promise something without saying what one would see.
const VAGUE: [&str; 18] = [
    "works",
    "work properly",
    "works correctly",
    "works as expected",
    "as expected",
    "user-friendly",
    "user friendly",
    "fast enough",
    "good performance",
    "is good",
    "is nice",
    "funktioniert",
    "funktioniert korrekt",
    "wie erwartet",
    "benutzerfreundlich",
    "schnell genug",
    "ist gut",
    "läuft gut",
];

/// Why a criterion is vague, if it is: too short, or a vague word and nothing that one could measure.
fn vague(text: &str) -> Option<String> {
    if text.chars().filter(|c| c.is_alphanumeric()).count() < 8 {
        return Some("it is too short".into());
    }
    let measurable = text.contains(|c: char| c.is_ascii_digit() || matches!(c, '`' | '"' | '/' | '→' | '='));
    if measurable {
        return None;
    }
    let lower = text.to_lowercase();
    let word = VAGUE.iter().find(|word| {
        lower.match_indices(**word).any(|(at, found)| {
            let after = lower[at + found.len()..].trim_start();
            // "works" at the end promises nothing; "works without a network" does.
            after.is_empty() || after.starts_with(['.', ',', '!']) || found.contains(' ')
        })
    })?;
    Some(format!("`{word}` can mean anything"))
}
