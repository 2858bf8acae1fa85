//! Every fault that an agent can have, at its first try only and at every try, as jobs of one host: none of them may end in a
//! "done" that is not true, none may leave a process behind, and each that fails must say why. [T1-T6, 1, 2, 13]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test says where it fails by panicking")]

mod stage;

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use stage::{Stage, assert_numbered};
use tokio::task::JoinSet;

/// What becomes of a job whose agent has the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The work is there and proven.
    Done,
    /// It failed, and says this.
    Failed(&'static str),
}
use End::{Done, Failed};

/// Faults with their details, and what follows if the fault comes once or every time.
const FAULTS: &[(&str, End, End)] = &[
    // What is only slow, loud or untidy does no harm.
    ("{ kind: slow-start, seconds: 0.5 }", Done, Done),
    ("{ kind: silence, seconds: 0.5 }", Done, Done),
    ("deaf", Done, Done),
    ("orphan", Done, Done),
    ("{ kind: flood, lines: 5000 }", Done, Done),
    ("{ kind: huge-line, bytes: 10000000 }", Done, Done),
    ("denial", Done, Done),
    ("late-result", Done, Done),
    // What ends without proof is tried again, and never taken for done.
    ("hang", Done, Failed("nothing happened for too long")),
    ("deaf, hang", Done, Failed("nothing happened for too long")),
    ("orphan, hang", Done, Failed("nothing happened for too long")),
    ("result-then-hang", Done, Failed("did not complete")),
    ("deaf, result-then-hang", Done, Failed("did not complete")),
    ("sigkill", Done, Failed("cut off")),
    ("orphan, sigkill", Done, Failed("cut off")),
    ("crash", Done, Failed("cut off")),
    ("no-result", Done, Failed("no terminal record")),
    ("half-line", Done, Failed("not whole")),
    ("empty-exit", Done, Failed("no terminal record")),
    ("{ kind: empty-exit, exit: 3 }", Failed("exited with status 3"), Failed("exited with status 3")),
    ("garbage", Done, Failed("not records")),
    ("invalid-utf8", Done, Failed("not records")),
    ("null-stop-reason", Done, Failed("stop reason")),
    ("no-usage", Done, Failed("usage")),
    ("empty-answer", Done, Failed("empty")),
    ("success-exit", Done, Failed("exit status 1")),
    ("tasks-lost", Done, Failed("background task")),
    ("wrong-session", Done, Done),
    ("unknown-session", Done, Failed("cannot work as configured")),
    // A claim without work is found by the gates.
    ("lying-done", Done, Failed("files_exist")),
    // What writes after its result is found by the record, or what it wrote is in the commit that was checked.
    ("{ kind: write-after-result, seconds: 0.1 }", Done, Done),
    // The provider's trouble is waited out.
    ("{ kind: rate-limited, resets_in: 1 }", Done, Failed("limit")),
    ("rate-limited", Done, Failed("limit")),
    ("overloaded", Done, Failed("529")),
    ("context-overflow", Done, Failed("context")),
    ("max-turns", Done, Failed("limit")),
    ("max-budget", Done, Failed("limit")),
    // What trying again cannot mend is not tried again.
    ("{ kind: stderr-only, text: 'error: unknown option' }", Failed("unknown option"), Failed("unknown option")),
    ("credentials", Failed("credentials"), Failed("credentials")),
    ("refusal", Failed("refused"), Failed("refused")),
];

const CODE: &str = "def double(number):\n    return 2 * number\n";
const TEST: &str = "import unittest\nfrom shop.double import double\n\n\nclass DoubleTest(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(4), 8)\n";

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The phase's own agent's.
    Agent,
    /// Its verifier's.
    Verifier,
}

/// Faults that a verifier cannot have or that say nothing about its verdict: it claims no work, its answer is the structured
/// one, and a verdict that was given whole counts although more was tried.
const NOT_A_VERIFIERS: &[&str] =
    &["lying-done", "{ kind: write-after-result, seconds: 0.1 }", "empty-answer", "max-turns", "max-budget"];

struct Case {
    place: Place,
    name: String,
    fault: &'static str,
    expected: End,
    part: String,
}

