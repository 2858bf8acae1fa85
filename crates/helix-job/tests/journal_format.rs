//! Journal format 1: events of every kind as they stand in a journal. A change that cannot read them, writes them otherwise or
//! folds them to something else breaks the jobs of users.

use std::collections::BTreeSet;

use helix_core::ids::JobId;
use helix_job::{JobEvent, JobState, JobView, Recorded};
use serde_json::Value;

/// One event in each line; a job begins with its event 1.
const FORMAT_1: &str = include_str!("fixtures/journal-1.jsonl");

fn jobs() -> Vec<Vec<Recorded<JobEvent>>> {
    let mut jobs: Vec<Vec<Recorded<JobEvent>>> = Vec::new();
    for line in FORMAT_1.lines() {
        let event: Recorded<JobEvent> = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(serde_json::to_value(&event).unwrap(), serde_json::from_str::<Value>(line).unwrap());
        match jobs.last_mut() {
            Some(job) if event.number > 1 => job.push(event),
            _ => jobs.push(vec![event]),
        }
    }
    jobs
}

#[test]
fn what_was_recorded_is_read_written_and_folded_as_it_was() {
    let views: Vec<Value> = jobs()
        .iter()
        .map(|events| {
            let state = JobState::fold(events).unwrap();
            let view = JobView::project(&JobId::from_parts(1_795_299_301_000, 7), &state).unwrap();
            serde_json::to_value(view).unwrap()
        })
        .collect();
    let expected: Vec<Value> = serde_json::from_str(include_str!("fixtures/journal-1.views.json")).unwrap();
    assert_eq!(views, expected);
}

/// Notes of failures move no job; they have a format of their own.
#[test]
fn every_kind_of_event_is_in_it() {
    let schema = schemars::schema_for!(JobEvent).to_value();
    let mut kinds = BTreeSet::new();
    kinds_of(&schema, &mut kinds);
    let recorded: BTreeSet<String> = jobs().iter().flatten().map(|one| one.event.name().to_owned()).collect();
    let missing: Vec<_> = kinds.difference(&recorded).filter(|kind| !kind.contains('.')).collect();
    assert!(kinds.len() >= 20 && missing.is_empty(), "not in the file: {missing:?} of {kinds:?}");
}

/// The `type` of each alternative of a schema, those in its alternatives included.
fn kinds_of(schema: &Value, kinds: &mut BTreeSet<String>) {
    kinds.extend(schema.pointer("/properties/type/const").and_then(Value::as_str).map(str::to_owned));
    for key in ["oneOf", "anyOf"] {
        schema.get(key).and_then(Value::as_array).into_iter().flatten().for_each(|one| kinds_of(one, kinds));
    }
}
