//! An agent that repeats a call which fails the same way each time is ended, and the next attempt is told of what.

use crate::e2e::Bed;
use crate::stage::Stage;
use helix_testkit::locate::PINNED_CLAUDE;
use serde_json::{Value, json};

const PLAN: &str = "name: note
phases:
  - { id: note, type: documentation, description: NOTE-PHASE writes a note, outputs: [note.md], max_attempts: 2, on_failure: fail }
";

/// A stage whose agent makes so many failing calls, with `between` before each, and in its second attempt writes the note.
fn stage(calls: usize, between: &str, jobs: &str) -> Stage {
    let call = format!("{between}{{ run: 'echo no such thing; exit 3' }}");
    let steps = vec![call; calls].join(", ");
    Stage::new(
        &format!(
            "parts:\n  - name: note\n    prompt: NOTE-PHASE\n    attempts:\n      \
             - steps: [{steps}, {{ write: {{ path: note.md, content: late }} }}]\n      \
             - steps: [{{ write: {{ path: note.md, content: noted }} }}]\n"
        ),
        jobs,
    )
}

/// Runs the plan; gives the job, its events, and what `helix run` said.
fn run(stage: &Stage) -> (Value, String, String) {
    let plan = stage.plan("note", PLAN);
    let run =
        stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let jobs = stage.helix(&["--json", "jobs", "list"]).output().unwrap();
    let jobs: Value = serde_json::from_slice(&jobs.stdout).unwrap();
    let id = jobs[0]["id"].as_str().unwrap();
    let events = stage.helix(&["--json", "jobs", "watch", id]).output().unwrap();
    (jobs[0].clone(), String::from_utf8_lossy(&events.stdout).into_owned(), said)
}

/// How often the call failed that the first run was ended for.
fn times(events: &str) -> u64 {
    let (_, rest) = events.split_once("\"times\":").unwrap_or_else(|| panic!("{events}"));
    rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

#[test]
fn a_run_that_repeats_a_failing_call_is_ended_and_the_next_one_is_told() {
    // A model takes its time before each call, so that the run is still there when it is to be ended.
    let stage = stage(30, "{ sleep: 100 }, ", "");
    let (job, events, said) = run(&stage);
    assert_eq!((&job["status"], &job["phases"][0]["attempt"]), (&json!("succeeded"), &json!(2)), "{said}");
    assert_eq!(stage.git(&stage.repo, &["show", "HEAD:note.md"]), "noted", "{said}");
    let shown = " times in the same way, with nothing new in between: echo no such thing; exit 3";
    assert!(said.contains("Bash failed ") && said.contains(shown), "{said}");
    // It goes on for a moment while it is stopped.
    assert!((8..30).contains(&times(&events)), "{events}");
    for part in ["\"stopped\":\"stuck\"", "no such thing", "run.stuck", "do not call it again before"] {
        assert!(events.contains(part), "{part}: {events}");
    }
}

/// What changes, what waits, and what nobody wants to be limited goes on to its end.
#[test]
fn a_run_that_does_something_else_in_between_goes_on() {
    for (between, jobs) in [("{ run: 'date +%N' }, ", ""), ("{ run: 'sleep 0.01' }, ", ""), ("", "stuck_after = 0\n")] {
        let stage = stage(12, between, jobs);
        let (job, _, said) = run(&stage);
        assert_eq!(
            (&job["status"], &job["phases"][0]["attempt"]),
            (&json!("succeeded"), &json!(1)),
            "{between}: {said}"
        );
    }
    // With a moment before each call, so that the run is still there when it is to be ended.
    let (job, events, said) = run(&stage(120, "{ run: 'true' }, { sleep: 50 }, ", "stuck_after = 3\n"));
    assert_eq!(job["phases"][0]["attempt"], json!(2), "{said}");
    assert!((3..120).contains(&times(&events)), "{events}");
}

/// The real CLI, whose model calls the same failing command again and again, until a new session is told of it.
#[test]
fn the_real_cli_is_ended_when_its_model_is_stuck() {
    let script = r#"
rules:
  - name: loop
    times: always
    when: { any_prompt: { contains: NOTE-PHASE, lacks: in the same way } }
    reply: { tools: [{ name: Bash, input: { command: cat missing.txt, description: looks } }] }
scenes:
  - name: again
    prompt: in the same way
    steps:
      - tools: [{ name: Write, input: { file_path: "{{cwd}}/note.md", content: noted } }]
      - text: It is there.
"#;
    let bed = Bed::serve(PINNED_CLAUDE, script.parse().unwrap());
    let project = bed.projects().join("stuck");
    std::fs::create_dir_all(&project).unwrap();
    for arguments in [&["init", "-q", "-b", "main"][..], &["commit", "-q", "--allow-empty", "-m", "first"]] {
        bed.git(&project, arguments);
    }
    std::fs::write(project.join("plan.yaml"), PLAN).unwrap();
    let started = bed.helix(0, &["run", project.join("plan.yaml").to_str().unwrap(), "--detach"]);
    let id = started["job"].as_str().unwrap();
    assert!(bed.at(&project, &["jobs", "watch", id]).status.success());
    let events = String::from_utf8(bed.at(&project, &["--json", "jobs", "watch", id]).stdout).unwrap();
    assert!(events.contains("\"stopped\":\"stuck\"") && (8..=10).contains(&times(&events)), "{events}");
    let job = bed.helix(0, &["jobs", "show", id]);
    assert_eq!((&job["status"], &job["phases"][0]["attempt"]), (&json!("succeeded"), &json!(2)), "{job:#}");
    let asked = bed.model.requests().iter().filter(|one| one.answered_by.as_deref() == Some("rule loop")).count();
    println!("{asked} requests until it was ended");
    assert!((8..=10).contains(&asked), "{asked} requests");
    bed.no_run_of(id);
    bed.leave();
}
