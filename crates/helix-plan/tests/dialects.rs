//! Older dialects of plans: every old form of the docs is read as its modern one, loudly, and nothing is lost silently.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_plan::{GateSpec, Modern, ParsedPlan, Plan};
use proptest::prelude::*;

fn shown(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}

fn parse(source: &str) -> ParsedPlan {
    Plan::parse("phases.yaml", source).unwrap_or_else(|problems| panic!("{source}\n{}", shown(&problems)))
}

fn problems(source: &str) -> Vec<Diagnostic> {
    match Plan::parse("phases.yaml", source) {
        Ok(parsed) => panic!("read: {parsed:#?}"),
        Err(problems) => problems,
    }
}

fn to_owned(texts: &[&str]) -> Vec<String> {
    texts.iter().copied().map(str::to_owned).collect()
}

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plans").join(kind);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// A row of the table in the docs.
#[derive(Debug)]
struct OldForm {
    place: String,
    old: String,
    modern: Modern,
}

fn old_forms() -> Vec<OldForm> {
    let docs = include_str!("../../../docs/plan.md");
    let table = docs.split("<!-- older forms -->\n").nth(1).unwrap().split("<!-- end -->").next().unwrap();
    let quoted = |cell: &str| cell.strip_prefix('`')?.strip_suffix('`').map(str::to_owned);
    let rows = table.lines().skip(2).filter(|line| !line.is_empty()).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [place, old, modern] = cells[..] else { panic!("{line}") };
        let modern = match modern.strip_prefix("ignored: ") {
            Some(why) => Modern::Ignored(why.to_owned()),
            None => Modern::Written(quoted(modern).unwrap()),
        };
        OldForm { place: place.to_owned(), old: quoted(old).unwrap(), modern }
    });
    rows.collect()
}

/// Two phases: `design` generates phases, `work` has the form in question.
fn plan_with(form: &OldForm) -> String {
    let old = &form.old;
    let (mut top, mut phase, mut gates) =
        (String::new(), String::new(), "gates: [{ type: docs_refs_valid }]".to_owned());
    match form.place.as_str() {
        "plan" | "`project` of a plan" => top.clone_from(old),
        "gate" => gates = format!("gates: [{old}]"),
        place if place.ends_with("phase") => phase.clone_from(old),
        place => panic!("{place}"),
    }
    if phase.contains("gate") {
        gates = String::new();
    }
    let own = |key: &str, value: &str| {
        if phase.starts_with(&format!("{key}:")) { String::new() } else { format!("{key}: {value}") }
    };
    let name = if top.contains("name:") { "" } else { "name: example" };
    format!(
        "{name}\n{top}\nphases:\n  - id: design\n    type: planning\n    description: d\n    generates_phases: true\n  - {}\n    {}\n    description: d\n    {gates}\n    {phase}\n",
        own("id", "work"),
        own("type", "planning"),
    )
}

#[test]
fn every_row_of_the_docs_table_is_what_the_parser_says() {
    for form in old_forms() {
        let source = plan_with(&form).replace("- \n    type", "- type");
        let parsed = parse(&source);
        let found = parsed.normalised.iter().find(|one| one.old == form.old && one.new == form.modern);
        let found = found.unwrap_or_else(|| panic!("{form:#?}\n{source}\n{:#?}", parsed.normalised));
        let warning = parsed.warnings.iter().find(|warning| warning.span == Some(found.span)).unwrap();
        let expected = match &form.modern {
            Modern::Written(new) => ("HX0125", format!("write `{new}`")),
            Modern::LeftOut => ("HX0125", "remove it; it is the default".into()),
            Modern::Ignored(why) => {
                assert!(warning.message.ends_with(why.as_str()), "{warning}");
                ("HX0126", "remove it".into())
            }
        };
        assert_eq!((warning.code.as_str(), warning.help.clone().unwrap()), expected);
        assert_modern(&parsed);
    }
}

