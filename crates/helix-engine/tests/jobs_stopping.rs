//! Agents that have to be stopped, and agents that were: cancel, time limits, lingering, lost keepers, killed agents.

use std::time::Duration;

use crate::workshop::{Ended, Workshop, part, patient, signals};
use helix_agents::Grace;
use helix_core::ids::{JobId, PhaseId};
use helix_core::run::{Outcome, StopCause};
use helix_engine::agent_run::RunTimeouts;
use helix_engine::jobs::{Again, ReopenRequest};
use helix_job::{AskPerson, JobEvent, JobStatus, PhaseStatus, Wait};
use helix_store::{Access, Append, Journal, NewEvent, Projection, SqliteJournal, Stream};
use helix_testkit::processes::processes_with_env;

const PLAN: &str = "name: Note
phases:
  - { id: note, type: documentation, description: N, outputs: [note.md], max_attempts: 2 }
";

fn outcomes(ended: &Ended) -> Vec<Outcome> {
    let facts = ended.events.iter().filter_map(|event| match &event.event {
        JobEvent::RunFinished { end, .. } => Some(end.outcome()),
        _ => None,
    });
    facts.collect()
}

/// Kills the first process of a run whose command line has this text.
fn kill(value: &str, command: &str) {
    let found = processes_with_env("HELIX_RUN_ID", value).unwrap();
    let process = found.iter().find(|process| process.command.contains(command)).unwrap();
    let pid = rustix::process::Pid::from_raw(process.pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_job_is_over_at_once_and_stays_so_with_its_work_kept() {
    // Deaf agents with a deaf orphan in a session of its own: only SIGKILL to the whole tree ends this.
    let act = "    act: { steps: [{ write: { path: note.md, content: half } }], faults: [deaf, orphan, hang] }\n";
    let timeouts = RunTimeouts { grace: Grace::each(Duration::from_millis(300)), ..patient() };
    let shop = Workshop::with_timeouts(&format!("parts:\n{}", part("note", act)), timeouts).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, PLAN).await;
    shop.until_working(&job, "note", 1, Some("note.md")).await;
    shop.engine.jobs().cancel(&job, &"a test".into()).await.unwrap();
    let ended = shop.ended(&job).await;

    assert_eq!(ended.view.status, JobStatus::Cancelled);
    assert_eq!(ended.phase("note").status, PhaseStatus::Cancelled);
    assert_eq!(outcomes(&ended), [Outcome::Cancelled]);
    let at = |name: &str| ended.events.iter().find(|event| event.event.name() == name).unwrap().at;
    let took = at("job_finished").duration_since(at("cancel_requested"));
    assert!(took.as_secs() < 30, "it took {took}");
    // Sticky: nothing changes it any more, and no second try has begun.
    assert!(shop.engine.jobs().cancel(&job, &"again".into()).await.is_err());
    assert_eq!(shop.plays("note"), 1);
    let branch = format!("helix/{job}/note/1");
    assert_eq!(shop.file(&repo, &branch, "note.md").as_deref(), Some("half"));
    assert!(!repo.join("note.md").exists());

    let shop = shop.reopen().await;
    assert_eq!(shop.engine.jobs().get(job.as_str()).await.unwrap(), ended.view);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_reaches_an_agent_that_a_former_engine_started() {
    let act = "    act: { steps: [{ write: { path: note.md, content: half } }], faults: [hang] }\n";
    let shop = Workshop::open(&format!("parts:\n{}", part("note", act))).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, PLAN).await;
    shop.until_working(&job, "note", 1, Some("note.md")).await;
    let shop = shop.reopen().await;
    shop.engine.jobs().cancel(&job, &"a test".into()).await.unwrap();
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Cancelled);
    assert_eq!((outcomes(&ended), shop.plays("note")), (vec![Outcome::Cancelled], 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_that_cannot_be_recorded_is_tried_again_and_the_job_is_not_over_before_its_agent() {
    let act = "    act: { steps: [{ write: { path: note.md, content: half } }], faults: [hang] }\n";
    let shop = Workshop::open(&format!("parts:\n{}", part("note", act))).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, PLAN).await;
    let run = shop.until_working(&job, "note", 1, Some("note.md")).await;
    let stop = shop.sandbox.state().join("runs").join(run.as_str()).join("stop.json");
    std::fs::create_dir(&stop).unwrap();
    shop.engine.jobs().cancel(&job, &"a test".into()).await.unwrap();
    // A failed try leaves no trace outside of the log: as long as this, none may be taken for the end.
    assert!(tokio::time::timeout(Duration::from_secs(2), shop.ended(&job)).await.is_err(), "its agent lives");
    assert!(!processes_with_env("HELIX_RUN_ID", run.as_str()).unwrap().is_empty());
    std::fs::remove_dir(&stop).unwrap();
    let ended = shop.ended(&job).await;
    assert_eq!((ended.view.status, outcomes(&ended)), (JobStatus::Cancelled, vec![Outcome::Cancelled]));
    assert_eq!(shop.file(&repo, &format!("helix/{job}/note/1"), "note.md").as_deref(), Some("half"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phase_that_takes_too_long_is_stopped_and_tried_again() {
    let acts = "    attempts: [{ faults: [hang] }, { steps: [{ write: { path: note.md, content: N } }] }]\n";
    let shop = Workshop::open(&format!("parts:\n{}", part("note", acts))).await;
    let repo = shop.repo();
    // Long enough for the second, quick try on a busy machine.
    let ended = shop.run(&repo, &PLAN.replace("max_attempts: 2", "max_attempts: 2, timeout: 8s")).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert!(matches!(outcomes(&ended)[..], [Outcome::TimedOut, Outcome::Completed(_)]), "{:?}", outcomes(&ended));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_stays_after_its_result_is_ended_and_not_taken_at_its_word() {
    let acts = "    attempts: [{ steps: [{ write: { path: note.md, content: N } }], faults: [result-then-hang] }, { say: It is there. }]\n";
    let timeouts = RunTimeouts { linger: Duration::from_millis(500), ..patient() };
    let shop = Workshop::with_timeouts(&format!("parts:\n{}", part("note", acts)), timeouts).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, PLAN).await;
    let causes: Vec<Option<StopCause>> = ended
        .events
        .iter()
        .filter_map(|event| match &event.event {
            JobEvent::RunFinished { end, .. } => Some(end.facts.stopped),
            _ => None,
        })
        .collect();
    assert_eq!(causes.first(), Some(&Some(StopCause::Lingered)), "{causes:?}");
    assert!(!matches!(outcomes(&ended)[0], Outcome::Completed(_)), "{:?}", outcomes(&ended)[0]);
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(std::fs::read_to_string(repo.join("note.md")).unwrap(), "N");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_says_nothing_any_more_is_ended() {
    let acts = "    attempts: [{ faults: [hang] }, { steps: [{ write: { path: note.md, content: N } }] }]\n";
    // Longer than a busy machine keeps a quick agent from its first word.
    let timeouts = RunTimeouts { stall: Duration::from_secs(8), ..patient() };
    let shop = Workshop::with_timeouts(&format!("parts:\n{}", part("note", acts)), timeouts).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, PLAN).await;
    assert!(matches!(outcomes(&ended)[..], [Outcome::Stalled, Outcome::Completed(_)]), "{:?}", outcomes(&ended));
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
}

/// An agent that hangs and goes on printing lines without meaning says nothing, either.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_prints_only_notices_any_more_is_ended() {
    let acts = "    attempts: [{ faults: [{ kind: flood, lines: 6000, per_second: 20 }] }, { steps: [{ write: { path: note.md, content: N } }] }]\n";
    let timeouts = RunTimeouts { stall: Duration::from_secs(8), ..patient() };
    let shop = Workshop::with_timeouts(&format!("parts:\n{}", part("note", acts)), timeouts).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, PLAN).await;
    assert!(matches!(outcomes(&ended)[..], [Outcome::Stalled, Outcome::Completed(_)]), "{:?}", outcomes(&ended));
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
}

/// A tool works, however long it says nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_silent_for_longer_than_the_agent_may_be_is_no_stall() {
    let acts = "    act: { steps: [{ run: sleep 12 }, { write: { path: note.md, content: N } }] }\n";
    let timeouts = RunTimeouts { stall: Duration::from_secs(8), ..patient() };
    let shop = Workshop::with_timeouts(&format!("parts:\n{}", part("note", acts)), timeouts).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, PLAN).await;
    assert!(matches!(outcomes(&ended)[..], [Outcome::Completed(_)]), "{:?}", outcomes(&ended));
    assert_eq!((ended.view.status, shop.plays("note")), (JobStatus::Succeeded, 1), "{:#?}", ended.view);
}

/// First try: works until somebody ends it. Second try: done.
fn interrupted() -> String {
    let acts = "    attempts: [{ steps: [{ write: { path: half.md, content: H } }], faults: [hang] }, { steps: [{ write: { path: note.md, content: N } }, { delete: half.md }] }]\n";
    format!("parts:\n{}", part("note", acts))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_keeper_is_killed_is_ended_and_the_phase_tried_again() {
    let shop = Workshop::open(&interrupted()).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, PLAN).await;
    let run = shop.until_working(&job, "note", 1, Some("half.md")).await;
    let record = shop.sandbox.state().join("runs").join(run.as_str()).join("run.json");
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    let keeper = record["keeper"]["pid"].as_i64().unwrap_or_else(|| panic!("{record}"));
    let keeper = rustix::process::Pid::from_raw(i32::try_from(keeper).unwrap()).unwrap();
    rustix::process::kill_process(keeper, rustix::process::Signal::KILL).unwrap();
    let ended = shop.ended(&job).await;
    assert!(matches!(outcomes(&ended)[..], [Outcome::Lost, Outcome::Completed(_)]), "{:?}", outcomes(&ended));
    assert_eq!((ended.view.status, shop.plays("note")), (JobStatus::Succeeded, 2));
    // What the lost try had done was not lost.
    assert_eq!(shop.file(&repo, &format!("helix/{job}/note/1"), "half.md").as_deref(), Some("H"));
    assert!(repo.join("note.md").exists() && !repo.join("half.md").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_killed_is_tried_again() {
    let shop = Workshop::open(&interrupted()).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, PLAN).await;
    let run = shop.until_working(&job, "note", 1, Some("half.md")).await;
    kill(run.as_str(), "helix-fake-agent");
    let ended = shop.ended(&job).await;
    assert_eq!((ended.view.status, shop.plays("note")), (JobStatus::Succeeded, 2), "{:#?}", ended.view);
    assert_eq!(ended.phase("note").id, PhaseId::new("note").unwrap());
    assert!(
        matches!(outcomes(&ended)[..], [Outcome::Truncated { .. }, Outcome::Completed(_)]),
        "{:?}",
        outcomes(&ended)
    );
}

/// Waits until the phase of a job waits for something.
async fn until_waiting(shop: &Workshop, job: &helix_core::ids::JobId, phase: &str) -> Wait {
    let start = std::time::Instant::now();
    loop {
        let view = shop.engine.jobs().get(job.as_str()).await.unwrap();
        let found = view.phases.into_iter().find(|one| one.id.as_str() == phase).unwrap();
        if let Some(wait) = found.waits_for {
            assert!(
                found.stage.unwrap().contains(&helix_job::phrases::waits(helix_language::Language::English, &wait)),
                "people see it too"
            );
            return wait;
        }
        assert!(start.elapsed() < crate::workshop::LIMIT, "{phase} does not wait");
        // The line is no event of the job: it cannot be awaited from outside.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_waits_for_a_place_says_so_and_is_cancelled_at_once() {
    let act = "    act: { faults: [hang] }\n";
    let script = format!("parts:\n{}", part("note", act));
    let shop = Workshop::configured(&script, |config| config.admission.agents = 1).await;
    let repo = shop.repo();
    let first = shop.submit(&repo, PLAN).await;
    shop.until_working(&first, "note", 1, None).await;
    let second = shop.submit(&repo, PLAN).await;
    let wait = until_waiting(&shop, &second, "note").await;
    assert_eq!(wait, Wait::Places { of: "agents".into(), taken: 1, places: 1, waiting: 1 });
    assert_eq!(shop.engine.jobs().get(second.as_str()).await.unwrap().status, JobStatus::Queued);
    shop.engine.jobs().cancel(&second, &"a test".into()).await.unwrap();
    let ended = shop.ended(&second).await;
    // Nothing was made for it: no attempt, no process, no worktree.
    assert_eq!(ended.names(), ["job_submitted", "cancel_requested", "job_finished"]);
    assert!(ended.view.phases.iter().all(|phase| phase.waits_for.is_none()));
    shop.engine.jobs().cancel(&first, &"a test".into()).await.unwrap();
    assert_eq!(shop.ended(&first).await.view.status, JobStatus::Cancelled);
    assert_eq!(shop.plays("note"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_outlive_their_host_keep_their_places() {
    let script = format!("parts:\n{}", part("note", "    act: { faults: [hang] }\n"));
    let shop = Workshop::configured(&script, |config| config.admission.agents = 1).await;
    let repo = shop.repo();
    let first = shop.submit(&repo, PLAN).await;
    shop.until_working(&first, "note", 1, None).await;
    let shop = shop.reopen().await;
    let second = shop.submit(&repo, PLAN).await;
    let wait = until_waiting(&shop, &second, "note").await;
    assert_eq!(wait, Wait::Places { of: "agents".into(), taken: 1, places: 1, waiting: 1 });
    for job in [second, first] {
        shop.engine.jobs().cancel(&job, &"a test".into()).await.unwrap();
        assert_eq!(shop.ended(&job).await.view.status, JobStatus::Cancelled);
    }
    assert_eq!(shop.plays("note"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_starts_while_memory_is_below_the_floor_and_the_job_says_why() {
    let script = format!("parts:\n{}", part("note", "    act: { steps: [] }\n"));
    let shop = Workshop::configured(&script, |config| config.admission.memory_floor = u64::MAX).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, PLAN).await;
    let Wait::Memory { needed_bytes, .. } = until_waiting(&shop, &job, "note").await else { panic!("not for memory") };
    assert_eq!(needed_bytes, u64::MAX);
    shop.engine.jobs().cancel(&job, &"a test".into()).await.unwrap();
    assert_eq!(shop.ended(&job).await.view.status, JobStatus::Cancelled);
    assert_eq!(shop.plays("note"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wide_job_does_not_starve_one_that_is_submitted_later() {
    // Every agent of the wide job works until both jobs are there.
    let signal = signals();
    let go = signal.path().join("go");
    let act = format!("    act: {{ steps: [{{ run: \"until [ -e {} ]; do sleep 0.02; done\" }}] }}\n", go.display());
    let mut script = String::from("parts:\n");
    let mut wide = String::from("name: Wide\nphases:\n");
    for number in 1..=4 {
        script.push_str(&part(&format!("w{number}"), &act));
        wide.push_str(&format!("  - {{ id: w{number}, type: research, description: W, gates: [] }}\n"));
    }
    script.push_str(&part("note", "    act: { steps: [{ write: { path: note.md, content: x } }] }\n"));
    let shop = Workshop::configured(&script, |config| {
        config.admission.agents = 1;
        config.policy.max_parallel = 4;
    })
    .await;
    let repo = shop.repo();
    let big = shop.submit(&repo, &wide).await;
    shop.until_working(&big, "w1", 1, None).await;
    let small = shop.submit(&repo, PLAN).await;
    until_waiting(&shop, &small, "note").await;
    std::fs::write(&go, "").unwrap();
    let (small, big) = (shop.ended(&small).await, shop.ended(&big).await);
    let starts = |ended: &Ended| -> Vec<jiff::Timestamp> {
        ended.events.iter().filter(|one| one.event.name() == "attempt_started").map(|one| one.at).collect()
    };
    let before = starts(&big).iter().filter(|at| **at < starts(&small)[0]).count();
    assert_eq!(before, 1, "of 4 phases of the job before it, only the one that had begun came first");
    assert_eq!(starts(&big).len(), 4);
}

/// A git that takes as long as a test likes over making the worktrees of a phase `b`, and keeps a list of those that it makes.
const SLOW_ADD: &str = r#"case "$1 $GIT_INDEX_FILE" in
"read-tree "*"/b.1.index")
    echo "$*" >> "$D/adds"
    until [ -e "$D/go" ]; do sleep 0.02; done ;;
esac"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_is_no_longer_wanted_does_not_begin_and_none_is_made_twice_at_once() {
    let file = |name: &str| format!("    act: {{ steps: [{{ write: {{ path: {name}.md, content: {name} }} }}] }}\n");
    let script = format!("parts:\n{}{}", part("a", &file("a")), part("b", &file("b")));
    let shop = Workshop::with_git(&script, |config| config.policy.max_parallel = 1, SLOW_ADD).await;
    let repo = shop.repo();
    let plan = "name: Two
phases:
  - { id: a, type: documentation, description: A, outputs: [a.md], approval: before }
  - { id: b, type: documentation, description: B, outputs: [b.md] }
";
    let job = shop.submit(&repo, plan).await;
    let question = shop.question(&job).await;
    shop.until_there(&shop.signal("adds")).await;
    // The only place goes to `a` while the worktree of `b` is being made.
    shop.answer(&question, "approve", None).await;
    std::fs::write(shop.signal("go"), "").unwrap();
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!((shop.plays("a"), shop.plays("b")), (1, 1));
    for name in ["a", "b"] {
        assert_eq!(shop.file(&repo, "main", &format!("{name}.md")).as_deref(), Some(name));
    }
    let moments: Vec<(&str, &str)> = ended
        .events
        .iter()
        .filter_map(|one| match &one.event {
            JobEvent::AttemptStarted(begin) => Some(("starts", begin.phase.as_str())),
            JobEvent::RunFinished { phase, .. } => Some(("ends", phase.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(moments, [("starts", "a"), ("ends", "a"), ("starts", "b"), ("ends", "b")], "never two at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_while_the_first_worktree_is_made_leaves_nothing_behind() {
    let script = format!("parts:\n{}", part("b", "    act: { steps: [] }\n"));
    let shop = Workshop::with_git(&script, |_| {}, SLOW_ADD).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, &PLAN.replace("note", "b")).await;
    shop.until_there(&shop.signal("adds")).await;
    shop.engine.jobs().cancel(&job, &"a test".into()).await.unwrap();
    let ended = shop.ended(&job).await;
    assert_eq!(ended.names(), ["job_submitted", "cancel_requested", "job_finished"]);
    std::fs::write(shop.signal("go"), "").unwrap();
    // The job is over already: nothing tells that its worktrees are gone but that they are.
    let worktrees = shop.sandbox.state().join("worktrees");
    let start = std::time::Instant::now();
    while std::fs::read_dir(&worktrees).unwrap().next().is_some() {
        assert!(start.elapsed() < crate::workshop::LIMIT, "a worktree is left");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(shop.plays("b"), 0);
}

/// The policy that was recorded when the job was submitted counts, whatever a later host is configured with.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_keeps_the_policy_that_it_was_submitted_with() {
    let signal = signals();
    let go = signal.path().join("go");
    let wait = format!("{{ run: \"until [ -e {} ]; do sleep 0.02; done\" }}", go.display());
    let act = format!("    act: {{ steps: [{{ write: {{ path: half.md, content: x }} }}, {wait}] }}\n");
    // Nobody is asked, says the policy of the tests.
    let shop = Workshop::open(&format!("parts:\n{}", part("note", &act))).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, &PLAN.replace("max_attempts: 2", "max_attempts: 1")).await;
    shop.until_working(&job, "note", 1, Some("half.md")).await;
    let shop = shop.reopen_with(|config| config.policy.escalation.person = AskPerson::Ask).await;
    std::fs::write(&go, "").unwrap();
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Failed, "{:#?}", ended.view);
    assert!(ended.view.questions.is_empty(), "{:#?}", ended.view);
    // A job of the new host asks.
    let next = shop.submit(&repo, &PLAN.replace("max_attempts: 2", "max_attempts: 1")).await;
    shop.question(&next).await;
    shop.engine.jobs().cancel(&next, &"a test".into()).await.unwrap();
    shop.ended(&next).await;
}

/// A host that starts removes what a dead one left of jobs that are over, and keeps what is in use.
#[tokio::test(flavor = "multi_thread")]
async fn a_starting_host_removes_the_worktrees_of_jobs_that_are_over() {
    let act = "    attempts: [{ steps: [{ write: { path: note.md, content: N } }] }, { faults: [hang] }]\n";
    let shop = Workshop::open(&format!("parts:\n{}", part("note", act))).await;
    let repo = shop.repo();
    let over = shop.run(&repo, PLAN).await.view.id;
    let open = shop.submit(&repo, &PLAN.replace("note.md", "more.md")).await;
    shop.until_working(&open, "note", 1, None).await;
    // As a host leaves it that dies between the end of a job and tidying up.
    let left = shop.worktree(&over, "note", 1);
    let record = |job: &JobId| shop.sandbox.state().join("git/places").join(job.as_str());
    let (of_over, of_open) = (record(&over), record(&open));
    for directory in [&left, &of_over] {
        std::fs::create_dir_all(directory).unwrap();
        std::fs::write(directory.join("big"), "x").unwrap();
    }
    let shop = shop.reopen().await;
    let start = std::time::Instant::now();
    // The host removes them beside its work and tells nobody.
    while left.parent().unwrap().exists() {
        assert!(start.elapsed() < crate::workshop::LIMIT, "{} is left", left.display());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!of_over.exists() && of_open.exists());
    assert!(shop.worktree(&open, "note", 1).exists());
    shop.engine.jobs().cancel(&open, &"a test".into()).await.unwrap();
    shop.ended(&open).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_this_host_cannot_record_any_more_says_so_and_the_next_host_goes_on() {
    let signal = signals();
    let go = signal.path().join("go");
    let wait = format!("{{ run: \"until [ -e {} ]; do sleep 0.02; done\" }}", go.display());
    let act = format!("    act: {{ steps: [{wait}, {{ write: {{ path: note.md, content: N }} }}] }}\n");
    let shop = Workshop::open(&format!("parts:\n{}", part("note", &act))).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, PLAN).await;
    shop.until_working(&job, "note", 1, None).await;
    let journal = SqliteJournal::open(&shop.sandbox.state().join("helix.db"), Access::ReadWrite).await.unwrap();
    journal.take_over("host".into()).await.unwrap();
    std::fs::write(&go, "").unwrap();
    let start = std::time::Instant::now();
    let error = loop {
        let view = shop.engine.jobs().get(job.as_str()).await.unwrap();
        assert_eq!(view.status, JobStatus::Running, "nothing of it was decided");
        if let Some(error) = view.error {
            break error;
        }
        assert!(start.elapsed() < crate::workshop::LIMIT, "it does not say why it does not go on");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(error.message.contains("another host"), "{error:?}");
    let request = ReopenRequest { what: Again::Unfinished, takes_plan: false, budget_usd: None, by: "a test".into() };
    let refusals = [
        shop.engine.jobs().cancel(&job, &"a test".into()).await.unwrap_err().to_string(),
        shop.engine.jobs().reopen(&job, request).await.unwrap_err().to_string(),
    ];
    for refusal in refusals {
        assert!(refusal.contains("another host") && refusal.contains("restart Helix"), "{refusal}");
    }
    let shop = shop.reopen().await;
    assert_eq!(shop.ended(&job).await.view.status, JobStatus::Succeeded);
    assert_eq!(shop.plays("note"), 1);
}

/// A job whose record contradicts itself is left alone. That is not what it means to be over.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_this_host_cannot_carry_on_is_not_called_over() {
    let shop = Workshop::open(&format!("parts:\n{}", part("note", "    act: { say: Done. }\n"))).await;
    let job = shop.submit(&shop.repo(), &PLAN.replace("max_attempts: 2", "approval: before")).await;
    shop.question(&job).await;
    shop.engine.close().await;
    let database = shop.sandbox.state().join("helix.db");
    let journal = SqliteJournal::open(&database, Access::ReadWrite).await.unwrap();
    let mut view = journal.job(job.to_string()).await.unwrap().unwrap();
    let event = JobEvent::QuestionExpired { phase: PhaseId::new("note").unwrap(), asked: 7 };
    let event = NewEvent::of(view.created_at, &event).unwrap();
    view.last_event += 1;
    let append = Append::to(Stream::Job(job.clone()), vec![event]).after(view.last_event - 1);
    journal.append(append.with(Projection::Job(Box::new(view)))).await.unwrap();
    drop(journal);
    let shop = shop.reopen().await;
    let refused = shop.engine.jobs().cancel(&job, &"a test".into()).await.unwrap_err().to_string();
    assert!(refused.contains("does not carry it on") && !refused.contains("is over"), "{refused}");
}
