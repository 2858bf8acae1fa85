//! The loop over a real journal, with effects that answer by a script instead of running agents, git and gates.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use helix_core::ids::{JobId, TreeId};
use helix_job::question::About;
use helix_job::{JobStatus, JobView, PhaseStatus, Recorded};
use helix_plan::{Delivery, GateSpec, OnFailure, Phase};
use helix_store::{Access, Journal, NewEvent, NewJob, SqliteJournal};
use tokio::sync::Notify;

use super::*;
use crate::admission::{Admission, AdmissionLimits, MemoryGauge, Owner, Ticket, Urgency};
use crate::event_log::LogWriter;
use crate::job::world;
use crate::job::world::World;

/// What the script says of an effect that is not simply carried out.
#[derive(Clone)]
enum Scripted {
    /// Waits to be released; then answers as usual.
    Hold(Arc<Notify>),
    /// Waits until it is no longer wanted; then answers as usual.
    UntilUnwanted,
    Panic,
    /// Answers what can never be recorded.
    Misfit,
}

#[derive(Default)]
struct Trace {
    /// Keys in the order in which effects began, and `- key` when they ended.
    lines: Vec<String>,
    script: HashMap<String, Scripted>,
}

#[derive(Clone)]
struct Script {
    trace: Arc<Mutex<Trace>>,
    changed: Arc<Notify>,
    world: Arc<Mutex<World>>,
    agents: Admission,
}

impl Script {
    fn add(&self, line: String) {
        self.trace.lock().unwrap().lines.push(line);
        self.changed.notify_waiters();
    }

    fn lines(&self) -> Vec<String> {
        self.trace.lock().unwrap().lines.clone()
    }

    fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|one| *one == line).count()
    }

    /// Waits until a line is there.
    async fn see(&self, line: &str) {
        let seen = async {
            loop {
                let changed = self.changed.notified();
                if self.count(line) > 0 {
                    return;
                }
                changed.await;
            }
        };
        let seen = tokio::time::timeout(Duration::from_secs(60), seen).await;
        assert!(seen.is_ok(), "{line:?} does not come: {:#?}", self.lines());
    }
}

impl Effects for Script {
    fn admission(
        &self,
        job: &JobId,
        effect: &Effect,
    ) -> Option<impl Future<Output = Option<Permit>> + Send + use<> + 'static> {
        let Effect::StartAttempt { phase, .. } = effect else { return None };
        let ticket = Ticket { owner: Owner::Job(job.clone()), phase: Some(phase.clone()), urgency: Urgency::Begin };
        let entering = self.agents.enter(ticket);
        self.add(format!("? {}", effect.key()));
        Some(async move { entering.await.ok() })
    }

    fn carry_out(
        &self,
        _job: JobId,
        effect: Effect,
        state: &JobState,
        cancel: CancellationToken,
        permit: Option<Permit>,
    ) -> impl Future<Output = EffectOutcome> + Send + use<> + 'static {
        let (this, state, key) = (self.clone(), state.clone(), effect.key());
        async move {
            this.add(key.clone());
            let scripted = this.trace.lock().unwrap().script.get(&key).cloned();
            match scripted {
                Some(Scripted::Hold(release)) => release.notified().await,
                Some(Scripted::UntilUnwanted) => cancel.cancelled().await,
                Some(Scripted::Panic) => panic!("as the script says"),
                Some(Scripted::Misfit) => {
                    this.add(format!("- {key}"));
                    let event = JobEvent::QuestionExpired { phase: world::id("nobody"), asked: 9 };
                    return EffectOutcome { event: Some(event), place: None };
                }
                None => {}
            }
            let event = this.world.lock().unwrap().carry_out(&effect, |phase| tree_of(&state, phase));
            this.add(format!("- {key}"));
            let place = permit.filter(|_| matches!(effect, Effect::StartAttempt { .. }));
            EffectOutcome { event, place }
        }
    }

    fn not_begun(&self, _job: &JobId, event: &JobEvent) {
        self.add(format!("not begun: {}", event.name()));
    }

    async fn clean_up(&self, _job: &JobId, _state: &JobState) {
        self.add("clean up".into());
    }
}

fn tree_of(state: &JobState, phase: &PhaseId) -> TreeId {
    let progress = state.active().and_then(|active| active.progress(phase));
    let result = progress.and_then(|progress| progress.attempts.last()?.result.clone());
    result.map_or_else(|| world::tree(0), |result| result.tree)
}

