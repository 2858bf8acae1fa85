//! Words for people, as programs read them: in English, as text.
//!
//! Must not know what they are about.

use helix_core::said::Words;
use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

use crate::Language;

/// For `#[serde(with)]`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(all: &[Words], serializer: S) -> Result<S::Ok, S::Error> {
    all.iter().map(|words| Language::English.words(words)).collect::<Vec<_>>().serialize(serializer)
}

/// For `#[serde(with)]`.
///
/// # Errors
/// Those of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Words>, D::Error> {
    Ok(Vec::<String>::deserialize(deserializer)?.into_iter().map(Words::from).collect())
}

/// One of them.
pub mod one {
    use super::*;

    /// For `#[serde(with)]`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(words: &Words, serializer: S) -> Result<S::Ok, S::Error> {
        Language::English.words(words).serialize(serializer)
    }

    /// For `#[serde(with)]`.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Words, D::Error> {
        Ok(String::deserialize(deserializer)?.into())
    }
}
