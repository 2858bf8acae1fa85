//! Completeness rules as data: when a rule applies, what it requires, and the text that a template offers for it.
//!
//! Must not know how a rule is evaluated; `adr/rules.yaml` in a repository adds rules of the same type.

use std::collections::HashSet;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::diagnostic::{Diagnostic, Severity};
use helix_core::source_text::SourceText;
use helix_core::document::{Limits, Value, read_part};

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
        match language {
            Language::English => &self.english,
            Language::German => &self.german,
        }
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

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn offer(section: SectionKind, english: &str, german: &str) -> Option<Offer> {
    Some(Offer { section, english: english.into(), german: german.into() })
}

/// Fewest criteria of a complete ADR; fewer are a warning already when it is checked.
pub const MIN_CRITERIA: usize = 3;

/// The rules that every ADR is measured by.
pub fn built_in_rules() -> Vec<Rule> {
    use Requirement::{CodeBlock, CreatedFilesNamed, Criteria, DependenciesNamed, Phrase, Section};
    use SectionKind::{AcceptanceCriteria, Implementation, Migration};
    vec![
        Rule {
            id: "major-migration".into(),
            severity: Severity::Error,
            when: vec![Condition::Scope(ChangeScope::Major)],
            require: vec![
                Section { section: Migration, min_length: 100 },
                Phrase { any: words(&["phase*"]), section: Some(Migration) },
                Phrase { any: words(&["step*", "schritt*", "day*", "tag*"]), section: Some(Migration) },
            ],
            fix: "describe the migration in phases with steps".into(),
            offer: offer(
                Migration,
                "Phase 1: <what changes first>\n\n- Step 1: <step>\n- Step 2: <step>\n\nPhase 2: <what follows, and when it is finished>\n\n- Step 1: <step>\n",
                "Phase 1: <was sich zuerst ändert>\n\n- Schritt 1: <Schritt>\n- Schritt 2: <Schritt>\n\nPhase 2: <was folgt, und wann es fertig ist>\n\n- Schritt 1: <Schritt>\n",
            ),
        },
        Rule {
            id: "major-migration-criterion".into(),
            severity: Severity::Error,
            when: vec![Condition::Scope(ChangeScope::Major)],
            require: vec![Phrase {
                any: words(&["migration*", "migrat*", "migrier*"]),
                section: Some(AcceptanceCriteria),
            }],
            fix: "add a criterion that says how one sees that the migration is done".into(),
            offer: offer(
                AcceptanceCriteria,
                "- [ ] The migration is done: `<command>` shows `<result>`\n",
                "- [ ] Die Migration ist abgeschlossen: `<Befehl>` zeigt `<Ergebnis>`\n",
            ),
        },
        Rule {
            id: "major-rollback".into(),
            severity: Severity::Error,
            when: vec![Condition::Scope(ChangeScope::Major)],
            require: vec![Phrase {
                any: words(&[
                    "rollback",
                    "roll back",
                    "rolled back",
                    "rückbau",
                    "zurückrollen",
                    "zurücksetzen",
                    "revert*",
                ]),
                section: None,
            }],
            fix: "say how the change is rolled back".into(),
            offer: offer(Migration, "\nRollback: <how to return>\n", "\nRollback: <wie man zurückkehrt>\n"),
        },
        Rule {
            id: "breaking-change".into(),
            severity: Severity::Error,
            when: vec![Condition::Mentions {
                any: words(&["breaking", "incompatib*", "inkompatib*"]),
                except: words(&[
                    "no breaking",
                    "not breaking",
                    "not a breaking",
                    "non breaking",
                    "non-breaking",
                    "nonbreaking",
                    "without breaking",
                    "keine breaking",
                    "kein breaking",
                    "ohne breaking",
                    "nicht inkompatib*",
                ]),
            }],
            require: vec![
                Section { section: Migration, min_length: 50 },
                Phrase {
                    any: words(&["old", "before", "previous*", "alt", "alte*", "bisher*", "vorher*"]),
                    section: Some(Migration),
                },
                Phrase {
                    any: words(&["new", "after", "now", "neu", "neue*", "künftig*", "nachher"]),
                    section: Some(Migration),
                },
            ],
            fix: "add a section Migration that sets the old behaviour against the new one".into(),
            offer: None,
        },
        Rule {
            id: "new-example".into(),
            severity: Severity::Warning,
            when: vec![Condition::Classification(Classification::New), Condition::CreatesFiles],
            require: vec![
                CodeBlock { languages: Vec::new() },
                Phrase { any: words(&["example*", "beispiel*"]), section: None },
            ],
            fix: "add an example in a code block".into(),
            offer: offer(
                Implementation,
                "\nExample:\n\n```text\n<example>\n```\n",
                "\nBeispiel:\n\n```text\n<Beispiel>\n```\n",
            ),
        },
        Rule {
            id: "dependencies-named".into(),
            severity: Severity::Warning,
            when: vec![Condition::DependsOnOthers],
            require: vec![DependenciesNamed],
            fix: "say in the text what is taken from each ADR of `depends_on`, such as ADR-012".into(),
            offer: None,
        },
        Rule {
            id: "tool-usage".into(),
            severity: Severity::Warning,
            when: vec![Condition::Component(ComponentType::Tool)],
            require: vec![Phrase {
                any: words(&["cli", "usage", "command line", "aufruf", "kommandozeile", "verwendung"]),
                section: None,
            }],
            fix: "show how the tool is called on the command line".into(),
            offer: offer(
                Implementation,
                "\nCLI usage: `<tool> <arguments>`\n",
                "\nCLI-Aufruf: `<Werkzeug> <Argumente>`\n",
            ),
        },
        Rule {
            id: "service-endpoints".into(),
            severity: Severity::Warning,
            when: vec![Condition::Component(ComponentType::Service)],
            require: vec![Phrase {
                any: words(&["endpoint*", "endpunkt*", "route*", "get /*", "post /*", "api"]),
                section: None,
            }],
            fix: "list the endpoints of the service".into(),
            offer: offer(
                Implementation,
                "\nEndpoints: `<METHOD> <path>`: <what it does>\n",
                "\nEndpunkte: `<METHODE> <Pfad>`: <was er tut>\n",
            ),
        },
        Rule {
            id: "config-example".into(),
            severity: Severity::Warning,
            when: vec![Condition::Scope(ChangeScope::Config)],
            require: vec![CodeBlock { languages: words(&["yaml", "yml"]) }],
            fix: "show the configuration in a yaml code block".into(),
            offer: offer(Implementation, "\n```yaml\n<key>: <value>\n```\n", "\n```yaml\n<Schlüssel>: <Wert>\n```\n"),
        },
        Rule {
            id: "created-files-named".into(),
            severity: Severity::Warning,
            when: vec![Condition::CreatesFiles],
            require: vec![CreatedFilesNamed { section: Implementation }],
            fix: "name each file of `files.create` in the section Implementation".into(),
            offer: None,
        },
        Rule {
            id: "three-criteria".into(),
            severity: Severity::Error,
            when: Vec::new(),
            require: vec![Criteria { min: MIN_CRITERIA }],
            fix: "add acceptance criteria, each with a checkbox: `- [ ] …`".into(),
            offer: offer(
                AcceptanceCriteria,
                "- [ ] `<command>` exits 0 and shows `<result>`\n- [ ] <input> gives <output> — test: `<tests/test_x.py::test_y>`\n- [ ] <wrong input> gives the error <message> — test: `<tests/test_x.py::test_z>`\n",
                "- [ ] `<Befehl>` endet mit 0 und zeigt `<Ergebnis>`\n- [ ] <Eingabe> ergibt <Ausgabe> — Test: `<tests/test_x.py::test_y>`\n- [ ] <falsche Eingabe> ergibt den Fehler <Meldung> — Test: `<tests/test_x.py::test_z>`\n",
            ),
        },
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    rules: Vec<Rule>,
}

/// Reads a repository's own rules (`rules: [...]`), which are added to the built-in ones.
///
/// # Errors
/// One diagnostic at the first place that is no rule.
pub fn parse_rules(file: &str, source: &str) -> Result<Vec<Rule>, Box<Diagnostic>> {
    let options = serde_saphyr::options! { budget: serde_saphyr::budget! { max_nodes: 20_000 } };
    let text = SourceText::new(file, source);
    let rules = serde_saphyr::from_str_with_options::<RulesFile>(source, options).map(|file| file.rules);
    let rules = rules.map_err(|error| {
        let message = error.without_snippet().to_string();
        let message = message.lines().next().unwrap_or_default().to_owned();
        let problem = match error.location() {
            Some(place) => {
                let column = usize::try_from(place.column()).unwrap_or(1).saturating_sub(1);
                let line = text.line_start(usize::try_from(place.line()).unwrap_or(1));
                let at = source[line..].char_indices().nth(column).map_or(source.len(), |(offset, _)| line + offset);
                text.error(codes::BAD_RULES, at..at, message)
            }
            None => Diagnostic::error(codes::BAD_RULES, file, message),
        };
        Box::new(problem.help("docs/adr.md shows the form of a rule"))
    })?;
    let places = places(source, rules.len());
    let mut known: HashSet<String> = built_in_rules().into_iter().map(|rule| rule.id).collect();
    for (rule, place) in rules.iter().zip(places) {
        let problem = match vacuous(rule) {
            Some(problem) => Some(problem),
            None if !known.insert(rule.id.clone()) => {
                Some((format!("there is a rule {:?} already", rule.id), "give each rule an id of its own"))
            }
            None => None,
        };
        if let Some((message, help)) = problem {
            return Err(Box::new(text.error(codes::BAD_RULES, place, message).help(help)));
        }
    }
    Ok(rules)
}

/// Where each rule stands; the whole text where that cannot be told.
fn places(source: &str, count: usize) -> Vec<Range<usize>> {
    let whole = 0..source.len();
    let listed = read_part(source, 0, Limits::default()).ok().flatten().and_then(|node| {
        let Value::Mapping(entries) = &node.value else { return None };
        let rules = entries.iter().find(|entry| &*entry.key == "rules")?;
        let Value::Sequence(items) = &rules.value.value else { return None };
        Some(items.iter().map(|item| item.range.clone()).collect::<Vec<_>>())
    });
    listed.filter(|places| places.len() == count).unwrap_or_else(|| vec![whole; count])
}

/// Why a rule can never say anything, or always would: a check that checks nothing must not look like one [24].
fn vacuous(rule: &Rule) -> Option<(String, &'static str)> {
    let blank = |text: &str| text.trim().trim_end_matches('*').trim().is_empty();
    if blank(&rule.id) || blank(&rule.fix) {
        return Some(("a rule has no `id` or no `fix`".into(), "say what the rule is called and what mends it"));
    }
    if rule.require.is_empty() {
        return Some((format!("the rule {:?} requires nothing", rule.id), "add what it requires, or remove the rule"));
    }
    let empty = |any: &[String]| any.is_empty() || any.iter().any(|phrase| blank(phrase));
    let conditions = rule.when.iter().any(|condition| match condition {
        Condition::Mentions { any, except } => empty(any) || except.iter().any(|phrase| blank(phrase)),
        Condition::Scope(_)
        | Condition::Classification(_)
        | Condition::Component(_)
        | Condition::CreatesFiles
        | Condition::DependsOnOthers => false,
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
    let mut out = String::from("| rule | level | what mends it |\n|---|---|---|\n");
    for rule in built_in_rules() {
        let level = match rule.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        out.push_str(&format!("| `{}` | {level} | {} |\n", rule.id, rule.fix));
    }
    out
}
