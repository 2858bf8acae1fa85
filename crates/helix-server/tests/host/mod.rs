//! A real server on loopback over a real engine in a state directory of its own.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::time::Duration;

use helix_core::job::Policy;
use helix_engine::{AgentProfile, DialectName};
use helix_engine::{ConsultantConfig, Engine, EngineConfig, StateDir};
use helix_server::ServerConfig;
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
    /// Removed last.
    _state: tempfile::TempDir,
}

impl Host {
    /// A host without agents: everything but turns and jobs works.
    pub(crate) async fn start() -> Self {
        let config = ServerConfig { models: vec!["opus".into()], ..ServerConfig::default() };
        Self::start_with(config).await
    }

    pub(crate) async fn start_with(config: ServerConfig) -> Self {
        let (state, engine) = bare_engine().await;
        Self::serve(state, engine, config).await
    }

    /// A host whose Consultant is the fake agent, which does what the messages order.
    pub(crate) async fn with_agent(config: ServerConfig) -> Self {
        let state = tempfile::tempdir().unwrap();
        let directory = StateDir::open(state.path().join("state")).unwrap();
        let mut agent = AgentProfile::new("fake", DialectName::Claude, vec![example("server_test_agent")]);
        agent.home = Some(state.path().join("home"));
        std::fs::create_dir(state.path().join("home")).unwrap();
        let mut settings = engine_config(state.path());
        settings.keeper = vec![example("server_test_keeper")];
        settings.consultant.agent = "fake".into();
        settings.default_agent = "fake".into();
        settings.agents = vec![agent];
        let engine = Engine::open(directory, settings).await.unwrap();
        Self::serve(state, engine, config).await
    }

    async fn serve(state: tempfile::TempDir, engine: Engine, config: ServerConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
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
        Self { url, http, shutdown: Some(shutdown), server, engine, _state: state }
    }

    pub(crate) fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.get(format!("{}{path}", self.url)).bearer_auth(TOKEN)
    }

    pub(crate) fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.post(format!("{}{path}", self.url)).bearer_auth(TOKEN)
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
pub(crate) async fn bare_engine() -> (tempfile::TempDir, Engine) {
    let state = tempfile::tempdir().unwrap();
    let directory = StateDir::open(state.path().join("state")).unwrap();
    let engine = Engine::open(directory, engine_config(state.path())).await.unwrap();
    (state, engine)
}

fn engine_config(root: &std::path::Path) -> EngineConfig {
    EngineConfig {
        keeper: vec!["/nonexistent/keeper".into()],
        agents: Vec::new(),
        default_agent: "none".into(),
        roots: Vec::new(),
        projects: root.join("projects"),
        consultant: ConsultantConfig {
            agent: "none".into(),
            model: None,
            turn_timeout: Duration::from_secs(30),
            prompt: None,
        },
        policy: Policy::default(),
        max_agents: 2,
        patience: Default::default(),
        helix: "/nonexistent/helix".into(),
    }
}