/// A job whose loop runs.
struct Running {
    script: Script,
    handle: JobHandle,
    journal: SqliteJournal,
    closing: CancellationToken,
    end: tokio::task::JoinHandle<LoopEnd>,
    _directory: tempfile::TempDir,
}

async fn start(phases: &[(&str, &[&str], usize)], agents: u32, script: Vec<(&str, Scripted)>) -> Running {
    start_with(phases.iter().map(|(name, after, gates)| world::phase(name, after, *gates)).collect(), agents, script)
        .await
}

async fn start_with(mut phases: Vec<Phase>, agents: u32, script: Vec<(&str, Scripted)>) -> Running {
    phases.iter_mut().for_each(|phase| phase.on_failure = OnFailure::Fail);
    let directory = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(directory.path().join("journal.db"), Access::ReadWrite).await.unwrap();
    let (now, id) = (Timestamp::now(), world::job());
    let event = JobEvent::JobSubmitted { spec: Box::new(world::spec(phases)) };
    let new = NewEvent::of(now, &event).unwrap();
    let state = JobState::New.apply(&Recorded { number: 1, at: now, event }).unwrap();
    let view = Box::new(JobView::project(&id, &state).unwrap());
    journal.submit(NewJob { idempotency_key: None, events: vec![new], view }).await.unwrap();
    let fence = journal.take_over("host".into()).await.unwrap();
    let limits = AdmissionLimits { agents, gates: 1, memory_floor: 0, gauge: MemoryGauge::default() };
    let script = Script {
        trace: Arc::new(Mutex::new(Trace {
            lines: Vec::new(),
            script: script.into_iter().map(|(key, scripted)| (key.to_owned(), scripted)).collect(),
        })),
        changed: Arc::default(),
        world: Arc::new(Mutex::new(World::new(Vec::new()))),
        agents: Admission::to_agents(&limits),
    };
    let closing = CancellationToken::new();
    let crash = CrashPoint::default();
    let writer = LogWriter { journal: Arc::new(journal.clone()), fence, crash: crash.clone() };
    let log = JobLog::new(id, state, writer);
    let (job_loop, handle) = JobLoop::new(log, script.clone(), HashMap::new(), closing.clone(), crash);
    let end = tokio::spawn(job_loop.run());
    Running { script, handle, journal, closing, end, _directory: directory }
}

impl Running {
    async fn view(&self) -> JobView {
        self.journal.job(world::job().to_string()).await.unwrap().unwrap()
    }

    /// How the loop ends, what it leaves in the journal, and what it did.
    async fn ended(self) -> (LoopEnd, JobView, Vec<String>) {
        let end = tokio::time::timeout(Duration::from_secs(60), self.end).await;
        let Ok(end) = end else { panic!("the loop does not end: {:#?}", self.script.lines()) };
        let view = self.journal.job(world::job().to_string()).await.unwrap().unwrap();
        (end.unwrap(), view, self.script.lines())
    }
}

fn status(view: &JobView, phase: &str) -> PhaseStatus {
    view.phases.iter().find(|one| one.id == world::id(phase)).unwrap().status
}

/// Lines that are about effects which begin.
fn begun(lines: &[String]) -> Vec<&str> {
    lines.iter().filter(|line| !line.starts_with(['-', '?'])).map(String::as_str).collect()
}

#[tokio::test]
async fn effects_are_carried_out_in_order_and_once_each() {
    let running = start(&[("a", &[], 1), ("b", &["a"], 0)], 2, Vec::new()).await;
    let (end, view, lines) = running.ended().await;
    assert!(matches!(end, LoopEnd::Settled));
    assert_eq!(view.status, JobStatus::Succeeded, "{lines:#?}");
    let mut begun = begun(&lines);
    let integrate = begun.iter().position(|key| key.starts_with("integrate/")).unwrap();
    begun.remove(integrate);
    let a = ["start/a/1", "run/a/1", "commit/a/1", "gate/a/1/0"];
    let b = ["start/b/1", "run/b/1", "commit/b/1", "conclude", "clean up"];
    assert_eq!(begun, [&a[..], &b[..]].concat(), "{lines:#?}");
    assert_eq!(integrate, 7, "results are put together before the job concludes: {lines:#?}");
}

#[tokio::test]
async fn a_panic_fails_its_phase_and_no_other() {
    let running = start(&[("a", &[], 1), ("b", &[], 0)], 2, vec![("gate/a/1/0", Scripted::Panic)]).await;
    let (_, view, lines) = running.ended().await;
    assert_eq!(view.status, JobStatus::Failed);
    assert_eq!((status(&view, "a"), status(&view, "b")), (PhaseStatus::Failed, PhaseStatus::Passed), "{lines:#?}");
    assert!(view.phases[0].error.as_ref().unwrap().message.contains("internal error in gate/a/1/0"), "{view:#?}");
    assert_eq!(lines.iter().filter(|line| *line == "gate/a/1/0").count(), 1, "a panic is not repeated: {lines:#?}");
}

