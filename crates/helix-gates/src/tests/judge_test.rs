use helix_core::evidence::TestCounts;
use helix_core::finding::Verdict;

use super::*;
use crate::baseline::Baseline;

fn run(passed: u32, failed: &[&str], skipped: u32) -> TestRun {
    let failures =
        failed.iter().map(|name| FailedTest { name: (*name).into(), file: None, line: None, evidence: String::new() });
    let failed = u32::try_from(failed.len()).unwrap();
    TestRun { counts: TestCounts { passed, failed, skipped }, failures: failures.collect(), ..TestRun::default() }
}

fn at(since: Since, (code, run): (i32, TestRun)) -> Before {
    Before { since, baseline: Baseline::of_tests(CommandEnd::Exited(code), Some(run)) }
}

fn verdict(exit: i32, run: Option<TestRun>, before: Option<(i32, TestRun)>) -> String {
    judged(exit, run, before.map(|before| at(Since::Both, before)).into_iter().collect())
}

fn judged(exit: i32, run: Option<TestRun>, before: Vec<Before>) -> String {
    let ended = CommandRun {
        end: CommandEnd::Exited(exit),
        sha256: String::new(),
        length: 0,
        tail: String::new(),
        took: std::time::Duration::ZERO,
        leftovers_killed: 0,
        walls: None,
    };
    let known = ["old".to_owned(), "a*".to_owned()];
    match judge("t", &ended, "out", run.as_ref(), &before, &known).verdict {
        Verdict::Pass => "pass".into(),
        Verdict::Fail { findings } => findings.iter().map(|f| f.rule.as_str()).collect::<Vec<_>>().join(" "),
        Verdict::Inconclusive { fault } => format!("{:?}", fault.kind),
    }
}

#[test]
fn evidence_decides_not_optimism() {
    let cases = [
        (0, Some(run(3, &[], 0)), None, "pass"),
        (0, None, None, "NothingChecked"),
        (0, Some(run(0, &[], 0)), None, "NothingChecked"),
        (0, Some(run(0, &[], 4)), None, "NothingChecked"),
        (5, Some(run(0, &[], 0)), None, "NothingChecked"),
        (5, None, None, "NothingChecked"),
        (2, Some(run(0, &[], 0)), None, "tests.broken"),
        (101, None, None, "tests.broken"),
        (1, Some(run(2, &["a"], 0)), None, "tests.failed"),
        // A lying exit code does not help.
        (0, Some(run(2, &["a"], 0)), None, "tests.failed"),
        (1, Some(run(2, &[], 0)), None, "tests.exit"),
        // Known failures do not block, new ones do.
        (1, Some(run(510, &["old"], 0)), Some((1, run(510, &["old"], 0))), "pass"),
        (1, Some(run(510, &["old", "new"], 0)), Some((1, run(510, &["old"], 0))), "tests.failed"),
        (2, Some(run(510, &["old"], 0)), Some((1, run(510, &["old"], 0))), "tests.exit"),
        // … where the plan knows of them.
        (1, Some(run(0, &["old"], 0)), Some((1, run(0, &["old"], 0))), "NothingChecked"),
        (1, Some(run(510, &["unnamed"], 0)), Some((1, run(510, &["unnamed"], 0))), "NothingChecked"),
        (1, Some(run(510, &["unnamed", "new"], 0)), Some((1, run(510, &["unnamed"], 0))), "tests.failed"),
        // Deleting or skipping tests is no way to pass.
        (0, Some(run(2, &[], 0)), Some((1, run(2, &["a"], 0))), "tests.fewer"),
        (0, Some(run(3, &[], 1)), Some((0, run(3, &[], 0))), "tests.skipped"),
        (0, Some(run(2, &[], 1)), Some((0, run(3, &[], 0))), "tests.fewer tests.skipped"),
        // A project without tests before.
        (0, Some(run(2, &[], 0)), Some((5, run(0, &[], 0))), "pass"),
    ];
    for (exit, now, before, expected) in cases {
        let shown = format!("{exit} {now:?} {before:?}");
        assert_eq!(verdict(exit, now, before), expected, "{shown}");
    }
}

#[test]
fn only_what_failed_before_the_job_and_before_the_phase_is_old() {
    let green = || (0, run(3, &[], 0));
    let red = || (1, run(2, &["a"], 0));
    let cases = [
        // An earlier phase broke it.
        (1, run(2, &["a"], 0), green(), red(), "tests.failed"),
        // An earlier phase had fixed it.
        (1, run(2, &["a"], 0), red(), green(), "tests.failed"),
        (1, run(2, &["a"], 0), red(), red(), "pass"),
        (0, run(3, &[], 0), red(), red(), "pass"),
        // Something else fails now than before.
        (1, run(2, &["b"], 0), red(), red(), "tests.failed"),
        // Tests that an earlier phase removed or skipped are missed.
        (0, run(2, &[], 0), green(), (0, run(2, &[], 0)), "tests.fewer"),
        (0, run(3, &[], 1), green(), (0, run(3, &[], 1)), "tests.skipped"),
        // Tests that an earlier phase added are not taken away again.
        (0, run(3, &[], 0), green(), (0, run(4, &[], 0)), "tests.fewer"),
        // There were none before the job: whatever fails is the job's doing.
        (1, run(2, &["a"], 0), (5, run(0, &[], 0)), red(), "tests.failed"),
    ];
    for (exit, now, job, phase, expected) in cases {
        let shown = format!("{now:?} job {job:?} phase {phase:?}");
        let before = vec![at(Since::Job, job), at(Since::Phase, phase)];
        assert_eq!(judged(exit, Some(now), before), expected, "{shown}");
    }
}

#[test]
fn known_failures_are_names_with_stars() {
    let known = ["tests/test_a.py::test_b[1-*]".to_owned(), "adds".to_owned(), "*slow".to_owned()];
    for (name, expected) in [
        ("tests/test_a.py::test_b[1-2]", true),
        ("tests/test_a.py::test_b[2-2]", false),
        ("adds", true),
        ("adds more", false),
        ("is slow", true),
    ] {
        assert_eq!(is_known(&known, name), expected, "{name}");
    }
}