/// Printed in the modern form, a plan is the same plan and no form of it is an old one.
fn assert_modern(parsed: &ParsedPlan) {
    let printed = parsed.plan.to_yaml();
    let again = parse(&printed);
    assert_eq!(again.plan, parsed.plan, "{printed}");
    assert_eq!(again.normalised, [], "{printed}");
    let about_form = |warning: &&Diagnostic| matches!(warning.code.as_str(), "HX0125" | "HX0126");
    assert_eq!(again.warnings.iter().find(about_form), None, "{printed}");
    // Printing mends the form and brings in nothing new; what is doubtful about the plan itself stays so.
    let known = |warning: &&Diagnostic| parsed.warnings.iter().any(|other| other.code == warning.code);
    assert!(again.warnings.iter().all(|warning| known(&warning)), "{printed}\n{}", shown(&again.warnings));
}

/// Whole plans as they were written for older systems, with their warnings and the modern plan.
#[test]
fn old_plans_are_read_with_a_warning_for_each_old_form() {
    for file in fixtures("old") {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let parsed = parse(&std::fs::read_to_string(&file).unwrap());
        assert_modern(&parsed);
        let text = format!(
            "{}---\n{}---\n{}",
            shown(&parsed.warnings),
            parsed.explanation(|line| format!("line {line}")),
            parsed.plan.to_yaml()
        );
        insta::with_settings!({ snapshot_suffix => name, omit_expression => true }, { insta::assert_snapshot!(text) });
    }
}

#[test]
fn modern_plans_have_no_old_forms() {
    for file in fixtures("good") {
        let parsed = parse(&std::fs::read_to_string(&file).unwrap());
        assert_eq!(parsed.normalised, []);
        assert_modern(&parsed);
    }
}

/// Each pair says one thing twice, in either order; the error names both keys.
#[test]
fn an_old_and_a_modern_key_for_the_same_thing_are_an_error() {
    let pairs = [
        ("output: [a]", "outputs: [b]", "output", "outputs"),
        ("input: [a]", "inputs: [b]", "input", "inputs"),
        ("input: { files: [a] }", "inputs: [b]", "input", "inputs"),
        ("quality_gate: syntax_check", "gates: [{ type: syntax_check }]", "quality_gate", "gates"),
        ("gate: syntax_check", "quality_gates: [syntax_check]", "gate", "quality_gates"),
        ("verify_agent: true", "verify: false", "verify_agent", "verify"),
        ("requires_approval: true", "approval: after", "requires_approval", "approval"),
        ("max_retries: 1", "max_attempts: 3", "max_retries", "max_attempts"),
        ("dependencies: [z]", "depends_on: [z]", "dependencies", "depends_on"),
        ("config: { model: a }", "model: b", "config.model", "model"),
        ("config: { skills: [a] }", "skills: [b]", "config.skills", "skills"),
        ("phase_config: { max_phases: 2 }", "generates_phases: { max: 3 }", "phase_config", "generates_phases"),
        ("gates: [{ type: tests_pass, test: a", "command: b }]", "test", "command"),
        ("gates: [{ type: files_exist, file: a", "files: [b] }]", "file", "files"),
    ];
    for (old, other, old_name, other_name) in pairs {
        let orders = if other.ends_with("}]") && !other.starts_with("gates") {
            vec![format!("{old}, {other}")]
        } else {
            vec![format!("{old}\n    {other}"), format!("{other}\n    {old}")]
        };
        for written in orders {
            let source = format!(
                "name: n\nphases:\n  - {{ id: z, type: decision, name: d }}\n  - id: a\n    type: planning\n    description: d\n    {written}\n"
            );
            let problems = problems(&source);
            let clash = problems
                .iter()
                .find(|problem| problem.code == "HX0127")
                .unwrap_or_else(|| panic!("{source}\n{}", shown(&problems)));
            for name in [old_name, other_name] {
                assert!(clash.message.contains(&format!("`{name}`")), "{clash}");
            }
        }
    }
    // An empty key says nothing, so it is not written twice.
    let empty = "name: n\nphases:\n  - { id: a, type: planning, name: d, outputs: , output: [a], max_retries: }\n";
    let parsed = parse(empty);
    assert_eq!(parsed.plan.phases[0].outputs, ["a"]);
    assert!(parsed.normalised.iter().any(|one| one.old == "max_retries:" && one.new == Modern::LeftOut));
    for top in [
        "name: n\nproject: { name: m }",
        "name: n\nmax_retries: 1\ndefaults: { max_attempts: 3 }",
        "name: n\nmax_retries: 1\nproject: { max_retries: 1 }",
    ] {
        let problems = problems(&format!("{top}\nphases:\n  - {{ id: a, type: decision, name: d }}\n"));
        assert!(problems.iter().any(|problem| problem.code == "HX0127"), "{top}\n{}", shown(&problems));
    }
}

