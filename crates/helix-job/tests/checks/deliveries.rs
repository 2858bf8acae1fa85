//! Rules of what acts outside of the repository, and of what could not be committed.

use helix_core::finding::{Fault, FaultKind, Verdict};
use helix_core::ids::{CommitId, JobId, TreeId};
use helix_core::said::Words;
use helix_job::{
    Baseline, Begun, DeliveryState, DeliveryStep, GateReport, Illegal, JobEnd, JobEvent, JobSpec, JobStatus,
    PhaseState, Reopen, ReopenError, Reverted, RollbackError, Stage, StepOutcome, StepReport, Validated,
};
use helix_language::Language;
use helix_plan::{Approval, Delivery, GateSpec, Health, OnFailure, Seconds};

use super::Play;
use crate::world::{commit, fault, finding, gate_finished, id, phase, spec, step_answered};

/// `made` has a gate, `changed` changes what it made without checking it, `delivered` delivers.
fn delivering() -> JobSpec {
    let made = phase("made", &[], 1);
    let changed = phase("changed", &["made"], 0);
    let mut delivered = phase("delivered", &["changed"], 0);
    delivered.gates = vec![GateSpec::DeploySuccess(Delivery::of_command("./deploy"))];
    spec(vec![made, changed, delivered])
}

/// Whoever approves a delivery sees what will be carried out, and where.
#[test]
fn an_approval_before_a_delivery_says_what_is_delivered_where() {
    let mut one = phase("out", &[], 0);
    one.approval = Some(Approval::Before);
    let delivery = Delivery { target: Some("production".into()), ..Delivery::of_command("./deploy") };
    one.gates = vec![GateSpec::DeploySuccess(delivery)];
    let mut play = Play::new(spec(vec![one]));
    play.happy();
    let question = &play.view().questions[0];
    assert!(question.text.ends_with("Helix then delivers to production: `./deploy` exits 0"), "{}", question.text);
    let german = helix_job::phrases::asks(Language::German, question);
    assert!(german.contains("Danach liefert Helix nach production aus: `./deploy`"), "{german}");
}

/// A delivery has to have begun, and begins only on a tree on which every gate before it has passed; the rule is the state machine's
/// own, whatever a host does.
#[test]
fn nothing_is_delivered_that_is_not_validated_and_nothing_passes_that_has_not_begun() {
    let mut play = Play::new(delivering());
    play.work();
    play.happy();
    play.work();
    play.work();
    assert_eq!(play.keys(), ["begin/delivered/1/0"]);
    let tree = play.tree("delivered");
    let begin = |tree: &TreeId, validation: Vec<Validated>| JobEvent::DeliveryBegun {
        phase: id("delivered"),
        attempt: 1,
        gate: 0,
        tree: tree.clone(),
        validation,
        baseline: None,
    };
    let pass = |tree: &TreeId| gate_finished(&id("delivered"), 1, 0, tree.clone(), Verdict::Pass);
    let JobEvent::GateFinished { report, .. } = pass(&tree) else { unreachable!() };
    let checked = |tree: &TreeId, verdict: Verdict| Validated {
        phase: id("made"),
        gate: 0,
        report: GateReport { tree: tree.clone(), verdict, ..report.clone() },
    };
    let other = play.tree("made");
    assert_ne!(tree, other);
    let why = play.try_event(pass(&tree)).unwrap_err();
    assert!(matches!(why, Illegal::NotBegun { .. }), "{why}");
    for (tree, validation) in [
        (&tree, vec![]),
        (&tree, vec![checked(&other, Verdict::Pass)]),
        (&tree, vec![checked(&tree, Verdict::Fail { findings: vec![finding("no")] })]),
        (&other, vec![checked(&other, Verdict::Pass)]),
    ] {
        play.try_event(begin(tree, validation)).unwrap_err();
    }
    play.event(begin(&tree, vec![checked(&tree, Verdict::Pass)]));
    play.try_event(begin(&tree, vec![checked(&tree, Verdict::Pass)])).unwrap_err();
    assert_eq!(play.keys(), ["gate/delivered/1/0"]);
    play.event(pass(&tree));
    assert!(matches!(play.phase("delivered"), PhaseState::Passed { .. }));
    // What is put together in the end is never delivered again.
    let active = play.state.active().unwrap();
    assert!(active.gates_of_sum().iter().all(|(phase, _)| phase.id != id("delivered")));
}

