//! `kill -9` of the host at random moments: every job ends as if nothing had happened.
//!
//! `HELIX_CRASH_KILLS` is how many kills there are at least; `cargo xtask crash` sets it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::stage::{LIMIT, LOOK_AGAIN, Stage, assert_numbered};
use helix_testkit::agent::overlaps;
use helix_testkit::crash::{CrashPlan, kill_at_random};
use serde_json::Value;

/// Kills in a run of all tests; the full number is 100.
const KILLS: u32 = 12;
/// Kills of one job at most: a job must also get on.
const KILLS_PER_JOB: u32 = 10;

/// Three phases: one that fails its real tests first, then two side by side.
const PLAN: &str = r#"
name: Crash
phases:
  - id: first
    type: development
    description: First
    outputs: [shop/first.py, tests/test_first.py]
    gates: [{ type: syntax_check }, { type: tests_pass, command: "python3 -m unittest" }]
  - id: second
    type: development
    description: Second
    depends_on: [first]
    outputs: [shop/second.py]
    gates: [{ type: command, command: "python3 -c 'import shop.second'" }, { type: tests_pass, command: "python3 -m unittest" }]
  - id: third
    type: documentation
    description: Third
    depends_on: [first]
    outputs: [docs/third.md]
"#;

const SCRIPT: &str = r##"
sessions: known
parts:
  - name: first
    prompt: { matches: '(?i)phase `first`' }
    attempts:
      - steps:
          - sleep: 120
          - write: { path: shop/first.py, content: "def first():\n    return 0\n" }
          - run: sleep 0.1
          - write: { path: tests/test_first.py, content: "import time\nimport unittest\nfrom shop.first import first\n\n\nclass FirstTest(unittest.TestCase):\n    def test_first(self):\n        time.sleep(0.1)\n        self.assertEqual(first(), 1)\n" }
      - steps:
          - sleep: 120
          - edit: { path: shop/first.py, find: "return 0", replace: "return 1" }
  - name: second
    prompt: { matches: '(?i)phase `second`' }
    act:
      steps:
        - text: I begin.
        - sleep: 200
        - write: { path: shop/second.py, content: "SECOND = 2\n" }
      faults: [orphan]
  - name: third
    prompt: { matches: '(?i)phase `third`' }
    act: { steps: [{ sleep: 150 }, { write: { path: docs/third.md, content: "# Third\n" } }] }
"##;

/// What must be the same whether or not anybody was killed.
#[derive(Debug, PartialEq)]
struct Whole {
    status: String,
    tree: String,
    /// Phase, status, number of tries, verdicts of the last try's gates.
    phases: Vec<(String, String, u64, Vec<String>)>,
    /// Names of all events with phase, try and gate, sorted: parallel phases may overtake each other.
    events: Vec<String>,
    /// How often each part was really played.
    plays: [usize; 3],
    work_tree: String,
    /// What is remembered of each failure: how often it was seen, how it ended, and in which attempt it was gone.
    failures: Vec<String>,
}

