//! The fake agent's dialect and its faults, each seen from outside the process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use helix_testkit::agent::overlaps;
use helix_testkit::processes::lives;
use serde_json::{Value, json};

const AGENT: &str = env!("CARGO_BIN_EXE_helix-fake-agent");
const STREAM: [&str; 4] = ["-p", "--output-format", "stream-json", "--verbose"];

struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new(script: &str) -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        std::fs::write(place.script(), script).unwrap();
        place
    }

    fn script(&self) -> PathBuf {
        self.directory.path().join("script.yaml")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, prompt: &str) -> Command {
        let mut command = Command::new(AGENT);
        command.env_clear().env("PATH", std::env::var("PATH").unwrap()).current_dir(self.directory.path());
        command.arg("--fake-script").arg(self.script()).args(STREAM).arg(prompt).stdin(Stdio::null());
        command
    }

    fn run(&self, prompt: &str) -> Output {
        self.command(prompt).output().unwrap()
    }
}

fn records(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn result(output: &Output) -> Value {
    let records = records(output);
    records.into_iter().rev().find(|record| record["type"] == "result").expect("a result")
}

/// Starts the agent and returns once `bytes` of its stdout are there.
fn start_and_read(mut command: Command, needle: &str) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let stdout = child.stdout.as_mut().unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(needle) {
        let mut byte = [0];
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "the agent ended before it wrote {needle}");
        seen.push(byte[0]);
    }
    (child, String::from_utf8(seen).unwrap())
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn version_is_configurable() {
    let place = Place::new("version: 2.1.197\n");
    let output = Command::new(AGENT).arg("--fake-script").arg(place.script()).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "2.1.197 (Claude Code)\n");
    let output = Command::new(AGENT).env_clear().arg("--version").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "2.1.330 (Claude Code)\n");
}

