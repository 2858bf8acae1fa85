//! Where a job's result goes when the user's own work is in the way.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::workshop::{LIMIT, Workshop, part, signals};
use helix_core::ids::JobId;
use helix_engine::jobs::{Again, ReopenRequest};
use helix_job::{ChangeKind, IntegrationTarget, JobEvent, JobStatus};
use helix_language::Language;
use helix_testkit::processes::no_process_with_env;

const PLAN: &str = r#"
name: Guide
phases:
  - id: guide
    type: documentation
    description: Write a guide.
    outputs: [guide.md]
    gates: [{ type: files_exist, files: [guide.md] }, { type: tests_pass, command: "python3 -m unittest -v" }]
"#;

fn guide(steps: &str) -> String {
    format!(
        "parts:\n{}",
        part("guide", &format!("    act: {{ steps: [{steps}{{ write: {{ path: guide.md, content: G }} }}] }}\n"))
    )
}

/// What the user commits while others work: their walls keep those from doing it.
fn commit(shop: &Workshop, repo: &Path, file: &str, text: &str) {
    std::fs::write(repo.join(file), format!("{text}\n")).unwrap();
    shop.git(repo, &["add", file]);
    shop.git(repo, &["commit", "--quiet", "--message", text]);
}

/// A step of an agent, or a line of a gate's script, that waits for a file.
fn wait(file: &Path) -> String {
    format!("until [ -e {} ]; do sleep 0.02; done", file.display())
}

/// Carries the plan out, and does something while its first agent works, which waits for this file.
async fn meanwhile(shop: &Workshop, repo: &Path, plan: &str, go: &Path, work: impl FnOnce()) -> JobId {
    let job = shop.submit(repo, plan).await;
    shop.until_working(&job, "guide", 1, None).await;
    work();
    std::fs::write(go, "").unwrap();
    job
}

