//! A report for a terminal: with colour and a bar along the log, or plain text without box characters.
//!
//! Must not know whether there is a terminal: the caller says how it is to look.

use super::build::{Classification, Report, Section, SimilarFailure, WhatFailed, Why};
use super::language::ReportLanguage;
use crate::fingerprint::Fingerprint;
use crate::memory::{Closeness, SuggestionSource};
use crate::verdict::Category;

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
    /// The report for a terminal, in a language (ISO 639). Ends with a line break.
    pub fn terminal(&self, look: Look, code: &str) -> String {
        let language = ReportLanguage::for_code(code);
        let form = Form { look, language };
        let parts = [
            format!("{}\n{}", form.title("What failed"), self.what_failed_text(form)),
            section(form, "Why", &self.why, why),
            section(form, "Similar past failures", &self.similar, |form, past| similar(form, past)),
            format!("{}\n{}", form.title("Suggested actions"), self.numbered(language)),
        ];
        parts.join("\n")
    }

    fn what_failed_text(&self, form: Form) -> String {
        let mut text = format!("  {}\n", form.look.paint(RED, &self.headline(form.language)));
        for (name, value) in rows(&self.what_failed) {
            let value = match name {
                "attempt" => form.language.attempt(&value),
                "ended" => form.language.say_each(&value, ", "),
                _ => value,
            };
            row(&mut text, form, name, &value);
        }
        text
    }

    fn numbered(&self, language: ReportLanguage) -> String {
        let mut text = String::new();
        for (at, action) in self.actions.iter().enumerate() {
            let source = match action.source {
                SuggestionSource::PastFix { .. } => format!(" ({})", language.say("from the memory")),
                SuggestionSource::Cause | SuggestionSource::Phase => String::new(),
            };
            text.push_str(&format!("  {}. {}{source}\n", at + 1, language.say(&action.text)));
        }
        text
    }
}

/// How a report looks, and its language.
#[derive(Clone, Copy)]
struct Form {
    look: Look,
    language: ReportLanguage,
}

impl Form {
    fn title(self, text: &str) -> String {
        self.look.paint(BOLD, &self.language.say(text))
    }
}

fn section<T>(form: Form, title: &str, section: &Section<T>, tell: impl Fn(Form, &T) -> String) -> String {
    let body = match section {
        Section::Known(content) => tell(form, content),
        Section::Missing(reason) => {
            let text = format!("{}: {reason}", form.language.say("not available"));
            format!("  {}\n", form.look.paint(YELLOW, &text))
        }
    };
    format!("{}\n{body}", form.title(title))
}

fn row(text: &mut String, form: Form, name: &str, value: &str) {
    if !value.is_empty() {
        let name = format!("{:<8}", form.language.say(name));
        text.push_str(&format!("  {} {value}\n", form.look.paint(DIM, &name)));
    }
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

fn why(form: Form, why: &Why) -> String {
    let (mut text, Form { look, language }) = (String::new(), form);
    let Classification { category, cause, retry, blame, confidence, .. } = &why.classification;
    let sure = language.say_each(&sure(*confidence), ", ");
    // What is none of the known kinds may be well known for itself.
    if *category == Category::Unknown {
        row(&mut text, form, "cause", &format!("{} ({sure})", language.slug(cause)));
    } else {
        row(&mut text, form, "category", &format!("{category}: {} ({sure})", language.say(&why.meaning)));
        row(&mut text, form, "cause", &language.slug(cause));
    }
    row(&mut text, form, "retry", &language.say(&retry.word().replace('_', " ")));
    row(&mut text, form, "blame", &language.say(blame.word()));
    for location in &why.locations {
        let column = location.column.map(|column| format!(":{column}")).unwrap_or_default();
        row(&mut text, form, "place", &format!("{}:{}{column}", location.path, location.line));
    }
    if why.excerpt.lines.is_empty() {
        row(&mut text, form, "log", &language.say("empty"));
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

fn similar(Form { look, language }: Form, past: &[SimilarFailure]) -> String {
    if past.is_empty() {
        return format!("  {}\n", language.say("none known"));
    }
    let mut text = String::new();
    for one in past {
        text.push_str(&format!("  {} {}\n", look.paint(BOLD, "-"), one.summary));
        text.push_str(&format!("    {}\n", look.paint(DIM, &past_summary(one, language))));
    }
    text
}

/// The beginning of a fingerprint that is enough to name a failure.
pub(super) fn short_id(fingerprint: &Fingerprint) -> String {
    fingerprint.as_str().chars().take(ID).collect()
}

/// What is known of a past failure, in one line.
pub(super) fn past_summary(one: &SimilarFailure, language: ReportLanguage) -> String {
    let close = match one.closeness {
        Closeness::Exact => "the same failure".to_owned(),
        Closeness::Near { score } => format!("{:.0} % alike", score * 100.0),
    };
    let last = one.last_seen.strftime("%Y-%m-%d");
    let seen =
        if one.count == 1 { format!("seen once, {last}") } else { format!("seen {} times, last {last}", one.count) };
    let ended = match one.ended.as_str() {
        "fixed" if one.files.is_empty() => "fixed by a change".to_owned(),
        "fixed" => format!("fixed by a change of {}", one.files.join(", ")),
        other => other.replace('_', " "),
    };
    let show = format!("`helix failures show {}`", short_id(&one.fingerprint));
    [language.say(&close), language.slug(&one.cause), language.say(&seen), language.say(&ended), show].join("; ")
}
