//! What the classifier makes of tools that it has never met: the tools are dealt into parts, and each part is judged without the
//! rules that decide only there and with words learned from the other parts.

use std::collections::{BTreeMap, BTreeSet};

use crate::world::training::{cause_line, of_case, of_lines, of_rules, train};
use crate::world::{Case, field, part, predictions, score};
use helix_failure::{Category, Classified, Classifier, DOUBTED, LIKELY, Lexicon, Likelihoods, rule_table};

fn print(name: &str, predictions: &[(&Case, Classified)]) {
    let figures = score(predictions);
    println!(
        "{name:24} {:4} cases, category {:.3}, macro-F1 {:.3}, confidently wrong {:.3}, retry {:.3}, blame {:.3}, line {:.3}",
        predictions.len(),
        figures.category_accuracy,
        figures.category_macro_f1,
        figures.confident_wrong_rate,
        figures.retry_accuracy_lenient,
        figures.blame_accuracy_lenient,
        figures.cause_line_accuracy
    );
}

/// The parts in which each rule decides and is right.
fn support(cases: &[Case]) -> BTreeMap<String, BTreeSet<usize>> {
    let mut support: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (case, got) in predictions(&Classifier::new().unwrap(), cases) {
        if case.labels["category"] == got.category.word() {
            support.entry(got.evidence.decided_by).or_default().insert(part(&case.observation.tool));
        }
    }
    support
}

/// A case, what was made of it, and what words alone make of the line that names its cause.
type Judged<'a> = (&'a Case, Classified, Option<Likelihoods>);

/// One part, judged by what the others teach.
fn judged<'a>(all: &'a [Case], support: &BTreeMap<String, BTreeSet<usize>>, held: usize) -> Vec<Judged<'a>> {
    let off = std::env::var("OFF").unwrap_or_default();
    let off: Vec<&str> = off.split(',').filter(|prefix| !prefix.is_empty()).collect();
    let only_here =
        |id: &str| support.get(&format!("rule:{id}")).is_some_and(|parts| parts.iter().all(|part| *part == held));
    let without: Vec<&str> = rule_table().map(|rule| rule.id).filter(|id| only_here(id)).collect();
    let (here, others): (Vec<&Case>, Vec<&Case>) = all.iter().partition(|case| part(&case.observation.tool) == held);
    let mut examples: Vec<_> = others.iter().flat_map(|case| of_case(case)).collect();
    examples.extend(of_rules(&without));
    examples.extend(of_lines());
    let is_off = |id: &str| off.iter().any(|prefix| id.starts_with(prefix));
    let rules = rule_table().filter(|rule| !without.contains(&rule.id) && !is_off(rule.id));
    let trained = train(&examples);
    let lexicon = Lexicon::read(&trained).unwrap();
    let classifier = Classifier::with(rules, Lexicon::read(&trained).unwrap()).unwrap();
    let judge = |case: &'a Case| {
        (case, classifier.classify(&case.observation, &case.log), cause_line(case).map(|line| lexicon.judge(&line)))
    };
    here.into_iter().map(judge).collect()
}

/// What words alone make of the lines that name causes.
fn the_limits_of_words_hold(parts: &[Judged<'_>]) {
    let (mut judged, mut guessed, mut right, mut doubted) = (0.0, 0.0, 0.0, 0.0);
    for (case, _, likelihoods) in parts {
        let Some(likelihoods) = likelihoods else { continue };
        let wanted = Category::ALL.into_iter().find(|one| one.word() == case.labels["category"]).unwrap();
        let (category, likely) = likelihoods.best();
        judged += 1.0;
        guessed += f64::from(u8::from(likely >= LIKELY));
        right += f64::from(u8::from(likely >= LIKELY && category == wanted));
        doubted += f64::from(u8::from(likelihoods.likelihood(wanted) < DOUBTED));
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

#[test]
fn tools_that_it_has_never_met_are_mostly_judged_rightly() {
    let all = field::all();
    let support = support(&all);
    let parts: Vec<_> = std::thread::scope(|scope| {
        let each = |held| {
            scope.spawn({
                let (all, support) = (&all, &support);
                move || judged(all, support, held)
            })
        };
        let parts: Vec<_> = (0..crate::world::PARTS).map(each).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    the_limits_of_words_hold(&parts);
    let got: Vec<(&Case, Classified)> = parts.into_iter().map(|(case, got, _)| (case, got)).collect();
    for (name, cases) in field::sets() {
        let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let of_set: Vec<_> = got.iter().filter(|(case, _)| ids.contains(case.id.as_str())).cloned().collect();
        print(name, &of_set);
    }
    print("all", &got);
    if std::env::var_os("MISSES").is_some() {
        println!("{}", crate::world::misses(&got));
    }
    let figures = score(&got);
    assert!(figures.category_accuracy >= 0.90, "{figures:?}");
    assert!(figures.confident_wrong_rate <= 0.025, "{figures:?}");
}
