//! A report in few lines, for where it stands beside other things: under a job's summary, in a chat.
//!
//! Must not know where it is shown; the whole report is one command away.

use super::build::{Reader, Report, Section, SimilarFailure, WhatFailed, Why};
use super::terminal::{Look, sure, told};
use crate::verdict::RetryAdvice;

/// Places that are named.
const PLACES: usize = 3;

impl Report {
    /// The four sections in a line or two each, without the log. Ends with a line break.
    pub fn brief(&self, look: Look, reader: Reader) -> String {
        let mut lines = vec![
            entry(look, "What failed", &what_failed(&self.what_failed)),
            entry(look, "Why", &said(&self.why, why)),
        ];
        lines.extend(self.similar_for(reader).map(|past| entry(look, "Similar", &said(past, |past| similar(past)))));
        let actions = self.actions_for(reader).enumerate();
        let actions: Vec<String> = actions.map(|(at, action)| format!("{}. {}", at + 1, action.text)).collect();
        lines.push(entry(look, "Suggested", &actions));
        lines.concat()
    }
}

/// A name and what belongs to it; further lines stand below the first.
fn entry(look: Look, name: &str, said: &[String]) -> String {
    let mut text = String::new();
    for (at, line) in said.iter().enumerate() {
        let name = if at == 0 { name } else { "" };
        text.push_str(&format!("  {} {line}\n", look.dim(&format!("{name:<11}"))));
    }
    text
}

fn said<T>(section: &Section<T>, tell: impl Fn(&T) -> Vec<String>) -> Vec<String> {
    match section {
        Section::Known(content) => tell(content),
        Section::Missing(reason) => vec![format!("not available: {reason}")],
    }
}

fn what_failed(what: &WhatFailed) -> Vec<String> {
    let place = &what.place;
    let attempt = place.attempt_of().map(|attempt| format!("attempt {attempt}")).unwrap_or_default();
    let details: Vec<&str> = [place.check.as_str(), &what.command, &what.ended, &attempt]
        .into_iter()
        .filter(|one| !one.is_empty())
        .collect();
    let mut lines = vec![what.headline.clone()];
    lines.extend((!details.is_empty()).then(|| details.join(", ")));
    lines
}

fn why(why: &Why) -> Vec<String> {
    let mut lines = vec![format!(
        "{} ({}), {}; {}",
        why.cause.replace('_', " "),
        why.category,
        sure(why.confidence),
        match why.retry {
            RetryAdvice::Now => "retry",
            RetryAdvice::AfterDelay => "retry later",
            RetryAdvice::AfterChange => "fix it, then retry",
            RetryAdvice::Human => "needs you, not another attempt",
            RetryAdvice::Never => "do not retry",
        }
    )];
    let places = why.locations.iter().take(PLACES).map(|location| format!("{}:{}", location.path, location.line));
    let places: Vec<String> = places.collect();
    lines.extend((!places.is_empty()).then(|| format!("at {}", places.join(", "))));
    lines
}

fn similar(past: &[SimilarFailure]) -> Vec<String> {
    if past.is_empty() {
        return vec!["none known".to_owned()];
    }
    past.iter().map(|one| format!("{} ({})", one.summary, told(one))).collect()
}
