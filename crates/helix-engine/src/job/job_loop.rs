//! The loop of one job: decide, start what should be under way and is not, record what comes back, until it is over.
//!
//! Must not know how any effect is carried out; a panic in one is that job's failure and nobody else's.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::PhaseId;
use helix_job::question::Question;
use helix_job::{Effect, Illegal, JobEvent, JobState, Person, Stage, decide};
use helix_language::ErrorView;
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{EffectOutcome, Effects};
use crate::admission::Permit;
use crate::crash_point::CrashPoint;
use crate::event_log::{Blocked, JobLog, LogError, Record, StreamState};

/// What can be asked of a running job.
pub(crate) enum Command {
    /// Record something that came from outside, all or none; answered once it is durable, or with why it cannot be.
    Record {
        /// What.
        events: Vec<JobEvent>,
        /// Told what became of it.
        done: oneshot::Sender<Result<(), Refused>>,
    },
    /// Ask a person on behalf of the phase's running agent.
    Ask {
        /// The phase.
        phase: PhaseId,
        /// The question; its number is given here.
        question: Box<Question>,
        /// Told the number, or why it cannot be asked.
        done: oneshot::Sender<Result<u32, Refused>>,
    },
}

/// Why something from outside was not recorded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Refused {
    /// The job is over, or this host does not carry it out.
    #[error("the job is over")]
    Over,
    /// It does not fit what has happened.
    #[error(transparent)]
    Illegal(#[from] Illegal),
}

/// How the loop of a job ended.
pub(crate) enum LoopEnd {
    /// The job is over, or the next host goes on with it.
    Settled,
    /// This host cannot carry it on, for the reason that its handle names: nothing of it was decided.
    Broken,
}

/// A running job from outside.
#[derive(Clone)]
pub(crate) struct JobHandle {
    pub(crate) commands: mpsc::Sender<Command>,
    /// What keeps it from going on.
    pub(crate) blocked: Blocked,
}

/// The loop's data.
pub(crate) struct JobLoop<E> {
    log: JobLog,
    effects: E,
    commands: mpsc::Receiver<Command>,
    closing: CancellationToken,
    crash: CrashPoint,
    under_way: HashMap<String, UnderWay>,
    results: JoinSet<(String, Done)>,
    /// Places for the effects with these keys, which are to be started next.
    places: HashMap<String, Permit>,
    /// How often the answer of an effect that is still wanted did not fit.
    stale: HashMap<String, u32>,
}

/// How often an effect is carried out again whose answer did not fit what had happened meanwhile. Once is what a race takes.
const STALE_ANSWERS: u32 = 3;

/// An effect that has been started and is still wanted, or has not ended yet.
struct UnderWay {
    effect: Effect,
    cancel: CancellationToken,
    progress: Progress,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// For a place: not begun.
    Waiting,
    Running,
    /// Running, but no longer wanted: it is told so, and nothing of its key is started before it has ended. Two of one key at
    /// once would each make, or discard, what the other works in.
    Unwanted,
    /// Carried out; stays listed until the decision no longer names it, so that it is not started again.
    Done,
}

impl UnderWay {
    /// Tells an effect that it is no longer wanted; whether something of it still runs.
    fn lapse(&mut self) -> bool {
        match self.progress {
            Progress::Waiting => {
                self.cancel.cancel();
                false
            }
            Progress::Running | Progress::Unwanted => {
                self.cancel.cancel();
                self.progress = Progress::Unwanted;
                true
            }
            Progress::Done => false,
        }
    }
}

/// Whether the answer of an effect that has ended is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Counts,
    Dropped,
}

/// What a task of the loop brings.
enum Done {
    /// An attempt may begin; `None` when nobody is admitted any more.
    Admitted(Option<Permit>),
    Outcome(Box<EffectOutcome>),
    /// A panic while the effect was carried out.
    Panicked,
}

impl<E: Effects> JobLoop<E> {
    /// Makes the loop of a job and the handle to it; `places` are those of its agents that are at work already.
    pub(crate) fn new(
        log: JobLog,
        effects: E,
        places: HashMap<String, Permit>,
        closing: CancellationToken,
        crash: CrashPoint,
    ) -> (Self, JobHandle) {
        let (sender, commands) = mpsc::channel(8);
        let blocked = log.blocked();
        let this = Self {
            log,
            effects,
            commands,
            closing,
            crash,
            under_way: HashMap::new(),
            results: JoinSet::new(),
            places,
            stale: HashMap::new(),
        };
        (this, JobHandle { commands: sender, blocked })
    }

