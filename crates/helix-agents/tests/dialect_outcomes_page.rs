//! The page on outcomes names every outcome, in the words of the code.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

use helix_core::run::OutcomeName;

/// Every outcome; a new one does not compile here until it is added.
fn all() -> Vec<OutcomeName> {
    use OutcomeName as Name;
    let mut all = vec![Name::Complete];
    while let Some(next) = all.last().and_then(|last| match last {
        Name::Complete => Some(Name::CompleteWithDenials),
        Name::CompleteWithDenials => Some(Name::CompleteButTasksLost),
        Name::CompleteButTasksLost => Some(Name::LocalCommand),
        Name::LocalCommand => Some(Name::Truncated),
        Name::Truncated => Some(Name::NoRecord),
        Name::NoRecord => Some(Name::Incomplete),
        Name::Incomplete => Some(Name::StoppedByHook),
        Name::StoppedByHook => Some(Name::Interrupted),
        Name::Interrupted => Some(Name::Cancelled),
        Name::Cancelled => Some(Name::TimedOut),
        Name::TimedOut => Some(Name::Stalled),
        Name::Stalled => Some(Name::Stuck),
        Name::Stuck => Some(Name::Lost),
        Name::Lost => Some(Name::RateLimited),
        Name::RateLimited => Some(Name::OverloadedOrNetwork),
        Name::OverloadedOrNetwork => Some(Name::FatalCredentials),
        Name::FatalCredentials => Some(Name::Context),
        Name::Context => Some(Name::Limit),
        Name::Limit => Some(Name::Refused),
        Name::Refused => Some(Name::Usage),
        Name::Usage => Some(Name::Config),
        Name::Config => Some(Name::Error),
        Name::Error => None,
    }) {
        all.push(next);
    }
    all
}

#[test]
fn every_outcome_has_a_row() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/outcomes.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    for name in all() {
        let written = serde_json::to_value(name).unwrap();
        let cell = format!("| `{}` |", written.as_str().unwrap());
        assert!(rows.iter().any(|row| row.contains(&cell)), "docs/outcomes.md has no row for {cell}");
    }
}
