//! Reads TOML with places: every value knows its line, unknown keys are errors with a suggestion.
//!
//! Must not know which keys exist; `layer` says that.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_core::source_text::SourceText;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::codes;

/// A value with where it was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Written<T> {
    /// The value.
    pub(crate) value: T,
    /// Which file.
    pub(crate) file: PathBuf,
    /// Which line, from 1.
    pub(crate) line: u32,
    /// Which bytes, for diagnostics.
    pub(crate) range: Range<usize>,
}

/// Collects the problems of one file while it is read.
pub(crate) struct Document<'a> {
    path: &'a Path,
    source: SourceText<'a>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A table that is being read: keys that nobody asks for are errors in the end.
pub(crate) struct Section<'t, 'i> {
    name: String,
    entries: BTreeMap<&'t str, (Range<usize>, &'t Spanned<DeValue<'i>>)>,
    known: Vec<&'static str>,
}

impl<'a> Document<'a> {
    /// A document that nothing was read of yet.
    pub(crate) fn new(path: &'a Path, name: &'a str, text: &'a str) -> Self {
        Self { path, source: SourceText::new(name, text), diagnostics: Vec::new() }
    }

    /// Parses the text; syntax errors are collected with their places.
    pub(crate) fn parse(&mut self) -> Spanned<DeTable<'a>> {
        let (table, errors) = DeTable::parse_recoverable(self.source.text());
        for error in errors {
            let range = error.span().unwrap_or(0..0);
            let diagnostic = self.source.error(codes::CONFIG_SYNTAX, range, error.message().trim());
            self.diagnostics.push(diagnostic.help("write TOML: `key = value` lines below `[section]` headings"));
        }
        table
    }

    /// Adds an error at a place.
    pub(crate) fn error(&mut self, code: &str, range: Range<usize>, message: String, help: Option<String>) {
        let mut diagnostic = self.source.error(code, range, message);
        diagnostic.help = help;
        self.diagnostics.push(diagnostic);
    }

    fn written<T>(&self, value: T, range: Range<usize>) -> Written<T> {
        let line = self.source.span(range.clone()).line;
        Written { value, file: self.path.to_owned(), line, range }
    }
}

impl<'t, 'i> Section<'t, 'i> {
    /// A table under its name in messages.
    pub(crate) fn of(name: impl Into<String>, table: &'t DeTable<'i>) -> Self {
        let entries = table.iter().map(|(key, value)| (key.get_ref().as_ref(), (key.span(), value))).collect();
        Self { name: name.into(), entries, known: Vec::new() }
    }

