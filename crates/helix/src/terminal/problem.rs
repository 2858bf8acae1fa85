//! Draws problems: the code, what failed, why, the place with a caret, and the remedy. The word before a text is in that text's own
//! language, whoever reads it: most are English, and a host tells people in theirs.
//!
//! Must not know what the problem is about.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use helix_core::diagnostic::{Diagnostic, Severity, Span};
use helix_language::{Language, RECORD, say};

use super::{Look, Meaning, paint};
use crate::error::Problem;

/// Longest source line that is drawn: a picture of a minified file helps nobody.
const LONGEST_LINE: usize = 400;

/// A problem with all its diagnostics.
pub(super) fn draw(problem: &Problem, look: Look) -> String {
    let mut out = String::new();
    for diagnostic in &problem.diagnostics {
        out.push_str(&picture(diagnostic, &problem.source_text, look));
        out.push_str("\n\n");
    }
    let word = say!(language_of(&problem.message), "problem-error");
    let label = paint(look, Meaning::Bad, &format!("{word}[{}]", problem.code));
    out.push_str(&format!("{label}: {}", problem.message));
    for cause in &problem.causes {
        out.push_str(&format!("\n  {}", say!(language_of(cause), "problem-because", cause = cause.trim_end())));
    }
    if let Some(hint) = &problem.hint {
        let name = paint(look, Meaning::Strong, &say!(language_of(hint), "problem-hint"));
        out.push_str(&format!("\n{name}: {hint}"));
    }
    out
}

fn language_of(text: &str) -> Language {
    Language::of_text(text).unwrap_or(RECORD)
}

/// One diagnostic: with a picture of its place if it has one and the text is known, else as one line.
pub(super) fn picture(diagnostic: &Diagnostic, source: &str, look: Look) -> String {
    let language = language_of(&diagnostic.message);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR.with_name(say!(language, "problem-error")),
        Severity::Warning => Level::WARNING.with_name(say!(language, "problem-warning")),
    };
    let drawable = diagnostic.span.filter(|span| {
        let line = source.lines().nth((span.line as usize).saturating_sub(1));
        span.end <= source.len()
            && source.is_char_boundary(span.start)
            && source.is_char_boundary(span.end)
            && line.is_some_and(|line| line.len() <= LONGEST_LINE)
    });
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str());
    let file = diagnostic.file.as_str();
    let mut group = match (drawable, diagnostic.span) {
        (Some(span), _) => {
            // A span over many lines (a whole phase) would draw all of them: its first line says where to look.
            let line_end = source[span.start..].find('\n').map_or(source.len(), |at| span.start + at);
            let end = span.end.min(line_end).max(span.start);
            let place = AnnotationKind::Primary.span(span.start..end);
            title.element(Snippet::source(source).path(file).annotation(place))
        }
        (None, Some(Span { line, column, .. })) => {
            title.element(Origin::path(file).line(line as usize).char_column(column as usize))
        }
        (None, None) => title.element(Origin::path(file)),
    };
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.with_name(say!(language_of(help), "problem-hint")).message(help.as_str()));
    }
    let renderer = match look {
        Look::Colour => Renderer::styled(),
        Look::Plain => Renderer::plain(),
    };
    renderer.decor_style(DecorStyle::Ascii).render(&[group])
}

#[cfg(test)]
#[path = "problem_test.rs"]
mod tests;
