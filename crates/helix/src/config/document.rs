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
        let table = self.value(key, "a table", document, |value| match value {
            DeValue::Table(table) => Some(table),
            _ => None,
        })?;
        Some(Section::of(name, table.value))
    }

    /// Tables in this one whose names the user chooses.
    pub(crate) fn named(self, document: &mut Document<'_>) -> Vec<(String, Section<'t, 'i>)> {
        let mut sections = Vec::new();
        for (key, (_, value)) in &self.entries {
            match value.get_ref() {
                DeValue::Table(table) => {
                    sections.push(((*key).to_owned(), Section::of(format!("{}.{key}", self.name), table)));
                }
                _ => self.mismatch(key, "a table", value, document),
            }
        }
        sections
    }

    /// A text.
    pub(crate) fn text(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<String>> {
        self.value(key, "a text in quotes", document, text)
    }

    /// A truth value.
    pub(crate) fn truth(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<bool>> {
        self.value(key, "true or false", document, |value| match value {
            DeValue::Boolean(truth) => Some(*truth),
            _ => None,
        })
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<Vec<String>>> {
        self.parts(key, "a list of texts, such as [\"a\", \"b\"]", document, |value| {
            let DeValue::Array(items) = value.get_ref() else { return Err(value) };
            items.iter().map(|item| text(item.get_ref()).ok_or(item)).collect()
        })
    }

    /// Texts by names that the user chooses.
    pub(crate) fn text_by_name(
        &mut self,
        key: &'static str,
        document: &mut Document<'_>,
    ) -> Option<Written<BTreeMap<String, String>>> {
        self.parts(key, "a table of texts, such as { NAME = \"value\" }", document, |value| {
            let DeValue::Table(table) = value.get_ref() else { return Err(value) };
            let entry = |(name, item): (&Spanned<_>, &'t Spanned<DeValue<'i>>)| {
                Ok((ToString::to_string(name.get_ref()), text(item.get_ref()).ok_or(item)?))
            };
            table.iter().map(entry).collect()
        })
    }

    /// A whole number of at least 1.
    pub(crate) fn count(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<u32>> {
        self.value(key, "a whole number of at least 1", document, |value| whole(value).filter(|count| *count >= 1))
    }

    /// A whole number of at least 1 that may be larger than [`Section::count`] takes.
    pub(crate) fn large_count(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<u64>> {
        self.value(key, "a whole number of at least 1", document, |value| whole(value).filter(|count| *count >= 1))
    }

    /// A whole number, which may be 0.
    pub(crate) fn whole(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<u32>> {
        self.value(key, "a whole number of at least 0", document, whole)
    }

    /// A positive number.
    pub(crate) fn amount(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<f64>> {
        self.value(key, "a number above 0", document, |value| {
            number(value).filter(|amount| amount.is_finite() && *amount > 0.0)
        })
    }

    /// A share, from 0 to 1.
    pub(crate) fn share(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<f64>> {
        self.value(key, "a share from 0 to 1", document, |value| {
            number(value).filter(|share| (0.0..=1.0).contains(share))
        })
    }

    /// A length of time, such as `90s`, `30m` or `2h`.
    pub(crate) fn duration(&mut self, key: &'static str, document: &mut Document<'_>) -> Option<Written<Duration>> {
        let wanted = "a length of time, such as \"90s\", \"30m\" or \"2h\"";
        self.value(key, wanted, document, |value| duration(value).filter(|duration| !duration.is_zero()))
    }

    /// A length of time, or none at all.
    pub(crate) fn duration_or_zero(
        &mut self,
        key: &'static str,
        document: &mut Document<'_>,
    ) -> Option<Written<Duration>> {
        self.value(key, "a length of time, such as \"90s\", \"30m\" or \"2h\", or \"0s\"", document, duration)
    }

    /// A length of time, or `never`, which is `None`.
    pub(crate) fn duration_or_never(
        &mut self,
        key: &'static str,
        document: &mut Document<'_>,
    ) -> Option<Written<Option<Duration>>> {
        let wanted = "a length of time, such as \"90s\", \"30m\" or \"72h\", or \"never\"";
        self.value(key, wanted, document, |value| match value {
            DeValue::String(text) if text.as_ref() == "never" => Some(None),
            _ => duration(value).filter(|duration| !duration.is_zero()).map(Some),
        })
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

    /// A value as `read` takes it; `wanted` says what it takes.
    fn value<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        document: &mut Document<'_>,
        read: impl FnOnce(&'t DeValue<'i>) -> Option<T>,
    ) -> Option<Written<T>> {
        self.parts(key, wanted, document, |value| read(value.get_ref()).ok_or(value))
    }

    /// As [`Section::value`] for values with parts: the error is the part that does not fit.
    fn parts<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        document: &mut Document<'_>,
        read: impl FnOnce(&'t Spanned<DeValue<'i>>) -> Result<T, &'t Spanned<DeValue<'i>>>,
    ) -> Option<Written<T>> {
        let (_, value) = self.take(key)?;
        match read(value) {
            Ok(read) => Some(document.written(read, value.span())),
            Err(part) => {
                self.mismatch(key, wanted, part, document);
                None
            }
        }
    }

    fn mismatch(&self, key: &str, wanted: &str, found: &Spanned<DeValue<'_>>, document: &mut Document<'_>) {
        let message = format!("`{}` must be {wanted}, not {}", self.full(key), found.get_ref().type_str());
        let help = Some(format!("write `{key} = …` with {wanted}"));
        document.error(codes::CONFIG_VALUE, found.span(), message, help);
    }
}

fn text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// A whole number that is not negative and fits.
fn whole<N: TryFrom<u64>>(value: &DeValue<'_>) -> Option<N> {
    let DeValue::Integer(integer) = value else { return None };
    N::try_from(u64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()?).ok()
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    let digits = match value {
        DeValue::Integer(integer) if integer.radix() != 10 => return whole::<u32>(value).map(f64::from),
        DeValue::Integer(integer) => integer.as_str(),
        DeValue::Float(float) => float.as_str(),
        _ => return None,
    };
    digits.replace('_', "").parse().ok()
}

fn duration(value: &DeValue<'_>) -> Option<Duration> {
    let DeValue::String(text) = value else { return None };
    Duration::try_from(text.parse::<jiff::SignedDuration>().ok()?).ok()
}
