//! A person at a real terminal: questions are put there, answered there, and left there.

use serde_json::{Value, json};

use super::{WRITES, json_of, only_job, plan, waiting, watched};
use crate::stage::{LIMIT, LOOK_AGAIN, Stage};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
const UP: &str = "\u{1b}[A";
const DOWN: &str = "\u{1b}[B";
/// What asks whether a job is left or cancelled.
const LEAVING: &str = "keep it running in the background";
/// What says that a question is on the screen.
const ASKED: &str = "Esc not now";

/// What a command at a terminal came to, with what was seen there.
#[derive(Debug)]
struct Ended {
    code: i64,
    seen: String,
    /// The screen at each step.
    frames: Vec<String>,
    /// What the terminal shows at last, without the modes that were left on.
    screen: String,
}

/// Runs a command at a terminal of 80 by 24; each step waits for a text and then types another.
fn at_terminal(stage: &Stage, arguments: &[&str], steps: &[(&str, &str)]) -> Ended {
    sized(stage, (80, 24), arguments, steps)
}

/// The same at a terminal of so many columns and rows.
fn sized(stage: &Stage, (columns, rows): (u16, u16), arguments: &[&str], steps: &[(&str, &str)]) -> Ended {
    let step = |(expect, keys): &(&str, &str)| json!({ "expect": expect, "type": keys, "frame": true });
    let steps: Vec<Value> = steps.iter().map(step).collect();
    let file = stage.sandbox.path().join(format!("steps-{}.json", std::process::id()));
    let play = json!({ "rows": rows, "columns": columns, "steps": steps });
    std::fs::write(&file, serde_json::to_vec(&play).unwrap()).unwrap();
    let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/persons/terminal.py");
    let mut command = stage.sandbox.command("python3");
    command.arg(driver).arg(&file).arg(env!("CARGO_BIN_EXE_helix")).args(arguments);
    let output = command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CI").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    let ended: Value = serde_json::from_slice(&output.stdout).unwrap();
    // However it ended, the terminal is as it was before.
    for (mode, state) in ended["modes"].as_object().unwrap() {
        let before = if mode == "25" { "h" } else { "l" };
        assert_eq!(state, before, "{arguments:?}: mode {mode}");
    }
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Ended {
        code: ended["code"].as_i64().unwrap(),
        seen: text(&ended["seen"]),
        frames: ended["frames"].as_array().unwrap().iter().map(text).collect(),
        screen: text(&ended["screen"]),
    }
}

/// A frame whose times are those of no run, without what agents happened to say by then.
fn steady(frame: &str) -> String {
    let (rows, mut lines) = (frame.lines().count(), Vec::new());
    let above = frame.lines().take_while(|line| !line.starts_with("── "));
    let pane = rows - above.clone().count();
    for line in
        above.chain(std::iter::repeat_n("", pane.saturating_sub(1))).chain(frame.lines().last().filter(|_| pane > 0))
    {
        let mut words: Vec<&str> = line.split(' ').collect();
        // Times stand at the end of a line, or after the last dot of the first one.
        if words.last() == Some(&"s") {
            let kept =
                line.trim_end_matches(" s").trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
            words = vec![kept.trim_end(), "[time]"];
        }
        lines.push(words.join(" ").trim_end().to_owned());
    }
    lines.join("\n")
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
    let left = at_terminal(&stage, &run, &[(ASKED, CTRL_D)]);
    assert_eq!((left.code, status(&stage)), (3, json!("waiting")), "{left:?}");
    assert!(left.screen.contains("helix answer"), "{left:?}");
    // Whoever comes back is asked again, and may look at the options first.
    let id = only_job(&stage)["id"].as_str().unwrap().to_owned();
    let steps = [(ASKED, DOWN), ("▸ 2", UP), ("▸ 1", "\r"), ("Your text", "go on"), ("go on▏", "\r")];
    let ended = at_terminal(&stage, &["jobs", "watch", &id], &steps);
    assert_eq!((ended.code, status(&stage)), (0, json!("succeeded")), "{ended:?}");
    assert!(ended.screen.contains("succeeded"), "{ended:?}");
    assert!(only_job(&stage)["questions"][0].to_string().contains("go on"));
    insta::assert_snapshot!(steady(&ended.frames[0]));
}

