//! Rules of what acts outside of the repository, and of what could not be committed.

use helix_core::finding::{Fault, FaultKind, Verdict};
use helix_core::ids::TreeId;
use helix_job::{GateReport, Illegal, JobEvent, JobSpec, PhaseState, Reopen, Validated};
use helix_plan::{Delivery, GateSpec};

use crate::Play;
use crate::world::{fault, finding, gate_finished, id, phase, spec};

/// `made` has a gate, `changed` changes what it made without checking it, `delivered` delivers.
fn delivering() -> JobSpec {
    let made = phase("made", &[], 1);
    let changed = phase("changed", &["made"], 0);
    let mut delivered = phase("delivered", &["changed"], 0);
    delivered.gates = vec![GateSpec::DeploySuccess(Delivery::of_command("./deploy"))];
    spec(vec![made, changed, delivered])
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
    play.event(JobEvent::JobResumed { by: "a test".into(), reopen, restart, budget_usd: None });
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
    play.event(JobEvent::JobResumed { by: "a test".into(), reopen, restart, budget_usd: None });
    assert_eq!(play.keys(), ["start/a/2"]);
}
