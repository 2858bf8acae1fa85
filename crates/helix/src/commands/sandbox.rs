//! `helix doctor --sandbox`: tries from inside what the walls are to keep a run from, with real processes under the real keeper.
//!
//! Must not change anything but what it makes in a temporary directory.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command};

use helix_agents::supervisor::Watching;
use helix_agents::{
    Grace, Invocation, Limits, Network, RunKind, RunRequest, RunSeal, Sandbox, Supervisor, SupervisorConfig, Walls,
};
use helix_core::error_chain;
use helix_core::ids::RunId;
use helix_core::run::{Ending, SandboxMode, Wall, WallsHeld};
use helix_job::phrases;
use helix_language::{Language, say};
use helix_store::kept_key;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::terminal::Meaning;

/// Longest time of one try.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(30);
/// Processes that the try of the limit starts.
const FORKS: u64 = 200;

/// Something that a run's processes must not be able to do.
struct Attack {
    wall: Wall,
    what: String,
    /// For `sh`: exits with 0 where it succeeds.
    script: String,
    change: fn(&mut Walls),
}

/// What came of it.
#[derive(Debug, Serialize)]
struct Tried {
    wall: Wall,
    what: String,
    withstood: bool,
    /// Whether the configuration demands that this holds.
    demanded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// A process that ends with this one's interest in it.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        if let Err(error) = self.0.kill().and_then(|()| self.0.wait()) {
            tracing::warn!(%error, "a process of the probe may be left");
        }
    }
}

pub(crate) fn run(context: &Context) -> Ended {
    let sandbox = context.settings()?.sandbox(&context.environment);
    if sandbox.mode == SandboxMode::Off {
        let said = say!(context.terminal.language, "sandbox-off");
        context.terminal.answer(&json!({ "mode": sandbox.mode, "walls": [] }), &said)?;
        return Ok(Exit::Success);
    }
    let mode = sandbox.mode;
    let (tried, held) = context.block_on(probe(context, sandbox))?;
    let mut lines: Vec<String> = tried.iter().map(|one| line(context, one)).collect();
    let language = context.terminal.language;
    lines.push(say!(language, "sandbox-held", walls = phrases::walls(language, &held)));
    let broken = tried.iter().any(|one| one.demanded && !one.withstood);
    context
        .terminal
        .answer(&json!({ "ok": !broken, "mode": mode, "held": held, "walls": tried }), &lines.join("\n"))?;
    Ok(if broken { Exit::Environment } else { Exit::Success })
}

fn line(context: &Context, Tried { wall, what, withstood, demanded, why }: &Tried) -> String {
    let sign = match (withstood, demanded) {
        (true, _) => context.terminal.paint(Meaning::Good, "✓"),
        (false, true) => context.terminal.paint(Meaning::Bad, "✗"),
        (false, false) => context.terminal.paint(Meaning::Attention, "·"),
    };
    let language = context.terminal.language;
    let why = why.as_ref().map(|why| format!("\n  {}", phrases::hint(language, why))).unwrap_or_default();
    let wall = say!(language, "wall", wall = wall.to_string());
    let end = if *withstood { say!(language, "sandbox-refused") } else { say!(language, "sandbox-possible") };
    format!("{sign} {wall}: {what}: {end}{why}")
}

