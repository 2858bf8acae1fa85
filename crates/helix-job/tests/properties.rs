//! Properties of jobs over random plans and random results: no legal way leads to an illegal state, every job ends,
//! nothing is ever called done without proof, and replaying any prefix gives the same state.

use crate::world::{World, at, generates, job, phase, spec, tree};
use helix_core::ids::TreeId;
use helix_core::run::Outcome;
use helix_job::question::{ACCEPT, APPROVE, Answer, QuestionStatus};
use helix_job::{
    AskPerson, AskedQuestion, Effect, How, Integration, JobEnd, JobEvent, JobSpec, JobState, JobStatus, JobView,
    Person, PhaseState, Recorded, Reopen, Role, decide,
};
use helix_plan::{Approval, GateSpec, OnFailure, Seconds, Verify};
use proptest::prelude::*;

/// Random plans: up to six phases, each depending on earlier ones only.
fn any_spec() -> impl Strategy<Value = JobSpec> {
    let one = (any::<u8>(), 0usize..3, any::<bool>(), 0u8..3, 1u32..4, 0u8..32);
    (
        proptest::collection::vec(one, 1..7),
        1u32..4,
        proptest::option::of((4u32..60).prop_map(|tenths| f64::from(tenths) / 10.0)),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(seeds, max_parallel, budget_usd, advised, asks)| {
            let names = ["a", "b", "c", "d", "e", "f"];
            let phases =
                seeds.iter().enumerate().map(|(index, (mask, gates, optional, on_failure, attempts, more))| {
                    let needs: Vec<&str> =
                        (0..index).filter(|bit| mask & (1 << bit) != 0).map(|bit| names[bit]).collect();
                    let mut new = phase(names[index], &needs, *gates);
                    new.optional = *optional;
                    new.max_attempts = *attempts;
                    new.on_failure = [OnFailure::Fail, OnFailure::Skip, OnFailure::Escalate][*on_failure as usize];
                    new.verify = (more & 1 != 0).then_some(Verify { model: None, timeout: Seconds(120) });
                    new.approval =
                        [None, None, Some(Approval::Before), Some(Approval::After)][usize::from(more >> 1) % 4];
                    if more & 8 != 0 {
                        new.gates.push(GateSpec::ReviewApproved { model: None });
                    }
                    if more & 16 != 0 {
                        new.gates.push(GateSpec::Manual { question: None });
                    }
                    if *more == 9 || *more == 16 {
                        new.generates_phases = Some(generates());
                    }
                    new
                });
            let mut spec = spec(phases.collect());
            spec.policy.max_parallel = max_parallel;
            spec.policy.budget_usd = budget_usd;
            spec.roles.adviser = advised.then(|| Role { agent: "claude".into(), model: None });
            if !asks {
                spec.policy.escalation.person = AskPerson::Never;
            }
            spec
        })
}

/// A person who answers the first open question, somehow; now and then not in time.
fn answer(world: &mut World, state: &JobState) -> Option<JobEvent> {
    let (progress, asked) =
        state.active()?.phases.iter().find_map(|progress| Some((progress, progress.open_question()?)))?;
    let number = asked.question.number;
    let draw = world.draw() as usize;
    if draw == 9 {
        return None;
    }
    let choice = asked.question.options.get(draw % asked.question.options.len().max(1))?.key.clone();
    if choice == ACCEPT {
        let answer = Answer { choice: Some(choice), text: Some("known".into()), by: Person::new("Dana", How::Key) };
        return Some(JobEvent::QuestionAnswered { phase: progress.id.clone(), asked: number, answer });
    }
    Some(crate::world::answered(&progress.id, number, &choice, draw.is_multiple_of(2).then_some("words")))
}

fn result_tree(state: &JobState, id: &helix_core::ids::PhaseId) -> TreeId {
    let progress = state.active().and_then(|active| active.progress(id)).unwrap();
    progress.last_attempt().and_then(|last| last.result.as_ref()).map_or_else(|| tree(0), |result| result.tree.clone())
}

/// Lets the world carry the job out, and checks on the way that every decision is one that can be followed.
fn play(spec: JobSpec, draws: Vec<u8>, cancel_at: Option<u64>) -> (Vec<Recorded<JobEvent>>, JobState) {
    let events = vec![World::submitted(spec)];
    let state = JobState::fold(&events).unwrap();
    carry_on(World::new(draws), events, state, cancel_at)
}

fn carry_on(
    mut world: World,
    mut events: Vec<Recorded<JobEvent>>,
    mut state: JobState,
    cancel_at: Option<u64>,
) -> (Vec<Recorded<JobEvent>>, JobState) {
    for step in 0..2_000_u64 {
        if state.end().is_some() {
            return (events, state);
        }
        let decision = decide(&state, at(world.clock));
        let mut keys: Vec<String> = decision.effects.iter().map(Effect::key).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), decision.effects.len(), "effects are distinct");
        let event = if cancel_at == Some(step) {
            JobEvent::CancelRequested { by: "a test".into() }
        } else if decision.effects.is_empty()
            && let Some(answer) = answer(&mut world, &state)
        {
            answer
        } else if decision.effects.is_empty() {
            let wake =
                decision.wake_at.expect("a job that is not over has an effect, a question or a time to wait for");
            assert!(wake > at(world.clock), "waiting is for the future");
            world.clock = wake.as_second() - crate::world::START + i64::from(wake.subsec_nanosecond() > 0);
            continue;
        } else {
            // Stopping an agent records nothing itself: the run's end does.
            let stops = |effect: &&Effect| matches!(effect, Effect::Stop(_));
            let telling: Vec<&Effect> = decision.effects.iter().filter(|effect| !stops(effect)).collect();
            let index = world.draw() as usize % telling.len();
            world.carry_out(telling[index], |id| result_tree(&state, id)).unwrap()
        };
        let recorded = world.record(event);
        state = state.apply(&recorded).unwrap_or_else(|error| panic!("{error}\n{events:?}"));
        events.push(recorded);
    }
    let names: Vec<&str> = events.iter().map(|one| one.event.name()).collect();
    panic!("the job does not end: {names:?}\n{state:?}");
}

