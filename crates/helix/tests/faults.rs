//! Every fault that an agent can have, at its first try only and at every try, in every place where an agent works: a phase's own,
//! its verifier, a gate's reviewer, a planner, an adviser, one that resolves a conflict, and the Consultant. None of them may end
//! in a "done" that is not true, none may leave a process behind, and each that fails must say why. [T1-T3, T5, T6, 1, 2, 13]
//!
//! `HELIX_FAULTS=all` takes all of them in every place (`cargo xtask crash`); else only a phase's own agent has all.

mod catalogue;
mod turns;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::stage::{Stage, assert_numbered};
use catalogue::End::{Done, Failed};
use catalogue::{CODE, Case, Place, TEST, cases};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Patience that a busy machine does not use up, and that does not make the test long; one adviser is asked twice and nobody else.
const CONFIG: &str = "max_agents = 24\nlinger = \"6s\"\nstall = \"12s\"\nstop_grace = \"1s\"\n\n[adviser]\nrounds = 2\n\n[escalation]\nperson = \"never\"\n";
/// In the places beside a phase's own agent every fifth behaviour is taken.
const STRIDE: usize = 5;
/// Jobs at a time: enough that those that only wait delay nobody.
const AT_ONCE: usize = 24;

fn stride() -> usize {
    match std::env::var("HELIX_FAULTS").as_deref() {
        Ok("all") => 1,
        Ok(other) => panic!("HELIX_FAULTS={other}: it can only be `all`"),
        Err(_) => STRIDE,
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What is wrong with how the job of a case ended.
async fn problem(stage: &Stage, case: &Case) -> Option<String> {
    let repo = stage.sandbox.path().join(&case.name);
    copy(&stage.repo, &repo);
    let base = stage.git(&repo, &["rev-parse", "HEAD"]);
    let plan = stage.plan(&format!("plan-{}", case.name), &case.plan);
    let job = stage.submit(&plan, &repo, &case.name).await;
    let events = stage.events(&job).await;
    assert_numbered(&events);
    let view = stage.job(&job).await;
    tokio::task::spawn_blocking(move || Stage::no_agent_is_left(&job)).await.unwrap();

    let read = |path: &str| std::fs::read_to_string(repo.join(path)).unwrap_or_default();
    let there = read("shop/double.py") == CODE && read("tests/test_double.py") == TEST;
    let moved = stage.git(&repo, &["rev-parse", "HEAD"]) != base;
    let error = view["error"]["message"].as_str().unwrap_or_default().to_owned();
    let status = view["status"].as_str().unwrap();
    let took_place = |event: &str| events.iter().any(|one| one["type"] == event);
    let played = match case.place {
        Place::Agent => true,
        Place::Verifier => view["phases"][0]["verdict"].as_str().is_some_and(|verdict| verdict.starts_with("pass")),
        Place::Gate => passed(&view, "review_approved").is_some(),
        Place::Planner => read("more.md") == "# More\n",
        Place::Adviser => took_place("advice_given"),
        Place::Conflict => took_place("conflict_found") && read("NOTES.md") == "one and other\n",
    };
    let good = match case.expected {
        Done => status == "succeeded" && there && moved && proven(&view, case.place) && played,
        Failed(why) => {
            status == "failed" && error.contains(why) && view["error"]["hint"].is_string() && !there && !moved
        }
    };
    (!good).then(|| {
        let phases: Vec<String> = view["phases"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|phase| format!("{} {} after {}", phase["id"], phase["status"], phase["attempt"]))
            .collect();
        format!(
            "{} [{}] expected {:?}: {status}, files there: {there}, merged: {moved}, played: {played}, error: {}, {}",
            case.name,
            case.fault,
            case.expected,
            view["error"],
            phases.join(", ")
        )
    })
}

/// A gate's report of the first phase's last try, if it passed.
fn passed<'v>(view: &'v Value, gate: &str) -> Option<&'v Value> {
    let gates = view["phases"][0]["gates"].as_array()?;
    gates.iter().find(|one| one["gate"] == gate && one["verdict"] == "pass")
}

/// Whether the last try's gates say that tests ran and passed, or that the files can be read.
fn proven(view: &Value, place: Place) -> bool {
    match place {
        Place::Agent => passed(view, "tests_pass").is_some_and(|gate| gate["tests"]["passed"] == 4),
        _ => passed(view, "syntax_check").is_some(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_of_an_agent_becomes_a_false_done_or_leaves_anything_behind() {
    let start = Instant::now();
    let mut cases = cases(stride());
    if let Ok(only) = std::env::var("HELIX_FAULT") {
        cases.retain(|case| case.name == only);
    }
    let script: String = cases.iter().map(|case| case.parts.as_str()).collect();
    let stage = Arc::new(Stage::new(&format!("parts:\n{script}"), CONFIG));
    let _host = stage.start();
    let count = cases.len();
    let mut places: BTreeMap<String, u32> = BTreeMap::new();
    let mut jobs: JoinSet<Option<String>> = JoinSet::new();
    let places_left = Arc::new(Semaphore::new(AT_ONCE));
    for case in cases {
        *places.entry(format!("{:?}", case.place)).or_default() += 1;
        let (stage, places_left) = (Arc::clone(&stage), Arc::clone(&places_left));
        jobs.spawn(async move {
            let _place = places_left.acquire().await.unwrap();
            problem(&stage, &case).await
        });
    }
    let mut problems: Vec<String> = jobs.join_all().await.into_iter().flatten().collect();
    problems.sort();
    assert!(problems.is_empty(), "{} of {count} cases:\n{}", problems.len(), problems.join("\n"));
    stage.no_gate_is_left();
    assert_eq!(helix_testkit::agent::overlaps(&stage.plays()).unwrap(), Vec::<std::path::PathBuf>::new());
    println!(
        "{count} jobs with faulty agents {places:?}: no false \"done\", no process left, every failure with its cause ({} s)",
        start.elapsed().as_secs()
    );
}
