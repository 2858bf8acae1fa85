//! What reports say, for readers of other languages: a table of Helix's own words beside their translation for each.
//!
//! Must not translate what tools wrote. Records and agents have the English words, by which they are found here.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The words of one language; of English, none are needed.
#[derive(Clone, Copy)]
pub(super) struct ReportLanguage(Option<&'static Table>);

struct Table {
    words: HashMap<&'static str, &'static str>,
    /// Those with values.
    forms: Vec<(Regex, &'static str)>,
}

static GERMAN: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("../languages/de.txt")));
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\\?\{([a-z]*)\\?\}").ok());

/// A text of a report in a language (ISO 639); as it is where it is none of Helix's own.
pub fn report_text_in(code: &str, text: &str) -> String {
    ReportLanguage::for_code(code).say(text)
}

impl ReportLanguage {
    pub(super) const ENGLISH: Self = Self(None);

    /// By its code (ISO 639); English where there is no table.
    pub(super) fn for_code(code: &str) -> Self {
        Self((code == "de").then(|| &*GERMAN))
    }

    /// A text in this language; as it is where it is none of Helix's own.
    pub(super) fn say(self, text: &str) -> String {
        let Some(table) = self.0 else { return text.to_owned() };
        if let Some(said) = table.words.get(text) {
            return (*said).to_owned();
        }
        let said = table.forms.iter().find_map(|(form, said)| Some(fill(said, &form.captures(text)?)));
        said.unwrap_or_else(|| text.to_owned())
    }

    /// A word of the records, such as `missing_module`.
    pub(super) fn slug(self, word: &str) -> String {
        let plain = word.replace('_', " ");
        Some(self.say(&plain)).filter(|said| *said != plain).unwrap_or_else(|| word.to_owned())
    }

    /// `2 of 3`.
    pub(super) fn attempt(self, text: &str) -> String {
        text.replace(" of ", &format!(" {} ", self.say("of")))
    }

    /// Several of them with the same between.
    pub(super) fn say_each(self, texts: &str, between: &str) -> String {
        texts.split(between).map(|text| self.say(text)).collect::<Vec<_>>().join(between)
    }
}

impl Table {
    fn parse(source: &'static str) -> Self {
        let mut lines = source.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (mut words, mut forms) = (HashMap::new(), Vec::new());
        while let (Some(text), Some(said)) = (lines.next(), lines.next()) {
            let said = said.trim_start_matches("= ");
            match text.contains('{') {
                true => forms.extend(form(text).map(|form| (form, said))),
                false => drop(words.insert(text, said)),
            }
        }
        Self { words, forms }
    }
}

/// What a text with values looks like. Only files, commands and commits have blanks in them.
fn form(text: &str) -> Option<Regex> {
    let mut named: Vec<String> = Vec::new();
    let escaped = regex::escape(text);
    let form = NAME.as_ref()?.replace_all(&escaped, |found: &Captures<'_>| {
        let name = value(found.get(1).map_or("", |name| name.as_str()));
        let what = if ["files", "commit", "command"].contains(&name) { ".*?" } else { r"\S*?" };
        if named.iter().any(|other| other == name) {
            return what.to_owned();
        }
        named.push(name.to_owned());
        format!("(?<{name}>{what})")
    });
    Regex::new(&format!("^{form}$")).ok()
}

fn fill(said: &str, values: &Captures<'_>) -> String {
    let Some(names) = NAME.as_ref() else { return said.to_owned() };
    let filled = names.replace_all(said, |found: &Captures<'_>| {
        values.name(value(found.get(1).map_or("", |name| name.as_str()))).map_or("", |value| value.as_str()).to_owned()
    });
    filled.into_owned()
}

fn value(name: &str) -> &str {
    if name.is_empty() { "it" } else { name }
}

#[cfg(test)]
#[path = "language_test.rs"]
mod tests;
