use super::*;

#[test]
fn phase_ids_follow_the_contract() {
    for good in ["a", "0", "csv-export", "9-lives"] {
        assert!(PhaseId::new(good).is_ok(), "{good}");
    }
    for bad in ["", "-a", "A", "a_b", "a b", "ä", &"x".repeat(65)] {
        assert!(PhaseId::new(bad).is_err(), "{bad}");
    }
}

#[test]
fn run_ids_are_safe_as_directory_names() {
    for bad in ["", ".", "..", ".hidden", "a/b", "a\0b"] {
        assert!(RunId::new(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn job_ids_sort_by_time_whatever_the_random_bits() {
    let early = JobId::from_parts(1_795_299_301_000, u64::MAX);
    let late = JobId::from_parts(1_795_299_301_001, 0);
    assert!(early < late);
    assert_eq!(early.as_str().len(), 17);
}
