//! YAML read into a tree that knows the place of every key and value, so that one pass can report all problems of a file.
//!
//! Must not know what the keys mean; limits keep alias bombs and huge files from costing more than milliseconds.

mod fields;
mod tree;

pub use fields::{FieldCodes, FieldReader, Fields, FromYaml, Placed};
pub use tree::{Entry, Limits, Node, ReadError, Scalar, ScalarForm, Value, read, read_part};
