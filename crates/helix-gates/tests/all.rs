//! Gates on real commits, with real commands: shell, node, cargo-free parsers, pytest.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says where it fails by panicking")]

#[path = "commands/aware.rs"]
mod aware;
#[path = "commands/cheats.rs"]
mod cheats;
#[path = "commands/decides.rs"]
mod decides;
#[path = "commands/elsewhere.rs"]
mod elsewhere;
#[path = "commands/history.rs"]
mod history;
#[path = "commands/honest.rs"]
mod honest;
#[path = "commands/kept.rs"]
mod kept;
#[path = "commands/mutation.rs"]
mod mutation;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_core::evidence::{Committed, GateReport};
use helix_core::finding::{FaultKind, Verdict};
use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_core::said::Words;
use helix_gates::{Claims, GateCheckouts, GateContext, WorkOf, run_gate};
use helix_git::{AttemptKey, CommitText, GitEnvironment, Repository, Workspaces};
use helix_language::{Language, RECORD};
use helix_plan::{GateSpec, OnFailure, Phase, PhaseType, Seconds, TestsGate};
use helix_process::{Sandbox, Supervisor, SupervisorConfig, ToolEnvironment};
use tokio_util::sync::CancellationToken;

struct Bench {
    home: tempfile::TempDir,
    spaces: Workspaces,
    environment: ToolEnvironment,
    checkouts: GateCheckouts,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".gitconfig"), "[user]\nname = A User\nemail = user@example.org\n").unwrap();
        let user = home.path().join("user");
        fs::create_dir(&user).unwrap();
        write(&user, files);
        let git = GitEnvironment::from_variables([
            (OsString::from("PATH"), std::env::var_os("PATH").unwrap()),
            (OsString::from("HOME"), home.path().into()),
        ]);
        let repository = Repository::init(&user, git).unwrap();
        let spaces = Workspaces::new(repository, &home.path().join("state")).unwrap();
        let checkouts = checkouts(home.path());
        Self { spaces, environment: ToolEnvironment::from_process(&[]), checkouts, home }
    }

    fn base(&self) -> CommitId {
        self.spaces.repository().user().commit("HEAD").unwrap().id
    }

    fn attempt(&self, phase: &str, base: &CommitId, work: impl Fn(&Path)) -> Committed {
        let key = AttemptKey { job: job(self.home.path()), phase: PhaseId::new(phase).unwrap(), attempt: 1 };
        let tree = self.spaces.prepare_attempt(&key, base).unwrap();
        work(&tree.path);
        let text = CommitText { subject: "Work".into(), body: String::new(), trailers: Vec::new() };
        self.spaces.commit_attempt(&key, base, base, &text).unwrap().committed
    }

    fn context(&self, base: &CommitId, result: &Committed) -> GateContext {
        GateContext {
            spaces: self.spaces.clone(),
            job: job(self.home.path()),
            phase: phase(&[]),
            claims: Claims::default(),
            plan_adr: None,
            adr: None,
            origin: base.clone(),
            base: base.clone(),
            result: result.clone(),
            gate_files: BTreeMap::new(),
            label: "p.1.0".into(),
            state: self.home.path().join("state"),
            baselines: self.home.path().join("state/cache/tests"),
            users_tree: self.home.path().join("user"),
            environment: self.environment.clone(),
            workspace: Arc::default(),
            checkouts: self.checkouts.clone(),
            cancel: CancellationToken::new(),
        }
    }

    async fn run(&self, base: &CommitId, result: &Committed, gate: &GateSpec) -> GateReport {
        run_gate(Arc::new(self.context(base, result)), gate).await
    }

    /// Runs a gate on what `work` makes of the base.
    async fn check(&self, gate: &GateSpec, work: impl Fn(&Path)) -> GateReport {
        let base = self.base();
        let result = self.attempt("p", &base, work);
        self.run(&base, &result, gate).await
    }
}

/// What the commands of all benches may write.
const SIGNALS: &str = env!("CARGO_TARGET_TMPDIR");

