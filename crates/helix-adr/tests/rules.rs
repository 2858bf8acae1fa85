//! What people see when an ADR is wrong, and that template, rules, docs and pages are one thing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use helix_adr::{
    Acceptance, Adr, AdrId, ChangeScope, Classification, ComponentType, KnownAdrs, Language, NoRepo, Numbering,
    RepoFacts, SectionKind, Status, TemplateRequest, built_in_rules, check, codes, complete, index_markdown,
    parse_rules, rules_markdown, template,
};
use helix_core::diagnostic::{Diagnostic, Severity};

/// A repository made of a list of files and of its decisions.
#[derive(Default)]
struct Repo {
    files: Vec<&'static str>,
    known: KnownAdrs,
}

impl RepoFacts for Repo {
    fn exists(&self, path: &str) -> Option<bool> {
        Some(self.files.contains(&path))
    }
    fn adrs(&self) -> Option<&KnownAdrs> {
        Some(&self.known)
    }
}

/// Decisions by their files, each with a line of front matter.
fn known(adrs: &[(&str, &str)]) -> KnownAdrs {
    let text = |front: &str| format!("---\ntitle: x\nstatus: Accepted\n{front}\n---\n");
    let adrs: Vec<Adr> = adrs.iter().map(|(file, front)| Adr::parse(file, &text(front))).collect();
    KnownAdrs::new(&adrs)
}

fn repo() -> Repo {
    Repo { files: vec!["README.md"], known: known(&[("adr/003-x.md", ""), ("adr/007-x.md", "")]) }
}

fn shown(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}

fn fixtures(kind: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/adrs").join(kind);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn good_adrs_are_valid_and_complete_in_both_languages() {
    for (name, source) in fixtures("good") {
        let adr = Adr::parse(&name, &source);
        assert_eq!(shown(&check(&adr, &repo())), "", "{name}");
        assert_eq!(shown(&complete(&adr, &built_in_rules())), "", "{name}");
    }
}

#[test]
fn bad_adrs_name_every_problem_with_place_and_remedy() {
    for (name, source) in fixtures("bad") {
        let adr = Adr::parse(&name, &source);
        let problems = check(&adr, &repo());
        assert!(problems.iter().any(Diagnostic::is_error), "{name}");
        for problem in &problems {
            assert!(problem.help.is_some() && problem.span.is_some(), "{name}: {problem}");
        }
        let text = format!("{}--- completeness\n{}", shown(&problems), shown(&complete(&adr, &built_in_rules())));
        insta::with_settings!({ snapshot_suffix => name.trim_end_matches(".md"), omit_expression => true }, {
            insta::assert_snapshot!(text);
        });
    }
}

/// A heading in a code fence is none, and criteria in subsections and nested lists count.
#[test]
fn the_tree_follows_markdown_and_not_lines() {
    let source = include_str!("fixtures/adrs/good/012-csv-export.md");
    let adr = Adr::parse("a.md", source);
    let headings: Vec<&str> = adr.sections.iter().map(|section| section.heading.as_str()).collect();
    assert_eq!(
        headings,
        [
            "CSV export",
            "Context",
            "Decision",
            "Implementation",
            "Documentation",
            "Acceptance criteria",
            "Function",
            "Errors",
            "Consequences"
        ]
    );
    let criteria: Vec<(&str, bool, u32)> =
        adr.criteria.iter().map(|item| (item.text.as_str(), item.checked, item.span.line)).collect();
    assert_eq!(
        criteria,
        [
            ("cart export cart.json writes one line for each item", true, 54),
            ("A comma in a name is quoted", false, 55),
            ("A missing file gives exit code 2", true, 59),
            ("and its name is in stderr", false, 60),
        ]
    );
    assert!(source[adr.criteria[1].span.start..].starts_with("- [ ] A comma"));
    assert_eq!(adr.section_text(SectionKind::Decision).unwrap().trim(), "Rows are written as RFC 4180 CSV.");
    assert!(source[adr.code_blocks[0].range.clone()].starts_with("```markdown"));
    let front = adr.front.unwrap();
    assert_eq!(front.status.unwrap().value, Status::Accepted, "read whatever its case");
    assert_eq!(front.related_to[0].value, AdrId::Number(7));
}

