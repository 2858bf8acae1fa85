//! What a run consumed: tokens, turns, money and time. Knows nothing of prices: cost is what the agent reported.

use std::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens in units of one token, cost in US dollars, as the agent itself reported them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the cache.
    pub input_tokens: u64,
    /// Output tokens, thinking included.
    pub output_tokens: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write_tokens: u64,
    /// Model turns.
    pub turns: u32,
    /// US dollars by the agent's own account; 0 when it gave none.
    pub cost_usd: f64,
}

impl Usage {
    /// Each count and the cost made from those of both.
    #[must_use]
    pub fn with(self, other: Self, counts: fn(u64, u64) -> u64, cost: fn(f64, f64) -> f64) -> Self {
        Self {
            input_tokens: counts(self.input_tokens, other.input_tokens),
            output_tokens: counts(self.output_tokens, other.output_tokens),
            cache_read_tokens: counts(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens: counts(self.cache_write_tokens, other.cache_write_tokens),
            turns: u32::try_from(counts(self.turns.into(), other.turns.into())).unwrap_or(u32::MAX),
            cost_usd: cost(self.cost_usd, other.cost_usd),
        }
    }

    /// All input tokens, cached or not.
    pub fn total_input(&self) -> u64 {
        self.input_tokens.saturating_add(self.cache_read_tokens).saturating_add(self.cache_write_tokens)
    }
}

/// A sum of US dollars without what floating point adds to it: to the billionth.
pub fn dollars(sum: f64) -> f64 {
    (sum * 1e9).round() / 1e9
}

impl Add for Usage {
    type Output = Self;
    /// Saturates: the counts come from an agent's output, and no number in it may bring Helix down.
    fn add(self, other: Self) -> Self {
        self.with(other, u64::saturating_add, |one, other| dollars(one + other))
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
#[path = "usage_test.rs"]
mod tests;
