//! The rules of tries, one by one: what is corrected, what waits, what stops at once.

use crate::world::{
    World, at, complete, declared, fault, finding, gate_finished, id, job, limited_until, phase, run_finished, spec,
    truncated,
};
use helix_core::finding::{Fault, FaultKind, Finding, Verdict};
use helix_core::run::{AgentErrorKind, Ending, RunFacts, Terminal, TerminalKind, TerminalReason};
use helix_job::{Effect, Illegal, JobEnd, JobEvent, JobState, JobStatus, JobView, PhaseState, PhaseStatus, decide};
use helix_plan::{Phase, PhaseType};

struct Play {
    world: World,
    state: JobState,
}

impl Play {
    fn new(phases: Vec<Phase>) -> Self {
        let state = JobState::fold(&[World::submitted(spec(phases))]).unwrap();
        Self { world: World::new(Vec::new()), state }
    }

    fn effects(&self) -> Vec<Effect> {
        decide(&self.state, at(self.world.clock)).effects
    }

    fn keys(&self) -> Vec<String> {
        self.effects().iter().map(Effect::key).collect()
    }

    fn event(&mut self, event: JobEvent) {
        let recorded = self.world.record(event);
        self.state = std::mem::take(&mut self.state).apply(&recorded).unwrap();
    }

    /// Carries out the first effect the happy way.
    fn happy(&mut self) {
        let effect = self.effects().remove(0);
        let state = self.state.clone();
        let tree = |phase: &helix_core::ids::PhaseId| {
            let last = state.active().unwrap().progress(phase).unwrap().last_attempt().unwrap();
            last.result.as_ref().unwrap().tree.clone()
        };
        let event = self.world.carry_out(&effect, tree).unwrap();
        self.event(event);
    }

    fn run(&mut self, phase: &str, attempt: u32, facts: helix_core::run::RunFacts) {
        self.happy();
        self.event(run_finished(&id(phase), attempt, facts));
        self.happy();
    }

    fn gate(&mut self, phase: &str, attempt: u32, verdict: Verdict) {
        let active = self.state.active().unwrap();
        let tree = active.progress(&id(phase)).unwrap().last_attempt().unwrap().result.as_ref().unwrap().tree.clone();
        self.event(gate_finished(&id(phase), attempt, 0, tree, verdict));
    }

    fn view(&self) -> JobView {
        JobView::project(&job(), &self.state).unwrap()
    }
}

#[test]
fn a_failed_gate_becomes_a_correction_in_the_same_session_and_starts_from_the_work_so_far() {
    let mut play = Play::new(vec![phase("a", &[], 1)]);
    play.run("a", 1, complete());
    play.gate("a", 1, Verdict::Fail { findings: vec![finding("2 + 2 is not 5")] });
    let [Effect::StartAttempt { attempt, resume, correction, after, .. }] = &play.effects()[..] else { panic!() };
    assert_eq!(*attempt, 2);
    assert_eq!(resume.as_ref().map(|session| session.as_str()), Some("agent-session"));
    assert_eq!(
        correction.as_ref().unwrap().findings[0].message,
        "2 + 2 is not 5",
        "[25] findings always reach the agent"
    );
    assert_eq!(after.as_ref().unwrap().0, crate::world::commit(1), "the try before it is kept and built upon");
}

#[test]
fn a_run_that_was_cut_off_is_never_gated_and_its_work_is_kept() {
    let mut play = Play::new(vec![phase("a", &[], 1)]);
    play.run("a", 1, truncated());
    let view = play.view();
    assert_eq!(view.phases[0].status, PhaseStatus::Running);
    assert!(view.phases[0].error.as_ref().unwrap().message.contains("cut off"), "{view:#?}");
    assert!(matches!(&play.effects()[..], [Effect::StartAttempt { attempt: 2, .. }]), "[1] [2] no gate, another try");
}