#[test]
fn places_are_right_behind_byte_order_marks_and_carriage_returns() {
    let source = "\u{feff}---\r\nadr_id: 1\r\ntitle: x\r\nstatus: Propsed\r\n---\r\n# a\r\n## Context\r\nx\r\n";
    let adr = Adr::parse("a.md", source);
    let problem = check(&adr, &NoRepo).into_iter().find(|problem| problem.code == "HX0207").unwrap();
    let span = problem.span.unwrap();
    assert_eq!((span.line, span.column, &source[span.start..span.end]), (4, 9, "Propsed"));
    assert_eq!(&source[adr.sections[1].heading_range.clone()], "## Context");
}

/// The skeleton that is offered is the one that is accepted, for every kind of change in both languages.
#[test]
fn a_filled_in_template_is_valid_and_complete() {
    let mut count = 0;
    for language in [Language::English, Language::German] {
        for (_, component_type) in ComponentType::WORDS {
            for (_, classification) in Classification::WORDS {
                for (_, change_scope) in ChangeScope::WORDS {
                    for creates in [vec![], vec!["src/größe.py".to_owned(), "docs/new guide.md".into()]] {
                        let request = TemplateRequest {
                            language,
                            title: "A \"quoted\" title: with | signs".into(),
                            component_type: *component_type,
                            classification: *classification,
                            change_scope: *change_scope,
                            creates,
                        };
                        let text = fill_in(&template(&request));
                        let adr = Adr::parse("draft.md", &text);
                        assert_eq!(shown(&check(&adr, &NoRepo)), "", "{request:?}\n{text}");
                        assert_eq!(shown(&complete(&adr, &built_in_rules())), "", "{request:?}\n{text}");
                        count += 1;
                    }
                }
            }
        }
    }
    assert_eq!(count, 2 * 10 * 5 * 5 * 2);
}

/// Puts a text where the template asks for one.
fn fill_in(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        out.push_str("filled in by hand");
        rest = after.split_once('>').unwrap().1;
    }
    out + rest
}

#[test]
fn a_template_is_what_people_start_from() {
    let request = TemplateRequest {
        language: Language::English,
        title: "CSV export".into(),
        component_type: ComponentType::Tool,
        classification: Classification::New,
        change_scope: ChangeScope::Major,
        creates: vec!["src/export.py".into()],
    };
    insta::assert_snapshot!(template(&request));
}

#[test]
fn no_breaking_change_needs_no_migration() {
    let adr = |text: &str| {
        let source = format!(
            "---\nadr_id: 1\ntitle: x\nstatus: Proposed\n---\n## Context\n{text}\n## Acceptance criteria\n- [ ] a\n- [ ] b\n- [ ] c\n"
        );
        complete(&Adr::parse("a.md", &source), &built_in_rules())
    };
    assert_eq!(adr("There are no breaking changes, it is non-breaking."), []);
    assert!(shown(&adr("This is a breaking change.")).contains("breaking-change: the section Migration is missing"));
    assert!(!adr("There are no breaking changes, but one breaking renaming.").is_empty());
}

#[test]
fn what_files_are_checked_for_follows_from_the_state_of_the_decision() {
    let source = include_str!("fixtures/adrs/good/012-csv-export.md");
    let there = Repo { files: vec!["src/export.py"], ..repo() };
    let codes = |source: &str| -> Vec<String> {
        check(&Adr::parse("012-x.md", source), &there).into_iter().map(|problem| problem.code).collect()
    };
    let stated = |status: &str| codes(&source.replace("status: accepted", &format!("status: {status}")));
    // What has its number may be there already: then it has been carried out. What is to be changed must be there.
    assert_eq!(stated("Proposed"), ["HX0212"]);
    assert_eq!(stated("Accepted"), ["HX0212"]);
    // What is said to be done must be there.
    assert_eq!(stated("Implemented"), ["HX0233"]);
    assert_eq!(stated("Superseded"), Vec::<String>::new());
    // A draft is no decision yet, whatever it says.
    let draft = source.replace("adr_id: \"012\"", "adr_id: draft");
    assert_ne!(draft, source);
    assert_eq!(codes(&draft)[..2], ["HX0213", "HX0212"]);
}

