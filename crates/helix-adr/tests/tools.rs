//! Evidence of criteria, import of other forms, the graph, conflicts and concept coverage, as people meet them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use helix_adr::{
    Adr, AdrGraph, Block, KnownAdrs, Link, NoRepo, Proof, RepoFacts, blocks_of_adr, blocks_of_plan, check, concepts,
    coverage, import, parse_rules,
};
use helix_core::diagnostic::Diagnostic;
use helix_plan::Plan;
use proptest::prelude::*;

fn criterion(line: &str) -> Adr {
    Adr::parse("a.md", &format!("---\nadr_id: 1\n---\n## Acceptance criteria\n\n{line}\n"))
}

/// The evidence of a criterion as `kind value`.
fn evidence(line: &str) -> Vec<String> {
    let adr = criterion(line);
    assert_eq!(adr.criteria.len(), 1, "{line}");
    let proofs = adr.criteria[0].evidence.iter().map(|evidence| {
        let shown = adr.source.get(evidence.span.start..evidence.span.end).unwrap();
        match &evidence.proof {
            Proof::Test { name } => format!("test {name}"),
            Proof::TestCommand { line } => format!("tests {line}"),
            Proof::File { path } => format!("file {path}"),
            Proof::Command { line, exit, shows } => {
                assert!(shown.contains(line.split(' ').next().unwrap()), "{shown} is the place of {line}");
                format!(
                    "command {line} = {exit}{}",
                    shows.iter().map(|text| format!(" shows {text}")).collect::<String>()
                )
            }
        }
    });
    let mut all: Vec<String> = proofs.collect();
    all.extend(adr.criteria[0].unusable.iter().map(|unusable| format!("unusable: {}", unusable.message)));
    all
}

/// Time grows with the evidence that a criterion names, not with its square.
#[test]
fn criteria_with_much_evidence_are_read_once() {
    let files: String = (0..60_000).map(|number| format!("(file: `a/{number}.md`) ")).collect();
    for evidence in [files, "`Foo/x` shows ".repeat(60_000)] {
        let started = std::time::Instant::now();
        assert_eq!(criterion(&format!("- [ ] x {evidence}")).criteria.len(), 1);
        assert!(started.elapsed().as_secs() < 15, "{:?}", started.elapsed());
    }
}

