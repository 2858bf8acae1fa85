//! The chat and `helix do` at a real terminal: typed and pasted messages, drafts that run on a yes, an answer that is stopped.

use std::path::Path;
use std::process::Output;

use crate::stage::Stage;
use serde_json::{Value, json};

const PLAN: &str = "name: notes\\ndescription: Keep notes.\\nphases:\\n  - id: write\\n    name: Write the notes\\n    type: development\\n    description: Write notes.txt.\\n    outputs: [notes.txt]\\n    gates:\\n      - { type: files_exist }\\n";

/// A Consultant that drafts a plan, and the agent of its phase.
fn drafts() -> String {
    format!(
        "parts:
  - name: draft
    prompt: keep notes
    act:
      steps:
        - write: {{ path: phases.yaml, content: \"{PLAN}\" }}
      say: |-
        One phase **writes** them.
        <!-- STEP: finalize -->
  - name: phase
    prompt: {{ matches: '# Phase `write`' }}
    act: {{ steps: [{{ write: {{ path: notes.txt, content: \"notes\\n\" }} }}], say: Done. }}
  - name: hang
    prompt: think hard
    act: {{ faults: [hang] }}
  - name: other
    prompt: ''
    act: {{ say: \"Understood.\\n<!-- STEP: what -->\" }}
"
    )
}

/// Runs `helix` at a terminal in the repository of a stage.
fn at_terminal(stage: &Stage, arguments: &[&str], steps: &Value) -> Value {
    let file = stage.sandbox.path().join("steps.json");
    std::fs::write(&file, steps.to_string()).unwrap();
    let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/persons/terminal.py");
    let mut terminal = stage.sandbox.command("python3");
    terminal.current_dir(&stage.repo).arg(driver).arg(&file).arg(env!("CARGO_BIN_EXE_helix")).args(arguments);
    let output = terminal.env("TERM", "xterm").env("COLUMNS", "80").output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
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

/// The messages of the session that was talked in last.
fn messages(stage: &Stage) -> Vec<String> {
    let sessions = json_of(stage, &["chat", "--list"]);
    let id = sessions[0]["id"].as_str().unwrap().to_owned();
    let shown = json_of(stage, &["chat", "--session", &id, "--show"]);
    let turns = shown["turns"].as_array().unwrap();
    turns.iter().map(|turn| turn["message"].as_str().unwrap().to_owned()).collect()
}

fn tracked(repo: &Path, name: &str) -> bool {
    repo.join(name).is_file()
}

/// A paste is one message, blank lines included; commands are Helix's; what was said before is found again.
#[test]
fn pastes_commands_and_history_at_a_terminal() {
    let stage = Stage::new(&drafts(), "");
    let steps = json!([
        { "expect": "\u{1b}[?2004h", "type": "/help\r" },
        { "expect": "/resume", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "\u{1b}[200~first\r\rsecond\rthird\u{1b}[201~" },
        { "expect": "third", "type": "\r" },
        { "expect": "Understood.", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "one \\\r" },
        { "expect": "one", "type": "two\r" },
        { "expect": "Understood.", "type": "" },
        // Up: the last message is there again, with a typo in it that is corrected.
        { "expect": "\u{1b}[?2004h", "type": "\u{1b}[A" },
        { "expect": "two", "type": "!\r" },
        { "expect": "Understood.", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/jbos\r" },
        { "expect": "/jobs", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "\r" },
        { "expect": "\u{1b}[?2004h", "type": "\u{4}" },
    ]);
    let ended = at_terminal(&stage, &["chat"], &steps);
    assert_eq!(ended["code"], 0, "{ended:#}");
    assert_eq!(messages(&stage), ["first\n\nsecond\nthird", "one \ntwo", "one \ntwo!"], "{ended:#}");
    assert!(ended["seen"].as_str().unwrap().contains("--session"), "{ended:#}");
    // The history is the user's alone, and the terminal is left as it was.
    let history = stage.sandbox.state().join("chat-history");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&history).unwrap().permissions());
    assert_eq!(mode & 0o077, 0);
    let raw = ended["raw"].as_str().unwrap();
    assert_eq!(raw.matches("\u{1b}[?2004h").count(), raw.matches("\u{1b}[?2004l").count());
    // The next chat continues that session, and finds its texts.
    let steps = json!([
        { "expect": "\u{1b}[?2004h", "type": "\u{1b}[A\u{1b}[A" },
        { "expect": "two!", "type": "\r" },
        { "expect": "Understood.", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/quit\r" },
    ]);
    at_terminal(&stage, &["chat", "--continue"], &steps);
    assert_eq!(messages(&stage).len(), 4);
}

/// Jobs, other sessions and models are reached from the chat.
#[test]
fn a_chat_lists_jobs_and_sessions_and_continues_another_one() {
    let stage = Stage::new(&drafts(), "");
    let file = stage.sandbox.home().join(".config/helix/helix.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, config.replace("dialect = ", "models = [\"haiku\"]\ndialect = ")).unwrap();
    let first = at_terminal(
        &stage,
        &["chat"],
        &json!([
            { "expect": "\u{1b}[?2004h", "type": "the first one\r" },
            { "expect": "Understood.", "type": "" },
            { "expect": "\u{1b}[?2004h", "type": "\u{4}" },
        ]),
    );
    assert_eq!(first["code"], 0, "{first:#}");
    let plan = stage.plan("notes", &PLAN.replace("\\n", "\n"));
    let ran = run(&stage, &["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    let steps = json!([
        { "expect": "\u{1b}[?2004h", "type": "/jobs\r" },
        { "expect": "succeeded", "type": "" },
        { "expect": "notes", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/diff 1\r" },
        { "expect": "+notes", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/model haiku\r" },
        { "expect": "haiku from now on", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "the second one\r" },
        { "expect": "Understood.", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/sessions\r" },
        { "expect": "began with", "type": "" },
        { "expect": "the second one", "type": "" },
        { "expect": "the first one", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/resume 9\r" },
        { "expect": "no session \"9\"", "type": "" },
        // Without a number: the last other one, which is shown.
        { "expect": "\u{1b}[?2004h", "type": "/resume\r" },
        { "expect": "you> the first one", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/model\r" },
        { "expect": "the configured model", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "and more\r" },
        { "expect": "Understood.", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/resume 1\r" },
        { "expect": "you> the second one", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "\u{4}" },
    ]);
    let ended = at_terminal(&stage, &["chat"], &steps);
    assert_eq!(ended["code"], 0, "{ended:#}");
    let sessions = json_of(&stage, &["chat", "--list"]);
    let said_in = |at: usize| -> Vec<(Value, Value)> {
        let shown = json_of(&stage, &["chat", "--session", sessions[at]["id"].as_str().unwrap(), "--show"]);
        let turns = shown["turns"].as_array().unwrap();
        turns.iter().map(|turn| (turn["message"].clone(), turn["model"].clone())).collect()
    };
    assert_eq!(said_in(0), [(json!("the second one"), json!("haiku"))], "{sessions:#}");
    let first = [(json!("the first one"), Value::Null), (json!("and more"), Value::Null)];
    assert_eq!(said_in(1), first, "{sessions:#}");
}

/// An editor that fails, and an answer that fails, end neither the chat nor the question about the plan.
#[test]
fn what_fails_while_a_plan_waits_leaves_the_question() {
    let mut stage = Stage::new(&drafts().replace("think hard", "break it").replace("[hang]", "[credentials]"), "");
    stage.sandbox.set("EDITOR", "false");
    let steps = json!([
        { "expect": "say what to change:", "type": "e\r" },
        { "expect": "the editor `false` failed", "type": "" },
        { "expect": "say what to change:", "type": "break it\r" },
        { "expect": "HX", "type": "" },
        { "expect": "say what to change:", "type": "n\r" },
    ]);
    let ended = at_terminal(&stage, &["do", "keep", "notes"], &steps);
    assert_eq!(ended["code"], 3, "{ended:#}");
}

/// Ctrl-C stops the answer and its agent; the chat goes on, and a second one at its prompt leaves.
#[test]
fn an_interrupt_stops_the_answer_and_not_the_chat() {
    let stage = Stage::new(&drafts(), "");
    let steps = json!([
        { "expect": "\u{1b}[?2004h", "type": "think hard\r" },
        { "expect": "think hard", "type": "\u{3}", "pause": 3.0 },
        { "expect": "The answer was stopped.", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "hello\r" },
        { "expect": "Understood.", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "\u{3}" },
        { "expect": "ends the chat", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "\u{3}" },
    ]);
    let ended = at_terminal(&stage, &["chat"], &steps);
    assert_eq!(ended["code"], 130, "{ended:#}");
    assert_eq!(messages(&stage), ["think hard", "hello"]);
    let sessions = json_of(&stage, &["chat", "--list"]);
    let id = sessions[0]["id"].as_str().unwrap();
    let shown = json_of(&stage, &["chat", "--session", id, "--show"]);
    assert_eq!(shown["turns"][0]["end"]["facts"]["stopped"], "cancelled", "{shown:#}");
    Stage::no_agent_is_left(id);
}

/// A correction that fails proves nothing: what was found in the answer that is kept is said, and the command ends as a no.
#[test]
fn an_answer_whose_correction_fails_is_not_in_order() {
    let parts = "parts:
  - { name: fix, prompt: must be fixed first, act: { faults: [credentials] } }
  - { name: first, prompt: '', act: { say: \"See [it](nothing.md).\\n<!-- STEP: what -->\" } }
";
    let stage = Stage::new(parts, "");
    let output = run(&stage, &["--json", "chat", "-m", "Show it"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["findings"][0]["validator"], "file_existence", "{shown:#}");
    assert!(shown["note"].as_str().unwrap().contains("did not pass its checks"), "{shown:#}");
}

/// What Helix says in an answer, above it and after it is in the language of the conversation, whatever the terminal's is.
#[test]
fn an_answer_and_what_is_said_around_it_are_in_one_language() {
    let parts = "parts:
  - { name: fix, prompt: must be fixed first, act: { faults: [credentials] } }
  - { name: hang, prompt: { matches: 'lange|at length' }, act: { faults: [hang] } }
  - { name: first, prompt: '', act: { say: \"[x](nothing.md)\\n<!-- STEP: what -->\" } }
";
    let german = (
        "Bitte zeig mir, wie es jetzt weitergeht",
        "Denk bitte lange darüber nach",
        "Achtung",
        "angehalten",
        "Caution",
    );
    let english =
        ("Please show me what to do next", "Please think at length about it", "Caution", "was stopped", "Achtung");
    for (locale, (message, long, block, stopped, other)) in [("C.UTF-8", german), ("de_DE.UTF-8", english)] {
        let mut stage = Stage::new(parts, "");
        stage.sandbox.set("LC_ALL", locale);
        let steps = json!([
            { "expect": "\u{1b}[?2004h", "type": format!("{message}\r") },
            { "expect": "Helix:", "type": "" },
            { "expect": "\u{1b}[?2004h", "type": format!("{long}\r") },
            { "expect": long, "type": "\u{3}", "pause": 3.0 },
            { "expect": stopped, "type": "" },
            { "expect": "\u{1b}[?2004h", "type": "\u{4}" },
        ]);
        let ended = at_terminal(&stage, &["chat"], &steps);
        let seen = ended["seen"].as_str().unwrap();
        assert!(seen.contains(block) && !seen.contains(other), "{locale}: {seen}");
    }
}

/// What the Consultant drafts is shown, and runs on a yes of the person who sits there, not of the agent.
#[test]
fn drafts_are_shown_and_run_on_a_yes() {
    let stage = Stage::new(&drafts(), "");
    let head = stage.git(&stage.repo, &["rev-parse", "HEAD"]);
    let steps = json!([
        { "expect": "\u{1b}[?2004h", "type": "keep notes\r" },
        { "expect": "phases.yaml", "type": "" },
        { "expect": "(development): Write the notes", "type": "" },
        { "expect": "checked by: files_exist", "type": "" },
        { "expect": "say what to change:", "type": "n\r" },
        { "expect": "/plan shows it again", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/plan\r" },
        { "expect": "say what to change:", "type": "y\r" },
        // Followed to its end, then the chat goes on.
        { "expect": "merged into main", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/plan\r" },
        { "expect": "No plan waits", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "/diff\r" },
        { "expect": "+notes", "type": "" },
        { "expect": "\u{1b}[?2004h", "type": "\u{4}" },
    ]);
    let ended = at_terminal(&stage, &["chat"], &steps);
    assert_eq!(ended["code"], 0, "{ended:#}");
    let seen = ended["seen"].as_str().unwrap();
    assert!(seen.contains("One phase writes them.") && !seen.contains("STEP"), "{seen}");
    assert!(tracked(&stage.repo, "notes.txt"));
    assert_ne!(stage.git(&stage.repo, &["rev-parse", "HEAD"]), head);
    // The Consultant was told where it is, and that it does not start anything here.
    let sessions = json_of(&stage, &["chat", "--list"]);
    assert_eq!(sessions[0]["project"], stage.repo.to_str().unwrap(), "{sessions:#}");
    let asked = prompt_of(&stage, sessions[0]["id"].as_str().unwrap());
    for part in [stage.repo.to_str().unwrap(), "Files of the project", "tests", "How drafts are started"] {
        assert!(asked.contains(part), "{part:?} is not in {asked}");
    }
}

/// What the first run of a session was asked.
fn prompt_of(stage: &Stage, session: &str) -> String {
    let runs = std::fs::read_dir(stage.sandbox.state().join("runs")).unwrap().flatten();
    let mut runs: Vec<_> =
        runs.filter(|run| run.file_name().to_string_lossy().starts_with(session)).map(|run| run.path()).collect();
    runs.sort();
    std::fs::read_to_string(runs[0].join("stdin")).unwrap()
}

/// A sentence, the plan, a yes, a job: the command ends as the job does. Edited first, the edited plan runs.
#[test]
fn a_sentence_becomes_a_job_on_a_yes() {
    let stage = Stage::new(&drafts(), "");
    let steps = json!([
        { "expect": "say what to change:", "type": "e\r" },
        { "expect": "Plan noted", "type": "" },
        { "expect": "say what to change:", "type": "y\r" },
        { "expect": "merged into main", "type": "" },
    ]);
    let editor = stage.sandbox.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\nsed -i 's/^name: notes/name: noted/' \"$1\"\n").unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut stage = stage;
    stage.sandbox.set("EDITOR", editor.to_str().unwrap());
    let ended = at_terminal(&stage, &["do", "keep", "notes"], &steps);
    assert_eq!(ended["code"], 0, "{ended:#}");
    let jobs = json_of(&stage, &["jobs", "list"]);
    assert_eq!((&jobs[0]["name"], &jobs[0]["status"]), (&json!("noted"), &json!("succeeded")), "{jobs:#}");
    assert!(tracked(&stage.repo, "notes.txt"));
}

/// Without a terminal nothing runs unless it was said before; what was drafted waits and can be run later.
#[test]
fn a_program_has_to_say_yes_beforehand() {
    let stage = Stage::new(&drafts(), "");
    let shown = run(&stage, &["do", "keep notes"]);
    let text = said(&shown);
    assert_eq!(shown.status.code(), Some(3), "{text}");
    assert!(text.contains("Plan notes") && text.contains("write (development)") && text.contains("--yes"), "{text}");
    assert!(json_of(&stage, &["jobs", "list"]).as_array().unwrap().is_empty());
    let session = text.split("--session ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().to_owned();
    let output = run(&stage, &["--json", "do", "--session", &session, "--yes", "--land", "squash"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let lines: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["type"], &lines[0]["plan"]["name"]), (&json!("drafts"), &json!("notes")), "{lines:#?}");
    assert!(lines.len() > 5, "{lines:#?}");
    // One commit, that says what was done, by whom.
    let message = stage.git(&stage.repo, &["log", "-1", "--format=%B%P"]);
    assert!(message.starts_with("notes: Keep notes\n"), "{message}");
    for part in ["- write: Write the notes", "Helix-Job: j", "Helix-Agent: fake"] {
        assert!(message.contains(part), "{part:?} is not in {message}");
    }
    let evidence = json_of(&stage, &["jobs", "evidence", jobs_first(&stage).as_str()]);
    assert_eq!(evidence["proved"], true, "{evidence:#}");
    // Nothing is left to be run, and outside of a repository nothing is begun.
    let again = run(&stage, &["do", "--session", &session, "--yes"]);
    let shows = format!("helix jobs show {}", jobs_first(&stage));
    assert!(again.status.code() == Some(3) && said(&again).contains(&shows), "{}", said(&again));
    let outside = stage.helix(&["do", "keep notes"]).current_dir(stage.sandbox.home()).output().unwrap();
    assert!(outside.status.code() == Some(2) && said(&outside).contains("HX0403"), "{}", said(&outside));
    let nothing = run(&stage, &["do"]);
    assert!(nothing.status.code() == Some(2) && said(&nothing).contains("HX0900"), "{}", said(&nothing));
}

fn jobs_first(stage: &Stage) -> String {
    json_of(stage, &["jobs", "list"])[0]["id"].as_str().unwrap().to_owned()
}

/// `helix run` takes the only plan; of several a terminal offers a choice, and everybody else is told their names.
#[test]
fn a_run_without_a_plan_takes_the_only_one() {
    let stage = Stage::new(&drafts(), "");
    let write = |name: &str| {
        let file = stage.repo.join(format!("plans/{name}/phases.yaml"));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, PLAN.replace("\\n", "\n").replace("notes\n", &format!("{name}\n"))).unwrap();
    };
    let none = run(&stage, &["run"]);
    assert!(none.status.code() == Some(2) && said(&none).contains("helix plan new"), "{}", said(&none));
    write("notes");
    let only = run(&stage, &["run"]);
    assert_eq!(only.status.code(), Some(0), "{}", said(&only));
    write("more");
    let several = run(&stage, &["run"]);
    assert!(
        several.status.code() == Some(2) && said(&several).contains("plans/more/phases.yaml"),
        "{}",
        said(&several)
    );
    let steps = json!([{ "expect": "1-2", "type": "1\r" }, { "expect": "more", "type": "" }]);
    let ended = at_terminal(&stage, &["run", "--dry-run"], &steps);
    assert_eq!(ended["code"], 0, "{ended:#}");
}
