//! Readers of test output, on the forms that the runners print.

use proptest::prelude::*;

use super::*;

fn counts(text: &str) -> Option<(u32, u32, u32)> {
    read(text).map(|run| (run.counts.passed, run.counts.failed, run.counts.skipped))
}

fn places(run: &TestRun) -> Vec<(String, Option<String>, Option<u32>)> {
    run.failures.iter().map(|failure| (failure.name.clone(), failure.file.clone(), failure.line)).collect()
}

#[test]
fn counts_of_every_known_runner() {
    let cases = [
        ("..F\n1 failed, 2 passed, 1 skipped, 3 warnings in 0.12s\n", Some((2, 1, 1))),
        ("===== 3 passed, 2 xfailed in 61.20s (0:01:01) =====\n", Some((3, 0, 2))),
        ("no tests ran in 0.01s\n", Some((0, 0, 0))),
        ("=== 1 error in 0.05s ===\n", Some((0, 1, 0))),
        ("Ran 4 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n", Some((1, 2, 1))),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", Some((0, 0, 0))),
        (
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
            Some((5, 0, 1)),
        ),
        ("     Summary [   0.012s] 3 tests run: 2 passed (1 slow), 1 failed, 4 skipped\n", Some((2, 1, 4))),
        ("ok  \texample/a\t0.003s\n?   \texample/b\t[no test files]\n", Some((1, 0, 0))),
        ("ok  \texample/a\t0.003s [no tests to run]\n", Some((0, 0, 0))),
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/sub (0.00s)\nok  \tx\t0.1s\n", Some((2, 0, 0))),
        ("# tests 3\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n", Some((2, 1, 0))),
        ("ℹ tests 1\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\n", Some((1, 0, 0))),
        ("Tests:       1 failed, 1 skipped, 2 passed, 4 total\n", Some((2, 1, 1))),
        (" Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n", Some((2, 1, 0))),
        ("No test files found, exiting with code 1\n", Some((0, 0, 0))),
        ("  a suite\n    ✔ works\n\n  3 passing (5ms)\n  1 pending\n  1 failing\n", Some((3, 1, 1))),
        (
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.05 s -- in com.example.AppTest\n[INFO] \n[INFO] Results:\n\
             [INFO] \n[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1\n[INFO] \n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n",
            Some((4, 0, 1)),
        ),
        (
            "Tests run: 4, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.1 sec <<< FAILURE!\nResults :\nTests run: 4, Failures: 1, Errors: 1, Skipped: 0\n",
            Some((2, 2, 0)),
        ),
        ("[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n", Some((0, 0, 0))),
        ("[INFO] BUILD SUCCESS\n", None),
        (
            "Finished in 0.004 seconds (files took 0.07 seconds to load)\n5 examples, 1 failure, 1 pending\n",
            Some((3, 1, 1)),
        ),
        ("0 examples, 0 failures, 1 error occurred outside of examples\n", Some((0, 1, 0))),
        ("Finished in 0.001s, 2 runs/s.\n\n5 runs, 7 assertions, 1 failures, 1 errors, 1 skips\n", Some((2, 2, 1))),
        ("3 tests, 3 assertions, 0 failures, 0 errors, 1 pendings, 0 omissions, 0 notifications\n", Some((2, 0, 1))),
        ("OK (3 tests, 5 assertions)\n", Some((3, 0, 0))),
        ("FAILURES!\nTests: 5, Assertions: 6, Errors: 1, Failures: 1, Skipped: 1.\n", Some((2, 2, 1))),
        ("OK, but there were issues!\nTests: 2, Assertions: 1, Deprecations: 1, Incomplete: 1.\n", Some((1, 0, 1))),
        ("No tests executed!\n", Some((0, 0, 0))),
        ("Results: 12 passed, 0 failed\n", Some((12, 0, 0))),
        ("\u{1b}[32m\u{1b}[1m2 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m\n", Some((2, 0, 0))),
        ("Compiling x v0.1.0\nerror: could not compile\n", None),
        ("everything passed, nothing failed\nok\n", None),
    ];
    for (text, expected) in cases {
        assert_eq!(counts(text), expected, "{text}");
    }
}

#[test]
fn pytest_failures_have_name_place_and_assertion() {
    let text = "=================================== FAILURES ===================================\n\
        __________________________________ test_total __________________________________\n\n\
            def test_total():\n>       assert total([1, 2]) == 4\nE       assert 3 == 4\n\n\
        tests/test_cart.py:7: AssertionError\n\
        =========================== short test summary info ============================\n\
        FAILED tests/test_cart.py::test_total - assert 3 == 4\n1 failed, 2 passed in 0.02s\n";
    let run = read(text).unwrap();
    let expected = ("tests/test_cart.py::test_total".into(), Some("tests/test_cart.py".into()), Some(7));
    assert_eq!(places(&run), vec![expected]);
    assert!(run.failures[0].evidence.contains("assert 3 == 4"));
}

#[test]
fn cargo_failures_have_name_and_place() {
    let text = "test tests::adds ... FAILED\n\nfailures:\n\n---- tests::adds stdout ----\n\n\
        thread 'tests::adds' (123) panicked at src/lib.rs:12:9:\nassertion `left == right` failed\n\n\
        failures:\n    tests::adds\n\n\
        test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    assert_eq!(places(&read(text).unwrap()), vec![("tests::adds".into(), Some("src/lib.rs".into()), Some(12))]);
}

#[test]
fn surefire_failures_have_name_and_place() {
    let new = "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.04 s <<< FAILURE! -- in com.example.TotalTest\n\
        [ERROR] com.example.TotalTest.total -- Time elapsed: 0.01 s <<< FAILURE!\norg.opentest4j.AssertionFailedError: expected: <6> but was: <2>\n\
        \tat org.junit.jupiter.api.AssertEquals.failNotEqual(AssertEquals.java:197)\n\tat com.example.TotalTest.total(TotalTest.java:11)\n\n\
        [INFO] Results:\n[INFO] \n[ERROR] Failures: \n[ERROR]   TotalTest.total:11 expected: <6> but was: <2>\n[INFO] \n\
        [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n";
    let old = "Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.02 sec <<< FAILURE!\n\
        total(com.example.TotalTest)  Time elapsed: 0.007 sec  <<< FAILURE!\njava.lang.AssertionError\n\
        \tat com.example.TotalTest.total(TotalTest.java:11)\n\nResults :\n\nTests run: 1, Failures: 1, Errors: 0, Skipped: 0\n";
    let expected = ("com.example.TotalTest.total".to_owned(), Some("com/example/TotalTest.java".to_owned()), Some(11));
    for text in [new, old] {
        let run = read(text).unwrap();
        assert_eq!((run.counts.failed, places(&run)), (1, vec![expected.clone()]), "{text}");
    }
    assert!(read(new).unwrap().failures[0].evidence.contains("expected: <6> but was: <2>"));
    let of_class = new.replace("TotalTest.total --", "TotalTest --").replace("<<< FAILURE!\norg", "<<< ERROR!\norg");
    let expected = vec![("com.example.TotalTest".into(), Some("com/example/TotalTest.java".into()), Some(11))];
    assert_eq!(places(&read(&of_class).unwrap()), expected);
}

#[test]
fn failures_of_ruby_and_php_have_name_and_place() {
    let rspec = "F*\n\nPending: (Failures listed here are expected)\n\n  1) two is later\n     # not yet\n     # ./spec/bill_spec.rb:9\n\nFailures:\n\n  \
        1) one is 1\n     Failure/Error: expect(one).to eq(1)\n\n       expected: 1\n            got: 2\n\n     # ./spec/bill_spec.rb:4:in `block (2 levels)'\n\n\
        Finished in 0.01 seconds\n2 examples, 1 failure, 1 pending\n\nFailed examples:\n\nrspec ./spec/bill_spec.rb:3 # one is 1\n";
    let minitest = "  1) Failure:\nTestBill#test_one [test/bill_test.rb:6]:\nExpected: 1\n  Actual: 2\n\n  2) Error:\nTestBill#test_two:\nRuntimeError: x\n    \
        test/bill_test.rb:10:in `test_two'\n\n2 runs, 1 assertions, 1 failures, 1 errors, 0 skips\n";
    let phpunit = "There was 1 error:\n\n1) BillTest::testTwo\nError: x\n\n/w/tests/BillTest.php:12\n\n--\n\nThere was 1 failure:\n\n1) BillTest::testOne\n\
        Failed asserting that 2 is identical to 1.\n\n/w/tests/BillTest.php:8\n\n--\n\nThere was 1 skipped test:\n\n1) BillTest::testLater\n\n/w/tests/BillTest.php:16\n\n\
        ERRORS!\nTests: 3, Assertions: 1, Errors: 1, Failures: 1, Skipped: 1.\n";
    for (text, expected, says) in [
        (rspec, &[("one is 1", "spec/bill_spec.rb", 4)][..], "expected: 1"),
        (
            minitest,
            &[("TestBill#test_one", "test/bill_test.rb", 6), ("TestBill#test_two", "test/bill_test.rb", 10)],
            "Actual: 2",
        ),
        (
            phpunit,
            &[
                ("BillTest::testTwo", "/w/tests/BillTest.php", 12),
                ("BillTest::testOne", "/w/tests/BillTest.php", 8),
                // Where something failed, what is listed as skipped may have been written by a test that did.
                ("BillTest::testLater", "/w/tests/BillTest.php", 16),
            ],
            "Error: x",
        ),
    ] {
        let run = read(text).unwrap();
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, file, line)| ((*name).to_owned(), Some((*file).to_owned()), Some(*line)))
            .collect();
        assert_eq!(places(&run), expected);
        assert!(run.failures[0].evidence.contains(says), "{}", run.failures[0].evidence);
    }
}

