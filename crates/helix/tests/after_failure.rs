//! After a failure: the gates judge the last result again, a person accepts it, or the corrected plan is taken; and what the
//! evidence says of each.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::stage::Stage;
use serde_json::Value;

const WRITES: &str = "parts:
  - { name: page, prompt: 'Write the page', act: { steps: [{ write: { path: page.md, content: \"# Page\\n\" } }] } }
  - { name: more, prompt: 'Write more', act: { steps: [{ write: { path: more.md, content: \"# More\\n\" } }] } }
";

/// A plan whose first phase has this command as its last gate.
fn plan(stage: &Stage, command: &str, more: &str) -> PathBuf {
    let text = format!(
        "name: pages
phases:
  - id: page
    type: documentation
    description: Write the page.
    outputs: [page.md]
    max_attempts: 1
    on_failure: fail
    gates: [{{ type: files_exist }}, {{ type: command, command: {command:?} }}]
  - id: more
    type: documentation
    description: Write more{more}.
    depends_on: [page]
    outputs: [more.md]
    max_attempts: 1
    on_failure: fail
"
    );
    stage.plan("pages", &text)
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a command that must end with this code; what it said.
fn said(stage: &Stage, arguments: &[&str], wanted: i32) -> String {
    let output = stage.helix(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(wanted), "{arguments:?}: {}", text(&output));
    text(&output)
}

fn json(stage: &Stage, arguments: &[&str], wanted: i32) -> Value {
    let output = stage.helix(&[arguments, &["--json"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(wanted), "{arguments:?}: {}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A job that its first gate but one has stopped.
fn failed(stage: &Stage, plan: &Path, code: i32) {
    let repo = stage.repo.to_str().unwrap();
    said(stage, &["run", plan.to_str().unwrap(), "--project", repo], code);
}

#[test]
fn what_only_the_environment_kept_from_passing_is_checked_again_and_no_agent_is_paid() {
    let stage = Stage::new(WRITES, "");
    let ready = stage.shared().join("ready");
    let plan = plan(&stage, &format!("test -e {}", ready.display()), "");
    failed(&stage, &plan, 1);
    said(&stage, &["jobs", "check", "last", "--phase", "page"], 1);
    std::fs::write(&ready, "").unwrap();
    said(&stage, &["jobs", "check", "#1"], 0);
    assert_eq!((stage.plays_of("page"), stage.plays_of("more")), (1, 1));
    let job = json(&stage, &["jobs", "show", "pages"], 0);
    assert_eq!((&job["status"], &job["phases"][0]["attempt"]), (&"succeeded".into(), &1.into()), "{job:#}");
    assert_eq!(json(&stage, &["jobs", "evidence", "last"], 0)["proved"], true);
    let over = said(&stage, &["jobs", "check", "last"], 2);
    assert!(over.contains("has succeeded"), "{over}");
}

/// The report belongs to what the gate found this time, whoever wrote one before.
#[test]
fn a_gate_that_looks_again_is_reported_by_what_it_finds_now() {
    let stage = Stage::new(WRITES, "");
    let script = stage.shared().join("check.sh");
    std::fs::write(&script, "ls one.txt\n").unwrap();
    let plan = plan(&stage, &format!("sh {}", script.display()), "");
    failed(&stage, &plan, 1);
    assert!(said(&stage, &["jobs", "show", "last"], 0).contains("one.txt"));
    std::fs::write(&script, "ls two.txt\n").unwrap();
    let checked = said(&stage, &["jobs", "check", "last"], 1);
    let report = checked.split_once("report of page, attempt 1").unwrap().1;
    assert!(report.contains("two.txt") && !report.contains("one.txt"), "{checked}");
    assert_eq!(checked.matches("report of page").count(), 1, "{checked}");
    assert!(!checked.contains("agent running"), "what was there before is told again: {checked}");
}

/// What the agent itself says of its failure stands in its log.
#[test]
fn an_agent_that_is_not_logged_in_says_so_in_its_log() {
    let stage = Stage::new("parts: [{ name: page, prompt: '', act: { faults: [credentials] } }]", "");
    failed(&stage, &plan(&stage, "true", ""), 4);
    let log = said(&stage, &["jobs", "logs", "last"], 0);
    assert!(log.contains("Invalid API key · Fix external API key\nended with an error"), "{log}");
}

#[test]
fn what_a_person_accepts_is_merged_recorded_and_never_proved() {
    let stage = Stage::new(WRITES, "");
    let plan = plan(&stage, "false", "");
    failed(&stage, &plan, 1);
    let without = said(&stage, &["jobs", "accept", "last", "--phase", "page"], 2);
    assert!(without.contains("--reason"), "{without}");
    let nothing = said(&stage, &["jobs", "accept", "last", "--phase", "more", "--reason", "why not"], 2);
    assert!(nothing.contains("no phase has a result"), "{nothing}");
    let accepted = said(&stage, &["jobs", "accept", "last", "--phase", "page", "--reason", "the server is down"], 6);
    assert!(accepted.contains("although gate command did not pass, so not proved: the server is down"), "{accepted}");
    assert_eq!(stage.plays_of("page"), 1);
    assert_eq!(stage.git(&stage.repo, &["show", "main:more.md"]).trim_end(), "# More");
    let evidence = json(&stage, &["jobs", "evidence", "last"], 6);
    let (page, more) = (&evidence["phases"][0], &evidence["phases"][1]);
    assert_eq!(
        (&evidence["proved"], &page["standing"], &more["standing"]),
        (&false.into(), &"unproved".into(), &"proved".into())
    );
    let lacks = page["missing"].to_string();
    assert!(lacks.contains("accepted it although gate command did not pass: the server is down"), "{lacks}");
    assert_eq!(evidence["integration"]["standing"], "unproved", "{evidence:#}");
    // Whoever looks at it later is told the same.
    assert!(said(&stage, &["jobs", "list"], 0).contains("succeeded (not proved)"));
    let report = said(&stage, &["jobs", "report", "last"], 0);
    assert!(report.contains("**Not proved:**") && report.contains("the server is down"), "{report}");
    let merged = stage.git(&stage.repo, &["log", "-1", "--format=%(trailers:key=Helix-Overruled)", "main"]);
    assert!(merged.contains("command of page, by ") && merged.contains(": the server is down"), "{merged}");
    said(&stage, &["jobs", "watch", "last"], 6);
}

#[test]
fn a_corrected_plan_is_taken_and_recorded_and_what_has_passed_stays_what_it_was() {
    let stage = Stage::new(WRITES, "");
    let file = plan(&stage, "false", "");
    failed(&stage, &file, 1);
    plan(&stage, "true", "");
    // The plan of the job's beginning still says no.
    said(&stage, &["jobs", "check", "last", "--keep-plan"], 1);
    let resumed = said(&stage, &["jobs", "check", "last"], 0);
    assert!(resumed.contains("the plan has changed since: phases page are taken as they are now"), "{resumed}");
    assert_eq!((stage.plays_of("page"), stage.plays_of("more")), (1, 1), "{resumed}");
    assert_eq!(json(&stage, &["jobs", "evidence", "last"], 0)["proved"], true);
}

#[test]
fn a_plan_that_is_another_one_is_refused_with_what_to_do() {
    let stage = Stage::new(&WRITES.replace("name: more,", "name: other,").replace("Write more", "Write nothing"), "");
    let file = plan(&stage, "true", "");
    failed(&stage, &file, 1);
    // The first phase has passed, and the second one has not.
    plan(&stage, "test 1 -eq 1", "");
    let passed = said(&stage, &["jobs", "resume", "last"], 2);
    assert!(passed.contains("phase page has passed") && passed.contains("--keep-plan"), "{passed}");
    let job = json(&stage, &["jobs", "show", "last"], 0)["id"].as_str().unwrap().to_owned();
    assert!(passed.contains(&format!("`helix jobs retry {job} --phase page`")), "{passed}");
    plan(&stage, "true", "");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("id: more", "id: others")).unwrap();
    let other = said(&stage, &["jobs", "resume", "last"], 2);
    assert!(other.contains("has other phases than the job"), "{other}");
    std::fs::write(&file, "name: [").unwrap();
    let broken = said(&stage, &["jobs", "resume", "last"], 2);
    assert!(broken.contains("the plan file cannot be taken"), "{broken}");
    // What is still to come may be another task.
    stage.agent_does(WRITES);
    plan(&stage, "true", " of it");
    let resumed = said(&stage, &["jobs", "resume", "last"], 0);
    assert!(resumed.contains("phases more are taken"), "{resumed}");
    let job = json(&stage, &["jobs", "show", "last"], 0);
    assert_eq!(job["status"], "succeeded", "{job:#}");
}

/// In a pipe, why a job failed is told by its report alone, where the events before it have told it of the gate.
#[test]
fn a_pipe_is_told_once_why_a_job_failed() {
    let stage = Stage::new(WRITES, "");
    let plan = plan(&stage, "false", "");
    let output = stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]).output();
    let said = text(&output.unwrap());
    assert_eq!(said.matches("gate command found").count(), 1, "{said}");
    assert!(said.contains("✗ job failed\n") && said.contains("failed page: gate command found"), "{said}");
}
