//! The fourteen acceptance cases of the classifier: each category, an empty log, several lines, mixed case, precedence.
//! `docs/failures.md` says which tests prove the other 38.

use helix_failure::{Category, Classifier, FailureObservation, LogSample, Termination};

#[test]
fn each_category_and_the_four_special_cases() {
    let classifier = Classifier::new().unwrap();
    let deadline = FailureObservation { deadline_passed: true, ..FailureObservation::default() };
    let of = |tool: &str, code: i32| FailureObservation {
        tool: tool.into(),
        termination: Termination::Exited { code },
        ..FailureObservation::default()
    };
    for (case, observation, log, category) in [
        ("FILE_ACCESS", of("cat", 1), "cat: notes.txt: No such file or directory", Category::FileAccess),
        ("FUNCTION_ERROR", of("node", 1), "Error: Cannot find module 'left-pad'", Category::FunctionError),
        ("SYNTAX_ERROR", of("node", 1), "SyntaxError: Unexpected token '}'", Category::SyntaxError),
        ("ASSERTION_FAILURE", of("pytest", 1), "E       AssertionError: assert 1 == 2", Category::AssertionFailure),
        (
            "TYPE_ERROR",
            of("tsc", 2),
            "a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
            Category::TypeError,
        ),
        ("TIMEOUT", deadline, "", Category::Timeout),
        (
            "MEMORY_ERROR",
            of("node", 134),
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
            Category::MemoryError,
        ),
        ("NETWORK_ERROR", of("curl", 7), "Error: connect ECONNREFUSED 127.0.0.1:5432", Category::NetworkError),
        ("RESOURCE_ERROR", of("cp", 1), "cp: error writing 'x': No space left on device", Category::ResourceError),
        ("UNKNOWN", of("tool", 1), "it did not work out today", Category::Unknown),
        ("empty", of("tool", 1), "", Category::Unknown),
        (
            "multi-line",
            of("cargo", 101),
            "   Compiling shop v0.1.0\nwarning: unused variable\nerror[E0308]: mismatched types\n --> src/a.rs:3:4\nerror: could not compile",
            Category::TypeError,
        ),
        ("mixed case", of("bash", 1), "/srv/notes.txt: NO SUCH FILE OR DIRECTORY", Category::FileAccess),
        // "expected", "failed" and "no such file" are all in it; a test's own assertion decides.
        (
            "precedence",
            of("pytest", 1),
            "E       AssertionError: expected the message 'No such file or directory', got 'timeout'\nFAILED tests/test_a.py::test_b",
            Category::AssertionFailure,
        ),
    ] {
        let classified = classifier.classify(&observation, &LogSample::from_texts("", log));
        assert_eq!(classified.category, category, "{case}: {classified:?}");
    }
}
