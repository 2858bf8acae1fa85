//! Languages with an exact parser of their own: Python, JavaScript and TypeScript, and Rust.
//!
//! Must not judge style: only what the language itself refuses.

use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::SyntaxError;
use super::data::place;
use crate::code::other_encoding;

/// By the parser of the ruff linter, which reads the newest Python.
pub(super) fn python(source: &str) -> Vec<SyntaxError> {
    if let Some((line, encoding)) = other_encoding(source) {
        let message = format!("the encoding {encoding} is not read: only UTF-8, ASCII and Latin-1 are");
        return vec![SyntaxError { line: Some(line), ..SyntaxError::whole(message) }];
    }
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module));
    let errors = parsed.errors().iter();
    errors
        .map(|error| SyntaxError::at_offset(source, error.location.start().to_usize(), error.error.to_string()))
        .collect()
}

/// By oxc, which reads JSX and TypeScript too. A `.js` file may hold JSX, as bundlers allow.
pub(super) fn ecmascript(path: &str, source: &str) -> Vec<SyntaxError> {
    let kind = SourceType::from_path(path).unwrap_or_else(|_| SourceType::unambiguous());
    let kind = if kind.is_javascript() { kind.with_jsx(true) } else { kind };
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, kind).parse();
    if parsed.is_flow_language || !(parsed.diagnostics.has_errors() || parsed.panicked) {
        return Vec::new();
    }
    let errors = parsed.diagnostics.iter().map(|diagnostic| match diagnostic.labels.first() {
        Some(label) => SyntaxError::at_offset(source, label.offset() as usize, diagnostic.to_string()),
        None => SyntaxError::whole(diagnostic.to_string()),
    });
    let errors: Vec<SyntaxError> = errors.collect();
    if errors.is_empty() { vec![SyntaxError::whole("the parser gave up on this file")] } else { errors }
}

/// By syn, the parser of Rust's macros.
pub(super) fn rust(source: &str) -> Vec<SyntaxError> {
    let placed = |error: syn::Error| {
        let start = error.span().start();
        place(start.line, start.column + 1, explained(error.to_string()))
    };
    syn::parse_file(source).err().into_iter().flatten().map(placed).collect()
}

/// What the tokenizer means when it says nothing but that it gave up.
fn explained(message: String) -> String {
    match message.as_str() {
        "cannot parse string into token stream" | "lex error" => {
            "a bracket does not match, or a literal or comment does not end".into()
        }
        _ => message,
    }
}
