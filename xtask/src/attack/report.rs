//! What the terminal shows: a line for each attack, a table of classes.

use std::collections::BTreeMap;

use serde_json::json;

use super::book::Attack;
use super::trial::Verdict;

/// One attack that was tried, or could not be.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) does: String,
    pub(super) verdict: Verdict,
    pub(super) seconds: f64,
}

/// Held, got through, not tried.
type Counts = [usize; 3];

impl Row {
    pub(super) fn new(attack: &Attack, verdict: Verdict, seconds: f64) -> Self {
        let Attack { name, class, does, .. } = attack.clone();
        Self { name, class, does, verdict, seconds }
    }

    pub(super) fn untried(attack: &Attack, why: String) -> Self {
        Self::new(attack, Verdict::Untried(why), 0.0)
    }
}

impl Verdict {
    fn column(&self) -> usize {
        match self {
            Self::Held => 0,
            Self::Through => 1,
            Self::Untried(_) => 2,
        }
    }

    fn words(&self) -> &'static str {
        ["held", "got through", "not tried"][self.column()]
    }
}

/// One line, as soon as it is known.
pub(super) fn line(row: &Row, json: bool) {
    let why = match &row.verdict {
        Verdict::Untried(why) => Some(why.as_str()),
        Verdict::Held | Verdict::Through => None,
    };
    if json {
        let Row { name, class, does, verdict, seconds } = row;
        let verdict = verdict.words();
        println!(
            "{}",
            json!({ "name": name, "class": class, "does": does, "verdict": verdict, "why": why, "seconds": seconds })
        );
        return;
    }
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    println!("{:<12} {:>5.1} s  {:<34} {}{why}", row.verdict.words(), row.seconds, row.name, row.does);
}

/// The table at the end.
pub(super) fn table(rows: &[Row]) {
    let counts = counts(rows);
    let width = counts.keys().map(|class| class.chars().count()).max().unwrap_or(0);
    println!("\n{:<width$} {:>6} {:>12} {:>10}", "class", "held", "got through", "not tried");
    let mut sum = Counts::default();
    for (class, of_class) in counts {
        print_counts(class, of_class, width);
        (0..3).for_each(|column| sum[column] += of_class[column]);
    }
    print_counts("all", sum, width);
}

fn counts(rows: &[Row]) -> BTreeMap<&str, Counts> {
    let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
    for row in rows {
        counts.entry(&row.class).or_default()[row.verdict.column()] += 1;
    }
    counts
}

fn print_counts(name: &str, [held, through, untried]: Counts, width: usize) {
    println!("{name:<width$} {held:>6} {through:>12} {untried:>10}");
}

/// What there is to try.
pub(super) fn list(attacks: &[&Attack]) {
    let mut class = "";
    for attack in attacks {
        if attack.class != class {
            class = &attack.class;
            println!("{class}");
        }
        println!("  {:<34} {}", attack.name, attack.does);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_class_and_verdict() {
        let row = |class: &str, verdict| Row {
            name: "n".into(),
            class: class.into(),
            does: "It is tried.".into(),
            verdict,
            seconds: 0.0,
        };
        let rows = [
            row("a", Verdict::Held),
            row("a", Verdict::Through),
            row("a", Verdict::Through),
            row("b", Verdict::Untried("no node".into())),
        ];
        assert_eq!(counts(&rows), BTreeMap::from([("a", [1, 2, 0]), ("b", [0, 0, 1])]));
    }
}