#[test]
fn the_state_is_written_in_both_places_and_boxes_are_ticked_by_what_they_say() {
    let english = "---\nadr_id: draft\ntitle: T\nstatus: proposed # yes\n---\n## Status\n\nProposed, since May.\n\n## Context\nc [ ] c\n\n## Decision\nd\n\n## Acceptance criteria\n- [ ] one (test: `a::b`)\n- [x] two\n* [ ] three\n";
    let finalized = Adr::parse("a.md", english).with_id_and_status(AdrId::Number(7), Status::Accepted).unwrap();
    let expected = english
        .replace("adr_id: draft", "adr_id: \"007\"")
        .replace("status: proposed #", "status: Accepted #")
        .replace("Proposed, since", "Accepted, since");
    assert_eq!(finalized, expected);
    let german = english.replace("Proposed, since May", "**Vorgeschlagen** (seit Mai)").replace("Context", "Kontext");
    let finalized = Adr::parse("a.md", &german).with_id_and_status(AdrId::Number(7), Status::Accepted).unwrap();
    assert!(finalized.contains("**Angenommen** (seit Mai)"), "{finalized}");
    let differs = |text: &str| check(&Adr::parse("007-a.md", text), &NoRepo).iter().any(|one| one.code == "HX0227");
    assert!(!differs(&finalized) && differs(&finalized.replace("Angenommen", "Abgelehnt")), "{finalized}");
    // Words that name no state are the author's.
    let free = english.replace("Proposed, since May.", "We talk about it.");
    let written = Adr::parse("a.md", &free).with_id_and_status(AdrId::Number(7), Status::Accepted).unwrap();
    assert!(written.contains("We talk about it."), "{written}");

    let adr = Adr::parse("a.md", english);
    let texts: Vec<String> = adr.criteria.iter().map(|one| one.text.clone()).collect();
    let some = adr.with_met_criteria(&texts[..1], None).unwrap();
    assert_eq!(some, english.replace("- [ ] one", "- [x] one"));
    let all = adr.with_met_criteria(&texts, Some(Status::Implemented)).unwrap();
    let expected = some
        .replace("* [ ] three", "* [x] three")
        .replace("status: proposed #", "status: Implemented #")
        .replace("Proposed, since", "Implemented, since");
    assert_eq!(all, expected);
    assert!(Adr::parse("a.md", &all).criteria.iter().all(|one| one.checked));
}

/// A decision that is to be carried out again: what it did not say at first is open, everything else stays.
#[test]
fn a_reopened_decision_is_accepted_and_its_criteria_are_open_again() {
    let before = "---\nadr_id: \"001\"\ntitle: T\nstatus: Accepted # set\n---\n# T\n\n## Status\n\nAngenommen, seit Mai\n\n## Acceptance criteria\n- [x] Old\n- [ ] New\n";
    let now = before
        .replace("status: Accepted", "status: Implemented")
        .replace("Angenommen", "Umgesetzt")
        .replace("[ ]", "[x]");
    let text = Adr::parse("a.md", &now).reopened(&Adr::parse("a.md", before), "Reopened.");
    assert_eq!(text, format!("{before}\n> Reopened.\n"));
    // One that was given up stays so.
    let gone = now.replace("status: Implemented", "status: Superseded");
    let text = Adr::parse("a.md", &gone).reopened(&Adr::parse("a.md", before), "Reopened.");
    assert!(text.contains("status: Superseded") && text.contains("> Reopened."), "{text}");
}

/// "Implemented" is what somebody wrote; what is not there is not implemented.
#[test]
fn an_implemented_decision_has_its_files() {
    let source = include_str!("fixtures/adrs/good/012-csv-export.md").replace("accepted", "Implemented");
    let missing = |files: &[&'static str]| -> Vec<String> {
        let there = Repo { files: files.to_vec(), ..repo() };
        let problems = check(&Adr::parse("012-x.md", &source), &there);
        assert!(
            problems.iter().all(|one| one.code == "HX0233" && !one.is_error() && one.span.is_some()),
            "{problems:?}"
        );
        problems.into_iter().map(|one| one.message).collect()
    };
    assert_eq!(missing(&["src/export.py", "README.md"]), Vec::<String>::new());
    let one = "the status is Implemented, but `src/export.py` does not exist";
    assert_eq!(missing(&["README.md"]), [one]);
    let removed = source.replace("  modify: [", "  delete: [");
    let there = Repo { files: vec!["src/export.py", "README.md"], ..repo() };
    let problems = check(&Adr::parse("012-x.md", &removed), &there);
    let messages: Vec<&str> = problems.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(messages, ["the status is Implemented, but `README.md` still exists"]);
}