async fn probe(context: &Context, sandbox: Sandbox) -> Result<(Vec<Tried>, WallsHeld), CommandError> {
    let failed = |error: &dyn std::fmt::Display| {
        CommandError::environment(codes::ENGINE, format!("the sandbox cannot be tried: {error}"))
    };
    // Not below `/tmp`, which a run does not see anyway.
    let home = context.environment.home().unwrap_or_else(|| context.environment.directory.clone());
    let place = tempfile::Builder::new().prefix(".helix-sandbox-").tempdir_in(home);
    let place = place.map_err(|error| failed(&error))?;
    let root = place.path().canonicalize().map_err(|error| failed(&error))?;
    for directory in ["state", "work", "home/.ssh", "outside"] {
        std::fs::create_dir_all(root.join(directory)).map_err(|error| failed(&error))?;
    }
    for file in ["home/.ssh/id", "state/token"] {
        std::fs::write(root.join(file), "secret").map_err(|error| failed(&error))?;
    }
    let shared = tempfile::NamedTempFile::new_in("/tmp").map_err(|error| failed(&error))?;
    let other = Command::new("sleep").arg("600").spawn().map_err(|error| failed(&error))?;
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| failed(&error))?;
    let port = listener.local_addr().map_err(|error| failed(&error))?.port();
    let other = Other(other);
    let config = SupervisorConfig {
        runs_dir: root.join("state/runs"),
        keeper: context.environment.program.clone(),
        keeper_args: vec!["keeper".into()],
        watching: Watching::default(),
        sandbox,
        seal: RunSeal::new(kept_key(&root.join("state/run.key")).map_err(|error| failed(&error.to_string()))?),
    };
    let demands = config.sandbox.mode == SandboxMode::Required;
    let supervisor = Supervisor::new(config).map_err(|error| failed(&error_chain(&error)))?;
    let (mut tried, mut seen) = (Vec::new(), WallsHeld::default());
    for (number, attack) in
        attacks(context.terminal.language, &root, shared.path(), other.0.id(), port).into_iter().enumerate()
    {
        let mut walls = Walls { writable: vec![root.join("work")], ..Walls::default() };
        (attack.change)(&mut walls);
        let request = request(&root, number, &attack.script, walls).map_err(|error| failed(&error))?;
        let handle = supervisor.start(request).await.map_err(|error| failed(&error_chain(&error)))?;
        let end = handle.ended().await;
        let held = end.walls.clone().unwrap_or_default();
        let missing = held.missing.iter().find(|one| one.wall == attack.wall);
        let why = missing.map(|missing| context.terminal.language.words(&missing.why));
        let withstood = end.ending != Ending::Exited { code: 0 };
        let demanded = demands && !matches!(attack.wall, Wall::Sockets | Wall::Limits | Wall::Key);
        tried.push(Tried { wall: attack.wall, what: attack.what, withstood, demanded, why });
        seen.landlock = seen.landlock.max(held.landlock);
        for wall in held.held {
            if !seen.held.contains(&wall) {
                seen.held.push(wall);
            }
        }
        for missing in held.missing {
            if !seen.missing.contains(&missing) {
                seen.missing.push(missing);
            }
        }
    }
    Ok((tried, seen))
}

fn request(root: &Path, number: usize, script: &str, walls: Walls) -> Result<RunRequest, helix_core::ids::InvalidId> {
    let path = std::env::var("PATH").unwrap_or_default();
    Ok(RunRequest {
        run: RunId::new(format!("sandbox-{}-{number}", std::process::id()))?,
        invocation: Invocation {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.to_owned()],
            env: vec![("PATH".into(), path), ("HOME".into(), root.join("home").display().to_string())],
            cwd: root.join("work"),
            stdin: Vec::new(),
        },
        deadline: Some(LIMIT),
        grace: Grace::each(std::time::Duration::from_millis(500)),
        kind: RunKind::Check,
        labels: Default::default(),
        walls: Some(walls),
    })
}

fn attacks(language: Language, root: &Path, shared: &Path, other: u32, port: u16) -> Vec<Attack> {
    let attack = |wall, what, script: String| Attack { wall, what, script, change: |_| {} };
    let root = root.display();
    vec![
        attack(Wall::Files, say!(language, "sandbox-key"), format!("cat {root}/home/.ssh/id")),
        attack(Wall::Files, say!(language, "sandbox-state"), format!("cat {root}/state/token")),
        attack(Wall::Files, say!(language, "sandbox-record"), "cat $HELIX_RUN_DIR/request.json".into()),
        attack(Wall::Files, say!(language, "sandbox-write"), format!("echo x > {root}/outside/new")),
        attack(Wall::Signals, say!(language, "sandbox-signal"), format!("kill -0 {other}")),
        attack(Wall::Signals, say!(language, "sandbox-keeper"), "kill -0 $PPID".into()),
        attack(Wall::Signals, say!(language, "sandbox-environment"), format!("cat /proc/{other}/environ")),
        attack(Wall::Sockets, say!(language, "sandbox-tmp"), format!("test -e {}", shared.display())),
        Attack {
            wall: Wall::Network,
            what: say!(language, "sandbox-network"),
            script: format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"),
            change: |walls| walls.network = Network::Closed,
        },
        Attack {
            wall: Wall::Limits,
            what: say!(language, "sandbox-processes"),
            script: format!("i=0; while [ $i -lt {FORKS} ]; do sleep 20 & i=$((i+1)); done; exit 0"),
            change: |walls| walls.limits = Some(Limits { processes: FORKS / 4, ..Limits::default() }),
        },
    ]
}
