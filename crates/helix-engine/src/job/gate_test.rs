use crate::job::world;
use crate::job::world::{World, generates, id, phase, spec};
use helix_job::{JobEvent, JobState};

use super::*;

#[test]
fn what_an_added_phase_names_excuses_no_test_of_the_sum_or_of_a_phase_after_it() {
    let mut plan = phase("plan", &[], 0);
    plan.outputs = vec!["docs/plan.md".into()];
    plan.generates_phases = Some(generates());
    let mut world = World::new(Vec::new());
    let mut state = JobState::fold(&[World::submitted(spec(vec![plan, phase("end", &["plan"], 0)]))]).unwrap();
    let added = Phase { outputs: vec!["tests/test_core.py".into()], ..phase("added", &["plan"], 0) };
    while state.active().unwrap().progress(&id("added")).is_none() {
        let effect = helix_job::decide(&state, world::at(world.clock)).effects.remove(0);
        let event = match effect {
            helix_job::Effect::Work { stage: helix_job::Stage::Reading, .. } => {
                JobEvent::PhasesProposed { phase: id("plan"), attempt: 1, phases: vec![added.clone()] }
            }
            effect => world.carry_out(&effect, |_| world::tree(1)).unwrap(),
        };
        state = state.apply(&world.record(event)).unwrap();
    }
    let active = state.active().unwrap();
    let end = active.spec.plan.phase(&id("end")).unwrap();
    for of in [WorkOf::Phase, WorkOf::Job, WorkOf::Branch] {
        let claims = claims(active, end, of);
        assert_eq!(claims.named, ["docs/plan.md"], "{of:?}");
        assert!(claims.earlier.contains(&"tests/test_core.py".to_owned()), "it may be touched all the same: {of:?}");
    }
}

#[test]
fn a_phase_that_names_no_outputs_leaves_what_nobody_claims_to_those_after_it() {
    for (outputs, expected) in [(vec![], true), (vec!["b.py".to_owned()], false)] {
        let first = Phase { outputs, ..phase("first", &[], 0) };
        let second = Phase { outputs: vec!["c.py".into()], ..phase("second", &["first"], 0) };
        let mut world = World::new(Vec::new());
        let mut state = JobState::fold(&[World::submitted(spec(vec![first, second.clone()]))]).unwrap();
        assert!(!claims(state.active().unwrap(), &second, WorkOf::Phase).free_before, "it has changed nothing yet");
        let result = |state: &JobState| {
            let progress = state.active().unwrap().progress(&id("first"));
            progress.and_then(|progress| progress.last_attempt()?.result.clone())
        };
        while result(&state).is_none() {
            let effect = helix_job::decide(&state, world::at(world.clock)).effects.remove(0);
            let event = world.carry_out(&effect, |_| world::tree(1)).unwrap();
            state = state.apply(&world.record(event)).unwrap();
        }
        assert_eq!(claims(state.active().unwrap(), &second, WorkOf::Phase).free_before, expected);
    }
}
