use helix_plan::workflow::Workflow;

use super::*;

#[test]
fn a_new_workflow_is_a_valid_one() {
    let workflow = Workflow::parse("w", &template("release")).unwrap();
    assert_eq!(workflow.name, "release");
}