/// What keeps the commands of a host.
fn supervisor(home: &Path) -> Supervisor {
    let test = std::env::current_exe().unwrap();
    let keeper = test.parent().and_then(Path::parent).unwrap().join("examples/gate_keeper");
    assert!(keeper.exists(), "run `cargo build -p helix-gates --example gate_keeper` first: {keeper:?} is missing");
    let (runs_dir, keeper_args) = (home.join("state/runs"), Vec::new());
    // What commands of these tests leave for them.
    let shared = home.join("shared");
    fs::create_dir_all(&shared).unwrap();
    let sandbox = Sandbox { writable: vec![shared, SIGNALS.into()], ..Sandbox::default() };
    let seal = helix_process::RunSeal::new([1; 32]);
    Supervisor::new(SupervisorConfig { runs_dir, keeper, keeper_args, watching: Default::default(), sandbox, seal })
        .unwrap()
}

fn checkouts(home: &Path) -> GateCheckouts {
    let supervisor = supervisor(home);
    let preparations = helix_workspace::Preparations::new(home, supervisor.clone());
    GateCheckouts::new(supervisor, CancellationToken::new(), preparations)
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A job that no other test has: processes of a run are found by its name.
fn job(home: &Path) -> JobId {
    JobId::new(home.file_name().unwrap().to_string_lossy().trim_start_matches('.')).unwrap()
}

fn phase(outputs: &[&str]) -> Phase {
    Phase {
        id: PhaseId::new("p").unwrap(),
        name: "P".into(),
        kind: PhaseType::Development,
        description: String::new(),
        depends_on: vec![],
        skills: vec![],
        inputs: vec![],
        outputs: outputs.iter().map(|path| (*path).to_owned()).collect(),
        gates: vec![],
        verify: None,
        approval: None,
        on_failure: OnFailure::default(),
        optional: false,
        generates_phases: None,
        network: None,
        agent: None,
        model: None,
        max_attempts: 1,
        timeout: Seconds(60),
        budget_usd: None,
        max_turns: None,
    }
}

fn command(line: &str) -> GateSpec {
    GateSpec::Command { command: line.into(), timeout: Seconds(60) }
}

fn tests_pass(line: &str) -> GateSpec {
    GateSpec::TestsPass(TestsGate::of_command(line, Seconds(120)))
}

/// Rules whose messages are those of parsers, and those whose fixes are others', too.
const OTHERS: [&str; 3] = ["syntax.", "adr.", "criteria.evidence_unusable"];

/// What is recorded in English is what its words say, and they are said in German, too.
fn assert_told(report: &GateReport) {
    let told = |text: &str, words: &Words| {
        assert_eq!(RECORD.words(words), text, "{report:#?}");
        assert!(text.is_empty() || !Language::German.words(words).is_empty(), "{report:#?}");
    };
    // What git, processes, parsers and decision records have wrong, they say themselves.
    let is_text = matches!(&report.verdict, Verdict::Inconclusive { fault } if fault.said.is_none());
    told(&report.summary, &if is_text { report.words() } else { report.said.clone() });
    assert_eq!(report.notes.len(), report.notes_said.len(), "{report:#?}");
    report.notes.iter().zip(&report.notes_said).for_each(|(note, said)| told(note, said));
    match &report.verdict {
        Verdict::Pass => {}
        Verdict::Fail { findings } => findings.iter().for_each(|one| {
            let is_others = |rule: &&str| one.rule.starts_with(*rule);
            let said = if OTHERS.iter().any(is_others) { one.words() } else { one.said.clone() };
            told(&one.message, &said);
            let fix = if OTHERS[1..].iter().any(is_others) { one.fix_words() } else { one.fix_said.clone() };
            told(one.fix.as_deref().unwrap_or_default(), &fix);
        }),
        Verdict::Inconclusive { fault } => fault.said.iter().for_each(|said| {
            told(&fault.message, &said.message);
            told(fault.hint.as_deref().unwrap_or_default(), &said.hint);
        }),
    }
}

/// `rule file:line:column` of every finding, or the kind of the fault, or `pass`.
fn short(report: &GateReport) -> Vec<String> {
    assert_told(report);
    match &report.verdict {
        Verdict::Pass => vec!["pass".into()],
        Verdict::Fail { findings } => findings
            .iter()
            .map(|f| f.place.as_ref().map_or_else(|| f.rule.clone(), |place| format!("{} {place}", f.rule)))
            .collect(),
        Verdict::Inconclusive { fault } => vec![format!("{:?}", fault.kind)],
    }
}

#[tokio::test]
async fn broken_files_of_every_language_are_found_with_their_place() {
    let broken = [
        ("a.py", "x = 1\ndef f(:\n    pass\n", "syntax.python a.py:2:7"),
        ("b.js", "let x = ;\n", "syntax.javascript b.js:1:9"),
        ("c.ts", "const x: = 1;\n", "syntax.typescript c.ts:1:10"),
        ("d.tsx", "const x = <a><b></a>;\n", "syntax.typescript d.tsx:1"),
        ("e.rs", "fn main() {\n    let = 1;\n}\n", "syntax.rust e.rs:2:9"),
        ("f.go", "package a\n\nfunc f( {\n}\n", "syntax.go f.go:3"),
        ("G.java", "class G { void f( { } }\n", "syntax.java G.java:1"),
        ("h.c", "int main( { return 0; }\n", "syntax.c h.c:1"),
        ("i.cpp", "class A { int f( };\n", "syntax.cpp i.cpp:1"),
        ("j.sh", "if true; then\necho a\n", "syntax.bash j.sh"),
        ("k.css", "a { color: red;\n", "syntax.css k.css"),
        ("l.json", "{\"a\": 1,}\n", "syntax.json l.json:1:9"),
        ("m.yaml", "a: [1\nb: 2\n", "syntax.yaml m.yaml:"),
        ("n.toml", "a = \n", "syntax.toml n.toml:1:5"),
        ("o.md", "---\na: [\n---\n# T\n", "syntax.markdown o.md:"),
        ("p.json5", "{a: 1,, b: 2}\n", "syntax.json p.json5:1:7"),
        ("tool", "#!/usr/bin/env python3\nprint(\n", "syntax.python tool:"),
        ("q.py", "#!/usr/bin/python3\n# coding: raw_unicode_escape\nx = 1\n", "syntax.python q.py:2"),
    ];
    let good = [
        ("tsconfig.json", "{\n  // c\n  \"a\": [1, 2,], /* x */\n}\n"),
        ("q.json5", "{a: 'b', // c\n}\n"),
        ("r.js", "const a = <b>1</b>;\n"),
        ("s.yml", "a: !Ref b\n---\nc: {{d: 1}: 2}\n"),
        ("t.md", "---\n\nA line above is a rule.\n"),
        ("u.html", "<!doctype html><p>a<br>b\n"),
        ("v.sh", "for i in 1 2; do echo \"$i\"; done <<'E'\nx\nE\n"),
        ("w.rs", "//! doc\nasync fn f() -> impl Sized {}\n"),
        ("y.c", "static _Thread_local int a;\n"),
        ("x.py", "match a:\n    case {'b': c}: pass\ntype X = int\n"),
    ];
    let bench = Bench::new(&[("README", "x")]);
    let report = bench
        .check(&GateSpec::SyntaxCheck { files: vec![] }, |tree| {
            for (path, text, _) in &broken {
                fs::write(tree.join(path), text).unwrap();
            }
            write(tree, &good);
        })
        .await;
    let found = short(&report);
    for (path, _, expected) in &broken {
        assert!(found.iter().any(|line| line.starts_with(expected)), "{path}: {expected} not in {found:#?}");
    }
    for (path, _) in &good {
        assert!(!found.iter().any(|line| line.contains(&format!(" {path}"))), "{path}: {found:#?}");
    }
}

#[tokio::test]
async fn nothing_to_check_is_no_pass() {
    let bench = Bench::new(&[("old.py", "x = 1\n"), ("a.txt", "a")]);
    let all = GateSpec::SyntaxCheck { files: vec![] };
    let base = bench.base();
    let idle = bench.attempt("idle", &base, |_| {});
    assert_eq!(short(&bench.run(&base, &idle, &all).await), ["NothingChecked"]);
    let text = bench.attempt("text", &base, |tree| fs::write(tree.join("a.txt"), "b").unwrap());
    assert_eq!(short(&bench.run(&base, &text, &all).await), ["NothingChecked"]);
    let gone = bench.attempt("gone", &base, |tree| fs::remove_file(tree.join("old.py")).unwrap());
    assert_eq!(short(&bench.run(&base, &gone, &all).await), ["pass"]);
    let globs = GateSpec::SyntaxCheck { files: vec!["src/**".into()] };
    let other = bench.attempt("other", &base, |tree| fs::write(tree.join("b.py"), "y = 1\n").unwrap());
    assert_eq!(short(&bench.run(&base, &other, &globs).await), ["NothingChecked"]);
    for gate in
        [GateSpec::FilesExist { files: vec![] }, GateSpec::OutputsClaimed { strict: true }, GateSpec::DocsRefsValid {}]
    {
        assert_eq!(short(&bench.run(&base, &other, &gate).await), ["NothingChecked"], "{gate:?}");
    }
    let silent = bench.run(&base, &other, &tests_pass("true")).await;
    assert_eq!(short(&silent), ["NothingChecked"]);
    // A person answers this one; asked as a deterministic check it is none.
    assert!(!bench.run(&base, &other, &GateSpec::Manual { question: None }).await.verdict.passed());
}

#[tokio::test]
async fn claims_are_checked_against_the_diff() {
    let bench = Bench::new(&[("src/old.py", "x = 1\n"), ("src/kept.py", "x = 1\n")]);
    let base = bench.base();
    let result = bench.attempt("p", &base, |tree| {
        write(tree, &[("src/new.py", "y = 1\n"), ("src/empty.py", ""), ("stray.txt", "x")]);
        fs::remove_file(tree.join("src/old.py")).unwrap();
    });
    let mut context = bench.context(&base, &result);
    context.phase = phase(&["src/new.py", "src/old.py", "src/kept.py", "src/empty.py", "src/none.py"]);
    let context = Arc::new(context);
    let report = run_gate(context.clone(), &GateSpec::OutputsClaimed { strict: true }).await;
    assert_eq!(
        short(&report),
        [
            "outputs.deleted src/old.py",
            "outputs.unchanged src/kept.py",
            "outputs.unchanged src/none.py",
            "outputs.outside stray.txt"
        ]
    );
    let report = run_gate(context, &GateSpec::FilesExist { files: vec![] }).await;
    assert_eq!(short(&report), ["files.missing src/old.py", "files.empty src/empty.py", "files.missing src/none.py"]);
}

#[tokio::test]
async fn a_link_counts_where_it_leads_to_a_file_in_the_end() {
    let bench = Bench::new(&[("a.txt", "a")]);
    let gate = GateSpec::FilesExist { files: vec!["*.link".into()] };
    let report = bench
        .check(&gate, |tree| {
            let links =
                [("one", "two.link"), ("two", "a.txt"), ("to", "fro.link"), ("fro", "to.link"), ("own", "own.link")];
            for (name, target) in links {
                std::os::unix::fs::symlink(target, tree.join(format!("{name}.link"))).unwrap();
            }
        })
        .await;
    assert_eq!(short(&report), ["files.dangling fro.link", "files.dangling own.link", "files.dangling to.link"]);
}

#[tokio::test]
async fn a_command_runs_on_the_commit_alone_with_null_stdin() {
    let bench = Bench::new(&[("a.txt", "a"), (".gitignore", "build/\n")]);
    let script = "test ! -e build && test -z \"$(cat)\" && test -z \"$SECRET_TOKEN\" && test \"$CI\" = true";
    let report = bench
        .check(&command(&format!("sh -c '{script}'")), |tree| {
            write(tree, &[("build/leftover", "x"), ("b.txt", "b")]);
        })
        .await;
    assert_eq!(short(&report), ["pass"], "{report:#?}");
    let evidence = report.command.unwrap();
    assert_eq!(evidence.exit_code, Some(0));
    assert!(bench.home.path().join("state").join(&evidence.output_file).exists());
    let base = bench.base();
    let result = bench.attempt("q", &base, |tree| fs::write(tree.join("c"), "c").unwrap());
    let kinds = [
        (command("no-such-program-here --x"), "ToolMissing"),
        (command("sh -c 'exit 127'"), "ToolMissing"),
        (GateSpec::Command { command: "sleep 30".into(), timeout: Seconds(1) }, "Timeout"),
        (command("sh -c 'test ! -e c || { echo broken; exit 3; }'"), "command.failed"),
        // It was as broken before: of a linter that is nobody's doing, what a command asks for may be the phase's task.
        (GateSpec::LintPass { command: "sh -c 'echo broken; exit 3'".into(), timeout: Seconds(60) }, "Environment"),
        (command("sh -c 'echo broken; exit 3'"), "command.failed"),
    ];
    for (gate, expected) in kinds {
        assert_eq!(short(&bench.run(&base, &result, &gate).await), [expected], "{gate:?}");
    }
}

const NODE_TESTS: &str = "const {test} = require('node:test');\nconst assert = require('node:assert');\n\
    test('adds', () => { assert.strictEqual(1 + 1, 2); });\n\
    test('old bug', () => { assert.strictEqual(1, 2); });\n";

#[tokio::test]
async fn real_node_tests_with_a_failure_from_before() {
    let bench = Bench::new(&[("a.test.js", NODE_TESTS)]);
    let known_failures = vec!["old bug".to_owned()];
    let gate = TestsGate { known_failures, ..TestsGate::of_command("node --test", Seconds(120)) };
    let gate = GateSpec::TestsPass(gate);
    let base = bench.base();
    let fine = bench.attempt("fine", &base, |tree| {
        let more = "\ntest('more', () => { assert.ok(more()); });\nfunction more() { return 2; }\n";
        fs::write(tree.join("a.test.js"), format!("{NODE_TESTS}{more}")).unwrap();
    });
    let report = bench.run(&base, &fine, &gate).await;
    assert_eq!(short(&report), ["pass"], "{report:#?}");
    let counts = report.tests.unwrap();
    assert_eq!((counts.passed, counts.failed), (2, 1));
    assert!(report.notes.iter().any(|note| note.starts_with("old bug failed before")), "{:?}", report.notes);
    assert_eq!(fs::read_dir(bench.home.path().join("state/cache/tests")).unwrap().count(), 2);
    let worse = bench.attempt("worse", &base, |tree| {
        fs::write(tree.join("a.test.js"), NODE_TESTS.replace("1 + 1", "1 + 2")).unwrap();
    });
    assert_eq!(short(&bench.run(&base, &worse, &gate).await), ["tests.failed a.test.js:3"]);
    let fewer = bench.attempt("fewer", &base, |tree| {
        fs::write(
            tree.join("a.test.js"),
            NODE_TESTS.replace("test('old bug', () => { assert.strictEqual(1, 2); });", ""),
        )
        .unwrap();
    });
    assert_eq!(short(&bench.run(&base, &fewer, &gate).await), ["tests.fewer"]);
}

/// The directory with pytest that `cargo xtask setup` makes.
fn test_tools() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tools = std::env::var_os("HELIX_TEST_TOOLS").map_or_else(|| root.join(".test-tools"), PathBuf::from);
    let found = [tools.join("python/bin"), tools.clone()].into_iter().find(|bin| bin.join("pytest").exists());
    found.unwrap_or_else(|| panic!("no pytest in {tools:?}: run `cargo xtask setup`, or set HELIX_TEST_TOOLS"))
}

