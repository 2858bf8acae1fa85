//! What people see when a plan is wrong: every problem of a file at once, each with place, cause and remedy.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_plan::{GateSpec, Plan, Seconds, TestsGate};

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plans").join(kind);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn shown(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}

/// Unknown keys, wrong parameters and unknown types are found at submit and never mid-run.
#[test]
fn bad_plans_name_every_problem_with_place_and_remedy() {
    for file in fixtures("bad") {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let source = std::fs::read_to_string(&file).unwrap();
        let problems = Plan::parse("phases.yaml", &source).unwrap_err();
        assert!(problems.iter().any(Diagnostic::is_error), "{name}");
        for problem in &problems {
            assert!(problem.help.is_some(), "{name}: {problem} has no remedy");
            assert!(problem.span.is_some() || problem.code == "HX0105", "{name}: {problem} has no place");
        }
        insta::with_settings!({ snapshot_suffix => name, omit_expression => true }, {
            insta::assert_snapshot!(shown(&problems));
        });
    }
}

#[test]
fn good_plans_have_no_warnings() {
    for file in fixtures("good") {
        let source = std::fs::read_to_string(&file).unwrap();
        let parsed = Plan::parse("phases.yaml", &source).unwrap_or_else(|problems| panic!("{}", shown(&problems)));
        assert_eq!(shown(&parsed.warnings), "", "{}", file.display());
        let json = serde_json::to_string(&parsed.plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), parsed.plan, "a plan survives the journal");
    }
}

#[test]
fn the_contracts_example_is_read_with_all_its_values() {
    let source = include_str!("fixtures/plans/good/contract.yaml");
    let parsed = Plan::parse("phases.yaml", source).unwrap();
    insta::assert_json_snapshot!(parsed.plan);
    let waves: Vec<Vec<&str>> =
        parsed.plan.waves().into_iter().map(|wave| wave.into_iter().map(|id| id.as_str()).collect()).collect();
    assert_eq!(waves, [vec!["design"], vec!["implement", "docs"]]);
    let agent = parsed.places.phases[1].agent.unwrap();
    assert_eq!(&source[agent.start..agent.end], "claude");
    let input = parsed.places.phases[1].inputs[0];
    assert_eq!((input.line, input.column), (18, 14));
}

#[test]
fn cheap_gates_run_before_commands_in_the_authors_order_otherwise() {
    let parsed = Plan::parse("p", include_str!("fixtures/plans/good/contract.yaml")).unwrap();
    assert_eq!(
        parsed.plan.phases[1].gates,
        [
            GateSpec::SyntaxCheck { files: vec![] },
            GateSpec::OutputsClaimed { strict: false },
            GateSpec::TestsPass(TestsGate::of_command("pytest -q", Seconds(600)))
        ]
    );
}

#[test]
fn a_dependency_on_a_workflows_phase_is_left_to_the_engine() {
    let source =
        "name: a\nworkflow: w\nphases:\n  - {id: x, type: development, description: d, depends_on: [verify]}\n";
    let parsed = Plan::parse("p", source).unwrap();
    assert_eq!(parsed.warnings.len(), 1);
    assert_eq!(parsed.plan.waves().len(), 1);
}

#[test]
fn an_issue_is_a_number_or_a_url_and_is_printed_as_it_was() {
    let read = |issue: &str| Plan::parse("p", &format!("name: n\nissue: {issue}\nworkflow: w\n"));
    for (written, shown) in [
        ("17", "#17"),
        ("\"17\"", "#17"),
        ("https://git.corp.example/a/b/-/issues/3", "https://git.corp.example/a/b/-/issues/3"),
    ] {
        let plan = read(written).unwrap().plan;
        assert_eq!(plan.issue.as_ref().unwrap().to_string(), shown);
        assert_eq!(Plan::parse("p", &plan.to_yaml()).unwrap().plan.issue, plan.issue, "{}", plan.to_yaml());
    }
    for wrong in ["0", "seventeen", "[17]", "https://github.com/a/b"] {
        let problems = shown(&read(wrong).unwrap_err());
        assert!(
            problems.contains("HX0109") && problems.contains("the number of an issue, such as 17, or the URL"),
            "{problems}"
        );
    }
}

