//! Completeness rules as data: when a rule applies, what it requires, and the text that a template offers for it.
//!
//! Must not know how a rule is evaluated; `adr/rules.yaml` in a repository adds rules of the same type.

use std::collections::HashSet;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_saphyr::{Location, Spanned};

use helix_core::diagnostic::{Diagnostic, Severity};
use helix_core::source_text::SourceText;

use super::codes;
use super::words::{ChangeScope, Classification, ComponentType, Language, SectionKind};

/// One completeness rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Name, shown in messages.
    pub id: String,
    /// Whether it blocks.
    pub severity: Severity,
    /// When it applies: all of these.
    #[serde(default)]
    pub when: Vec<Condition>,
    /// What it requires: all of these.
    pub require: Vec<Requirement>,
    /// What to do if it is not met.
    pub fix: String,
    /// What a template offers for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Offer>,
}

/// A text for templates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// Where it belongs.
    pub section: SectionKind,
    /// English text; `<…>` marks what the author fills in.
    pub english: String,
    /// German text.
    pub german: String,
}

impl Offer {
    /// The text in a language.
    pub fn text(&self, language: Language) -> &str {
        language.pick(&self.english, &self.german)
    }
}

/// A condition on an ADR.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// `change_scope` is this.
    Scope(ChangeScope),
    /// `classification` is this.
    Classification(Classification),
    /// `component_type` is this.
    Component(ComponentType),
    /// `files.create` names files.
    CreatesFiles,
    /// `depends_on` names ADRs.
    DependsOnOthers,
    /// The text has one of these phrases.
    Mentions {
        /// Phrases; whole words, any case.
        any: Vec<String>,
        /// Phrases that do not count, such as `no breaking`.
        #[serde(default)]
        except: Vec<String>,
    },
}

/// Something an ADR must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Requirement {
    /// A section with enough text.
    Section {
        /// Which.
        section: SectionKind,
        /// Least number of characters.
        min_length: usize,
    },
    /// One of the phrases, in the whole text or in a section. A phrase that ends with `*` matches as a word's beginning.
    Phrase {
        /// Phrases; whole words, any case.
        any: Vec<String>,
        /// Where; everywhere if absent.
        #[serde(default)]
        section: Option<SectionKind>,
    },
    /// A code block, in one of these languages if any are named.
    CodeBlock {
        /// Languages of the fence, lower case.
        #[serde(default)]
        languages: Vec<String>,
    },
    /// At least this many criteria.
    Criteria {
        /// How many.
        min: usize,
    },
    /// Every ADR of `depends_on` is named in the text.
    DependenciesNamed,
    /// Every file of `files.create` is named in the section.
    CreatedFilesNamed {
        /// Where.
        section: SectionKind,
    },
}

/// Fewest criteria of a complete ADR; fewer are a warning already when it is checked.
pub const MIN_CRITERIA: usize = 3;

/// The rules that every ADR is measured by, in the form in which a repository adds its own.
pub fn built_in_rules() -> Vec<Rule> {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let source = include_str!("built_in_rules.yaml");
        // The tests prove that the file is right and holds every rule of the documentation.
        let file = serde_saphyr::from_str::<RulesFile>(source);
        file.map(|file| file.rules.into_iter().map(|rule| rule.value).collect()).unwrap_or_default()
    });
    RULES.clone()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    rules: Vec<Spanned<Rule>>,
}

/// Reads a repository's own rules (`rules: [...]`), which are added to the built-in ones.
///
/// # Errors
/// One diagnostic at the first place that is not a rule.
pub fn parse_rules(file: &str, source: &str) -> Result<Vec<Rule>, Box<Diagnostic>> {
    let options = serde_saphyr::options! { budget: serde_saphyr::budget! { max_nodes: 20_000 } };
    let text = SourceText::new(file, source);
    let at = |place: Location| {
        let column = usize::try_from(place.column()).unwrap_or(1).saturating_sub(1);
        let line = text.line_start(usize::try_from(place.line()).unwrap_or(1));
        let at = source[line..].char_indices().nth(column).map_or(source.len(), |(offset, _)| line + offset);
        at..at
    };
    let file = serde_saphyr::from_str_with_options::<RulesFile>(source, options).map_err(|error| {
        let message = error.without_snippet().to_string();
        let message = message.lines().next().unwrap_or_default();
        let problem = match error.location() {
            Some(place) => text.error(codes::BAD_RULES, at(place), message),
            None => Diagnostic::error(codes::BAD_RULES, file, message),
        };
        Box::new(problem.help("docs/adr.md shows the format of a rule"))
    })?;
    let mut known: HashSet<String> = built_in_rules().into_iter().map(|rule| rule.id).collect();
    for Spanned { value: rule, referenced, .. } in &file.rules {
        let again = || (format!("duplicate rule {:?}", rule.id), "give each rule its own id");
        let problem = vacuous(rule).or_else(|| (!known.insert(rule.id.clone())).then(again));
        if let Some((message, help)) = problem {
            return Err(Box::new(text.error(codes::BAD_RULES, at(*referenced), message).help(help)));
        }
    }
    Ok(file.rules.into_iter().map(|rule| rule.value).collect())
}

/// Why a rule can never say anything, or always would: a check that checks nothing must not look like one.
fn vacuous(rule: &Rule) -> Option<(String, &'static str)> {
    let blank = |text: &str| text.trim().trim_end_matches('*').trim().is_empty();
    if blank(&rule.id) || blank(&rule.fix) {
        return Some(("a rule has no `id` or no `fix`".into(), "add `id` and `fix`"));
    }
    if rule.require.is_empty() {
        return Some((format!("the rule {:?} requires nothing", rule.id), "add `require`, or remove the rule"));
    }
    let empty = |any: &[String]| any.is_empty() || any.iter().any(|phrase| blank(phrase));
    let conditions = rule.when.iter().any(|condition| match condition {
        Condition::Mentions { any, except } => empty(any) || except.iter().any(|phrase| blank(phrase)),
        _ => false,
    });
    let requirements = rule.require.iter().any(|requirement| match requirement {
        Requirement::Phrase { any, .. } => empty(any),
        Requirement::Criteria { min } => *min == 0,
        Requirement::CodeBlock { languages } => languages.iter().any(|language| blank(language)),
        Requirement::Section { .. } | Requirement::DependenciesNamed | Requirement::CreatedFilesNamed { .. } => false,
    });
    (conditions || requirements).then(|| {
        (format!("the rule {:?} has an empty phrase or a count of 0", rule.id), "write the words it looks for")
    })
}

/// The built-in rules as a Markdown table, for the docs.
pub fn rules_markdown() -> String {
    let mut out = String::from("| rule | level | fix |\n|---|---|---|\n");
    for rule in built_in_rules() {
        out.push_str(&format!("| `{}` | {} | {} |\n", rule.id, rule.severity.word(), rule.fix));
    }
    out
}
