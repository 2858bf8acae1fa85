use super::*;

#[test]
fn files_of_a_checkout_are_named_as_in_the_project() {
    let told = |text: &str| {
        let mut log = LogSample::from_texts(text, "");
        in_project(&mut log, Path::new("/s/worktrees"));
        log.lines.into_iter().map(|line| line.raw).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        told("File \"/s/worktrees/j1/gate/tests/a.py\", line 5, in /s/worktrees/j1/fix.2/b.py"),
        "File \"tests/a.py\", line 5, in b.py"
    );
    for other in ["/s/worktrees/j1", "cd /s/worktrees/j1/gate && make a/b", "/else/worktrees/j1/gate/a"] {
        assert_eq!(told(other), other);
    }
}

/// What Helix itself finds says its own cause, and no other one is guessed from what a command printed.
#[test]
fn findings_of_helix_name_their_check() {
    let of = |check: &str, rule: &str| own_cause(check, &[Finding::new(rule, "x")]);
    for rule in ["tests.undecided", "tests.aware", "tests.known", "tests.unclaimed", "tests.not_new"] {
        assert_eq!(of("tests_pass", rule), Some(&cause::TESTS_EVADED), "{rule}");
    }
    for rule in ["tests.weaker", "tests.expects", "tests.fewer"] {
        assert_eq!(of("command", rule), Some(&cause::TESTS_LEFT_OUT), "{rule}");
    }
    assert_eq!(of("deploy_success", "deploy_success.health"), Some(&cause::DELIVERY_UNHEALTHY));
    assert_eq!(of("tests_pass", "tests.failed"), None);
    assert_eq!(of("adr_valid", "HX0201"), Some(&cause::DOCUMENT_INVALID));
}

#[test]
fn a_program_that_is_missing_is_why_no_test_ran() {
    for (log, missing) in [
        ("sh: 1: pytest: not found\n", true),
        ("/usr/bin/python3: No module named pytest\n", true),
        ("bash: line 1: pytest: command not found\n", true),
        ("no tests ran in 0.01s\n", false),
    ] {
        assert_eq!(names_a_missing_program(&LogSample::from_texts(log, "")), missing, "{log}");
    }
}
