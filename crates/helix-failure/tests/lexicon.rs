//! The lexicon is what the labelled sets teach, and its limits are what tools that it has never seen say: measured here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are what people run this test for")]

mod world;

use helix_failure::{Category, DOUBTED, LIKELY, Lexicon};
use world::training::{Example, cause_line, of_case, of_lines, of_rules, train};
use world::{Case, PARTS, field, part};

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

/// Each tool judged by a lexicon that has seen neither it nor any example of the rules.
#[test]
fn the_limits_are_what_unseen_tools_say() {
    let sets = field::all();
    let (mut judged, mut guessed, mut right, mut doubted) = (0.0, 0.0, 0.0, 0.0);
    let lexicon = &|held| {
        let seen = sets.iter().filter(|case| part(&case.observation.tool) != held);
        let examples: Vec<Example> = seen.flat_map(of_case).chain(of_lines()).collect();
        Lexicon::read(&train(&examples)).unwrap()
    };
    let lexicons = std::thread::scope(|scope| {
        let each: Vec<_> = (0..PARTS).map(|held| scope.spawn(move || lexicon(held))).collect();
        each.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    for (held, lexicon) in lexicons.iter().enumerate() {
        for case in sets.iter().filter(|case| part(&case.observation.tool) == held) {
            let Some(line) = cause_line(case) else { continue };
            let wanted = Category::ALL.into_iter().find(|one| one.label() == case.labels["category"]).unwrap();
            let likelihoods = lexicon.judge(&line);
            let (category, likely) = likelihoods.best();
            judged += 1.0;
            guessed += f64::from(u8::from(likely >= LIKELY));
            right += f64::from(u8::from(likely >= LIKELY && category == wanted));
            doubted += f64::from(u8::from(likelihoods.likelihood(wanted) < DOUBTED));
        }
    }
    println!(
        "{judged} lines of unseen tools: {:.3} guessed, {:.3} of them right; truth doubted in {:.3}",
        guessed / judged,
        right / guessed,
        doubted / judged
    );
    assert!(guessed / judged >= 0.6, "{guessed} of {judged}");
    assert!(right / guessed >= 0.75, "{right} of {guessed}");
    assert!(doubted / judged <= 0.2, "{doubted} of {judged}");
}
