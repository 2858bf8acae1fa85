//! A plan and its workflow become one plan, and what cannot become one is told at a place of the plan.

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::PhaseId;
use helix_plan::workflow::Workflow;
use helix_plan::{GateSpec, ParsedPlan, Plan};
use proptest::prelude::*;

const OWN: &str = r#"
phases:
  - { id: parser, type: development, description: Parse, outputs: [src/parse.py] }
  - id: writer
    type: development
    description: Write
    depends_on: [parser]
    outputs: [src/write.py, tests/test_write.py]
    gates: [{ type: syntax_check }, { type: tests_pass, command: pytest -q }]
"#;

fn built_in(name: &str) -> Workflow {
    Workflow::built_in(name).unwrap().unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn join(source: &str, workflow: &Workflow) -> Result<ParsedPlan, Vec<Diagnostic>> {
    Plan::parse("phases.yaml", source)
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
        .with_workflow("phases.yaml", workflow)
}

fn own(source: &str) -> Workflow {
    Workflow::parse("workflows/w.yaml", source).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn needs(plan: &Plan, phase: &str) -> Vec<String> {
    let id = PhaseId::new(phase).unwrap();
    plan.phase(&id).unwrap_or_else(|| panic!("no {phase}")).depends_on.iter().map(ToString::to_string).collect()
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.phases.iter().map(|phase| phase.id.as_str()).collect()
}

fn shown(problems: &[Diagnostic]) -> String {
    problems
        .iter()
        .map(|problem| {
            assert!(problem.help.is_some(), "{problem} has no remedy");
            format!("{problem}\n")
        })
        .collect()
}

/// Each built-in workflow becomes a plan that is read like any other.
#[test]
fn every_built_in_workflow_becomes_a_valid_plan() {
    let names: Vec<&str> = Workflow::built_in_names().collect();
    assert_eq!(names, ["intern-simple", "intern-complex", "extern-simple", "extern-complex"]);
    for name in names {
        assert_eq!(built_in(name).name, name);
        for (kind, phases) in [("own", OWN), ("none", "")] {
            let source = format!(
                "name: CSV export\nadr: adr/001-x.md\ndefaults: {{ model: sonnet, max_attempts: 2 }}\nworkflow: {{ name: {name}, inputs: {{ {} }} }}\n{phases}",
                if name.starts_with("intern") {
                    "tests: pytest -q, deploy_test: ./deploy test, e2e: pytest e2e, deploy_prod: ./deploy prod"
                } else {
                    "tests: pytest -q"
                }
            );
            let joined = join(&source, &built_in(name)).unwrap_or_else(|problems| panic!("{}", shown(&problems)));
            assert_eq!(shown(&joined.warnings), "");
            assert_eq!(joined.plan.workflow, None);
            assert_eq!(joined.places.phases.len(), joined.plan.phases.len());
            let text = joined.plan.to_yaml();
            let again = Plan::parse("again", &text).unwrap_or_else(|problems| panic!("{}\n{text}", shown(&problems)));
            assert_eq!(again.plan, joined.plan, "what is shown is what runs");
            insta::with_settings!({ snapshot_suffix => format!("{name}-{kind}"), omit_expression => true }, {
                insta::assert_snapshot!(text);
            });
        }
    }
}

/// The contract's short form: the command of the plan's own tests is enough.
#[test]
fn inputs_are_taken_from_the_plan() {
    let joined = join(&format!("name: n\nworkflow: extern-simple\n{OWN}"), &built_in("extern-simple")).unwrap();
    let verify = joined.plan.phase(&PhaseId::new("verify").unwrap()).unwrap();
    assert!(matches!(&verify.gates[..], [GateSpec::TestsPass(tests)] if tests.command == "pytest -q"), "{verify:?}");
    assert_eq!(ids(&joined.plan), ["planning", "parser", "writer", "verify", "documentation"]);
    assert_eq!(needs(&joined.plan, "parser"), ["planning"]);
    assert_eq!(needs(&joined.plan, "writer"), ["parser"]);
    assert_eq!(needs(&joined.plan, "verify"), ["writer"]);
}

const W: &str = r#"
name: w
description: A workflow of one's own.
inputs:
  tests: { type: command, description: the tests, from: tests_pass }
  sources: { type: paths, description: sources, default: ["src/${{ plan }}.py", src/b.py] }
  tries: { type: number, description: how often, default: 2 }
  strict: { type: flag, description: whether, default: true }
  note: { type: text, description: a note, default: "say: \"hi\" # ${{ plan }}" }
phases:
  - { id: first, type: planning, description: "${{ note }} for ${{ sources }}", outputs: [docs/first.md] }
  - slot: work
    depends_on: [first]
  - id: last
    type: test
    description: d
    depends_on: [work]
    outputs: ["${{ sources }}", z.md]
    max_attempts: "${{ tries }}"
    gates: [{ type: outputs_claimed, strict: "${{ strict }}" }, { type: command, command: "${{ tests }}" }]
"#;

#[test]
fn values_are_put_into_the_tree_and_never_into_the_text() {
    let plan =
        "name: My Plan!\nworkflow: { name: w, inputs: { tests: \"sh -c 'a; b: [c]'\", note: \"}}, id: evil\" } }\n";
    let joined = join(plan, &own(W)).unwrap_or_else(|problems| panic!("{}", shown(&problems)));
    insta::assert_snapshot!(joined.plan.to_yaml());
}

/// A workflow of some kilobytes and one long value must not take gigabytes.
#[test]
fn values_are_put_in_only_up_to_a_size() {
    let places = "${{ note }}, ".repeat(1000);
    let workflow = own(&format!(
        "name: w\ndescription: d\ninputs:\n  note: {{ type: text, description: n }}\nphases:\n  - {{ id: a, type: development, description: \"{places}\", outputs: [a] }}\n"
    ));
    let plan =
        |length: usize| format!("name: n\nworkflow: {{ name: w, inputs: {{ note: {} }} }}\n", "x".repeat(length));
    assert!(join(&plan(1000), &workflow).is_ok());
    let problems = join(&plan(500_000), &workflow).unwrap_err();
    assert_eq!(problems[0].code, "HX0103", "{}", problems[0]);
    assert!(
        problems[0].message.ends_with("the workflow is too large with the values of its inputs"),
        "{}",
        problems[0]
    );
}

/// What the workflow brings counts, too: only the whole tells whether the decision's criteria are checked.
#[test]
fn criteria_that_no_gate_checks_and_code_that_nobody_verifies_are_warnings() {
    let phases = |gates: &str| {
        format!("phases:\n  - {{ id: a, type: documentation, description: d, outputs: [a.md]{gates} }}\n")
    };
    let codes = |parsed: ParsedPlan| parsed.warnings.iter().map(|one| one.code.clone()).collect::<Vec<_>>();
    let alone =
        |gates: &str| codes(Plan::parse("p", &format!("name: n\nadr: adr/001-x.md\n{}", phases(gates))).unwrap());
    assert_eq!(alone(""), ["HX0136"]);
    assert_eq!(alone(", gates: [{ type: criteria_covered }]"), Vec::<String>::new());
    let developed = |more: &str| {
        let phases = format!("phases:\n  - {{ id: a, type: development, description: d, outputs: [a.py]{more} }}\n");
        codes(Plan::parse("p", &format!("name: n\nadr: adr/001-x.md\n{phases}")).unwrap())
    };
    assert_eq!(developed(""), ["HX0136", "HX0138"]);
    assert_eq!(developed(", verify: false"), ["HX0136"]);
    assert_eq!(developed(", verify: true, gates: [{ type: criteria_covered }]"), Vec::<String>::new());
    let joined = |call: &str, workflow: &Workflow| {
        codes(join(&format!("name: n\nadr: adr/001-x.md\nworkflow: {call}\n{}", phases("")), workflow).unwrap())
    };
    let call = "{ name: extern-simple, inputs: { tests: make } }";
    assert_eq!(joined(call, &built_in("extern-simple")), Vec::<String>::new());
    assert_eq!(joined("{ name: w, inputs: { tests: make } }", &own(W)), ["HX0136"]);
}

#[test]
fn own_phases_take_the_place_of_the_slot() {
    let source = r#"
name: n
workflow: w
phases:
  - { id: a, type: development, description: d, outputs: [a.py], gates: [{ type: tests_pass, command: make test }] }
  - { id: b, type: development, description: d, outputs: [b.py], depends_on: [first] }
  - { id: c, type: development, description: d, outputs: [c.py], depends_on: [a, b] }
  - { id: after, type: documentation, description: d, outputs: [d.md], depends_on: [last, a] }
  - { id: later, type: documentation, description: d, outputs: [e.md], depends_on: [after] }
"#;
    let joined = join(source, &own(W)).unwrap_or_else(|problems| panic!("{}", shown(&problems)));
    assert_eq!(shown(&joined.warnings), "", "nothing is left open");
    let plan = &joined.plan;
    assert_eq!(ids(plan), ["first", "a", "b", "c", "last", "after", "later"]);
    assert_eq!(needs(plan, "a"), ["first"]);
    assert_eq!(needs(plan, "b"), ["first"]);
    assert_eq!(needs(plan, "c"), ["a", "b"]);
    assert_eq!(needs(plan, "last"), ["c"]);
    assert_eq!(needs(plan, "after"), ["last", "a"]);
    let empty = join("name: n\nworkflow: { name: w, inputs: { tests: make } }\n", &own(W)).unwrap();
    assert_eq!(needs(&empty.plan, "last"), ["first"], "a slot that nobody fills disappears");
}

/// A workflow's own defaults do not win over the plan's.
#[test]
fn the_plans_defaults_hold_for_the_workflows_phases() {
    let source = "name: n\ndefaults: { agent: codex, model: o, timeout: 7m, max_attempts: 5 }\nworkflow: { name: w, inputs: { tests: make } }\n";
    let plan = join(source, &own(W)).unwrap().plan;
    assert!(plan.phases.iter().all(|phase| phase.agent.as_deref() == Some("codex") && phase.timeout.0 == 420));
    assert_eq!(plan.phases[0].max_attempts, 5);
    assert_eq!(plan.phases[1].max_attempts, 2, "what the workflow says of a phase holds");
}

/// What the parser could only warn of is an error once the workflow's phases are known.
#[test]
fn what_cannot_become_one_plan_is_told_at_a_place_of_the_plan() {
    let mut all = String::new();
    for source in [
        "name: n\nworkflow: w\nphases:\n  - { id: a, type: development, description: d, depends_on: [nowhere], gates: [{ type: tests_pass, command: make }] }\n",
        "name: n\nworkflow: w\nphases:\n  - { id: first, type: development, description: d, gates: [{ type: tests_pass, command: make }] }\n",
        "name: n\nworkflow: w\nphases:\n  - { id: a, type: development, description: d }\n",
        "name: n\nworkflow: { name: w, inputs: { test: make, tries: many, sources: [../x], strict: 3, tests: \"a && b\" } }\n",
        "name: n\nworkflow: w\nphases:\n  - { id: a, type: development, description: d, gates: [{ type: tests_pass, command: make }] }\n  - { id: b, type: development, description: d, gates: [{ type: tests_pass, command: test }] }\n",
        "name: n\nworkflow: { name: w, inputs: { tests: make, tries: 0 } }\n",
        "name: n\nworkflow: { name: w, inputs: { tests: make } }\nphases:\n  - { id: a, type: development, description: d, depends_on: [last], outputs: [docs/first.md], inputs: [docs/first.md] }\n  - { id: b, type: development, description: d, depends_on: [a], outputs: [x] }\n  - { id: c, type: development, description: d, depends_on: [last], outputs: [x] }\n",
    ] {
        all.push_str(&shown(&join(source, &own(W)).unwrap_err()));
        all.push('\n');
    }
    let no_slot =
        own("name: w\ndescription: d\nphases:\n  - { id: first, type: planning, description: d, outputs: [a] }\n");
    let source = format!("name: n\nworkflow: w\n{OWN}");
    all.push_str(&shown(&join(&source, &no_slot).unwrap_err()));
    insta::assert_snapshot!(all);
}

#[test]
fn a_bad_workflow_names_every_problem_with_place_and_remedy() {
    let mut all = String::new();
    for source in [
        "",
        "name: W W\ndescription: d\nphases: []\n",
        "name: w\nphases: x\nextra: 1\n",
        r#"
name: w
description: d
inputs:
  Bad: { type: text, description: d }
  plan: { type: text, description: d }
  a: { type: comand, description: d }
  b: { type: path, description: d, from: tests_pass }
  c: { type: path, description: d, default: ../up }
  d: text
  e: { type: number, default: 3, descripton: d }
phases:
  - { id: one, type: development, description: "${{ nobody }} ${{ c", depends_on: [two, s] }
  - { slot: s, depends_on: [one] }
  - { slot: t, type: development, description: d }
  - { slot: u, gates: [] }
"#,
        "name: w\ndescription: d\nphases:\n  - { slot: s, gates: [] }\n",
    ] {
        all.push_str(&shown(&Workflow::parse("workflows/w.yaml", source).unwrap_err()));
        all.push('\n');
    }
    insta::assert_snapshot!(all);
}

/// Own phases of any shape stand between what comes before the slot and what comes after it.
fn own_phases() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..3), 1..9).prop_map(|phases| {
        phases
            .iter()
            .enumerate()
            .map(|(number, needs)| needs.iter().filter(|_| number > 0).map(|index| index.index(number)).collect())
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_own_phase_comes_after_the_design_and_before_the_tests(phases in own_phases(), late in any::<bool>()) {
        let mut source = "name: n\nworkflow: { name: w, inputs: { tests: make } }\nphases:\n".to_owned();
        for (number, needs) in phases.iter().enumerate() {
            let needs: Vec<String> = needs.iter().map(|needed| format!("p{needed}")).collect();
            source.push_str(&format!("  - {{ id: p{number}, type: development, description: d, outputs: [o{number}], depends_on: [{}] }}\n", needs.join(", ")));
        }
        if late {
            source.push_str("  - { id: late, type: development, description: d, outputs: [late], depends_on: [last] }\n");
        }
        let plan = join(&source, &own(W)).unwrap_or_else(|problems| panic!("{}", shown(&problems))).plan;
        prop_assert_eq!(plan.waves().concat().len(), plan.phases.len());
        prop_assert!(plan.phases.iter().all(|phase| !plan.ancestry().is_before(&phase.id, &phase.id)), "no cycles");
        let (first, last) = (PhaseId::new("first").unwrap(), PhaseId::new("last").unwrap());
        for number in 0..phases.len() {
            let own = PhaseId::new(format!("p{number}")).unwrap();
            prop_assert!(plan.ancestry().is_before(&first, &own));
            prop_assert!(plan.ancestry().is_before(&own, &last));
        }
        if late {
            prop_assert!(plan.ancestry().is_before(&last, &PhaseId::new("late").unwrap()));
        }
    }

    #[test]
    fn no_text_makes_the_reader_of_workflows_panic(at in 0_usize..2000, length in 0_usize..40, new in "(\\PC|\n|\\$\\{\\{ ){0,6}") {
        let characters: Vec<char> = W.chars().collect();
        let from = at % characters.len();
        let to = (from + length).min(characters.len());
        let text: String = characters[..from].iter().copied().chain(new.chars()).chain(characters[to..].iter().copied()).collect();
        match Workflow::parse("w", &text) {
            Ok(workflow) => prop_assert!(!workflow.name.is_empty()),
            Err(problems) => prop_assert!(problems.iter().any(Diagnostic::is_error)),
        }
    }
}

/// Health and rollback are what the plan gives, and nothing without it; a customer's deployment is there if it is asked for.
#[test]
fn the_way_back_comes_from_the_plan() {
    let deliveries = |workflow: &str, inputs: &str| {
        let source = format!("name: n\nworkflow: {{ name: {workflow}, inputs: {{ tests: pytest, {inputs} }} }}\n");
        let plan = join(&source, &built_in(workflow)).unwrap_or_else(|problems| panic!("{}", shown(&problems))).plan;
        let gates = plan.phases.iter().flat_map(|phase| &phase.gates);
        gates.filter_map(GateSpec::delivery).cloned().collect::<Vec<_>>()
    };
    const INTERN: &str = "deploy_test: ./d test, e2e: pytest e2e, deploy_prod: ./d prod";
    for one in deliveries("intern-complex", INTERN) {
        assert!(one.health.is_none() && one.rollback.is_empty(), "{one:?}");
    }
    let given = format!("{INTERN}, health_prod: ./h, rollback_prod: [./r one, ./r two], watch: 90s");
    let [test, prod] = &deliveries("intern-complex", &given)[..] else { panic!() };
    assert!(test.health.is_none() && test.rollback.is_empty(), "{test:?}");
    let health = prod.health.as_ref().unwrap();
    assert_eq!((&health.command[..], health.time.0, health.limit), (&["./h".to_owned()][..], 90, 3));
    assert_eq!(prod.rollback, ["./r one", "./r two"]);
    assert!(deliveries("extern-simple", "").is_empty());
    let [one] = &deliveries("extern-simple", "deploy: ./d, health: [./h], rollback: ./r")[..] else { panic!() };
    assert_eq!((&one.command[..], &one.rollback[..]), (&["./d".to_owned()][..], &["./r".to_owned()][..]));
    let bad = format!(
        "name: n\nworkflow: {{ name: intern-complex, inputs: {{ tests: t, {INTERN}, health_prod: 'a | b' }} }}\n"
    );
    let problems = shown(&join(&bad, &built_in("intern-complex")).unwrap_err());
    assert!(problems.contains("HX0130") && problems.contains("health_prod"), "{problems}");
}

/// What is written of health and of the way back is read, printed and read again; what cannot work is told at its place.
#[test]
fn health_and_rollback_are_read_as_they_are_written() {
    let plan = |gate: &str| {
        format!(
            "name: n\nphases:\n  - {{ id: a, type: deploy, description: d, gates: [{{ type: command, command: t }}, {{ type: deploy_success, {gate} }}] }}\n"
        )
    };
    let read = |gate: &str| Plan::parse("p", &plan(gate)).map(|parsed| parsed.plan);
    let good = read("command: ./d, target: production, rollback: ./r, health: { command: [./a, ./b], every: 2s, for: 10m, limit: 2, timeout: 3s }").unwrap();
    let Some(delivery) = good.phases[0].gates[1].delivery() else { panic!() };
    let health = delivery.health.as_ref().unwrap();
    assert_eq!((health.every.0, health.time.0, health.limit, health.timeout.0), (2, 600, 2, 3));
    assert_eq!((delivery.target.as_deref(), delivery.commands().count()), (Some("production"), 4));
    assert_eq!(Plan::parse("p", &good.to_yaml()).unwrap().plan, good, "{}", good.to_yaml());
    let least = read("command: ./d, health: { command: ./a }").unwrap();
    assert!(
        least.to_yaml().contains("health: { command: \"./a\" }")
            || least.to_yaml().contains("health: { command: ./a }"),
        "{}",
        least.to_yaml()
    );
    for (gate, code, says) in [
        ("probes: [{ tcp: 'a:1' }], rollback: ./r", "HX0108", "no `command` to take back"),
        ("command: ./d, health: { every: 2s }", "HX0108", "`health` has no `command`"),
        ("command: ./d, health: { command: ./a, limit: 0 }", "HX0120", "from 1 to"),
        ("command: ./d, health: { command: ./a, for: soon }", "HX0119", "for"),
        ("command: ./d, health: { command: ./a, fro: 2s }", "HX0106", "fro"),
        ("command: ./d, health: ./a", "HX0109", "health"),
        ("command: ./d, rollback: 'a && b'", "HX0121", "&&"),
    ] {
        let problems = shown(&read(gate).unwrap_err());
        assert!(problems.contains(code) && problems.contains(says), "{gate}: {problems}");
    }
}
