//! Helix from outside: its executable, its HTTP API and its state directory, with a fault-scripted agent.
//!
//! Must not use any of Helix's own code but the testkit.
#![allow(unreachable_pub, reason = "shared by all test modules")]
#![allow(clippy::print_stdout, reason = "what is not checked is said")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use helix_testkit::locate::fake_agent_binary;
use helix_testkit::processes::no_process_with_env;
use helix_testkit::project::{Language, Project, git};
use helix_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

/// Longest time that anything in a test may take; only a defect comes near it.
pub const LIMIT: Duration = Duration::from_secs(240);
/// Between two looks at what cannot be awaited.
pub const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A home, a state directory, a configuration with one scripted agent, and a repository.
pub struct Stage {
    pub sandbox: Sandbox,
    pub repo: PathBuf,
    http: reqwest::Client,
}

/// A `helix` process that does not outlive the test.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

impl Stage {
    /// `jobs` is the text of the section `[jobs]` of `helix.toml`.
    pub fn new(script: &str, jobs: &str) -> Self {
        let sandbox = Sandbox::new().unwrap();
        let file = sandbox.path().join("agent.yaml");
        std::fs::write(&file, script).unwrap();
        let command = json!([fake_agent_binary().unwrap(), "--fake-script", file]);
        // Where the scripted agent counts its attempts, for all of its runs.
        let counts = sandbox.path().join("agent.yaml.state");
        std::fs::create_dir_all(&counts).unwrap();
        let shared = sandbox.path().join("shared");
        std::fs::create_dir_all(&shared).unwrap();
        let config = format!(
            "[defaults]\nagent = \"fake\"\n\n[agents.fake]\ndialect = \"claude\"\ncommand = {command}\n\n\
             [sandbox]\nwritable = [{counts:?}, {shared:?}]\n\n[jobs]\n{jobs}"
        );
        let directory = sandbox.home().join(".config/helix");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("helix.toml"), config).unwrap();
        let repo = sandbox.project("shop", Project::healthy(Language::Python)).unwrap();
        let http = reqwest::Client::builder().no_proxy().connect_timeout(Duration::from_secs(20)).build().unwrap();
        Self { sandbox, repo, http }
    }

    /// Gives the agent another script: one that names places of this stage.
    pub fn agent_does(&self, script: &str) {
        std::fs::write(self.sandbox.path().join("agent.yaml"), script).unwrap();
    }

    /// Where agents and commands leave what a test looks for, and find what it leaves for them.
    pub fn shared(&self) -> PathBuf {
        self.sandbox.path().join("shared")
    }

    /// Opens what this stage's runs share to those of another one.
    pub fn shares_with(&self, other: &Stage) {
        let file = other.sandbox.home().join(".config/helix/helix.toml");
        let config = std::fs::read_to_string(&file).unwrap();
        let opened = config.replace("writable = [", &format!("writable = [{:?}, ", self.shared()));
        std::fs::write(&file, opened).unwrap();
    }

    /// A `helix` command; what it says goes to a log that a failing test shows.
    pub fn helix(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_helix"));
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// A host that says what it does to `host.log` in the sandbox.
    pub fn serve(&self) -> Command {
        let mut command = self.helix(&["serve", "--listen", "127.0.0.1:0"]);
        let log =
            std::fs::OpenOptions::new().create(true).append(true).open(self.sandbox.path().join("host.log")).unwrap();
        command.stdout(Stdio::null()).stderr(log);
        command
    }

    pub fn start(&self) -> Process {
        Process(self.serve().spawn().unwrap())
    }

    pub fn plan(&self, name: &str, text: &str) -> PathBuf {
        let path = self.sandbox.path().join(format!("{name}.yaml"));
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn git(&self, directory: &Path, arguments: &[&str]) -> String {
        git(directory, self.sandbox.environment(), arguments).unwrap()
    }

    /// What the living host is reached by; `None` while there is none.
    fn host(&self) -> Option<(String, String)> {
        let announced = std::fs::read(self.sandbox.state().join("host.json")).ok()?;
        let announced: Value = serde_json::from_slice(&announced).ok()?;
        let token = std::fs::read_to_string(announced["token_file"].as_str()?).ok()?;
        Some((announced["url"].as_str()?.to_owned(), token.trim().to_owned()))
    }

    /// Address and token of the host, once it answers.
    pub async fn reachable(&self) -> (String, String) {
        loop {
            self.ask(|http, url| http.get(format!("{url}/healthz"))).await;
            // One that has just ended may have taken its address away.
            if let Some(host) = self.host() {
                return host;
            }
        }
    }

    /// Asks until a host answers, whichever it is by then.
    pub async fn ask(&self, request: impl Fn(&reqwest::Client, &str) -> reqwest::RequestBuilder) -> reqwest::Response {
        let start = Instant::now();
        let mut refusal = String::new();
        loop {
            if let Some((url, token)) = self.host()
                && let Ok(answer) = request(&self.http, &url).bearer_auth(token).send().await
            {
                match answer.status().as_u16() {
                    401 | 503 => refusal = answer.text().await.unwrap_or_default(),
                    _ => return answer,
                }
            }
            assert!(start.elapsed() < LIMIT, "no host answers (at last: {refusal}); its log:\n{}", self.log());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.sandbox.path().join("host.log")).unwrap_or_default()
    }

    /// Submits a plan, again and again until a host has taken it; the key sees to it that there is one job.
    pub async fn submit(&self, plan: &Path, repo: &Path, key: &str) -> String {
        self.submitted(json!({ "plan": plan, "project_path": repo, "idempotency_key": key })).await
    }

    /// The same where the commands of gates run for results alone.
    pub async fn submit_without_preflight(&self, plan: &Path, repo: &Path, key: &str) -> String {
        self.submitted(json!({ "plan": plan, "project_path": repo, "idempotency_key": key, "preflight": false })).await
    }

    async fn submitted(&self, body: Value) -> String {
        let start = Instant::now();
        loop {
            let answer = self.ask(|http, url| http.post(format!("{url}/api/v1/jobs")).json(&body)).await;
            let status = answer.status();
            // A host that dies in the middle of its answer is asked again.
            if let Ok(answer) = answer.json::<Value>().await {
                assert!(status.is_success(), "{status}: {answer:#}");
                return answer["id"].as_str().unwrap().to_owned();
            }
            assert!(start.elapsed() < LIMIT);
        }
    }

    /// Answers the job's open questions, first options first, until it has ended. Gives its last view.
    pub async fn answer_all(&self, id: &str, choose: impl Fn(&Value) -> Value) -> Value {
        let start = Instant::now();
        loop {
            let job = self.job(id).await;
            if ["succeeded", "failed", "cancelled"].contains(&job["status"].as_str().unwrap_or_default()) {
                return job;
            }
            let open = job["questions"].as_array().into_iter().flatten().filter(|one| one["status"] == "open");
            for question in open {
                let path = format!("/api/v1/questions/{}/answer", question["id"].as_str().unwrap());
                let body = choose(question);
                // One that was answered before the host died is settled: that is an answer, too.
                let answer = self.ask(|http, url| http.post(format!("{url}{path}")).json(&body)).await;
                assert!(answer.status().is_success() || answer.status() == 409, "{}", answer.status());
            }
            assert!(start.elapsed() < LIMIT, "job {id} does not end: {job:#}\n{}", self.log());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    pub async fn job(&self, id: &str) -> Value {
        let start = Instant::now();
        loop {
            let answer = self.ask(|http, url| http.get(format!("{url}/api/v1/jobs/{id}"))).await;
            if let Ok(answer) = answer.json::<Value>().await {
                return answer;
            }
            assert!(start.elapsed() < LIMIT);
        }
    }

    /// All events of a job to its last, as a client sees them that comes back with the last number whenever a host dies.
    pub async fn events(&self, id: &str) -> Vec<Value> {
        let start = Instant::now();
        let mut events: Vec<Value> = Vec::new();
        loop {
            let last = events.last().map_or(0, |event| event["number"].as_u64().unwrap());
            let path = format!("/api/v1/jobs/{id}/events");
            let mut answer =
                self.ask(|http, url| http.get(format!("{url}{path}")).header("last-event-id", last.to_string())).await;
            assert!(answer.status().is_success(), "{}: {}", answer.status(), self.log());
            let mut text = Vec::new();
            while let Ok(Some(chunk)) = answer.chunk().await {
                text.extend_from_slice(&chunk);
                while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
                    let frame: Vec<u8> = text.drain(..end + 2).collect();
                    let frame = String::from_utf8(frame).unwrap();
                    let Some(data) = frame.lines().find_map(|line| line.strip_prefix("data:")) else { continue };
                    let event: Value = serde_json::from_str(data).unwrap();
                    let over = event["type"] == "job_finished";
                    events.push(event);
                    if over {
                        return events;
                    }
                }
            }
            assert!(start.elapsed() < LIMIT, "job {id} does not end: {events:#?}\n{}", self.log());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// No process of a job's runs lives any more.
    pub fn no_agent_is_left(job: &str) {
        no_process_with_env("HELIX_RUN_ID", job, Duration::from_secs(30));
    }

    /// The commands of gates of all jobs have ended, and their ends were seen.
    pub fn no_gate_is_left(&self) {
        let left = || {
            let runs = std::fs::read_dir(self.sandbox.state().join("runs")).unwrap().flatten();
            runs.map(|run| run.file_name()).filter(|run| run.to_string_lossy().ends_with(".gate")).collect::<Vec<_>>()
        };
        let start = Instant::now();
        while !left().is_empty() {
            assert!(start.elapsed() < Duration::from_secs(30), "{:?}\n{}", left(), self.log());
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Where the fake agent counts.
    pub fn plays(&self) -> PathBuf {
        self.sandbox.path().join("agent.yaml.state")
    }

    /// How often the fake agent began a part.
    pub fn plays_of(&self, part: &str) -> usize {
        let entries = std::fs::read_dir(self.plays().join(part))
            .map(|entries| entries.flatten().collect())
            .unwrap_or_else(|_| Vec::new());
        entries.iter().filter(|entry| entry.file_name().to_string_lossy().starts_with("attempt-")).count()
    }
}

/// Numbers of events are 1, 2, 3, …: none is missing and none came twice.
pub fn assert_numbered(events: &[Value]) {
    let numbers: Vec<u64> = events.iter().map(|event| event["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
}

/// Set in the process that has its own mounts.
const APART: &str = "HELIX_TEST_APART";

/// Runs the test again in a process with mounts of its own. `true` in that process; `false` if it is done, or cannot be done here.
pub fn apart(test: &str) -> bool {
    if std::env::var_os(APART).is_some() {
        return true;
    }
    // Root needs no more than this; others become root of a world of their own, where that is allowed.
    let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    let program = std::env::current_exe().unwrap();
    for way in ways {
        let can = Command::new("unshare").args(way).args(["mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
        if !can.is_ok_and(|output| output.status.success()) {
            continue;
        }
        let mut command = Command::new("unshare");
        command.args(way).arg(&program).args(["--exact", test, "--nocapture"]).env(APART, "1");
        let status = command.status().unwrap();
        assert!(status.success(), "{test}: {status}");
        return false;
    }
    println!(
        "{test}: NOT CHECKED: this user may not mount anything (`unshare --mount`), so that there is no full disk"
    );
    false
}