#[tokio::test]
async fn an_answer_that_never_fits_fails_its_phase_after_some_repetitions() {
    let running = start(&[("a", &[], 0)], 1, vec![("commit/a/1", Scripted::Misfit)]).await;
    let (_, view, lines) = running.ended().await;
    assert_eq!((view.status, status(&view, "a")), (JobStatus::Failed, PhaseStatus::Failed));
    assert!(view.phases[0].error.as_ref().unwrap().message.contains("commit/a/1"), "{view:#?}");
    let times = lines.iter().filter(|line| *line == "commit/a/1").count();
    assert_eq!(times, STALE_ANSWERS as usize + 1, "{lines:#?}");
}

#[tokio::test]
async fn a_decision_that_cannot_be_recorded_ends_the_loop_and_says_so() {
    let running = start(&[("a", &[], 0)], 1, vec![("conclude", Scripted::Misfit)]).await;
    let (handle, script) = (running.handle.clone(), running.script.clone());
    let (end, view, _) = running.ended().await;
    assert!(matches!(end, LoopEnd::Broken));
    assert!(!view.status.is_final(), "nothing was decided: {view:#?}");
    assert!(handle.broken().unwrap().message.contains("conclude"), "{:?}", handle.broken());
    assert_eq!(script.count("clean up"), 0, "what the job has made is kept");
}

#[tokio::test]
async fn cancelling_stops_the_agent_keeps_its_work_and_begins_nothing_new() {
    let release = Arc::<Notify>::default();
    let script = vec![("run/a/1", Scripted::Hold(release.clone()))];
    let running = start(&[("a", &[], 1), ("b", &[], 0)], 1, script).await;
    running.script.see("run/a/1").await;
    assert_eq!(running.script.count("? start/b/1"), 1);
    assert!(running.handle.cancel(&"a test".into()).await);
    running.script.see("stop/run/a/1").await;
    release.notify_one();
    let (_, view, lines) = running.ended().await;
    assert_eq!(view.status, JobStatus::Cancelled, "{lines:#?}");
    let expected = ["start/a/1", "run/a/1", "stop/run/a/1", "commit/a/1", "conclude", "clean up"];
    assert_eq!(begun(&lines), expected, "b waited for the only permit and never begins");
}

#[tokio::test]
async fn what_is_no_longer_wanted_is_told_so_and_its_answer_does_not_count() {
    for (key, attempts) in [("gate/a/1/0", 1), ("start/a/1", 0)] {
        let running = start(&[("a", &[], 1)], 1, vec![(key, Scripted::UntilUnwanted)]).await;
        running.script.see(key).await;
        assert!(running.handle.cancel(&"a test".into()).await);
        running.script.see(&format!("- {key}")).await;
        let (_, view, lines) = running.ended().await;
        assert_eq!(view.status, JobStatus::Cancelled, "{key}: {lines:#?}");
        assert_eq!(view.phases[0].attempt, attempts, "{key}: {view:#?}");
        assert_eq!(view.phases[0].gates.len(), 0, "{key}: {view:#?}");
    }
}

#[tokio::test]
async fn what_landed_while_the_job_was_cancelled_is_on_record_before_its_end() {
    let (release, key) = (Arc::<Notify>::default(), format!("integrate/{}", world::commit(1)));
    let running = start(&[("a", &[], 0)], 1, vec![(&key, Scripted::Hold(release.clone()))]).await;
    running.script.see(&key).await;
    assert!(running.handle.cancel(&"a test".into()).await);
    release.notify_one();
    let (_, view, lines) = running.ended().await;
    assert_eq!(view.status, JobStatus::Cancelled, "{lines:#?}");
    assert!(view.integration.is_some(), "{lines:#?}");
}

