//! The way back: a small service is deployed twice, the second time unhealthy, and the first one serves again; a rollback by a person's
//! word; a host that dies around it; a merged job that is taken out again.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::{part, writes};
use crate::stage::{LIMIT, LOOK_AGAIN, Process, Stage};

/// Keeps the service of the live release running, as systemd or a container runtime would; its service dies with it.
const MANAGER: &str = r#"
import ctypes, os, subprocess, sys, time
live, port = sys.argv[1:]
running, release = None, None
while True:
    now = os.readlink(live) if os.path.islink(live) else None
    if now != release or (running and running.poll() is not None):
        if running:
            running.kill()
            running.wait()
        release = now
        running = subprocess.Popen([sys.executable, live + "/server.py", port], cwd=live, preexec_fn=lambda: ctypes.CDLL(None).prctl(1, 9))
    time.sleep(0.05)
"#;

/// Says its version; version two says of itself that it is ill.
const SERVER: &str = r#"
import http.server, sys
VERSION = open("version.txt").read().strip()
class Service(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ill = self.path == "/health" and VERSION == "two"
        self.send_response(500 if ill else 200)
        self.end_headers()
        self.wfile.write(VERSION.encode())
    def log_message(self, *_):
        pass
class Server(http.server.HTTPServer):
    allow_reuse_address = True
Server(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
"#;

/// Puts a commit's files beside the others and makes them the live ones: for what is new, and for what is brought back.
const ACTIVATE: &str = "#!/bin/sh\nset -e\ncase $1 in new) commit=$HELIX_DEPLOYED;; back) commit=$HELIX_BASELINE;; esac\nmkdir -p \"$LIVE.d/$commit\"\ngit archive \"$commit\" | tar -x -C \"$LIVE.d/$commit\"\nln -sfn \"$LIVE.d/$commit\" \"$LIVE\"\n";

/// A service, what keeps it, and the gates that deliver it.
struct Service {
    live: std::path::PathBuf,
    port: u16,
    _manager: Process,
}

impl Service {
    fn of(stage: &Stage) -> Self {
        let executable = |name: &str, text: &str| {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::write(stage.repo.join(name), text).unwrap();
            std::fs::set_permissions(stage.repo.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        executable("activate.sh", ACTIVATE);
        executable("server.py", SERVER);
        executable("version.txt", "zero\n");
        stage.git(&stage.repo, &["add", "."]);
        stage.git(&stage.repo, &["commit", "-qm", "A service"]);
        let live = stage.shared().join("live");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut manager = Command::new("python3");
        manager.args(["-c", MANAGER, live.to_str().unwrap(), &port.to_string()]).stdin(Stdio::null());
        Self { live, port, _manager: Process(manager.spawn().unwrap()) }
    }

    fn gate(&self) -> String {
        format!(
            "{{ type: deploy_success, target: production, command: ./activate.sh new, rollback: ./activate.sh back, environment: {{ LIVE: {} }}, health: {{ command: curl -fsS http://127.0.0.1:{}/health, every: 1s, for: 1s, limit: 4 }} }}",
            self.live.display(),
            self.port
        )
    }

    /// What is served, once something is.
    async fn serves(&self) -> String {
        let start = Instant::now();
        loop {
            if let Ok(answer) = reqwest::get(format!("http://127.0.0.1:{}/", self.port)).await {
                return answer.text().await.unwrap();
            }
            assert!(start.elapsed() < LIMIT, "nothing is served");
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

/// A phase that writes a version, and one that delivers it: optional, so that only its rollback makes the job fail.
pub(crate) fn plan(version: &str, gate: &str) -> String {
    format!(
        "name: release {version}\nphases:\n  - {{ id: {version}, type: development, description: Make it, outputs: [version.txt], gates: [{{ type: command, command: test -s version.txt }}] }}\n  - {{ id: deliver, type: deploy, description: Deliver it, depends_on: [{version}], optional: true, gates: [{gate}] }}\n"
    )
}

fn script() -> String {
    let version = |one: &str| writes(one, "version.txt", &format!("{one}\n"));
    ["parts:\n".to_owned(), version("one"), version("two"), part("deliver", "{ say: Ready. }")].concat()
}

fn types(events: &[Value]) -> Vec<&str> {
    let steps = ["delivery_begun", "gate_finished", "health_checked", "rollback_begun", "rollback_finished"];
    let names = events.iter().filter(|event| event["phase"] == "deliver").map(|event| event["type"].as_str().unwrap());
    names.filter(|name| steps.contains(name)).collect()
}

pub(crate) fn said(output: &std::process::Output) -> String {
    format!(
        "{:?} {}{}",
        output.status.code(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unhealthy_deployment_is_taken_back_and_the_version_before_serves_again() {
    let stage = Stage::new(&script(), "");
    let service = Service::of(&stage);
    let zero = stage.git(&stage.repo, &["rev-parse", "HEAD"]).trim().to_owned();
    let _host = stage.start();
    let first = stage.submit(&stage.plan("one", &plan("one", &service.gate())), &stage.repo, "one").await;
    let events = stage.events(&first).await;
    let job = stage.job(&first).await;
    assert_eq!(job["status"], "succeeded", "{job:#}\n{}", stage.log());
    assert_eq!(types(&events), ["delivery_begun", "gate_finished", "health_checked"], "{events:#?}");
    let delivered = &job["deliveries"][0];
    assert_eq!((&delivered["state"], &delivered["target"]), (&json!("delivered"), &json!("production")), "{job:#}");
    assert_eq!((&delivered["baseline"]["commit"], &delivered["baseline"]["job"]), (&json!(zero), &Value::Null));
    assert_eq!(service.serves().await, "one");

    let second = stage.submit(&stage.plan("two", &plan("two", &service.gate())), &stage.repo, "two").await;
    let events = stage.events(&second).await;
    let job = stage.job(&second).await;
    assert_eq!(job["status"], "failed", "{job:#}\n{}", stage.log());
    let course =
        ["delivery_begun", "gate_finished", "health_checked", "rollback_begun", "rollback_finished", "health_checked"];
    assert_eq!(types(&events), course, "{events:#?}");
    assert_eq!(service.serves().await, "one", "the version before serves again");
    let gone = &job["deliveries"][0];
    assert_eq!((&gone["state"], &gone["baseline"]["job"]), (&json!("rolled_back"), &json!(first)), "{job:#}");
    assert_eq!(gone["baseline"]["commit"], delivered["commit"], "{job:#}");
    let reference = gone["baseline"]["reference"].as_str().unwrap();
    assert_eq!(stage.git(&stage.repo, &["rev-parse", reference]).trim(), delivered["commit"].as_str().unwrap());
    let message = job["error"]["message"].as_str().unwrap();
    assert!(message.contains("unhealthy") && message.contains("and healthy"), "{message}");
    // No agent tried again, and nothing is called proved.
    assert_eq!(job["phases"][1]["attempt"], 1, "{job:#}");
    let evidence = stage.helix(&["jobs", "evidence", &second]).output().unwrap();
    let text = said(&evidence);
    assert_eq!(evidence.status.code(), Some(6), "{text}");
    for part in ["NOT PROVED", "rollback by Helix", "rolled back by 1 command", "and healthy", "intact"] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }

    // By a person's word: a second time only if it is meant, and what was good as well.
    let refused = stage.helix(&["jobs", "rollback", &second]).output().unwrap();
    assert!(!refused.status.success() && said(&refused).contains("--again"), "{}", said(&refused));
    let again = stage.helix(&["jobs", "rollback", &second, "--again"]).env("USER", "ada").output().unwrap();
    assert!(again.status.success(), "{}", said(&again));
    let rollbacks = stage.job(&second).await["deliveries"][0]["rollbacks"].clone();
    assert_eq!((&rollbacks[0]["by"], rollbacks[1]["by"].is_string()), (&Value::Null, true), "{rollbacks:#}");
    let nowhere = stage.helix(&["jobs", "rollback", &first, "--phase", "one"]).output().unwrap();
    assert!(!nowhere.status.success() && said(&nowhere).contains("delivered nothing"), "{}", said(&nowhere));
    let path = format!("/api/v1/jobs/{first}/rollback");
    let asked = stage.ask(|http, url| http.post(format!("{url}{path}")).json(&json!({ "by": "ada" }))).await;
    assert_eq!(asked.status(), 202);
    let start = Instant::now();
    while stage.job(&first).await["status"] != "failed" {
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    assert_eq!(service.serves().await, "zero");
    let job = stage.job(&first).await;
    let by = job["deliveries"][0]["rollbacks"][0]["by"].as_str().unwrap();
    assert!(by.ends_with(" (token)"), "who was authenticated, not who is told: {job:#}");
    let asked = stage.ask(|http, url| http.post(format!("{url}{path}"))).await;
    assert_eq!(asked.status(), 409);
    let shown = said(&stage.helix(&["jobs", "show", &first]).output().unwrap());
    assert!(
        shown.contains("to production") && shown.contains(&format!("{by} asked to roll the delivery back")),
        "{shown}"
    );
    stage.no_gate_is_left();
}

/// What was delivered later would be lost without a word.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_job_delivered_since_is_not_rolled_back_with_it() {
    let stage = Stage::new(&script(), "");
    let gate = "{ type: deploy_success, target: production, command: \"true\", rollback: \"true\" }";
    let _host = stage.start();
    let mut jobs = Vec::new();
    for version in ["one", "two"] {
        let id = stage.submit(&stage.plan(version, &plan(version, gate)), &stage.repo, version).await;
        stage.events(&id).await;
        assert_eq!(stage.job(&id).await["status"], "succeeded", "{}", stage.log());
        jobs.push(id);
    }
    let [first, second] = &jobs[..] else { unreachable!() };
    let refused = stage.helix(&["jobs", "rollback", first]).output().unwrap();
    let text = said(&refused);
    assert!(!refused.status.success() && text.contains(second) && text.contains("roll that back first"), "{text}");
    for id in [second, first] {
        let done = stage.helix(&["jobs", "rollback", id]).output().unwrap();
        assert!(done.status.success() && said(&done).contains("nothing was seen of its health"), "{}", said(&done));
    }
    // Nor what it has delivered and nobody calls good.
    let ill = "{ type: deploy_success, target: production, command: \"true\", health: { command: \"false\", every: 1s, for: 1s, limit: 1 } }";
    let ill = plan("one", ill).replace("optional: true", "on_failure: skip");
    let third = stage.submit(&stage.plan("three", &ill), &stage.repo, "three").await;
    stage.events(&third).await;
    assert_eq!(stage.job(&third).await["deliveries"][0]["state"], "failed", "{}", stage.log());
    let refused = stage.helix(&["jobs", "rollback", first, "--again"]).output().unwrap();
    let text = said(&refused);
    assert!(!refused.status.success() && text.contains(&third) && text.contains("(failed)"), "{text}");
    assert!(text.contains("has no `rollback`"), "{text}");
    // There is no way back from that, and a person may go over it.
    let command = format!("helix jobs rollback {first} --phase deliver --over");
    assert!(text.contains(&command), "{text}");
    let over = ["jobs", "rollback", first, "--phase", "deliver", "--over", "--again"];
    let done = stage.helix(&over).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    let rollbacks = stage.job(first).await["deliveries"][0]["rollbacks"].clone();
    assert_eq!((&rollbacks[0]["over"], &rollbacks[1]["over"]), (&Value::Null, &json!(true)), "{rollbacks:#}");
}

/// A host that lacks what a health check needs does not take a delivery for ill.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_the_next_host_cannot_make_takes_nothing_back() {
    let stage = Stage::new(&script(), "");
    let gate = "{ type: deploy_success, command: \"true\", rollback: \"true\", pass_env: [DEPLOY_TOKEN], health: { command: \"sh -c 'test -n \\\"$DEPLOY_TOKEN\\\"'\" } }";
    let place = "before effect health/deliver/1/0/0";
    let mut dying =
        Process(stage.serve().env("DEPLOY_TOKEN", "secret-token").env("HELIX_CRASH_AT", place).spawn().unwrap());
    let plan = plan("one", gate).replace("optional: true, ", "");
    let id = stage.submit(&stage.plan("one", &plan), &stage.repo, "one").await;
    let start = Instant::now();
    while dying.0.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let _host = stage.start();
    stage.events(&id).await;
    let job = stage.job(&id).await;
    assert!(job["error"]["message"].as_str().unwrap().contains("DEPLOY_TOKEN"), "{job:#}");
    let delivery = &job["deliveries"][0];
    assert_eq!((&delivery["state"], &delivery["rollbacks"]), (&json!("unknown"), &Value::Null), "{job:#}");
}

/// A rollback is neither forgotten nor made twice by itself; where nobody knows how far it came, that is what is said.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_dies_around_a_rollback_forgets_nothing_and_repeats_nothing() {
    // Where, whether the next host brings it to its end, and how often was rolled back then.
    let places = [
        ("before effect health/deliver/1/0/0", true, 1),
        ("before append of health_checked deliver attempt 1 gate 0 round 0", true, 1),
        ("before effect begin-rollback/deliver/1/0/1", true, 1),
        ("before append of rollback_begun deliver attempt 1 gate 0 round 1", true, 1),
        ("after append of rollback_begun deliver attempt 1 gate 0 round 1", false, 0),
        ("after effect rollback/deliver/1/0/1", false, 1),
        ("after append of rollback_finished deliver attempt 1 gate 0 round 1", true, 1),
        ("after effect health/deliver/1/0/1", true, 1),
    ];
    for (place, goes_on, times) in places {
        let stage = Stage::new(&script(), "");
        let back = stage.shared().join("back");
        let gate = format!(
            "{{ type: deploy_success, command: \"true\", rollback: \"sh -c 'echo back >> {0}'\", health: {{ command: test -e {0}, every: 1s, for: 1s, limit: 1 }} }}",
            back.display()
        );
        let mut dying = Process(stage.serve().env("HELIX_CRASH_AT", place).spawn().unwrap());
        let id = stage.submit(&stage.plan("one", &plan("one", &gate)), &stage.repo, "one").await;
        let start = Instant::now();
        while dying.0.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < LIMIT, "{place}: the host does not die\n{}", stage.log());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let _host = stage.start();
        stage.events(&id).await;
        let job = stage.job(&id).await;
        let rolled = std::fs::read_to_string(&back).unwrap_or_default().lines().count();
        assert_eq!((&job["status"], rolled), (&json!("failed"), times), "{place}: {job:#}");
        let delivery = &job["deliveries"][0];
        let state = if goes_on { "rolled_back" } else { "rollback_failed" };
        assert_eq!(delivery["state"], state, "{place}: {job:#}");
        if goes_on {
            continue;
        }
        let outcome = delivery["outcome"].as_str().unwrap();
        assert!(outcome.contains("unknown: a person is needed"), "{place}: {outcome}");
        assert!(job["error"]["hint"].as_str().unwrap().contains("--again"), "{place}: {job:#}");
        assert!(!stage.helix(&["jobs", "rollback", &id]).output().unwrap().status.success(), "{place}");
        let again = stage.helix(&["jobs", "rollback", &id, "--again"]).output().unwrap();
        assert!(again.status.success(), "{place}: {}", said(&again));
        assert_eq!(std::fs::read_to_string(&back).unwrap().lines().count(), times + 1, "{place}");
    }
}

const DECISION: &str = "---\nadr_id: \"001\"\ntitle: Version one\nstatus: Accepted\n---\n# Version one\n\n## Context\nIt is time.\n\n## Decision\nWrite it.\n\n## Acceptance criteria\n- [ ] It is written\n";
/// What the job makes of the criterion, on the line that is ticked later.
const PROVABLE: &str = "- [ ] It is written (file: version.txt)";

/// Writes the version, and the evidence into the decision.
fn deciding() -> String {
    let decision = Value::from(DECISION.replace("- [ ] It is written", PROVABLE));
    let steps = format!(
        "{{ steps: [{{ write: {{ path: version.txt, content: \"one\\n\" }} }}, {{ write: {{ path: adr/001-one.md, content: {decision} }} }}] }}"
    );
    format!("parts:\n{}", part("one", &steps))
}

/// A repository with a decision, and a merged job that has implemented it.
async fn merged(stage: &Stage) -> String {
    std::fs::create_dir_all(stage.repo.join("adr")).unwrap();
    std::fs::write(stage.repo.join("adr/001-one.md"), DECISION).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(stage.repo.join("adr/001-one.md"), executable).unwrap();
    let index = "# Architecture decisions\n\nGenerated by `helix adr index`; changes made by hand are lost.\n\n| 001 | Implemented |\n";
    std::fs::write(stage.repo.join("adr/INDEX.md"), index).unwrap();
    commit(stage, "A decision");
    let plan = "name: one\nadr: adr/001-one.md\nphases:\n  - { id: one, type: development, description: Make it, outputs: [version.txt], gates: [{ type: command, command: test -s version.txt }] }\n";
    let id = stage.submit(&stage.plan("one", plan), &stage.repo, "one").await;
    stage.events(&id).await;
    let job = stage.job(&id).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
    let decision = read(&stage.repo.join("adr/001-one.md"));
    assert!(decision.contains(PROVABLE), "{decision}");
    let decision = decision.replace("Accepted", "Implemented").replace("[ ]", "[x]");
    std::fs::write(stage.repo.join("adr/001-one.md"), decision).unwrap();
    commit(stage, "It is implemented");
    id
}

pub(crate) fn commit(stage: &Stage, message: &str) {
    stage.git(&stage.repo, &["add", "."]);
    stage.git(&stage.repo, &["commit", "-qm", message]);
}

/// The message of the branch's last commit.
fn log_of(stage: &Stage) -> String {
    stage.git(&stage.repo, &["log", "-1", "--format=%B"])
}

/// Waits until a job's revert is on record.
async fn recorded(stage: &Stage, id: &str) {
    let start = Instant::now();
    while stage.job(id).await["reverted"].is_null() {
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn head(stage: &Stage) -> String {
    stage.git(&stage.repo, &["rev-parse", "HEAD"]).trim().to_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merged_job_is_taken_out_again_by_one_commit_and_its_decision_is_open() {
    let stage = Stage::new(&deciding(), "");
    let host = stage.start();
    let id = merged(&stage).await;
    std::fs::write(stage.repo.join("mine.txt"), "not committed").unwrap();
    // A host that dies when the branch has the commit and the journal does not know it yet.
    drop(host);
    let dying = Process(stage.serve().env("HELIX_CRASH_AT", "before append of reverted").spawn().unwrap());
    stage.reachable().await;
    let lost = stage.helix(&["jobs", "revert", &id]).output().unwrap();
    assert!(!lost.status.success(), "{}", said(&lost));
    drop(dying);
    let reverted = head(&stage);
    assert!(log_of(&stage).contains(&format!("Helix-Reverts: {id}")), "{}", stage.log());
    // The next one finds it by itself.
    let _host = stage.start();
    recorded(&stage, &id).await;
    let done = stage.helix(&["jobs", "revert", &id]).output().unwrap();
    assert!(done.status.success() && said(&done).contains("adr/001-one.md is reopened"), "{}", said(&done));
    assert_eq!(head(&stage), reverted, "not a second time");
    assert!(!stage.repo.join("version.txt").exists());
    assert_eq!(read(&stage.repo.join("mine.txt")), "not committed");
    assert_eq!(stage.git(&stage.repo, &["status", "--porcelain", "--untracked-files=no"]).trim(), "");
    let decision = read(&stage.repo.join("adr/001-one.md"));
    assert!(decision.contains("status: Accepted") && decision.contains(PROVABLE), "{decision}");
    assert!(decision.contains("> Reopened on ") && decision.contains(&id), "{decision}");
    assert!(read(&stage.repo.join("adr/INDEX.md")).contains("| Accepted | 0 of 1 |"));
    let mode = stage.git(&stage.repo, &["ls-files", "--stage", "adr/001-one.md"]);
    assert!(mode.starts_with("100755 "), "{mode}");
    let job = stage.job(&id).await;
    let by = job["reverted"]["by"].as_str().unwrap();
    assert!(!by.is_empty() && log_of(&stage).contains(&format!("Helix-Requested-By: {by}")), "{job:#}");
    assert_eq!((&job["reverted"]["commit"], &job["status"]), (&json!(reverted), &json!("succeeded")), "{job:#}");
    let again = stage.helix(&["jobs", "revert", &id]).output().unwrap();
    assert!(again.status.success() && said(&again).contains("was reverted already"), "{}", said(&again));
    assert_eq!(head(&stage), reverted);
    let path = format!("/api/v1/jobs/{id}/events");
    let events = stage.ask(|http, url| http.get(format!("{url}{path}"))).await.text().await.unwrap();
    assert!(events.trim_end().lines().any(|line| line.contains("\"reverted\"")), "{events}");
    let resumed = stage.helix(&["jobs", "retry", &id, "--phase", "one"]).output().unwrap();
    assert!(!resumed.status.success() && said(&resumed).contains("reverted"), "{}", said(&resumed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revert_touches_no_uncommitted_work_and_leaves_nothing_half_done() {
    let stage = Stage::new(&deciding(), "");
    let _host = stage.start();
    let id = merged(&stage).await;
    // What came later says otherwise: nothing is changed.
    std::fs::write(stage.repo.join("version.txt"), "one and a half\n").unwrap();
    commit(&stage, "Better");
    let before = head(&stage);
    let refused = stage.helix(&["jobs", "revert", &id]).output().unwrap();
    assert!(!refused.status.success() && said(&refused).contains("version.txt"), "{}", said(&refused));
    assert_eq!((head(&stage), read(&stage.repo.join("version.txt"))), (before, "one and a half\n".to_owned()));
    assert_eq!(stage.git(&stage.repo, &["status", "--porcelain"]).trim(), "");
    let notes = || std::fs::read_dir(stage.sandbox.state().join("reverts")).unwrap().count();
    assert_eq!(notes(), 0, "nothing is to be found later");
    stage.git(&stage.repo, &["revert", "--no-edit", "HEAD"]);
    // Uncommitted work: the revert waits on a branch of its own, and the job is not called reverted.
    std::fs::write(stage.repo.join("adr/001-one.md"), "mine").unwrap();
    let before = head(&stage);
    let beside = stage.helix(&["jobs", "revert", &id]).output().unwrap();
    let text = said(&beside);
    assert!(
        beside.status.code() == Some(1)
            && text.contains("uncommitted changes")
            && text.contains("HX0818")
            && !text.contains("nothing was changed"),
        "{text}"
    );
    assert_eq!((head(&stage), read(&stage.repo.join("adr/001-one.md"))), (before, "mine".to_owned()));
    assert_eq!((&stage.job(&id).await["reverted"], notes()), (&Value::Null, 1));
    // The command that is shown takes it, and a later call, or the next host, records what is there.
    let (_, command) = text.split_once("Take it with `").unwrap();
    let (command, _) = command.split_once('`').unwrap();
    stage.git(&stage.repo, &["checkout", "--quiet", "adr/001-one.md"]);
    let mut shell = stage.sandbox.command("sh");
    let shell = shell.args(["-c", command]).output().unwrap();
    assert!(shell.status.success(), "{command}: {}", said(&shell));
    let taken = head(&stage);
    assert!(!stage.repo.join("version.txt").exists());
    let done = stage.helix(&["jobs", "revert", &id]).output().unwrap();
    assert!(done.status.success() && said(&done).contains("reverted on "), "{}", said(&done));
    assert_eq!((head(&stage), &stage.job(&id).await["reverted"]["commit"]), (taken.clone(), &json!(taken)));
    assert_eq!(notes(), 0);
}

/// What nobody can take any more is not looked for at every start.
#[tokio::test(flavor = "multi_thread")]
async fn a_revert_that_waited_and_was_thrown_away_is_forgotten() {
    let stage = Stage::new(&deciding(), "");
    let host = stage.start();
    let id = merged(&stage).await;
    std::fs::write(stage.repo.join("adr/001-one.md"), "mine").unwrap();
    let beside = stage.helix(&["jobs", "revert", &id]).output().unwrap();
    assert!(said(&beside).contains("not reverted yet"), "{}", said(&beside));
    let notes = || std::fs::read_dir(stage.sandbox.state().join("reverts")).unwrap().count();
    // What came later says otherwise, but the commit can still be taken.
    stage.git(&stage.repo, &["checkout", "--quiet", "adr/001-one.md"]);
    std::fs::write(stage.repo.join("version.txt"), "one and a half\n").unwrap();
    commit(&stage, "Better");
    let refused = stage.helix(&["jobs", "revert", &id]).output().unwrap();
    assert!(said(&refused).contains("version.txt") && notes() == 1, "{}", said(&refused));
    let branches = stage.git(&stage.repo, &["for-each-ref", "--format=%(refname:short)", "refs/heads/helix/revert-*"]);
    stage.git(&stage.repo, &["branch", "-D", branches.trim()]);
    drop(host);
    let _host = stage.start();
    let start = Instant::now();
    while notes() > 0 {
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    assert_eq!(stage.job(&id).await["reverted"], Value::Null);
}

/// A job that was rolled back, resumed and merged again is taken out as a whole.
#[tokio::test(flavor = "multi_thread")]
async fn all_that_a_job_has_merged_is_reverted() {
    let deliver = "  - name: deliver\n    prompt: { matches: '(?i)# phase `deliver`' }\n    attempts: [{ say: Ready. }, { steps: [{ write: { path: notes.txt, content: \"again\\n\" } }] }]\n";
    let script = ["parts:\n", &writes("one", "version.txt", "one\n"), deliver].concat();
    let stage = Stage::new(&script, "");
    let _host = stage.start();
    let before = stage.git(&stage.repo, &["rev-parse", "HEAD^{tree}"]);
    let gate = "{ type: deploy_success, command: \"true\", rollback: \"true\" }";
    let id = stage.submit(&stage.plan("one", &plan("one", gate)), &stage.repo, "one").await;
    stage.events(&id).await;
    let done = stage.helix(&["jobs", "rollback", &id]).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    let done = stage.helix(&["jobs", "resume", &id]).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    assert!(stage.repo.join("version.txt").exists() && stage.repo.join("notes.txt").exists());
    let merges = stage.git(&stage.repo, &["rev-list", "--merges", "--count", "HEAD"]);
    assert_eq!(merges.trim(), "2");
    // The second merge is not in the branch for now: the first is taken out, and the second when it is there again.
    let second = head(&stage);
    stage.git(&stage.repo, &["reset", "--hard", "--quiet", "HEAD^"]);
    let revert = async || {
        let done = stage.helix(&["jobs", "revert", &id]).output().unwrap();
        assert!(done.status.success(), "{}", said(&done));
        stage.job(&id).await["reverted"]["commit"].as_str().unwrap().to_owned()
    };
    let first = revert().await;
    assert_eq!((head(&stage), revert().await), (first.clone(), first.clone()), "not a second time");
    stage.git(&stage.repo, &["merge", "--quiet", "--no-edit", &second]);
    assert!(stage.repo.join("notes.txt").exists());
    assert_ne!(revert().await, first);
    assert_eq!(stage.git(&stage.repo, &["rev-parse", "HEAD^{tree}"]), before);
}
