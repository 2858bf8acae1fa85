//! The lexicon is what the labelled sets teach.

use crate::world::training::{Example, cause_line, of_case, of_lines, of_rules, train};
use crate::world::{Case, field};
use helix_failure::Lexicon;

fn taught(cases: &[&Case]) -> String {
    let mut examples: Vec<Example> = cases.iter().flat_map(|case| of_case(case)).collect();
    examples.extend(of_rules(&[]));
    examples.extend(of_lines());
    train(&examples)
}

/// Learned again it is the same; `HELIX_WRITE_LEXICON=1` writes what is learned now.
#[test]
fn the_shipped_lexicon_is_what_the_sets_teach() {
    let sets = field::all();
    let learned = taught(&sets.iter().collect::<Vec<_>>());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lexicon/weights.txt");
    if std::env::var_os("HELIX_WRITE_LEXICON").is_some() {
        std::fs::write(path, &learned).unwrap();
    }
    let shipped = std::fs::read_to_string(path).unwrap();
    let (now, then) = (Lexicon::read(&learned).unwrap(), Lexicon::read(&shipped).unwrap());
    for case in &sets {
        let Some(line) = cause_line(case) else { continue };
        let ((category, likely), (other, before)) = (now.judge(&line).best(), then.judge(&line).best());
        // The last digits of an exponential are not the same on all machines.
        assert!((likely - before).abs() < 0.1 && (category == other || (likely - before).abs() < 0.02), "{line}");
    }
}