/// The same fact in two places.
#[test]
fn a_state_that_the_text_denies_is_told() {
    let source = include_str!("fixtures/adrs/good/012-csv-export.md");
    let with = |section: &str| -> Vec<(String, String)> {
        let source = format!("{source}\n## Status\n\n{section}\n");
        let problems = check(&Adr::parse("012-x.md", &source), &repo());
        problems.into_iter().map(|one| (one.code, one.message)).collect()
    };
    for agrees in ["Accepted", "accepted on Monday", "", "Decided last week, implemented since."] {
        assert!(with(agrees).iter().all(|(code, _)| code != "HX0227"), "{agrees:?}: {:?}", with(agrees));
    }
    for (says, word) in
        [("Proposed", "Proposed"), ("**Implemented** in May", "Implemented"), ("- rejected", "rejected")]
    {
        let message = format!("this section says {word}, the front matter says Accepted");
        assert!(with(says).contains(&("HX0227".into(), message)), "{says:?}: {:?}", with(says));
    }
}

#[test]
fn cycles_and_collisions_are_errors() {
    let source = "---\nadr_id: 1\ntitle: x\nstatus: Proposed\nsupersedes: [2, 4]\n---\n";
    let facts = Repo {
        files: Vec::new(),
        known: known(&[
            ("adr/001-x.md", "supersedes: 2"),
            ("adr/001-y.md", ""),
            ("adr/002-x.md", "supersedes: 3"),
            ("adr/003-x.md", "supersedes: [2, 1]"),
            ("adr/004-x.md", "supersedes: 4"),
        ]),
    };
    let problems = check(&Adr::parse("adr/001-x.md", source), &facts);
    let messages: Vec<&str> = problems
        .iter()
        .filter(|problem| matches!(problem.code.as_str(), "HX0215" | "HX0216"))
        .map(|problem| problem.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "ADR-001 is also the number of adr/001-y.md",
            "ADRs supersede each other in a cycle: ADR-001 → ADR-002 → ADR-003 → ADR-001"
        ]
    );
}

#[test]
fn finalizing_changes_two_values_and_no_other_byte() {
    let source = include_str!("fixtures/adrs/good/012-csv-export.md");
    let text = Adr::parse("a.md", source).with_id_and_status(AdrId::Number(42), Status::Implemented).unwrap();
    assert_eq!(
        text,
        source
            .replace("adr_id: \"012\"", "adr_id: \"042\"")
            .replace("status: accepted   # set", "status: Implemented   # set")
    );
    assert_eq!(Adr::parse("a.md", &text).front.unwrap().adr_id.unwrap().value, AdrId::Number(42));
    assert!(Adr::parse("a.md", "# x").with_id_and_status(AdrId::Number(1), Status::Accepted).is_err());
}

#[test]
fn the_index_is_generated_from_the_files() {
    let mut adrs: Vec<Adr> =
        fixtures("good").into_iter().rev().map(|(name, source)| Adr::parse(&name, &source)).collect();
    adrs.push(Adr::parse("draft.md", "---\nadr_id: draft\ntitle: x\nstatus: Proposed\n---\n"));
    insta::assert_snapshot!(index_markdown(&adrs), @r"
    # Architecture decisions

    Generated by `helix adr index`; changes made by hand are lost.

    | number | title | status | criteria met |
    |---|---|---|---|
    | 012 | [CSV export](012-csv-export.md) | Accepted | 2 of 4 |
    | 013 | [Größen statt Zahlen](013-groessen.md) | Proposed | 0 of 3 |
    ");
    assert_eq!(Numbering::HELIX.file_name(13, "Größen statt Zahlen"), "013-groessen-statt-zahlen.md");
}

#[test]
fn a_repository_adds_rules_of_the_same_type() {
    let source = "rules:\n  - id: security\n    severity: warning\n    when: [{component: SERVICE}]\n    require: [{phrase: {any: [threat*]}}]\n    fix: name the threats\n";
    let rules = parse_rules("adr/rules.yaml", source).unwrap();
    let adr = Adr::parse("013-x.md", include_str!("fixtures/adrs/good/013-groessen.md"));
    let problems = complete(&adr, &rules);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].severity, Severity::Warning);
    assert!(problems[0].message.starts_with("security: the text contains none of: threat"));
    let wrong = parse_rules("adr/rules.yaml", &source.replace("severity: warning", "severity: bad")).unwrap_err();
    assert_eq!((wrong.code.as_str(), wrong.span.unwrap().line), ("HX0228", 3), "{wrong}");
    let built_in = serde_json::to_string(&built_in_rules()).unwrap();
    assert!(serde_json::from_str::<Vec<helix_adr::Rule>>(&built_in).is_ok(), "the built-in rules are data");
}