/// Files of one name that lay in different folders stay apart, for whoever reads them, too; one file with two histories stays one.
#[test]
fn files_that_a_convention_kept_apart_stay_apart() {
    let plan = |first: &str, second: &str| {
        format!(
            "name: n\nphases:\n  - {{ id: one, type: planning, description: d, {first} }}\n  - {{ id: Two, type: planning, description: d, depends_on: [one], {second} }}\n"
        )
    };
    let (one, two) = ("phases/one/output/a.md", "phases/two/output/a.md");
    let apart = [
        ("output: [output/a.md]", "output: [output/a.md]", vec![one], vec![two]),
        ("output: [phases/one/output/a.md]", "output: { files: [./phases/Two/output/a.md] }", vec![one], vec![two]),
        ("output: [output/a.md]", "output: [a.md, output/b.md]", vec![one], vec!["a.md", "b.md"]),
        ("output: [output/a.md]", "outputs: [a.md]", vec![one], vec!["a.md"]),
        ("output: [new/a.md, output/a.md]", "output: [b.md]", vec!["a.md", one], vec!["b.md"]),
        ("output: { directory: output/d/ }", "output: [new/d/]", vec!["phases/one/output/d/"], vec!["d/"]),
    ];
    for (first, second, of_first, of_second) in apart {
        let parsed = parse(&plan(first, second));
        assert_modern(&parsed);
        let phases = &parsed.plan.phases;
        assert_eq!(
            (&phases[0].outputs[..], &phases[1].outputs[..]),
            (&to_owned(&of_first)[..], &to_owned(&of_second)[..])
        );
        let merged = |one: &&Diagnostic| one.code == "HX0128";
        assert!(parsed.warnings.iter().find(merged).is_none(), "{first} {second}\n{}", shown(&parsed.warnings));
    }
    // Who reads such a file, and the gate that looks for it, mean the one that they meant; each old form is told once.
    let parsed = parse(&plan(
        "input: [output/a.md], output: [output/a.md], quality_gate: { type: files_exist, files: [output/a.md] }",
        "input: { files: [phases/one/output/a.md, output/c.md] }, output: [output/a.md]",
    ));
    let phases = &parsed.plan.phases;
    assert_eq!((&phases[0].inputs[..], &phases[1].inputs[..]), (&to_owned(&[one])[..], &to_owned(&[one, "c.md"])[..]));
    assert!(phases[0].gates.contains(&GateSpec::FilesExist { files: to_owned(&[one]) }), "{:?}", phases[0].gates);
    let told =
        parsed.warnings.iter().filter(|one| one.help.as_deref() == Some("write `outputs: [phases/two/output/a.md]`"));
    assert_eq!(told.count(), 1, "{}", shown(&parsed.warnings));
    // One file of one phase in two ways.
    for twice in ["output: [new/a.md, modified/a.md]", "output: [output/a.md, phases/one/output/a.md]"] {
        let problems = problems(&plan(twice, "output: [b.md]"));
        let merge = problems.iter().find(|problem| problem.code == "HX0128").unwrap_or_else(|| panic!("{twice}"));
        assert!(merge.message.contains("`a.md`"), "{merge}");
    }
    let kept = [
        ("output: [new/a.md]", "output: [modified/a.md]"),
        ("output: [output/a.md]", "output: [phases/one/output/a.md]"),
        ("output: [a.md]", "outputs: [a.md]"),
        ("outputs: [output/a.md]", "outputs: [new/a.md]"),
    ];
    for (first, second) in kept {
        let parsed = parse(&plan(first, second));
        let modern = first.starts_with("outputs");
        assert_eq!(parsed.plan.phases[0].outputs, [if modern { "output/a.md" } else { "a.md" }]);
    }
    assert!(problems(&plan("output: [output/]", "output: [b]")).iter().any(|problem| problem.code == "HX0117"));
}

