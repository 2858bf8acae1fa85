//! How well suggestions and the memory as a whole work, with honest uncertainty.
//!
//! Must not know single suggestions: it counts outcomes.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::suggestion::{SuggestionOutcome, SuggestionSource};
use crate::verdict::Category;

/// 95 % of a normal distribution lie within so many standard deviations.
const NINETY_FIVE: f64 = 1.96;

/// How often each outcome came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// The failure was gone.
    pub helped: u64,
    /// It was still there.
    pub no_effect: u64,
    /// Something else broke.
    pub worse: u64,
    /// Nobody looked again.
    pub unknown: u64,
    /// Not resolved yet.
    pub open: u64,
}

impl Tally {
    pub fn add(&mut self, outcome: Option<SuggestionOutcome>, times: u64) {
        let field = match outcome {
            Some(SuggestionOutcome::Helped) => &mut self.helped,
            Some(SuggestionOutcome::NoEffect) => &mut self.no_effect,
            Some(SuggestionOutcome::Worse) => &mut self.worse,
            Some(SuggestionOutcome::Unknown) => &mut self.unknown,
            None => &mut self.open,
        };
        *field = field.saturating_add(times);
    }

    /// How many prove something.
    pub fn decided(&self) -> u64 {
        self.helped.saturating_add(self.no_effect).saturating_add(self.worse)
    }
}

/// A rate of success with a Beta(1, 1) prior: what was never tried has the rate 0.5 and the widest interval, so that it
/// can be tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effectiveness {
    /// The outcomes that it rests on.
    pub tally: Tally,
    /// Mean of the posterior, from 0 to 1.
    pub rate: f64,
    /// Lower end of its 95 % interval (normal approximation).
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Effectiveness {
    /// From outcomes; unknown and open ones count for nothing.
    pub fn from_tally(tally: Tally) -> Self {
        let (rate, variance) = posterior(&tally);
        let reach = NINETY_FIVE * variance.sqrt();
        Self { tally, rate, low: (rate - reach).max(0.0), high: (rate + reach).min(1.0) }
    }
}

/// Mean and variance of Beta(1 + successes, 1 + failures).
fn posterior(tally: &Tally) -> (f64, f64) {
    let (successes, failures) = (tally.helped as f64 + 1.0, (tally.decided() - tally.helped) as f64 + 1.0);
    let all = successes + failures;
    (successes / all, successes * failures / (all * all * (all + 1.0)))
}

/// Effect of the memory: failures gone in the next attempt where it was shown, against where it was held back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Benefit {
    /// Where it was shown.
    pub shown: Effectiveness,
    /// Where it was held back by chance.
    pub held_back: Effectiveness,
    /// How much more often it helped, from -1 to 1.
    pub difference: f64,
    /// Lower end of the difference's 95 % interval; above 0: it helps.
    pub low: f64,
    /// Upper end; below 0: it harms.
    pub high: f64,
}

impl Benefit {
    pub fn from_tallies(shown: Tally, held_back: Tally) -> Self {
        let ((shown_rate, shown_variance), (held_rate, held_variance)) = (posterior(&shown), posterior(&held_back));
        let difference = shown_rate - held_rate;
        let reach = NINETY_FIVE * (shown_variance + held_variance).sqrt();
        Self {
            shown: Effectiveness::from_tally(shown),
            held_back: Effectiveness::from_tally(held_back),
            difference,
            low: (difference - reach).max(-1.0),
            high: (difference + reach).min(1.0),
        }
    }
}

/// How well suggestions of one source work, where they were shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceEffect {
    /// Word of [`SuggestionSource`].
    pub source: String,
    /// How well.
    #[serde(flatten)]
    pub effectiveness: Effectiveness,
}

impl SourceEffect {
    /// Words of all sources, in the order in which they are shown.
    pub const SOURCES: [&'static str; 3] = ["past_fix", SuggestionSource::Cause.word(), SuggestionSource::Phase.word()];
}

/// The memory in figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryStatistics {
    /// Distinct failures.
    pub failures: u64,
    /// Times that a failure was seen.
    pub occurrences: u64,
    /// Failures that a change has fixed.
    pub fixed: u64,
    /// Failures that went away without one.
    pub went_away: u64,
    /// Failures that were given up.
    pub gave_up: u64,
    /// Failures whose end is not known.
    pub open: u64,
    /// Distinct failures of each category that has any, most first.
    pub categories: Vec<(Category, u64)>,
    /// How well suggestions work, by source.
    pub suggestions: Vec<SourceEffect>,
    /// Effect of the memory.
    pub benefit: Benefit,
    /// When a failure was seen first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<Timestamp>,
    /// When one was seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
}

#[cfg(test)]
#[path = "effectiveness_test.rs"]
mod tests;
