//! A report for a terminal: with colour and a bar along the log, or plain text without box characters.
//!
//! Must not know whether there is a terminal: the caller says how it is to look.

use super::build::{Report, Section, SimilarFailure, WhatFailed, Why};
use crate::fingerprint::Fingerprint;
use crate::memory::{Closeness, SuggestionSource};

/// Digits of a fingerprint that are enough to name a failure.
const ID: usize = 12;

/// How a report looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Colour, and box characters.
    Colour,
    /// Neither: for `NO_COLOR`, files and pipes.
    Plain,
}

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const YELLOW: &str = "33";

impl Look {
    /// A text in a colour, by the number of its escape sequence.
    pub fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Plain => text.to_owned(),
        }
    }

    fn bar(self) -> String {
        match self {
            Self::Colour => format!("{} ", self.paint(DIM, "│")),
            Self::Plain => "  ".to_owned(),
        }
    }
}

impl Report {
    /// The report for a terminal. Ends with a line break.
    pub fn terminal(&self, look: Look) -> String {
        let parts = [
            format!("{}\n{}", look.paint(BOLD, "What failed"), what_failed(look, &self.what_failed)),
            section(look, "Why", &self.why, why),
            section(look, "Similar past failures", &self.similar, |look, past| similar(look, past)),
            format!("{}\n{}", look.paint(BOLD, "Suggested actions"), self.numbered()),
        ];
        parts.join("\n")
    }

    fn numbered(&self) -> String {
        let mut text = String::new();
        for (at, action) in self.actions.iter().enumerate() {
            let source = match action.source {
                SuggestionSource::PastFix { .. } => " (from the memory)",
                SuggestionSource::Cause | SuggestionSource::Phase => "",
            };
            text.push_str(&format!("  {}. {}{source}\n", at + 1, action.text));
        }
        text
    }
}

fn section<T>(look: Look, title: &str, section: &Section<T>, tell: impl Fn(Look, &T) -> String) -> String {
    let body = match section {
        Section::Known(content) => tell(look, content),
        Section::Missing(reason) => format!("  {}\n", look.paint(YELLOW, &format!("not available: {reason}"))),
    };
    format!("{}\n{body}", look.paint(BOLD, title))
}

fn row(text: &mut String, look: Look, name: &str, value: &str) {
    if !value.is_empty() {
        text.push_str(&format!("  {} {value}\n", look.paint(DIM, &format!("{name:<8}"))));
    }
}

fn what_failed(look: Look, what: &WhatFailed) -> String {
    let mut text = String::new();
    text.push_str(&format!("  {}\n", look.paint(RED, &what.headline)));
    for (name, value) in rows(what) {
        row(&mut text, look, name, &value);
    }
    text
}

/// What is known of the place, as names and values.
pub(super) fn rows(what: &WhatFailed) -> Vec<(&'static str, String)> {
    let place = &what.place;
    let phase = match (&place.phase, place.phase_name.as_str()) {
        (Some(id), "") => id.to_string(),
        (Some(id), name) => format!("{id}: {name}"),
        (None, name) => name.to_owned(),
    };
    let tool = if what.command.is_empty() { what.tool.clone() } else { String::new() };
    let rows = [
        ("project", place.project.clone()),
        ("job", place.job.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("phase", phase),
        ("turn", place.turn.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("document", place.document.clone()),
        ("attempt", place.attempt_of().unwrap_or_default()),
        ("goal", place.goal.clone()),
        ("ADR", place.adr.clone().unwrap_or_default()),
        ("issue", place.issue.clone().unwrap_or_default()),
        ("check", place.check.clone()),
        ("command", what.command.clone()),
        ("tool", tool),
        ("ended", what.ended.clone()),
        ("log", place.log.clone()),
    ];
    rows.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn why(look: Look, why: &Why) -> String {
    let mut text = String::new();
    row(&mut text, look, "category", &format!("{}: {} ({})", why.category, why.meaning, sure(why.confidence)));
    row(&mut text, look, "cause", &why.cause);
    row(&mut text, look, "retry", &why.retry.word().replace('_', " "));
    row(&mut text, look, "blame", why.blame.word());
    for location in &why.locations {
        let column = location.column.map(|column| format!(":{column}")).unwrap_or_default();
        row(&mut text, look, "place", &format!("{}:{}{column}", location.path, location.line));
    }
    if why.excerpt.lines.is_empty() {
        row(&mut text, look, "log", "empty");
        return text;
    }
    text.push('\n');
    for line in &why.excerpt.lines {
        let number = line.number.map(|number| number.to_string()).unwrap_or_default();
        let mark = if line.cause { ">" } else { " " };
        let shown = if line.cause { look.paint(RED, &line.text) } else { line.text.clone() };
        text.push_str(&format!("{}{mark} {} {shown}\n", look.bar(), look.paint(DIM, &format!("{number:>6}"))));
    }
    text
}

/// How sure a classification is, in words.
pub(super) fn sure(confidence: f64) -> String {
    let guess = if confidence < 0.5 { ", a guess" } else { "" };
    format!("{:.0} %{guess}", confidence * 100.0)
}

fn similar(look: Look, past: &[SimilarFailure]) -> String {
    if past.is_empty() {
        return "  none known\n".to_owned();
    }
    let mut text = String::new();
    for one in past {
        text.push_str(&format!("  {} {}\n", look.paint(BOLD, "-"), one.summary));
        text.push_str(&format!("    {}\n", look.paint(DIM, &told(one))));
    }
    text
}

/// The beginning of a fingerprint that is enough to name a failure.
pub(super) fn short_id(fingerprint: &Fingerprint) -> String {
    fingerprint.as_str().chars().take(ID).collect()
}

/// What is known of a past failure, in one line.
pub(super) fn told(one: &SimilarFailure) -> String {
    let close = match one.closeness {
        Closeness::Exact => "the same failure".to_owned(),
        Closeness::Near { score } => format!("{:.0} % alike", score * 100.0),
    };
    let times = if one.count == 1 { "once".to_owned() } else { format!("{} times", one.count) };
    let mut parts =
        vec![close, one.cause.clone(), format!("seen {times}, last {}", one.last_seen.strftime("%Y-%m-%d"))];
    parts.push(match one.ended.as_str() {
        "fixed" if one.files.is_empty() => "fixed by a change".to_owned(),
        "fixed" => format!("fixed by a change of {}", one.files.join(", ")),
        other => other.replace('_', " "),
    });
    parts.push(format!("`helix failures show {}`", short_id(&one.fingerprint)));
    parts.join("; ")
}