#[test]
fn references_follow_renamed_ids() {
    let parsed = parse(
        "name: n\nphases:\n  - { id: 1, type: decision, name: a }\n  - { id: \"2\", type: decision, name: b, depends_on: [1] }\n  - { id: Big_Step.v2, type: decision, name: c, dependencies: [2, \"1\"] }\n  - { id: last, type: decision, name: d, input_from: big_step.V2, depends_on: [2] }\n",
    );
    let edges: Vec<(&str, Vec<&str>)> = parsed
        .plan
        .phases
        .iter()
        .map(|phase| (phase.id.as_str(), phase.depends_on.iter().map(|id| id.as_str()).collect()))
        .collect();
    assert_eq!(
        edges,
        [("1", vec![]), ("2", vec!["1"]), ("big-step-v2", vec!["2", "1"]), ("last", vec!["2", "big-step-v2"])]
    );
    let same = problems(
        "name: n\nphases:\n  - { id: a_b, type: decision, name: a }\n  - { id: a-b, type: decision, name: b }\n",
    );
    assert!(same.iter().any(|problem| problem.code == "HX0112"), "{}", shown(&same));
    let lost = problems("name: n\nphases:\n  - { id: a, type: decision, name: a, input_from: Desing }\n");
    assert!(lost.iter().any(|problem| problem.code == "HX0113"), "{}", shown(&lost));
}

/// Phases of older plans run in the order of the file; what says an order itself keeps it, and no modern plan is changed.
#[test]
fn phases_of_older_plans_run_in_order() {
    let edges = |source: &str| -> Vec<String> {
        let parsed = parse(source);
        assert_modern(&parsed);
        let phases = parsed.plan.phases.iter();
        phases
            .map(|phase| {
                format!("{}<{}", phase.id, phase.depends_on.iter().map(|id| id.as_str()).collect::<Vec<_>>().join("+"))
            })
            .collect()
    };
    let plan = |rest: [&str; 4]| {
        let phases = ["a", "b", "c", "d"].iter().zip(rest);
        let phases = phases.map(|(id, rest)| format!("  - {{ id: {id}, type: decision, name: n{rest} }}\n"));
        format!("name: n\nphases:\n{}", phases.collect::<String>())
    };
    let older = ", max_retries: 1";
    assert_eq!(edges(&plan(["", "", "", older])), ["a<", "b<a", "c<b", "d<c"]);
    assert_eq!(edges(&plan([older, "", ", input_from: a", ""])), ["a<", "b<a", "c<a+b", "d<c"]);
    assert_eq!(edges(&plan([older, "", ", depends_on: [a]", ""])), ["a<", "b<a", "c<a", "d<c"]);
    assert_eq!(edges(&plan([older, "", ", depends_on: []", ""])), ["a<", "b<a", "c<", "d<c"]);
    // The order of the file is not the order of this plan.
    assert_eq!(edges(&plan([older, ", dependencies: [d]", "", ""])), ["a<", "b<d", "c<", "d<"]);
    assert_eq!(edges(&plan([""; 4])), ["a<", "b<", "c<", "d<"]);

    let parsed = parse(&plan([older, "", "", ""]));
    let told = parsed.warnings.iter().find(|warning| warning.message.contains("runs after")).unwrap();
    assert_eq!((told.code.as_str(), told.span.unwrap().line), ("HX0125", 4), "{told}");
    assert_eq!(told.help.as_deref(), Some("write `depends_on: [a]`"));
    assert!(
        parsed.explanation(|line| format!("line {line}")).contains("line 4\n- id: b\n+ depends_on: [a]\n"),
        "{}",
        parsed.explanation(|line| format!("line {line}"))
    );
}