#[tokio::test]
async fn real_pytest_says_where_and_why() {
    let mut bench = Bench::new(&[("cart.py", "def total(p):\n    return sum(p)\n")]);
    let path = format!("{}:{}", test_tools().display(), bench.environment.get("PATH").unwrap());
    bench.environment = bench.environment.clone().with("PATH", path);
    let gate = tests_pass("pytest -q");
    let base = bench.base();
    let none = bench.attempt("none", &base, |tree| fs::write(tree.join("x.py"), "x = 1\n").unwrap());
    let report = bench.run(&base, &none, &gate).await;
    assert_eq!(short(&report), ["NothingChecked"], "{report:#?}");
    let test = "from cart import total\n\ndef test_total():\n    assert total([1, 2]) == 4\n\ndef test_none():\n    assert total([]) == 0\n";
    let failing = bench.attempt("fail", &base, |tree| write(tree, &[("test_cart.py", test)]));
    let report = bench.run(&base, &failing, &gate).await;
    assert_eq!(short(&report), ["tests.failed test_cart.py:4"], "{report:#?}");
    let Verdict::Fail { findings } = &report.verdict else { panic!() };
    assert!(findings[0].evidence.as_ref().unwrap().contains("assert 3 == 4"));
    let good = bench.attempt("good", &base, |tree| write(tree, &[("test_cart.py", &test.replace("== 4", "== 3"))]));
    let report = bench.run(&base, &good, &gate).await;
    assert_eq!((short(&report), report.summary.as_str()), (vec!["pass".to_owned()], "2 passed, 0 failed"));
}

