//! Measures what keeping a run costs, and what its walls cost: `cargo run --release -p helix-agents --example run_figures`.
//!
//! Prints one JSON object of medians, in milliseconds, of `/bin/true`: spawned bare, kept without walls, and kept behind walls; in turn,
//! in one process on the same machine. With a number it takes so many rounds.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a measuring tool: prints figures and stops at once if it cannot"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use helix_agents::supervisor::Watching;
use helix_agents::{Grace, Invocation, RunEnd, RunKind, RunRequest, Supervisor, SupervisorConfig, Walls, keeper_main};
use helix_core::ids::RunId;
use serde_json::json;

const ROUNDS: usize = 100;
/// What the home of a developer has of toolchains and caches, so that there are as many rules as there.
const HOME: [&str; 12] = [
    ".cargo/bin",
    ".cargo/registry",
    ".cargo/git",
    ".rustup",
    ".nvm",
    ".npm",
    ".pyenv",
    ".local/bin",
    ".local/lib",
    ".cache/pip",
    ".cache/uv",
    "go/bin",
];

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_ref().is_some_and(|argument| argument == "keeper") {
        return arguments.next().map_or(ExitCode::from(2), |directory| keeper_main(Path::new(&directory), None));
    }
    let rounds = first.and_then(|number| number.to_str()?.parse().ok()).unwrap_or(ROUNDS);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(measure(rounds));
    ExitCode::SUCCESS
}

async fn measure(rounds: usize) {
    // Not below `/tmp`, which a run does not see: what is opened of it is mounted piece by piece, and nobody's home is there.
    let program = std::env::current_exe().expect("this program's path");
    let scratch = program.with_file_name(format!("helix-run-figures-{}", std::process::id()));
    let (home, work) = (scratch.join("home"), scratch.join("work"));
    for directory in HOME.map(|path| home.join(path)).iter().chain([&work]) {
        std::fs::create_dir_all(directory).expect("a directory");
    }
    let supervisor = Supervisor::new(SupervisorConfig {
        // What is below the state directory is mounted piece by piece as well.
        runs_dir: scratch.join("state/runs"),
        keeper: program,
        keeper_args: vec!["keeper".into()],
        watching: Watching::Inotify,
        sandbox: Default::default(),
        seal: helix_agents::RunSeal::new([1; 32]),
    })
    .expect("a supervisor");
    let walls = Walls { writable: vec![work.clone()], ..Walls::default() };
    let (mut bare, mut kept, mut walled) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    for round in 0..rounds {
        let began = Instant::now();
        tokio::process::Command::new("/bin/true").status().await.expect("/bin/true");
        bare.push(began.elapsed());
        let request = request(format!("{round}-free"), &home, &work, None);
        kept.push(timed(&supervisor, request).await.0);
        let request = self::request(format!("{round}-walled"), &home, &work, Some(walls.clone()));
        let (took, end) = timed(&supervisor, request).await;
        walled.push(took);
        last = end.walls;
    }
    std::fs::remove_dir_all(&scratch).expect("the scratch directory can be removed");
    let held = last.expect("what held is recorded");
    let of = |mut times: Vec<Duration>| {
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    println!(
        "{}",
        json!({ "bare_ms": of(bare), "kept_ms": of(kept), "walled_ms": of(walled), "rounds": rounds, "held": format!("{:?} (Landlock {})", held.held, held.landlock) })
    );
}

/// From before the start until the end is known.
async fn timed(supervisor: &Supervisor, request: RunRequest) -> (Duration, RunEnd) {
    let began = Instant::now();
    let end = supervisor.start(request).await.expect("a start").ended().await;
    (began.elapsed(), end)
}

fn request(name: String, home: &Path, work: &Path, walls: Option<Walls>) -> RunRequest {
    let env = [("PATH", std::env::var("PATH").unwrap_or_default()), ("HOME", home.display().to_string())];
    RunRequest {
        run: RunId::new(format!("figures-{}-{name}", std::process::id())).expect("a run id"),
        invocation: Invocation {
            program: PathBuf::from("/bin/true"),
            args: Vec::new(),
            env: env.map(|(name, value)| (name.to_owned(), value)).into(),
            cwd: work.to_owned(),
            stdin: Vec::new(),
        },
        deadline: None,
        grace: Grace::default(),
        kind: RunKind::default(),
        labels: BTreeMap::new(),
        walls,
    }
}
