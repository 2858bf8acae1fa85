//! How results land, from outside: as a merge, as one commit, on a branch of their own; with the host killed in the middle; and
//! what `helix clean` leaves of it.

use std::path::PathBuf;
use std::process::Output;

use crate::stage::Stage;
use serde_json::{Value, json};

/// The first attempt leaves the file empty, which its gate does not take; the second one writes it.
const SCRIPT: &str = "parts:
  - name: page
    prompt: { matches: '# Phase `page`' }
    act: { steps: [{ write: { path: other.txt, content: \"o\\n\" } }], say: Done. }
  - name: again
    prompt: ''
    act: { steps: [{ write: { path: page.txt, content: \"p\\n\" } }], say: Done. }
";
const PLAN: &str = "name: page
description: Write the page. More words.
phases:
  - id: page
    name: Write the page
    type: development
    outputs: [page.txt]
    gates: [{ type: files_exist }]
";

fn stage() -> (Stage, PathBuf) {
    let stage = Stage::new(SCRIPT, "");
    let plan = stage.plan("page", PLAN);
    (stage, plan)
}

fn run(stage: &Stage, arguments: &[&str]) -> Output {
    stage.helix(arguments).current_dir(&stage.repo).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn json_of(stage: &Stage, arguments: &[&str]) -> Value {
    let output = run(stage, &[&["--json"], arguments].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
}

fn land<'a>(stage: &'a Stage, plan: &'a std::path::Path, how: &'a str) -> Vec<&'a str> {
    vec!["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap(), "--land", how]
}

fn log(stage: &Stage, range: &str) -> Vec<String> {
    let log =
        stage.git(&stage.repo, &["log", "--format=%s|%(trailers:key=Helix-Attempt,valueonly,separator=,)", range]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn a_result_lands_as_it_is_asked_for_and_without_the_attempts_that_failed() {
    for (how, code, wanted) in [
        ("merge", 0, vec!["page: Write the page|", "page: Write the page|2"]),
        ("squash", 0, vec!["page: Write the page|"]),
        ("branch", 0, vec![]),
    ] {
        let (stage, plan) = stage();
        let before = stage.git(&stage.repo, &["rev-parse", "HEAD"]).trim().to_owned();
        // Work of the user's that the result does not touch.
        std::fs::write(stage.repo.join("README.md"), "mine\n").unwrap();
        let output = run(&stage, &land(&stage, &plan, how));
        assert_eq!(output.status.code(), Some(code), "{how}: {}", said(&output));
        assert_eq!(log(&stage, &format!("{before}..main")), wanted, "{how}");
        assert_eq!(std::fs::read_to_string(stage.repo.join("README.md")).unwrap(), "mine\n");
        let job = json_of(&stage, &["jobs", "list"])[0].clone();
        assert_eq!((&job["status"], &job["phases"][0]["attempt"]), (&json!("succeeded"), &json!(2)), "{job:#}");
        let id = job["id"].as_str().unwrap();
        assert_eq!(json_of(&stage, &["jobs", "evidence", id])["proved"], true, "{how}");
        let branches = stage.git(&stage.repo, &["branch", "--list", "helix/*"]);
        assert_eq!(branches.contains(&format!("helix/page-{id}")), how == "branch", "{how}: {branches}");
        assert_eq!(stage.repo.join("page.txt").exists(), how != "branch");
    }
}

/// What a plan says holds, and what is said at the command line holds more.
#[test]
fn a_plan_and_the_configuration_say_how_its_result_lands() {
    let stage = Stage::new(SCRIPT, "land = \"branch\"\n");
    let plan = stage.plan("page", PLAN);
    let by_plan = stage.plan("squashed", &PLAN.replace("phases:", "land: squash\nphases:"));
    let wrong = stage.plan("wrong", &PLAN.replace("phases:", "land: sqash\nphases:"));
    let arguments = |plan: &std::path::Path| {
        vec!["run".to_owned(), plan.display().to_string(), "--project".into(), stage.repo.display().to_string()]
    };
    let go = |plan: &std::path::Path| {
        let arguments = arguments(plan);
        run(&stage, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let refused = go(&wrong);
    assert!(
        refused.status.code() == Some(2) && said(&refused).contains("did you mean `squash`?"),
        "{}",
        said(&refused)
    );
    assert_eq!(go(&plan).status.code(), Some(0));
    let head = || stage.git(&stage.repo, &["rev-list", "--count", "main"]).trim().to_owned();
    let before = head();
    assert!(!stage.repo.join("page.txt").exists());
    assert_eq!(go(&by_plan).status.code(), Some(0));
    assert_eq!(head().parse::<u32>().unwrap(), before.parse::<u32>().unwrap() + 1);
}

/// The host dies before, while and after a result lands as one commit: it lands once.
#[test]
fn a_squashed_result_lands_once_wherever_the_host_dies() {
    let (undisturbed, plan) = stage();
    let record = undisturbed.sandbox.path().join("places");
    let mut first = undisturbed.helix(&land(&undisturbed, &plan, "squash"));
    assert!(first.env("HELIX_CRASH_PLACES", &record).output().unwrap().status.success());
    let places = std::fs::read_to_string(&record).unwrap();
    let places: Vec<&str> = places
        .lines()
        .filter(|place| ["handed over", "has landed", "ntegrat"].iter().any(|part| place.contains(part)))
        .collect();
    assert!(places.len() >= 4, "{places:?}");
    for place in places {
        let (stage, plan) = stage();
        let before = stage.git(&stage.repo, &["rev-parse", "HEAD"]).trim().to_owned();
        let mut dies = stage.helix(&land(&stage, &plan, "squash"));
        let died = dies.env("HELIX_CRASH_AT", place).output().unwrap();
        assert_ne!(died.status.code(), Some(0), "{place}: nothing died");
        let id = json_of(&stage, &["jobs", "list"])[0]["id"].as_str().unwrap().to_owned();
        let watched = run(&stage, &["jobs", "watch", &id]);
        assert_eq!(watched.status.code(), Some(0), "{place}: {}", said(&watched));
        assert_eq!(log(&stage, &format!("{before}..main")), ["page: Write the page|"], "{place}");
        assert_eq!(stage.git(&stage.repo, &["status", "--porcelain"]), "", "{place}");
        assert_eq!(json_of(&stage, &["jobs", "evidence", &id])["proved"], true, "{place}");
        // One commit takes it out again.
        let reverted = run(&stage, &["jobs", "revert", &id]);
        assert!(reverted.status.success() && !stage.repo.join("page.txt").exists(), "{}", said(&reverted));
    }
}

/// Runs that prove nothing and merged branches go, and what they free is said; evidence stays whole.
#[test]
fn what_nothing_needs_is_removed_and_evidence_is_not() {
    let (stage, plan) = stage();
    assert_eq!(run(&stage, &land(&stage, &plan, "branch")).status.code(), Some(0));
    let id = json_of(&stage, &["jobs", "list"])[0]["id"].as_str().unwrap().to_owned();
    let runs = stage.sandbox.state().join("runs");
    let is_there = |run: &str| runs.join(format!("{id}.page.{run}")).is_dir();
    assert!(is_there("1") && is_there("2"));
    let branch = format!("helix/page-{id}");
    let has_branch = || !stage.git(&stage.repo, &["branch", "--list", &branch]).trim().is_empty();
    // Not long enough ago.
    assert_eq!(json_of(&stage, &["clean", "--older-than", "1d"])["jobs"], json!([]));
    // The branch has the only copy of the result.
    let would = json_of(&stage, &["clean", "--dry-run"]);
    assert_eq!(would["jobs"][0]["branches"], json!([]), "{would:#}");
    assert!(would["bytes"].as_u64().unwrap() > 0 && is_there("1"), "{would:#}");
    stage.git(&stage.repo, &["merge", "-q", "--no-edit", &branch]);
    let would = run(&stage, &["clean", "--dry-run"]);
    assert!(said(&would).contains("would free") && said(&would).contains(&branch) && has_branch(), "{}", said(&would));
    let done = run(&stage, &["clean"]);
    assert!(said(&done).contains("freed"), "{}", said(&done));
    assert!(!is_there("1") && is_there("2") && !has_branch());
    assert_eq!(json_of(&stage, &["jobs", "evidence", &id])["proved"], true);
    let again = run(&stage, &["clean"]);
    assert!(again.status.success() && said(&again).contains("nothing to remove"), "{}", said(&again));
    let wrong = run(&stage, &["clean", "--older-than", "soon"]);
    assert!(wrong.status.code() == Some(2) && said(&wrong).contains("30d"), "{}", said(&wrong));
}