/// What was claimed for it would keep its target from others.
#[tokio::test]
async fn a_delivery_that_is_cancelled_while_it_is_prepared_does_not_begin_and_holds_nothing() {
    let mut phase = world::phase("a", &[], 1);
    phase.gates.push(GateSpec::DeploySuccess(Delivery::of_command("./deploy")));
    let release = Arc::<Notify>::default();
    let script = vec![("begin/a/1/1", Scripted::UntilUnwanted), ("run/b/1", Scripted::Hold(release.clone()))];
    let running = start_with(vec![phase, world::phase("b", &[], 0)], 2, script).await;
    running.script.see("begin/a/1/1").await;
    running.script.see("run/b/1").await;
    assert!(running.handle.cancel(&"a test".into()).await);
    // While the job goes on: the work of the other phase is committed first.
    running.script.see("not begun: delivery_begun").await;
    release.notify_one();
    let (_, view, lines) = running.ended().await;
    assert_eq!((view.status, view.deliveries.len()), (JobStatus::Cancelled, 0), "{lines:#?}");
    assert!(!lines.contains(&"gate/a/1/1".to_owned()), "{lines:#?}");
}

#[tokio::test]
async fn permits_are_handed_from_one_attempt_to_the_next() {
    let release = Arc::<Notify>::default();
    let script = vec![("run/a/1", Scripted::Hold(release.clone()))];
    let running = start(&[("a", &[], 0), ("b", &[], 0)], 1, script).await;
    running.script.see("run/a/1").await;
    running.script.see("? start/b/1").await;
    assert_eq!(running.script.count("start/b/1"), 0, "one agent at a time");
    assert_eq!(running.script.agents.figures().taken, 1);
    release.notify_one();
    let agents = running.script.agents.clone();
    let (_, view, lines) = running.ended().await;
    assert_eq!(view.status, JobStatus::Succeeded);
    let place = |line: &str| lines.iter().position(|one| one == line).unwrap();
    assert!(place("- run/a/1") < place("start/b/1"), "{lines:#?}");
    assert_eq!(agents.figures().taken, 0, "all permits are back");
}

#[tokio::test]
async fn a_closing_host_leaves_the_job_to_the_next_one() {
    let running = start(&[("a", &[], 0)], 1, vec![("run/a/1", Scripted::UntilUnwanted)]).await;
    running.script.see("run/a/1").await;
    running.closing.cancel();
    let (end, view, lines) = running.ended().await;
    assert!(matches!(end, LoopEnd::Settled));
    assert_eq!((view.status, status(&view, "a")), (JobStatus::Running, PhaseStatus::Running));
    assert!(!lines.contains(&"clean up".to_owned()), "{lines:#?}");
}

#[tokio::test]
async fn a_host_that_another_one_has_replaced_records_nothing_more() {
    let release = Arc::<Notify>::default();
    let running = start(&[("a", &[], 0)], 1, vec![("run/a/1", Scripted::Hold(release.clone()))]).await;
    running.script.see("run/a/1").await;
    running.journal.take_over("host".into()).await.unwrap();
    let (before, handle) = (running.view().await.last_event, running.handle.clone());
    release.notify_one();
    let (end, view, _) = running.ended().await;
    assert!(matches!(end, LoopEnd::Broken));
    assert_eq!(view.last_event, before);
    assert!(handle.broken().unwrap().message.contains("another host"), "{:?}", handle.broken());
}

#[tokio::test]
async fn a_question_that_is_asked_again_keeps_its_number_and_misfits_are_refused() {
    let release = Arc::<Notify>::default();
    let running = start(&[("a", &[], 0)], 1, vec![("run/a/1", Scripted::Hold(release.clone()))]).await;
    running.script.see("run/a/1").await;
    let ask = |text: &str| {
        let question = Question {
            number: 0,
            about: About::Agent,
            text: text.into(),
            said: Default::default(),
            options: Vec::new(),
            free_text: true,
            approvers: None,
        };
        running.handle.ask(world::id("a"), question)
    };
    assert_eq!(ask("which port?").await, Ok(1));
    assert_eq!(ask("which port?").await, Ok(1), "a call that is repeated after a lost answer asks once");
    assert_eq!(ask("which host?").await, Ok(2));
    let answer = |number| vec![world::answered(&world::id("a"), number, "", Some("8080"))];
    let before = running.view().await.last_event;
    let both = [answer(1), answer(7)].concat();
    assert!(matches!(running.handle.record(both).await, Err(Refused::Illegal(_))));
    assert_eq!(running.view().await.last_event, before, "all or none");
    assert_eq!(running.handle.record(vec![JobEvent::CancelRequested { by: "a test".into() }]).await, Ok(()));
    release.notify_one();
    let handle = running.handle.clone();
    let (_, view, _) = running.ended().await;
    assert_eq!(view.status, JobStatus::Cancelled);
    assert_eq!(handle.record(answer(1)).await, Err(Refused::Over));
    assert!(!handle.cancel(&"a test".into()).await);
}
