//! What a planning phase returns becomes phases only when all of it is right; else every problem has a place and a remedy.

use std::collections::BTreeSet;

use helix_core::finding::Finding;
use helix_core::ids::PhaseId;
use helix_plan::fragment::{Growth, read, schema};
use helix_plan::{GateSpec, Phase, PhaseType, Plan, Seconds, TestsGate};
use proptest::prelude::*;
use serde_json::{Value, json};

const PLAN: &str = r#"
name: shop
defaults: { agent: claude, model: sonnet, max_attempts: 2, timeout: 20m, max_turns: 40 }
phases:
  - { id: notes, type: documentation, description: Notes, outputs: [NOTES.md] }
  - id: plan
    type: planning
    description: Split the work
    model: opus
    timeout: 5m
    generates_phases:
      min: 1
      max: 5
      gates: [{ type: syntax_check }, { type: outputs_claimed }, { type: tests_pass, command: pytest -q }]
      verify: { model: haiku }
  - { id: check, type: test, description: Check, depends_on: [plan], gates: [{ type: tests_pass, command: pytest -q }] }
  - { id: docs, type: documentation, description: Docs, depends_on: [check], outputs: [docs/shop.md] }
"#;

fn plan() -> Plan {
    Plan::parse("phases.yaml", PLAN).unwrap().plan
}

fn id(text: &str) -> PhaseId {
    PhaseId::new(text).unwrap()
}

fn grow(value: Value) -> Result<Growth, Vec<Finding>> {
    read(&plan(), &id("plan"), &value)
}

fn needs<'p>(plan: &'p Plan, phase: &str) -> Vec<&'p str> {
    plan.phase(&id(phase)).unwrap().depends_on.iter().map(|id| id.as_str()).collect()
}

fn phase(id: &str, output: &str) -> Value {
    json!({ "id": id, "description": "Do it", "outputs": [output] })
}

#[test]
fn phases_are_placed_between_the_planning_phase_and_those_that_wait_for_it() {
    let mut last = phase("dev-2", "src/b.py");
    last["depends_on"] = json!(["dev-1"]);
    let grown = grow(json!({
        "feasibility": { "id": "spike", "description": "Is it possible", "outputs": ["docs/spike.md"] },
        "phases": [phase("dev-1", "src/a.py"), last, phase("dev-3", "src/c.py")],
    }))
    .unwrap();
    let names: Vec<&str> = grown.added.iter().map(|phase| phase.id.as_str()).collect();
    assert_eq!(names, ["spike", "dev-1", "dev-2", "dev-3"]);
    assert_eq!(needs(&grown.plan, "spike"), ["plan"]);
    assert_eq!(needs(&grown.plan, "dev-1"), ["spike"]);
    assert_eq!(needs(&grown.plan, "dev-2"), ["dev-1"]);
    assert_eq!(needs(&grown.plan, "dev-3"), ["spike"]);
    assert_eq!(needs(&grown.plan, "check"), ["plan", "spike", "dev-1", "dev-2", "dev-3"]);
    assert_eq!(needs(&grown.plan, "docs"), ["check"]);
    assert_eq!(plan().grown(&id("plan"), &grown.added), Ok(grown.plan), "the event's phases give the same plan");
}

/// The plan decides type, least gates, verification and limits; an agent cannot loosen them.
#[test]
fn the_plan_decides_what_an_added_phase_must_prove() {
    let grown = grow(json!({ "phases": [{
        "id": "dev-1", "description": "Do it", "outputs": ["src/a.py"],
        "gates": [{ "type": "tests_pass", "command": "true", "timeout": "1s" }, { "type": "docs_refs_valid" }],
    }] }))
    .unwrap();
    let [added] = &grown.added[..] else { panic!("{:?}", grown.added) };
    let tests = |command: &str, seconds| GateSpec::TestsPass(TestsGate::of_command(command, Seconds(seconds)));
    assert_eq!(
        added.gates,
        [
            GateSpec::SyntaxCheck { files: vec![] },
            GateSpec::OutputsClaimed { strict: false },
            GateSpec::DocsRefsValid {},
            tests("pytest -q", 600),
            tests("true", 1),
        ]
    );
    assert_eq!(added.kind, PhaseType::Development);
    assert_eq!(added.verify.as_ref().and_then(|verify| verify.model.as_deref()), Some("haiku"));
    assert_eq!((added.agent.as_deref(), added.model.as_deref()), (Some("claude"), Some("sonnet")));
    assert_eq!((added.max_attempts, added.timeout, added.max_turns), (2, Seconds(1200), Some(40)));
}

fn told(value: Value) -> String {
    let findings = grow(value).unwrap_err();
    let mut out = String::new();
    for finding in findings {
        assert!(finding.fix.is_some(), "{} has no remedy", finding.message);
        out.push_str(&format!("{}: {}\n  fix: {}\n", finding.rule, finding.message, finding.fix.unwrap()));
    }
    out
}

