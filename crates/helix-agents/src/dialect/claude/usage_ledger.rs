//! What a run consumed, from the three accounts that the CLI gives of it.
//!
//! Must not know prices. `usage` of a terminal record covers its own turn without sub-agents. `modelUsage` covers
//! everything, but from the start of the process (2.1.197) or of the whole resumed session (2.1.330), which is why the latter
//! adds `model_usage_since_last_result`. `total_cost_usd` grows the same way. Messages name their tokens as they come.

use helix_core::usage::Usage;
use serde_json::{Map, Value};

/// Adds up one run.
#[derive(Debug, Default)]
pub(super) struct UsageLedger {
    /// Sum over terminal records, of what each says of its own turn.
    settled: Usage,
    /// The last account of the whole process, where the records gave none of each turn alone.
    whole: Option<Usage>,
    /// Messages since the last terminal record.
    pending: Usage,
    /// The message that `pending` ends with.
    message: Option<(String, Usage)>,
}

impl UsageLedger {
    /// A message named its tokens; the same message may do so several times, the largest counts are right.
    pub(super) fn message(&mut self, id: &str, usage: &Value) {
        let named = tokens(usage, &OF_MESSAGES);
        match &mut self.message {
            Some((last, counted)) if last == id => *counted = larger(*counted, named),
            other => {
                if let Some((_, counted)) = other.replace((id.to_owned(), Usage { turns: 1, ..named })) {
                    self.pending += counted;
                }
            }
        }
    }

    /// The message under way named its tokens again while it streamed.
    pub(super) fn message_delta(&mut self, usage: &Value) {
        if let Some((_, counted)) = &mut self.message {
            *counted = larger(*counted, tokens(usage, &OF_MESSAGES));
        }
    }

    /// A terminal record settles its turn.
    pub(super) fn settle(&mut self, record: &Map<String, Value>, turns: u32) {
        (self.pending, self.message) = (Usage::default(), None);
        self.settled.turns = self.settled.turns.saturating_add(turns);
        if let Some(models) = record.get("model_usage_since_last_result").and_then(Value::as_object) {
            let since = of_models(models);
            self.settled += since;
            if let Some(whole) = &mut self.whole {
                *whole += since;
            }
            return;
        }
        if let Some(usage) = record.get("usage") {
            self.settled += tokens(usage, &OF_MESSAGES);
        }
        let cost = record.get("total_cost_usd").and_then(Value::as_f64).unwrap_or_default();
        // The account of the process never shrinks; a smaller one belongs to something else.
        self.settled.cost_usd = self.settled.cost_usd.max(cost);
        let models = record.get("modelUsage").and_then(Value::as_object).filter(|models| !models.is_empty());
        if let Some(models) = models {
            let whole = of_models(models);
            self.whole = Some(Usage { cost_usd: whole.cost_usd.max(cost), ..whole });
        }
    }

    /// All of it so far.
    pub(super) fn total(&self) -> Usage {
        let settled = match self.whole {
            Some(whole) => Usage { turns: self.settled.turns, ..larger(whole, self.settled) },
            None => self.settled,
        };
        let message = self.message.as_ref().map_or_else(Usage::default, |(_, counted)| *counted);
        settled + self.pending + message
    }
}

/// Names of fields: input, output, read from the cache, written to it.
type TokenNames = [&'static str; 4];
const OF_MESSAGES: TokenNames =
    ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
const OF_MODELS: TokenNames = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];

fn tokens(from: &Value, names: &TokenNames) -> Usage {
    let count = |name: &str| from.get(name).and_then(Value::as_u64).unwrap_or_default();
    let [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens] = names.map(count);
    Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, ..Usage::default() }
}

fn of_models(models: &Map<String, Value>) -> Usage {
    let mut sum = Usage::default();
    for model in models.values() {
        sum += tokens(model, &OF_MODELS);
        sum.cost_usd += model.get("costUSD").and_then(Value::as_f64).unwrap_or_default();
    }
    sum
}

fn larger(one: Usage, other: Usage) -> Usage {
    one.with(other, u64::max, f64::max)
}