#[test]
fn bytes_that_are_no_text_are_one_clear_error() {
    let problems = Plan::parse_bytes("phases.yaml", b"name: caf\xe9\nphases: []\n").unwrap_err();
    insta::assert_snapshot!(shown(&problems), @r"
    phases.yaml:1:10: error[HX0101]: the file is not UTF-8: invalid byte 0xe9 at offset 9
      hint: save the file as UTF-8
    ");
    let with_mark = b"\xef\xbb\xbfname: a\nphases:\n  - {id: x, type: development, description: d}\r\n";
    assert!(Plan::parse_bytes("phases.yaml", with_mark).is_ok(), "a byte order mark and CRLF are no problem");
}

#[test]
fn bombs_and_giants_cost_little_and_say_so() {
    let mut bomb = String::from("name: bomb\nl0: &l0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let list = vec![format!("*l{}", level - 1); 9].join(", ");
        bomb.push_str(&format!("l{level}: &l{level} [{list}]\n"));
    }
    let giant = format!("name: giant\ndescription: \"{}\"\n", "x".repeat(10 << 20));
    let deep = format!("name: {}", "[".repeat(100_000));
    let nested = format!("name: a\nx:\n  {}x\n", "- ".repeat(15_000));
    assert!(Plan::parse("p", &nested).is_err(), "a stack that overflows ends the process");
    for (source, code) in [(bomb, "HX0103"), (giant, "HX0103"), (deep, "HX0102")] {
        let problems = Plan::parse("p", &source).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].code, code, "{}", problems[0]);
    }
}

/// As many phases as the limits allow, all claiming the same glob, must not take minutes.
#[test]
fn a_huge_plan_is_checked_in_bounded_time() {
    let mut source = String::from("name: huge\nphases:\n");
    for number in 0..2000 {
        source.push_str(&format!(
            "  - {{id: p{number}, type: development, description: d, outputs: [\"a*b{number}*/*.py\", s/f{number}]}}\n"
        ));
    }
    let started = std::time::Instant::now();
    let answer = Plan::parse("p", &source);
    assert!(started.elapsed().as_secs() < 20, "took {:?}", started.elapsed());
    let problems = match answer {
        Ok(parsed) => parsed.warnings,
        Err(problems) => problems,
    };
    assert!(problems.iter().any(|problem| matches!(problem.code.as_str(), "HX0116" | "HX0103")));
}

/// Neither names that nobody has nor globs beside literal claims are compared anew with everything.
#[test]
fn what_is_compared_with_everything_is_bounded() {
    let started = std::time::Instant::now();
    let phases: String = (0..1500)
        .map(|number| format!("  - {{id: p{number}, type: review, description: d, depends_on: [missing-{number}]}}\n"))
        .collect();
    let problems = Plan::parse("p", &format!("name: huge\nphases:\n{phases}")).unwrap_err();
    assert_eq!(problems.iter().filter(|problem| problem.code == "HX0113").count(), 1500);
    let outputs =
        |form: &str| (0..3000).map(|number| form.replace('N', &number.to_string())).collect::<Vec<_>>().join(", ");
    let (literal, globs) = (outputs("some/directory/fN.py"), outputs("\"other/N/*.py\""));
    let source = format!(
        "name: huge\nphases:\n  - {{id: a, type: review, description: d, outputs: [{literal}]}}\n  - {{id: b, type: review, description: d, outputs: [{globs}]}}\n"
    );
    assert!(Plan::parse("p", &source).is_ok());
    assert!(started.elapsed().as_secs() < 20, "took {:?}", started.elapsed());
}
