//! Jobs of five phases, queued at once on one host: all of them end well, a phase costs no more than twice what it costs in a job
//! alone, and the host stays small. `HELIX_QUEUE_JOBS` says how many.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use crate::stage::Stage;
use helix_testkit::project::git;

/// In a run of all tests; the host's memory was measured with 200.
const JOBS: usize = 70;
const PHASES: usize = 5;
/// The most memory that the host may ever have had resident, in KiB.
const MEMORY: u64 = 150 * 1024;

fn script() -> String {
    let mut script = String::from("parts:\n");
    for phase in 0..PHASES {
        let act = format!("{{ steps: [{{ write: {{ path: p{phase}.md, content: x }} }}] }}");
        writeln!(script, "  - name: p{phase}\n    prompt: {{ matches: '(?i)phase `p{phase}`' }}\n    act: {act}")
            .unwrap();
    }
    script
}

fn plan() -> String {
    let mut plan = String::from("name: queue\nphases:\n");
    for phase in 0..PHASES {
        let needs = phase.checked_sub(1).map(|before| format!(", depends_on: [p{before}]")).unwrap_or_default();
        writeln!(plan, "  - {{ id: p{phase}, type: documentation, description: D, outputs: [p{phase}.md]{needs} }}")
            .unwrap();
    }
    plan
}

fn repository(stage: &Stage, number: usize) -> PathBuf {
    let directory = stage.sandbox.path().join(format!("r{number}"));
    std::fs::create_dir(&directory).unwrap();
    for arguments in [&["init", "-q", "-b", "main"][..], &["commit", "-q", "--allow-empty", "-m", "first"]] {
        git(&directory, stage.sandbox.environment(), arguments).unwrap();
    }
    directory
}

/// The most memory that a process ever had resident, in KiB.
fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_jobs_at_once_end_well_in_little_memory() {
    let many = std::env::var("HELIX_QUEUE_JOBS").map_or(JOBS, |many| many.parse().unwrap());
    let stage = Stage::new(&script(), "max_agents = 4\n");
    let plan = stage.plan("queue", &plan());
    let repositories: Vec<PathBuf> = (0..=many).map(|number| repository(&stage, number)).collect();
    let host = stage.start();

    let start = Instant::now();
    let alone = stage.submit(&plan, &repositories[0], "alone").await;
    assert_eq!(stage.answer_all(&alone, |_| unreachable!("nobody is asked")).await["status"], "succeeded");
    let alone = start.elapsed();

    let start = Instant::now();
    let mut jobs = Vec::with_capacity(many);
    for (number, repository) in repositories.iter().enumerate().skip(1) {
        jobs.push(stage.submit(&plan, repository, &format!("queued-{number}")).await);
    }
    for job in &jobs {
        let view = stage.answer_all(job, |_| unreachable!("nobody is asked")).await;
        assert_eq!(view["status"], "succeeded", "{view:#}");
    }
    let together = start.elapsed() / u32::try_from(many).unwrap();
    let memory = peak_memory(host.0.id());
    println!("a job alone: {alone:?}; one of {many}: {together:?}; the host's peak: {} MiB", memory / 1024);
    assert!(together <= alone * 2, "a job alone takes {alone:?}, one of {many} takes {together:?}");
    assert!(memory < MEMORY, "{memory} KiB");
    for job in &jobs {
        Stage::no_agent_is_left(job);
    }

    // Long lists come in pages, newest first, each job once.
    let (mut listed, mut after) = (Vec::new(), String::new());
    loop {
        let page = stage.ask(|http, url| http.get(format!("{url}/api/v1/jobs?limit=64{after}"))).await;
        let page: serde_json::Value = page.json().await.unwrap();
        let ids = page["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().to_owned());
        listed.extend(ids);
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!((listed.len(), listed.is_sorted_by(|one, next| one > next)), (many + 1, true));
}