/// A session that could not be entered is not asked for again; one that was cut off while it worked is.
#[test]
fn a_lost_session_is_not_resumed_again() {
    for (started, again) in [(true, Some("agent-session")), (false, None)] {
        let mut play = Play::new(vec![phase("a", &[], 1)]);
        play.run("a", 1, complete());
        play.gate("a", 1, Verdict::Fail { findings: vec![finding("2 + 2 is not 5")] });
        play.run("a", 2, RunFacts { started, ..truncated() });
        let [Effect::StartAttempt { attempt: 3, resume, .. }] = &play.effects()[..] else {
            panic!("{:?}", play.effects())
        };
        assert_eq!(resume.as_ref().map(|session| session.as_str()), again, "started: {started}");
    }
}

/// What does not fit is not gone on with, and neither is a session that the agent does not know.
#[test]
fn a_session_that_is_full_or_unknown_is_left() {
    let overflow = |terminal: &mut Terminal| terminal.reason = Some(TerminalReason::PromptTooLong);
    let unknown = |terminal: &mut Terminal| {
        (terminal.kind, terminal.reason) = (TerminalKind::ErrorDuringExecution, None);
    };
    for change in [&overflow as &dyn Fn(&mut Terminal), &unknown] {
        let mut play = Play::new(vec![phase("a", &[], 1)]);
        play.run("a", 1, complete());
        play.gate("a", 1, Verdict::Fail { findings: vec![finding("2 + 2 is not 5")] });
        let mut facts = complete();
        facts.ending = Ending::Exited { code: 1 };
        let terminal = facts.terminal.as_mut().unwrap();
        (terminal.is_error, terminal.stop_reason) = (true, None);
        change(terminal);
        play.run("a", 2, facts);
        let [Effect::StartAttempt { attempt: 3, resume: None, .. }] = &play.effects()[..] else {
            panic!("{:?}", play.effects())
        };
    }
}

#[test]
fn credentials_stop_at_once_with_the_remedy() {
    let mut play = Play::new(vec![phase("a", &[], 0)]);
    play.run("a", 1, declared(AgentErrorKind::Authentication));
    let [Effect::Conclude { end: JobEnd::Failed { reason, hint, .. } }] = &play.effects()[..] else { panic!() };
    assert!(reason.contains("credentials"), "{reason}");
    assert!(hint.as_ref().unwrap().contains("helix doctor"));
}

fn answered(status: u16) -> RunFacts {
    let mut facts = declared(AgentErrorKind::Unknown);
    facts.terminal.as_mut().unwrap().http_status = Some(status);
    facts
}

/// What the provider will refuse however often it is asked is asked once; what may be answered later is asked again.
#[test]
fn a_request_that_is_refused_for_good_is_tried_once() {
    for (status, advice) in [
        (400, "helix.toml"),
        (401, "log in"),
        (402, "credit"),
        (403, "log in"),
        (404, "choose a model"),
        (413, "split the phase"),
        (422, "helix.toml"),
    ] {
        let mut play = Play::new(vec![phase("a", &[], 0)]);
        play.run("a", 1, answered(status));
        let [Effect::Conclude { end: JobEnd::Failed { hint, .. } }] = &play.effects()[..] else {
            panic!("{status}: {:?}", play.effects())
        };
        assert!(hint.as_ref().unwrap().contains(advice), "{status}: {hint:?}");
    }
    for status in [408, 409, 425, 429, 500, 502, 503, 529] {
        let mut play = Play::new(vec![phase("a", &[], 0)]);
        play.run("a", 1, answered(status));
        assert_eq!(play.view().phases[0].status, PhaseStatus::Waiting, "{status}");
    }
}

/// A first request that is too long stays so: a new session is asked the same. Some agents call all that they do one turn.
#[test]
fn a_prompt_that_is_too_long_by_itself_is_tried_once() {
    for (turns, answered, tries) in [(1, false, 1), (1, true, 2), (7, true, 2)] {
        let mut facts = RunFacts { answered, ..declared(AgentErrorKind::InvalidRequest) };
        let terminal = facts.terminal.as_mut().unwrap();
        (terminal.reason, terminal.turns) = (Some(TerminalReason::PromptTooLong), turns);
        let mut play = Play::new(vec![phase("a", &[], 0)]);
        play.run("a", 1, facts);
        let again = matches!(&play.effects()[..], [Effect::StartAttempt { attempt: 2, resume: None, .. }]);
        assert_eq!(again, tries == 2, "{turns}, {answered}: {:?}", play.effects());
    }
}

