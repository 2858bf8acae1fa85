//! The JSON Schema, the parser, the docs and the error pages say the same.

use std::collections::BTreeSet;

use helix_plan::{Plan, codes, default_gates_markdown, gates_markdown, json_schema, keys_markdown};
use serde_json::Value;

fn schema_keys(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let properties =
        schema.pointer(&format!("{pointer}/properties")).unwrap_or_else(|| panic!("{pointer}: {schema:#}"));
    properties.as_object().unwrap().keys().cloned().collect()
}

/// Asks the parser which keys it takes, by giving it one that it does not.
fn parser_keys(source: &str) -> BTreeSet<String> {
    let problems = Plan::parse("p", source).unwrap_err();
    let help = problems.iter().find(|problem| problem.code == "HX0106").unwrap().help.clone().unwrap();
    help.trim_start_matches("allowed are: ").split(", ").map(str::to_owned).collect()
}

const PHASE: &str = "phases:\n  - {id: a, type: planning, description: d, outputs: [o]";

/// Documented and coded parameters cannot drift apart.
#[test]
fn parser_and_schema_take_the_same_keys() {
    let schema = json_schema();
    let cases = [
        ("zzzzzzzzzzzzzzzzzzzzzz: 1\n".to_owned(), ""),
        ("defaults: {zzzzzzzzzzzzzzzzzzzzzz: 1}\n".into(), "/$defs/DefaultsSource"),
        (format!("{PHASE}, zzzzzzzzzzzzzzzzzzzzzz: 1}}\n"), "/$defs/PhaseSource"),
        (format!("{PHASE}, verify: {{zzzzzzzzzzzzzzzzzzzzzz: 1}}}}\n"), "/$defs/VerifyDetail"),
        (format!("{PHASE}, generates_phases: {{zzzzzzzzzzzzzzzzzzzzzz: 1}}}}\n"), "/$defs/GeneratePhasesSource"),
    ];
    for (source, pointer) in cases {
        assert_eq!(parser_keys(&format!("name: n\n{source}")), schema_keys(&schema, pointer), "{pointer}");
    }
    let gates = schema.pointer("/$defs/GateSpec/oneOf").unwrap().as_array().unwrap();
    assert_eq!(gates.len(), 18);
    for (number, gate) in gates.iter().enumerate() {
        let word = gate.pointer("/properties/type/const").unwrap().as_str().unwrap();
        let source = format!("name: n\n{PHASE}, gates: [{{type: {word}, zzzzzzzzzzzzzzzzzzzzzz: 1}}]}}\n");
        assert_eq!(parser_keys(&source), schema_keys(&schema, &format!("/$defs/GateSpec/oneOf/{number}")), "{word}");
    }
}

#[test]
fn required_keys_and_words_are_the_parsers() {
    let schema = json_schema();
    assert_eq!(schema["required"], serde_json::json!(["name"]));
    assert_eq!(schema["$defs"]["PhaseSource"]["required"], serde_json::json!(["id", "type"]));
    assert_eq!(schema["$defs"]["GeneratePhasesSource"]["required"], serde_json::json!(["max"]));
    for gate in schema["$defs"]["GateSpec"]["oneOf"].as_array().unwrap() {
        let required: Vec<&str> =
            gate["required"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect();
        // A delivery has commands or probes, which a list of required keys cannot say.
        let properties = &gate["properties"];
        let command = properties.get("command").is_some() && properties.get("probes").is_none();
        assert_eq!(required, if command { vec!["type", "command"] } else { vec!["type"] });
    }
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema.pointer("/$defs/Duration/pattern").is_some());
}

/// The docs are generated from the types.
#[test]
fn the_docs_show_the_tables_of_keys_and_gates() {
    let docs = include_str!("../../../docs/plan.md");
    for (name, table) in
        [("default gates", default_gates_markdown()), ("keys", keys_markdown()), ("gates", gates_markdown())]
    {
        let mark = format!("<!-- {name} -->\n");
        let shown = docs.split(&mark).nth(1).unwrap_or_else(|| panic!("docs/plan.md has no {mark}"));
        let shown = shown.split("<!-- end -->").next().unwrap();
        assert_eq!(shown.trim(), table.trim(), "docs/plan.md is out of date");
    }
}

#[test]
fn every_key_and_gate_is_described() {
    for table in [keys_markdown(), gates_markdown()] {
        for row in table.lines() {
            assert!(!row.contains("|  |") || row.ends_with("|  |"), "{row} says nothing");
        }
    }
}

#[test]
fn every_plan_in_the_docs_is_valid() {
    let docs = include_str!("../../../docs/plan.md");
    let plans: Vec<&str> = docs.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!plans.is_empty());
    for plan in plans {
        if let Err(problems) = Plan::parse("docs/plan.md", plan) {
            panic!("{problems:#?}");
        }
    }
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let mut pages: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("HX01") && name.ends_with(".md"))
        .map(|name| name.trim_end_matches(".md").to_owned())
        .collect();
    pages.sort();
    assert_eq!(pages, codes::ALL);
}
