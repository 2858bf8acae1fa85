//! A full disk: nothing is called done that is not, what cannot be done says so with the remedy, nothing is damaged, and everything
//! goes on as soon as there is space.
//!
//! The state directory is a small file system of its own, mounted where nobody else sees it; where that is not allowed, the tests say
//! so and check nothing.

mod repository;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::stage::{LIMIT, LOOK_AGAIN, Stage, apart};
use serde_json::{Value, json};

/// Size of the file system: some jobs fit, and it is full at once.
const SIZE: &str = "size=24m";

/// The small file system of a stage.
struct Disk {
    root: PathBuf,
}

impl Disk {
    /// Over the state directory of the stage.
    fn under(stage: &Stage) -> Self {
        Self::over(stage.sandbox.state())
    }

    fn over(root: PathBuf) -> Self {
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(&root).status().unwrap();
        assert!(status.success());
        Self { root }
    }

    /// Not a byte is left.
    fn fill(&self) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(self.ballast()).unwrap();
        for size in [1 << 20, 4096, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    fn make_space(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.root.join("ballast")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // With the namespace it goes anyway; this lets the sandbox be removed.
        let _unmounted = Command::new("umount").arg("--lazy").arg(&self.root).status();
    }
}

const PLAN: &str = "name: Pages
phases:
  - id: first
    type: documentation
    description: First
    outputs: [first.md]
  - id: second
    type: documentation
    description: Second
    depends_on: [first]
    outputs: [second.md]
";

/// The agent of the first phase works until it is let go, so that the disk can be filled meanwhile.
fn script(gate: &Path) -> String {
    let gate = gate.display();
    format!(
        "parts:
  - name: first
    prompt: {{ matches: '(?i)phase `first`' }}
    act:
      steps:
        - run: 'touch {gate}.there; until [ -e {gate} ]; do sleep 0.05; done'
        - write: {{ path: first.md, content: \"# First\\n\" }}
  - name: second
    prompt: {{ matches: '(?i)phase `second`' }}
    act: {{ steps: [{{ write: {{ path: second.md, content: \"# Second\\n\" }} }}] }}
  - {{ name: hello, prompt: Hello, act: {{ say: 'Good day.' }} }}
"
    )
}

async fn wait_for(path: &Path, stage: &Stage) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < LIMIT, "{} does not come:\n{}", path.display(), stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// `helix jobs watch` beside the test, and what it has said so far.
struct Watching {
    process: Child,
    said: Arc<Mutex<String>>,
    reader: std::thread::JoinHandle<()>,
}

impl Watching {
    fn begin(stage: &Stage, job: &str) -> Self {
        let mut command = stage.helix(&["jobs", "watch", job]);
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (stderr, into) = (process.stderr.take().unwrap(), Arc::clone(&said));
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines() {
                into.lock().unwrap().push_str(&format!("{}\n", line.unwrap()));
            }
        });
        Self { process, said, reader }
    }

    async fn has_said(&self, words: &str) {
        let start = Instant::now();
        while !self.said.lock().unwrap().contains(words) {
            assert!(start.elapsed() < LIMIT, "{words:?} is not said: {}", self.said.lock().unwrap());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// All that it said until the job was over.
    fn end(mut self) -> String {
        self.process.wait().unwrap();
        self.reader.join().unwrap();
        self.said.lock().unwrap().clone()
    }
}

/// What the database says of itself.
fn assert_sound(stage: &Stage) {
    let file = stage.sandbox.state().join("helix.db");
    let asked =
        "import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute('pragma integrity_check').fetchone()[0])";
    let said = stage.sandbox.command("python3").args(["-c", asked]).arg(file).output().unwrap();
    assert_eq!(text(&said.stdout).trim(), "ok", "{}", text(&said.stderr));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether people can read there that the disk is full.
fn says_so(text: &str) -> bool {
    ["disk full", "disk is full", "No space left"].iter().any(|words| text.contains(words))
}

async fn say(stage: &Stage, words: &str) -> (u16, Value) {
    let (url, token) = stage.reachable().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let body = json!({ "model": "helix", "stream": false, "messages": [{ "role": "user", "content": words }] });
    let request = http.post(format!("{url}/v1/chat/completions")).header("x-chat", "c").bearer_auth(token).json(&body);
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// A state directory that cannot be made: the doctor says so, and what needs it ends as trouble of the environment.
#[test]
fn a_state_directory_on_a_disk_that_is_read_only_is_named() {
    if !apart("disk_full::a_state_directory_on_a_disk_that_is_read_only_is_named") {
        return;
    }
    let stage = Stage::new(&script(Path::new("/nonexistent")), "");
    let root = stage.sandbox.path().join("read-only");
    std::fs::create_dir(&root).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "ro", "tmpfs"]).arg(&root).status().unwrap();
    assert!(mounted.success());
    let disk = Disk { root: root.clone() };
    let state = root.join("state");
    let helix = |arguments: &[&str]| {
        let output = stage.helix(&[&["--state-dir", state.to_str().unwrap()], arguments].concat()).output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, found, _) = helix(&["doctor"]);
    assert!(code == Some(4) && found.contains("cannot be created"), "{found}");
    let (code, _, said) = helix(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(code == Some(4) && said.contains("HX0301") && said.contains("hint:"), "{code:?} {said}");
    drop(disk);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_on_a_disk_that_fills_up_waits_says_so_and_goes_on() {
    if !apart("disk_full::a_job_on_a_disk_that_fills_up_waits_says_so_and_goes_on") {
        return;
    }
    let stage = Stage::new("parts: []\n", "stall = \"60s\"\n\n[consultant]\nenforcement = []\n");
    let go = stage.shared().join("go");
    stage.agent_does(&script(&go));
    let disk = Disk::under(&stage);
    let _host = stage.start();
    let plan = stage.plan("pages", PLAN);
    let base = stage.git(&stage.repo, &["rev-parse", "HEAD"]);
    let job = stage.submit(&plan, &stage.repo, "k").await;
    wait_for(&stage.shared().join("go.there"), &stage).await;
    // Who watches the job is told what it waits for.
    let watching = Watching::begin(&stage, &job);
    watching.has_said("agent running, attempt 1").await;
    disk.fill();

    // Nothing new begins, and whoever wants it hears why.
    let (status, refused) = say(&stage, "Hello").await;
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(status >= 500 && says_so(message), "{status}: {refused:#}");
    let repo = stage.repo.to_str().unwrap();
    let other = stage.plan("others", &PLAN.replace("Pages", "Others"));
    let run = stage.helix(&["run", other.to_str().unwrap(), "--project", repo]).output().unwrap();
    assert_eq!(run.status.code(), Some(4), "{}", text(&run.stderr));
    assert!(says_so(&text(&run.stderr)) && text(&run.stderr).contains("hint"), "{}", text(&run.stderr));

    // The agent's own work fails on it, too; nobody takes that for done.
    std::fs::write(&go, "").unwrap();
    let start = Instant::now();
    loop {
        let view = stage.job(&job).await;
        assert_ne!(view["status"], "succeeded", "{view:#}");
        // Who looks at the job sees why it does not go on, and what to do.
        if says_so(view["error"]["message"].as_str().unwrap_or_default()) {
            assert!(
                view["error"]["hint"].as_str().is_some_and(|hint| hint.contains("free some disk space")),
                "{view:#}"
            );
            break;
        }
        assert!(start.elapsed() < LIMIT, "{view:#}\n{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    assert_eq!(stage.git(&stage.repo, &["rev-parse", "HEAD"]), base);

    let shown = stage.helix(&["jobs", "show", &job]).output().unwrap();
    assert!(says_so(&text(&shown.stdout)), "{}\n{}", text(&shown.stdout), text(&shown.stderr));
    let waits = "the job waits because it cannot be recorded";
    watching.has_said(waits).await;
    disk.make_space();
    stage.events(&job).await;
    let watched = watching.end();
    assert_eq!((watched.matches(waits).count(), watched.matches("running again").count()), (1, 1), "{watched}");
    assert!(
        watched.find(waits) < watched.find("running again") && watched.contains("free some disk space"),
        "{watched}"
    );
    let view = stage.job(&job).await;
    if view["status"] == "failed" {
        // A phase that met the full disk may have failed of it; then it says so, and goes on when it is told to.
        let error = &view["error"];
        let said = format!("{} {}", error["message"], error["hint"]);
        assert!(says_so(&said), "{view:#}");
        let resumed = stage.helix(&["jobs", "resume", &job]).output().unwrap();
        assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    }
    assert_eq!(stage.job(&job).await["status"], "succeeded", "{:#}", stage.job(&job).await);
    for (file, content) in [("first.md", "# First\n"), ("second.md", "# Second\n")] {
        assert_eq!(std::fs::read_to_string(stage.repo.join(file)).unwrap(), content);
    }
    let evidence = stage.helix(&["jobs", "evidence", &job]).output().unwrap();
    assert!(evidence.status.success(), "{}", text(&evidence.stdout));
    let (status, answered) = say(&stage, "Hello").await;
    assert_eq!((status, &answered["choices"][0]["message"]["content"]), (200, &json!("Good day.")), "{answered:#}");
    Stage::no_agent_is_left(&job);
    assert_sound(&stage);
}

#[test]
fn nothing_starts_on_a_full_disk_and_everything_does_after_space_is_made() {
    if !apart("disk_full::nothing_starts_on_a_full_disk_and_everything_does_after_space_is_made") {
        return;
    }
    let stage = Stage::new("parts: []\n", "");
    let go = stage.shared().join("go");
    std::fs::write(&go, "").unwrap();
    stage.agent_does(&script(&go));
    let disk = Disk::under(&stage);
    let plan = stage.plan("pages", PLAN);
    let (plan, repo) = (plan.to_str().unwrap().to_owned(), stage.repo.to_str().unwrap().to_owned());
    disk.fill();
    let full = |output: Output| {
        let said = format!("{}\n{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(says_so(&said) && said.contains("hint"), "{said}");
    };
    for arguments in [&["run", &plan, "--project", &repo][..], &["serve", "--listen", "127.0.0.1:0"]] {
        full(stage.helix(arguments).output().unwrap());
    }
    disk.make_space();
    let run = stage.helix(&["run", &plan, "--project", &repo]).output().unwrap();
    assert!(run.status.success(), "{}\n{}", text(&run.stdout), text(&run.stderr));
    disk.fill();
    // What is there already can be looked at all the same, or the command says that it cannot.
    let list = stage.helix(&["jobs", "list"]).output().unwrap();
    let said = text(&list.stderr);
    assert!(list.status.success() || (list.status.code() == Some(4) && says_so(&said)), "{said}");
    full(stage.helix(&["run", &plan, "--project", &repo]).output().unwrap());
    disk.make_space();
    assert_sound(&stage);
}