#[test]
fn a_quota_with_a_reset_time_parks_the_phase_until_then_and_costs_no_try() {
    let mut play = Play::new(vec![phase("a", &[], 0)]);
    for attempt in 1..=5 {
        let until = play.world.clock + 1_000;
        play.run("a", attempt, limited_until(until));
        let decision = decide(&play.state, at(play.world.clock));
        let wake = decision.wake_at.unwrap();
        assert!(decision.effects.is_empty() && wake >= at(until) && wake < at(until + 5), "{wake}");
        assert_eq!(play.view().status, JobStatus::Waiting);
        play.world.clock = until + 5;
    }
    play.run("a", 6, complete());
    assert_eq!(play.keys(), ["integrate/0000000000000000000000000000000000000006"]);
}

/// A wait that is longer than the policy allows is none, and whoever reads of it knows when to come back.
#[test]
fn a_reset_that_is_too_far_away_is_not_waited_for() {
    let ends = |max_wait: Option<u64>, seconds: i64| {
        let mut limited = spec(vec![phase("a", &[], 0)]);
        limited.policy.max_wait_seconds = max_wait;
        let state = JobState::fold(&[World::submitted(limited)]).unwrap();
        let mut play = Play { world: World::new(Vec::new()), state };
        play.happy();
        let until = play.world.clock + seconds;
        play.event(run_finished(&id("a"), 1, limited_until(until)));
        play.happy();
        let decision = decide(&play.state, at(play.world.clock));
        match decision.effects.as_slice() {
            [] => Err(decision.wake_at.unwrap()),
            [Effect::Conclude { end: JobEnd::Failed { reason, hint, .. } }] => {
                let hint = hint.clone().unwrap();
                assert!(hint.contains("max_wait") && hint.contains("helix jobs resume"), "{hint}");
                assert!(reason.contains(&at(until).to_string()) && hint.contains(&at(until).to_string()), "{reason}");
                Ok(())
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ends(Some(0), 1_000), Ok(()), "never");
    assert_eq!(ends(Some(600), 1_000), Ok(()));
    assert_eq!(ends(Some(3_600), 5 * 24 * 3_600), Ok(()));
    for waits in [None, Some(2_000), Some(u64::MAX)] {
        assert!(ends(waits, 1_000).is_err(), "{waits:?}");
    }
    assert!(ends(Some(0), -10).is_err(), "a reset that is past costs no wait, only the usual pause");
}

/// One, two and four seconds, and up to half as much again.
fn assert_grow(pauses: &[i128]) {
    let [first, second, third] = pauses else { panic!("{pauses:?}") };
    assert!((1_000..=1_500).contains(first), "{pauses:?}");
    assert!((2_000..=3_000).contains(second), "{pauses:?}");
    assert!((4_000..=6_000).contains(third), "{pauses:?}");
    assert!(!pauses.iter().all(|pause| pause % 1_000 == 0), "phases that failed together come back apart: {pauses:?}");
}

#[test]
fn a_reset_time_that_is_past_does_not_keep_a_job_busy_for_ever() {
    let mut play = Play::new(vec![phase("a", &[], 0)]);
    let mut pauses = Vec::new();
    for attempt in 1..=4 {
        play.happy();
        let past = play.world.clock - 10;
        play.event(run_finished(&id("a"), attempt, limited_until(past)));
        let result = play.world.committed(false);
        play.event(JobEvent::ResultCommitted {
            phase: id("a"),
            attempt,
            result,
            repairs: Vec::new(),
            repairs_said: Vec::new(),
            findings: Vec::new(),
            runs_by_itself: Vec::new(),
        });
        if let Some(wake) = decide(&play.state, at(play.world.clock)).wake_at {
            pauses.push(wake.duration_since(at(play.world.clock)).as_millis());
            play.world.clock = wake.as_second() + 1 - crate::world::START;
        }
    }
    assert_grow(&pauses);
    assert!(matches!(&play.effects()[..], [Effect::Conclude { end: JobEnd::Failed { .. } }]), "{:?}", play.effects());
}

#[test]
fn a_provider_in_trouble_is_asked_again_with_growing_pauses_and_then_given_up() {
    let mut play = Play::new(vec![phase("a", &[], 0)]);
    let mut pauses = Vec::new();
    for attempt in 1..=4 {
        play.run("a", attempt, declared(AgentErrorKind::Server));
        if let Some(wake) = decide(&play.state, at(play.world.clock)).wake_at {
            pauses.push(wake.duration_since(at(play.world.clock)).as_millis());
            play.world.clock = wake.as_second() + 1 - crate::world::START;
        }
    }
    assert_grow(&pauses);
    assert_eq!(play.keys(), ["conclude"]);
}

#[test]
fn a_gate_that_cannot_run_blocks_and_does_not_blame_the_agent() {
    let mut play = Play::new(vec![phase("a", &[], 1)]);
    play.run("a", 1, complete());
    let missing = Fault {
        kind: FaultKind::ToolMissing,
        message: "pytest is not installed".into(),
        hint: Some("install it".into()),
        said: None,
    };
    play.gate("a", 1, Verdict::Inconclusive { fault: missing });
    let [Effect::Conclude { end: JobEnd::Failed { reason, hint, .. } }] = &play.effects()[..] else { panic!() };
    assert!(reason.contains("pytest is not installed"), "[28] {reason}");
    assert_eq!(hint.as_deref(), Some("install it"));
}

#[test]
fn an_empty_check_is_never_a_pass() {
    let mut play = Play::new(vec![phase("a", &[], 1)]);
    play.run("a", 1, complete());
    play.gate("a", 1, Verdict::Inconclusive { fault: fault() });
    assert!(matches!(&play.effects()[..], [Effect::StartAttempt { attempt: 2, .. }]));
}

#[test]
fn tries_end_after_max_attempts() {
    let mut play = Play::new(vec![phase("a", &[], 1)]);
    for attempt in 1..=3 {
        play.run("a", attempt, complete());
        play.gate("a", attempt, Verdict::Fail { findings: vec![finding(&format!("wrong {attempt}"))] });
    }
    assert_eq!(play.keys(), ["conclude"]);
    assert_eq!(play.view().phases[0].runs.len(), 3, "[7] every try is kept");
}

#[test]
fn independent_phases_run_together_up_to_the_cap_and_dependents_start_from_their_results() {
    let mut play =
        Play::new(vec![phase("a", &[], 0), phase("b", &[], 0), phase("c", &[], 0), phase("d", &["a", "b"], 0)]);
    assert_eq!(play.keys(), ["start/a/1", "start/b/1"], "max_parallel is 2");
    play.happy();
    assert_eq!(play.keys(), ["run/a/1", "start/b/1"]);
    play.event(run_finished(&id("a"), 1, complete()));
    play.happy();
    assert_eq!(play.keys(), ["start/b/1", "start/c/1"]);
    play.run("b", 1, complete());
    assert_eq!(play.keys(), ["start/c/1", "start/d/1"]);
    let Effect::StartAttempt { parents, .. } = &play.effects()[1] else { panic!() };
    assert_eq!(parents.iter().map(|tip| tip.phase.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn cancel_is_sticky_stops_the_agent_and_keeps_its_work() {
    let mut play = Play::new(vec![phase("a", &[], 1), phase("b", &["a"], 0)]);
    play.happy();
    play.event(JobEvent::CancelRequested { by: "the user".into() });
    assert_eq!(play.keys(), ["stop/run/a/1", "run/a/1"]);
    play.event(JobEvent::CancelRequested { by: "somebody else".into() });
    // The run completed before the stop reached it: the job is cancelled all the same.
    play.event(run_finished(&id("a"), 1, complete()));
    assert_eq!(play.keys(), ["commit/a/1"]);
    play.happy();
    let [Effect::Conclude { end }] = &play.effects()[..] else { panic!() };
    assert_eq!(end, &JobEnd::Cancelled { by: "the user".into() });
    play.happy();
    assert_eq!(play.view().status, JobStatus::Cancelled);
    assert!(play.view().phases.iter().all(|one| one.status == PhaseStatus::Cancelled));
}

#[test]
fn the_budget_stops_the_next_run() {
    let mut phases = vec![phase("a", &[], 0), phase("b", &["a"], 0)];
    phases[1].depends_on = vec![id("a")];
    let mut play = Play::new(phases);
    let mut expensive = spec(play.state.active().unwrap().spec.plan.phases.clone());
    expensive.policy.budget_usd = Some(0.4);
    play.state = JobState::fold(&[World::submitted(expensive)]).unwrap();
    play.run("a", 1, complete());
    let [Effect::Conclude { end: JobEnd::Failed { reason, .. } }] = &play.effects()[..] else { panic!() };
    assert!(reason.contains("budget of 0.4 USD"), "{reason}");
}

#[test]
fn a_gate_report_about_another_tree_is_refused() {
    let mut play = Play::new(vec![phase("a", &[], 1)]);
    play.run("a", 1, complete());
    let recorded = play.world.record(gate_finished(&id("a"), 1, 0, crate::world::tree(99), Verdict::Pass));
    let error = play.state.clone().apply(&recorded).unwrap_err();
    assert!(matches!(error.why, Illegal::WrongTree { .. }), "[35] {error:?}");
    assert!(!matches!(play.state.active().unwrap().phases[0].state, PhaseState::Passed { .. }));
}

#[test]
fn what_is_under_way_takes_its_time_until_it_ends() {
    let mut play = Play::new(vec![phase("a", &[], 0), phase("b", &["a"], 0)]);
    play.happy();
    let now = play.view().at(at(play.world.clock + 12));
    assert_eq!(now.phases[0].duration_seconds, Some(12.0), "no event has come since the attempt started");
    assert!(now.duration_seconds >= 12.0, "{now:#?}");
    assert_eq!(now.phases[1].duration_seconds, None);
    while play.state.end().is_none() {
        play.happy();
    }
    let ended = play.view();
    assert_eq!(ended.clone().at(at(play.world.clock + 3600)), ended, "what is over takes no more time");
}

/// A phase that is there to change files does not pass with none changed, whatever its gates say; it is told so.
#[test]
fn a_development_phase_that_changed_nothing_is_corrected_and_fails() {
    let idle = |kind: PhaseType| {
        let mut one = phase("a", &[], 0);
        (one.kind, one.max_attempts) = (kind, 1);
        let mut play = Play::new(vec![one]);
        play.happy();
        play.happy();
        let mut result = play.world.committed(false);
        result.changed.clear();
        play.event(JobEvent::ResultCommitted {
            phase: id("a"),
            attempt: 1,
            result,
            repairs: Vec::new(),
            repairs_said: Vec::new(),
            findings: Vec::new(),
            runs_by_itself: Vec::new(),
        });
        play.view().phases[0].status
    };
    for kind in PhaseType::ALL {
        let expected = if kind.must_change_files() { PhaseStatus::Failed } else { PhaseStatus::Passed };
        assert_eq!(idle(kind), expected, "{kind:?}");
    }
}

/// What no result may hold goes back to the agent before any gate looks, and the commit is on record all the same.
#[test]
fn what_no_result_may_hold_is_corrected_before_any_gate() {
    let mut play = Play::new(vec![phase("a", &[], 1)]);
    play.happy();
    play.happy();
    let result = play.world.committed(true);
    let findings = vec![Finding::new("result.link", "\"x\" is a link to \"/etc\", which is not in the repository")];
    let committed = JobEvent::ResultCommitted {
        phase: id("a"),
        attempt: 1,
        result,
        repairs: Vec::new(),
        repairs_said: Vec::new(),
        findings,
        runs_by_itself: Vec::new(),
    };
    play.event(committed);
    let [Effect::StartAttempt { correction: Some(told), attempt: 2, .. }] = &play.effects()[..] else {
        panic!("{:?}", play.effects())
    };
    assert_eq!(told.findings[0].rule, "result.link");
}
