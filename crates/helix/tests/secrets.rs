//! A key that an agent and a gate print, in many forms, can be read nowhere: not in the state directory, not over the API, not at the
//! terminal, not in the host's log.

use std::path::Path;

use crate::stage::{LIMIT, LOOK_AGAIN, Process, Stage};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;

const KEY: &str = "kT9-zQ4_vWm7Lr2XsB8nYd3Hf6Jc1Pg5Ae0U";

/// Prints the key in its forms: one for each place where the agent can say something.
const PRINTS: &str = r#"
import base64, json, os, sys
k = os.environ["ANTHROPIC_API_KEY"]
for text in [k, base64.b64encode(k.encode()).decode(), base64.urlsafe_b64encode(("user:" + k).encode()).decode(), k.encode().hex(),
             "".join("%%%02X" % b for b in k.encode()), k[::-1], json.dumps(json.dumps({"key": k})), k[:20] + "\n" + k[20:]]:
    print(text)
    print("err", text, file=sys.stderr)
"#;

fn forms() -> Vec<String> {
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = [STANDARD.encode(KEY), URL_SAFE_NO_PAD.encode(format!("user:{KEY}"))];
    // The ends of base64 are not the key's alone.
    let base64 = base64.map(|form| form[10..form.len() - 4].to_owned());
    let backwards: String = KEY.chars().rev().collect();
    let percent: String = KEY.bytes().map(|byte| format!("%{byte:02X}")).collect();
    [vec![KEY[..20].to_owned(), KEY[20..].to_owned(), hex, backwards, percent], base64.to_vec()].concat()
}

#[track_caller]
fn clean(place: &str, bytes: &[u8]) {
    for form in forms() {
        let at = bytes.windows(form.len()).position(|part| part == form.as_bytes());
        let around = at.map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(200)..at + form.len()]).into_owned());
        assert!(at.is_none(), "{place} has {form}: {}", around.unwrap_or_default());
    }
}

/// Every byte of every file, but for the agents' own work places.
fn no_file_has_it(directory: &Path) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && entry.file_name() != "worktrees" {
            seen += no_file_has_it(&path);
        } else if kind.is_file() {
            clean(&path.display().to_string(), &std::fs::read(&path).unwrap());
            seen += 1;
        }
    }
    seen
}

fn script(acts: &str) -> String {
    format!("parts:\n  - name: a\n    prompt: {{ matches: '(?i)# phase `a`' }}\n    act: {{ steps: [{acts}] }}\n")
}

fn prints(stage: &Stage) -> String {
    let program = stage.shared().join("prints.py");
    std::fs::write(&program, PRINTS).unwrap();
    format!("{{ run: \"python3 {}\" }}", program.display())
}