    /// Carries the job to its end, or until the engine closes (the agents then go on under their keepers).
    pub(crate) async fn run(mut self) -> LoopEnd {
        let id = self.log.id.clone();
        let end = match self.carry_out().await {
            Ok(()) => {
                tracing::info!(job = %id, "the job is over");
                LoopEnd::Settled
            }
            Err(LogError::Closing) => {
                tracing::debug!(job = %id, "left for the next host");
                LoopEnd::Settled
            }
            Err(error) => {
                tracing::error!(job = %id, %error, "the job cannot be carried on by this host");
                self.log.give_up(&error);
                LoopEnd::Broken
            }
        };
        if self.log.state.end().is_some() {
            self.wind_up().await;
        }
        self.results.abort_all();
        while self.results.join_next().await.is_some() {}
        if self.log.state.end().is_some() {
            self.effects.clean_up(&self.log.id, &self.log.state).await;
        }
        end
    }

    /// Waits for what is still under way when the job is over: git that makes a worktree goes on even where nobody waits for it,
    /// and must not do so in what is being removed. Their answers count no more.
    async fn wind_up(&mut self) {
        self.places.clear();
        self.under_way.values().for_each(|one| one.cancel.cancel());
        loop {
            tokio::select! {
                biased;
                () = self.closing.cancelled() => return,
                ended = self.results.join_next() => if ended.is_none() { return },
            }
        }
    }

