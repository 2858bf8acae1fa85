//! A real server on loopback over a real engine in a state directory of its own.

use std::time::Duration;

use helix_engine::admission::AdmissionLimits;
use helix_engine::consultant::Enforcement;
use helix_engine::{AgentProfile, DialectName};
use helix_engine::{ConsultantConfig, Engine, EngineConfig, StateDir};
use helix_server::ServerConfig;
use helix_testkit::scratch::Scratch;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) const TOKEN: &str = "test-token";

pub(crate) struct Host {
    pub(crate) url: String,
    pub(crate) http: reqwest::Client,
    shutdown: Option<oneshot::Sender<()>>,
    server: JoinHandle<Result<(), helix_server::ServeError>>,
    engine: Engine,
    state: Scratch,
}

impl Host {
    /// A host without agents: everything but turns and jobs works.
    pub(crate) async fn start() -> Self {
        let config = ServerConfig { models: vec!["opus".into()], ..ServerConfig::default() };
        Self::start_with(config).await
    }

    pub(crate) async fn start_with(config: ServerConfig) -> Self {
        let (state, engine) = bare_engine().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::serve(state, engine, listener, config).await
    }

    /// A host whose Consultant is the fake agent, which does what the messages order.
    pub(crate) async fn with_agent(config: ServerConfig) -> Self {
        let state = Scratch::new().unwrap();
        std::fs::create_dir(state.path().join("home")).unwrap();
        Self::adjusted(state, config, |_| {}).await
    }

    /// The same, after a word to the engine's settings.
    pub(crate) async fn with_engine(config: ServerConfig, adjust: impl FnOnce(&mut EngineConfig)) -> Self {
        let state = Scratch::new().unwrap();
        std::fs::create_dir(state.path().join("home")).unwrap();
        Self::adjusted(state, config, adjust).await
    }

    async fn adjusted(state: Scratch, config: ServerConfig, adjust: impl FnOnce(&mut EngineConfig)) -> Self {
        let directory = StateDir::open(state.path().join("state")).unwrap();
        let mut agent = AgentProfile::new("fake", DialectName::Claude, vec![example("server_test_agent")]);
        agent.home = Some(state.path().join("home"));
        let mut settings = engine_config(state.path());
        settings.helix = example("server_test_keeper").into();
        settings.consultant.agent = "fake".into();
        settings.default_agent = "fake".into();
        settings.agents = vec![agent];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        settings.tools = Some(helix_server::tools_url(listener.local_addr().unwrap()));
        adjust(&mut settings);
        let engine = Engine::open(directory, settings).await.unwrap();
        Self::serve(state, engine, listener, config).await
    }

    async fn serve(state: Scratch, engine: Engine, listener: TcpListener, config: ServerConfig) -> Self {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (shutdown, stopped) = oneshot::channel();
        let config = ServerConfig { token: Some(TOKEN.into()), ..config };
        let served = engine.clone();
        let server = tokio::spawn(async move {
            helix_server::serve(listener, served, config, async move {
                stopped.await.ok();
            })
            .await
        });
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap();
        Self { url, http, shutdown: Some(shutdown), server, engine, state }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.get(format!("{}{path}", self.url)).bearer_auth(TOKEN)
    }

    pub(crate) fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.post(format!("{}{path}", self.url)).bearer_auth(TOKEN)
    }

    /// What the agent of a run was started with, and what it read.
    pub(crate) fn asked(&self, run: &str) -> (Vec<String>, String) {
        let directory = self.state.path().join("state/runs").join(run);
        let request = std::fs::read_to_string(directory.join("request.json")).unwrap();
        let request: serde_json::Value = serde_json::from_str(&request).unwrap();
        let args = request["args"].as_array().unwrap();
        let args = args.iter().map(|arg| arg.as_str().unwrap().to_owned()).collect();
        (args, std::fs::read_to_string(directory.join("stdin")).unwrap())
    }

    /// Another host on the same state, after this one has ended; what runs goes on meanwhile.
    pub(crate) async fn restart(self, config: ServerConfig) -> Self {
        self.restart_with(config, |_| {}).await
    }

    pub(crate) fn state_directory(&self) -> std::path::PathBuf {
        self.state.path().join("state")
    }

    /// The same, after a word to the engine's settings.
    pub(crate) async fn restart_with(mut self, config: ServerConfig, adjust: impl FnOnce(&mut EngineConfig)) -> Self {
        self.shutdown.take().unwrap().send(()).unwrap();
        self.server.await.unwrap().unwrap();
        self.engine.close().await;
        drop(self.engine);
        Self::adjusted(self.state, config, adjust).await
    }

    /// Where its state is.
    pub(crate) fn state(&self) -> std::path::PathBuf {
        self.state.path().join("state")
    }

    /// Ends the engine alone.
    pub(crate) async fn close_engine(&self) {
        self.engine.close().await;
    }

    /// Ends the server and the engine, which must both end in order.
    pub(crate) async fn stop(mut self) {
        self.shutdown.take().unwrap().send(()).unwrap();
        self.server.await.unwrap().unwrap();
        self.engine.close().await;
    }
}

/// An executable that `cargo test` builds beside the tests.
fn example(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(std::path::Path::parent).unwrap().join("examples").join(name);
    assert!(
        path.exists(),
        "{} is missing: `cargo test` builds it unless told to build some tests only",
        path.display()
    );
    path.to_str().unwrap().to_owned()
}

/// An engine without agents, and the directory that must outlive it.
pub(crate) async fn bare_engine() -> (Scratch, Engine) {
    let state = Scratch::new().unwrap();
    let directory = StateDir::open(state.path().join("state")).unwrap();
    let engine = Engine::open(directory, engine_config(state.path())).await.unwrap();
    (state, engine)
}

const SIGNALS: &str = env!("CARGO_TARGET_TMPDIR");

/// A directory in which agents and a test leave files for each other: their walls open it.
pub(crate) fn signals() -> tempfile::TempDir {
    tempfile::tempdir_in(SIGNALS).unwrap()
}

fn engine_config(root: &std::path::Path) -> EngineConfig {
    let mut config = EngineConfig {
        consultant: ConsultantConfig {
            // The agents of these tests say what they are told, without markers.
            enforcement: Enforcement { validators: Vec::new(), own: Vec::new(), retries: 0 },
            // A busy machine is slow to finish a job.
            follow_jobs: Duration::from_secs(600),
            ..ConsultantConfig::new("none", Duration::from_secs(30))
        },
        admission: AdmissionLimits { agents: 2, ..AdmissionLimits::default() },
        ..EngineConfig::new(root.join("projects"), helix_git::GitEnvironment::from_process())
    };
    config.sandbox.writable.push(SIGNALS.into());
    config
}
