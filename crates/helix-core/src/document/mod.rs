//! Structured files (YAML, TOML, JSON, front matter) read into one tree that knows the place of every key and value, and
//! mappings declared once, so that one pass can report all problems of a file.
//!
//! Must not know what the keys mean; limits keep alias bombs and huge files from costing more than milliseconds.

mod duration;
mod fields;
mod front_matter;
mod json;
mod kinds;
mod mapping;
mod toml;
mod tree;

pub use duration::{DurationError, format_duration, parse_duration};
pub use fields::{FieldCodes, FieldReader, Fields, FromNode, Key, Paths, Placed};
pub use front_matter::{FrontMatter, front_matter};
pub use json::Pointers;
pub use kinds::{Count, LargeCount, Money, Read, Share, TableOf, Text, Time, TimeOrZero, Words};
pub use mapping::{Kind, mapping_schema};
pub use toml::read_toml;
pub use tree::{Entry, Limits, Node, ReadError, ReadErrorKind, Scalar, ScalarForm, Value, read, read_part};
