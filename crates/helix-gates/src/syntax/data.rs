//! Data formats: JSON with its relatives, YAML, TOML, and the front matter of Markdown.
//!
//! Must not know schemas: any well-formed document is right.

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;

use super::SyntaxError;

pub(super) fn place(line: usize, column: usize, message: String) -> SyntaxError {
    SyntaxError {
        line: u32::try_from(line).ok().filter(|line| *line > 0),
        column: u32::try_from(column.max(1)).ok(),
        message,
    }
}

pub(super) fn json(source: &str) -> Vec<SyntaxError> {
    let Err(error) = serde_json::from_str::<IgnoredAny>(source) else { return Vec::new() };
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    vec![place(error.line(), error.column(), message)]
}

pub(super) fn json_lines(source: &str) -> Vec<SyntaxError> {
    let lines = source.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .flat_map(|(index, line)| {
            json(line).into_iter().map(move |error| place(index + 1, error.column.unwrap_or(1) as usize, error.message))
        })
        .collect()
}

/// What tools that read comments in JSON allow besides, and no more.
const WITH_COMMENTS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn json_with_comments(source: &str) -> Vec<SyntaxError> {
    relaxed(source, &WITH_COMMENTS)
}

pub(super) fn json5(source: &str) -> Vec<SyntaxError> {
    relaxed(source, &ParseOptions { allow_missing_commas: false, ..ParseOptions::default() })
}

fn relaxed(source: &str, options: &ParseOptions) -> Vec<SyntaxError> {
    match parse_to_ast(source, &CollectOptions::default(), options) {
        Ok(parsed) if parsed.value.is_some() => Vec::new(),
        Ok(_) => vec![SyntaxError::whole("there is no value in it")],
        Err(error) => vec![SyntaxError::at_offset(source, error.range().start, error.kind().to_string())],
    }
}

pub(super) fn yaml(source: &str) -> Vec<SyntaxError> {
    let Err(error) = serde_saphyr::from_multiple::<IgnoredAny>(source) else { return Vec::new() };
    let message = error.without_snippet().to_string();
    let Some(location) = error.location() else { return vec![SyntaxError::whole(message)] };
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    vec![place(number(location.line()), number(location.column()), message)]
}

/// True for YAML that becomes YAML only after a template engine has gone over it (Helm, Jinja).
pub(crate) fn is_template(path: &str, source: &str) -> bool {
    path.split('/').any(|part| part == "templates") && source.contains("{{") || source.contains("{%")
}

pub(super) fn toml(source: &str) -> Vec<SyntaxError> {
    let Err(error) = source.parse::<toml::Table>() else { return Vec::new() };
    let message = error.message().to_owned();
    vec![match error.span() {
        Some(span) => SyntaxError::at_offset(source, span.start, message),
        None => SyntaxError::whole(message),
    }]
}

/// Any text is Markdown; what can be wrong is the YAML or TOML at its head. Without a closing line no front matter.
pub(super) fn markdown(source: &str) -> Vec<SyntaxError> {
    let first = source.lines().next().map(str::trim_end);
    let (fence, parse): (&str, fn(&str) -> Vec<SyntaxError>) = match first {
        Some("---") => ("---", yaml),
        Some("+++") => ("+++", toml),
        _ => return Vec::new(),
    };
    let lines: Vec<&str> = source.lines().skip(1).take_while(|line| line.trim_end() != fence).collect();
    if lines.len() + 1 >= source.lines().count() {
        return Vec::new();
    }
    // An empty first line keeps the numbers of lines right.
    parse(&format!("\n{}\n", lines.join("\n")))
}
