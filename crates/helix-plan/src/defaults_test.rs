//! The order of gates by what they cost.

use super::*;
use crate::Seconds;
use crate::model::TestsGate;

fn names(gates: Vec<GateSpec>) -> Vec<&'static str> {
    in_order_of_cost(gates).iter().map(GateSpec::name).collect()
}

fn tests() -> GateSpec {
    GateSpec::TestsPass(TestsGate::of_command("pytest", Seconds(60)))
}

fn deploy() -> GateSpec {
    GateSpec::DeploySuccess(crate::Delivery::of_command("deploy"))
}

#[test]
fn cheap_gates_come_first_and_paid_ones_late() {
    let review = GateSpec::ReviewApproved { model: None };
    let syntax = GateSpec::SyntaxCheck { files: vec![] };
    let claimed = GateSpec::OutputsClaimed { strict: false };
    assert_eq!(
        names(vec![review, tests(), syntax, claimed]),
        ["syntax_check", "outputs_claimed", "tests_pass", "review_approved"]
    );
}

#[test]
fn nothing_overtakes_an_approval() {
    let approval = || GateSpec::approval(None);
    assert_eq!(names(vec![approval(), tests()]), ["approval", "tests_pass"]);
    assert_eq!(names(vec![tests(), approval(), deploy()]), ["tests_pass", "approval", "deploy_success"]);
    assert_eq!(names(vec![deploy(), approval()]), ["deploy_success", "approval"]);
    assert_eq!(names(vec![deploy(), tests()]), ["deploy_success", "tests_pass"]);
}
