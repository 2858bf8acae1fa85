//! An engine with a fault-scripted agent and real git repositories, for tests of whole jobs.
//!
//! Must not know what a test wants to see.
#![allow(unreachable_pub, reason = "shared by all test modules")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use helix_agents::{AgentProfile, DialectName};
use helix_core::ids::{JobId, PhaseId, RunId};
use helix_engine::admission::AdmissionLimits;
use helix_engine::agent_run::RunTimeouts;
use helix_engine::jobs::QuestionFilter;
use helix_engine::observer::FailureFilter;
use helix_engine::submit::SubmitRequest;
use helix_engine::{ConsultantConfig, Engine, EngineConfig, StateDir};
use helix_failure::memory::FailureDetail;
use helix_git::GitEnvironment;
use helix_job::question::{Answer, QuestionView};
use helix_job::{AskPerson, Escalation, JobEvent, JobView, Origin, PhaseView, Policy, Recorded};
use helix_testkit::locate::{fake_agent_binary, helix_binary};
use helix_testkit::processes::{no_process_with_env, processes_with_env};
use helix_testkit::project::{Language, Project, git};
use helix_testkit::sandbox::Sandbox;

/// Longest time that anything in a test may take; only a defect comes near it.
pub const LIMIT: Duration = Duration::from_secs(120);

/// An engine and its environment.
pub struct Workshop {
    pub engine: Engine,
    pub sandbox: Sandbox,
    extra: Extra,
}

/// What a test changes about the engine's configuration.
type Extra = fn(&mut EngineConfig);

/// Name of the script in the sandbox that stands in for git, where a test has one.
const GIT_WRAPPER: &str = "git-wrapper";

/// A job that has ended, with all its events.
pub struct Ended {
    pub view: JobView,
    pub events: Vec<Recorded<JobEvent>>,
}

/// How long agents are waited for, in seconds; long enough for a busy machine unless a test is about waiting.
pub fn patient() -> RunTimeouts {
    RunTimeouts { linger: LIMIT, stall: LIMIT, ..RunTimeouts::default() }
}

impl Workshop {
    /// An engine whose only agent plays this script.
    pub async fn open(script: &str) -> Self {
        Self::with_timeouts(script, patient()).await
    }

    pub async fn with_timeouts(script: &str, timeouts: RunTimeouts) -> Self {
        Self::make(script, timeouts, |_| {}).await
    }

    /// An engine that is configured otherwise.
    pub async fn configured(script: &str, extra: Extra) -> Self {
        Self::make(script, patient(), extra).await
    }

    /// An engine whose git is wrapped in a shell script: `$D` is a directory for the test's signals, `$*` the arguments of git, and
    /// what is not answered otherwise goes on to git itself. The last argument is the script's own part.
    pub async fn with_git(script: &str, extra: Extra, wrapper: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let sandbox = Sandbox::new().unwrap();
        let file = sandbox.path().join(GIT_WRAPPER);
        // Helix names the directory first: `-C DIRECTORY`.
        let text = format!("#!/bin/sh\nD=$(dirname \"$0\")\ncd \"$2\"\nshift 2\n{wrapper}\nexec git \"$@\"\n");
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self::make_in(sandbox, script, patient(), extra).await
    }

    /// A file in the directory that a wrapper of git knows as `$D`.
    pub fn signal(&self, name: &str) -> PathBuf {
        self.sandbox.path().join(name)
    }

