//! Similarity, the last resort: which labelled example of the rule table a line that no rule knows resembles.
//!
//! Must not know how much the answer weighs; the classifier only ever makes a guess of it.

use std::collections::{BTreeSet, HashMap};

use super::fingerprint::normalise;
use super::rule::Rule;

/// Resemblance from which an example is taken for an answer. On the cause lines of the labelled sets, with every
/// example left out whose own rule knows the line, a nearest example above it has the line's category in three of four
/// cases; see `tests/failure_similarity.rs`, which measures it again.
pub const RESEMBLANCE: f64 = 0.5;

/// Words of a line that are looked at.
const WORDS: usize = 60;

/// The examples of the rule table, by their words.
#[derive(Debug)]
pub struct Examples {
    /// Rule and weight of all words, one for each example.
    examples: Vec<(&'static Rule, f64)>,
    /// Examples with a word, and what the word weighs: the rarer, the more.
    words: HashMap<String, (f64, Vec<usize>)>,
}

/// The words that a message is made of, without what varies.
fn words(text: &str) -> BTreeSet<String> {
    let normal = normalise(text).to_lowercase();
    let split = normal.split(|character: char| !character.is_alphanumeric());
    split
        .filter(|word| word.len() > 2 && !word.bytes().all(|byte| byte.is_ascii_digit()))
        .take(WORDS)
        .map(str::to_owned)
        .collect()
}

impl Examples {
    /// Reads the examples of these rules.
    #[allow(clippy::cast_precision_loss, reason = "thousands of examples")]
    pub fn new(rules: impl Iterator<Item = &'static Rule>) -> Self {
        let texts: Vec<(&'static Rule, BTreeSet<String>)> =
            rules.flat_map(|rule| rule.yes.iter().map(move |text| (rule, words(text)))).collect();
        let mut index: HashMap<String, (f64, Vec<usize>)> = HashMap::new();
        for (at, (_, words)) in texts.iter().enumerate() {
            for word in words {
                index.entry(word.clone()).or_default().1.push(at);
            }
        }
        for (weight, with) in index.values_mut() {
            *weight = (texts.len() as f64 / with.len() as f64).ln();
        }
        let weight =
            |words: &BTreeSet<String>| words.iter().filter_map(|word| index.get(word)).map(|(weight, _)| weight).sum();
        let examples = texts.iter().map(|(rule, words)| (*rule, weight(words))).collect();
        Self { examples, words: index }
    }

    /// The rule whose example resembles the text most, and how much: 0 is nothing in common, 1 the same words. Examples
    /// of rules that `known` names are passed over.
    pub fn nearest(&self, text: &str, known: impl Fn(&Rule) -> bool) -> Option<(&'static Rule, f64)> {
        let words = words(text);
        // A word that no example has weighs as much as the rarest.
        let rarest = self.words.values().map(|(weight, _)| *weight).fold(0.0, f64::max);
        let mut shared: HashMap<usize, f64> = HashMap::new();
        let mut own = 0.0;
        for word in &words {
            let Some((weight, with)) = self.words.get(word) else {
                own += rarest;
                continue;
            };
            own += weight;
            for at in with {
                *shared.entry(*at).or_default() += weight;
            }
        }
        // Of two that are as near the one that stands first in the table, so that the answer never varies.
        let nearest = shared.into_iter().filter(|(at, _)| !known(self.examples[*at].0)).map(|(at, common)| {
            let of_both = own + self.examples[at].1 - common;
            (at, if of_both > 0.0 { common / of_both } else { 0.0 })
        });
        let nearest = nearest.max_by(|(first, near), (second, other)| near.total_cmp(other).then(second.cmp(first)));
        nearest.map(|(at, resemblance)| (self.examples[at].0, resemblance))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules;
    use super::*;

    #[test]
    fn an_example_is_nearest_to_itself_and_a_foreign_sentence_to_none() {
        let examples = Examples::new(rules::all());
        let (rule, resemblance) = examples.nearest("a.sh: line 3: foo: command not found", |_| false).unwrap();
        assert_eq!(rule.cause.slug, "missing_command");
        assert!(resemblance > 0.99, "{resemblance}");
        let strange = examples.nearest("the quick brown fox jumps over lazy dogs", |_| false);
        assert!(strange.is_none_or(|(_, resemblance)| resemblance < 0.2), "{strange:?}");
        assert_eq!(examples.nearest("", |_| false).map(|_| ()), None);
    }
}
