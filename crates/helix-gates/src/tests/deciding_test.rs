use super::*;

fn run(passed: &[&str], failed: &[&str]) -> TestRun {
    let counts = helix_core::evidence::TestCounts {
        passed: passed.len() as u32,
        failed: failed.len() as u32,
        ..Default::default()
    };
    let failures = failed.iter().map(|name| crate::test_run::FailedTest::new(*name, None, &[])).collect();
    TestRun { counts, failures, passed: passed.iter().map(|name| (*name).to_owned()).collect() }
}

fn rules(now: &TestRun, altered: &TestRun, then: Option<(&TestRun, &TestRun)>, of_job: &[&str]) -> Vec<String> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let runs = Runs { now, then: then.map(|(then, _)| then), altered_then: then.map(|(_, then)| then) };
    let names = AlteredTests {
        of_job: names(of_job),
        certain: names(&[&["test_a"], of_job].concat()),
        kept: names(&["test_b"]),
        ..AlteredTests::default()
    };
    runs.seen(altered, &names).findings().into_iter().map(|found| found.rule).collect()
}

/// `t.test_a` is altered and `t.test_b` is not.
#[test]
fn what_tests_did_when_the_job_began_is_the_measure() {
    let (both, noticed) = (run(&["t.test_a", "t.test_b"], &[]), run(&["t.test_b"], &["t.test_a"]));
    let then = Some((&both, &noticed));
    assert_eq!(rules(&both, &noticed, then, &[]), [""; 0]);
    assert_eq!(rules(&both, &both, then, &[]), ["tests.undecided"]);
    assert_eq!(rules(&both, &run(&[], &["t.test_a", "t.test_b"]), then, &[]), ["tests.aware"]);
    assert_eq!(rules(&both, &run(&[], &[]), then, &[]), ["tests.aware"]);
    // It did not notice it then either: the value decides nothing there.
    assert_eq!(rules(&both, &both, Some((&both, &both)), &[]), [""; 0]);
    // It failed then: where all pass, whatever they expect, nothing has decided.
    let failing = run(&[], &["t.test_a", "t.test_b"]);
    assert_eq!(rules(&both, &noticed, Some((&failing, &failing)), &[]), [""; 0]);
    assert_eq!(rules(&both, &both, Some((&failing, &failing)), &[]), ["tests.undecided"]);
    // A runner that names no tests that pass.
    let unnamed = |failed: &[&str]| TestRun { passed: BTreeSet::new(), ..run(&["a", "b"][failed.len()..], failed) };
    let then = (unnamed(&[]), unnamed(&["t.test_a"]));
    assert_eq!(rules(&unnamed(&[]), &unnamed(&["t.test_a"]), Some((&then.0, &then.1)), &[]), [""; 0]);
    assert_eq!(rules(&unnamed(&[]), &unnamed(&[]), Some((&then.0, &then.1)), &[]), ["tests.undecided"]);
    let all = unnamed(&["t.test_a", "t.test_b"]);
    assert_eq!(rules(&unnamed(&[]), &all, Some((&then.0, &then.1)), &[]), ["tests.aware"]);
}

#[test]
fn of_new_tests_one_at_least_has_to_notice() {
    let now = run(&["t.test_a", "t.test_b", "t.test_new"], &[]);
    let then = (run(&["t.test_a", "t.test_b"], &[]), run(&["t.test_b"], &["t.test_a"]));
    let then = Some((&then.0, &then.1));
    assert_eq!(rules(&now, &run(&["t.test_b"], &["t.test_a", "t.test_new"]), then, &["test_new"]), [""; 0]);
    assert_eq!(rules(&now, &run(&["t.test_b", "t.test_new"], &["t.test_a"]), then, &["test_new"]), [""; 0]);
    let new = run(&["t.test_new"], &[]);
    assert_eq!(rules(&new, &new, None, &["test_new"]), ["tests.undecided"]);
    // Those of files that this command does not run.
    assert_eq!(rules(&new, &new, None, &["test_elsewhere", "new"]), [""; 0]);
}

/// Of these, each.
#[test]
fn a_test_that_failed_or_is_new_and_compares_with_a_constant_has_to_notice() {
    let now = run(&["t.test_a", "t.test_b", "t.test_new"], &[]);
    let then = run(&["t.test_b"], &["t.test_a"]);
    let names = AlteredTests {
        of_job: BTreeSet::from(["test_new".to_owned()]),
        exact: BTreeSet::from(["test_a".to_owned(), "test_b".to_owned(), "test_new".to_owned()]),
        ..AlteredTests::default()
    };
    let runs = Runs { now: &now, then: Some(&then), altered_then: Some(&then) };
    let undecided = |passed: &[&str], failed: &[&str]| runs.undecided(&run(passed, failed), &names);
    assert_eq!(undecided(&["t.test_b"], &["t.test_a", "t.test_new"]), [""; 0]);
    assert_eq!(undecided(&["t.test_b", "t.test_a"], &["t.test_new"]), ["test_a"]);
    assert_eq!(undecided(&["t.test_b", "t.test_new"], &["t.test_a"]), ["test_new"]);
    // Nobody knows what one that is as it was has noticed before.
    let runs = Runs { now: &now, then: None, altered_then: None };
    assert_eq!(runs.undecided(&run(&["t.test_a", "t.test_new"], &["t.test_b"]), &names), ["test_new"]);
}

#[test]
fn a_test_has_one_name_whoever_writes_it() {
    let has = |known: &str, name: &str| Names::new([known].into_iter()).has(name);
    for (one, other) in [
        ("tests/test_a.py::T::test_x[1.5-2]", "tests.test_a.T.test_x[1.5-2]"),
        ("sum", "test.sum"),
        ("test_x (t.T.test_x)", "t.T.test_x"),
    ] {
        assert!(has(one, other) && has(other, one), "{one} {other}");
    }
    assert!(!has("sum", "checksum") && !has("t.A.test_x", "t.B.test_x"));
    // Two tests of one name, of which one is altered.
    let (two, one_failed) = (run(&["a.empty", "b.empty"], &[]), run(&["b.empty"], &["empty"]));
    assert_eq!(rules(&two, &one_failed, Some((&two, &one_failed)), &[]), [""; 0]);
}
