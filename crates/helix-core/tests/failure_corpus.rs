//! The classifier reaches its bars on the labelled corpus, on each half of it as well.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod failure_world;

use failure_world::{Figures, cases, misses, predictions, score};
use helix_core::failure::Classifier;

fn bars(name: &str, figures: &Figures, misses: &str) {
    println!("{name}: {figures:?}\n{misses}");
    assert!(figures.category_accuracy >= 0.95, "{name}: {figures:?}\n{misses}");
    assert!(figures.category_macro_f1 >= 0.93, "{name}: {figures:?}\n{misses}");
    assert!(figures.confident_wrong_rate <= 0.02, "{name}: {figures:?}\n{misses}");
    assert!(figures.retry_accuracy_lenient >= 0.92, "{name}: {figures:?}\n{misses}");
    assert!(figures.blame_accuracy_lenient >= 0.92, "{name}: {figures:?}\n{misses}");
    assert!(figures.cause_line_accuracy >= 0.85, "{name}: {figures:?}\n{misses}");
}

#[test]
fn the_bars_hold_on_the_corpus_and_on_each_half() {
    let cases = cases();
    let classifier = Classifier::new().unwrap();
    let all = predictions(&classifier, &cases);
    let (first, second) = all.split_at(cases.len() / 2);
    let halves = [("first half", first), ("second half", second), ("all", all.as_slice())];
    for (name, predictions) in halves {
        let wanted = std::env::var("FAILURE_HALF").unwrap_or_default();
        if !wanted.is_empty() && wanted != name {
            continue;
        }
        bars(name, &score(predictions), &misses(predictions));
    }
}