/// What an agent left and nobody could commit is committed when the job goes on: no other agent does the work again.
#[test]
fn a_commit_that_failed_is_made_when_the_job_goes_on() {
    let mut play = Play::new(spec(vec![phase("a", &[], 0)]));
    play.happy();
    play.happy();
    assert_eq!(play.keys(), ["commit/a/1"]);
    let full = Fault { kind: FaultKind::Environment, ..fault() };
    play.event(JobEvent::AttemptFaulted { phase: id("a"), attempt: 1, fault: full });
    play.happy();
    let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
    play.event(JobEvent::JobResumed {
        by: "a test".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    assert_eq!(play.keys(), ["commit/a/1"]);
    play.happy();
    assert!(matches!(play.phase("a"), PhaseState::Passed { .. }));
    // Where there is nothing left to commit, it starts anew.
    let mut play = Play::new(spec(vec![phase("a", &[], 0)]));
    play.happy();
    play.happy();
    let gone = Fault { kind: FaultKind::NothingChecked, ..fault() };
    play.event(JobEvent::AttemptFaulted { phase: id("a"), attempt: 1, fault: gone });
    play.happy();
    let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
    play.event(JobEvent::JobResumed {
        by: "a test".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    assert_eq!(play.keys(), ["start/a/2"]);
}

/// A phase that delivers, with a way back and with what is watched, and all that could let a job succeed without it.
fn reversible() -> JobSpec {
    let mut deliver = phase("deliver", &[], 1);
    let health = Health {
        command: vec!["./healthy".into()],
        every: Seconds(1),
        time: Seconds(1),
        limit: 1,
        timeout: Seconds(1),
    };
    let delivery =
        Delivery { health: Some(health), rollback: vec!["./back".into()], ..Delivery::of_command("./deploy") };
    deliver.gates.push(GateSpec::DeploySuccess(delivery));
    (deliver.optional, deliver.on_failure) = (true, OnFailure::Skip);
    spec(vec![deliver, phase("other", &[], 0)])
}

fn unhealthy() -> Verdict {
    Verdict::Fail { findings: vec![finding("unhealthy")] }
}

fn at_round(round: u32) -> DeliveryStep {
    DeliveryStep { attempt: 1, gate: 1, round }
}

impl Play {
    /// Up to the end of the deployment's commands and probes.
    fn deployed(verdict: Verdict, outcome: Option<StepOutcome>) -> Self {
        let mut play = Self::new(reversible());
        (0..3).for_each(|_| play.happy_with(|key| key.contains("other")));
        (0..5).for_each(|_| play.happy_with(|key| key.contains("deliver")));
        let mut report = GateReport::new("deploy_success", verdict, "deployed".into(), play.tree("deliver"));
        report.steps.extend(outcome.map(|outcome| StepReport {
            step: "`./deploy`".into(),
            outcome,
            seen: "exit".into(),
            said: Words::default(),
            attempts: 1,
            command: None,
        }));
        play.event(JobEvent::GateFinished { phase: id("deliver"), attempt: 1, gate: 1, report });
        play
    }

    fn answer(&mut self, stage: Stage, step: DeliveryStep, verdict: Verdict) {
        let tree = self.tree("deliver");
        self.event(step_answered(&id("deliver"), stage, step, tree, verdict));
    }

    fn health(&mut self, round: u32, verdict: Verdict) {
        self.answer(Stage::Watching(at_round(round)), at_round(round), verdict);
    }

    fn rolled_back(&mut self, round: u32, verdict: Verdict) {
        self.answer(Stage::RollingBack(at_round(round)), at_round(round), verdict);
    }

    fn begin(&mut self, round: u32) {
        self.event(JobEvent::RollbackBegun { phase: id("deliver"), step: at_round(round) });
    }

    fn delivery(&self) -> (DeliveryState, String) {
        let one = self.view().deliveries.remove(0);
        (one.state, one.outcome.unwrap_or_default())
    }

    fn person(&mut self, again: bool) -> Result<(), Illegal> {
        let (phase, by) = (id("deliver"), "ada".to_owned());
        self.try_event(JobEvent::RollbackRequested { phase, attempt: 1, gate: 1, by: by.into(), again, over: false })
    }
}

#[test]
fn an_unhealthy_delivery_is_taken_back_once_and_the_job_has_failed_whatever_its_plan_says() {
    let mut play = Play::deployed(Verdict::Pass, Some(StepOutcome::Good));
    assert_eq!(play.keys(), ["health/deliver/1/1/0"]);
    assert_eq!(play.delivery().0, DeliveryState::Watching);
    play.health(0, unhealthy());
    assert_eq!(play.keys(), ["begin-rollback/deliver/1/1/1"]);
    // What has not begun cannot have worked, and nothing begins twice.
    let report = GateReport::new("deploy_success", Verdict::Pass, String::new(), play.tree("deliver"));
    let end = JobEvent::RollbackFinished { phase: id("deliver"), step: at_round(1), report };
    assert!(matches!(play.try_event(end), Err(Illegal::NotBegun { .. })));
    play.begin(1);
    assert_eq!(play.keys(), ["rollback/deliver/1/1/1"]);
    play.try_event(JobEvent::RollbackBegun { phase: id("deliver"), step: at_round(1) }).unwrap_err();
    // A cancel does not stop it in the middle.
    let mut world = super::World::new(Vec::new());
    (world.number, world.clock) = (play.world.number, play.world.clock);
    let mut cancelled = Play { world, state: play.state.clone() };
    cancelled.event(JobEvent::CancelRequested { by: "bob".into() });
    assert_eq!(cancelled.keys(), ["rollback/deliver/1/1/1"]);
    play.rolled_back(1, Verdict::Pass);
    assert_eq!(play.keys(), ["health/deliver/1/1/1"]);
    play.health(1, Verdict::Pass);
    let (state, words) = play.delivery();
    assert!(
        state == DeliveryState::RolledBack && words.contains("rolled back") && words.contains("and healthy"),
        "{words}"
    );
    // Where Helix knows of no delivery before, it names none.
    let (_, _, begun) = play.state.active().unwrap().deliveries().next().unwrap();
    let (last, commit) = (begun.rollbacks.last().unwrap(), commit(9));
    let to = |job: Option<&str>| {
        let job = job.map(|job| JobId::new(job).unwrap());
        let (tree, reference) = (play.tree("deliver"), String::new());
        let baseline = Some(Baseline { commit: commit.clone(), tree, job, reference });
        Language::English.words(&last.words(&Begun { baseline, ..begun.clone() }))
    };
    assert!(to(Some("j7")).contains(&format!("rolled back to {commit} and healthy")), "{}", to(Some("j7")));
    assert_eq!(to(None), "rolled back (no earlier delivery is known) and healthy");
    // Neither another attempt nor an adviser, and no success without the optional phase.
    assert!(matches!(play.phase("deliver"), PhaseState::Failed { .. }));
    play.try_event(JobEvent::JobFinished { end: JobEnd::Succeeded }).unwrap_err();
    assert_eq!(play.keys(), ["conclude"]);
    play.happy();
    assert_eq!(play.view().status, JobStatus::Failed);
    assert!(play.view().error.unwrap().message.contains("and healthy"));
    // By a person's word it is delivered again.
    let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
    play.event(JobEvent::JobResumed {
        by: "ada".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    assert_eq!(play.keys(), ["start/deliver/2"]);
}

#[test]
fn what_is_not_known_or_still_bad_is_for_a_person() {
    for (rollback, health, state, says) in [
        (Verdict::Pass, Some(unhealthy()), DeliveryState::RollbackFailed, "still unhealthy: a person is needed"),
        (unhealthy(), None, DeliveryState::RollbackFailed, "the rollback failed: a person is needed"),
    ] {
        let mut play = Play::deployed(unhealthy(), Some(StepOutcome::Bad));
        play.begin(1);
        play.rolled_back(1, rollback);
        health.into_iter().for_each(|verdict| play.health(1, verdict));
        let (now, words) = play.delivery();
        assert!(now == state && words.contains(says), "{words}");
        assert!(matches!(play.phase("deliver"), PhaseState::Failed { .. }));
    }
    // A host that ended in the middle of the rollback.
    let mut play = Play::deployed(unhealthy(), Some(StepOutcome::Unknown));
    play.begin(1);
    let lost = Fault { kind: FaultKind::Environment, ..fault() };
    play.event(JobEvent::AttemptFaulted { phase: id("deliver"), attempt: 1, fault: lost });
    assert!(matches!(play.phase("deliver"), PhaseState::Failed { .. }));
    assert!(play.delivery().1.contains("unknown: a person is needed"), "{:?}", play.delivery());
    // Of what never ran, and of what was lost while it was delivered, nothing is taken back by itself.
    // Nor where the end of a command was not seen, as it was killed.
    let lost = || Verdict::Inconclusive { fault: Fault { kind: FaultKind::Environment, ..fault() } };
    for (verdict, step) in [(unhealthy(), None), (lost(), None), (lost(), Some(StepOutcome::Unknown))] {
        let play = Play::deployed(verdict, step);
        assert!(play.keys().iter().all(|key| !key.contains("rollback")), "{:?}", play.keys());
    }
}

/// Where a gate has a health check, nothing else proves that what was brought back serves again.
#[test]
fn a_rollback_whose_health_was_not_seen_is_not_called_good() {
    let environment = || Fault {
        kind: FaultKind::Environment,
        message: "the variable TOKEN is not set".into(),
        hint: Some("start the host with TOKEN set".into()),
        said: None,
    };
    let rolled_back = || {
        let mut play = Play::deployed(unhealthy(), Some(StepOutcome::Bad));
        play.begin(1);
        play.rolled_back(1, Verdict::Pass);
        play
    };
    let mut inconclusive = rolled_back();
    inconclusive.health(1, Verdict::Inconclusive { fault: environment() });
    let mut faulted = rolled_back();
    faulted.event(JobEvent::AttemptFaulted { phase: id("deliver"), attempt: 1, fault: environment() });
    let mut cancelled = rolled_back();
    cancelled.event(JobEvent::CancelRequested { by: "bob".into() });
    let mut cancelled_before = Play::deployed(unhealthy(), Some(StepOutcome::Bad));
    cancelled_before.begin(1);
    cancelled_before.event(JobEvent::CancelRequested { by: "bob".into() });
    cancelled_before.rolled_back(1, Verdict::Pass);
    for (play, how) in [
        (&inconclusive, "inconclusive"),
        (&faulted, "faulted"),
        (&cancelled, "cancelled"),
        (&cancelled_before, "cancelled before"),
    ] {
        let (state, words) = play.delivery();
        assert_eq!(state, DeliveryState::RollbackUnproved, "{how}: {words}");
        assert!(words.contains("not proved") && words.contains("a person is needed"), "{how}: {words}");
    }
    // What to do is said with what kept the watch from being made.
    for play in [&inconclusive, &faulted, &cancelled_before] {
        let PhaseState::Failed { error, .. } = play.phase("deliver") else { panic!("{:?}", play.phase("deliver")) };
        let line = error.line();
        assert!(line.contains("not proved") && line.contains("--again"), "{line}");
    }
    let PhaseState::Failed { error, .. } = faulted.phase("deliver") else { panic!() };
    assert!(error.line().contains("TOKEN is not set") && error.line().contains("with TOKEN set"), "{}", error.line());
}

/// Of two jobs at one target the second waits as long as the first changes it or watches it; not for what somebody only wants.
#[test]
fn a_delivery_is_under_way_from_its_beginning_until_its_health_is_known() {
    let under_way = |play: &Play| play.view().deliveries.remove(0).is_under_way();
    let mut play = Play::deployed(Verdict::Pass, Some(StepOutcome::Good));
    assert!(under_way(&play), "watched");
    play.health(0, unhealthy());
    assert!(under_way(&play), "to be rolled back");
    play.begin(1);
    play.rolled_back(1, Verdict::Pass);
    assert!(under_way(&play), "watched again");
    play.health(1, Verdict::Pass);
    assert!(!under_way(&play), "rolled back");
    play.happy();
    play.person(true).unwrap();
    assert!(!under_way(&play), "requested");
    play.begin(2);
    assert!(under_way(&play), "being rolled back");
}

/// Nobody knows how far one came that was given up in the middle, and it holds its target no longer, whatever its phase does since.
#[test]
fn a_delivery_that_was_cancelled_is_not_under_way_again_when_its_job_goes_on() {
    let mut play = Play::new(reversible());
    (0..3).for_each(|_| play.happy_with(|key| key.contains("other")));
    (0..5).for_each(|_| play.happy_with(|key| key.contains("deliver")));
    let state = |play: &Play| play.view().deliveries.iter().map(|one| one.state).collect::<Vec<_>>();
    assert_eq!((play.keys(), state(&play)), (vec!["gate/deliver/1/1".to_owned()], vec![DeliveryState::Delivering]));
    play.event(JobEvent::CancelRequested { by: "a test".into() });
    assert_eq!(state(&play), [DeliveryState::Unknown]);
    play.happy();
    let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
    play.event(JobEvent::JobResumed {
        by: "a test".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    while play.keys() != ["begin/deliver/2/1"] {
        play.happy();
        assert_eq!(state(&play), [DeliveryState::Unknown], "{:?}", play.keys());
    }
    play.happy();
    assert_eq!(state(&play), [DeliveryState::Unknown, DeliveryState::Delivering]);
}

#[test]
fn a_person_takes_back_what_was_delivered_and_a_second_time_only_if_it_is_meant() {
    let mut play = Play::deployed(Verdict::Pass, Some(StepOutcome::Good));
    assert_eq!(play.state.to_roll_back(None, false), Err(RollbackError::Running));
    assert!(play.person(false).is_err(), "not while it runs");
    play.health(0, Verdict::Pass);
    (0..2).for_each(|_| play.happy());
    assert_eq!((play.view().status, play.delivery().0), (JobStatus::Succeeded, DeliveryState::Delivered));
    let unknown = RollbackError::UnknownPhase { phase: id("none") };
    assert_eq!(play.state.to_roll_back(Some(&id("none")), false), Err(unknown));
    let nothing = play.state.to_roll_back(Some(&id("other")), false);
    assert!(matches!(nothing, Err(RollbackError::NothingDelivered { .. })), "{nothing:?}");
    assert_eq!(play.state.to_roll_back(None, false), Ok((id("deliver"), 1, 1)));
    play.person(false).unwrap();
    assert_eq!(play.keys(), ["begin-rollback/deliver/1/1/1"]);
    play.begin(1);
    play.rolled_back(1, Verdict::Pass);
    play.health(1, Verdict::Pass);
    play.happy();
    let view = play.view();
    assert!(
        view.status == JobStatus::Failed && view.error.unwrap().message.contains("ada asked to roll the delivery back")
    );
    let again = play.state.to_roll_back(None, false);
    assert!(matches!(&again, Err(RollbackError::Again { how, .. }) if how.contains("and healthy")), "{again:?}");
    play.person(false).unwrap_err();
    play.person(true).unwrap();
    assert_eq!(play.keys(), ["begin-rollback/deliver/1/1/2"]);
}

#[test]
fn a_merged_result_is_reverted_once_and_does_not_go_on() {
    let mut play = Play::new(spec(vec![phase("a", &[], 0)]));
    let reverted =
        || JobEvent::Reverted(Reverted { by: "ada".into(), commit: commit(99), branch: "main".into(), adr: None });
    play.work();
    play.try_event(reverted()).unwrap_err();
    (0..2).for_each(|_| play.happy());
    assert_eq!(play.view().status, JobStatus::Succeeded);
    play.event(reverted());
    let commit: Option<CommitId> = play.view().reverted.map(|done| done.commit);
    assert_eq!((play.view().status, commit), (JobStatus::Succeeded, Some(crate::world::commit(99))));
    play.try_event(reverted()).unwrap_err();
    // What came into the branch after that, and is taken out by another commit.
    let (by, branch) = ("ada".into(), "main".into());
    play.event(JobEvent::Reverted(Reverted { by, commit: crate::world::commit(98), branch, adr: None }));
    assert_eq!(play.view().reverted.map(|done| done.commit), Some(crate::world::commit(98)));
    let merged = play.state.active().unwrap().merges.len();
    assert_eq!((merged, play.state.to_reopen(&Reopen::Phase(id("a")))), (1, Err(ReopenError::Reverted)));
    // What was merged before the job went on stays merged, whatever becomes of it then.
    let mut play = Play::deployed(Verdict::Pass, Some(StepOutcome::Good));
    play.health(0, Verdict::Pass);
    (0..2).for_each(|_| play.happy());
    play.person(false).unwrap();
    play.begin(1);
    play.rolled_back(1, Verdict::Pass);
    play.health(1, Verdict::Pass);
    play.happy();
    let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
    play.event(JobEvent::JobResumed {
        by: "ada".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    play.event(JobEvent::CancelRequested { by: "bob".into() });
    play.happy();
    assert_eq!((play.view().status, play.state.active().unwrap().merges.len()), (JobStatus::Cancelled, 1));
    play.event(reverted());
    assert_eq!(play.state.to_reopen(&Reopen::Unfinished), Err(ReopenError::Reverted));
}
