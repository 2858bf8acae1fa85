//! Every language says everything: the tables have the same messages with the same values, and those are what the code names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement, VariantKey};
use helix_core::said::{Piece, Words};
use helix_language::Language;

/// What a message, or one of its attributes, is made of.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Parts {
    values: BTreeSet<String>,
    /// Words that the code chooses by; not those of numbers, which each language has its own.
    words: BTreeSet<String>,
    messages: BTreeSet<String>,
}

/// The messages of a table by name; `name.hint` is what to do.
type Table = BTreeMap<String, Parts>;

const NUMBERS: [&str; 6] = ["zero", "one", "two", "few", "many", "other"];

fn table(language: Language) -> Table {
    let file = format!("{}/src/languages/{}.ftl", env!("CARGO_MANIFEST_DIR"), language.code());
    let text = std::fs::read_to_string(&file).unwrap();
    let parsed = fluent_syntax::parser::parse(text.as_str()).unwrap_or_else(|(_, errors)| panic!("{file}: {errors:?}"));
    let mut table = Table::new();
    for entry in &parsed.body {
        let Entry::Message(message) = entry else { continue };
        let name = message.id.name.to_owned();
        let attributes = message.attributes.iter().map(|one| (format!("{name}.{}", one.id.name), &one.value));
        let own = message.value.iter().map(|value| (name.clone(), value));
        for (name, pattern) in own.chain(attributes) {
            let mut parts = Parts::default();
            read(pattern, &mut parts);
            assert_eq!(table.insert(name.clone(), parts), None, "{file} says {name} twice");
        }
    }
    table
}

fn read(pattern: &Pattern<&str>, parts: &mut Parts) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else { continue };
        match expression {
            Expression::Inline(inline) => read_inline(inline, parts),
            Expression::Select { selector, variants } => {
                read_inline(selector, parts);
                for variant in variants {
                    // A number, such as 0, is a choice that each language may make for itself.
                    if let VariantKey::Identifier { name } = variant.key
                        && !NUMBERS.contains(&name)
                    {
                        parts.words.insert(name.to_owned());
                    }
                    read(&variant.value, parts);
                }
            }
        }
    }
}

fn read_inline(inline: &InlineExpression<&str>, parts: &mut Parts) {
    match inline {
        InlineExpression::StringLiteral { .. } => {}
        InlineExpression::VariableReference { id } => drop(parts.values.insert(id.name.to_owned())),
        InlineExpression::MessageReference { id, .. } => drop(parts.messages.insert(id.name.to_owned())),
        other => panic!("{other:?} is nothing that the tables need"),
    }
}

/// The values that a message needs, with those of the messages in it.
fn values(table: &Table, name: &str) -> BTreeSet<String> {
    let parts = table.get(name).unwrap_or_else(|| panic!("there is no message {name}"));
    let inner = parts.messages.iter().flat_map(|inner| values(table, inner));
    parts.values.iter().cloned().chain(inner).collect()
}

#[test]
fn every_language_has_the_same_messages_with_the_same_values() {
    let english = table(Language::English);
    for language in Language::ALL {
        let other = table(language);
        let names = |table: &Table| table.keys().cloned().collect::<BTreeSet<_>>();
        let missing: Vec<String> = names(&english).symmetric_difference(&names(&other)).cloned().collect();
        assert!(missing.is_empty(), "{language:?} and English do not have the same: {missing:?}");
        for name in english.keys() {
            assert_eq!(values(&other, name), values(&english, name), "values of {name} in {language:?}");
        }
    }
}

/// What gates find is read by people: none of it stays as it is in another language, but for what is made of values alone.
#[test]
fn what_gates_say_is_said_in_every_language() {
    let english = table(Language::English);
    let gates = |file: &Path| file.components().any(|part| part.as_os_str() == "helix-gates");
    let names: BTreeSet<String> =
        said().into_iter().filter(|(_, _, file, _)| gates(file)).map(|(name, ..)| name).collect();
    assert!(names.len() > 180, "only {} found", names.len());
    for name in names {
        for message in [name.clone(), format!("{name}.hint")].into_iter().filter(|one| english.contains_key(one)) {
            let of_values = ["gate-module-unfound", "gate-command-ended"].contains(&message.as_str());
            let with = values(&english, &message).into_iter().map(|value| (value, Words::from(7_u64))).collect();
            let words = Words::from(Piece::Say { name: message.clone(), with });
            let said: BTreeSet<String> = Language::ALL.iter().map(|language| language.words(&words)).collect();
            assert_eq!(said.len(), if of_values { 1 } else { Language::ALL.len() }, "{message}: {said:?}");
            assert!(!said.contains("") && !said.contains(&name), "{message}: {said:?}");
        }
    }
}