fn cases() -> Vec<Case> {
    let work = format!(
        "steps: [{{ write: {{ path: shop/double.py, content: {CODE:?} }} }}, {{ write: {{ path: tests/test_double.py, content: {TEST:?} }} }}]"
    );
    let mut cases = Vec::new();
    for (index, (fault, once, always)) in FAULTS.iter().enumerate() {
        for (mode, expected) in [("once", *once), ("always", *always)] {
            let name = format!("f{index}-{mode}");
            let faulty = format!("{{ {work}, faults: [{fault}] }}");
            let acts = match mode {
                "once" => format!("attempts: [{faulty}, {{ {work} }}]"),
                _ => format!("act: {faulty}"),
            };
            let part = format!("  - name: {name}\n    prompt: {{ matches: '(?i)phase `{name}`' }}\n    {acts}\n");
            cases.push(Case { place: Place::Agent, name, fault, expected, part });
        }
    }
    let verdict = "structured: { verdict: approved, summary: Fine., findings: [] }";
    for (index, (fault, once, always)) in FAULTS.iter().enumerate().filter(|(_, one)| !NOT_A_VERIFIERS.contains(&one.0))
    {
        for (mode, expected) in [("once", *once), ("always", *always)] {
            let name = format!("v{index}-{mode}");
            let faulty = format!("{{ {verdict}, faults: [{fault}] }}");
            let acts = match mode {
                "once" => format!("attempts: [{faulty}, {{ {verdict} }}]"),
                _ => format!("act: {faulty}"),
            };
            let part = format!(
                "  - name: {name}\n    prompt: {{ matches: '(?i)phase `{name}`' }}\n    act: {{ {work} }}\n  - name: {name}-judge\n    prompt: {{ matches: '\\(`{name}` of' }}\n    {acts}\n"
            );
            // Why a verifier gave no verdict is told in other words than why an agent did no work.
            let expected = if expected == Done { Done } else { Failed("") };
            cases.push(Case { place: Place::Verifier, name, fault, expected, part });
        }
    }
    cases
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What is wrong with how the job of a case ended.
async fn problem(stage: &Stage, case: &Case) -> Option<String> {
    let repo = stage.sandbox.path().join(&case.name);
    copy(&stage.repo, &repo);
    let base = stage.git(&repo, &["rev-parse", "HEAD"]);
    let plan = stage.plan(
        &format!("plan-{}", case.name),
        &format!(
            "name: {0}\nphases:\n  - id: {0}\n    type: development\n    description: Double\n    outputs: [shop/double.py, tests/test_double.py]\n    max_attempts: 2\n    on_failure: fail\n{1}    gates: [{{ type: files_exist }}, {{ type: tests_pass, command: python3 -m unittest }}]\n",
            case.name,
            if case.place == Place::Verifier { "    verify: { timeout: 60s }\n" } else { "" }
        ),
    );
    let job = stage.submit(&plan, &repo, &case.name).await;
    assert_numbered(&stage.events(&job).await);
    let view = stage.job(&job).await;
    tokio::task::spawn_blocking(move || Stage::no_agent_is_left(&job)).await.unwrap();

    let read = |path: &str| std::fs::read_to_string(repo.join(path)).unwrap_or_default();
    let there = read("shop/double.py") == CODE && read("tests/test_double.py") == TEST;
    let moved = stage.git(&repo, &["rev-parse", "HEAD"]) != base;
    let error = view["error"]["message"].as_str().unwrap_or_default().to_owned();
    let verified = view["phases"][0]["verdict"].as_str().is_some_and(|verdict| verdict.starts_with("pass"));
    let status = view["status"].as_str().unwrap();
    let good = match case.expected {
        Done => status == "succeeded" && there && moved && proven(&view) && (case.place == Place::Agent || verified),
        Failed(why) => {
            status == "failed" && error.contains(why) && view["error"]["hint"].is_string() && !there && !moved
        }
    };
    (!good).then(|| {
        format!(
            "{} [{}] expected {:?}: {status}, files there: {there}, merged: {moved}, error: {error:?}, attempts: {}",
            case.name, case.fault, case.expected, view["phases"][0]["attempt"]
        )
    })
}

/// Whether the last try's gates say that tests ran and passed.
fn proven(view: &Value) -> bool {
    let gates = view["phases"][0]["gates"].as_array().cloned().unwrap_or_default();
    gates.iter().any(|gate| gate["gate"] == "tests_pass" && gate["verdict"] == "pass" && gate["tests"]["passed"] == 4)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_of_an_agent_becomes_a_false_done_or_leaves_anything_behind() {
    let cases = cases();
    let script: String = cases.iter().map(|case| case.part.as_str()).collect();
    // Patience that a busy machine does not use up, and that does not make the test long.
    let stage = Arc::new(Stage::new(
        &format!("parts:\n{script}"),
        "max_agents = 12\nlinger = \"6s\"\nstall = \"12s\"\nstop_grace = \"1s\"\n",
    ));
    let _host = stage.start();
    let count = cases.len();
    let mut jobs: JoinSet<Option<String>> = JoinSet::new();
    for case in cases {
        let stage = Arc::clone(&stage);
        jobs.spawn(async move { problem(&stage, &case).await });
    }
    let mut problems: Vec<String> = jobs.join_all().await.into_iter().flatten().collect();
    problems.sort();
    assert!(problems.is_empty(), "{} of {count} cases:\n{}", problems.len(), problems.join("\n"));
    stage.no_gate_is_left();
    assert_eq!(helix_testkit::agent::overlaps(&stage.plays()).unwrap(), Vec::<std::path::PathBuf>::new());
    println!("{count} jobs with faulty agents: no false \"done\", no process left, every failure with its cause");
}
