//! Measures what keeping a run costs: `cargo run --release -p helix-agents --example run_figures`.
//!
//! Prints medians of a bare spawn and of a kept run of `/bin/true`, and the rate of the line reader beside that of a
//! plain read of the same file, all in one process on the same machine.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a measuring tool: prints figures and stops at once if it cannot"
)]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use helix_agents::supervisor::Watching;
use helix_agents::{Grace, Invocation, RunKind, RunRequest, Supervisor, SupervisorConfig, keeper_main};
use helix_core::ids::RunId;

const ROUNDS: usize = 50;
const LINES: usize = 200_000;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|argument| argument == "keeper") {
        return arguments.next().map_or(ExitCode::from(2), |directory| keeper_main(Path::new(&directory)));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(measure());
    ExitCode::SUCCESS
}

async fn measure() {
    let scratch = std::env::temp_dir().join(format!("helix-run-figures-{}", std::process::id()));
    let supervisor = Supervisor::new(SupervisorConfig {
        runs_dir: scratch.join("runs"),
        keeper: std::env::current_exe().expect("this program's path"),
        keeper_args: vec!["keeper".into()],
        watching: Watching::Inotify,
        sandbox: Default::default(),
    })
    .expect("a supervisor");
    latency(&supervisor).await;
    throughput(&supervisor, &scratch).await;
    std::fs::remove_dir_all(&scratch).expect("the scratch directory can be removed");
}

async fn latency(supervisor: &Supervisor) {
    let (mut bare, mut started, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let began = Instant::now();
        tokio::process::Command::new("/bin/true").status().await.expect("/bin/true");
        bare.push(began.elapsed());
        let began = Instant::now();
        let handle = supervisor.start(request(format!("true-{round}"), "/bin/true", &[])).await.expect("a start");
        started.push(began.elapsed());
        handle.ended().await;
        kept.push(began.elapsed());
    }
    let (bare, started, kept) = (median(bare), median(started), median(kept));
    println!("bare spawn and wait of /bin/true   {bare:>10.2?}");
    println!("kept run: start returns            {started:>10.2?}");
    println!("kept run: ended                    {kept:>10.2?}");
    println!("overhead {:.2?}, ratio {:.1}", kept.saturating_sub(bare), kept.as_secs_f64() / bare.as_secs_f64());
}

async fn throughput(supervisor: &Supervisor, scratch: &Path) {
    let source = scratch.join("lines");
    let line = format!("{{\"type\":\"assistant\",\"text\":\"{}\"}}\n", "x".repeat(220));
    std::fs::write(&source, line.repeat(LINES)).expect("a file of lines");
    let path = source.to_str().expect("a path of text");

    let began = Instant::now();
    let handle = supervisor.start(request("flood".into(), "/bin/cat", &[path])).await.expect("a start");
    let live = read(&mut handle.lines()).await;
    report("live, while it is written", live, began.elapsed());
    handle.ended().await;

    let began = Instant::now();
    let again = read(&mut handle.lines()).await;
    report("from the finished record", again, began.elapsed());

    let began = Instant::now();
    let (mut file, mut buffer, mut bytes) =
        (std::fs::File::open(handle.directory().join("stdout.jsonl")).expect("the record"), vec![0; 256 * 1024], 0);
    while let Ok(read @ 1..) = file.read(&mut buffer) {
        bytes += read;
    }
    report("plain read, no lines", (bytes, LINES), began.elapsed());
}

async fn read(lines: &mut helix_agents::LineReader) -> (usize, usize) {
    let (mut bytes, mut count) = (0, 0);
    while let Some(line) = lines.next().await {
        bytes += line.expect("a line").len() + 1;
        count += 1;
    }
    assert!(count == LINES && lines.end().read_to_end, "{count} lines of {LINES}");
    (bytes, count)
}

fn report(what: &str, (bytes, lines): (usize, usize), took: Duration) {
    let seconds = took.as_secs_f64();
    let (rate, thousands) = (bytes as f64 / 1e6 / seconds, lines as f64 / 1e3 / seconds);
    println!(
        "{what:<28} {lines} lines, {:>6.1} MB in {took:>9.2?}: {rate:>6.0} MB/s, {thousands:>6.0} k lines/s",
        bytes as f64 / 1e6
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn request(name: String, program: &str, args: &[&str]) -> RunRequest {
    RunRequest {
        run: RunId::new(format!("figures-{}-{name}", std::process::id())).expect("a run id"),
        invocation: Invocation {
            program: PathBuf::from(program),
            args: args.iter().map(|argument| (*argument).to_owned()).collect(),
            env: Vec::new(),
            cwd: std::env::temp_dir(),
            stdin: Vec::new(),
        },
        deadline: None,
        grace: Grace::default(),
        kind: RunKind::default(),
        labels: BTreeMap::new(),
        walls: None,
    }
}