/// Every file below with its bytes, but for git's own.
fn bytes_of(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap() == ".git" {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                files
                    .insert(path.strip_prefix(directory).unwrap().display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn uncommitted_work_is_not_touched_and_the_result_lies_beside_it() {
    let shop = Workshop::open(&guide("")).await;
    let repo = shop.repo();
    commit(&shop, &repo, "guide.md", "old");
    std::fs::write(repo.join("guide.md"), "half a thought").unwrap();
    std::fs::write(repo.join("shop/basket.py"), "half a thought").unwrap();
    std::fs::write(repo.join("staged.txt"), "staged").unwrap();
    shop.git(&repo, &["add", "staged.txt"]);
    std::fs::write(repo.join("untracked.txt"), "mine").unwrap();
    let before =
        (bytes_of(&repo), shop.git(&repo, &["status", "--porcelain"]), shop.git(&repo, &["rev-parse", "HEAD"]));

    let ended = shop.run(&repo, PLAN).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let Some(IntegrationTarget::Beside { branch, why, command, .. }) = ended.view.integration.clone() else {
        panic!("{:?}", ended.view.integration)
    };
    assert!(why.contains("uncommitted"), "{why}");
    assert!(command.contains(&branch), "{command}");
    let after = (bytes_of(&repo), shop.git(&repo, &["status", "--porcelain"]), shop.git(&repo, &["rev-parse", "HEAD"]));
    assert_eq!(before, after);
    // The result starts from what was committed: half a thought is not in it.
    assert_eq!(shop.file(&repo, &branch, "guide.md").as_deref(), Some("G"));
    assert!(shop.file(&repo, &branch, "shop/basket.py").unwrap().contains("class Basket"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_the_users_in_the_way_is_not_overwritten() {
    let shop = Workshop::open(&guide("")).await;
    let repo = shop.repo();
    std::fs::write(repo.join("guide.md"), "the user's own, never added").unwrap();
    let ended = shop.run(&repo, PLAN).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert!(matches!(ended.view.integration, Some(IntegrationTarget::Beside { .. })), "{:?}", ended.view.integration);
    assert_eq!(std::fs::read_to_string(repo.join("guide.md")).unwrap(), "the user's own, never added");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_moved_meanwhile_gets_a_merge_that_was_checked() {
    let signal = signals();
    let go = signal.path().join("go");
    let shop = Workshop::open(&guide(&format!("{{ run: '{}' }}, ", wait(&go)))).await;
    let repo = shop.repo();
    let job = meanwhile(&shop, &repo, PLAN, &go, || commit(&shop, &repo, "news.txt", "news")).await;
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(ended.view.integration, Some(IntegrationTarget::Branch { branch: "main".into() }));
    assert!(repo.join("news.txt").exists() && repo.join("guide.md").exists());
    let gates = ended.events.iter().find_map(|event| match &event.event {
        JobEvent::Integrated(done) => Some((done.result.tree.clone(), done.gates.clone())),
        _ => None,
    });
    let (tree, gates) = gates.unwrap();
    assert!(
        gates.iter().any(|report| report.gate == "tests_pass"),
        "the new tree is checked before it is merged: {gates:#?}"
    );
    assert!(gates.iter().all(|report| report.tree == tree));
    let evidence = shop.engine.reports().archive().evidence(ended.view.id.as_str()).await.unwrap();
    assert!(evidence.proved, "{:?}", evidence.integration.unwrap().missing);
    assert_eq!(shop.git(&repo, &["status", "--porcelain"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_moved_against_the_result_is_left_alone() {
    let signal = signals();
    let go = signal.path().join("go");
    let shop = Workshop::open(&guide(&format!("{{ run: '{}' }}, ", wait(&go)))).await;
    let repo = shop.repo();
    let job = meanwhile(&shop, &repo, PLAN, &go, || commit(&shop, &repo, "guide.md", "other")).await;
    let ended = shop.ended(&job).await;
    let Some(IntegrationTarget::Beside { branch, why, .. }) = ended.view.integration.clone() else {
        panic!("{:#?}", ended.view)
    };
    assert!(why.contains("guide.md"), "{why}");
    assert_eq!(shop.file(&repo, &branch, "guide.md").as_deref(), Some("G"));
    assert_eq!(std::fs::read_to_string(repo.join("guide.md")).unwrap(), "other\n");
    assert_eq!(shop.git(&repo, &["log", "-1", "--format=%s"]), "other");
}

/// What was checked for a merge that could not land is no proof of another tree.
#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_moves_against_the_result_while_its_merge_is_checked_leaves_the_proof_of_the_result() {
    let signal = signals();
    let [go, checked, moved] = ["go", "checked", "moved"].map(|name| signal.path().join(name));
    let shop = Workshop::open(&guide(&format!("{{ run: '{}' }}, ", wait(&go)))).await;
    let repo = shop.repo();
    // The user commits again once the merge is looked at.
    let script = format!("test -e news.txt || exit 0\ntouch {}\n{}\n", checked.display(), wait(&moved));
    std::fs::write(repo.join("move.sh"), script).unwrap();
    shop.git(&repo, &["add", "move.sh"]);
    shop.git(&repo, &["commit", "--quiet", "--message", "a gate"]);
    let plan = PLAN.replace("gates: [", "gates: [{ type: command, command: \"sh move.sh\" }, ");
    let job = meanwhile(&shop, &repo, &plan, &go, || commit(&shop, &repo, "news.txt", "news")).await;
    let start = Instant::now();
    while !checked.exists() {
        assert!(start.elapsed() < LIMIT, "no gate looks at the merge");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    commit(&shop, &repo, "guide.md", "other");
    std::fs::write(&moved, "").unwrap();
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert!(matches!(ended.view.integration, Some(IntegrationTarget::Beside { .. })), "{:?}", ended.view.integration);
    assert_eq!(shop.git(&repo, &["log", "-1", "--format=%s"]), "other");
    let evidence = shop.engine.reports().archive().evidence(ended.view.id.as_str()).await.unwrap();
    assert!(evidence.proved, "{:?}", evidence.integration.unwrap().missing);
}

fn unfinished() -> ReopenRequest {
    ReopenRequest { what: Again::Unfinished, takes_plan: false, budget_usd: None, by: "a test".into() }
}

/// What a client asked for and no longer waits for is done and recorded.
#[tokio::test(flavor = "multi_thread")]
async fn a_revert_goes_on_to_its_record_when_nobody_waits_for_it() {
    let shop = Workshop::open(&guide("")).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, PLAN).await;
    let jobs = shop.engine.jobs();
    let asked = jobs.revert(&ended.view.id, "ada".into());
    assert!(tokio::time::timeout(Duration::from_millis(1), asked).await.is_err(), "it takes longer than that");
    let start = Instant::now();
    let reverted = loop {
        if let Some(reverted) = jobs.get(ended.view.id.as_str()).await.unwrap().reverted {
            break reverted;
        }
        assert!(start.elapsed() < LIMIT, "it was not recorded");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(shop.git(&repo, &["rev-parse", "HEAD"]).trim(), reverted.commit.as_str());
    assert_eq!((reverted.by.name.as_str(), reverted.branch.as_str()), ("ada", "main"));
}

/// A git that cannot write its index as long as a test wants that: what a full disk looks like.
const FULL_DISK: &str = r#"case "$*" in
"update-index --add"*) if [ -e "$D/full" ]; then echo "fatal: unable to write new index file: No space left on device" >&2; exit 128; fi ;;
esac"#;

#[tokio::test(flavor = "multi_thread")]
async fn work_that_cannot_be_committed_stays_where_it_is_and_is_committed_when_the_job_goes_on() {
    let shop = Workshop::with_git(&guide(""), |_| {}, FULL_DISK).await;
    let repo = shop.repo();
    std::fs::write(shop.signal("full"), "").unwrap();
    let ended = shop.run(&repo, PLAN).await;
    assert_eq!(ended.view.status, JobStatus::Failed, "{:#?}", ended.view);
    let (job, worktree) = (ended.view.id.clone(), shop.worktree(&ended.view.id, "guide", 1));
    assert!(ended.error().contains("No space left"), "{}", ended.error());
    assert!(ended.error().contains(worktree.to_str().unwrap()), "it says where the work is: {}", ended.error());
    assert!(ended.view.error.as_ref().unwrap().hint.as_ref().unwrap().contains("resume"));
    // Neither the end of the job nor a new host removes the only copy.
    let shop = shop.reopen().await;
    assert_eq!(std::fs::read_to_string(worktree.join("guide.md")).unwrap(), "G");
    std::fs::remove_file(shop.signal("full")).unwrap();
    shop.engine.jobs().reopen(&job, unfinished()).await.unwrap();
    let ended = shop.ended_again(&job, ended.view.last_event).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(shop.file(&repo, "main", "guide.md").as_deref(), Some("G"));
    assert_eq!(shop.plays("guide"), 1, "the agent had done its work");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_new_host_removes_is_never_the_worktree_of_a_job_that_goes_on() {
    let script =
        part("guide", "    attempts: [{ say: Done. }, { steps: [{ write: { path: guide.md, content: G } }] }]\n");
    let shop = Workshop::open(&format!("parts:\n{script}")).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, &PLAN.replace("outputs: [guide.md]", "outputs: [guide.md]\n    max_attempts: 1")).await;
    assert_eq!(ended.view.status, JobStatus::Failed, "{:#?}", ended.view);
    let job = ended.view.id.clone();
    // A host that died before it had removed anything: much of an earlier job, and a directory of this one.
    let worktrees = shop.sandbox.state().join("worktrees");
    for number in 0..2_000 {
        let directory = worktrees.join("j0/big.1").join(number.to_string());
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("file"), "x").unwrap();
    }
    std::fs::create_dir_all(worktrees.join(job.as_str())).unwrap();
    let shop = shop.reopen().await;
    let left: Vec<String> =
        std::fs::read_dir(&worktrees).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(left, [".trash"], "out of the way before anything goes on");
    shop.engine.jobs().reopen(&job, unfinished()).await.unwrap();
    let ended = shop.ended_again(&job, ended.view.last_event).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let changed = ended.events.iter().find_map(|event| match &event.event {
        JobEvent::Integrated(done) => Some(done.result.changed.clone()),
        _ => None,
    });
    let changed: Vec<_> = changed.unwrap().into_iter().map(|file| (file.path, file.how)).collect();
    assert_eq!(changed, [("guide.md".to_owned(), ChangeKind::Added)], "nothing but what the agent wrote");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_is_cloned_anew_is_worked_in_and_none_keeps_processes_for_ever() {
    // While the first job waits for an answer, its repository is deleted and made anew.
    let shop = Workshop::open(&guide("")).await;
    let repo = shop.repo();
    let first = shop.submit(&repo, &PLAN.replace("outputs:", "approval: after\n    outputs:")).await;
    shop.question(&first).await;
    std::fs::remove_dir_all(&repo).unwrap();
    let repo = shop.repo();
    std::fs::write(repo.join("new.txt"), "another history").unwrap();
    shop.git(&repo, &["add", "."]);
    shop.git(&repo, &["commit", "--quiet", "--message", "another history"]);
    let ended = shop.run(&repo, PLAN).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(shop.file(&repo, "main", "guide.md").as_deref(), Some("G"));
    shop.engine.jobs().cancel(&first, &"a test".into()).await.unwrap();
    shop.ended(&first).await;
    no_process_with_env("HELIX_GIT_STATE", shop.sandbox.state().to_str().unwrap(), crate::workshop::LIMIT);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_had_to_be_put_right_to_commit_a_result_is_in_the_jobs_record() {
    let shop = Workshop::open(&guide("{ run: git init --quiet inner && touch inner/x.txt }, ")).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, PLAN).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let recorded = ended.events.iter().find_map(|event| match &event.event {
        JobEvent::ResultCommitted { repairs, .. } => Some(repairs.clone()),
        _ => None,
    });
    let notes = ended.phase("guide").notes.clone();
    assert!(notes.len() == 1 && notes[0].contains("inner was a repository of its own"), "{notes:?}");
    assert_eq!(recorded, Some(notes));
}

/// Where somebody tidied up under the agent (its own walls keep it from doing so), tests of what was there before prove nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_that_is_removed_under_its_agent_is_no_result_without_changes() {
    let signal = signals();
    let go = signal.path().join("go");
    let act = format!("    act: {{ steps: [{{ run: 'until [ -e {} ]; do sleep 0.02; done' }}] }}\n", go.display());
    let shop = Workshop::open(&format!("parts:\n{}", part("check", &act))).await;
    let repo = shop.repo();
    let plan = "name: Check\nphases:\n  - { id: check, type: test, description: Mend the tests., gates: [{ type: tests_pass, command: \"python3 -m unittest -v\" }] }\n";
    let job = shop.submit(&repo, plan).await;
    shop.until_working(&job, "check", 1, None).await;
    std::fs::remove_dir_all(shop.worktree(&job, "check", 1)).unwrap();
    std::fs::write(&go, "").unwrap();
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Failed, "{:#?}", ended.view);
    let error = ended.view.phases[0].error.clone().unwrap();
    assert!(error.message.contains("was removed while the agent worked"), "{error:?}");
    assert!(error.hint.unwrap().contains(&format!("`helix jobs resume {}`", ended.view.id)));
    assert!(ended.view.phases[0].gates.is_empty(), "{:#?}", ended.view);
}

/// No gate sees what no result may hold, and what somebody does to the user's repository while an agent works is named.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_out_of_the_result_goes_back_to_the_agent_and_changes_around_it_are_notes() {
    let signal = signals();
    let go = signal.path().join("go");
    let acts = format!(
        "    attempts:\n      - steps: [{{ write: {{ path: guide.md, content: G }} }}, {{ run: 'ln -s /etc/passwd link' }}, {{ run: '{}' }}]\n      - steps: [{{ run: rm link }}]\n",
        wait(&go)
    );
    let shop = Workshop::open(&format!("parts:\n{}", part("guide", &acts))).await;
    let repo = shop.repo();
    let around = || {
        shop.git(&repo, &["update-ref", "refs/heads/other", "HEAD"]);
        std::fs::write(repo.join(".git/hooks/pre-commit"), "").unwrap();
    };
    let job = meanwhile(&shop, &repo, PLAN, &go, around).await;
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(ended.phase("guide").attempt, 2);
    let results = ended.events.iter().filter_map(|one| match &one.event {
        JobEvent::ResultCommitted { repairs, findings, .. } => Some((repairs.clone(), findings.clone())),
        JobEvent::GateFinished { attempt: 1, .. } => panic!("a gate has looked at it"),
        _ => None,
    });
    let results: Vec<_> = results.collect();
    assert_eq!(results[0].1[0].rule, "result.link", "{results:?}");
    let told = &results[0].0[0];
    assert!(told.contains("branch other") && told.contains("hooks/pre-commit"), "{told}");
    assert_eq!(results[1], (vec![], vec![]));
    let told = shop.prompt(&ended.view.id, "guide", 2);
    assert!(told.contains("/etc/passwd"), "{told}");
    assert!(std::fs::symlink_metadata(repo.join("link")).is_err());
}

/// Code that changes what assertions do.
const PATCHES: &str = r#"{ write: { path: shop/add.py, content: "import unittest\n\nunittest.TestCase.assertEqual = lambda *_: None\n\n\ndef add(a, b):\n    return 0\n" } }"#;

/// What a phase without such gates does to the work of another one, later or beside it, is judged by that one's gates, with all that
/// they ask, before it lands.
#[tokio::test(flavor = "multi_thread")]
async fn what_lands_has_passed_the_gates_of_every_phase_with_all_that_they_ask() {
    let guide = "{ write: { path: docs/guide.md, content: G } }";
    let later = "depends_on: [code], ";
    let unseen = "they do not test this work";
    for (order, steps, error) in [
        (later, format!("{guide}, {{ run: 'rm shop/more.py' }}"), "shop/more.py is not in the result"),
        (
            later,
            format!("{guide}, {{ write: {{ path: shop/more.py, content: \"def more(:\\n\" }} }}"),
            "Expected a parameter",
        ),
        (later, format!("{guide}, {PATCHES}"), unseen),
        ("", format!("{guide}, {PATCHES}"), unseen),
        (later, guide.to_owned(), ""),
        ("", guide.to_owned(), ""),
    ] {
        let plan = format!(
            "name: Chain
phases:
  - {{ id: code, type: development, description: C, outputs: [shop/more.py, tests/test_more.py], gates: [{{ type: files_exist, files: [shop/more.py] }}, {{ type: syntax_check }}, {{ type: tests_pass, command: \"python3 -m unittest -v\" }}] }}
  - {{ id: guide, type: documentation, description: G, {order}outputs: [docs/], gates: [] }}
"
        );
        let code = "    act: { steps: [{ write: { path: shop/more.py, content: \"from shop.add import add\\n\\n\\ndef more(a):\\n    return add(a, 1)\\n\" } }, { write: { path: tests/test_more.py, content: \"import unittest\\nfrom shop.more import more\\n\\n\\nclass MoreTest(unittest.TestCase):\\n    def test_more(self):\\n        self.assertEqual(more(1), 2)\\n\" } }] }\n";
        let parts = [part("code", code), part("guide", &format!("    act: {{ steps: [{steps}] }}\n"))];
        let shop = Workshop::open(&format!("parts:\n{}", parts.concat())).await;
        let repo = shop.adding("a + b");
        let before = shop.git(&repo, &["rev-parse", "HEAD"]);
        let ended = shop.run(&repo, &plan).await;
        assert_eq!(ended.view.status == JobStatus::Succeeded, error.is_empty(), "{steps}: {:#?}", ended.view);
        assert!(ended.error().contains(error), "{steps}: {}", ended.error());
        assert_eq!(shop.git(&repo, &["rev-parse", "HEAD"]) == before, !error.is_empty(), "{steps}");
    }
}

/// Two phases have the same gate, and a later one without it removes a test of the second.
#[tokio::test(flavor = "multi_thread")]
async fn tests_are_compared_with_those_of_every_phase_on_which_one_without_the_gate_has_built() {
    let test = |more: &str| {
        format!(
            "{{ write: {{ path: tests/test_more.py, content: \"import unittest\\nfrom shop.more import more\\n\\n\\nclass MoreTest(unittest.TestCase):\\n    def test_more(self):\\n        self.assertEqual(more(1), 2)\\n{more}\" }} }}"
        )
    };
    let second = "\\n    def test_much_more(self):\\n        self.assertEqual(more(5), 6)\\n";
    let gates = "gates: [{ type: tests_pass, command: \"python3 -m unittest -v\" }]";
    let plan = format!(
        "name: Chain
phases:
  - {{ id: first, type: documentation, description: F, outputs: [first.md], {gates} }}
  - {{ id: code, type: development, description: C, depends_on: [first], outputs: [shop/more.py, tests/test_more.py], {gates} }}
  - {{ id: guide, type: documentation, description: G, depends_on: [code], outputs: [docs/], gates: [] }}
"
    );
    let guide = "{ write: { path: docs/guide.md, content: G } }";
    for (steps, succeeds) in [(format!("{guide}, {}", test("")), false), (guide.to_owned(), true)] {
        let more = "{ write: { path: shop/more.py, content: \"def more(a):\\n    return a + 1\\n\" } }";
        let acts = [("first", "{ write: { path: first.md, content: F } }".to_owned()), ("guide", steps)];
        let acts = acts.into_iter().chain([("code", format!("{more}, {}", test(second)))]);
        let parts: String = acts.map(|(id, steps)| part(id, &format!("    act: {{ steps: [{steps}] }}\n"))).collect();
        let shop = Workshop::open(&format!("parts:\n{parts}")).await;
        let ended = shop.run(&shop.adding("a + b"), &plan).await;
        assert_eq!(ended.view.status == JobStatus::Succeeded, succeeds, "{:#?}", ended.view);
        assert_eq!(ended.error().contains("6 tests ran before"), !succeeds, "{}", ended.error());
    }
}

/// Results of one repository land one after the other, and the gates of the first may take long.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_cancelled_while_another_one_lands_is_over_at_once() {
    let signal = signals();
    let [go, landing, on] = ["go", "landing", "on"].map(|name| signal.path().join(name));
    let page = part("page", "    act: { steps: [{ write: { path: page.md, content: P } }] }\n");
    let shop = Workshop::open(&format!("{}{page}", guide(&format!("{{ run: '{}' }}, ", wait(&go))))).await;
    let repo = shop.repo();
    let script = format!("test -e news.txt || exit 0\ntouch {}\n{}\n", landing.display(), wait(&on));
    commit(&shop, &repo, "check.sh", script.trim_end());
    let gate = "gates: [{ type: command, command: \"sh check.sh\" }]";
    let plan = format!(
        "name: Guide\nphases: [{{ id: guide, type: documentation, description: G, outputs: [guide.md], {gate} }}]\n"
    );
    let first = meanwhile(&shop, &repo, &plan, &go, || commit(&shop, &repo, "news.txt", "news")).await;
    shop.until_there(&landing).await;
    let plan =
        "name: Page\nphases: [{ id: page, type: documentation, description: P, outputs: [page.md], gates: [] }]\n";
    let second = shop.submit(&repo, plan).await;
    shop.until_event(&second, "result_committed").await;
    while shop.engine.jobs().get(second.as_str()).await.unwrap().phases[0].completed_at.is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    shop.engine.jobs().cancel(&second, &"a test".into()).await.unwrap();
    let cancelled = shop.ended(&second).await;
    assert_eq!(cancelled.view.status, JobStatus::Cancelled);
    // Who resumes it waits until nothing of it is under way any more.
    let resumed = shop.engine.jobs().reopen(&second, unfinished());
    let resumed = tokio::time::timeout(Duration::from_secs(30), resumed).await;
    resumed.unwrap().unwrap();
    assert!(!repo.join("page.md").exists() && !repo.join("guide.md").exists());
    std::fs::write(&on, "").unwrap();
    assert_eq!(shop.ended(&first).await.view.status, JobStatus::Succeeded);
    let ended = shop.ended_again(&second, cancelled.events.len() as u64).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
}

/// A later phase that nobody approves changes what a person has approved.
#[tokio::test(flavor = "multi_thread")]
async fn what_changed_after_it_was_approved_is_not_proved() {
    let check = "gates: [{ type: syntax_check }]";
    for (path, approval, lacking) in [
        ("shop/more.py", "", "phase polish changed shop/more.py after the approval in phase code"),
        ("shop/more.py", "approval: after, ", ""),
        ("shop/other.py", "", ""),
    ] {
        let plan = format!(
            "name: Chain
phases:
  - {{ id: code, type: development, description: C, outputs: [shop/more.py], approval: after, {check} }}
  - {{ id: polish, type: development, description: P, depends_on: [code], outputs: [shop/], {approval}{check} }}
"
        );
        let write = |path: &str, text: &str| {
            format!("    act: {{ steps: [{{ write: {{ path: {path}, content: \"MORE = {text}\\n\" }} }}] }}\n")
        };
        let script =
            format!("parts:\n{}{}", part("code", &write("shop/more.py", "1")), part("polish", &write(path, "2")));
        let shop = Workshop::open(&script).await;
        let repo = shop.repo();
        let job = shop.submit(&repo, &plan).await;
        for _ in 0..if approval.is_empty() { 1 } else { 2 } {
            let question = shop.question(&job).await;
            shop.answer(&question, "approve", None).await;
        }
        let ended = shop.ended(&job).await;
        assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
        let evidence = shop.engine.reports().archive().evidence(job.as_str()).await.unwrap();
        assert_eq!(evidence.proved, lacking.is_empty(), "{path}: {:?}", evidence.lacking);
        let said: Vec<String> = evidence.lacking.iter().map(|one| Language::English.words(one)).collect();
        assert!(said.concat().contains(lacking), "{said:?}");
    }
}

const CRITERIA: &str = "---\nadr_id: draft\ntitle: More\nstatus: Proposed\nfiles: { create: [shop/more.py] }\n---\n# More\n\n## Context\nMore is needed.\n\n## Decision\nAdd it.\n\n## Acceptance criteria\n- [ ] It adds one — test: `python3 -m unittest -v tests.test_more`\n";

/// A later phase empties the test that a criterion names and that the phase with its gate has written.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_later_phase_did_to_a_test_of_a_criterion_is_not_merged() {
    let test = |body: &str| {
        format!(
            "{{ write: {{ path: tests/test_more.py, content: \"import unittest\\nfrom shop.more import more\\n\\n\\nclass MoreTest(unittest.TestCase):\\n    def test_more(self):\\n        {body}\\n\" }} }}"
        )
    };
    let more = |answer: &str| {
        format!("{{ write: {{ path: shop/more.py, content: \"def more(a):\\n    return {answer}\\n\" }} }}")
    };
    let plan = "name: More
adr: adr/more.md
phases:
  - { id: code, type: development, description: C, outputs: [shop/more.py, tests/test_more.py], gates: [{ type: criteria_covered }] }
  - { id: guide, type: documentation, description: G, depends_on: [code], outputs: [docs/], gates: [] }
";
    let guide = "{ write: { path: docs/guide.md, content: G } }";
    for (steps, expected) in [
        (format!("{guide}, {}, {}", more("0"), test("more(1)")), JobStatus::Failed),
        (guide.to_owned(), JobStatus::Succeeded),
    ] {
        let code = format!("    act: {{ steps: [{}, {}] }}\n", more("a + 1"), test("self.assertEqual(more(1), 2)"));
        let parts = [part("code", &code), part("guide", &format!("    act: {{ steps: [{steps}] }}\n"))];
        let shop = Workshop::open(&format!("parts:\n{}", parts.concat())).await;
        let repo = shop.repo();
        std::fs::create_dir(repo.join("adr")).unwrap();
        commit(&shop, &repo, "adr/more.md", CRITERIA);
        let ended = shop.run(&repo, plan).await;
        assert_eq!(ended.view.status, expected, "{:#?}", ended.view);
        assert_eq!(ended.error().contains("test_more"), expected == JobStatus::Failed, "{}", ended.error());
    }
}
