//! Mappings as declarations: a key with its type, its meaning and its example is written once, and its reading, its JSON
//! Schema and its documentation follow.
//!
//! Must not know any key itself.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::fields::{Key, one_line};

/// The schema of a kind of values, required and optional.
pub type Kind = (fn(&mut SchemaGenerator) -> Schema, fn(&mut SchemaGenerator) -> Schema);

/// The JSON Schema of a declared mapping.
pub fn mapping_schema(about: &str, keys: &[Key], kinds: &[Kind], generator: &mut SchemaGenerator) -> Schema {
    let mut properties = serde_json::Map::new();
    for (key, (plain, optional)) in keys.iter().zip(kinds) {
        let schema = if key.required.is_some() { plain } else { optional };
        let mut property = schema(generator).to_value();
        if let Value::Object(property) = &mut property {
            property.insert("description".into(), key.doc().into());
        }
        properties.insert(key.name.into(), property);
    }
    let required: Vec<&str> = keys.iter().filter(|key| key.required.is_some()).map(|key| key.name).collect();
    let mut schema = json_schema!({
        "description": one_line(about), "type": "object", "properties": properties, "additionalProperties": false,
    });
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema
}

/// Declares a mapping. Each key becomes an optional field with its place; unknown keys are errors with a suggestion.
///
/// `key: Kind;` is optional, `key: Kind, required = "what to write";` is not, and `key: Kind, example = "value";` is shown
/// in the documentation. A field whose key is not an identifier of Rust has it in brackets: `kind["type"]: …`; what
/// messages call an item of a list stands behind `as`. With `schema`
/// in front the mapping has a JSON Schema too, for which every kind needs one.
#[macro_export]
macro_rules! mapping {
    (schema $(#[doc = $about:literal])+ $vis:vis struct $name:ident $(as $item:literal)? {
        $($(#[doc = $doc:literal])+ $field:ident $([$key:literal])? : $kind:ty $(, $how:ident = $text:literal)?;)+
    }) => {
        $crate::mapping! {
            $(#[doc = $about])+ $vis struct $name $(as $item)? {
                $($(#[doc = $doc])+ $field $([$key])? : $kind $(, $how = $text)?;)+
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let kinds: &[$crate::document::Kind] =
                    &[$((|generator| generator.subschema_for::<$kind>(), |generator| generator.subschema_for::<Option<$kind>>())),+];
                $crate::document::mapping_schema(concat!($($about, "\n"),+), Self::KEYS, kinds, generator)
            }
        }
    };
    ($(#[doc = $about:literal])+ $vis:vis struct $name:ident $(as $item:literal)? {
        $($(#[doc = $doc:literal])+ $field:ident $([$key:literal])? : $kind:ty $(, $how:ident = $text:literal)?;)+
    }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Default, PartialEq)]
        $vis struct $name {
            $($(#[doc = $doc])+ $vis $field: Option<$crate::document::Placed<<$kind as $crate::document::FromNode>::Value>>,)+
            /// Where to point when something is missing.
            $vis head: std::ops::Range<usize>,
            /// Keys whose values were reported.
            $vis unreadable: Vec<&'static str>,
        }

        impl $name {
            /// The keys in the order of their declaration.
            $vis const KEYS: &'static [$crate::document::Key] = &[$(
                $crate::document::Key::new($crate::mapping!(@key $field $($key)?), concat!($($doc, "\n"),+))
                    $(.$how($text))?
            ),+];
        }

        impl $crate::document::FromNode for $name {
            type Value = Self;
            $(const ITEM: Option<&'static str> = Some($item);)?
            fn from_node(
                node: &$crate::document::Node,
                what: &str,
                reader: &mut $crate::document::FieldReader<'_>,
            ) -> Option<Self> {
                let mut fields = reader.open(node, what)?;
                let mut keys = Self::KEYS.iter();
                let mut read = Self::default();
                $(if let Some(key) = keys.next() { read.$field = fields.declared::<$kind>(key, reader); })+
                read.head = fields.head();
                read.unreadable = fields.finish(reader);
                Some(read)
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}