/// What is remembered of the job's failures, once their end is known: what a host that died has not learned, the next one learns.
fn remembered(stage: &Stage) -> Vec<String> {
    let _host = stage.start();
    let start = Instant::now();
    loop {
        let listed = stage.helix(&["failures", "list", "--json"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
        let known = listed["failures"].as_array().map(Vec::as_slice).unwrap_or_default();
        if !known.is_empty() && known.iter().all(|one| one["end"]["ended"] != "open") {
            let told = known.iter().map(|one| {
                let end = &one["end"];
                format!("{} seen {}, {} {}", one["cause_line"], one["count"], end["ended"], end["link"]["attempt"])
            });
            return told.collect();
        }
        assert!(start.elapsed() < LIMIT, "{listed:#}\n{}", stage.log());
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn whole(stage: &Stage, view: &Value, events: &[Value]) -> Whole {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let phases = view["phases"].as_array().unwrap().iter().map(|phase| {
        let gates = phase["gates"].as_array().unwrap().iter();
        let gates = gates.map(|gate| format!("{} {}", text(&gate["gate"]), text(&gate["verdict"]))).collect();
        (text(&phase["id"]), text(&phase["status"]), phase["attempt"].as_u64().unwrap(), gates)
    });
    let mut names: Vec<String> = events
        .iter()
        .map(|event| {
            format!("{} {} {} {}", text(&event["type"]), text(&event["phase"]), event["attempt"], event["gate"])
        })
        .collect();
    names.sort();
    Whole {
        status: text(&view["status"]),
        tree: stage.git(&stage.repo, &["rev-parse", "HEAD^{tree}"]),
        phases: phases.collect(),
        events: names,
        plays: ["first", "second", "third"].map(|part| stage.plays_of(part)),
        work_tree: stage.git(&stage.repo, &["status", "--porcelain"]),
        failures: remembered(stage),
    }
}

/// Carries the job out with at most so many kills of its host; says how it ended and how many kills there were.
async fn carried_out(seed: u64, kills: u32) -> (Whole, u32) {
    let stage = Stage::new(SCRIPT, "max_agents = 4\n");
    let plan = stage.plan("crash", PLAN);
    let over = AtomicBool::new(false);
    let crash = CrashPlan {
        seed,
        shortest: Duration::from_millis(20),
        longest: Duration::from_millis(900),
        kills,
        deadline: LIMIT,
    };
    let (whole, report) = tokio::task::block_in_place(|| {
        std::thread::scope(|scope| {
            let client = scope.spawn(|| {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                let result = runtime.block_on(async {
                    let job = stage.submit(&plan, &stage.repo, "crash").await;
                    let events = stage.events(&job).await;
                    let view = stage.job(&job).await;
                    (job, events, view)
                });
                over.store(true, Ordering::SeqCst);
                result
            });
            // A client that has failed ends the killing, too.
            let report =
                kill_at_random(&crash, || stage.serve(), || over.load(Ordering::SeqCst) || client.is_finished());
            let report = report.unwrap_or_else(|error| panic!("{error}\n{}", stage.log()));
            let (job, events, view) = client.join().unwrap_or_else(|_| panic!("seed {seed}:\n{}", stage.log()));
            assert_numbered(&events);
            Stage::no_agent_is_left(&job);
            stage.no_gate_is_left();
            assert_eq!(overlaps(&stage.plays()).unwrap(), Vec::<std::path::PathBuf>::new(), "seed {seed}");
            if view["status"] != "succeeded" {
                // The comparison that follows says what differs; this says why.
                println!("seed {seed}: {view:#}\n{}", stage.log());
            }
            (whole(&stage, &view, &events), report)
        })
    });
    if std::env::var_os("HELIX_CRASH_LOG").is_some() {
        println!("seed {seed}: {} kills, lives {:?}\n{}", report.kills, report.lives, stage.log());
    }
    (whole, report.kills)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_at_any_moment_is_as_if_it_had_not_been() {
    let wanted = std::env::var("HELIX_CRASH_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let (undisturbed, _) = carried_out(0, 0).await;
    assert_eq!(undisturbed.status, "succeeded", "{undisturbed:#?}");
    assert_eq!(undisturbed.plays, [2, 1, 1]);
    let first = std::env::var("HELIX_CRASH_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (mut kills, mut jobs) = (0_u32, 0_u32);
    while kills < wanted {
        let seed = first + u64::from(jobs);
        let (whole, killed) = carried_out(seed, KILLS_PER_JOB.min(wanted - kills)).await;
        assert_eq!(whole, undisturbed, "seed {seed}, {killed} kills");
        assert!(killed > 0, "seed {seed}: nobody was killed");
        kills += killed;
        jobs += 1;
    }
    println!("{kills} hosts killed over {jobs} jobs: each ended as if nothing had happened");
}