#[tokio::test]
async fn a_gate_whose_script_the_phase_edits_fails() {
    let bench = Bench::new(&[("ci/test.sh", "echo 1 passed, 0 failed\n")]);
    let base = bench.base();
    let result =
        bench.attempt("p", &base, |tree| fs::write(tree.join("ci/test.sh"), "echo 9 passed, 0 failed\n").unwrap());
    let mut context = bench.context(&base, &result);
    context.gate_files = BTreeMap::from([("ci/test.sh".to_owned(), "hash at submit".to_owned())]);
    let gate = tests_pass("sh ci/test.sh");
    let report = run_gate(Arc::new(context.clone()), &gate).await;
    assert_eq!(short(&report), ["gate.changed ci/test.sh"]);
    context.claims.own = vec!["ci/test.sh".to_owned()];
    context.claims.deciding = context.claims.own.clone();
    let report = run_gate(Arc::new(context), &gate).await;
    assert_eq!(short(&report), ["pass"]);
}

#[tokio::test]
async fn references_of_documents_resolve() {
    let bench = Bench::new(&[("src/gone.py", "x"), ("docs/other.md", "# A Heading!\n")]);
    let text = "# T\n[ok](other.md#a-heading) [self](#t) [web](https://x.invalid/a)\n\n[bad](missing.md)\n\n[anchor](other.md#nope)\n\n\
        `src/gone.py` and `output/later.json`\n\n```\n[fenced](nowhere.md)\n```\n";
    let report = bench
        .check(&GateSpec::DocsRefsValid {}, |tree| {
            write(tree, &[("docs/a.md", text)]);
            fs::remove_file(tree.join("src/gone.py")).unwrap();
        })
        .await;
    assert_eq!(
        short(&report),
        ["docs.reference docs/a.md:4:1", "docs.anchor docs/a.md:6:1", "docs.reference docs/a.md:8:1"],
        "{report:#?}"
    );
    assert_eq!(report.notes.len(), 1);
}