/// Evidence is written as people write it, in English and German, and prose is not taken for it.
#[test]
fn evidence_is_read_as_people_write_it() {
    for (line, expected) in [
        ("- [ ] Totals add up — test: tests/test_x.py::test_y", vec!["test tests/test_x.py::test_y"]),
        ("- [ ] Totals add up - test: `tests/test_x.py::test_y`.", vec!["test tests/test_x.py::test_y"]),
        ("- [ ] Totals add up (test: tests/test_x.py::test_y[a, b])", vec!["test tests/test_x.py::test_y[a, b]"]),
        ("- [ ] Totals. Test: tests/a.test.js > adds two numbers", vec!["test tests/a.test.js > adds two numbers"]),
        (
            "- [ ] Totals. **Tests:** `cart::tests::adds`, `cart::tests::removes`",
            vec!["test cart::tests::adds", "test cart::tests::removes"],
        ),
        ("- [ ] Totals — tests: a_test.go, b_test.go passes", vec!["test a_test.go", "test b_test.go"]),
        ("- [ ] Totals — test: `pytest -q tests`", vec!["tests pytest -q tests"]),
        ("- [ ] Described (file: docs/export.md)", vec!["file docs/export.md"]),
        ("- [ ] Described (file: [docs/export.md](../docs/export.md#top))", vec!["file docs/export.md"]),
        ("- [ ] Package (file: src/__init__.py)", vec!["file src/__init__.py"]),
        (
            "- [ ] Beides; Datei: docs/a.md, docs/b.md; Befehl: `make check`",
            vec!["file docs/a.md", "file docs/b.md", "command make check = 0"],
        ),
        ("- [ ] Gut — Prüfung: `./ci.sh` endet mit 3", vec!["command ./ci.sh = 3"]),
        ("- [ ] `pytest -q` passes", vec!["command pytest -q = 0"]),
        ("- [ ] `make` läuft fehlerfrei durch", vec!["command make = 0"]),
        (
            "- [ ] `cart show a` exits with code 2 and prints `no such cart`",
            vec!["command cart show a = 2 shows no such cart"],
        ),
        ("- [ ] `cart total` shows `12` and `EUR`", vec!["command cart total = 0 shows 12 shows EUR"]),
        ("- [ ] `cart total` zeigt die Zeile `Summe 12`", vec!["command cart total = 0 shows Summe 12"]),
        ("- [ ] All recordings are classified (`cargo test -p x golden`).", vec!["command cargo test -p x golden = 0"]),
        ("- [ ] The page is there (`docs/a.md`)", vec!["file docs/a.md"]),
        ("- [ ] It adds — `tests/test_a.py::test_b`", vec!["test tests/test_a.py::test_b"]),
        (
            "- [ ] Nachgewiesen\n  - Test: tests/test_a.py::test_b\n  - Datei: docs/a.md",
            vec!["test tests/test_a.py::test_b", "file docs/a.md"],
        ),
        ("- [ ] A comment counts <!-- test: t/test_a.py::b -->", vec!["test t/test_a.py::b"]),
        // Prose and values are no evidence.
        ("- [ ] A failing test: the message names the file", vec![]),
        ("- [ ] The default stays — `false`", vec![]),
        ("- [ ] `adr_id` besteht aus Ziffern", vec![]),
        ("- [ ] `total()` returns 0", vec![]),
        ("- [ ] `cart export cart.json` writes one line for each item", vec![]),
        ("- [ ] See https://example.org/file: it has more", vec![]),
        ("- [ ] `Error: no file` is shown", vec![]),
        // What is meant and cannot be used is said.
        ("- [ ] Done — test: see above", vec!["tests see above"]),
        ("- [ ] Done — test: Everything", vec!["unusable: `Everything` is not a test"]),
        (
            "- [ ] Done (file: ../secret)",
            vec!["unusable: `../secret` is not usable as evidence: the path leaves the repository with `..`"],
        ),
        (
            "- [ ] Done (command: `a | b`)",
            vec!["unusable: `a | b` cannot be run: `|` is shell syntax, and Helix runs commands without a shell"],
        ),
    ] {
        assert_eq!(evidence(line), expected, "{line}");
    }
}

#[test]
fn unusable_evidence_is_a_warning_with_its_place() {
    let adr = criterion("- [ ] Everything is exported (command: `a && b`)");
    let problem = check(&adr, &NoRepo).into_iter().find(|problem| problem.code == "HX0229").unwrap();
    assert!(!problem.is_error() && problem.help.is_some());
    let span = problem.span.unwrap();
    assert_eq!(&adr.source[span.start..span.end], "a && b");
}

fn foreign() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/adrs/foreign");
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// The words of a text in their order, without marks of Markdown.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Every word of the source that is no renamed heading is in the result, as often as it was.
fn nothing_is_lost(source: &str, result: &str) {
    let count = |text: &str| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for word in words(text) {
            *counts.entry(word).or_default() += 1;
        }
        counts
    };
    let renamed = ["and", "Problem", "Statement", "Outcome", "und", "Problemstellung", "Entscheidungsergebnis"];
    let after = count(result);
    for (word, times) in count(source) {
        let slack = if renamed.contains(&word.as_str()) { 1 } else { 0 };
        assert!(after.get(&word).copied().unwrap_or(0) + slack >= times, "{word:?} is lost:\n{result}");
    }
}

