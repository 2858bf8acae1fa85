//! TOML as the tree that all formats are read into.
//!
//! Must not know which keys exist.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::tree::{Entry, Node, Value};

/// Reads a text as TOML. Places count from `start`, so that several files can lie behind each other.
///
/// # Errors
/// Every place at which the text is not TOML, with what is wrong there.
pub fn read_toml(text: &str, start: usize) -> Result<Node, Vec<(Range<usize>, String)>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(table_node(table.get_ref(), start..start + text.len(), start));
    }
    Err(errors.iter().map(|error| (error.span().unwrap_or(0..0), error.message().trim().to_owned())).collect())
}

fn table_node(table: &DeTable<'_>, range: Range<usize>, start: usize) -> Node {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().as_ref().into(),
            key_range: shifted(key.span(), start),
            value: value_node(value, start),
        })
        .collect();
    // The parser sorts by name; messages and documents go by place.
    entries.sort_by_key(|entry| entry.key_range.start);
    Node { range, value: Value::Mapping(entries.into()) }
}

fn value_node(value: &Spanned<DeValue<'_>>, start: usize) -> Node {
    let range = shifted(value.span(), start);
    let text = match value.get_ref() {
        DeValue::Table(table) => return table_node(table, range, start),
        DeValue::Array(items) => {
            return Node::list(items.iter().map(|item| value_node(item, start)).collect(), &range);
        }
        DeValue::String(text) => return Node::text(text.as_ref(), &range),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i128::from_str_radix(&digits, number.radix()).map_or(digits, |n| n.to_string())
        }
        DeValue::Float(number) => number.as_str().replace('_', "").replace("inf", ".inf").replace("nan", ".nan"),
        DeValue::Datetime(time) => time.to_string(),
    };
    Node::plain(text, &range)
}

fn shifted(range: Range<usize>, start: usize) -> Range<usize> {
    range.start + start..range.end + start
}
