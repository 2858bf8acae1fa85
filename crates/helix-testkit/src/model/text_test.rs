//! Conditions on a text, shared by everything in a script that looks at one.
//!
//! Must not know where the text comes from.

use std::collections::BTreeMap;
use std::fmt;

use regex::Regex;
use serde::Deserialize;
use serde::de::{self, MapAccess, Visitor};

/// A regular expression that was checked when the script was read.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles a regular expression.
    ///
    /// # Errors
    /// The syntax error of the `regex` crate.
    pub fn new(text: &str) -> Result<Self, regex::Error> {
        Regex::new(text).map(Self)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(de::Error::custom)
    }
}

/// A condition on a text; everything that is given must hold.
///
/// In a script either a plain string (the text contains it) or a mapping with `contains`, `matches` and `lacks`.
#[derive(Debug, Clone, Default)]
pub struct TextTest {
    /// Must occur in the text.
    pub contains: Option<String>,
    /// Must match somewhere; its named groups become variables of the reply.
    pub matches: Option<Pattern>,
    /// Must not occur in the text.
    pub lacks: Option<String>,
}

impl TextTest {
    /// The condition that the text contains `part`.
    pub fn contains(part: impl Into<String>) -> Self {
        Self { contains: Some(part.into()), ..Self::default() }
    }

    /// Whether the text fulfils the condition; named groups of `matches` are added to `variables`.
    pub fn holds(&self, text: &str, variables: &mut BTreeMap<String, String>) -> bool {
        if self.contains.as_ref().is_some_and(|part| !text.contains(part.as_str()))
            || self.lacks.as_ref().is_some_and(|part| text.contains(part.as_str()))
        {
            return false;
        }
        let Some(Pattern(regex)) = &self.matches else { return true };
        let Some(groups) = regex.captures(text) else { return false };
        for name in regex.capture_names().flatten() {
            if let Some(group) = groups.name(name) {
                variables.insert(name.to_owned(), group.as_str().to_owned());
            }
        }
        true
    }
}

impl<'de> Deserialize<'de> for TextTest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Parts {
            contains: Option<String>,
            matches: Option<Pattern>,
            lacks: Option<String>,
        }

        struct StringOrParts;

        impl<'de> Visitor<'de> for StringOrParts {
            type Value = TextTest;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text that must occur, or a mapping with contains, matches, lacks")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<TextTest, E> {
                Ok(TextTest::contains(text))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TextTest, A::Error> {
                let parts = Parts::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(TextTest { contains: parts.contains, matches: parts.matches, lacks: parts.lacks })
            }
        }

        deserializer.deserialize_any(StringOrParts)
    }
}