#[test]
fn madr_and_nygard_files_are_imported_whole() {
    for (name, source) in foreign() {
        let file = format!("docs/decisions/{name}");
        let adr = Adr::parse(&file, &source);
        let problems = check(&adr, &NoRepo);
        assert_eq!(problems, [], "nothing is wrong with a file that is in another form");
        let number = adr.number().unwrap();
        let imported = import(&adr, number, &BTreeMap::from([(9, 19)])).unwrap();
        nothing_is_lost(&source, &imported.text);
        let again = Adr::parse(&format!("adr/{number:03}-x.md"), &imported.text);
        let errors: Vec<Diagnostic> = check(&again, &NoRepo).into_iter().filter(Diagnostic::is_error).collect();
        assert_eq!(errors, [], "{}", imported.text);
        assert!(import(&again, 1, &BTreeMap::new()).is_err(), "it is in Helix's form now");
        let text = format!("{}\n{:?}\n===\n{}", imported.form, imported.notes, imported.text);
        insta::with_settings!({ snapshot_suffix => name.trim_end_matches(".md"), omit_expression => true }, {
            insta::assert_snapshot!(text);
        });
        // Typed on another system, it is the same.
        let windows = import(&Adr::parse(&file, &source.replace('\n', "\r\n")), number, &BTreeMap::from([(9, 19)]));
        assert_eq!(windows.unwrap().text, imported.text, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sentence_of_any_nygard_file_is_lost(
        parts in proptest::collection::vec("((# |## Notes|### |- \\[ \\] |- |```|> |  |\\* |1\\. |\\||<!-- |-->|word |ä |\\*\\*|Date: |Status: |---)( |\n|\n\n)){0,12}", 4),
    ) {
        let [top, status, context, rest] = parts.try_into().unwrap();
        let source = format!("# 7. Title\n{top}\n\n## Status\n\nAccepted\n{status}\n\n## Context\n\n{context}\n\n## Decision\n\nSo.\n\n{rest}\n");
        let adr = Adr::parse("0007-title.md", &source);
        if let Ok(imported) = import(&adr, 7, &BTreeMap::new()) {
            nothing_is_lost(&source, &imported.text);
            prop_assert!(Adr::parse("a.md", &imported.text).front.is_some_and(|front| front.adr_id.is_some()));
        }
    }

    #[test]
    fn no_criterion_whatever_panics(line in "(\\PC|`|test: |\\(file: |Befehl: |[*_,;)—]|\n  - |exits 1| shows ){0,30}") {
        let adr = criterion(&format!("- [ ] {line}"));
        for criterion in &adr.criteria {
            for evidence in &criterion.evidence {
                prop_assert!(adr.source.get(evidence.span.start..evidence.span.end).is_some());
            }
        }
    }
}

fn linked(id: u32, title: &str, front: &str) -> Adr {
    let title = title.replace('\\', "\\\\").replace('"', "\\\"");
    let source = format!("---\nadr_id: {id}\ntitle: \"{title}\"\nstatus: Accepted\n{front}---\n# x\n");
    Adr::parse(&format!("adr/{id:03}-x.md"), &source)
}

#[test]
fn the_graph_shows_links_cycles_and_hostile_titles() {
    let adrs = [
        linked(1, "Plain", "superseded_by: 2\n"),
        linked(2, "A \"quoted\"] --> <script>alert(1)</script> \\ `end`; %% #", "supersedes: 1\nrelated_to: [1, 3]\n"),
        linked(3, "Round", "depends_on: [4]\nrelated_to: 2\n"),
        linked(4, "and round", "depends_on: [5]\n"),
        linked(5, "again", "depends_on: [3, 99]\n"),
    ];
    let graph = AdrGraph::new(&adrs);
    insta::assert_snapshot!("graph_mermaid", graph.to_mermaid());
    insta::assert_snapshot!("graph_dot", graph.to_dot());
    assert!(!graph.to_mermaid().contains("<script") && !graph.to_mermaid().contains("`end`"));
    let cycles: Vec<String> = graph.cycles.iter().map(|cycle| format!("{} {cycle}", cycle.link.word())).collect();
    assert_eq!(cycles, ["depends on ADR-003 → ADR-004 → ADR-005 → ADR-003"]);
    let back: AdrGraph = serde_json::from_value(serde_json::to_value(&graph).unwrap()).unwrap();
    assert_eq!(back, graph);
}

/// A chain of 10,000 decisions neither overflows the stack nor takes long, and a cycle through all of them is found.
#[test]
fn long_chains_are_walked_once() {
    let started = std::time::Instant::now();
    let mut adrs: Vec<Adr> = (2..=10_000).map(|id| linked(id, "x", &format!("depends_on: {}\n", id - 1))).collect();
    adrs.push(linked(1, "x", ""));
    assert_eq!(AdrGraph::new(&adrs).cycles, []);
    adrs.pop();
    adrs.push(linked(1, "x", "depends_on: 10000\n"));
    assert_eq!(AdrGraph::new(&adrs).cycles[0].members.len(), 10_000);
    // Each of them is told of the cycle, and none searches it anew.
    let facts = Claims(KnownAdrs::new(&adrs));
    for adr in &adrs {
        let cycle = check(adr, &facts).into_iter().find(|one| one.code == "HX0230").unwrap();
        let own = adr.id().unwrap();
        assert!(cycle.message.ends_with(&format!(" → 9988 more → {own}")), "{own}: {}", cycle.message);
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

struct Claims(KnownAdrs);

impl RepoFacts for Claims {
    fn exists(&self, _: &str) -> Option<bool> {
        None
    }
    fn adrs(&self) -> Option<&KnownAdrs> {
        Some(&self.0)
    }
}

/// A new decision is told whom it meets, unless it says so itself.
#[test]
fn a_decision_about_a_claimed_file_is_told_so() {
    let accepted = [
        linked(4, "Carts", "files: {modify: [src/cart.py, docs/]}\n"),
        linked(5, "Globs", "files: {create: ['src/**/*.ts']}\n"),
        Adr::parse("adr/006-x.md", "---\nadr_id: 6\ntitle: x\nstatus: Rejected\nfiles: {modify: [src/cart.py]}\n---\n"),
    ];
    let facts = Claims(KnownAdrs::new(&accepted));
    let told = |front: &str| -> Vec<String> {
        let source = format!("---\nadr_id: draft\ntitle: x\nstatus: Proposed\n{front}---\n");
        let problems = check(&Adr::parse("draft.md", &source), &facts);
        problems.iter().filter(|one| one.code == "HX0231").map(|one| one.message.clone()).collect()
    };
    let files = "files: {modify: [src/cart.py, src/a/b.ts, docs/x.md, src/other.py]}\n";
    assert_eq!(
        told(files),
        [
            "`src/cart.py` is claimed by ADR-004 (Carts), which this decision does not refer to",
            "`src/a/b.ts` is claimed by ADR-005 (Globs), which this decision does not refer to",
            "`docs/x.md` is claimed by ADR-004 (Carts), which this decision does not refer to",
        ]
    );
    assert_eq!(told(&format!("{files}depends_on: 4\nsupersedes: 5\n")), Vec::<String>::new());
    assert_eq!(told("files: {create: ['src/*.py']}\n").len(), 1, "a glob meets the files that it names");
    assert_eq!(
        told("files: {modify: [src]}\n"),
        ["`src` is claimed by ADR-005 (Globs) and ADR-004 (Carts), which this decision does not refer to"],
        "a directory meets what lies in it"
    );
    assert_eq!(told("files: {modify: ['**/*.py']}\n").len(), 1, "a glob without a directory meets what lies in any");
    // The older of two is not told: it was there first.
    let source = "---\nadr_id: 3\ntitle: x\nstatus: Accepted\nfiles: {modify: [src/cart.py]}\ndepends_on: 8\n---\n";
    let older = check(&Adr::parse("adr/003-x.md", source), &facts);
    assert!(older.iter().all(|one| one.code != "HX0231"), "{older:?}");
}

#[test]
fn a_cycle_of_dependencies_is_a_warning() {
    let facts = Claims(KnownAdrs::new(&[linked(8, "x", "depends_on: 9\n")]));
    let source = "---\nadr_id: 9\ntitle: x\nstatus: Accepted\ndepends_on: 8\n---\n";
    let problems = check(&Adr::parse("adr/009-x.md", source), &facts);
    let cycle = problems.iter().find(|one| one.code == "HX0230").unwrap();
    assert_eq!(cycle.message, "ADRs depend on each other in a cycle: ADR-009 → ADR-008 → ADR-009");
    assert!(!cycle.is_error());
    assert_eq!(AdrGraph::new(&[linked(1, "x", "supersedes: 1\n")]).cycles[0].link, Link::Supersedes);
}

#[test]
fn concepts_are_found_again_in_both_languages() {
    let paper = "# Konzept\n\n## Inhalt\n\n## 1. Fehlerbehandlung\n\n```\n## kein Konzept\n```\n\n## Datenmodell\n\n## Export als CSV\n\n## Barrierefreiheit\n";
    let source = Adr::parse("docs/konzept.md", paper);
    let target = Adr::parse(
        "a.md",
        "---\nadr_id: 1\n---\n## Context\n\n## Error handling\n\nText.\n\n## Decision\n\nThe data of each model. CSV is written by an export.\n",
    );
    let covered = coverage(concepts(&source), &blocks_of_adr(&target));
    let shown: Vec<String> = covered
        .iter()
        .map(|one| {
            let by = one.covered_by.as_ref().map_or("-", |by| by.block.as_str());
            format!("{}:{} {} = {by}", one.concept.file, one.concept.span.line, one.concept.text)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "docs/konzept.md:5 1. Fehlerbehandlung = section Error handling",
            "docs/konzept.md:11 Datenmodell = section Decision",
            "docs/konzept.md:13 Export als CSV = section Decision",
            "docs/konzept.md:15 Barrierefreiheit = -",
        ]
    );
    let decision = Adr::parse(
        "adr/001-x.md",
        "---\nadr_id: 1\nfiles: {create: [src/export.py, src/forgotten.py]}\n---\n## Decision\n\n### Quoting of names\n\n## Consequences\n\n### Slow\n",
    );
    let plan = Plan::parse("p.yaml", "name: p\nphases:\n  - id: a\n    name: Names are put in quotes\n    type: development\n    description: Quoting happens for names.\n    outputs: [src/export.py]\n").unwrap().plan;
    let missing: Vec<String> = coverage(concepts(&decision), &blocks_of_plan(&plan))
        .into_iter()
        .filter(|one| one.covered_by.is_none())
        .map(|one| one.concept.text)
        .collect();
    assert_eq!(missing, ["src/forgotten.py"]);
}

/// Each file is looked up where it can lie, not compared with all that the target claims.
#[test]
fn many_files_are_found_again_at_once() {
    let files: Vec<String> = (0..2_000).map(|number| format!("src/{number}/x.py")).collect();
    let front = format!("---\nadr_id: 1\nfiles: {{modify: [{}, lib/a.py]}}\n---\n", files.join(", "));
    let claims = files.iter().map(String::as_str).chain(["lib/", "lib/*.py"]);
    let block = |file: &str| Block {
        label: file.to_owned(),
        line: None,
        heading: String::new(),
        text: String::new(),
        files: vec![file.to_owned()],
    };
    let blocks: Vec<Block> = claims.map(block).collect();
    let started = std::time::Instant::now();
    let covered = coverage(concepts(&Adr::parse("a.md", &front)), &blocks);
    assert!(started.elapsed().as_secs() < 15, "{:?}", started.elapsed());
    let by: Vec<&str> = covered.iter().map(|one| one.covered_by.as_ref().unwrap().block.as_str()).collect();
    assert_eq!(by[..files.len()], files);
    assert_eq!(by[files.len()..], ["lib/"], "the first block that claims it");
}

/// Rules that check nothing are refused with their place.
#[test]
fn rules_that_check_nothing_are_refused() {
    let rule = |id: &str, require: &str| {
        format!(
            "rules:\n  - id: first\n    severity: warning\n    require: [{{criteria: {{min: 4}}}}]\n    fix: more\n  - id: {id}\n    severity: error\n    require: {require}\n    fix: mend it\n"
        )
    };
    for (id, require, message) in [
        ("a", "[]", "the rule \"a\" requires nothing"),
        ("a", "[{phrase: {any: []}}]", "the rule \"a\" has an empty phrase or a count of 0"),
        ("a", "[{phrase: {any: ['*']}}]", "the rule \"a\" has an empty phrase or a count of 0"),
        ("a", "[{criteria: {min: 0}}]", "the rule \"a\" has an empty phrase or a count of 0"),
        ("first", "[{criteria: {min: 1}}]", "duplicate rule \"first\""),
        ("three-criteria", "[{criteria: {min: 1}}]", "duplicate rule \"three-criteria\""),
        ("' '", "[{criteria: {min: 1}}]", "a rule has no `id` or no `fix`"),
    ] {
        let problem = parse_rules("adr/rules.yaml", &rule(id, require)).unwrap_err();
        assert_eq!((problem.code.as_str(), problem.message.as_str()), ("HX0228", message));
        assert_eq!(problem.span.unwrap().line, 6, "{problem}");
        assert!(problem.help.is_some());
    }
    assert_eq!(parse_rules("r.yaml", &rule("a", "[{criteria: {min: 5}}]")).unwrap().len(), 2);
}
