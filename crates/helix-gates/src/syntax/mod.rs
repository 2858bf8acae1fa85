//! Embedded parsers, and which of them reads a file.
//!
//! Must not know files or commits, nor run any tool: what is installed on the machine makes no difference.

mod data;
mod grammar;
mod language;
mod script;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub(crate) use data::is_template;
pub(crate) use language::{Language, Parser};

/// Most errors of one file that are reported.
const MAX_ERRORS: usize = 10;

/// One place that does not parse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SyntaxError {
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    pub(crate) message: String,
}

impl SyntaxError {
    pub(crate) fn at_offset(source: &str, offset: usize, message: impl Into<String>) -> Self {
        let span = helix_core::source_text::SourceText::new("", source).span(offset..offset);
        Self { line: Some(span.line), column: Some(span.column), message: message.into() }
    }

    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { line: None, column: None, message: message.into() }
    }
}

/// Parses a text; the errors, in the order of their places.
pub(crate) fn check(language: Language, path: &str, source: &str) -> Vec<SyntaxError> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut errors = match language.details().2 {
        Parser::Exact(parse) => parse(source),
        Parser::ByPath(parse) => parse(path, source),
        Parser::Grammars(grammars) => {
            // The grammars know this keyword of C only as newer C and C++ spell it; places stay where they are.
            let source = match language {
                Language::C | Language::CHeader => Cow::Owned(source.replace("_Thread_local ", "thread_local  ")),
                _ => Cow::Borrowed(source),
            };
            let read = grammars.iter().map(|grammar| grammar::check(grammar, &source));
            read.reduce(|one, other| if one.is_empty() { one } else { other }).unwrap_or_default()
        }
    };
    errors.truncate(MAX_ERRORS);
    errors
}