    async fn carry_out(&mut self) -> Result<(), LogError> {
        while self.log.state.end().is_none() {
            let decision = decide(&self.log.state, Timestamp::now());
            self.reconcile(decision.effects);
            let wake = async {
                match decision.wake_at {
                    Some(at) => tokio::time::sleep(until(at)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.closing.cancelled() => return Err(LogError::Closing),
                Some(command) = self.commands.recv() => self.obey(command).await?,
                Some(Ok((key, done))) = self.results.join_next() => self.take(key, done).await?,
                () = wake => {}
            }
        }
        Ok(())
    }

    /// Starts what is wanted and not under way; cancels what is under way and no longer wanted, and forgets it once it has ended.
    fn reconcile(&mut self, wanted: Vec<Effect>) {
        let keys: Vec<String> = wanted.iter().map(Effect::key).collect();
        self.under_way.retain(|key, under_way| keys.contains(key) || under_way.lapse());
        // What is landing when the job is cancelled may be in the branch: its answer comes before the end.
        let lands = self
            .under_way
            .values()
            .any(|one| matches!(one.effect, Effect::Integrate { .. }) && one.progress == Progress::Unwanted);
        for (key, effect) in keys.into_iter().zip(wanted) {
            if self.under_way.contains_key(&key) || lands && matches!(effect, Effect::Conclude { .. }) {
                continue;
            }
            let cancel = self.closing.child_token();
            if !self.places.contains_key(&key)
                && let Some(admission) = self.effects.admission(&self.log.id, &effect)
            {
                self.wait_for_place(key, effect, cancel, admission);
                continue;
            }
            let (job, place) = (self.log.id.clone(), self.places.remove(&key));
            let work = self.effects.carry_out(job, effect.clone(), &self.log.state, cancel.clone(), place);
            let (carried_key, crash, named) = (key.clone(), self.crash.clone(), place_of(&effect));
            self.results.spawn(async move {
                crash.pass(|| format!("before {named}"));
                let done = match AssertUnwindSafe(work).catch_unwind().await {
                    Ok(carried) => Done::Outcome(Box::new(carried)),
                    Err(_panic) => Done::Panicked,
                };
                crash.pass(|| format!("after {named}"));
                (carried_key, done)
            });
            self.under_way.insert(key, UnderWay { effect, cancel, progress: Progress::Running });
        }
        // A place that nobody takes up now is for others: its attempt did not start after all.
        self.places.clear();
    }

    /// Waits in the line until the effect may begin. It is decided anew then: what it is about may have changed meanwhile.
    fn wait_for_place(
        &mut self,
        key: String,
        effect: Effect,
        cancel: CancellationToken,
        admission: impl Future<Output = Option<Permit>> + Send + 'static,
    ) {
        let (waiting_key, unwanted) = (key.clone(), cancel.clone());
        self.results.spawn(async move {
            let place = tokio::select! {
                biased;
                () = unwanted.cancelled() => None,
                place = admission => place,
            };
            (waiting_key, Done::Admitted(place))
        });
        self.under_way.insert(key, UnderWay { effect, cancel, progress: Progress::Waiting });
    }

    /// Takes a place for an effect that waits for it, so that it is started next.
    fn admit(&mut self, key: String, place: Option<Permit>) {
        // One that is not wanted any more, or wanted again since, is not what this place is for.
        let waits = self.under_way.get(&key).is_some_and(|one| one.progress == Progress::Waiting);
        if let (true, Some(place)) = (waits, place) {
            if let Some(waited) = self.under_way.remove(&key) {
                waited.cancel.cancel();
            }
            self.places.insert(key, place);
        }
    }

    async fn take(&mut self, key: String, done: Done) -> Result<(), LogError> {
        let event = match done {
            Done::Admitted(place) => {
                self.admit(key, place);
                return Ok(());
            }
            Done::Outcome(carried) => match self.finish(&key, carried.place) {
                Answer::Counts => carried.event,
                Answer::Dropped => return Ok(()),
            },
            Done::Panicked => {
                // The phase fails with it, the job's other phases and all other jobs go on.
                tracing::error!(job = %self.log.id, %key, "an effect panicked");
                let Some(effect) = self.under_way.get(&key).map(|one| one.effect.clone()) else { return Ok(()) };
                if self.finish(&key, None) == Answer::Dropped {
                    return Ok(());
                }
                match self.failed(&effect, format!("internal error in {key}")) {
                    Some(event) => Some(event),
                    None => return self.repeat_or_fail(key).await,
                }
            }
        };
        let Some(event) = event else { return Ok(()) };
        let begins = matches!(event, JobEvent::DeliveryBegun { .. } | JobEvent::RollbackBegun { .. });
        let begins = begins.then(|| event.clone());
        match self.log.record(event, &self.closing).await? {
            Record::Done => {
                self.stale.remove(&key);
                Ok(())
            }
            Record::Stale(illegal) => {
                tracing::info!(job = %self.log.id, %key, why = %illegal.why, "dropped a late answer");
                begins.iter().for_each(|event| self.effects.not_begun(&self.log.id, event));
                self.repeat_or_fail(key).await
            }
        }
    }

    /// Notes that an effect has ended; its attempt's place is for its agent.
    fn finish(&mut self, key: &str, place: Option<Permit>) -> Answer {
        let Some(under_way) = self.under_way.get_mut(key) else { return Answer::Counts };
        if under_way.progress == Progress::Unwanted {
            let starts = matches!(under_way.effect, Effect::StartAttempt { .. });
            self.under_way.remove(key);
            // An attempt that nobody wants does not begin. What was made for it is made anew if it is wanted again.
            return if starts { Answer::Dropped } else { Answer::Counts };
        }
        under_way.progress = Progress::Done;
        if let (Effect::StartAttempt { phase, attempt, .. }, Some(place)) = (&under_way.effect, place) {
            let run = Effect::Work { phase: phase.clone(), attempt: *attempt, stage: Stage::Agent };
            self.places.insert(run.key(), place);
        }
        Answer::Counts
    }

    /// The answer of an effect came too late to be true, or not at all. If the effect is still wanted, it is carried out again on
    /// what is true now; if that does not help, its phase fails with it, or the loop ends: nothing may wait forever.
    async fn repeat_or_fail(&mut self, key: String) -> Result<(), LogError> {
        let Some(under_way) = self.under_way.remove(&key) else { return Ok(()) };
        let times = self.stale.entry(key.clone()).or_default();
        *times += 1;
        if *times <= STALE_ANSWERS {
            return Ok(());
        }
        let wanted = decide(&self.log.state, Timestamp::now()).effects.iter().any(|effect| effect.key() == key);
        if !wanted {
            return Ok(());
        }
        let Some(failed) = self.failed(&under_way.effect, format!("what comes of {key} never fits the job's record"))
        else {
            return Err(LogError::Stuck { stream: JobState::stream(&self.log.id), effect: key });
        };
        self.under_way.insert(key, UnderWay { progress: Progress::Done, ..under_way });
        self.record(failed).await
    }

    /// What is recorded of an effect that could not be carried out; `None` for those that only say what was decided, of which
    /// nothing can be said but that they have to be repeated.
    fn failed(&self, effect: &Effect, message: String) -> Option<JobEvent> {
        let hint = Some("please report this with the host's log".into());
        let fault = Fault { kind: FaultKind::Environment, message, hint, said: None };
        match effect {
            Effect::StartAttempt { phase, attempt, .. }
            | Effect::Work { phase, attempt, .. }
            | Effect::BeginDelivery { phase, attempt, .. } => {
                Some(JobEvent::AttemptFaulted { phase: phase.clone(), attempt: *attempt, fault })
            }
            Effect::BeginRollback { phase, step } => {
                Some(JobEvent::AttemptFaulted { phase: phase.clone(), attempt: step.attempt, fault })
            }
            Effect::Advise { phase, round } => Some(super::advise::panicked(&self.log.id, phase, *round, fault)),
            Effect::Integrate { .. } => Some(super::integrate::faulted(fault)),
            Effect::Stop(_) | Effect::Ask { .. } | Effect::Expire { .. } | Effect::Conclude { .. } => None,
        }
    }

    async fn obey(&mut self, command: Command) -> Result<(), LogError> {
        match command {
            Command::Record { events, done } => {
                let answer = self.take_in(events).await?;
                // Nobody may wait for it any more.
                drop(done.send(answer));
            }
            Command::Ask { phase, mut question, done } => {
                let progress = self.log.state.active().and_then(|active| active.progress(&phase));
                let answer = match progress.and_then(|progress| progress.asked_before(&question)) {
                    Some(number) => Ok(number),
                    None => {
                        let number = progress.map_or(0, |progress| progress.questions.len() as u32) + 1;
                        question.number = number;
                        self.take_in(vec![JobEvent::QuestionAsked { phase, question }]).await?.map(|()| number)
                    }
                };
                drop(done.send(answer));
            }
        }
        Ok(())
    }

    async fn take_in(&mut self, events: Vec<JobEvent>) -> Result<Result<(), Refused>, LogError> {
        Ok(match self.log.record_all(events, &self.closing).await? {
            Record::Done => Ok(()),
            Record::Stale(illegal) => Err(Refused::Illegal(illegal.why)),
        })
    }

    async fn record(&mut self, event: JobEvent) -> Result<(), LogError> {
        if let Record::Stale(illegal) = self.log.record(event, &self.closing).await? {
            tracing::info!(job = %self.log.id, why = %illegal.why, "dropped a late answer");
        }
        Ok(())
    }
}

impl JobHandle {
    /// Why this host cannot carry the job on at all, if that is so.
    pub(crate) fn broken(&self) -> Option<ErrorView> {
        self.commands.is_closed().then(|| self.blocked.now()).flatten()
    }

    /// Asks the job to stop; `false` if it is over already.
    pub(crate) async fn cancel(&self, by: &Person) -> bool {
        self.record(vec![JobEvent::CancelRequested { by: by.clone() }]).await.is_ok()
    }

    /// Records something that came from outside, all or none.
    pub(crate) async fn record(&self, events: Vec<JobEvent>) -> Result<(), Refused> {
        let (done, answer) = oneshot::channel();
        let command = Command::Record { events, done };
        self.commands.send(command).await.map_err(|_| Refused::Over)?;
        answer.await.unwrap_or(Err(Refused::Over))
    }

    /// Asks a person on behalf of the phase's running agent; returns the question's number.
    pub(crate) async fn ask(&self, phase: PhaseId, question: Question) -> Result<u32, Refused> {
        let (done, answer) = oneshot::channel();
        let command = Command::Ask { phase, question: Box::new(question), done };
        self.commands.send(command).await.map_err(|_| Refused::Over)?;
        answer.await.unwrap_or(Err(Refused::Over))
    }
}

/// Names an effect by what it does, for [`CrashPoint`]: its key, or what is put together without the ids of commits.
fn place_of(effect: &Effect) -> String {
    match effect {
        Effect::Integrate { tips } => {
            let phases: Vec<&str> = tips.iter().map(|tip| tip.phase.as_str()).collect();
            format!("effect integrate/{}", phases.join("+"))
        }
        other => format!("effect {}", other.key()),
    }
}

fn until(at: Timestamp) -> std::time::Duration {
    std::time::Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default()
}

#[cfg(test)]
#[path = "job_loop_test.rs"]
mod tests;
