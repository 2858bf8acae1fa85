//! Replaces `{{name}}` in scripted texts by what the request yields.
//!
//! Must not know which variables exist: they are given.

use std::collections::BTreeMap;

use serde_json::Value;

/// Replaces every `{{name}}`; `\{{` stands for literal braces, and braces around anything but a name stay as they are.
///
/// # Errors
/// The name of a variable that has no value.
pub(crate) fn render(text: &str, variables: &BTreeMap<String, String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, from) = rest.split_at(start);
        if let Some(before) = before.strip_suffix('\\') {
            out.push_str(before);
            out.push_str("{{");
            rest = &from[2..];
            continue;
        }
        out.push_str(before);
        let name = from.find("}}").map(|end| (from[2..end].trim(), end + 2)).filter(|(name, _)| is_name(name));
        match name {
            Some((name, end)) => {
                out.push_str(variables.get(name).ok_or_else(|| name.to_owned())?);
                rest = &from[end..];
            }
            None => {
                out.push_str("{{");
                rest = &from[2..];
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The same for every text inside a JSON value.
pub(crate) fn render_value(value: &Value, variables: &BTreeMap<String, String>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(render(text, variables)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| render_value(item, variables)).collect::<Result<_, _>>()?)
        }
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, item)| Ok((key.clone(), render_value(item, variables)?)))
                .collect::<Result<_, String>>()?,
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_names_and_leaves_other_braces_alone() {
        let variables = BTreeMap::from([("cwd".to_owned(), "/w".to_owned())]);
        assert_eq!(
            render("{{cwd}}/a {{ cwd }} {{1 + 1}} \\{{cwd}} {x}", &variables).unwrap(),
            "/w/a /w {{1 + 1}} {{cwd}} {x}"
        );
        assert_eq!(render("{{gone}}", &variables), Err("gone".to_owned()));
    }
}