#[tokio::test]
async fn a_cancelled_check_is_no_pass() {
    let bench = Bench::new(&[("a", "a")]);
    let base = bench.base();
    let result = bench.attempt("p", &base, |tree| fs::write(tree.join("b.py"), "x = 1").unwrap());
    let context = bench.context(&base, &result);
    context.cancel.cancel();
    let report = run_gate(Arc::new(context), &command("true")).await;
    let Verdict::Inconclusive { fault } = report.verdict else { panic!("{report:?}") };
    assert_eq!(fault.kind, FaultKind::Environment);
}

const DECISION: &str =
    "---\nadr_id: \"001\"\ntitle: Sum\nstatus: Accepted\n---\n\n## Context\n\nx\n\n## Acceptance criteria\n\n";

/// Runs `criteria_covered` on criteria that stood in the ADR when the phase started.
async fn criteria(criteria: &str, work: impl Fn(&Path)) -> GateReport {
    let bench =
        Bench::new(&[("adr/001-sum.md", &format!("{DECISION}{criteria}")), ("check.sh", "echo the sum is 3\n")]);
    let base = bench.base();
    let result = bench.attempt("p", &base, work);
    let mut context = bench.context(&base, &result);
    context.plan_adr = Some("adr/001-sum.md".into());
    run_gate(Arc::new(context), &GateSpec::CriteriaCovered {}).await
}