/// What a test prints may look like a list of failures: it hides none.
#[test]
fn no_forged_list_hides_a_failure() {
    let rspec = "Failures:\n\n  1) a\n  2) b\nFinished in 1\nFailures:\n\n  1) a\n     # ./a.rb:1\n\n  2) c\n     # ./c.rb:1\n\n\
        Finished in 0.01 seconds\n3 examples, 2 failures\n";
    let phpunit = "There were 2 failures:\n\n1) A::a\n--\n\nThere was 1 skipped test:\n\n2) C::c\nno\n\nFAILURES!\n\
        Tests: 3, Assertions: 3, Failures: 2.\n";
    for (text, hidden) in [(rspec, "c"), (phpunit, "C::c")] {
        let run = read(text).unwrap();
        assert!(run.failures.iter().any(|failed| failed.name == hidden), "{:?}", run.failures);
    }
}

#[test]
fn node_failures_leave_out_suites_that_only_contain_them() {
    let text = "TAP version 13\n    not ok 1 - adds\n      ---\n      location: '/w/a.test.js:5:3'\n      \
        failureType: 'testCodeFailure'\n      ...\nnot ok 1 - suite\n  ---\n  failureType: 'subtestsFailed'\n  ...\n\
        # tests 1\n# pass 0\n# fail 1\n";
    assert_eq!(places(&read(text).unwrap()), vec![("adds".into(), Some("/w/a.test.js".into()), Some(5))]);
}