#[test]
fn every_problem_has_a_pointer_and_a_remedy() {
    let all = json!({
        "phases": [
            { "id": "Dev One", "description": "d", "outputs": ["a"] },
            { "id": "dev-2", "description": " ", "outputs": ["../a", "/b"], "dependson": ["x"], "type": "deploy" },
            { "id": "check", "description": "d", "outputs": [], "agent": "claud", "model": "gpt" },
            { "description": "d", "outputs": "src/a.py", "gates": [{ "type": "tests_pas" }, { "type": "command", "command": "a && b", "timeout": 5 }] },
            ["no phase"],
        ],
        "feasibility": { "id": "f", "description": "d", "outputs": ["f.md"], "depends_on": ["plan"] },
        "verdict": "done",
    });
    insta::assert_snapshot!("everything", told(all));
    let mut between = json!({ "phases": [phase("a", "src/a.py"), phase("b", "src/a.py"), phase("c", "NOTES.md"), phase("d", "x"), phase("e", "y")] });
    between["phases"][3]["depends_on"] = json!(["e", "d", "nobody"]);
    between["phases"][4]["depends_on"] = json!(["d"]);
    between["phases"][4]["inputs"] = json!(["src/a.py"]);
    insta::assert_snapshot!("between", told(between));
    let mut late = json!({ "phases": [phase("a", "src/a.py")] });
    late["phases"][0]["depends_on"] = json!(["docs"]);
    insta::assert_snapshot!("late", told(late));
}

#[test]
fn what_is_no_fragment_is_told_what_one_is() {
    let too_many: Vec<Value> = (0..6).map(|number| phase(&format!("p{number}"), &format!("f{number}"))).collect();
    let long = json!({ "phases": [{ "id": "a", "description": "d".repeat(300_000), "outputs": ["a"] }] });
    let mut all = String::new();
    for value in [
        json!(null),
        json!([]),
        json!("done"),
        json!({}),
        json!({ "phases": [] }),
        json!({ "phases": null }),
        json!({ "phases": { "id": "a" } }),
        json!({ "phases": too_many }),
        json!({ "phases": [phase("plan", "x")] }),
        json!({ "phases": [{ "id": "a", "description": "d", "outputs": ["a"], "gates": [{ "type": "deploy_success", "command": "ship" }] }] }),
        long,
    ] {
        all.push_str(&told(value));
    }
    insta::assert_snapshot!(all);
    let findings = read(&plan(), &id("check"), &json!({ "phases": [] })).unwrap_err();
    assert!(findings[0].message.contains("`check` adds no phases"), "{findings:?}");
}

#[test]
fn a_template_without_a_gate_of_its_own_is_an_error_of_the_plan() {
    let source = "name: n\nphases:\n  - { id: p, type: planning, description: d, generates_phases: { max: 2, template: test } }\n";
    let problems = Plan::parse("p", source).unwrap_err();
    assert_eq!(problems[0].code, "HX0123", "{problems:?}");
    let problems = Plan::parse("p", &source.replace("template: test", "template: developmnt")).unwrap_err();
    assert_eq!(problems[0].code, "HX0110");
    assert!(problems[0].help.as_ref().unwrap().contains("did you mean `development`?"), "{problems:?}");
}

/// Schema and reader take the same keys, as those of plans do.
#[test]
fn schema_and_reader_take_the_same_keys() {
    let generate = plan().phase(&id("plan")).unwrap().generates_phases.clone().unwrap();
    let schema = schema(&generate);
    let keys = |pointer: &str| -> BTreeSet<String> {
        schema
            .pointer(pointer)
            .and_then(Value::as_object)
            .unwrap_or_else(|| panic!("{schema:#}"))
            .keys()
            .cloned()
            .collect()
    };
    let allowed = |value: Value| -> BTreeSet<String> {
        let findings = grow(value).unwrap_err();
        let finding = findings.iter().find(|finding| finding.rule == "plan_fragment.hx0106").unwrap();
        finding.fix.as_ref().unwrap().trim_start_matches("allowed are: ").split(", ").map(str::to_owned).collect()
    };
    const NO_KEY: &str = "zzzzzzzzzzzzzzzzzzzzzzzz";
    let mut odd = phase("a", "a");
    odd[NO_KEY] = json!(1);
    assert_eq!(allowed(json!({ "phases": [phase("a", "a")], NO_KEY: 1 })), keys("/properties"));
    assert_eq!(allowed(json!({ "phases": [odd] })), keys("/$defs/AddedPhaseSource/properties"));
    odd = phase("f", "f");
    odd[NO_KEY] = json!(1);
    // The reader knows the one key that the schema does not offer here, to say why there is none.
    let mut feasibility = keys("/$defs/FeasibilitySource/properties");
    assert!(feasibility.insert("depends_on".into()));
    assert_eq!(allowed(json!({ "phases": [phase("a", "a")], "feasibility": odd })), feasibility);
    assert_eq!(schema["properties"]["phases"]["minItems"], 1);
    assert_eq!(schema["properties"]["phases"]["maxItems"], 5);
    assert_eq!(schema["required"], json!(["phases"]));
    assert_eq!(schema["$defs"]["AddedPhaseSource"]["required"], json!(["id", "description", "outputs"]));
    assert_eq!(schema["$defs"]["AddedPhaseSource"]["properties"]["type"]["const"], "development");
}

