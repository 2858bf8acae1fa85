//! Data formats: JSON with its relatives, YAML, TOML, and the front matter of Markdown.
//!
//! Must not know schemas: any well-formed document is right.

use serde::de::IgnoredAny;

use super::SyntaxError;

fn place(line: usize, column: usize, message: String) -> SyntaxError {
    SyntaxError {
        line: u32::try_from(line).ok().filter(|line| *line > 0),
        column: u32::try_from(column.max(1)).ok(),
        message,
    }
}

pub(super) fn json(source: &str) -> Vec<SyntaxError> {
    match serde_json::from_str::<IgnoredAny>(source) {
        Ok(IgnoredAny) => Vec::new(),
        Err(error) => {
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
            vec![place(error.line(), error.column(), message)]
        }
    }
}

pub(super) fn json_lines(source: &str) -> Vec<SyntaxError> {
    let lines = source.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .flat_map(|(index, line)| {
            json(line).into_iter().map(move |error| place(index + 1, error.column.unwrap_or(1) as usize, error.message))
        })
        .collect()
}

pub(super) fn json_with_comments(source: &str) -> Vec<SyntaxError> {
    json(&without_comments(source))
}

/// Replaces comments and trailing commas by spaces, so that every other character stays where it is.
fn without_comments(source: &str) -> String {
    let mut out: Vec<char> = Vec::with_capacity(source.len());
    let mut chars = source.chars().peekable();
    // Index in `out` of a comma after which only blanks have come.
    let mut comma = None;
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                comma = None;
                out.push(c);
                while let Some(inner) = chars.next() {
                    out.push(inner);
                    match inner {
                        '"' | '\n' => break,
                        '\\' => out.extend(chars.next()),
                        _ => {}
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => {
                out.push(' ');
                while let Some(inner) = chars.next_if(|next| *next != '\n') {
                    out.push(if inner == '\t' { '\t' } else { ' ' });
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                out.push(' ');
                let mut last = ' ';
                for inner in chars.by_ref() {
                    out.push(if inner == '\n' { '\n' } else { ' ' });
                    if last == '*' && inner == '/' && out.len() > 2 {
                        break;
                    }
                    last = inner;
                }
            }
            ',' => {
                comma = Some(out.len());
                out.push(c);
            }
            '}' | ']' => {
                if let Some(index) = comma.take() {
                    out[index] = ' ';
                }
                out.push(c);
            }
            _ => {
                if !c.is_whitespace() {
                    comma = None;
                }
                out.push(c);
            }
        }
    }
    out.into_iter().collect()
}

pub(super) fn yaml(source: &str) -> Vec<SyntaxError> {
    match serde_saphyr::from_multiple::<IgnoredAny>(source) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let message = error.without_snippet().to_string();
            match error.location() {
                Some(location) => {
                    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
                    vec![place(number(location.line()), number(location.column()), message)]
                }
                None => vec![SyntaxError::whole(message)],
            }
        }
    }
}

/// True for YAML that becomes YAML only after a template engine has gone over it (Helm, Jinja).
pub(super) fn is_template(path: &str, source: &str) -> bool {
    path.split('/').any(|part| part == "templates") && source.contains("{{") || source.contains("{%")
}

pub(super) fn toml(source: &str) -> Vec<SyntaxError> {
    match source.parse::<toml::Table>() {
        Ok(_) => Vec::new(),
        Err(error) => {
            let message = error.message().to_owned();
            vec![match error.span() {
                Some(span) => SyntaxError::at_offset(source, span.start, message),
                None => SyntaxError::whole(message),
            }]
        }
    }
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