/// A program under test logs what it likes: where the runner counts no failure there is none.
#[test]
fn what_a_program_prints_is_no_failed_test() {
    let logged = "ERROR: the cache is away, going on without it\nFAIL: retrying\n..\n";
    let passed = read(&format!("{logged}-----\nRan 2 tests in 0.001s\n\nOK\n")).unwrap();
    assert_eq!((passed.counts.passed, places(&passed)), (2, vec![]));
    let failed = read(&format!(
        "{logged}=====\nFAIL: test_total (t.Cart.test_total)\n-----\nERROR: logged in between\n  File \"t.py\", line 4, in \
         test_total\n\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n"
    ));
    let expected = ("test_total (t.Cart.test_total)".to_owned(), Some("t.py".to_owned()), Some(4));
    assert_eq!(places(&failed.unwrap()), [expected]);
}

/// A test file that is not there before the job and cannot be loaded after it fails for another reason.
#[test]
fn a_file_of_tests_that_cannot_be_loaded_is_named_by_its_reason() {
    let of = |module: &str| {
        let text = format!(
            "E\n=====\nERROR: test_a (unittest.loader._FailedTest.test_a)\n-----\nImportError: Failed to import test module: \
             test_a\nTraceback (most recent call last):\n  File \"/lib/unittest/loader.py\", line 154, in loadTestsFromName\n\
             ModuleNotFoundError: No module named '{module}'\n\n\n-----\nRan 1 test in 0.000s\n\nFAILED (errors=1)\n"
        );
        read(&text).unwrap().failures[0].name.clone()
    };
    assert_eq!(of("gone"), "test_a: ModuleNotFoundError: No module named 'gone'");
    assert_ne!(of("gone"), of("test_a"));
}

