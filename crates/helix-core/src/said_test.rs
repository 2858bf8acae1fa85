use super::of_job;
use crate::ids::JobId;

#[test]
fn only_commands_about_a_job_get_its_id() {
    let job = JobId::new("j1").unwrap();
    let text =
        "THE JOB: `helix jobs resume JOB`, `helix jobs diff JOB --phase a`, `helix jobs list`, helix jobs show X JOB";
    let said =
        "THE JOB: `helix jobs resume j1`, `helix jobs diff j1 --phase a`, `helix jobs list`, helix jobs show X JOB";
    assert_eq!(of_job(text, &job), said);
}
