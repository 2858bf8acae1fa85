//! Learns a lexicon from labelled failures: multinomial logistic regression over the words of lines, by Adagrad, with
//! everything in a fixed order, so that the same sets give the same weights.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use helix_failure::{CLASSES, Category, NO_CAUSE, plain_text, rule_table, words};

use super::{Case, label};

/// Rounds over all examples.
const ROUNDS: usize = 30;
/// Step at the beginning.
const STEP: f64 = 0.35;
/// Pull of each weight towards nothing in a round: a third of it, as if against one example in three.
const PULL: f64 = 0.33;
/// Lines of a log that name no cause and are learned from, at most.
const OTHERS: usize = 6;
/// Examples that a word stands in at least.
const SEEN: usize = 2;
/// Examples that a pair of words stands in at least.
const SEEN_TOGETHER: usize = 3;
/// Weights nearer to nothing are not kept.
const KEPT: f64 = 0.15;

/// Lines with their category.
const LINES: &str = include_str!("../fixtures/failures/lines.txt");

/// Examples and counterexamples of the rule table.
const RULES: &str = include_str!("../fixtures/failures/rules.txt");

/// A line, and its class.
pub(crate) type Example = (BTreeSet<String>, usize);

fn class_of(category: &str) -> usize {
    Category::ALL.iter().position(|other| other.word() == category).unwrap()
}

/// What the rules' own examples teach, without those of the rules named here.
pub(crate) fn of_rules(without: &[&str]) -> Vec<Example> {
    let class = |id: &str| rule_table().find(|rule| rule.id == id).map(|rule| class_of(rule.cause.category.word()));
    let rules = rule_examples().into_iter().filter(|(id, _, _)| !without.contains(id));
    rules.flat_map(|(id, yes, _)| yes.into_iter().map(move |text| (words(text), class(id).unwrap()))).collect()
}

/// What lines teach that have no rule of their own: each has a category, or `NONE` if it names no cause.
pub(crate) fn of_lines() -> Vec<Example> {
    let labelled = LINES.lines().map(|line| line.split_once(' ').unwrap());
    let class = |category| if category == "NONE" { NO_CAUSE } else { class_of(category) };
    labelled.map(|(category, text)| (words(text), class(category))).collect()
}

/// Each rule's name, lines that it matches, and lines that look alike and that it does not match.
pub(crate) fn rule_examples() -> Vec<(&'static str, Vec<&'static str>, Vec<&'static str>)> {
    let rules = RULES.split("\n\n").skip(1).map(|part| {
        let mut lines = part.lines();
        let id = lines.next().unwrap();
        let all: Vec<&str> = lines.collect();
        let with = |sign| all.iter().filter_map(|line| line.strip_prefix(sign)).collect();
        (id, with("+ "), with("- "))
    });
    rules.collect()
}

/// The line that names a case's cause, if it is one that words can tell of.
pub(crate) fn cause_line(case: &Case) -> Option<String> {
    let line = plain_text(label(case, "cause_line")).trim().to_owned();
    (!line.is_empty() && !line.starts_with('{')).then_some(line)
}

/// What a case teaches: the line that names its cause, and some that name none.
pub(crate) fn of_case(case: &Case) -> Vec<Example> {
    let cause = plain_text(label(case, "cause_line")).trim().to_owned();
    let others: Vec<String> = case
        .log
        .lines
        .iter()
        .map(|line| plain_text(&line.raw).trim().to_owned())
        .filter(|line| !line.is_empty() && *line != cause && !line.starts_with('{'))
        .collect();
    let mut examples: Vec<Example> = Vec::new();
    if let Some(line) = cause_line(case) {
        examples.push((words(&line), class_of(label(case, "category"))));
    }
    let step = others.len().div_ceil(OTHERS).max(1);
    examples.extend(others.iter().step_by(step).map(|line| (words(line), NO_CAUSE)));
    examples
}

/// The weights that these examples teach, in the form that a lexicon is read from.
pub(crate) fn train(examples: &[Example]) -> String {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for word in examples.iter().flat_map(|(words, _)| words) {
        *seen.entry(word).or_default() += 1;
    }
    let mut ids: BTreeMap<&str, usize> = BTreeMap::from([("*", 0)]);
    let enough = |word: &str| if word.contains('_') { SEEN_TOGETHER } else { SEEN };
    for (word, _) in seen.iter().filter(|(word, count)| **count >= enough(word)) {
        ids.insert(word, ids.len());
    }
    let rows: Vec<(Vec<usize>, usize)> = examples
        .iter()
        .map(|(words, class)| {
            let known = words.iter().filter_map(|word| ids.get(word.as_str()).copied());
            (std::iter::once(0).chain(known).collect(), *class)
        })
        .collect();
    let weights = descend(&rows, ids.len());
    let mut text = String::from("# Learned from the labelled sets by tests/lexicon.rs; not written by hand.\n");
    for (word, id) in &ids {
        let kept = weights[*id].iter().enumerate().filter(|(_, weight)| weight.abs() >= KEPT);
        let parts: Vec<String> = kept.map(|(class, weight)| format!("{class}:{}", (weight * 10.0).round())).collect();
        if !parts.is_empty() {
            writeln!(text, "{word} {}", parts.join(" ")).unwrap();
        }
    }
    text
}

fn descend(rows: &[(Vec<usize>, usize)], count: usize) -> Vec<[f64; CLASSES]> {
    let mut weights = vec![[0.0f64; CLASSES]; count];
    let mut squares = vec![[1e-3f64; CLASSES]; count];
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut random: u64 = 11;
    let mut pulls = vec![0.0f64; count];
    for word in rows.iter().flat_map(|(words, _)| words) {
        pulls[*word] += 1.0;
    }
    for pull in &mut pulls {
        *pull = PULL / *pull;
    }
    for _ in 0..ROUNDS {
        for at in (1..order.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(at, usize::try_from((random >> 33) % (at as u64 + 1)).unwrap());
        }
        for &at in &order {
            let (words, class) = &rows[at];
            let mut sums = [0.0f64; CLASSES];
            for &word in words {
                for (sum, weight) in sums.iter_mut().zip(&weights[word]) {
                    *sum += weight;
                }
            }
            let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut slopes = sums.map(|sum| (sum - most).exp());
            let all: f64 = slopes.iter().sum();
            for (at, slope) in slopes.iter_mut().enumerate() {
                *slope = *slope / all - if at == *class { 1.0 } else { 0.0 };
            }
            for &word in words {
                for ((weight, square), slope) in weights[word].iter_mut().zip(&mut squares[word]).zip(&slopes) {
                    let slope = slope + pulls[word] * *weight;
                    *square += slope * slope;
                    *weight -= STEP * slope / square.sqrt();
                }
            }
        }
    }
    weights
}