    /// Waits until somebody has made a file.
    pub async fn until_there(&self, file: &Path) {
        let start = std::time::Instant::now();
        while !file.exists() {
            assert!(start.elapsed() < LIMIT, "{} does not come", file.display());
            // Another process makes it.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn make(script: &str, timeouts: RunTimeouts, extra: Extra) -> Self {
        Self::make_in(Sandbox::new().unwrap(), script, timeouts, extra).await
    }

    async fn make_in(sandbox: Sandbox, script: &str, timeouts: RunTimeouts, extra: Extra) -> Self {
        let file = sandbox.path().join("agent.yaml");
        std::fs::write(&file, script).unwrap();
        let mut config = config(&sandbox, &file, timeouts);
        extra(&mut config);
        let engine = Engine::open(state_of(&sandbox), config).await.unwrap();
        Self { engine, sandbox, extra }
    }

    /// The same state directory under a new engine that is configured otherwise.
    pub async fn reopen_with(self, extra: Extra) -> Self {
        Self { extra, ..self }.reopen().await
    }

    /// The same state directory under a new engine, as after a restart.
    pub async fn reopen(self) -> Self {
        self.engine.close().await;
        let file = self.sandbox.path().join("agent.yaml");
        let mut config = config(&self.sandbox, &file, patient());
        (self.extra)(&mut config);
        let engine = Engine::open(state_of(&self.sandbox), config).await.unwrap();
        Self { engine, sandbox: self.sandbox, extra: self.extra }
    }

    /// The same state directory under an engine that is configured otherwise, as after a host of another project has begun.
    pub async fn reopen_as(mut self, extra: Extra) -> Self {
        self.extra = extra;
        self.reopen().await
    }

    /// A repository with a small Python project, and an addition with this body that is tested.
    pub fn adding(&self, body: &str) -> PathBuf {
        let repo = self.repo();
        std::fs::write(repo.join("shop/add.py"), format!("def add(a, b):\n    return {body}\n")).unwrap();
        let test = "import unittest\nfrom shop.add import add\n\n\nclass AddTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n";
        std::fs::write(repo.join("tests/test_add.py"), test).unwrap();
        self.git(&repo, &["add", "-A"]);
        self.git(&repo, &["commit", "--quiet", "-m", "Add"]);
        repo
    }

    /// A repository with a small Python project.
    pub fn repo(&self) -> PathBuf {
        let repo = self.sandbox.project("shop", Project::healthy(Language::Python)).unwrap();
        // The engine runs in this process, whose environment names nobody.
        for (key, value) in [("user.name", "A User"), ("user.email", "user@example.invalid")] {
            self.git(&repo, &["config", key, value]);
        }
        repo
    }

    pub fn git(&self, directory: &Path, arguments: &[&str]) -> String {
        git(directory, self.sandbox.environment(), arguments).unwrap()
    }

    /// A request for a plan that lies outside of the repository.
    pub fn request(&self, repo: &Path, plan: &str) -> SubmitRequest {
        let file = self.sandbox.path().join("phases.yaml");
        std::fs::write(&file, plan).unwrap();
        let mut request = SubmitRequest::new(file, Origin::Cli);
        request.project = Some(repo.to_owned());
        request
    }

    pub async fn submit(&self, repo: &Path, plan: &str) -> JobId {
        self.engine.jobs().submit(self.request(repo, plan)).await.unwrap().job.id
    }

    /// Carries a plan out to its end.
    pub async fn run(&self, repo: &Path, plan: &str) -> Ended {
        let job = self.submit(repo, plan).await;
        self.ended(&job).await
    }

    /// Waits for an event of a job.
    pub async fn until_event(&self, job: &JobId, name: &str) {
        let mut events = self.engine.jobs().events(job, 0).await.unwrap();
        while let Some(event) = events.recv().await {
            if event.unwrap().event.name() == name {
                return;
            }
        }
        panic!("there is no {name} in job {job}");
    }

    /// Waits until a failure is known to be fixed: what is learned from a job may come after its end.
    pub async fn fixed_failure(&self) -> FailureDetail {
        let fixed = FailureFilter { ended: Some("fixed".into()), ..FailureFilter::default() };
        loop {
            let page = self.engine.reports().failures(fixed.clone(), None, 1).await.unwrap();
            if let Some(failure) = page.failures.first() {
                return self.engine.reports().failure(failure.diagnosis.fingerprint.as_str()).await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits for the end of a job; whatever its end, none of its processes may be left.
    pub async fn ended(&self, job: &JobId) -> Ended {
        let collect = async {
            let mut receiver = self.engine.jobs().events(job, 0).await.unwrap();
            let mut events = Vec::new();
            while let Some(event) = receiver.recv().await {
                events.push(event.unwrap());
            }
            events
        };
        let events = tokio::time::timeout(LIMIT, collect).await.unwrap();
        let numbers: Vec<u64> = events.iter().map(|event| event.number).collect();
        assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>(), "events are numbered without gaps");
        let view = self.engine.jobs().get(job.as_str()).await.unwrap();
        assert!(view.status.is_final(), "{view:#?}");
        no_process_with_env("HELIX_RUN_ID", job.as_str(), Duration::from_secs(20));
        Ended { view, events }
    }

    /// Waits for the end of a job that goes on after this event.
    pub async fn ended_again(&self, job: &JobId, after: u64) -> Ended {
        let collect = async {
            let mut receiver = self.engine.jobs().events(job, after).await.unwrap();
            let mut events = Vec::new();
            while let Some(event) = receiver.recv().await {
                events.push(event.unwrap());
            }
            events
        };
        let events = tokio::time::timeout(LIMIT, collect).await.unwrap();
        let view = self.engine.jobs().get(job.as_str()).await.unwrap();
        assert!(view.status.is_final(), "{view:#?}");
        Ended { view, events }
    }

    /// Waits until a job asks something.
    pub async fn question(&self, job: &JobId) -> QuestionView {
        let asked = async {
            let mut receiver = self.engine.jobs().events(job, 0).await.unwrap();
            while let Some(event) = receiver.recv().await {
                if !matches!(event.unwrap().event, JobEvent::QuestionAsked { .. }) {
                    continue;
                }
                let open = self.engine.jobs().questions(QuestionFilter::Open).await.unwrap();
                if let Some(question) = open.into_iter().find(|question| &question.job == job) {
                    return question;
                }
            }
            panic!("the job has ended without a question")
        };
        tokio::time::timeout(LIMIT, asked).await.unwrap()
    }

    pub async fn answer(&self, question: &QuestionView, choice: &str, text: Option<&str>) {
        let reply = Answer { choice: Some(choice.into()), text: text.map(str::to_owned), by: "a test".into() };
        self.engine.jobs().answer(&question.id, reply).await.unwrap();
    }

    /// What any run was told.
    pub fn told(&self, run: &RunId) -> String {
        std::fs::read_to_string(self.sandbox.state().join("runs").join(run.as_str()).join("stdin")).unwrap()
    }

    /// Waits until an attempt's agent lives, and has written the file if one is named.
    pub async fn until_working(&self, job: &JobId, phase: &str, attempt: u32, file: Option<&str>) -> RunId {
        let run = RunId::for_attempt(job, &PhaseId::new(phase).unwrap(), attempt);
        let file = file.map(|file| self.worktree(job, phase, attempt).join(file));
        let start = std::time::Instant::now();
        loop {
            let lives = !processes_with_env("HELIX_RUN_ID", run.as_str()).unwrap().is_empty();
            if lives && file.as_ref().is_none_or(|file| std::fs::read(file).is_ok_and(|text| !text.is_empty())) {
                return run;
            }
            assert!(start.elapsed() < LIMIT, "the agent of {run} does not come to life");
            // Processes of a run are nobody's children here, so that they cannot be awaited.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn worktree(&self, job: &JobId, phase: &str, attempt: u32) -> PathBuf {
        self.sandbox.state().join("worktrees").join(job.as_str()).join(format!("{phase}.{attempt}"))
    }

    /// What the agent of an attempt was told.
    pub fn prompt(&self, job: &JobId, phase: &str, attempt: u32) -> String {
        let run = RunId::for_attempt(job, &PhaseId::new(phase).unwrap(), attempt);
        std::fs::read_to_string(self.sandbox.state().join("runs").join(run.as_str()).join("stdin")).unwrap()
    }

    /// The value of an option in the command line of an attempt's agent.
    pub fn option(&self, job: &JobId, phase: &str, attempt: u32, name: &str) -> Option<String> {
        let run = RunId::for_attempt(job, &PhaseId::new(phase).unwrap(), attempt);
        let request = self.sandbox.state().join("runs").join(run.as_str()).join("request.json");
        let request: serde_json::Value = serde_json::from_slice(&std::fs::read(request).unwrap()).unwrap();
        let args: Vec<&str> =
            request["args"].as_array().unwrap().iter().filter_map(serde_json::Value::as_str).collect();
        let at = args.iter().position(|arg| *arg == name)?;
        args.get(at + 1).map(|value| (*value).to_owned())
    }

    /// A file of a commit, in the user's repository or in the host's own ones, or `None` if it has none.
    pub fn file(&self, repo: &Path, commit: &str, path: &str) -> Option<String> {
        let own = std::fs::read_dir(self.sandbox.state().join("git")).into_iter().flatten().flatten();
        let own = own.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == "git"));
        let show = |at: PathBuf| git(&at, self.sandbox.environment(), &["show", &format!("{commit}:{path}")]).ok();
        std::iter::once(repo.to_owned()).chain(own).find_map(show)
    }

    /// How often the fake agent began a part.
    pub fn plays(&self, part: &str) -> usize {
        let directory = self.sandbox.path().join("agent.yaml.state").join(part);
        let entries =
            std::fs::read_dir(directory).map(|entries| entries.flatten().collect()).unwrap_or_else(|_| Vec::new());
        entries.iter().filter(|entry| entry.file_name().to_string_lossy().starts_with("attempt-")).count()
    }
}

impl Ended {
    pub fn phase(&self, id: &str) -> &PhaseView {
        self.view.phases.iter().find(|phase| phase.id.as_str() == id).unwrap()
    }

    /// Names of the events, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.events.iter().map(|event| event.event.name()).collect()
    }

    pub fn error(&self) -> String {
        self.view.error.as_ref().map(|error| error.message.clone()).unwrap_or_default()
    }
}

fn state_of(sandbox: &Sandbox) -> StateDir {
    StateDir::open(sandbox.state()).unwrap()
}

const SIGNALS: &str = env!("CARGO_TARGET_TMPDIR");

/// A directory in which agents and a test leave files for each other: their walls open it.
pub fn signals() -> tempfile::TempDir {
    tempfile::tempdir_in(SIGNALS).unwrap()
}

fn config(sandbox: &Sandbox, script: &Path, timeouts: RunTimeouts) -> EngineConfig {
    let helix = helix_binary().unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let command = vec![text(&fake_agent_binary().unwrap()), "--fake-script".into(), text(script)];
    let mut agent = AgentProfile::new("fake", DialectName::Claude, command);
    agent.env = sandbox.environment().clone();
    // Where the scripted agent counts its attempts, for all of its runs.
    let counts = PathBuf::from(format!("{}.state", script.display()));
    std::fs::create_dir_all(&counts).unwrap();
    let walls = helix_agents::Sandbox { writable: vec![counts, SIGNALS.into()], ..Default::default() };
    let (git, wrapper) = (GitEnvironment::from_process(), sandbox.path().join(GIT_WRAPPER));
    let git = if wrapper.exists() { git.with_program(wrapper) } else { git };
    EngineConfig {
        agents: vec![agent],
        default_agent: "fake".into(),
        consultant: ConsultantConfig::new("fake", LIMIT),
        policy: Policy {
            backoff_first_ms: 20,
            backoff_max_ms: 100,
            // A test that waits for persons says so.
            escalation: Escalation { advice_rounds: 3, person: AskPerson::Never },
            ..Policy::default()
        },
        admission: AdmissionLimits { agents: 4, ..AdmissionLimits::default() },
        timeouts,
        sandbox: walls,
        helix,
        ..EngineConfig::new(sandbox.path().join("projects"), git)
    }
}

/// A part of a script for a phase; `acts` is `act: …` or `attempts: …`, indented by four.
pub fn part(phase: &str, acts: &str) -> String {
    format!("  - name: {phase}\n    prompt: {{ matches: '(?i)phase `{phase}`' }}\n{acts}")
}
