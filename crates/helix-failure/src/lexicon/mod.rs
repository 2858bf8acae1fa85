//! What the words of a line say, learned from the labelled sets: the last resort where no rule knows a message.
//!
//! Must not know how much the answer weighs; the classifier only ever makes a guess of it, or doubts a rule by it.

mod words;

use std::collections::HashMap;

use super::rule::RuleTableError;
use super::verdict::Category;

pub use words::words;

/// The classes that are told apart: the categories in the contract's order, and lines that name no cause.
pub const CLASSES: usize = Category::ALL.len() + 1;

/// The class of lines that name no cause.
pub const NO_CAUSE: usize = Category::ALL.len();

/// Likelihood from which a line's category is guessed. Over the labelled sets, each tool judged by a lexicon that has
/// never seen it, nine of ten such guesses are right (`tests/figures.rs` measures it).
pub const LIKELY: f64 = 0.25;

/// Likelihood up to which a category is doubted, whatever a rule says of the line.
pub const DOUBTED: f64 = 0.2;

/// Weights in the file stand for tenths.
const SCALE: f64 = 10.0;

/// The word for what every line has.
const ALWAYS: &str = "*";

const SHIPPED: &str = include_str!("weights.txt");

/// What each word and each pair of words says for and against each class.
#[derive(Debug)]
pub struct Lexicon {
    weights: HashMap<String, [f64; CLASSES]>,
}

/// How likely each class is for a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihoods([f64; CLASSES]);

impl Likelihoods {
    /// The likeliest category, and how likely it is.
    pub fn best(&self) -> (Category, f64) {
        let all = Category::ALL.into_iter().zip(self.0);
        // Of two that are as likely the first one of the contract, so that the answer never varies.
        all.fold((Category::Unknown, 0.0), |best, one| if one.1 > best.1 { one } else { best })
    }

    /// How likely this category is if the line names a cause.
    pub fn likelihood(&self, category: Category) -> f64 {
        let at = Category::ALL.into_iter().position(|other| other == category);
        let causes: f64 = self.0[..NO_CAUSE].iter().sum();
        at.map_or(0.0, |at| self.0[at] / causes.max(f64::MIN_POSITIVE))
    }
}

impl Lexicon {
    /// The one that was learned from all labelled sets.
    ///
    /// # Errors
    /// Never with the file as it is; a test reads it.
    pub fn shipped() -> Result<Self, RuleTableError> {
        Self::read(SHIPPED)
    }

    /// Reads weights: on each line a word, then pairs of a class (its number) and tenths, such as `refused 7:21 10:-9`.
    ///
    /// # Errors
    /// When a line is none of that form.
    pub fn read(text: &str) -> Result<Self, RuleTableError> {
        let mut weights = HashMap::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let wrong = || RuleTableError::Words { line: at + 1, text: line.to_owned() };
            let mut parts = line.split(' ');
            let word = parts.next().filter(|word| !word.is_empty()).ok_or_else(wrong)?;
            let mut row = [0.0; CLASSES];
            for part in parts {
                let (class, tenths) = part.split_once(':').ok_or_else(wrong)?;
                let class: usize = class.parse().map_err(|_| wrong())?;
                let tenths: i32 = tenths.parse().map_err(|_| wrong())?;
                *row.get_mut(class).ok_or_else(wrong)? = f64::from(tenths) / SCALE;
            }
            weights.insert(word.to_owned(), row);
        }
        Ok(Self { weights })
    }

    /// How likely each class is for this line.
    pub fn judge(&self, line: &str) -> Likelihoods {
        let mut sums = self.weights.get(ALWAYS).copied().unwrap_or([0.0; CLASSES]);
        for weights in words(line).iter().filter_map(|word| self.weights.get(word)) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += weight;
            }
        }
        let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers = sums.map(|sum| (sum - most).exp());
        let all: f64 = powers.iter().sum();
        Likelihoods(powers.map(|power| power / all))
    }

    /// The words of a line that say most for a category, the strongest first.
    pub fn reasons(&self, line: &str, category: Category, most: usize) -> Vec<String> {
        let Some(at) = Category::ALL.into_iter().position(|other| other == category) else { return Vec::new() };
        let weight = |word: &String| self.weights.get(word).map_or(0.0, |weights| weights[at]);
        let mut speaking: Vec<(f64, String)> =
            words(line).into_iter().map(|word| (weight(&word), word)).filter(|(weight, _)| *weight > 0.0).collect();
        speaking.sort_by(|(first, word), (second, other)| second.total_cmp(first).then_with(|| word.cmp(other)));
        speaking.into_iter().take(most).map(|(_, word)| word).collect()
    }
}

#[cfg(test)]
#[path = "mod_test.rs"]
mod tests;