/// A language may need no words where another does; one that has some has all.
#[test]
fn every_language_knows_all_words_that_another_one_chooses_by() {
    let tables: Vec<Table> = Language::ALL.into_iter().map(table).collect();
    for name in tables[0].keys() {
        let all: BTreeSet<&BTreeSet<String>> =
            tables.iter().map(|table| &table[name].words).filter(|words| !words.is_empty()).collect();
        // Where English says the word itself, it has none but those that it says otherwise.
        let most = all.iter().max_by_key(|words| words.len());
        assert!(all.iter().all(|words| most.is_some_and(|most| words.is_subset(most))), "{name}: {all:?}");
    }
}

#[test]
fn german_has_one_word_for_a_job_and_one_for_who_looks_at_a_result() {
    for file in ["src/languages/de.ftl", "../helix-failure/src/languages/de.txt"] {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let other = |line: &&str| ["Auftrag", "Aufträge", "Gutachter"].iter().any(|word| line.contains(word));
        assert_eq!(text.lines().filter(other).collect::<Vec<_>>(), [""; 0], "{file}: say Job and Prüfer");
    }
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.file_stem().unwrap().to_string_lossy().ends_with("_test")
        {
            found.push(path);
        }
    }
}

/// The messages that the code names, with the names of the values that it gives; what is recorded gets its job from who reads it.
fn said() -> Vec<(String, BTreeSet<String>, PathBuf, bool)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for one in std::fs::read_dir(crates).unwrap() {
        let source = one.unwrap().path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    let mut said = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let text = code.join("\n");
        for at in ["say!(", "problem!(", "recorded!(", "said!("].iter().flat_map(|call| text.match_indices(call)) {
            let mut call = arguments(&text[at.0 + at.1.len()..]);
            let recorded = ["recorded!(", "said!("].contains(&at.1);
            if recorded {
                // The record is of no language.
                call.insert(0, String::new());
            }
            let Some(name) = call.get(1).and_then(|name| name.strip_prefix('"')?.strip_suffix('"')) else { continue };
            let values = call[2..].iter().filter(|one| !one.is_empty());
            let values = values.map(|one| one.split(" = ").next().unwrap().to_owned()).collect();
            said.push((name.to_owned(), values, file.clone(), recorded));
        }
    }
    said
}

/// The arguments of a call, from behind its bracket.
fn arguments(text: &str) -> Vec<String> {
    let (mut all, mut depth, mut quoted, mut before) = (vec![String::new()], 0, false, ' ');
    for letter in text.chars() {
        match letter {
            '"' if before != '\\' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted && depth == 0 => break,
            ')' | ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        before = letter;
        if letter == ',' && depth == 0 && !quoted {
            all.push(String::new());
        } else if let Some(last) = all.last_mut() {
            last.push(letter);
        }
    }
    all.iter().map(|one| one.trim().to_owned()).collect()
}

#[test]
fn the_code_names_every_message_with_its_values_and_no_other() {
    let english = table(Language::English);
    let said = said();
    assert!(said.len() > 200, "only {} found", said.len());
    for (name, given, file, recorded) in &said {
        let hint = format!("{name}.hint");
        let mut needed = values(&english, name);
        if english.contains_key(&hint) {
            needed.extend(values(&english, &hint));
        }
        needed.retain(|value| value != "job" || !recorded);
        assert_eq!(*given, needed, "values of {name} in {}", file.display());
    }
    let named: BTreeSet<&str> = said.iter().map(|(name, ..)| name.as_str()).collect();
    let inner: BTreeSet<&str> = english.values().flat_map(|parts| parts.messages.iter().map(String::as_str)).collect();
    let unused = |name: &&String| {
        let name = name.strip_suffix(".hint").unwrap_or(name);
        !named.contains(name) && !inner.contains(name)
    };
    let unused: Vec<&String> = english.keys().filter(unused).collect();
    assert!(unused.is_empty(), "nobody says {unused:?}");
}