#[test]
fn each_of_very_many_failures_has_its_own_place() {
    const MANY: usize = 4_000;
    let [mut pytest, mut cargo, mut go, mut tap] = [const { String::new() }; 4];
    for number in 0..MANY {
        let noise = "a line of its output\n".repeat(20);
        pytest.push_str(&format!("____ test_{number} ____\n{noise}tests/test_a.py:{number}: AssertionError\n"));
        cargo.push_str(&format!(
            "---- t{number} stdout ----\n{noise}thread 't{number}' panicked at src/lib.rs:{number}:9:\n"
        ));
        let event = |action: &str| format!("\"Package\":\"x\",\"Test\":\"T{number}\",\"Action\":\"{action}\"");
        go.push_str(&format!("{{{},\"Output\":\"a_test.go:{number}: no\\n\"}}\n", event("output")));
        go.push_str(&format!("{{{}}}\n", event("fail")));
        tap.push_str(&format!("not ok {number} - t{number}\n{noise}"));
    }
    for number in 0..MANY {
        pytest.push_str(&format!("FAILED tests/test_a.py::test_{number} - no\n"));
        cargo.push_str(&format!("test t{number} ... FAILED\n"));
    }
    pytest.push_str(&format!("{MANY} failed in 0.12s\n"));
    cargo.push_str(&format!("test result: FAILED. 0 passed; {MANY} failed; 0 ignored; 0 measured\n"));
    go.push_str("{\"Action\":\"fail\",\"Package\":\"x\"}\n");
    tap.push_str(&format!("# tests {MANY}\n# pass 0\n# fail {MANY}\n"));
    for (text, named) in [(pytest, true), (cargo, true), (go, true), (tap, false)] {
        let run = read(&text).unwrap();
        assert_eq!((run.counts.failed as usize, run.failures.len()), (MANY, MANY));
        for (number, failure) in run.failures.iter().enumerate().filter(|_| named) {
            assert_eq!(failure.line, u32::try_from(number).ok(), "{failure:?}");
        }
    }
}

#[test]
fn a_junit_report_counts_cases_not_claims() {
    let xml = r#"<?xml version="1.0"?><testsuites><testsuite name="s" tests="99" failures="0">
        <!-- <testcase name="commented"/> -->
        <testcase classname="t.A" name="one" file="t.py" line="3"/>
        <testcase classname="t.A" name="a &lt; b > c"><failure message="no">E  assert</failure></testcase>
        <testcase classname="t.A" name="three"><skipped/></testcase></testsuite></testsuites>"#;
    let run = junit::read(xml).unwrap();
    assert_eq!((run.counts.passed, run.counts.failed, run.counts.skipped), (1, 1, 1));
    assert_eq!(run.failures[0].name, "t.A.a < b > c");
    let words = ["pytest", "--junitxml=out/r.xml"].map(String::from);
    assert_eq!(junit::report_path(&words), Some("out/r.xml"));
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in ".{0,400}", lines in proptest::collection::vec("[ \\-#=_a-zA-Z0-9:.,;()●✖]{0,40}", 0..20)) {
        read(&text);
        read(&lines.join("\n"));
        junit::read(&text);
    }

    #[test]
    fn noise_without_a_summary_gives_no_counts(words in proptest::collection::vec("(error|warning|at|file|passed|ok|[0-9]{1,4})", 0..30)) {
        // No order of these words is a summary: none says how many failed.
        prop_assert_eq!(counts(&words.join(" ")), None);
    }

    #[test]
    fn cut_output_never_has_more_tests_than_the_whole(at in 0_usize..90) {
        let text = "a.py ..F\n==== 1 failed, 12 passed in 0.12s ====\n";
        let cut: String = text.chars().take(at).collect();
        let total = counts(&cut).map_or(0, |(passed, failed, _)| passed + failed);
        prop_assert!(total == 0 || total == 13);
    }
}