#[test]
fn zero_work_is_init_and_result() {
    let output = Command::new(AGENT).env_clear().args(STREAM).arg("go").output().unwrap();
    let kinds: Vec<_> = records(&output).iter().map(|record| record["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["system", "result"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn flags_of_helix_are_accepted_and_used() {
    let place = Place::new("{}");
    let session = "0199d5c0-1111-7222-8333-444455556666";
    let flags = [
        "--include-partial-messages",
        "--session-id",
        session,
        "--model",
        "sonnet",
        "--permission-mode",
        "dontAsk",
        "--settings",
        "s.json",
        "--setting-sources",
        "",
        "--strict-mcp-config",
        "--mcp-config",
        "m.json",
        "--max-turns",
        "60",
        "--max-budget-usd",
        "5",
        "--disallowedTools",
        "CronCreate,Workflow",
        "--some-new-flag",
        "--json-schema",
        r#"{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}"#,
    ];
    let output = place.command("[[fake: text hello there]]").args(flags).output().unwrap();
    let records = records(&output);
    assert_eq!(records[0]["session_id"], session);
    assert_eq!(records[0]["model"], "sonnet");
    assert_eq!(records[0]["permissionMode"], "dontAsk");
    assert!(records.iter().any(|record| record["event"]["delta"]["text"] == "hello there"));
    let result = result(&output);
    assert_eq!(result["structured_output"], json!({"ok": true}));
    assert_eq!(result["stop_reason"], "tool_use");
}

#[test]
fn streamed_input_is_one_result_per_line() {
    let place = Place::new("{}");
    let mut command = Command::new(AGENT);
    command.env_clear().current_dir(place.directory.path()).args(STREAM).args(["--input-format", "stream-json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let message = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}});
    let input = format!("{}\n{}\n", message("[[fake: say one]]"), message("[[fake: say two]]"));
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said: Vec<_> =
        records(&output).into_iter().filter(|r| r["type"] == "result").map(|r| r["result"].clone()).collect();
    assert_eq!(said, ["one", "two"]);
}

#[test]
fn attempts_are_counted_across_processes_and_steps_are_real() {
    let place = Place::new(
        r#"
parts:
  - name: implement
    prompt: "Phase: implement"
    attempts:
      - steps: [{ write: { path: src/a.txt, content: "wrong\n" } }]
        faults: [{ kind: crash, exit: 3 }]
      - steps:
          - edit: { path: src/a.txt, find: wrong, replace: right }
          - run: cat src/a.txt; exit 7
          - write: { path: gone.txt, content: x }
          - delete: gone.txt
        say: corrected
        cost_usd: 0.5
"#,
    );
    let first = place.run("Phase: implement");
    assert_eq!(first.status.code(), Some(3));
    assert!(records(&first).iter().all(|record| record["type"] != "result"));
    let second = place.run("Phase: implement");
    assert_eq!(result(&second)["result"], "corrected");
    assert_eq!(result(&second)["total_cost_usd"], 0.5);
    assert_eq!(std::fs::read_to_string(place.path("src/a.txt")).unwrap(), "right\n");
    assert!(!place.path("gone.txt").exists());
    let text = String::from_utf8(second.stdout).unwrap();
    assert!(text.contains(r"Exit code 7\nright\n"), "{text}");
    assert!(overlaps(&place.path("script.yaml.state")).unwrap().is_empty());
}

#[test]
fn two_attempts_at_once_leave_a_mark() {
    let place = Place::new("parts: [{ name: p, attempts: [{ faults: [hang] }, {}] }]");
    let (mut first, _) = start_and_read(place.command("go"), "init");
    place.run("go");
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(overlaps(&place.path("script.yaml.state")).unwrap().len(), 1);
}

#[test]
fn errors_in_scripts_and_orders_name_the_place() {
    let place = Place::new("parts:\n  - name: p\n    act: { fautls: [hang] }\n");
    let output = place.run("go");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("script.yaml") && stderr.contains("fautls") && stderr.contains("line 3"), "{stderr}");
    let place = Place::new("{}");
    let stderr = String::from_utf8(place.run("[[fake: hnag]]").stderr).unwrap();
    assert!(stderr.contains("[[fake: hnag]]") && stderr.contains("neither an order nor a fault"), "{stderr}");
}

#[test]
fn faults_that_end_by_themselves() {
    let place = Place::new("{}");
    let run = |fault: &str| place.run(&format!("[[fake: {fault}]]"));

    let output = run("empty-exit");
    assert!(output.stdout.is_empty() && output.status.success());
    let output = run("stderr-only text=broken");
    assert!(output.stdout.is_empty() && output.status.code() == Some(1));
    assert_eq!(output.stderr, b"broken\n");
    assert_eq!(run("sigkill").status.signal(), Some(9));
    assert_eq!(run("crash exit=9").status.code(), Some(9));

    // No result although the exit code is 0.
    let output = run("no-result");
    assert!(output.status.success() && records(&output).iter().all(|record| record["type"] != "result"));
    let output = run("half-line");
    assert!(output.status.success() && !output.stdout.ends_with(b"\n"));

    // Lines beyond every buffer.
    let output = run("huge-line");
    assert!(output.stdout.split(|byte| *byte == b'\n').any(|line| line.len() > 10_000_000));
    assert_eq!(result(&output)["subtype"], "success");
    assert!(std::str::from_utf8(&run("invalid-utf8").stdout).is_err());
    let output = run("flood lines=5000 bytes=300");
    let lines: Vec<_> = output.stdout.split(|byte| *byte == b'\n').filter(|line| line.len() == 299).collect();
    assert_eq!(lines.len(), 5000);

    // Success that is none.
    assert_eq!(result(&run("null-stop-reason"))["modelUsage"], json!({}));
    assert_eq!(result(&run("no-usage"))["usage"], Value::Null);
    let output = run("success-exit");
    assert_eq!((result(&output)["is_error"].clone(), output.status.code()), (json!(false), Some(1)));
    assert_eq!(result(&run("empty-answer"))["result"], "");
    let output = place.run("[[fake: write lie.txt x]] [[fake: lying-done]]");
    assert_eq!(result(&output)["subtype"], "success");
    assert!(!place.path("lie.txt").exists());

    let table = [
        ("rate-limited resets_in=60", json!(429), "success"),
        ("overloaded", json!(529), "success"),
        ("credentials", json!(401), "success"),
        ("context-overflow", json!(400), "success"),
        ("max-turns", Value::Null, "error_max_turns"),
        ("max-budget", Value::Null, "error_max_budget_usd"),
        ("unknown-session", Value::Null, "error_during_execution"),
    ];
    for (fault, status, subtype) in table {
        let output = run(fault);
        let result = result(&output);
        assert_eq!((&result["is_error"], &result["api_error_status"]), (&json!(true), &status), "{fault}");
        assert_eq!((result["subtype"].as_str(), output.status.code()), (Some(subtype), Some(1)), "{fault}");
    }
    assert!(records(&run("rate-limited resets_in=60")).iter().any(|r| r["rate_limit_info"]["status"] == "rejected"));
    assert_eq!(result(&run("denial"))["permission_denials"][0]["tool_name"], "Bash");
    assert!(
        records(&run("tasks-lost")).iter().any(|r| r["subtype"] == "task_notification" && r["status"] == "stopped")
    );
    let late = records(&run("late-result"));
    assert_eq!(late.last().unwrap()["origin"]["kind"], "task-notification");
    run("write-after-result path=late.txt");
    assert!(place.path("late.txt").exists());
    assert!(records(&run("wrong-session"))[0]["session_id"].as_str().unwrap().contains("dead"));
}

#[test]
fn resume_of_unknown_session_fails_where_sessions_are_known() {
    let place = Place::new("sessions: known\n");
    let session = "0199d5c0-1111-7222-8333-444455556666";
    let output = place.command("go").args(["--resume", session]).output().unwrap();
    assert!(result(&output)["errors"][0].as_str().unwrap().contains(session));
    assert!(place.command("go").args(["--session-id", session]).output().unwrap().status.success());
    assert!(place.command("go").args(["--resume", session]).output().unwrap().status.success());
}

#[test]
fn signals_do_what_the_real_cli_does() {
    let place = Place::new("{}");
    let (child, _) = start_and_read(place.command("[[fake: hang]]"), "assistant");
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains(r#""terminal_reason":"aborted_streaming""#));
    let (child, _) = start_and_read(place.command("[[fake: hang]]"), "assistant");
    signal(&child, "TERM");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
}

#[test]
fn deaf_agent_survives_polite_signals() {
    let place = Place::new("{}");
    let (mut child, _) = start_and_read(place.command("[[fake: deaf]] [[fake: hang]]"), "assistant");
    signal(&child, "INT");
    signal(&child, "TERM");
    // The second signal is handled after the first: an agent that obeyed one would be gone within the grace.
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn result_then_hang_says_its_result_first() {
    let place = Place::new("{}");
    let (mut child, seen) = start_and_read(place.command("[[fake: result-then-hang]]"), "\"type\":\"result\"");
    assert!(seen.contains("\"is_error\":false"));
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn orphan_outlives_the_agent_in_its_own_session() {
    let place = Place::new("{}");
    let output = place.run("[[fake: orphan seconds=30 path=orphan.pid]]");
    assert!(output.status.success());
    let pid = wait_for_number(&place.path("orphan.pid"));
    assert!(lives(pid));
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session: u32 = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert_eq!(session, pid);
    assert!(Command::new("kill").args(["-TERM", &pid.to_string()]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(50));
    assert!(lives(pid));
    assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
}

fn wait_for_number(path: &Path) -> u32 {
    let start = Instant::now();
    loop {
        if let Some(number) = std::fs::read_to_string(path).ok().and_then(|text| text.parse().ok()) {
            return number;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{} was not written", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}
