//! A report as a comment on GitHub: the four headings, the log fenced in a details block, nothing in it live.
//!
//! Must not know where it is posted.

use super::build::{Classification, Report, Section, SimilarFailure, WhatFailed, Why};
use super::language::ReportLanguage;
use super::neutral::{code_span, prose};
use super::terminal::{past_summary, rows, sure};
use crate::verdict::Category;
use helix_core::finding::fence_for;

impl Report {
    /// The report as GitHub Markdown. Text from outside stands in code spans and fences, so that no mention, reference, link,
    /// image or HTML in it comes alive; it holds no control characters.
    pub fn markdown(&self) -> String {
        let sections = [
            format!("### What failed\n\n{}", what_failed(&self.what_failed)),
            section("Why", &self.why, why),
            section("Similar past failures", &self.similar, |past| similar(past)),
            format!("### Suggested actions\n\n{}", self.steps()),
        ];
        sections.join("\n")
    }

    fn steps(&self) -> String {
        let mut text = String::new();
        for (at, action) in self.actions.iter().enumerate() {
            text.push_str(&format!("{}. {}\n", at + 1, prose(&action.text)));
        }
        text
    }
}

fn section<T>(title: &str, section: &Section<T>, tell: impl Fn(&T) -> String) -> String {
    let body = match section {
        Section::Known(content) => tell(content),
        Section::Missing(reason) => format!("_Not available:_ {}\n", prose(reason)),
    };
    format!("### {title}\n\n{body}")
}

fn what_failed(what: &WhatFailed) -> String {
    let mut text = format!("{}\n\n", code_span(&what.headline));
    for (name, value) in rows(what) {
        text.push_str(&format!(
            "- **{name}:** {}\n",
            if name == "attempt" || name == "ended" { value } else { code_span(&value) }
        ));
    }
    text
}

fn why(why: &Why) -> String {
    let Classification { category, cause, retry, blame, confidence, cause_line, .. } = &why.classification;
    let sure = sure(*confidence);
    let category = match category {
        // What is none of the known kinds may be well known for itself.
        Category::Unknown => format!("Cause `{cause}` ({sure})"),
        known => {
            format!("**{}**: {} ({sure}); cause `{cause}`", known.word().replace('_', "\\_"), why.meaning)
        }
    };
    let mut text = format!("{category}, retry `{}`, blame `{}`.\n", retry.word(), blame.word());
    if let Some(line) = cause_line {
        text.push_str(&format!("\n{}\n", code_span(line)));
    }
    if !why.locations.is_empty() {
        text.push('\n');
    }
    for location in &why.locations {
        text.push_str(&format!("- {}\n", code_span(&format!("{}:{}", location.path, location.line))));
    }
    if why.excerpt.lines.is_empty() {
        text.push_str("\nThe log is empty.\n");
        return text;
    }
    let lines: Vec<String> = why
        .excerpt
        .lines
        .iter()
        .map(|line| {
            let mark = if line.cause { ">" } else { " " };
            let number = line.number.map(|number| format!("{number:>6} ")).unwrap_or_default();
            format!("{mark} {number}{}", line.text).trim_end().to_owned()
        })
        .collect();
    let log = lines.join("\n");
    let fence = fence_for(&log);
    text.push_str(&format!(
        "\n<details>\n<summary>Log ({} of {} lines)</summary>\n\n{fence}text\n{log}\n{fence}\n\n</details>\n",
        lines.len(),
        why.excerpt.of
    ));
    text
}

fn similar(past: &[SimilarFailure]) -> String {
    if past.is_empty() {
        return "None known.\n".to_owned();
    }
    let mut text = String::new();
    for one in past {
        text.push_str(&format!(
            "- {}\n  {}\n",
            code_span(&one.summary),
            prose(&past_summary(one, ReportLanguage::ENGLISH))
        ));
        if !one.diff.trim().is_empty() {
            // At the line's beginning, not within the item: a fence there ends where every reader takes it to end.
            text.push_str(&format!("\n{}", fix(one)));
        }
    }
    text
}

/// What fixed a past failure, folded. The fence is longer than any run of backticks in it, so that nothing leaves it.
fn fix(one: &SimilarFailure) -> String {
    let diff = one.diff.trim_end();
    let fence = fence_for(diff);
    format!("<details>\n<summary>The change that fixed it</summary>\n\n{fence}diff\n{diff}\n{fence}\n\n</details>\n")
}
