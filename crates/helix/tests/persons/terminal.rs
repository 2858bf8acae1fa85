//! A person at a real terminal: questions are put there, answered there, and left there.

use serde_json::{Value, json};

use super::stage::{LIMIT, LOOK_AGAIN, Stage};
use super::{WRITES, json_of, only_job, plan, waiting, watched};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// What a command at a terminal came to, with what was seen there.
#[derive(Debug)]
struct Ended {
    code: i64,
    seen: String,
}

/// Runs a command at a terminal; each step waits for a text and then types another.
fn at_terminal(stage: &Stage, arguments: &[&str], steps: &[(&str, &str)]) -> Ended {
    let steps: Vec<Value> = steps.iter().map(|(expect, keys)| json!({ "expect": expect, "type": keys })).collect();
    let file = stage.sandbox.path().join("steps.json");
    std::fs::write(&file, serde_json::to_vec(&steps).unwrap()).unwrap();
    let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/persons/terminal.py");
    let mut command = stage.sandbox.command("python3");
    command.arg(driver).arg(&file).arg(env!("CARGO_BIN_EXE_helix")).args(arguments);
    let output = command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CI").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    let ended: Value = serde_json::from_slice(&output.stdout).unwrap();
    Ended { code: ended["code"].as_i64().unwrap(), seen: ended["seen"].as_str().unwrap().to_owned() }
}

fn status(stage: &Stage) -> Value {
    only_job(stage)["status"].clone()
}

#[test]
fn whoever_asks_what_waits_is_asked_to_answer_it() {
    let stage = Stage::new(WRITES, "");
    let plan = stage.plan("pages", &plan("    approval: before\n"));
    let job = waiting(&stage, &plan);
    let id = job["id"].as_str().unwrap();
    // An empty line, Ctrl-D and Ctrl-C all mean "not now".
    for keys in ["\r", CTRL_D, CTRL_C] {
        let left = at_terminal(&stage, &["answer"], &[("(empty: not now):", keys)]);
        assert_eq!(left.code, 0, "{left:?}");
        assert!(left.seen.contains("stays open"), "{left:?}");
    }
    let open = json_of(&stage, &["answer"], 0);
    assert_eq!(open[0]["status"], "open");
    // What fits no option is asked again; a beginning of one is enough.
    let steps = [("(empty: not now):", "perhaps\r"), ("choose one of", "app\r"), ("your text", "go on\r")];
    let answered = at_terminal(&stage, &["answer"], &steps);
    assert_eq!(answered.code, 0, "{answered:?}");
    assert!(answered.seen.contains("answered"), "{answered:?}");
    watched(&stage, id, 0);
    let given = &only_job(&stage)["questions"][0];
    assert!(given.to_string().contains("go on"), "{given:#}");
    let nothing = at_terminal(&stage, &["answer"], &[]);
    assert!(nothing.code == 0 && nothing.seen.contains("no open questions"), "{nothing:?}");
}

#[test]
fn a_run_at_a_terminal_puts_its_questions_there_and_goes_on() {
    let stage = Stage::new(WRITES, "");
    let file = stage.plan("pages", &plan("    approval: before\n"));
    let (file, repo) = (file.to_str().unwrap(), stage.repo.to_str().unwrap());
    let run = ["run", file, "--project", repo];
    // Whoever does not answer now leaves a job that waits.
    let left = at_terminal(&stage, &run, &[("(empty: not now):", CTRL_C)]);
    assert_eq!((left.code, status(&stage)), (3, json!("waiting")), "{left:?}");
    let ended = at_terminal(&stage, &run, &[("(empty: not now):", "approve\r"), ("your text", "\r")]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.seen.contains("succeeded"), "{ended:?}");
    assert_eq!(status(&stage), "succeeded");
}

#[test]
fn a_question_that_is_answered_elsewhere_is_taken_back_from_the_terminal() {
    let stage = Stage::new(WRITES, "");
    let file = stage.plan("pages", &plan("    approval: before\n"));
    let (file, repo) = (file.to_str().unwrap(), stage.repo.to_str().unwrap());
    let run = ["run", file, "--project", repo];
    let ended = std::thread::scope(|scope| {
        let terminal = scope.spawn(|| at_terminal(&stage, &run, &[("(empty: not now):", "")]));
        let start = std::time::Instant::now();
        let question = loop {
            let open = json_of(&stage, &["answer"], 0);
            if let Some(id) = open[0]["id"].as_str() {
                break id.to_owned();
            }
            assert!(start.elapsed() < LIMIT, "nothing is asked");
            std::thread::sleep(LOOK_AGAIN);
        };
        json_of(&stage, &["answer", &question, "--choice", "approve"], 0);
        terminal.join().unwrap()
    });
    assert_eq!((ended.code, status(&stage)), (0, json!("succeeded")), "{ended:?}");
}

