//! Kinds of values that many files share: texts, numbers with their limits, lengths of time, lists, words of a list.
//!
//! Must not know which key has which kind.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::diagnostic::did_you_mean;

use super::duration::parse_duration;
use super::fields::{FieldReader, FromNode, Placed, shorten};
use super::tree::{Node, Value};

/// Declares kinds of values, each with a reader and, where it is given, a JSON Schema.
#[macro_export]
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $vis:vis $name:ident -> $value:ty $(as $schema:tt)?, $read:expr;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug)]
        $vis struct $name;

        impl $crate::document::FromNode for $name {
            type Value = $value;
            fn from_node(
                node: &$crate::document::Node,
                what: &str,
                reader: &mut $crate::document::FieldReader<'_>,
            ) -> Option<$value> {
                let read: $crate::document::Read<$value> = $read;
                read(node, what, reader)
            }
        }

        $(impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        })?
    )+};
}

/// How a kind of values is read.
pub type Read<T> = fn(&Node, &str, &mut FieldReader<'_>) -> Option<T>;

kinds! {
    /// A text that is not blank.
    pub Text -> String as { "type": "string" }, |node, what, reader| {
        let text = String::from_node(node, what, reader)?;
        if text.trim().is_empty() {
            let code = reader.codes.missing_key;
            reader.error(code, &node.range, format!("{what} is empty"), "write a text, or omit the key");
            return None;
        }
        Some(text)
    };
    /// A whole number of at least 1.
    pub Count -> u32 as { "type": "integer", "minimum": 1 }, |node, what, reader| {
        let number = u32::from_node(node, what, reader)?;
        reader.in_range(node, number > 0, what, "write at least 1, or omit the key").then_some(number)
    };
    /// A whole number of at least 1 that may be larger than a [`Count`].
    pub LargeCount -> u64 as { "type": "integer", "minimum": 1 }, |node, what, reader| {
        let number = u64::from_node(node, what, reader)?;
        reader.in_range(node, number > 0, what, "write at least 1, or omit the key").then_some(number)
    };
    /// An amount of money above 0.
    pub Money -> f64 as { "type": "number", "minimum": 0 }, |node, what, reader| {
        let amount = f64::from_node(node, what, reader)?;
        let good = amount.is_finite() && amount > 0.0;
        reader.in_range(node, good, what, "write US dollars above 0, such as 2.5").then_some(amount)
    };
    /// A share from 0 to 1.
    pub Share -> f64 as { "type": "number", "minimum": 0, "maximum": 1 }, |node, what, reader| {
        let share = f64::from_node(node, what, reader)?;
        reader.in_range(node, (0.0..=1.0).contains(&share), what, "write a share from 0 to 1").then_some(share)
    };
    /// A length of time such as `90s`, `30m` or `1h30m`.
    pub Time -> Duration as { "type": "string" }, |node, what, reader| {
        let time = TimeOrZero::from_node(node, what, reader)?;
        let code = reader.codes.bad_duration;
        if time.is_zero() {
            reader.error(code, &node.range, format!("{what} is zero"), "write at least 1s, or omit the key");
        }
        (!time.is_zero()).then_some(time)
    };
    /// A length of time, or `0s`.
    pub TimeOrZero -> Duration as { "type": "string" }, |node, what, reader| {
        let written = match &node.value {
            Value::Scalar(written) if node.as_bool().is_none() => &written.text,
            Value::Scalar(_) | Value::Sequence(_) | Value::Mapping(_) => {
                reader.wrong_type(node, what, "a duration such as 90s, 30m or 2h", None);
                return None;
            }
        };
        match parse_duration(written) {
            Ok(time) => Some(time),
            Err(error) => {
                let code = reader.codes.bad_duration;
                reader.error(code, &node.range, format!("{what}: {error}"), error.remedy);
                None
            }
        }
    };
}

/// A word of a list, with what it stands for.
pub trait Words: Copy + 'static {
    /// Every word.
    const WORDS: &'static [(&'static str, Self)];
    /// What messages call it, such as `a phase type`; by its key where it is empty.
    const NOUN: &'static str = "";
    /// Whether files may write the words in any case.
    const ANY_CASE: bool = false;

    /// The word of a value.
    fn word(self) -> &'static str
    where
        Self: PartialEq,
    {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }
}

impl<T: Words> FromNode for T {
    type Value = T;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<T> {
        if let Some((_, value)) = node
            .as_text()
            .filter(|_| T::ANY_CASE)
            .and_then(|text| T::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text.trim())))
        {
            return Some(*value);
        }
        let key = format!("a value of {what}");
        reader.word(node, if T::NOUN.is_empty() { &key } else { T::NOUN }, T::WORDS)
    }
}

