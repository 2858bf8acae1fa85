//! The host dies at every append to the journal and around every effect of a job that has all there is: a failing test, phases
//! side by side, a verifier, a person's approval, phases that are added, and a conflict. It ends as if nothing had happened.
//!
//! In CI at some of these places; `cargo xtask crash` sets `HELIX_CRASH_STRIDE=1` and takes all.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test says where it fails by panicking")]

mod stage;

use std::process::Child;
use std::time::{Duration, Instant};

use helix_testkit::agent::overlaps;
use serde_json::{Value, json};
use stage::{LIMIT, LOOK_AGAIN, Process, Stage, assert_numbered};

/// Every so many places in a run of all tests.
const STRIDE: u64 = 17;

const PLAN: &str = r#"
name: Every place
phases:
  - id: first
    type: planning
    description: First
    outputs: [shop/first.py, tests/test_first.py]
    gates: [{ type: syntax_check }, { type: tests_pass, command: "python3 -m unittest" }]
    generates_phases: { min: 1, max: 2, template: documentation }
  - id: second
    type: development
    description: Second
    depends_on: [first]
    outputs: [shop/second.py]
    gates: [{ type: command, command: "python3 -c 'import shop.second'" }]
    verify: { timeout: 1m }
  - id: third
    type: documentation
    description: Third
    depends_on: [first]
    outputs: [docs/third.md]
    gates: [{ type: files_exist }]
    approval: after
"#;

const SCRIPT: &str = r##"
sessions: known
parts:
  - name: first
    prompt: { matches: '(?i)phase `first`' }
    attempts:
      - steps:
          - write: { path: shop/first.py, content: "def first():\n    return 0\n" }
          - write: { path: tests/test_first.py, content: "import unittest\nfrom shop.first import first\n\n\nclass FirstTest(unittest.TestCase):\n    def test_first(self):\n        self.assertEqual(first(), 1)\n" }
        structured: { phases: [{ id: added, description: "Added.", outputs: [docs/added.md] }] }
      - steps: [{ edit: { path: shop/first.py, find: "return 0", replace: "return 1" } }]
        structured: { phases: [{ id: added, description: "Added.", outputs: [docs/added.md] }] }
  - name: second
    prompt: { matches: '(?i)phase `second`' }
    act: { steps: [{ write: { path: shop/second.py, content: "SECOND = 2\n" } }, { write: { path: NOTES.md, content: "second\n" } }] }
  - name: third
    prompt: { matches: '(?i)phase `third`' }
    act: { steps: [{ write: { path: docs/third.md, content: "# Third\n" } }, { write: { path: NOTES.md, content: "third\n" } }] }
  - name: added
    prompt: { matches: '(?i)phase `added`' }
    act: { steps: [{ write: { path: docs/added.md, content: "# Added\n" } }] }
  - name: together
    prompt: { matches: '(?i)phase `integrate-1`' }
    act: { steps: [{ write: { path: NOTES.md, content: "second and third\n" } }] }
  - name: judge
    prompt: { matches: 'independent reviewer' }
    act: { structured: { verdict: approved, summary: "Fine.", findings: [] } }
"##;

const PARTS: [&str; 6] = ["first", "second", "third", "added", "together", "judge"];

/// What must be the same whether or not the host died.
#[derive(Debug, PartialEq)]
struct Whole {
    status: String,
    tree: String,
    /// Phase, status, tries, verdicts.
    phases: Vec<(String, String, u64, String)>,
    /// Names of all events with phase and try, sorted: parallel phases may overtake each other.
    events: Vec<String>,
    plays: Vec<usize>,
    work_tree: String,
}

