//! What jobs do with phases: correct them, run them side by side, combine them, skip them.

use crate::workshop::{Workshop, part, signals};
use helix_agents::{AgentProfile, DialectName};
use helix_core::finding::Verdict;
use helix_core::ids::PhaseId;
use helix_engine::evidence::{OutputState, Standing};
use helix_engine::submit::SubmitError;
use helix_job::question::QuestionKind;
use helix_job::{AskPerson, IntegrationTarget, JobEvent, JobStatus, PhaseStatus};

const TWO_PHASES: &str = r#"
name: Baskets
phases:
  - id: rule
    type: development
    description: Count the pieces.
    outputs: [shop/count.py, tests/test_count.py]
    gates:
      - { type: syntax_check }
      - { type: tests_pass, command: "python3 -m unittest -v" }
  - id: page
    type: documentation
    description: Describe the counting.
    depends_on: [rule]
    inputs: [shop/count.py]
    outputs: [docs/count.md]
"#;

/// The first try returns the wrong number; the test that says so is the agent's own, and real.
fn two_phases() -> String {
    let rule = r#"    attempts:
      - steps:
          - write: { path: shop/count.py, content: "def pieces(basket):\n    return 0\n" }
          - write: { path: tests/test_count.py, content: "import unittest\nfrom shop.count import pieces\n\n\nclass CountTest(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(pieces([1, 2]), 2)\n" }
      - steps:
          - edit: { path: shop/count.py, find: "return 0", replace: "return len(basket)" }
"#;
    let page = "    act: { steps: [{ write: { path: docs/count.md, content: \"# Counting\\n\" } }] }\n";
    format!("parts:\n{}{}", part("rule", rule), part("page", page))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phase_that_fails_its_tests_is_told_what_failed_and_corrects_it() {
    let shop = Workshop::open(&two_phases()).await;
    let repo = shop.repo();
    let base = shop.git(&repo, &["rev-parse", "HEAD"]);
    let ended = shop.run(&repo, TWO_PHASES).await;

    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(ended.view.integration, Some(IntegrationTarget::Branch { branch: "main".into() }));
    assert_eq!((ended.phase("rule").attempt, ended.phase("page").attempt), (2, 1));
    assert_eq!((shop.plays("rule"), shop.plays("page")), (2, 1));

    let told = shop.prompt(&ended.view.id, "rule", 2);
    for part in ["not accepted", "test_two", "tests/test_count.py", "0 != 2"] {
        assert!(told.contains(part), "the agent is not told {part:?}:\n{told}");
    }
    let failed = ended.events.iter().find_map(|event| match &event.event {
        JobEvent::GateFinished { report, .. } if !matches!(report.verdict, Verdict::Pass) => Some(report.clone()),
        _ => None,
    });
    let failed = failed.unwrap();
    let counts = failed.tests.unwrap();
    assert_eq!((failed.gate.as_str(), counts.passed, counts.failed), ("tests_pass", 3, 1));

    // The result is in the user's branch and work tree as one merge of validated commits.
    let head = shop.git(&repo, &["rev-parse", "HEAD"]);
    assert_eq!(ended.view.commit.as_ref().unwrap().as_str(), head);
    assert_eq!(shop.git(&repo, &["rev-parse", "HEAD^1"]), base);
    assert_eq!(shop.git(&repo, &["status", "--porcelain"]), "");
    let code = std::fs::read_to_string(repo.join("shop/count.py")).unwrap();
    assert_eq!(code, "def pieces(basket):\n    return len(basket)\n");
    assert!(repo.join("docs/count.md").exists());
    // Nothing stays but the branches.
    shop.engine.close().await;
    assert_eq!(shop.git(&repo, &["worktree", "list"]).lines().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn phases_side_by_side_are_validated_together_by_all_their_gates() {
    let plan = r#"
name: Both sides
phases:
  - id: left
    type: development
    description: Left
    outputs: [left.py]
    gates: [{ type: command, command: "python3 -c 'import left'" }]
  - id: right
    type: development
    description: Right
    outputs: [right.py]
    gates: [{ type: command, command: "python3 -c 'import right'" }, { type: tests_pass, command: "python3 -m unittest -v" }]
"#;
    let act = |side: &str| {
        part(
            side,
            &format!("    act: {{ steps: [{{ write: {{ path: {side}.py, content: \"SIDE = '{side}'\\n\" }} }}] }}\n"),
        )
    };
    let shop = Workshop::open(&format!("parts:\n{}{}", act("left"), act("right"))).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, plan).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let (result, gates) = ended
        .events
        .iter()
        .find_map(|event| match &event.event {
            JobEvent::Integrated(done) => Some((done.result.clone(), done.gates.clone())),
            _ => None,
        })
        .unwrap();
    let names: Vec<&str> = gates.iter().map(|report| report.gate.as_str()).collect();
    assert_eq!(names, ["command", "command", "tests_pass"]);
    assert!(gates.iter().all(|report| report.tree == result.tree && report.verdict == Verdict::Pass), "{gates:#?}");
    assert_eq!(shop.git(&repo, &["rev-parse", "HEAD^{tree}"]), result.tree.as_str());
    assert!(repo.join("left.py").exists() && repo.join("right.py").exists());

    // What proves the whole: its commit holds both results, and the gates ran on its very tree.
    let id = ended.view.id.as_str();
    let evidence = shop.engine.reports().archive().evidence(id).await.unwrap();
    let whole = evidence.integration.unwrap();
    assert_eq!((whole.standing, evidence.proved), (Standing::Proved, true), "{:?}", whole.missing);
    assert_eq!((whole.validated_by, whole.gates.len()), (None, 3));
    assert!(whole.gates.iter().flat_map(|gate| &gate.output).all(|output| output.state == OutputState::Intact));
    let file = &whole.gates[2].output.as_ref().unwrap().file;
    std::fs::write(file, "Ran 99 tests\nOK\n").unwrap();
    let evidence = shop.engine.reports().archive().evidence(id).await.unwrap();
    let whole = evidence.integration.unwrap();
    assert_eq!((whole.standing, evidence.proved), (Standing::Unproved, false));
    assert!(
        helix_language::Language::English.words(&whole.missing[0]).contains("was changed after it ran"),
        "{:?}",
        whole.missing
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_combination_that_breaks_a_gate_is_not_merged() {
    // Each side is right alone; together there are two.
    let gate = r#"[{ type: command, command: "sh -c 'test $(ls only-*.txt | wc -l) -eq 1'" }]"#;
    let plan = format!(
        "name: Only one\nphases:\n  - {{ id: left, type: documentation, description: L, outputs: [only-left.txt], gates: {gate} }}\n  - {{ id: right, type: documentation, description: R, outputs: [only-right.txt], gates: {gate} }}\n"
    );
    let act = |side: &str| {
        part(side, &format!("    act: {{ steps: [{{ write: {{ path: only-{side}.txt, content: x }} }}] }}\n"))
    };
    let shop = Workshop::open(&format!("parts:\n{}{}", act("left"), act("right"))).await;
    let repo = shop.repo();
    let before = shop.git(&repo, &["rev-parse", "HEAD"]);
    let ended = shop.run(&repo, &plan).await;
    assert_eq!(ended.view.status, JobStatus::Failed, "{:#?}", ended.view);
    assert_eq!([ended.phase("left").status, ended.phase("right").status], [PhaseStatus::Passed; 2]);
    assert!(!ended.error().is_empty());
    let evidence = shop.engine.reports().archive().evidence(ended.view.id.as_str()).await.unwrap();
    let refusal = evidence.refusal.unwrap();
    assert_eq!((refusal.findings.len(), refusal.gates.len(), evidence.integration), (1, 1, None));
    assert!(!refusal.gates[0].report.verdict.passed() && refusal.gates[0].output.is_some());
    assert_eq!(shop.git(&repo, &["rev-parse", "HEAD"]), before);
}

const QUARREL: &str = "name: Quarrel
phases:
  - { id: left, type: documentation, description: L, outputs: [left.md] }
  - { id: right, type: documentation, description: R, outputs: [right.md] }
";

fn quarrel(resolves: &str) -> String {
    let act = |side: &str| {
        part(
            side,
            &format!(
                "    act: {{ steps: [{{ write: {{ path: {side}.md, content: x }} }}, {{ write: {{ path: README.md, content: \"{side}\\n\" }} }}] }}\n"
            ),
        )
    };
    format!("parts:\n{}{}{}", act("left"), act("right"), part("integrate-1", resolves))
}

#[tokio::test(flavor = "multi_thread")]
async fn phases_that_contradict_each_other_are_brought_together_by_an_agent_that_sees_both_sides() {
    let resolves =
        "    attempts: [{ say: Done }, { steps: [{ write: { path: README.md, content: \"left and right\\n\" } }] }]\n";
    let shop = Workshop::open(&quarrel(resolves)).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, QUARREL).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(std::fs::read_to_string(repo.join("README.md")).unwrap(), "left and right\n");
    assert!(repo.join("left.md").exists() && repo.join("right.md").exists());
    let told = shop.prompt(&ended.view.id, "integrate-1", 1);
    for part in ["README.md", "+left", "+right", "conflict marker"] {
        assert!(told.contains(part), "the agent is not told {part:?}:\n{told}");
    }
    // The first try left the markers: the gate names each with its place.
    let again = shop.prompt(&ended.view.id, "integrate-1", 2);
    assert!(again.contains("README.md:1"), "{again}");
    assert_eq!(ended.phase("integrate-1").attempt, 2);
    let evidence = shop.engine.reports().archive().evidence(ended.view.id.as_str()).await.unwrap();
    let order: Vec<&str> = evidence.phases.iter().map(|phase| phase.phase.as_str()).collect();
    assert_eq!(order, ["left", "right", "integrate-1"]);
    assert_eq!((evidence.proved, evidence.conflicts[0].paths.as_slice()), (true, ["README.md".to_owned()].as_slice()));
    let resolution = &evidence.phases[2];
    assert_eq!((resolution.attempt, resolution.attempts.len()), (Some(2), 2));
    let summary = helix_language::Language::English.words(&resolution.attempts[0].summary);
    assert!(summary.contains("conflicts_resolved"), "{:?}", resolution.attempts[0]);
    assert!(resolution.attempts[0].result.as_ref().unwrap().found);
    let whole = evidence.integration.unwrap();
    assert_eq!((whole.standing, whole.validated_by), (Standing::Proved, PhaseId::new("integrate-1").ok()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_that_no_agent_resolves_is_a_persons_question_and_both_works_are_kept() {
    let shop = Workshop::configured(&quarrel("    act: { say: \"I cannot\" }\n"), |config| {
        config.policy.escalation.person = AskPerson::Ask;
    })
    .await;
    let repo = shop.repo();
    let before = shop.git(&repo, &["rev-parse", "HEAD"]);
    let job = shop.submit(&repo, QUARREL).await;
    let question = shop.question(&job).await;
    assert_eq!(question.kind, QuestionKind::Conflict);
    assert!(question.text.contains("README.md"), "{}", question.text);
    shop.answer(&question, "fail", None).await;
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Failed);
    assert_eq!(shop.git(&repo, &["rev-parse", "HEAD"]), before);
    for side in ["left", "right"] {
        let commit = ended.phase(side).commit.clone().unwrap();
        assert_eq!(shop.file(&repo, commit.as_str(), &format!("{side}.md")).as_deref(), Some("x"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_commits_itself_is_in_the_one_commit_that_was_judged() {
    let act = r##"    act:
      steps:
        - write: { path: notes.md, content: "# Notes\n" }
        - run: git add --all && git commit --quiet --message "my own commit"
        - write: { path: more.md, content: "# More\n" }
"##;
    let plan =
        "name: Own\nphases: [{ id: notes, type: documentation, description: N, outputs: [notes.md, more.md] }]\n";
    let shop = Workshop::open(&format!("parts:\n{}", part("notes", act))).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, plan).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert!(repo.join("notes.md").exists() && repo.join("more.md").exists());
    // No gate has seen what a commit of its own held in between.
    assert!(!shop.git(&repo, &["log", "--format=%s"]).contains("my own commit"));
    assert_eq!(shop.git(&repo, &["show", "main:notes.md"]), "# Notes");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_changes_nothing_does_not_pass_and_is_not_asked_for_ever() {
    let plan =
        "name: Idle\nphases: [{ id: idle, type: documentation, description: I, outputs: [a.md], max_attempts: 5 }]\n";
    let shop = Workshop::open(&format!("parts:\n{}", part("idle", "    act: { say: \"All done!\" }\n"))).await;
    let repo = shop.repo();
    let before = shop.git(&repo, &["rev-parse", "HEAD"]);
    let ended = shop.run(&repo, plan).await;
    assert_eq!(ended.view.status, JobStatus::Failed);
    // Told once, changed nothing, told the same again: a third try would be the same.
    assert_eq!(ended.phase("idle").attempt, 2);
    assert!(ended.error().contains("a.md") || ended.error().contains("files_exist"), "{}", ended.error());
    assert_eq!(shop.git(&repo, &["rev-parse", "HEAD"]), before);
}

/// A commit that changes nothing is no progress, however often the branch moves.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_commits_nothing_again_and_again_makes_no_progress() {
    let plan = "name: Idle\nphases: [{ id: idle, type: documentation, description: I, outputs: [a.md], max_attempts: 5, on_failure: fail }]\n";
    let signal = signals();
    let committed = signal.path().join("committed");
    let act = format!(
        "    act: {{ steps: [{{ run: 'git -c user.name=A -c user.email=a@example.invalid commit -q --allow-empty -m progress && touch \"{}\"' }}], say: \"All done!\" }}\n",
        committed.display()
    );
    let shop = Workshop::open(&format!("parts:\n{}", part("idle", &act))).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, plan).await;
    assert_eq!((ended.view.status, ended.phase("idle").attempt), (JobStatus::Failed, 2), "{:#?}", ended.view);
    assert!(committed.exists(), "it made no commit");
}

/// A session that the agent has lost costs a try; the next one starts a session of its own and is told what was tried.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_agent_has_lost_is_replaced_by_a_new_one_that_knows_what_was_tried() {
    let acts = r#"    attempts:
      - { steps: [{ write: { path: a.md, content: wrong } }, { run: 'rm -r "$HOME/../agent.yaml.state/sessions"' }] }
      - { steps: [{ write: { path: a.md, content: never reached } }] }
      - { steps: [{ write: { path: a.md, content: right } }] }
"#;
    let plan = "name: Lost\nphases: [{ id: a, type: documentation, description: D, outputs: [a.md], max_attempts: 3, gates: [{ type: command, command: \"grep -q right a.md\" }] }]\n";
    let shop = Workshop::open(&format!("sessions: known\nparts:\n{}", part("a", acts))).await;
    let ended = shop.run(&shop.repo(), plan).await;
    assert_eq!((ended.view.status, ended.phase("a").attempt), (JobStatus::Succeeded, 3), "{:#?}", ended.view);
    let option = |attempt: u32, name: &str| shop.option(&ended.view.id, "a", attempt, name);
    assert_eq!(option(2, "--resume"), option(1, "--session-id"));
    assert_eq!(option(3, "--resume"), None);
    assert!(option(3, "--session-id").is_some_and(|id| Some(id) != option(1, "--session-id")));
    let told = shop.prompt(&ended.view.id, "a", 3);
    for part in ["Earlier attempts", "grep -q right a.md", "Changed: a.md"] {
        assert!(told.contains(part), "{part:?} is not told:\n{told}");
    }
}

const OPTIONAL: &str = "name: Extras
phases:
  - { id: extra, type: documentation, description: E, outputs: [extra.md], optional: true, max_attempts: 1 }
  - { id: main, type: documentation, description: M, depends_on: [extra], outputs: [main.md] }
";

fn extras() -> String {
    let extra = "    act: { steps: [{ write: { path: half.md, content: x } }], faults: [no-result] }\n";
    let main = "    attempts: [{ steps: [{ write: { path: main.md, content: x } }] }, { steps: [{ write: { path: main.md, content: y } }] }]\n";
    format!("parts:\n{}{}", part("extra", extra), part("main", main))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_goes_on_without_an_optional_phase_that_fails_and_takes_nothing_of_it() {
    let shop = Workshop::open(&extras()).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, OPTIONAL).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!((ended.phase("extra").status, ended.phase("main").status), (PhaseStatus::Skipped, PhaseStatus::Passed));
    assert!(ended.phase("extra").error.is_some());
    assert!(repo.join("main.md").exists() && !repo.join("half.md").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_phases_that_were_asked_for_run() {
    let shop = Workshop::open(&extras()).await;
    let repo = shop.repo();
    let mut request = shop.request(&repo, OPTIONAL);
    request.only = vec![PhaseId::new("main").unwrap()];
    let job = shop.engine.jobs().submit(request).await.unwrap().job.id;
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!((shop.plays("extra"), shop.plays("main")), (0, 1));

    let mut request = shop.request(&repo, OPTIONAL);
    request.from = Some(PhaseId::new("main").unwrap());
    let job = shop.engine.jobs().submit(request).await.unwrap().job.id;
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!((shop.plays("extra"), shop.plays("main")), (0, 2));
}

/// A part of an agent that writes one file.
fn writing(phase: &str, path: &str, text: &str) -> String {
    part(phase, &format!("    act: {{ steps: [{{ write: {{ path: {path}, content: {text:?} }} }}] }}\n"))
}

const BROKEN: &str = "def add(a, b):\n    return a - b\n";
const TESTS: &str = "gates: [{ type: tests_pass, command: \"python3 -m unittest -v\" }]";

#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_phase_broke_is_no_old_failure() {
    let plan = format!(
        "name: Chain
phases:
  - {{ id: build, type: development, description: B, outputs: [shop/add.py] }}
  - {{ id: check, type: test, description: C, depends_on: [build], max_attempts: 1, on_failure: fail, {TESTS} }}
"
    );
    let script = format!("parts:\n{}{}", writing("build", "shop/add.py", BROKEN), writing("check", "notes.md", "n"));
    let shop = Workshop::open(&script).await;
    let repo = shop.adding("a + b");
    let before = shop.git(&repo, &["rev-parse", "HEAD"]);
    let ended = shop.run(&repo, &plan).await;
    assert_eq!(ended.view.status, JobStatus::Failed, "{:#?}", ended.view);
    let Verdict::Fail { findings } = &ended.phase("check").gates[0].verdict else { panic!("{:#?}", ended.view) };
    assert!(findings[0].message.contains("an earlier phase broke it"), "{findings:#?}");
    assert_eq!(shop.git(&repo, &["rev-parse", "HEAD"]), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_before_the_job_blocks_where_the_plan_does_not_name_it() {
    let plan = |tests: &str| {
        format!(
            "name: Idle\nphases: [{{ id: look, type: test, description: L, max_attempts: 1, on_failure: fail, {tests} }}]\n"
        )
    };
    let known = TESTS.replace(" }]", ", known_failures: [\"test_*\"] }]");
    let shop = Workshop::open(&format!("parts:\n{}", part("look", "    act: { say: \"All is well.\" }\n"))).await;
    let repo = shop.adding("a - b");
    let ended = shop.run(&repo, &plan(TESTS)).await;
    assert_eq!(ended.view.status, JobStatus::Failed, "{:#?}", ended.view);
    let ended = shop.run(&repo, &plan(&known)).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let report = &ended.phase("look").gates[0];
    assert!(report.summary.contains("1 of them before the job too"), "{report:#?}");
}

/// An optional phase may be left out for what it did itself, never for what it found in the work that is merged.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_left_out_phase_found_in_the_others_work_is_not_merged() {
    for (body, expected) in [("a - b", JobStatus::Failed), ("b + a", JobStatus::Succeeded)] {
        let plan = format!(
            "name: Extras
phases:
  - {{ id: build, type: development, description: B, outputs: [shop/add.py] }}
  - {{ id: polish, type: development, description: P, depends_on: [build], optional: true, max_attempts: 1, {TESTS} }}
"
        );
        let add = format!("def add(a, b):\n    return {body}\n");
        let polish = "import unittest\n\n\nclass PolishTest(unittest.TestCase):\n    def test_polish(self):\n        self.fail('dull')\n";
        let script = format!(
            "parts:\n{}{}",
            writing("build", "shop/add.py", &add),
            writing("polish", "tests/test_polish.py", polish)
        );
        let shop = Workshop::open(&script).await;
        let repo = shop.adding("a + b");
        let before = shop.git(&repo, &["rev-parse", "HEAD"]);
        let ended = shop.run(&repo, &plan).await;
        assert_eq!(ended.view.status, expected, "{body}: {:#?}", ended.view);
        assert_eq!(ended.phase("polish").status, PhaseStatus::Skipped, "{body}");
        let merged = shop.git(&repo, &["rev-parse", "HEAD"]) != before;
        assert_eq!(merged, expected == JobStatus::Succeeded, "{body}");
        assert!(!repo.join("tests/test_polish.py").exists());
        if merged {
            let evidence = shop.engine.reports().archive().evidence(ended.view.id.as_str()).await.unwrap();
            assert!(evidence.proved, "{evidence:#?}");
        } else {
            assert!(ended.error().contains("test_add"), "{}", ended.error());
        }
    }
}

const DECISION: &str = "---\nadr_id: draft\ntitle: Export\nstatus: Proposed\nfiles: { create: [shop/export.py] }\n---\n# Export\n\n## Context\nRows are needed elsewhere.\n\n## Decision\nWrite CSV.\n\n## Acceptance criteria\n- [ ] `python3 -c 'import shop.export'` exits 0\n";

#[tokio::test(flavor = "multi_thread")]
async fn claims_of_the_decision_are_compared_with_where_the_job_started() {
    let plan = "name: Export
adr: adr/export.md
phases:
  - { id: build, type: development, description: B, outputs: [shop/export.py] }
  - { id: page, type: documentation, description: P, depends_on: [build], outputs: [page.md], max_attempts: 1, gates: [{ type: adr_valid }] }
";
    let script =
        format!("parts:\n{}{}", writing("build", "shop/export.py", "ROWS = 1\n"), writing("page", "page.md", "p"));
    let shop = Workshop::open(&script).await;
    let repo = shop.repo();
    std::fs::create_dir(repo.join("adr")).unwrap();
    std::fs::write(repo.join("adr/export.md"), DECISION).unwrap();
    shop.git(&repo, &["add", "-A"]);
    shop.git(&repo, &["commit", "--quiet", "-m", "Decide"]);
    let ended = shop.run(&repo, plan).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    // Now that the file is there, the same draft cannot be carried out, and nothing has to run to see it.
    match shop.engine.jobs().submit(shop.request(&repo, plan)).await {
        Err(SubmitError::Plan { diagnostics, .. }) => {
            let errors: Vec<_> = diagnostics.iter().filter(|one| one.is_error()).collect();
            let codes: Vec<&str> = errors.iter().map(|one| one.code.as_str()).collect();
            assert_eq!(codes, ["HX0213"], "{diagnostics:#?}");
            assert!(errors[0].message.contains("adr/export.md:5:"), "{diagnostics:#?}");
        }
        other => panic!("{other:?}"),
    }
}

/// The agents of a job stay those of its submission, even where the next host knows other ones.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_goes_on_with_the_agents_of_its_submission_under_any_host() {
    let plan =
        "name: Later\nphases: [{ id: a, type: documentation, description: D, outputs: [a.md], approval: before }]\n";
    let shop = Workshop::open(&format!("parts:\n{}", writing("a", "a.md", "x"))).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, plan).await;
    let question = shop.question(&job).await;
    let kept = shop.sandbox.state().join("agents").join(format!("{job}.json"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&kept.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "profiles may hold keys");
    let shop = shop
        .reopen_as(|config| {
            config.agents = vec![AgentProfile::new("other", DialectName::Claude, vec!["/nowhere/other".into()])];
            config.default_agent = "other".into();
        })
        .await;
    shop.answer(&question, "approve", None).await;
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(shop.plays("a"), 1);
}

/// What a later phase did to the work of an earlier one is in the merged tree: the tests of the earlier one run there, too.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_later_phase_breaks_is_not_merged() {
    let plan = format!(
        "name: Chain
phases:
  - {{ id: build, type: development, description: B, outputs: [shop/more.py], {TESTS} }}
  - {{ id: page, type: documentation, description: P, depends_on: [build], outputs: [page.md] }}
"
    );
    let both = "    act: { steps: [{ write: { path: page.md, content: p } }, { write: { path: shop/add.py, content: \"def add(a, b):\\n    return 0\\n\" } }] }\n";
    for (page, expected) in
        [(part("page", both), JobStatus::Failed), (writing("page", "page.md", "p"), JobStatus::Succeeded)]
    {
        let shop = Workshop::open(&format!("parts:\n{}{page}", writing("build", "shop/more.py", "MORE = 1\n"))).await;
        let repo = shop.adding("a + b");
        let before = shop.git(&repo, &["rev-parse", "HEAD"]);
        let ended = shop.run(&repo, &plan).await;
        assert_eq!(ended.view.status, expected, "{:#?}", ended.view);
        let merged = shop.git(&repo, &["rev-parse", "HEAD"]) != before;
        assert_eq!(merged, expected == JobStatus::Succeeded);
        assert_eq!(merged, !ended.error().contains("test_add"), "{}", ended.error());
    }
}