#[test]
fn a_question_that_is_answered_elsewhere_is_taken_back_from_the_terminal() {
    let stage = Stage::new(WRITES, "");
    let file = stage.plan("pages", &plan("    approval: before\n"));
    let (file, repo) = (file.to_str().unwrap(), stage.repo.to_str().unwrap());
    let run = ["run", file, "--project", repo];
    let asked = stage.sandbox.path().join("asked");
    let seen = format!("<FILE {}>", asked.display());
    let ended = std::thread::scope(|scope| {
        let terminal = scope.spawn(|| at_terminal(&stage, &run, &[(ASKED, &seen)]));
        let start = std::time::Instant::now();
        while !asked.exists() {
            assert!(start.elapsed() < LIMIT && !terminal.is_finished(), "nothing is asked");
            std::thread::sleep(LOOK_AGAIN);
        }
        let open = json_of(&stage, &["answer"], 0);
        json_of(&stage, &["answer", open[0]["id"].as_str().unwrap(), "--choice", "approve"], 0);
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
    // A key that means neither goes on.
    let steps = [("agent", CTRL_C), (LEAVING, "x"), ("↑↓", CTRL_C), (LEAVING, "c"), ("Ctrl-C again", "")];
    let stopped = at_terminal(&stage, &run, &steps);
    assert_eq!((stopped.code, status(&stage)), (130, json!("cancelled")), "{stopped:?}");
    let left = at_terminal(&stage, &run, &[("agent", CTRL_C), (LEAVING, CTRL_C), ("Ctrl-C again", CTRL_C)]);
    assert_eq!(left.code, 130, "{left:?}");
    assert!(left.screen.contains("is being cancelled"), "{left:?}");
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
fn a_run_that_is_left_goes_on_in_the_background_and_is_watched_again() {
    let stage = Stage::new("parts:\n  - { name: page, prompt: 'Write the page', act: { faults: [hang] } }\n", "");
    let file = stage.plan("pages", &plan(""));
    let run = ["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()];
    let left = at_terminal(&stage, &run, &[("agent", CTRL_C), (LEAVING, "d")]);
    let id = only_job(&stage)["id"].as_str().unwrap().to_owned();
    assert_eq!((left.code, status(&stage)), (130, json!("running")), "{left:?}");
    assert!(left.screen.contains("come back with: helix jobs watch"), "{left:?}");
    // Who is ended from outside leaves the terminal as it was, too.
    let ended = at_terminal(&stage, &["jobs", "watch", "last"], &[("agent", "<TERM>")]);
    assert_eq!((ended.code, status(&stage)), (130, json!("running")), "{ended:?}");
    // By its number, too; the screen fits any size.
    let watched = sized(&stage, (120, 40), &["jobs", "watch", "#1"], &[("agent", "q")]);
    assert_eq!((watched.code, status(&stage)), (130, json!("running")), "{watched:?}");
    insta::assert_snapshot!(steady(&watched.frames[0]));
    insta::assert_snapshot!(steady(&left.frames[0]));
    json_of(&stage, &["jobs", "cancel", "last"], 0);
    super::watched(&stage, &id, 1);
    Stage::no_agent_is_left(&id);
}

#[test]
fn a_job_without_a_host_is_called_stopped_and_goes_on_with_the_next_command_at_a_terminal() {
    let stage = Stage::new("parts:\n  - { name: page, prompt: 'Write the page', act: { faults: [hang] } }\n", "");
    let file = stage.plan("pages", &plan(""));
    let run = ["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap(), "--detach"];
    let id = super::text(&super::run(&stage, &run).stdout).trim().to_owned();
    let list = || super::text(&super::run(&stage, &["jobs", "list"]).stdout);
    let kill_host = || {
        let host = std::fs::read(stage.sandbox.state().join("host.json")).unwrap();
        let host: Value = serde_json::from_slice(&host).unwrap();
        let killed = std::process::Command::new("kill").args(["-9", &host["pid"].to_string()]).status().unwrap();
        assert!(killed.success());
        let start = std::time::Instant::now();
        while !list().contains("⏸ stopped (no host)") {
            assert!(start.elapsed() < LIMIT, "{}", list());
            std::thread::sleep(LOOK_AGAIN);
        }
    };
    kill_host();
    let listed = at_terminal(&stage, &["jobs", "list"], &[]);
    assert!(listed.code == 0 && listed.seen.contains("continues in the background now"), "{listed:?}");
    let runs_again = || {
        let start = std::time::Instant::now();
        while !list().contains("◐ running") {
            assert!(start.elapsed() < LIMIT, "{}", list());
            std::thread::sleep(LOOK_AGAIN);
        }
    };
    runs_again();
    // A command that is a host itself for a moment leaves one behind for it, too.
    kill_host();
    assert_eq!(super::code(&super::run(&stage, &["people", "list"])), 0);
    runs_again();
    json_of(&stage, &["jobs", "cancel", "last"], 0);
    super::watched(&stage, &id, 1);
    Stage::no_agent_is_left(&id);
}

#[test]
fn the_output_of_a_failed_gate_and_the_log_are_one_key_away() {
    let stage = Stage::new(WRITES, "");
    // The second phase waits for a person, so that there is time to look.
    let gates = "    gates: [{ type: command, command: \"sh -c 'echo first line; echo the last word; exit 3'\" }]\n    on_failure: escalate\n";
    let file = stage.plan("pages", &plan(gates));
    let run = ["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()];
    let steps = [
        (ASKED, "g"),
        ("the last word", "q"),
        (ASKED, "l"),
        ("Log of phase page", "q"),
        (ASKED, "d"),
        ("+# Page", "q"),
        (ASKED, CTRL_D),
    ];
    let ended = at_terminal(&stage, &run, &steps);
    assert_eq!((ended.code, status(&stage)), (3, json!("waiting")), "{ended:?}");
    assert!(ended.frames[0].contains("Check again") && ended.frames[0].contains("Accept the result"), "{ended:?}");
    insta::assert_snapshot!(steady(&ended.frames[1]));
    // The same without a screen, by the names that people use.
    let printed = super::run(&stage, &["jobs", "logs", "pages", "--gate", "command"]);
    assert_eq!(super::text(&printed.stdout), "first line\nthe last word\n", "{}", super::text(&printed.stderr));
    let mut shell = stage.helix(&["jobs", "shell", "last", "--phase", "page"]);
    let shell = shell.env("SHELL", "/bin/ls").output().unwrap();
    assert!(super::text(&shell.stdout).contains("page.md"), "{}", super::text(&shell.stderr));
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

/// Neither a gate's command nor what git starts for Helix can ask at the terminal of a run.
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
