use super::*;

#[test]
fn a_changed_check_is_known_by_its_words() {
    let own = OwnFindings::new().unwrap();
    let found = "ci/test.sh decides how `sh ci/test.sh` checks and was changed, but no output of the phase claims it";
    assert_eq!(own.cause(found), Some(&cause::GATE_CHANGED));
    let note = "ci/test.sh decides how `sh ci/test.sh` checks and was changed by the job, which the plan lets it";
    assert_eq!(own.cause(note), None);
}
