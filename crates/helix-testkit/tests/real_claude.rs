//! The real CLI against the scripted model: what the rest of Helix's tests rely on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use helix_testkit::locate::{PINNED_CLAUDE, claude_binary};
use helix_testkit::model::{Fault, FaultKind, Reply, Script, ScriptedModel};
use helix_testkit::project::{Language, Project};
use helix_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

struct Turn {
    lines: Vec<Value>,
    output: Output,
    took: Duration,
}

impl Turn {
    fn result(&self) -> &Value {
        let last = self.lines.iter().rev().find(|line| line["type"] == "result");
        last.unwrap_or_else(|| panic!("no result; stderr: {}", String::from_utf8_lossy(&self.output.stderr)))
    }
}

/// One turn as Helix runs it: stdout is a file, because the CLI loses output on pipes.
fn turn(model: &ScriptedModel, sandbox: &mut Sandbox, cwd: &Path, prompt: &str, flags: &[&str]) -> Turn {
    let claude = claude_binary(PINNED_CLAUDE).unwrap_or_else(|error| panic!("{error}"));
    sandbox.use_model(&model.base_url());
    let stdout = sandbox.path().join("stdout.jsonl");
    let started = Instant::now();
    let mut command: Command = sandbox.command(claude);
    command
        .current_dir(cwd)
        .args(["-p", "--output-format", "stream-json", "--verbose", "--input-format", "stream-json"])
        .args(["--permission-mode", "dontAsk", "--setting-sources", "", "--strict-mcp-config"])
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(std::fs::File::create(&stdout).unwrap())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let message = json!({"type": "user", "message": {"role": "user", "content": prompt}});
    writeln!(child.stdin.take().unwrap(), "{message}").unwrap();
    let output = child.wait_with_output().unwrap();
    let took = started.elapsed();
    let text = std::fs::read_to_string(&stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Turn { lines, output, took }
}

#[test]
fn plain_turn() {
    let model = ScriptedModel::start_blocking(Script::always(Reply::text("Hello from {{cwd}}."))).unwrap();
    let mut sandbox = Sandbox::new().unwrap();
    let home = sandbox.home();
    let turn = turn(&model, &mut sandbox, &home, "Say hello", &[]);
    model.assert_no_failures();
    println!("plain turn: {:?}", turn.took);
    let result = turn.result();
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["terminal_reason"], "completed");
    assert_eq!(result["result"], format!("Hello from {}.", home.display()));
    assert_eq!(turn.output.status.code(), Some(0));
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn tools_really_run_and_each_result_advances_the_scene() {
    let script: Script = r#"
scenes:
  - name: implement
    prompt: "Phase: implement"
    steps:
      - thinking: I write the file first.
        tools:
          - name: Write
            input: { file_path: "{{cwd}}/shop/tax.py", content: "def tax(cents):\n    return cents // 5\n" }
      - expect: { tool_result: { tool: Write, is_error: false } }
        tools:
          - name: Bash
            input: { command: "python3 -m unittest 2>&1 | tail -1", description: Runs the tests }
      - expect: { tool_result: { tool: Bash, text: OK } }
        text: "Implemented; the tests say {{tool_result}}."
"#
    .parse()
    .unwrap();
    let model = ScriptedModel::start_blocking(script).unwrap();
    let mut sandbox = Sandbox::new().unwrap();
    let project = sandbox.project("shop", Project::healthy(Language::Python)).unwrap();
    let turn = turn(&model, &mut sandbox, &project, "Phase: implement\nAdd a tax.", &["--allowedTools", "Write,Bash"]);
    model.assert_no_failures();
    println!("Write + Bash turn: {:?}", turn.took);
    assert_eq!(turn.result()["result"], "Implemented; the tests say OK.");
    assert_eq!(turn.result()["permission_denials"], json!([]));
    assert!(std::fs::read_to_string(project.join("shop/tax.py")).unwrap().contains("cents // 5"));
    let answered: Vec<_> = model.requests().into_iter().map(|request| request.answered_by.unwrap()).collect();
    assert_eq!(
        answered,
        ["scene implement take 1 step 1", "scene implement take 1 step 2", "scene implement take 1 step 3"]
    );
}

#[test]
fn overloaded_endpoint_is_retried_and_then_reported() {
    let reply = Reply::text("never said").with_fault(Fault::always(FaultKind::Overloaded));
    let model = ScriptedModel::start_blocking(Script::always(reply)).unwrap();
    let mut sandbox = Sandbox::new().unwrap();
    let home = sandbox.home();
    let turn = turn(&model, &mut sandbox, &home, "go", &[]);
    println!("529 with one retry: {:?}", turn.took);
    assert_eq!(turn.result()["is_error"], true);
    assert_eq!(turn.result()["api_error_status"], 529);
    assert_eq!(turn.output.status.code(), Some(1));
    assert_eq!(model.requests().len(), 2);
    assert!(turn.lines.iter().any(|line| line["subtype"] == "api_retry"));
}

#[test]
fn structured_output_reaches_the_result() {
    let reply = Reply { structured: Some(json!({"verdict": "pass"})), ..Reply::default() };
    let model = ScriptedModel::start_blocking(Script::always(reply)).unwrap();
    let mut sandbox = Sandbox::new().unwrap();
    let home = sandbox.home();
    let schema = r#"{"type":"object","properties":{"verdict":{"enum":["pass","fail"]}},"required":["verdict"]}"#;
    let turn = turn(&model, &mut sandbox, &home, "judge", &["--json-schema", schema]);
    model.assert_no_failures();
    println!("json-schema turn: {:?}", turn.took);
    assert_eq!(turn.result()["structured_output"], json!({"verdict": "pass"}));
    assert_eq!(turn.result()["stop_reason"], "tool_use");
    assert_eq!(turn.output.status.code(), Some(0));
}