#[test]
fn one_interrupt_stops_the_job_and_a_second_one_leaves_it() {
    let script = "parts:
  - { name: page, prompt: 'Write the page', act: { faults: [deaf, hang] } }
";
    let stage = Stage::new(script, "stop_grace = \"2s\"\n");
    let file = stage.plan("pages", &plan(""));
    let (file, repo) = (file.to_str().unwrap(), stage.repo.to_str().unwrap());
    let run = ["run", file, "--project", repo];
    let stopped = at_terminal(&stage, &run, &[("agent", CTRL_C), ("Ctrl-C again", "")]);
    assert_eq!((stopped.code, status(&stage)), (130, json!("cancelled")), "{stopped:?}");
    let left = at_terminal(&stage, &run, &[("agent", CTRL_C), ("Ctrl-C again", CTRL_C)]);
    assert_eq!(left.code, 130, "{left:?}");
    assert!(left.seen.contains("is being cancelled; the next helix command finishes that"), "{left:?}");
    // The request to stop stands, whoever carries it out.
    let id = only_job(&stage)["id"].as_str().unwrap().to_owned();
    watched(&stage, &id, 1);
    assert_eq!(status(&stage), "cancelled");
    Stage::no_agent_is_left(&id);
    // Whoever looks at a job that is over is told the same as one who watched it.
    let events = super::run(&stage, &["jobs", "watch", &id, "--json"]);
    let lines: Vec<Value> =
        super::text(&events.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((super::code(&events), lines.len() > 2), (1, true), "{lines:?}");
}

#[test]
fn an_interrupt_stops_watching_and_leaves_the_job() {
    let stage = Stage::new("parts:\n  - { name: page, prompt: 'Write the page', act: { faults: [hang] } }\n", "");
    let file = stage.plan("pages", &plan(""));
    let detached =
        super::run(&stage, &["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap(), "--detach"]);
    let id = super::text(&detached.stdout).trim().to_owned();
    let left = at_terminal(&stage, &["jobs", "watch", &id], &[("agent", CTRL_C)]);
    assert_eq!(left.code, 130, "{left:?}");
    assert!(left.seen.contains(&format!("cancel it with: helix jobs cancel {id}")), "{left:?}");
    assert_eq!(status(&stage), "running");
    json_of(&stage, &["jobs", "cancel", &id], 0);
    watched(&stage, &id, 1);
    Stage::no_agent_is_left(&id);
}

/// Table B "hidden credential prompts": neither a gate's command nor what git starts for Helix can ask at the terminal of a run.
#[test]
fn no_command_of_a_run_reaches_its_terminal() {
    let stage = Stage::new(WRITES, "");
    // Opens the terminal of its session, as sudo, ssh and gpg do; fails where there is one.
    let asks = stage.sandbox.path().join("asks");
    std::fs::write(
        &asks,
        "#!/bin/sh\nif (: </dev/tty) 2>/dev/null; then echo 'password:' >/dev/tty; exit 1; fi\nexec cat\n",
    )
    .unwrap();
    std::fs::set_permissions(&asks, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let asks = asks.to_str().unwrap();
    for (key, value) in [("clean", asks), ("smudge", asks), ("required", "true")] {
        stage.git(&stage.repo, &["config", &format!("filter.asks.{key}"), value]);
    }
    std::fs::write(stage.repo.join(".gitattributes"), "page.md filter=asks\n").unwrap();
    stage.git(&stage.repo, &["add", "-A"]);
    stage.git(&stage.repo, &["commit", "-q", "-m", "attributes"]);
    let gates = format!("    gates: [{{ type: files_exist }}, {{ type: command, command: {asks:?} }}]\n");
    let file = stage.plan("pages", &plan(&gates));
    let run = ["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()];
    let ended = at_terminal(&stage, &run, &[]);
    assert_eq!((ended.code, status(&stage)), (0, json!("succeeded")), "{ended:?}");
    assert!(!ended.seen.contains("password:"), "{ended:?}");
    assert_eq!(stage.git(&stage.repo, &["show", "main:page.md"]).trim_end(), "# Page");
}