#[test]
fn names_are_as_long_as_can_be_read() {
    let plan =
        parse(&format!("name: {}\nphases:\n  - {{ id: a, type: decision, description: d }}\n", "n".repeat(5_000))).plan;
    assert_eq!((plan.name.chars().count(), plan.name.ends_with('…')), (200, true), "{}", plan.name);
}

/// What older plans left out: the name is the directory's, a phase is development, and its id names it.
#[test]
fn what_older_plans_leave_out_is_filled_in() {
    let source = "phases:\n  - { id: a_b, output: [phases/a_b/output/modified/x.py] }\n  - { id: c, output: { files: [phases/c/output/modified/x.py] } }\n";
    let name = |file: &str| Plan::parse(file, source).unwrap().plan.name;
    assert_eq!(
        [name("projects/csv-export/phases.yaml"), name("/w/shop/phases.yaml"), name("export.yaml")],
        ["csv-export", "shop", "export"]
    );
    let parsed = parse(source);
    assert_modern(&parsed);
    let phase = &parsed.plan.phases[1];
    assert_eq!(
        (phase.name.as_str(), phase.kind.word(), &phase.outputs[..]),
        ("c", "development", &["x.py".to_owned()][..])
    );
    let told: Vec<&str> = parsed.warnings.iter().filter_map(|warning| warning.help.as_deref()).collect();
    for help in ["write `name: phases`", "write `type: development`", "write `name: c`", "write `depends_on: [a-b]`"] {
        assert!(told.contains(&help), "{help} in {told:?}");
    }
    let modern = problems("phases:\n  - { id: a, type: decision, name: d }\n");
    assert!(modern.iter().any(|problem| problem.code == "HX0108"), "only older plans may leave it out");
}

/// What is in no table is as wrong as ever: unknown keys, words, shapes and ids.
#[test]
fn what_is_no_known_old_form_stays_an_error() {
    let phase = |rest: &str| format!("name: n\nphases:\n  - {{ id: a, type: planning, description: d, {rest} }}\n");
    let cases = [
        (phase("ouput: [a]"), "HX0106"),
        (phase("config: { modle: a }"), "HX0106"),
        (phase("phase_config: { max_phase: 1 }"), "HX0106"),
        (phase("output: { file: [a] }"), "HX0106"),
        (phase("output: { from: a }"), "HX0106"),
        (phase("quality_gate: { type: syntax_check, pattern: x }"), "HX0106"),
        (phase("quality_gate: python_sytax"), "HX0110"),
        (phase("quality_gate: tests_pass"), "HX0108"),
        (phase("max_retries: many"), "HX0109"),
        (phase("max_retries: 4294967295"), "HX0109"),
        (phase("requires_approval: before"), "HX0109"),
        (phase("after_dynamic: dev"), "HX0109"),
        (phase("output: [[a]]"), "HX0109"),
        (phase("output: a, output: b"), "HX0107"),
        (phase("output: [output/../../x]"), "HX0117"),
        ("name: n\nproject: { nmae: x }\nphases:\n  - { id: a, type: decision, name: d }\n".into(), "HX0106"),
        ("name: n\nproject: x\nphases:\n  - { id: a, type: decision, name: d }\n".into(), "HX0109"),
        ("name: n\nphases:\n  - { id: Big Step, type: decision, name: d }\n".into(), "HX0111"),
        ("name: n\nphases:\n  - { id: a, type: meetings, name: d }\n".into(), "HX0110"),
    ];
    for (source, code) in cases {
        let problems = problems(&source);
        assert!(
            problems.iter().any(|problem| problem.code == code && problem.is_error()),
            "{source}\n{}",
            shown(&problems)
        );
        assert!(problems.iter().all(|problem| problem.help.is_some() && problem.span.is_some()));
    }
}