#[test]
fn deep_nesting_neither_overflows_the_stack_nor_takes_long() {
    for piece in ["> ", "- ", "[", "*a **b ", "`", "- [ ] ", "<a ", "![", "# ", "1. "] {
        let source = format!("---\nadr_id: 1\n---\n## Acceptance criteria\n{}", piece.repeat(20_000));
        let started = std::time::Instant::now();
        let problems = check(&Adr::parse("a.md", &source), &NoRepo);
        assert!(problems.iter().any(|problem| problem.code == "HX0205"), "{piece}");
        assert!(started.elapsed().as_secs() < 30, "{piece:?} took {:?}", started.elapsed());
        println!("{piece:?}: {:?}", started.elapsed());
    }
}

/// 2 MB stay within seconds, whatever they consist of. One scan of the text for each of its 50,000 headings or criteria
/// would be 10^11 steps, far outside the bound even on a fast machine.
#[test]
fn checking_is_linear_in_the_size() {
    let front = "---\nadr_id: 1\ntitle: x\nstatus: Proposed\nchange_scope: major\nfiles: {create: [a/b.py], docs: [c.md]}\n---\n## Context\n";
    let pieces = [
        "no breaking change, but old and new text with a phase and a step.\n\n",
        "# Heading\n\ntext\n\n",
        "## Acceptance criteria\n\n- [ ] it works\n",
        "- [ ] criterion in one long list\n",
        "word ",
        "Ã¤ ",
        "Æ¡",
    ];
    for piece in pieces {
        let source = format!("{front}{}", piece.repeat((2 << 20) / piece.len()));
        let started = std::time::Instant::now();
        let adr = Adr::parse("a.md", &source);
        let parsed = started.elapsed();
        let problems = check(&adr, &repo()).len() + complete(&adr, &built_in_rules()).len();
        assert!(problems > 0);
        let whole = started.elapsed();
        assert!(whole.as_secs() < 30, "{piece:?}: parsed in {parsed:?}, checked in {whole:?}");
        println!("{piece:?}: parsed in {parsed:?}, with checks {whole:?}");
    }
}

#[test]
fn the_docs_show_the_rules() {
    let docs = include_str!("../../../docs/adr.md");
    let table = docs.split("<!-- completeness rules -->\n").nth(1).unwrap().split("<!-- end -->").next().unwrap();
    assert_eq!(table.trim(), rules_markdown().trim(), "docs/adr.md is out of date");
    let rules = docs.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    parse_rules("docs/adr.md", rules).unwrap();
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let mut pages: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("HX02") && name.ends_with(".md"))
        .map(|name| name.trim_end_matches(".md").to_owned())
        .collect();
    pages.sort();
    assert_eq!(pages, codes::ALL);
}

#[test]
fn who_accepts_a_decision_is_written_beside_its_state_and_nothing_else_changes() {
    let english = "---\nadr_id: \"007\"\ntitle: T\nstatus: Proposed # yes\nfiles: {}\n---\n## Status\n\nProposed, since May.\n\n## Context\nc\n";
    let by = |by: &str| Acceptance { by: by.into(), on: "2026-11-23".into() };
    let accepted = Adr::parse("a.md", english).with_acceptance(&by("Ada \\ \"Lovelace\"")).unwrap();
    let expected = english
        .replace(
            "status: Proposed # yes",
            "status: Accepted # yes\naccepted_by: \"Ada \\\\ \\\"Lovelace\\\"\"\naccepted_on: 2026-11-23",
        )
        .replace("Proposed, since", "Accepted, since");
    assert_eq!(accepted, expected);
    let again = Adr::parse("a.md", &accepted).with_acceptance(&by("Grace")).unwrap();
    assert!(again.contains("accepted_by: \"Grace\"") && again.matches("accepted_").count() == 2, "{again}");
    // Front matter in braces has no line of its own for it.
    let braces = "---\n{adr_id: 7, title: T, status: Proposed}\n---\n## Context\nc\n";
    assert!(Adr::parse("a.md", braces).with_acceptance(&by("Ada")).is_err());
    assert!(check(&Adr::parse("007-t.md", &accepted), &NoRepo).iter().all(|one| one.code != codes::UNKNOWN_KEY));
}