/// A host whose agents have their key, which they have not by default.
fn host(stage: &Stage) -> Process {
    let file = stage.sandbox.home().join(".config/helix/helix.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, config.replace("[sandbox]\n", "[sandbox]\nagent_keys = true\n")).unwrap();
    Process(stage.serve().env("ANTHROPIC_API_KEY", KEY).env("HELIX_LOG", "debug").spawn().unwrap())
}

async fn text(stage: &Stage, path: &str) -> String {
    stage.ask(|http, url| http.get(format!("{url}{path}"))).await.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_agents_and_gates_print_shows_no_key_anywhere() {
    let stage = Stage::new("parts: []\n", "");
    let says = Value::from(format!("The key is {KEY}, or {}.", STANDARD.encode(KEY)));
    let wrote = "{ write: { path: a.md, content: \"# A\\n\" } }";
    stage.agent_does(&script(&format!("{{ think: {says} }}, {}, {wrote}, {{ text: {says} }}", prints(&stage))));
    let codes = KEY.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(",");
    let gate = format!(
        "python3 -c \\\"import sys; k = bytes([{codes}]).decode(); print('Error: refused', k, k[::-1], k.encode().hex()); sys.exit(1)\\\""
    );
    let plan = format!(
        "name: p\nphases:\n  - {{ id: a, type: documentation, description: Write it., outputs: [a.md], max_attempts: 2, on_failure: fail, \
         gates: [{{ type: command, command: \"{gate}\" }}] }}\n"
    );
    let _host = host(&stage);
    let id = stage.submit(&stage.plan("p", &plan), &stage.repo, "p").await;
    let events = stage.events(&id).await;
    clean("the events", format!("{events:?}").as_bytes());
    let job = stage.job(&id).await;
    assert_eq!(job["status"], "failed", "{job:#}");
    let paths = ["", "/reports", "/evidence", "/diff", "/log/a.1", "/log/a.2"];
    let mut seen = String::new();
    for path in paths {
        seen.push_str(&text(&stage, &format!("/api/v1/jobs/{id}{path}")).await);
    }
    for command in ["show", "logs", "report", "diff", "evidence"] {
        let output = stage.helix(&["jobs", command, &id]).output().unwrap();
        seen.push_str(&String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
    }
    clean("an answer", seen.as_bytes());
    assert!(seen.contains("Error: refused [secret ANTHROPIC_API_KEY]"), "{seen}");
    clean("the log", stage.log().as_bytes());
    assert!(no_file_has_it(&stage.sandbox.state()) > 20);
    let runs = stage.sandbox.state().join("runs");
    let masked = std::fs::read_dir(runs).unwrap().flatten();
    let masked = masked.filter_map(|run| std::fs::read_to_string(run.path().join("stdout.jsonl")).ok());
    let masked: Vec<String> = masked.collect();
    assert!(masked.iter().any(|text| text.contains("[secret ANTHROPIC_API_KEY]")), "{masked:?}");
    for line in masked.iter().flat_map(|text| text.lines()) {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "no JSON any more: {line}");
    }
}

/// The keeper is killed before it can mask: the next host does it before it shows anything.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_keeper_leaves_is_masked_by_the_next_host() {
    let stage = Stage::new("parts: []\n", "");
    let program = stage.shared().join("printed");
    let act = format!("{}, {{ run: \"touch {}\" }}, {{ sleep: 600000 }}", prints(&stage), program.display());
    stage.agent_does(&script(&act));
    let plan = "name: p\nphases:\n  - { id: a, type: documentation, description: Write it., outputs: [a.md], max_attempts: 1, on_failure: fail }\n";
    let first = host(&stage);
    let id = stage.submit(&stage.plan("p", plan), &stage.repo, "p").await;
    let start = std::time::Instant::now();
    while !program.exists() {
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    drop(first);
    let runs = std::fs::read_dir(stage.sandbox.state().join("runs")).unwrap().flatten();
    let run = runs.map(|run| run.path()).find(|run| run.join("run.json").exists()).unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(run.join("run.json")).unwrap()).unwrap();
    let keeper = record["keeper"]["pid"].as_i64().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-9", &keeper]).status().unwrap().success());
    // Another user's shell, without the key.
    let _second = stage.start();
    let start = std::time::Instant::now();
    while !run.join("exit.json").exists() {
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    assert!(!run.join("secrets.json").exists());
    clean("the record", &std::fs::read(run.join("stdout.jsonl")).unwrap());
    clean("the answer", text(&stage, &format!("/api/v1/jobs/{id}")).await.as_bytes());
    stage.ask(|http, url| http.post(format!("{url}/api/v1/jobs/{id}/cancel")).json(&serde_json::json!({}))).await;
    Stage::no_agent_is_left(&id);
}

/// A key in a file of a result is refused and named, and gets into no commit; the file is left as it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_a_result_is_a_finding() {
    let stage = Stage::new("parts: []\n", "");
    stage.agent_does(&script("{ run: \"mkdir -p src; echo key = $ANTHROPIC_API_KEY > a.md\" }"));
    let plan = "name: p\nphases:\n  - { id: a, type: documentation, description: Write it., outputs: [a.md], max_attempts: 1, on_failure: fail }\n";
    let _host = host(&stage);
    let id = stage.submit(&stage.plan("p", plan), &stage.repo, "p").await;
    let events = stage.events(&id).await;
    let said = format!("{events:?}");
    assert!(said.contains("result.secret") && said.contains("the value of ANTHROPIC_API_KEY"), "{events:#?}");
    assert_eq!(stage.job(&id).await["status"], "failed");
    for directory in [stage.repo.clone(), stage.sandbox.state()] {
        let gits = std::fs::read_dir(directory.join("git")).into_iter().flatten().flatten().map(|entry| entry.path());
        for git in gits.filter(|path| path.join("HEAD").exists()).chain([stage.repo.clone()]) {
            clean("a commit", stage.git(&git, &["log", "--all", "-p"]).as_bytes());
        }
    }
}
