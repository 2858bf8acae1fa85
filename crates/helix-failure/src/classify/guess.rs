//! What is guessed where no rule says more than that something went wrong: by likeness, by warnings, by words.
//!
//! Must not be sure of anything: whatever is said here counts as a guess.

use std::cmp::Reverse;

use regex::Regex;

use super::{Claim, Classifier, GUESS, GUESSED, WHATEVER, applies, family, readable};
use crate::cause;
use crate::lexicon::{DOUBTED, LIKELY, LIKELY_OF_KNOWN};
use crate::nearest::RESEMBLANCE;
use crate::observation::FailureObservation;
use crate::reading::{Mark, Prepared};
use crate::rule::Rule;
use crate::verdict::Category;

/// Lines that are compared with the examples of the table, the last ones.
const COMPARED: usize = 40;

/// Lines in which a cause is looked for word by word, the last ones.
const WEIGHED: usize = 60;

/// Words that are named as the reason of a guess.
const REASONS: usize = 3;

impl Classifier {
    /// What the examples of the table resemble, where no rule explains anything.
    pub(super) fn resembles(&self, lines: &[Prepared<'_>]) -> Option<Claim> {
        let speaking = lines.iter().enumerate().rev().filter(|(_, line)| {
            matches!(line.mark, Mark::Plain | Mark::Raised | Mark::RaisedFirst) && !line.text.is_empty()
        });
        let compared = speaking.take(COMPARED).filter_map(|(at, line)| {
            let (rule, resemblance) = self.examples.nearest(readable(&line.text), |_| false)?;
            Some((at, rule, resemblance))
        });
        let (at, rule, resemblance) = compared.max_by(|(_, _, first), (_, _, second)| first.total_cmp(second))?;
        (resemblance >= RESEMBLANCE).then(|| Claim {
            retry: rule.retry,
            blame: rule.blame,
            ..Claim::new(format!("similar:{}", rule.id), rule.cause, GUESS, Some(at))
        })
    }

    /// What a rule makes of a warning, where the best claim is only that something went wrong.
    pub(super) fn warned(&self, observation: &FailureObservation, lines: &[Prepared<'_>]) -> Option<Claim> {
        let table = || {
            let known = |(rule, _): &&(&'static Rule, Regex)| rule.priority > WHATEVER && rule.cause != &cause::LINT;
            self.table.iter().filter(known).filter(|(rule, _)| applies(rule, observation))
        };
        let warnings = lines.iter().enumerate().rev().filter(|(_, line)| line.mark == Mark::Warning).take(WEIGHED);
        let claims = warnings.flat_map(|(at, line)| {
            let text = readable(&line.text);
            table().filter(|(_, pattern)| pattern.is_match(text)).map(move |(rule, _)| (rule.priority, at, *rule))
        });
        let (_, line, rule) = claims.max_by_key(|(priority, at, _)| (*priority, Reverse(*at)))?;
        Some(Claim {
            retry: rule.retry,
            blame: rule.blame,
            likely: Some(GUESSED),
            ..Claim::new(format!("rule:{} in a warning", rule.id), rule.cause, GUESS, Some(line))
        })
    }

    /// What the words say, where the best claim is only that something went wrong.
    pub(super) fn read_words(
        &self,
        observation: &FailureObservation,
        lines: &[Prepared<'_>],
        best: Option<&Claim>,
    ) -> Option<Claim> {
        let speaks = |line: &Prepared<'_>| {
            matches!(line.mark, Mark::Plain | Mark::Heading | Mark::Raised | Mark::RaisedFirst) && !line.text.is_empty()
        };
        // Where something was raised, that line says what, unless it only announces what comes.
        let raised = best.filter(|best| best.cause == &cause::RUNTIME_EXCEPTION).and_then(|best| best.line);
        let raised = raised.filter(|raised| !lines[*raised].text.ends_with(':'));
        let read: Vec<usize> = match raised {
            Some(raised) => vec![raised],
            None => (0..lines.len()).rev().filter(|at| speaks(&lines[*at])).take(WEIGHED).collect(),
        };
        let judged = read.into_iter().map(|at| {
            let text = lines[at].said.as_deref().unwrap_or(&lines[at].text);
            (at, text, self.lexicon.judge(text).best())
        });
        let (line, text, (category, likely)) =
            judged.max_by(|(_, _, (_, first)), (_, _, (_, second))| first.total_cmp(second))?;
        let known = raised.is_some() || self.lexicon.knows(family(&observation.tool));
        if likely < if known { LIKELY_OF_KNOWN } else { LIKELY } {
            return None;
        }
        let cause = cause::usual(category);
        let reasons = self.lexicon.speaking(text, category, REASONS).join(", ");
        if best.is_some_and(|best| best.cause.category == category) {
            // It is the same to whoever asks for the category; the line may be better.
            let best = best?;
            let line =
                if best.line.is_none() || best.cause != &cause::RUNTIME_EXCEPTION { Some(line) } else { best.line };
            return Some(Claim { line, ..best.clone() });
        }
        Some(Claim { likely: Some(likely), ..Claim::new(format!("words:{reasons}"), cause, GUESS, Some(line)) })
    }

    /// Whether the words of a line speak against what is said of it.
    pub(super) fn doubts(&self, category: Category, line: Option<&Prepared<'_>>) -> bool {
        let text = line.map(|line| line.said.as_deref().unwrap_or(&line.text)).filter(|text| !text.is_empty());
        text.is_some_and(|text| {
            let likelihoods = self.lexicon.judge(text);
            category != Category::Unknown && likelihoods.of(category) < DOUBTED
        })
    }
}
