//! Helix's tools from outside: a foreign MCP client over both transports, the save hook as agents call it, skills and the
//! Consultant's template on the command line.

use std::io::{BufRead as _, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::stage::{LIMIT, LOOK_AGAIN, Stage};
use crate::user::User;
use helix_testkit::locate::workspace_root;
use serde_json::{Value, json};

const PLAN: &str = "name: demo\nphases:\n  - id: a\n    name: A\n    type: documentation\n    \
                    description: \"[[fake: write notes.md hello]]\"\n    outputs: [notes.md]\n";

/// The Python that `cargo xtask setup` installs.
fn python() -> PathBuf {
    let tools =
        std::env::var_os("HELIX_TEST_TOOLS").map_or_else(|| workspace_root().join(".test-tools"), PathBuf::from);
    let python = tools.join("python/bin/python");
    assert!(python.is_file(), "there is no {}; run `cargo xtask setup` first", python.display());
    python
}

/// Has the foreign client do this.
fn client(stage: &Stage, order: &Value) -> Value {
    let mut command: Command = stage.sandbox.command(python());
    command.arg(workspace_root().join("crates/helix/tests/tools/client.py"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(order.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", String::from_utf8_lossy(&output.stderr), stage.log()))
}

fn over_stdio(stage: &Stage, calls: &Value) -> Value {
    let env: serde_json::Map<String, Value> =
        stage.sandbox.environment().iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let order = json!({
        "command": [env!("CARGO_BIN_EXE_helix"), "mcp"], "cwd": stage.repo, "env": env, "calls": calls,
    });
    client(stage, &order)
}

fn text(report: &Value, call: usize) -> &str {
    report["results"][call]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{report:#}"))
}

fn assert_tools(report: &Value) {
    let tools = report["tools"].as_object().unwrap();
    assert_eq!(tools.len(), 13, "{:?}", tools.keys());
    for (name, tool) in tools {
        assert!(tool["description"].as_str().unwrap().len() > 20, "{name}: {tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}: {tool}");
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name}.{argument} is not described");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_client_works_over_http() {
    let stage = Stage::new("{}", "");
    let host = stage.start();
    let (url, token) = stage.reachable().await;
    std::fs::write(stage.repo.join("bad.yaml"), "name: x\n").unwrap();
    let calls = json!([
        ["plan_check", { "path": stage.repo.join("bad.yaml") }],
        ["skills_list", { "project": stage.repo }],
        ["job_status", {}],
    ]);
    let report = client(&stage, &json!({ "url": format!("{url}/mcp"), "token": token, "calls": calls }));
    assert_tools(&report);
    assert_eq!(report["results"][0]["isError"], true, "{report:#}");
    assert!(text(&report, 0).contains("HX0"), "{report:#}");
    assert!(report["results"][0]["structuredContent"]["errors"].as_u64() > Some(0), "{report:#}");
    assert!(text(&report, 1).contains("- evolution: How a running system"), "{report:#}");
    assert!(text(&report, 2).contains("pass the job's id"), "{report:#}");
    drop(host);
}

/// Clients keep their servers for days: hosts that come and go leave no dead processes below them.
#[test]
fn a_host_that_was_started_for_a_client_is_reaped_when_it_has_gone() {
    let stage = Stage::new("{}", "");
    let mut command = stage.helix(&["mcp"]);
    command.current_dir(&stage.repo).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = crate::stage::Process(command.spawn().unwrap());
    let client = json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "job_status", "arguments": {} } }),
    ];
    let mut stdin = server.0.stdin.take().unwrap();
    messages.iter().for_each(|message| writeln!(stdin, "{message}").unwrap());
    let mut answers = std::io::BufReader::new(server.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let answer = answers.find(|line| line.contains("\"id\":2"));
    assert!(answer.is_some_and(|answer| answer.contains("pass the job's id")));
    let unknown =
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "no_such", "arguments": {} } });
    writeln!(stdin, "{unknown}").unwrap();
    let answer = answers.find(|line| line.contains("\"id\":3"));
    assert!(answer.is_some_and(|answer| answer.contains("-32602") && answer.contains("no_such")));
    let host: Value = serde_json::from_slice(&std::fs::read(stage.sandbox.state().join("host.json")).unwrap()).unwrap();
    let pid = host["pid"].to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    let start = std::time::Instant::now();
    while std::path::Path::new("/proc").join(&pid).exists() {
        assert!(start.elapsed() < LIMIT, "process {pid} is still there");
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// What the memory of failures holds, once it holds so many: line, how it ended, and how often it was seen. Nobody who fails waits
/// for the memory.
async fn remembered(stage: &Stage, query: &[&str], many: usize, seen: u64) -> Vec<(String, String)> {
    let word = |failure: &Value, key: &str| failure[key].as_str().unwrap_or_default().to_owned();
    let start = std::time::Instant::now();
    loop {
        let listed = stage.helix(&[&["failures", "list", "--json"], query].concat()).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let failures = listed["failures"].as_array().unwrap_or_else(|| panic!("{listed:#}"));
        if failures.len() == many && failures.iter().all(|failure| failure["count"] == seen) {
            let told = |failure: &Value| (word(failure, "cause_line"), word(&failure["end"], "ended"));
            return failures.iter().map(told).collect();
        }
        assert!(start.elapsed() < LIMIT, "{listed:#}\n{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// A decision that cannot be finalized and a project that cannot be made are refused, remembered, and told when they come again.
#[tokio::test(flavor = "multi_thread")]
async fn what_tools_refuse_is_remembered_until_it_is_accepted() {
    let stage = Stage::new("{}", "");
    let _host = stage.start();
    let (url, token) = stage.reachable().await;
    let call = |calls: Value| client(&stage, &json!({ "url": format!("{url}/mcp"), "token": token, "calls": calls }));
    let (adr, plan) = (stage.repo.join("decision.md"), stage.repo.join("draft.yaml"));
    std::fs::write(&adr, "# Use SQLite\n\nBecause.\n").unwrap();
    std::fs::write(&plan, PLAN.replace("type: ", "tpye: ")).unwrap();
    let calls = json!([
        ["adr_finalize", { "path": adr, "project": stage.repo }],
        ["adr_finalize", { "path": adr, "project": stage.repo }],
        ["project_create", { "name": "shop", "plan": plan }],
    ]);
    let report = call(calls);
    for refused in 0..3 {
        assert_eq!(report["results"][refused]["isError"], true, "{report:#}");
        assert!(text(&report, refused).contains("HX0"), "{report:#}");
    }
    // One for each document, however often it was looked at.
    let known = remembered(&stage, &["--tool", "helix"], 2, 1).await;
    assert!(known.iter().all(|(line, end)| line.contains("error[HX0") && end == "open"), "{known:#?}");
    assert!(known.iter().any(|(line, _)| line.contains("draft.yaml")), "{known:#?}");

    std::fs::write(&plan, PLAN).unwrap();
    let report = call(json!([["project_create", { "name": "shop", "plan": plan }]]));
    assert_eq!(report["results"][0]["isError"], false, "{report:#}");
    let known = remembered(&stage, &["--tool", "helix", "--ended", "fixed"], 1, 1).await;
    assert!(known[0].0.contains("draft.yaml"), "{known:#?}");
}

/// A number makes no decision: somebody's yes does, by name, once, and it is committed.
#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_is_accepted_by_somebodys_word() {
    let stage = Stage::new("{}", "");
    let _host = stage.start();
    let (url, token) = stage.reachable().await;
    let draft = stage.repo.join("draft.md");
    let adr = "---\nadr_id: draft\ntitle: Export\nstatus: Proposed\n---\n# Export\n\n## Context\nRows are needed elsewhere.\n\n## Decision\nWrite CSV.\n\n## Acceptance criteria\n- [ ] `true` exits 0\n";
    std::fs::write(&draft, adr).unwrap();
    let accept = |by: &str| json!(["adr_accept", { "number": "1", "project": stage.repo, "by": by }]);
    let calls = json!([["adr_finalize", { "path": draft, "project": stage.repo }], accept("Ada (key)"), accept("Bob")]);
    let report = client(&stage, &json!({ "url": format!("{url}/mcp"), "token": token, "calls": calls }));
    let failed = |at: usize| report["results"][at]["isError"] == true;
    assert!(!failed(0) && text(&report, 0).contains("It is a proposal"), "{report:#}");
    assert!(!failed(1), "{report:#}");
    assert!(failed(2) && text(&report, 2).contains("only a proposed decision"), "{report:#}");
    let committed = stage.git(&stage.repo, &["show", "HEAD:adr/001-export.md"]);
    // A name that looks authenticated is what somebody said.
    let (_, by) = committed.split_once("status: Accepted\naccepted_by: \"Ada (key), as said by ").unwrap();
    assert!(by.contains(" (token)\"\naccepted_on: 20"), "{committed}");
    assert!(stage.git(&stage.repo, &["show", "HEAD:adr/INDEX.md"]).contains("Accepted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn over_stdio_a_running_host_is_used_and_no_second_one_started() {
    let stage = Stage::new("{}", "");
    let host = stage.start();
    stage.reachable().await;
    std::fs::write(stage.repo.join("phases.yaml"), PLAN).unwrap();
    // Relative paths begin where the server was started.
    let report = over_stdio(&stage, &json!([["plan_check", { "path": "phases.yaml" }]]));
    assert_tools(&report);
    assert!(text(&report, 0).contains("no errors"), "{report:#}");
    let announced: Value =
        serde_json::from_slice(&std::fs::read(stage.sandbox.state().join("host.json")).unwrap()).unwrap();
    assert_eq!(announced["pid"], host.0.id());
}

/// The call returns while the job's agent works, and the client is not needed for the rest.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_a_client_starts_without_a_host_outlives_the_client() {
    let stage = Stage::new("{}", "");
    let go = stage.shared().join("go");
    std::fs::create_dir_all(stage.repo.join("plans/demo")).unwrap();
    let waits = format!("[[fake: run until [ -e {} ]; do sleep 0.02; done]] [[fake: write", go.display());
    let slow = PLAN.replace("[[fake: write", &waits);
    std::fs::write(stage.repo.join("plans/demo/phases.yaml"), slow).unwrap();
    stage.git(&stage.repo, &["add", "-A"]);
    stage.git(&stage.repo, &["commit", "-qm", "plan"]);
    let report =
        over_stdio(&stage, &json!([["job_start", { "project": "plans/demo/phases.yaml" }], ["job_status", {}]]));
    assert_eq!(report["results"][0]["isError"], false, "{report:#}");
    let job = report["results"][0]["structuredContent"]["job"].as_str().unwrap().to_owned();
    assert!(text(&report, 1).contains("pass the job's id"), "no session: {report:#}");
    // The answer came before the agent could end.
    let shown = stage.helix(&["jobs", "show", &job, "--json"]).output().unwrap();
    let view: Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
    assert!(["queued", "running"].contains(&view["status"].as_str().unwrap()), "{view:#}");
    std::fs::write(&go, "").unwrap();
    // Carried on by the host in the background, which leaves when there is nothing left to do.
    let start = std::time::Instant::now();
    loop {
        let shown = stage.helix(&["jobs", "show", &job, "--json"]).output().unwrap();
        let view: Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
        if view["status"] == "succeeded" {
            break;
        }
        assert!(start.elapsed() < LIMIT && view["status"] != "failed", "{view:#}");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let report = over_stdio(&stage, &json!([["job_status", { "job": job }]]));
    assert!(text(&report, 0).contains("is succeeded"), "{report:#}");
}

/// The hook as an agent calls it; exit code and what the agent is shown.
fn hook(user: &User, input: &str, arguments: &[&str]) -> (i32, String) {
    let mut command = user.helix();
    command.args(["hook", "post-write"]).args(arguments).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.is_empty(), "agents read standard output as something else");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn the_save_hook_shows_findings_and_stays_out_of_the_way_otherwise() {
    let user = User::new();
    let event = |path: &std::path::Path| {
        json!({ "hook_event_name": "PostToolUse", "tool_name": "Write", "cwd": user.work(),
                "tool_input": { "file_path": path, "content": "…" }, "tool_response": {} })
        .to_string()
    };
    let draft = user.write("adr-draft.md", "---\nadr_id: draft\ntitle: T\nstatus: Proposed\n---\n\n# T\n");
    let (code, told) = hook(&user, &event(&draft), &[]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("Helix checked the ADR adr-draft.md") && told.contains("adr-draft.md:"), "{told}");
    assert!(told.contains("hint:") && !told.contains(user.work().to_str().unwrap()), "{told}");

    // What the draft claims is known with its project alone.
    let claims = user
        .write("adr-draft.md", "---\nadr_id: draft\ntitle: T\nstatus: Proposed\nfiles:\n  modify: [gone.py]\n---\n");
    assert!(!hook(&user, &event(&claims), &[]).1.contains("gone.py"));
    assert!(hook(&user, &event(&claims), &["--project", user.work().to_str().unwrap()]).1.contains("gone.py"));

    // In a session it is that of the session, and before there is one nothing can be changed.
    let work = user.work();
    let session = work.to_str().unwrap();
    let (code, told) = hook(&user, &event(&claims), &["--session", session]);
    assert!(code == 2 && told.contains("gone.py") && told.contains("has no project yet"), "{code}: {told}");
    user.write("shop/gone.py", "");
    user.write("project", user.work().join("shop").to_str().unwrap());
    assert!(!hook(&user, &event(&claims), &["--session", session]).1.contains("gone.py"));

    let plan = user.write("phases.yaml", "name: x\nphases:\n  - id: A B\n");
    assert_eq!(hook(&user, &event(&plan), &[]).0, 2);
    for (path, text) in [("phases.yaml", PLAN), ("notes.md", "# Notes\n"), ("src/a.py", "x = (\n")] {
        let path = user.write(path, text);
        assert_eq!(hook(&user, &event(&path), &[]), (0, String::new()), "{}", path.display());
    }
    assert_eq!(hook(&user, &event(&user.work().join("gone.md")), &[]).0, 0);
    // Its own errors are nothing that an agent could fix: no exit code 2.
    let (code, told) = hook(&user, "no JSON", &[]);
    assert!(code == 4 && told.contains("cannot parse the agent's tool call"), "{code}: {told}");
}

#[test]
fn skills_are_listed_shown_and_named_by_plan_check() {
    let user = User::new();
    user.write("skills/python/SKILL.md", "---\nname: python\ndescription: Our Python\n---\nUse types.\n");
    user.write("skills/broken/SKILL.md", "# nothing\n");
    let listed = user.run(&["skills", "list"]);
    assert!(listed.code == 0 && listed.stdout.contains("python") && listed.stdout.contains("Our Python"), "{listed:?}");
    assert!(listed.stderr.contains("HX0450") && listed.stderr.contains("broken/SKILL.md"), "{listed:?}");
    assert!(listed.stdout.contains("plans-and-workflows") && listed.stdout.contains("built in"), "{listed:?}");
    let own = user.run(&["skills", "show", "plans-and-workflows"]);
    assert!(own.code == 0 && own.stdout.contains("| `criteria_covered` |"), "{own:?}");
    let shown = user.run(&["skills", "show", "python"]);
    assert!(shown.code == 0 && shown.stdout.contains("Use types."), "{shown:?}");
    user.run(&["skills", "show", "pyton"]).refused(2, &["did you mean python?"]);
    user.run(&["skills", "show", "python", "--file", "../broken/SKILL.md"]).refused(2, &["does not lie in"]);
    user.write("phases.yaml", &PLAN.replace("    outputs:", "    skills: [python, cobol]\n    outputs:"));
    let checked = user.run(&["plan", "check", "phases.yaml"]);
    assert_eq!(checked.code, 0, "a warning: {checked:?}");
    assert!(checked.stderr.contains("HX0451") && checked.stderr.contains("`cobol`"), "{checked:?}");
    assert!(!checked.stderr.contains("`python`"), "{checked:?}");
}

#[test]
fn mistakes_in_template_and_experts_are_shown_at_start_with_their_line() {
    let user = User::new();
    let shown = user.run(&["prompt", "show"]);
    assert!(shown.code == 0 && shown.stdout.starts_with("---\nprompt: consultant\n"), "{shown:?}");
    user.write("own.md.j2", &shown.stdout);
    assert_eq!(user.run(&["prompt", "check", "own.md.j2"]).code, 0);
    user.write("own.md.j2", "---\nprompt: consultant\nversion: 2\n---\nHello {{ workspce }}\n");
    user.run(&["prompt", "check", "own.md.j2"]).refused(1, &["HX0453", "own.md.j2:5:10", "did you mean `workspace`?"]);
    user.write("helix.toml", "[consultant]\nprompt = \"own.md.j2\"\n");
    user.run(&["--config", "helix.toml", "chat", "-m", "hello"])
        .refused(2, &["HX0453", "workspce", "helix prompt show"]);
    user.write("helix.toml", "[consultant]\nexperts = true\n");
    user.write("experts.toml", "[experts.a]\ndescription = \"x\"\npromt = \"y\"\n");
    user.run(&["--config", "helix.toml", "chat", "-m", "hello"])
        .refused(2, &["HX0452", "experts.toml:3:1", "did you mean `prompt`?"]);
    user.write("helix.toml", "[consultant]\nvalidators = { links = { timeout = \"1s\" } }\n");
    user.run(&["--config", "helix.toml", "chat", "-m", "hello"])
        .refused(2, &["helix.toml:2", "command = [\"./check-links\"]"]);
    user.write("helix.toml", "[consultant]\nenforcement = [\"step_maker\"]\n");
    user.run(&["--config", "helix.toml", "chat", "-m", "hello"])
        .refused(2, &["HX0903", "helix.toml:2:16", "did you mean `step_marker`?"]);
}

/// A session at the terminal: it is named, goes on by that name or by its id, and a name that nobody gave is refused.
#[test]
fn a_session_at_the_terminal_goes_on_by_its_name() {
    let user = User::new();
    user.rehearse(concat!(
        "- { key: consultant, actions: [{ say: \"First.\\n<!-- STEP: what -->\" }] }\n",
        "- { key: consultant, actions: [{ say: \"Second.\\n<!-- STEP: what -->\" }] }\n",
        "- { key: consultant, actions: [{ say: \"Third.\\n<!-- STEP: what -->\" }] }\n",
        "- { key: consultant, actions: [{ say: \"Fourth.\\n<!-- STEP: what -->\" }] }\n",
    ));
    let chat = |arguments: &[&str]| user.run(&[&["chat"], arguments].concat());
    let began = chat(&["-m", "hello"]);
    assert!(began.code == 0 && began.stdout.contains("First."), "{began:?}");
    let name = began.stderr.split("--session ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
    let more = chat(&["--session", name, "-m", "and then?"]);
    assert!(more.code == 0 && more.stdout.contains("Second."), "{more:?}");
    let shown = user.run(&["--json", "chat", "--session", name, "--show"]).json();
    let id = shown["id"].as_str().unwrap();
    assert_eq!(shown["turns"].as_array().unwrap().len(), 2, "{shown:#}");
    assert!(chat(&["--session", id, "-m", "last"]).stdout.contains("Third."));
    let said = chat(&["--session", id, "--show"]).stdout;
    for words in ["you> hello", "First.", "you> and then?", "you> last", "Third."] {
        assert!(said.contains(words), "{words} in {said}");
    }
    let told = user.run(&["--json", "chat", "--session", id, "-m", "for a program"]).json();
    assert_eq!((told["session"].as_str(), told["answer"].as_str()), (Some(id), Some("Fourth.")), "{told:#}");
    let new = user.run(&["--json", "chat", "-m", "for a program"]).json();
    assert!(new["session"].as_str().is_some_and(|new| new != id) && new["answer"] == "First.", "{new:#}");
    for arguments in [&["--session", "typo", "-m", "hello"][..], &["--session", "typo", "--show"]] {
        chat(arguments).refused(2, &["HX0920", "\"typo\"", "omit --session"]);
    }
}

#[test]
fn an_answer_that_did_not_pass_its_checks_ends_with_1_and_its_findings() {
    let user = User::new();
    user.rehearse(&"- { key: consultant, actions: [{ say: \"No marker.\" }] }\n".repeat(6));
    let told = user.run(&["chat", "-m", "hello"]);
    assert!(told.code == 1 && told.stdout.contains("did not pass its checks"), "{told:?}");
    let told = user.run(&["--json", "chat", "-m", "hello"]);
    let value: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert!(told.code == 1 && value["answer"].as_str().unwrap().starts_with("No marker."), "{told:?}");
    assert_eq!(value["findings"][0]["validator"], "step_marker", "{value:#}");
    assert!(value["note"].as_str().unwrap().contains("did not pass its checks"), "{value:#}");
}

/// A turn over HTTP; the answer in one piece.
async fn say(stage: &Stage, chat: &str, text: &str) -> Value {
    let (url, token) = stage.reachable().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let body = json!({ "model": "helix", "stream": false, "messages": [{ "role": "user", "content": text }] });
    let request = http.post(format!("{url}/v1/chat/completions")).header("x-chat", chat).bearer_auth(token);
    request.json(&body).send().await.unwrap().json().await.unwrap()
}

async fn get(stage: &Stage, path: &str) -> Value {
    let (url, token) = stage.reachable().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    http.get(format!("{url}{path}")).bearer_auth(token).send().await.unwrap().json().await.unwrap()
}

/// Waits until the run exists: the correction is under way.
async fn run_began(stage: &Stage, end: &str) {
    let start = std::time::Instant::now();
    loop {
        let runs = std::fs::read_dir(stage.sandbox.state().join("runs")).unwrap();
        if runs.flatten().any(|run| run.file_name().to_string_lossy().ends_with(end)) {
            return;
        }
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        // No pause: who kills the host now hits the moment before a keeper has the run.
        tokio::task::yield_now().await;
    }
}

/// The agent answers without a marker; what it is asked for it hangs over, or gives after a while.
fn forgetful(correction: &str) -> Stage {
    let script = format!(
        "parts:\n  - name: marker\n    prompt: Do not repeat the answer\n    act: {correction}\n  \
         - name: hello\n    prompt: Hello\n    act: {{ say: Good day. }}\n"
    );
    Stage::new(&script, "")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_can_be_stopped_and_the_answer_stays() {
    let stage = forgetful("{ faults: [{ kind: hang }] }");
    let _host = stage.start();
    stage.reachable().await;
    let asking = say(&stage, "c", "Hello");
    let stopping = async {
        run_began(&stage, ".t1.2").await;
        let sessions = get(&stage, "/api/v1/sessions").await;
        let id = sessions["sessions"][0]["id"].as_str().unwrap().to_owned();
        let (url, token) = stage.reachable().await;
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let asked = std::time::Instant::now();
        http.post(format!("{url}/api/v1/sessions/{id}/stop")).bearer_auth(token).send().await.unwrap();
        (id, asked)
    };
    let (_, (id, asked)) = tokio::join!(asking, stopping);
    assert!(asked.elapsed() < std::time::Duration::from_secs(10), "{:?}", asked.elapsed());
    let turn = last_turn(&stage, &id).await;
    assert_eq!(turn["end"]["answer"], "Good day.", "{turn:#}");
    assert_eq!(turn["end"]["facts"]["stopped"], "cancelled", "{turn:#}");
}

/// What an answer lacks and its agent does not mend is remembered with a report; an answer that has it shows it gone.
#[tokio::test(flavor = "multi_thread")]
async fn what_answers_lack_is_remembered() {
    let script = "parts:\n  - name: again\n    prompt: gone-notes.md\n    act: { say: 'It is in [it](gone-notes.md). <!-- STEP: what -->' }\n  \
         - name: hello\n    prompt: Hello\n    act: { say: 'See [it](gone-notes.md). <!-- STEP: what -->' }\n";
    let stage = Stage::new(script, "");
    let _host = stage.start();
    stage.reachable().await;
    say(&stage, "c", "Hello").await;
    let known = remembered(&stage, &[], 1, 1).await;
    assert!(known[0].0.contains("gone-notes.md") && known[0].1 == "open", "{known:#?}");
    let sessions = get(&stage, "/api/v1/sessions").await;
    let id = sessions["sessions"][0]["id"].as_str().unwrap().to_owned();
    let reports = stage.sandbox.state().join("reports").join(&id);
    let kept: Vec<_> = std::fs::read_dir(&reports).unwrap().flatten().map(|file| file.file_name()).collect();
    assert!(kept.iter().any(|name| name.to_string_lossy().starts_with("turn.1.")), "{kept:?}");
    say(&stage, "c", "Hello").await;
    // The same failure of the next turn.
    remembered(&stage, &[], 1, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_goes_on_after_its_host_was_killed() {
    // Nothing is asked twice, and the answer is corrected although its host is gone.
    let stage = forgetful("{ steps: [{ sleep: 1500 }], say: '<!-- STEP: what -->' }");
    let mut host = stage.start();
    stage.reachable().await;
    let (url, token) = stage.reachable().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let body = json!({ "model": "helix", "stream": true, "messages": [{ "role": "user", "content": "Hello" }] });
    let asked = http.post(format!("{url}/v1/chat/completions")).header("x-chat", "k").bearer_auth(token).json(&body);
    let _answer = asked.send().await.unwrap();
    run_began(&stage, ".t1.2").await;
    host.0.kill().unwrap();
    host.0.wait().unwrap();
    let _next = stage.start();
    let start = std::time::Instant::now();
    let turn = loop {
        let sessions = get(&stage, "/api/v1/sessions").await;
        let id = sessions["sessions"][0]["id"].as_str().unwrap_or_default().to_owned();
        let turn = last_turn(&stage, &id).await;
        if turn["end"].is_object() {
            break turn;
        }
        assert!(start.elapsed() < LIMIT, "{turn:#}\n{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    };
    assert_eq!(turn["end"]["answer"], "Good day.\n\n<!-- STEP: what -->", "{turn:#}");
    assert_eq!((stage.plays_of("hello"), stage.plays_of("marker")), (1, 1), "{turn:#}");
}

async fn last_turn(stage: &Stage, id: &str) -> Value {
    let session = get(stage, &format!("/api/v1/sessions/{id}")).await;
    session["turns"].as_array().and_then(|turns| turns.last()).cloned().unwrap_or_else(|| panic!("{session:#}"))
}