#[test]
fn gates_about_adrs_look_for_the_plans_adr() {
    let source = "name: n\nproject: { adr: adr/012-x.md }\nphases:\n  - { id: a, type: planning, description: d, gate: adr_files_exist }\n";
    assert_eq!(parse(source).plan.phases[0].gates, [GateSpec::FilesExist { files: vec!["adr/012-x.md".into()] }]);
    let named = "name: n\nphases:\n  - { id: a, type: planning, description: d, gate: { type: adr_files_exist, required_files: [new/adr/013-y.md] } }\n";
    assert_eq!(parse(named).plan.phases[0].gates, [GateSpec::FilesExist { files: vec!["adr/013-y.md".into()] }]);
}

/// What the phases of a small file share is written into each of them, and still cannot fill the memory.
#[test]
fn sharing_is_bounded() {
    let phases: String =
        (0..2000).map(|number| format!("  - {{ id: p{number}, type: decision, name: d }}\n")).collect();
    let many = format!("name: n\nskills: [{}]\nphases:\n{phases}", vec!["s"; 5000].join(", "));
    let generating = phases.replace("decision", "planning, generates_phases: true");
    let long = format!("name: n\nmax_dynamic_phases: {}\nphases:\n{generating}", "x".repeat(500_000));
    let after: String = (0..1000)
        .map(|number| {
            format!("  - {{ id: p{number}, type: planning, name: d, generates_phases: true, after_dynamic: true }}\n")
        })
        .collect();
    let squared = format!("name: n\nphases:\n{after}");
    let files = vec!["f"; 5000].join(", ");
    let joined = format!(
        "name: n\nphases:\n  - {{ id: a, type: planning, name: d, output: {{ directory: {}, expected_files: [{files}] }} }}\n",
        "d".repeat(500_000)
    );
    for source in [many, long, squared, joined] {
        let problems = problems(&source);
        assert_eq!(problems.iter().filter(|problem| problem.code == "HX0103").count(), 1);
    }
}

/// Fragments of phases; each proptest case takes some of them, and whatever is readable must survive the printing.
const FRAGMENTS: &[&str] = &[
    "name: \"  odd: # name \\u0085\\t\"",
    "description: \"line\\n  indented\\n\\nlast\\n\"",
    "description: \"line\\n \\n\\u2028end\"",
    "description: \"- a\\n- b\"",
    "input: docs/a.md",
    "input: { files: [docs/a.md], from: first }",
    "input_from: [first, First]",
    "output: new/a{n}.md",
    "output: { directory: output/d{n}, expected_files: [\"*.py\", b c] }",
    "outputs: [\"x{n}/**\"]",
    "quality_gate: python_syntax",
    "quality_gates: [{ type: tests_pass, test: \"pytest -q -k 'a b'\", timeout: 90s }, docs_refs_valid]",
    "gate: { type: review_approved, model: \"yes\" }",
    "gates: []",
    "gates: [{ type: adr_valid, file: a.md }, { type: manual, question: \"ok?\" }]",
    "verify_agent: reviewer",
    "verify: { model: haiku, timeout: 61s }",
    "requires_approval: true",
    "approval: after",
    "max_retries: 0",
    "dependencies: First",
    "after_dynamic: true",
    "generates_phases: true",
    "phase_config: { min_phases: 2, max_phases: 4, phase_template: t }",
    "config: { model: \"1\", skills: python, experts: [x], input_from: first }",
    "template: t",
    "optional: true",
    "on_failure: skip",
    "timeout: 3601s",
    "budget_usd: 0.1",
    "max_turns: 7",
    "agent: \"true\"",
];

