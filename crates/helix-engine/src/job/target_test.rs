use helix_core::ids::{JobId, PhaseId};

use super::{Claims, Target};

fn target(job: &str, phase: &str, name: &str) -> Target {
    let (job, phase) = (JobId::new(job).unwrap(), PhaseId::new(phase).unwrap());
    Target { project: "/shop".into(), name: name.into(), job, phase }
}

#[test]
fn a_target_has_one_claim_also_among_the_attempts_of_a_phase() {
    let (one, two) = (target("one", "deliver", "production"), target("two", "deliver", "production"));
    let mut claims = Claims::default();
    assert_eq!(claims.claim("one/1", &one), Ok(()));
    assert_eq!(claims.claim("one/1", &one), Ok(()), "what is begun again is the same");
    assert_eq!(claims.claim("two/1", &two), Err(one.job.clone()));
    // The first attempt was given up, and its command has not ended.
    assert!(claims.take_up("one/1"));
    assert_eq!(claims.claim("one/2", &one), Err(one.job.clone()));
    assert_eq!(claims.claim("one/3", &target("one", "deliver", "test")), Ok(()));
    claims.give_back("one/1");
    assert_eq!(claims.claim("two/1", &two), Ok(()));
    assert!(!claims.take_up("one/1"));
    claims.forget(&two.job);
    assert_eq!(claims.claim("one/2", &one), Ok(()));
}

#[test]
fn what_was_not_begun_gives_back_its_own_claim_only() {
    let mut claims = Claims::default();
    assert_eq!(claims.claim("one/1", &target("one", "deliver", "production")), Ok(()));
    assert_eq!(claims.claim("one/2", &target("one", "deliver", "test")), Ok(()));
    claims.give_back("one/2");
    let two = target("two", "deliver", "production");
    assert!(claims.claim("two/1", &two).is_err(), "the first one is under way");
}
