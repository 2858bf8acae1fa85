use super::*;
use helix_core::ids::JobId;
use helix_core::recorded;
use helix_core::run::StreamFacts;
use helix_failure::RetryAdvice;
use helix_failure::report::suggest;

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

/// What Helix says of its own about a failure is the cause, whatever its words remind of; and what it advises comes first.
#[test]
fn trouble_in_helixs_own_words_is_what_these_say() {
    let classifier = helix_failure::Classifier::new().unwrap();
    let work = Work::Job { job: JobId::new("j1").unwrap(), phase: None };
    let site = AttemptSite::new("/p".into(), work, 1);
    let told = |failure: &FailureContext| {
        let classified = classifier.classify(&failure.observation, &failure.log);
        let drafts = suggest(&failure.observation, &classified, &failure.log, &failure.report_place, &[]);
        let texts: Vec<String> = drafts.into_iter().map(|draft| draft.text).collect();
        (classified.cause, classified.retry, texts)
    };
    let not_started = |why: Words| {
        let reason = recorded!("start-failed", program = "claude", why = why);
        let ending = Ending::NotStarted { errno: None, reason };
        FailureContext::of_run(&site, "claude", &RunFacts { ending, ..RunFacts::default() }, Timestamp::UNIX_EPOCH)
            .unwrap()
    };
    let full = "No space left on device (os error 28)";
    let (cause, retry, _) = told(&not_started(recorded!("start-no-sandbox", error = full)));
    assert_eq!((cause, retry), ("no_sandbox", RetryAdvice::Human));
    let (cause, ..) = told(&not_started(recorded!("start-not-executable", file = "/opt/claude")));
    assert_eq!(cause, "permission_denied");

    let exited = |stderr: &str| RunFacts {
        ending: Ending::Exited { code: 7 },
        stdout: StreamFacts { read_to_end: true, ..StreamFacts::default() },
        stderr_tail: stderr.to_owned(),
        ..RunFacts::default()
    };
    for (stderr, expected) in [("", "exit_without_reason"), ("it is raining", "unexplained")] {
        let failure = FailureContext::of_run(&site, "claude", &exited(stderr), Timestamp::UNIX_EPOCH).unwrap();
        let (cause, retry, texts) = told(&failure);
        assert_eq!((cause, retry), (expected, RetryAdvice::Human), "{stderr}");
        assert!(texts[0].contains("helix doctor"), "{texts:?}");
        assert!(!texts.iter().any(|text| text.starts_with("try again") || text == "retry as is"), "{texts:?}");
    }

    let limit = recorded!("spent-budget", budget = "1", spent = "1.2");
    let Said { message, hint } = helix_job::spent(limit);
    let spent = Fault {
        said: Some(Box::new(Said { message: message.clone(), hint: hint.clone() })),
        ..Fault::environment(RECORD.words(&message)).hint(RECORD.words(&hint))
    };
    let (cause, _, texts) = told(&FailureContext::of_fault(&site, check::VERIFY, &spent, Timestamp::UNIX_EPOCH));
    assert_eq!(cause, "job_limit");
    assert!(texts[0].contains("--budget"), "{texts:?}");
}