const TOPS: &[&str] =
    &["max_retries: 1", "skills: [a, b]", "max_dynamic_phases: 2", "dynamic_phase_template: t", "complexity: major"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_normalised_plan_printed_in_the_modern_form_is_the_same_plan(
        tops in proptest::sample::subsequence(TOPS.to_vec(), 0..=3),
        phases in proptest::collection::vec(
            (proptest::sample::subsequence(FRAGMENTS.to_vec(), 0..=4), proptest::sample::select(vec!["planning", "meeting", "development", "hardware-test"])),
            1..4,
        ),
    ) {
        let mut source = String::from("name: n\n");
        for top in tops {
            source.push_str(&format!("{top}\n"));
        }
        source.push_str("phases:\n  - { id: First, type: decision, name: first }\n");
        for (number, (fragments, kind)) in phases.iter().enumerate() {
            source.push_str(&format!("  - id: P_{number}\n    type: {kind}\n"));
            if !fragments.iter().any(|fragment| fragment.starts_with("description") || fragment.starts_with("name")) {
                source.push_str("    description: d\n");
            }
            for fragment in fragments {
                source.push_str(&format!("    {}\n", fragment.replace("{n}", &number.to_string())));
            }
        }
        // Combinations that make no valid plan are drawn again; too many of them fail the test.
        prop_assume!(Plan::parse("phases.yaml", &source).is_ok());
        let parsed = parse(&source);
        prop_assert!(!parsed.normalised.is_empty());
        assert_modern(&parsed);
    }

    /// A damaged old plan is read or refused with reasons; what is read is modern afterwards.
    #[test]
    fn damaged_old_plans(from in 0_usize..1500, length in 0_usize..30, new in "(\\PC|\n|[:,{}\\[\\]]| ){0,6}") {
        for valid in [include_str!("fixtures/plans/old/numbered.yaml"), include_str!("fixtures/plans/old/dynamic.yaml")] {
            let characters: Vec<char> = valid.chars().collect();
            let from = from % characters.len();
            let rest = characters.iter().skip(from + length);
            let source: String = characters.iter().take(from).copied().chain(new.chars()).chain(rest.copied()).collect();
            match Plan::parse("phases.yaml", &source) {
                Ok(parsed) => assert_modern(&parsed),
                Err(problems) => {
                    prop_assert!(problems.iter().any(Diagnostic::is_error));
                    prop_assert!(problems.iter().all(|problem| problem.help.is_some()), "{}", shown(&problems));
                }
            }
        }
    }

    /// Any text survives as a name and a description, without quotes or with them.
    #[test]
    fn every_text_survives_the_printing(text in "(\\PC|[ \n\t:#'\"|>*&\u{85}\u{2028}\u{feff}\u{7f}\u{1}-]){1,30}", number in "[0-9.e+x_-]{1,6}") {
        let mut plan = parse("name: n\ndescription: d\nphases:\n  - { id: a, type: decision, name: b, description: d }\n").plan;
        for text in [text, number] {
            if text.trim().is_empty() {
                continue;
            }
            // Names are one line, of what can be seen.
            let name = helix_core::text::one_line(&helix_core::text::plain(&text), 200);
            let name = if name.is_empty() { text.escape_default().to_string() } else { name };
            plan.name.clone_from(&name);
            plan.description.clone_from(&text);
            plan.phases[0].name.clone_from(&name);
            plan.phases[0].description.clone_from(&text);
            let printed = plan.to_yaml();
            prop_assert_eq!(&parse(&printed).plan, &plan, "{}", printed);
        }
    }
}