/// What a decision of another form says of how it is confirmed are its criteria, and it is valid as it is.
#[tokio::test]
async fn decisions_of_other_forms_are_judged_as_they_are() {
    let madr = "# Sums are whole\n\n* Status: accepted\n\n## Context and Problem Statement\n\nSums are off by a cent.\n\n## Considered Options\n\n* Cents\n\n## Decision Outcome\n\nCents it is.\n\n### Confirmation\n\n* [ ] `sh check.sh` exits 0 and shows `the sum is 3`\n* The page says so (file: docs/sum.md)\n";
    let file = "docs/decisions/0003-sums-are-whole.md";
    let bench = Bench::new(&[(file, madr), ("check.sh", "echo the sum is 3\n")]);
    let base = bench.base();
    let judged = async |phase: &str, work: &dyn Fn(&Path), gate: GateSpec| {
        let result = bench.attempt(phase, &base, work);
        let mut context = bench.context(&base, &result);
        context.plan_adr = Some(file.into());
        run_gate(Arc::new(context), &gate).await
    };
    let described = |root: &Path| write(root, &[("docs/sum.md", "How sums are made.\n")]);
    let report = judged("a", &described, GateSpec::CriteriaCovered {}).await;
    assert_eq!(short(&report), ["pass"], "{report:#?}");
    let report = judged("b", &|root| write(root, &[("x.md", "x\n")]), GateSpec::CriteriaCovered {}).await;
    assert_eq!(short(&report), ["criteria.file_missing docs/decisions/0003-sums-are-whole.md:20:27"], "{report:#?}");
    let (valid, complete) = (GateSpec::AdrValid { files: Vec::new() }, GateSpec::AdrComplete { files: Vec::new() });
    for (phase, gate) in [("c", valid), ("d", complete)] {
        let report = judged(phase, &described, gate).await;
        assert_eq!((short(&report), report.notes.len()), (vec!["pass".to_owned()], 0), "{report:#?}");
        assert_eq!(report.summary, "1 decision, 0 errors");
    }
}