fn whole(stage: &Stage, view: &Value, events: &[Value]) -> Whole {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut phases: Vec<_> = view["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| {
            let gates: Vec<String> =
                phase["gates"].as_array().unwrap().iter().map(|gate| text(&gate["verdict"])).collect();
            let verdicts = format!("{} {}", gates.join(" "), text(&phase["verdict"]));
            (text(&phase["id"]), text(&phase["status"]), phase["attempt"].as_u64().unwrap(), verdicts)
        })
        .collect();
    phases.sort();
    let mut names: Vec<String> = events
        .iter()
        .map(|event| format!("{} {} {}", text(&event["type"]), text(&event["phase"]), event["attempt"]))
        .collect();
    names.sort();
    Whole {
        status: text(&view["status"]),
        tree: stage.git(&stage.repo, &["rev-parse", "HEAD^{tree}"]),
        phases,
        events: names,
        plays: PARTS.map(|part| stage.plays_of(part)).to_vec(),
        work_tree: stage.git(&stage.repo, &["status", "--porcelain"]),
    }
}

/// A host that is told to die at a place, and one after it that is not.
struct Hosts<'a> {
    stage: &'a Stage,
    living: Option<Process>,
    died: bool,
}

impl Hosts<'_> {
    fn dies_at(stage: &Stage, place: u64) -> Hosts<'_> {
        let mut command = stage.serve();
        command.env("HELIX_CRASH_AT", place.to_string());
        Hosts { stage, living: Some(Process(command.spawn().unwrap())), died: false }
    }

    /// Starts another one when the first has died.
    fn see_to_it(&mut self) {
        let ended = |child: &mut Child| child.try_wait().unwrap().is_some();
        if !self.died && self.living.as_mut().is_some_and(|process| ended(&mut process.0)) {
            self.died = true;
            self.living = Some(self.stage.start());
        }
    }
}

/// Carries the job out with a host that dies at this place; says how it ended and whether it died at all.
async fn carried_out(place: u64) -> (Whole, bool) {
    let stage = Stage::new(SCRIPT, "max_agents = 4\n");
    let plan = stage.plan("every-place", PLAN);
    let mut hosts = Hosts::dies_at(&stage, place);
    let work = async {
        let job = stage.submit(&plan, &stage.repo, "every-place").await;
        let view = stage.answer_all(&job, |_| json!({ "choice": "approve", "by": "a test" })).await;
        let events = stage.events(&job).await;
        (job, view, events)
    };
    tokio::pin!(work);
    let start = Instant::now();
    let (job, view, events) = loop {
        tokio::select! {
            done = &mut work => break done,
            () = tokio::time::sleep(LOOK_AGAIN) => hosts.see_to_it(),
        }
        assert!(start.elapsed() < LIMIT, "place {place}:\n{}", stage.log());
    };
    assert_numbered(&events);
    Stage::no_agent_is_left(&job);
    stage.no_gate_is_left();
    assert_eq!(
        overlaps(&stage.plays()).unwrap(),
        Vec::<std::path::PathBuf>::new(),
        "place {place}: one attempt ran twice"
    );
    if view["status"] != "succeeded" {
        println!("place {place}: {view:#}\n{}", stage.log());
    }
    (whole(&stage, &view, &events), hosts.died)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_dies_at_any_append_or_effect_is_as_if_it_had_not_died() {
    let stride = std::env::var("HELIX_CRASH_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(STRIDE);
    let (undisturbed, _) = carried_out(u64::MAX).await;
    assert_eq!(undisturbed.status, "succeeded", "{undisturbed:#?}");
    assert_eq!(undisturbed.plays, [2, 1, 1, 1, 1, 1], "{undisturbed:#?}");
    let (mut place, mut deaths, start) = (1_u64, 0_u32, Instant::now());
    loop {
        let (whole, died) = carried_out(place).await;
        assert_eq!(whole, undisturbed, "place {place}");
        if !died {
            break;
        }
        deaths += 1;
        place += stride;
    }
    assert!(deaths > 2, "the job has more places than that");
    let spent = Duration::as_secs(&start.elapsed());
    println!("{deaths} deaths at places 1 to {place} of a job, each as if nothing had happened ({spent} s)");
}