    /// A table in this one.
    pub(crate) fn section(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Section<'t, 'i>> {
        let name = self.full(key);
        let (_, value) = self.take(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(Section::of(name, table)),
            other => {
                self.mismatch(key, "a table", other, value.span(), document);
                None
            }
        }
    }

    /// Tables in this one whose names the user chooses.
    pub(crate) fn named(self, document: &mut Document<'_>) -> Vec<(String, Section<'t, 'i>)> {
        let mut sections = Vec::new();
        for (key, (_, value)) in &self.entries {
            match value.get_ref() {
                DeValue::Table(table) => {
                    sections.push(((*key).to_owned(), Section::of(format!("{}.{key}", self.name), table)));
                }
                other => self.mismatch(key, "a table", other, value.span(), document),
            }
        }
        sections
    }

    /// A text.
    pub(crate) fn text(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<String>> {
        let (_, value) = self.take(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(document.written(text.to_string(), value.span())),
            other => {
                self.mismatch(key, "a text in quotes", other, value.span(), document);
                None
            }
        }
    }

    /// A truth value.
    pub(crate) fn truth(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<bool>> {
        let (_, value) = self.take(key)?;
        match value.get_ref() {
            DeValue::Boolean(truth) => Some(document.written(*truth, value.span())),
            other => {
                self.mismatch(key, "true or false", other, value.span(), document);
                None
            }
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<Vec<String>>> {
        let (_, value) = self.take(key)?;
        let wanted = "a list of texts, such as [\"a\", \"b\"]";
        let DeValue::Array(items) = value.get_ref() else {
            self.mismatch(key, wanted, value.get_ref(), value.span(), document);
            return None;
        };
        let mut texts = Vec::new();
        for item in items.iter() {
            match item.get_ref() {
                DeValue::String(text) => texts.push(text.to_string()),
                other => {
                    self.mismatch(key, wanted, other, item.span(), document);
                    return None;
                }
            }
        }
        Some(document.written(texts, value.span()))
    }

    /// Texts by names that the user chooses.
    pub(crate) fn text_by_name(
        &mut self,
        key: &'static str,
        document: &mut Document<'_>,
    ) -> Option<Written<BTreeMap<String, String>>> {
        let (_, value) = self.take(key)?;
        let wanted = "a table of texts, such as { NAME = \"value\" }";
        let DeValue::Table(table) = value.get_ref() else {
            self.mismatch(key, wanted, value.get_ref(), value.span(), document);
            return None;
        };
        let mut texts = BTreeMap::new();
        for (name, item) in table.iter() {
            match item.get_ref() {
                DeValue::String(text) => {
                    texts.insert(name.get_ref().to_string(), text.to_string());
                }
                other => {
                    self.mismatch(key, wanted, other, item.span(), document);
                    return None;
                }
            }
        }
        Some(document.written(texts, value.span()))
    }

    /// A whole number of at least 1.
    pub(crate) fn count(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<u32>> {
        let (_, value) = self.take(key)?;
        let count = match value.get_ref() {
            DeValue::Integer(integer) => u32::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok(),
            _ => None,
        };
        match count.filter(|count| *count >= 1) {
            Some(count) => Some(document.written(count, value.span())),
            None => {
                self.mismatch(key, "a whole number of at least 1", value.get_ref(), value.span(), document);
                None
            }
        }
    }

    /// A whole number, which may be 0.
    pub(crate) fn whole(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<u32>> {
        let (_, value) = self.take(key)?;
        let whole = match value.get_ref() {
            DeValue::Integer(integer) => u32::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok(),
            _ => None,
        };
        match whole {
            Some(whole) => Some(document.written(whole, value.span())),
            None => {
                self.mismatch(key, "a whole number of at least 0", value.get_ref(), value.span(), document);
                None
            }
        }
    }

    /// A positive number.
    pub(crate) fn amount(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<f64>> {
        let (_, value) = self.take(key)?;
        let amount = match value.get_ref() {
            DeValue::Integer(integer) => integer.as_str().replace('_', "").parse::<f64>().ok(),
            DeValue::Float(float) => float.as_str().replace('_', "").parse::<f64>().ok(),
            _ => None,
        };
        match amount.filter(|amount| amount.is_finite() && *amount > 0.0) {
            Some(amount) => Some(document.written(amount, value.span())),
            None => {
                self.mismatch(key, "a number above 0", value.get_ref(), value.span(), document);
                None
            }
        }
    }

    /// A share, from 0 to 1.
    pub(crate) fn share(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<f64>> {
        let (_, value) = self.take(key)?;
        let share = match value.get_ref() {
            DeValue::Integer(integer) => integer.as_str().parse::<f64>().ok(),
            DeValue::Float(float) => float.as_str().replace('_', "").parse::<f64>().ok(),
            _ => None,
        };
        match share.filter(|share| (0.0..=1.0).contains(share)) {
            Some(share) => Some(document.written(share, value.span())),
            None => {
                self.mismatch(key, "a share from 0 to 1", value.get_ref(), value.span(), document);
                None
            }
        }
    }

    /// A length of time, such as `90s`, `30m` or `2h`.
    pub(crate) fn duration(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<Duration>> {
        let (_, value) = self.take(key)?;
        let parsed = match value.get_ref() {
            DeValue::String(text) => text.parse::<jiff::SignedDuration>().ok(),
            _ => None,
        };
        match parsed.and_then(|duration| Duration::try_from(duration).ok()).filter(|duration| !duration.is_zero()) {
            Some(duration) => Some(document.written(duration, value.span())),
            None => {
                let wanted = "a length of time, such as \"90s\", \"30m\" or \"2h\"";
                self.mismatch(key, wanted, value.get_ref(), value.span(), document);
                None
            }
        }
    }

    /// A length of time, or none at all.
    pub(crate) fn duration_or_zero(
        &mut self,
        key: &'static str,
        document: &mut Document<'_>,
    ) -> Option<Written<Duration>> {
        let (_, value) = self.take(key)?;
        let parsed = match value.get_ref() {
            DeValue::String(text) => text.parse::<jiff::SignedDuration>().ok(),
            _ => None,
        };
        match parsed.and_then(|duration| Duration::try_from(duration).ok()) {
            Some(duration) => Some(document.written(duration, value.span())),
            None => {
                let wanted = "a length of time, such as \"90s\", \"30m\" or \"2h\", or \"0s\"";
                self.mismatch(key, wanted, value.get_ref(), value.span(), document);
                None
            }
        }
    }

    /// A length of time, or `never`, which is `None`.
    pub(crate) fn duration_or_never(
        &mut self,
        key: &'static str,
        document: &mut Document<'_>,
    ) -> Option<Written<Option<Duration>>> {
        let (_, value) = self.take(key)?;
        let parsed = match value.get_ref() {
            DeValue::String(text) if text.as_ref() == "never" => return Some(document.written(None, value.span())),
            DeValue::String(text) => text.parse::<jiff::SignedDuration>().ok(),
            _ => None,
        };
        match parsed.and_then(|duration| Duration::try_from(duration).ok()).filter(|duration| !duration.is_zero()) {
            Some(duration) => Some(document.written(Some(duration), value.span())),
            None => {
                let wanted = "a length of time, such as \"90s\", \"30m\" or \"72h\", or \"never\"";
                self.mismatch(key, wanted, value.get_ref(), value.span(), document);
                None
            }
        }
    }

    /// A whole number of at least 1 that may be larger than [`Section::count`] takes.
    pub(crate) fn large_count(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<u64>> {
        let (_, value) = self.take(key)?;
        let count = match value.get_ref() {
            DeValue::Integer(integer) => u64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok(),
            _ => None,
        };
        match count.filter(|count| *count >= 1) {
            Some(count) => Some(document.written(count, value.span())),
            None => {
                self.mismatch(key, "a whole number of at least 1", value.get_ref(), value.span(), document);
                None
            }
        }
    }

    /// Reports all keys that nobody asked for.
    pub(crate) fn finish(self, document: &mut Document<'_>) {
        for (key, (range, _)) in &self.entries {
            let place = if self.name.is_empty() { String::new() } else { format!(" in [{}]", self.name) };
            let help = match did_you_mean(key, self.known.iter().copied()) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("known here: {}", self.known.join(", ")),
            };
            document.error(codes::CONFIG_UNKNOWN_KEY, range.clone(), format!("unknown key `{key}`{place}"), Some(help));
        }
    }

    fn take(&mut self, key: &'static str) -> Option<(Range<usize>, &'t Spanned<DeValue<'i>>)> {
        self.known.push(key);
        self.entries.remove(key)
    }

    fn full(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn mismatch(&self, key: &str, wanted: &str, found: &DeValue<'_>, range: Range<usize>, document: &mut Document<'_>) {
        let message = format!("`{}` must be {wanted}, not {}", self.full(key), found.type_str());
        let help = Some(format!("write `{key} = …` with {wanted}"));
        document.error(codes::CONFIG_VALUE, range, message, help);
    }
}