/// Each criterion needs evidence, and the evidence has to pass and to have run.
#[tokio::test]
async fn every_criterion_needs_evidence_that_passes() {
    let test = "import test from 'node:test';\nimport assert from 'node:assert';\ntest('adds', () => assert.equal(1 + 2, 3));\ntest('fails', () => assert.equal(1, 2));\n";
    let work =
        |root: &Path| write(root, &[("sum.test.mjs", test), ("docs/sum.md", "How sums are made.\n"), ("empty.md", "")]);
    let good = "- [ ] It adds — test: `sum.test.mjs > adds`\n- [ ] It is described (file: docs/sum.md)\n- [ ] `sh check.sh` exits 0 and shows `the sum is 3`\n- [ ] Falscher Aufruf: `sh -c 'exit 4'` endet mit 4\n";
    let report = criteria(good, work).await;
    assert_eq!(short(&report), ["pass"], "{report:#?}");
    assert_eq!((report.notes.len(), report.tests.as_ref().map(|tests| tests.passed)), (4, Some(1)), "{report:#?}");
    let bad = "- [ ] Nothing proves this\n- [ ] It fails — test: `sum.test.mjs::fails`\n- [ ] It is not there — test: sum.test.mjs::absent\n- [ ] No file (file: docs/gone.md)\n- [ ] Empty (file: empty.md)\n- [ ] `sh check.sh` shows `the sum is 4`\n- [ ] `sh -c 'exit 3'` passes\n- [ ] Unclear — test: Everything\n- [ ] No test ran (command: `sh -c 'echo 0 passed, 0 failed'`)\n";
    let report = criteria(bad, work).await;
    insta::assert_snapshot!(short(&report).join("\n"), @r"
    criteria.no_evidence adr/001-sum.md:13:1
    criteria.test_failed adr/001-sum.md:14:25
    criteria.test_not_run adr/001-sum.md:15:31
    criteria.file_missing adr/001-sum.md:16:22
    criteria.file_empty adr/001-sum.md:17:20
    criteria.not_shown adr/001-sum.md:18:8
    criteria.command_failed adr/001-sum.md:19:8
    criteria.evidence_unusable adr/001-sum.md:20:23
    criteria.test_not_run adr/001-sum.md:21:30
    ");
    let Verdict::Fail { findings } = &report.verdict else { panic!("{report:#?}") };
    assert!(findings.iter().all(|finding| finding.fix.is_some()), "{findings:#?}");
    let report = criteria("- [ ] x — command: `no-such-tool-here --now`\n", work).await;
    assert_eq!(short(&report), ["ToolMissing"], "{report:#?}");
    assert_eq!(short(&criteria("no checkbox\n", work).await), ["NothingChecked"]);
}

/// The criteria are those from before the phase: striking one out, or changing what proves it, changes nothing.
#[tokio::test]
async fn a_phase_cannot_loosen_its_criteria() {
    let strict = "- [ ] It adds (command: `sh -c 'exit 1'`)\n- [ ] It is tested, somehow\n";
    let loose = "- [x] It adds (command: `sh -c 'exit 0'`)\n";
    let report = criteria(strict, |root| write(root, &[("adr/001-sum.md", &format!("{DECISION}{loose}"))])).await;
    assert_eq!(
        short(&report),
        ["criteria.command_failed adr/001-sum.md:13:26", "criteria.no_evidence adr/001-sum.md:14:1"]
    );
    // Where nothing was named, the phase may name a test, and nothing weaker.
    let given = |evidence: &str| format!("{DECISION}- [ ] It is tested, somehow {evidence}\n");
    let test = "import test from 'node:test';\ntest('adds', () => {});\n";
    let own = |text: String| move |root: &Path| write(root, &[("adr/001-sum.md", &text), ("a.test.mjs", test)]);
    let named = criteria("- [ ] It is tested, somehow\n", own(given("— test: a.test.mjs"))).await;
    assert_eq!(short(&named), ["pass"], "{named:#?}");
    assert!(named.notes.iter().any(|note| note.contains("from the phase itself")), "{named:#?}");
    let weaker = criteria("- [ ] It is tested, somehow\n", own(given("(file: a.test.mjs, command: `true`)"))).await;
    assert_eq!(short(&weaker), ["criteria.no_evidence adr/001-sum.md:13:1"]);
    // A script that proves something may not be rewritten by those who have to pass it.
    let forged = criteria("- [ ] `sh check.sh` passes\n", |root| write(root, &[("check.sh", "exit 0\n")])).await;
    assert_eq!(short(&forged), ["gate.changed adr/001-sum.md:13:8"], "{forged:#?}");
}

/// A project's own rules count once they were there before the phase.
#[tokio::test]
async fn completeness_follows_the_projects_own_rules() {
    let rules = "rules:\n  - id: threats\n    severity: error\n    require: [{phrase: {any: [threat*]}}]\n    fix: name the threats\n";
    let adr = format!("{DECISION}- [ ] a is a\n- [ ] b is b\n- [ ] c is c\n\n## Decision\n\nSo.\n");
    let gate = GateSpec::AdrComplete { files: vec!["adr/002-x.md".into()] };
    let write_adr = |root: &Path| write(root, &[("adr/002-x.md", &adr.replace("001", "002"))]);
    let report = Bench::new(&[("adr/rules.yaml", rules)]).check(&gate, write_adr).await;
    assert_eq!(short(&report).len(), 1, "{report:#?}");
    let report = Bench::new(&[("a.txt", "a")]).check(&gate, write_adr).await;
    assert_eq!(short(&report), ["pass"], "{report:#?}");
    let broken = Bench::new(&[("adr/rules.yaml", "rules: [{id: x}]\n")]).check(&gate, write_adr).await;
    assert_eq!(short(&broken), ["Unreadable"], "{broken:#?}");
}