/// Goes on with a job that has ended badly, and lets the world carry it out again.
fn play_again(
    mut events: Vec<Recorded<JobEvent>>,
    state: JobState,
    draws: Vec<u8>,
) -> (Vec<Recorded<JobEvent>>, JobState) {
    let Ok((mut reopen, restart)) = state.to_reopen(&Reopen::Unfinished) else { return (events, state) };
    let mut check = Vec::new();
    // Now and then only the gates judge what is there once more.
    if let Ok(found) = state.to_check(None)
        && draws.first().is_some_and(|draw| draw.is_multiple_of(2))
    {
        (reopen, check) = found;
    }
    let mut world = World::new(draws);
    world.number = events.len() as u64;
    world.clock = events.last().unwrap().at.as_second() - crate::world::START;
    world.commits = 1_000;
    let budget_usd = Some(1_000.0);
    let resumed = world.record(JobEvent::JobResumed {
        by: "a test".into(),
        reopen,
        restart,
        budget_usd,
        check,
        accept: None,
        plan: None,
    });
    let state = state.apply(&resumed).unwrap();
    events.push(resumed);
    carry_on(world, events, state, None)
}

fn check_proof(state: &JobState) {
    let active = state.active().unwrap();
    for (phase, progress) in active.pairs() {
        let PhaseState::Passed { result, .. } = &progress.state else { continue };
        let last = progress.last_attempt().unwrap();
        let outcome = last.run_end.as_ref().unwrap().outcome();
        assert!(matches!(outcome, Outcome::Completed(_) | Outcome::CompletedWithDenials(_)), "{outcome:?}");
        assert_eq!(last.gates.len(), phase.gates.len(), "every gate answered");
        if phase.verify.is_some() {
            let (_, review) = last.reviews.iter().rev().find(|(gate, _)| gate.is_none()).unwrap();
            assert!(review.verdict.passed() && review.tree == result.tree, "the verifier has seen it");
        }
        if phase.approval.is_some() {
            let said_yes = |asked: &AskedQuestion| matches!(&asked.status, QuestionStatus::Answered { answer, .. } if answer.choice.as_deref() == Some(APPROVE));
            assert!(progress.questions.iter().any(said_yes), "a person has approved it");
        }
        let overruled = |gate: usize| last.accepted.iter().any(|one| one.gate == gate && one.by.how.is_proof());
        for (index, gate) in last.gates.iter().enumerate() {
            assert!(gate.verdict.passed() != overruled(index) && gate.tree == result.tree, "{gate:?}");
        }
    }
    if state.end() == Some(&JobEnd::Succeeded) {
        assert!(matches!(active.integration, Integration::Done { .. }));
        assert!(
            active.phases.iter().all(|one| !matches!(one.state, PhaseState::Failed { .. } | PhaseState::Cancelled))
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn every_job_ends_and_what_passed_is_proven(
        spec in any_spec(),
        draws in proptest::collection::vec(0u8..10, 0..200),
        cancel_at in proptest::option::of(0u64..40),
        again in proptest::option::of(proptest::collection::vec(0u8..10, 0..100)),
    ) {
        let (mut events, mut state) = play(spec, draws, cancel_at);
        check_proof(&state);
        let was_cancelled = events.iter().any(|one| matches!(one.event, JobEvent::CancelRequested { .. }));
        prop_assert_eq!(was_cancelled, JobView::project(&job(), &state).unwrap().status == JobStatus::Cancelled);
        if let Some(draws) = again {
            (events, state) = play_again(events, state, draws);
            check_proof(&state);
        }
        // Replay of any prefix gives the state that was there then, and going on from it gives the same end.
        let mut running = JobState::New;
        for (index, event) in events.iter().enumerate() {
            prop_assert_eq!(&JobState::fold(&events[..index]).unwrap(), &running);
            running = running.apply(event).unwrap();
        }
        prop_assert_eq!(&running, &state);
        let view = JobView::project(&job(), &state).unwrap();
        prop_assert!(view.status.is_final());
        prop_assert_eq!(view.phases.len(), state.active().unwrap().phases.len());
        // Events survive the journal's JSON.
        for event in &events {
            let text = serde_json::to_string(event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Recorded<JobEvent>>(&text).unwrap(), event);
        }
    }

    #[test]
    fn events_in_any_order_are_refused_or_keep_the_rules(
        spec in any_spec(),
        draws in proptest::collection::vec(0u8..10, 0..80),
        order in proptest::collection::vec(any::<proptest::sample::Index>(), 1..120),
    ) {
        let (events, _) = play(spec, draws, None);
        let mut state = JobState::New;
        let mut number = 0;
        for index in order {
            let mut event = events[index.index(events.len())].clone();
            event.number = number + 1;
            let before = state.clone();
            match state.apply(&event) {
                Ok(next) => {
                    let resumed = matches!(event.event, JobEvent::JobResumed { .. });
                    prop_assert!(before.end().is_none() || resumed, "nothing follows the end but going on");
                    number += 1;
                    state = next;
                    check_proof(&state);
                }
                Err(_) => state = before,
            }
        }
    }
}