/// Values of the right form, often enough with something wrong in them.
fn fragments() -> impl Strategy<Value = Value> {
    let ids = prop::sample::select(vec!["a", "b", "c", "d", "check", "plan", "notes", "docs", "A"]);
    let files = prop::sample::select(vec!["a.py", "b.py", "src/*.py", "src/c.py", "NOTES.md", "docs/", "../x", ""]);
    let gates = prop::sample::select(vec![
        json!({ "type": "command", "command": "make" }),
        json!({ "type": "files_exist" }),
        json!({ "type": "approval" }),
        json!({ "type": "nothing" }),
    ]);
    let phase = (
        ids.clone(),
        prop::collection::vec(ids, 0..3),
        prop::collection::vec(files.clone(), 0..3),
        prop::collection::vec(files, 0..2),
        prop::collection::vec(gates, 0..2),
    )
        .prop_map(|(id, depends_on, outputs, inputs, gates)| {
            json!({ "id": id, "description": "d", "depends_on": depends_on, "outputs": outputs, "inputs": inputs, "gates": gates })
        });
    (prop::collection::vec(phase.clone(), 0..7), prop::option::of(phase), any::<bool>()).prop_map(
        |(phases, feasibility, strip)| {
            let mut value = json!({ "phases": phases });
            if let Some(mut feasibility) = feasibility {
                if strip {
                    feasibility.as_object_mut().unwrap().remove("depends_on");
                }
                value["feasibility"] = feasibility;
            }
            value
        },
    )
}

/// Fragments in which nothing is wrong: dependencies only backwards, a file for each phase.
fn good_fragments() -> impl Strategy<Value = Value> {
    (prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..3), 1..=5), any::<bool>()).prop_map(
        |(phases, feasible)| {
            let phases: Vec<Value> = phases
                .iter()
                .enumerate()
                .map(|(number, needs)| {
                    let mut one = phase(&format!("dev-{number}"), &format!("src/{number}.py"));
                    let needs: BTreeSet<String> = needs
                        .iter()
                        .filter(|_| number > 0)
                        .map(|index| format!("dev-{}", index.index(number)))
                        .collect();
                    one["depends_on"] = json!(needs);
                    one
                })
                .collect();
            let mut value = json!({ "phases": phases });
            if feasible {
                value["feasibility"] = phase("spike", "docs/spike.md");
            }
            value
        },
    )
}

/// What holds for every plan that has grown.
fn holds(growth: &Growth) {
    let before = plan();
    let grown = &growth.plan;
    assert_eq!(grown.phases.len(), before.phases.len() + growth.added.len());
    let ancestry = grown.ancestry();
    assert!(grown.phases.iter().all(|phase| !ancestry.is_before(&phase.id, &phase.id)), "no phase waits for ever");
    for added in &growth.added {
        assert!(grown.ancestry().is_before(&id("plan"), &added.id), "{} does not wait for its planner", added.id);
        assert!(grown.ancestry().is_before(&added.id, &id("check")), "nobody waits for {}", added.id);
        assert!(needs(grown, "check").contains(&added.id.as_str()));
        if added.kind == PhaseType::Development {
            let least = &before.phase(&id("plan")).unwrap().generates_phases.as_ref().unwrap().gates;
            assert!(least.iter().all(|gate| added.gates.contains(gate)), "{:?}", added.gates);
        }
    }
    let text = grown.to_yaml();
    let again = Plan::parse("grown", &text).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"));
    assert_eq!(&again.plan, grown, "a grown plan is a plan like any other");
    let json = serde_json::to_value(&growth.added).unwrap();
    assert_eq!(serde_json::from_value::<Vec<Phase>>(json).unwrap(), growth.added, "phases survive the journal");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_returned_gives_a_plan_or_findings(value in fragments()) {
        match grow(value) {
            Ok(growth) => holds(&growth),
            Err(findings) => {
                prop_assert!(!findings.is_empty());
                for finding in findings {
                    prop_assert!(finding.fix.is_some(), "{} has no remedy", finding.message);
                }
            }
        }
    }

    #[test]
    fn whatever_is_right_is_taken(value in good_fragments()) {
        match grow(value) {
            Ok(growth) => holds(&growth),
            Err(findings) => prop_assert!(false, "{findings:#?}"),
        }
    }

    #[test]
    fn no_json_makes_the_reader_panic(text in "(\\{|\\}|\\[|\\]|\"phases\":|\"id\":|\"outputs\":|\"a\"|,|null|1|true){0,30}") {
        if let Ok(value) = serde_json::from_str::<Value>(&text)
            && let Err(findings) = grow(value)
        {
            prop_assert!(!findings.is_empty());
        }
    }
}