impl FieldReader<'_> {
    /// Looks a word up in a list; unknown words are reported with the nearest one.
    pub fn word<T: Copy>(&mut self, node: &Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let written = String::from_node(node, what, self)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == written) {
            return Some(*value);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let help = match did_you_mean(&written, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? Known are: {}", known.join(", ")),
            None => format!("use one of: {}", known.join(", ")),
        };
        self.error(self.codes.unknown_word, &node.range, format!("`{}` is not {what}", shorten(&written)), help);
        None
    }

    /// Reports a number outside of its range; says whether it is good.
    pub fn in_range(&mut self, node: &Node, good: bool, what: &str, help: &str) -> bool {
        if !good {
            let written = node.as_number().unwrap_or_default();
            self.error(self.codes.out_of_range, &node.range, format!("{what} is {written}"), help);
        }
        good
    }
}

impl FromNode for String {
    type Value = Self;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        if node.as_text().is_none() {
            let help = node.scalar().map(|text| format!("write it in quotes: \"{}\"", shorten(text)));
            reader.wrong_type(node, what, "text", help);
        }
        node.as_text().map(str::to_owned)
    }
}

impl FromNode for bool {
    type Value = Self;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        if node.as_bool().is_none() {
            reader.wrong_type(node, what, "true or false", None);
        }
        node.as_bool()
    }
}

/// Whole numbers from 0.
macro_rules! whole {
    ($($number:ty),+) => {$(
        impl FromNode for $number {
            type Value = Self;
            fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
                let value = node.as_number().and_then(|text| text.strip_prefix('+').unwrap_or(text).parse().ok());
                if value.is_none() {
                    reader.wrong_type(node, what, "a whole number from 0", None);
                }
                value
            }
        }
    )+};
}

whole!(u32, u64);

impl FromNode for f64 {
    type Value = Self;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let value = node.as_number().and_then(|text| match text.trim_start_matches(['+', '-']) {
            ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
            ".inf" | ".Inf" | ".INF" if text.starts_with('-') => Some(f64::NEG_INFINITY),
            ".inf" | ".Inf" | ".INF" => Some(f64::INFINITY),
            _ => text.parse().ok(),
        });
        if value.is_none() {
            reader.wrong_type(node, what, "a number", None);
        }
        value
    }
}

impl<T: FromNode> FromNode for Vec<T> {
    type Value = Vec<Placed<T::Value>>;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self::Value> {
        let Value::Sequence(items) = &node.value else {
            let bare = node.as_number().is_some() || node.as_bool().is_some();
            let item = |text| if bare { shorten(text) } else { format!("\"{}\"", shorten(text)) };
            let help = node.scalar().map(|text| format!("write a list: [{}]", item(text)));
            reader.wrong_type(node, what, "a list", help);
            return None;
        };
        let what = T::ITEM.map_or_else(|| format!("an item of {what}"), str::to_owned);
        let read = |item: &Node| Some(Placed::new(T::from_node(item, &what, reader)?, item.range.clone()));
        Some(items.iter().filter_map(read).collect())
    }
}

/// A mapping whose names the user chooses.
#[derive(Debug)]
pub struct TableOf<T>(std::marker::PhantomData<T>);

impl<T: FromNode> FromNode for TableOf<T> {
    type Value = Vec<(Placed<String>, Placed<T::Value>)>;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self::Value> {
        let fields = reader.open(node, what)?;
        let mut read = Vec::new();
        for entry in fields.first_entries() {
            if let Some(value) = T::from_node(&entry.value, &fields.path(&entry.key), reader) {
                let name = Placed::new(entry.key.to_string(), entry.key_range.clone());
                read.push((name, Placed::new(value, entry.value.range.clone())));
            }
        }
        Some(read)
    }
}

impl<T: JsonSchema> JsonSchema for TableOf<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("TableOf{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        std::collections::BTreeMap::<String, T>::json_schema(generator)
    }
}

/// Declares an enum whose variants are words of files and records: reader, schema and serde use the same words.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])+ $vis:vis enum $name:ident $(as $noun:literal)? $(in $case:ident case)? {
        $($(#[$of:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$meta])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $vis enum $name {
            $($(#[$of])* #[serde(rename = $word)] $variant,)+
        }

        impl $crate::document::Words for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
            $(const NOUN: &'static str = $noun;)?
            $(const ANY_CASE: bool = stringify!($case).len() > 0;)?
        }

        impl $name {
            /// Every value, in the order of the declaration.
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Every word with its value.
            $vis const WORDS: &'static [(&'static str, Self)] = <Self as $crate::document::Words>::WORDS;

            /// The value of a word.
            $vis fn from_word(word: &str) -> Option<Self> {
                Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
            }

            /// The word in files and records.
            $vis fn word(self) -> &'static str {
                $crate::document::Words::word(self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
