//! A JSON value as the tree that all formats are read into, so that all follow one set of rules.
//!
//! Must not know any key. A place in the tree is a number of a JSON pointer: that of a value is `n..n`, that of a key is
//! `object..value`.

use serde_json::Value as Json;

use crate::diagnostic::Diagnostic;

use super::tree::{Entry, Node, Value};

/// JSON pointers by their number.
#[derive(Debug)]
pub struct Pointers {
    all: Vec<String>,
}

impl Pointers {
    /// The tree of a JSON value, and the pointers of its places.
    pub fn tree(json: &Json) -> (Node, Self) {
        let mut pointers = Self { all: Vec::new() };
        let node = pointers.node(json, String::new());
        (node, pointers)
    }

    /// A text that is long enough for every place to lie in it.
    pub fn ground(&self) -> String {
        " ".repeat(self.all.len())
    }

    /// The pointer of a place.
    pub fn pointer(&self, range: &std::ops::Range<usize>) -> &str {
        self.all.get(range.start).map_or("", String::as_str)
    }

    /// The pointer that a diagnostic is about.
    pub fn for_diagnostic(&self, diagnostic: &Diagnostic, missing_key: &str) -> &str {
        let Some(span) = diagnostic.span else { return "" };
        // What is missing is missing in the object; a key that should not be there is named itself.
        let number = if diagnostic.code == missing_key { span.start } else { span.end };
        self.all.get(number).map_or("", String::as_str)
    }

    fn node(&mut self, json: &Json, pointer: String) -> Node {
        let number = self.all.len();
        self.all.push(pointer.clone());
        let range = number..number;
        let value = match json {
            Json::Null | Json::Bool(_) | Json::Number(_) => return Node::plain(json.to_string(), &range),
            Json::String(text) => return Node::text(text, &range),
            Json::Array(items) => Value::Sequence(
                items.iter().enumerate().map(|(index, item)| self.node(item, format!("{pointer}/{index}"))).collect(),
            ),
            Json::Object(members) => Value::Mapping(
                members
                    .iter()
                    .map(|(key, member)| {
                        let escaped = key.replace('~', "~0").replace('/', "~1");
                        let value = self.node(member, format!("{pointer}/{escaped}"));
                        Entry { key: key.as_str().into(), key_range: number..value.range.start, value }
                    })
                    .collect(),
            ),
        };
        Node { range, value }
    }
}
