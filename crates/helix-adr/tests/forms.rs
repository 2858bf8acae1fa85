//! Decisions of other tools, read, checked, changed and written in their own forms.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use helix_adr::{
    Acceptance, Adr, AdrForm, AdrGraph, AdrId, KnownAdrs, Language, Link, Naming, NoRepo, Numbering, Proof, RepoFacts,
    SiteFile, SiteWords, Status, Style, TemplateRequest, built_in_rules, check, complete, search, site, template,
};
use helix_adr::{ChangeScope, Classification, ComponentType};
use proptest::prelude::*;

/// The decisions of a directory as one of the tools has made it.
fn directory(tool: &str) -> Vec<Adr> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/directories").join(tool);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let numbered =
        |path: &std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(char::is_numeric);
    let read = |path: std::path::PathBuf| {
        let name = format!("docs/decisions/{}", path.file_name().unwrap().to_str().unwrap());
        Adr::parse(&name, &std::fs::read_to_string(path).unwrap())
    };
    files.into_iter().filter(numbered).map(read).collect()
}

struct Known(KnownAdrs);

impl RepoFacts for Known {
    fn exists(&self, _: &str) -> Option<bool> {
        None
    }
    fn adrs(&self) -> Option<&KnownAdrs> {
        Some(&self.0)
    }
}

/// Id, title, state, links and criteria of each decision, in a line.
fn facts(adrs: &[Adr]) -> Vec<String> {
    let line = |adr: &Adr| {
        let front = adr.front.as_ref().unwrap();
        let links: Vec<String> = front
            .links()
            .into_iter()
            .flat_map(|(key, ids)| ids.iter().map(move |id| format!(", {key}={}", id.value)))
            .collect();
        let id = adr.id().map_or("-".to_owned(), |id| id.to_string());
        let status = adr.status().map_or("-", Status::word);
        let (form, title, criteria) = (adr.form.name(), adr.title(), adr.criteria.len());
        format!("{form} {id} {title}: {status}, {criteria} criteria{}", links.concat())
    };
    adrs.iter().map(line).collect()
}

#[test]
fn directories_of_other_tools_are_read_and_nothing_is_invented() {
    assert_eq!(
        facts(&directory("adr-tools")),
        [
            "Nygard ADR-001 Record architecture decisions: Accepted, 0 criteria",
            "Nygard ADR-002 Keep carts in memory: Superseded, 0 criteria, superseded_by=ADR-003",
            "Nygard ADR-003 Keep carts in SQLite: Accepted, 0 criteria, supersedes=ADR-002",
            "Nygard ADR-004 Back up at night: Proposed, 0 criteria",
        ]
    );
    assert_eq!(
        facts(&directory("madr4")),
        [
            "MADR ADR-000 Use Markdown Any Decision Records: -, 0 criteria",
            "MADR ADR-001 Prices are whole cents: Accepted, 2 criteria",
            "MADR ADR-002 Export orders as CSV: Proposed, 1 criteria, depends_on=ADR-001",
        ]
    );
    assert_eq!(
        facts(&directory("madr2")),
        [
            "MADR ADR-001 Send mail through a queue: Superseded, 0 criteria, related_to=ADR-003, superseded_by=ADR-002",
            "MADR ADR-002 Push instead of mail: Accepted, 0 criteria, supersedes=ADR-001",
        ]
    );
    let (slug, path) = ("20261001-use-the-slug-as-id", "20261103-use-the-path-as-id");
    assert_eq!(
        facts(&directory("log4brains")),
        [
            "MADR 20261001-use-lunr-for-search Use Lunr for search: Proposed, 0 criteria".to_owned(),
            format!("MADR {slug} Use the slug as id: Superseded, 0 criteria, superseded_by={path}"),
            format!("MADR {path} Use the path as id: Accepted, 0 criteria, supersedes={slug}"),
        ]
    );
}

/// What another form cannot have is not asked for; what is wrong in its own terms is a warning.
#[test]
fn checks_ask_for_nothing_that_the_form_does_not_have() {
    for tool in ["adr-tools", "madr4", "madr2", "log4brains"] {
        let adrs = directory(tool);
        let known = Known(KnownAdrs::new(&adrs));
        for adr in &adrs {
            let mut found = check(adr, &known);
            found.extend(complete(adr, &built_in_rules()));
            let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
            match adr.file.ends_with("0001-send-mail-through-a-queue.md") {
                true => assert!(texts.len() == 1 && texts[0].contains("ADR-003, which does not exist"), "{texts:?}"),
                false => assert_eq!(texts, Vec::<String>::new(), "{}", adr.file),
            }
        }
    }
    let odd = "---\nstatus: perhaps\nfiles: [\n---\n# Odd\n\n## Context and Problem Statement\n\nx\n";
    let problems = check(&Adr::parse("docs/decisions/0007-odd.md", odd), &NoRepo);
    assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.is_error()), "{problems:?}");
    let unknown = odd.replace("files: [\n", "");
    let problems = check(&Adr::parse("docs/decisions/0007-odd.md", &unknown), &NoRepo);
    assert!(problems.iter().any(|one| one.message == "unknown status `perhaps`"), "{problems:?}");
}

#[test]
fn what_confirms_a_decision_is_its_criteria() {
    let adrs = directory("madr4");
    let evidence = |adr: &Adr| adr.criteria.iter().map(|one| one.evidence.len()).collect::<Vec<_>>();
    assert_eq!(evidence(&adrs[1]), [1, 1]);
    assert_eq!(adrs[1].criteria[1].evidence[0].proof, Proof::File { path: "docs/prices.md".into() });
    assert_eq!(adrs[2].criteria[0].text, "A review opens an export in a spreadsheet.");
    // A box is ticked; a sentence has none, and stays as it is.
    let all: Vec<String> = adrs.iter().flat_map(|adr| &adr.criteria).map(|one| one.text.clone()).collect();
    let ticked = adrs[1].with_met_criteria(&all, None).unwrap();
    assert_eq!((ticked.matches("[x]").count(), ticked.matches("[ ]").count()), (2, 0), "{ticked}");
    assert_eq!(adrs[2].with_met_criteria(&all, None).unwrap(), adrs[2].source);
    // Claims that a file makes in front matter count in every form.
    let claiming = adrs[1].source.replace("date:", "files: { modify: [src/price.py] }\ndate:");
    let read = Adr::parse(&adrs[1].file, &claiming);
    assert_eq!(KnownAdrs::new([&read]).claims().claimants("src/price.py").len(), 1);
}

/// The lines that differ, as `-old` and `+new`.
fn changes(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let end = old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(one, other)| one == other).count();
    let removed = old[same..old.len() - end].iter().map(|line| format!("-{line}"));
    removed.chain(new[same..new.len() - end].iter().map(|line| format!("+{line}"))).collect()
}

#[test]
fn states_are_changed_in_place_and_in_the_words_of_the_form() {
    let acceptance = Acceptance { by: "Ada".into(), on: "2026-11-27".into() };
    let accepted = |adr: &Adr| changes(&adr.source, &adr.with_acceptance(&acceptance).unwrap());
    assert_eq!(accepted(&directory("adr-tools")[3]), ["-Proposed", "+Accepted"]);
    assert_eq!(accepted(&directory("madr4")[2]), ["-status: proposed", "+status: accepted"]);
    assert_eq!(accepted(&directory("log4brains")[0]), ["-- Status: draft", "+- Status: accepted"]);
    // Where nothing is said, a place is made.
    assert_eq!(accepted(&directory("madr4")[0]), ["+* Status: accepted", "+"]);
    let rejected = |adr: &Adr| changes(&adr.source, &adr.with_status(Status::Rejected).unwrap());
    assert_eq!(rejected(&directory("madr4")[1]), ["-status: \"accepted\"", "+status: \"rejected\""]);
    let german = Adr::parse(
        "docs/decisions/0002-x.md",
        "---\nstatus: vorgeschlagen\n---\n# X\n\n## Kontext und Problemstellung\n\nx\n\n## Betrachtete Optionen\n\n* a\n",
    );
    assert_eq!(accepted(&german), ["-status: vorgeschlagen", "+status: angenommen"]);
}

#[test]
fn decisions_are_superseded_and_linked_in_the_words_of_the_form() {
    let old_tools = directory("adr-tools");
    let superseded = |old: &Adr, new: &Adr| changes(&old.source, &old.superseded_by(new).unwrap());
    let linked = |from: &Adr, link, to: &Adr| changes(&from.source, &from.linked(link, to).unwrap());
    assert_eq!(
        superseded(&old_tools[2], &old_tools[3]),
        ["-Accepted", "+Superseded by [4. Back up at night](0004-back-up-at-night.md)"]
    );
    assert_eq!(
        linked(&old_tools[3], Link::Supersedes, &old_tools[2]),
        ["+Supersedes [3. Keep carts in SQLite](0003-keep-carts-in-sqlite.md)", "+"]
    );
    let madr = directory("madr4");
    assert_eq!(
        superseded(&madr[1], &madr[2]),
        ["-status: \"accepted\"", "+status: \"superseded by [ADR-0002](0002-export-as-csv.md)\""]
    );
    assert_eq!(
        linked(&madr[2], Link::Supersedes, &madr[0]),
        ["+", "+* Supersedes [ADR-0000](0000-use-markdown-any-decision-records.md)"]
    );
    assert_eq!(
        linked(&madr[1], Link::Related, &madr[0]),
        ["+", "+## More Information", "+", "+* Related to [ADR-0000](0000-use-markdown-any-decision-records.md)"]
    );
    let brains = directory("log4brains");
    assert_eq!(
        superseded(&brains[2], &brains[0]),
        [
            "-- Status: accepted",
            "+- Status: superseded by [20261001-use-lunr-for-search](20261001-use-lunr-for-search.md)"
        ]
    );
    assert_eq!(
        linked(&brains[2], Link::DependsOn, &brains[0]),
        ["+- Depends on [20261001-use-lunr-for-search](20261001-use-lunr-for-search.md)"]
    );
    // What is there already is not said twice.
    assert_eq!(linked(&brains[2], Link::Supersedes, &brains[1]), Vec::<String>::new());
    let graph = AdrGraph::new(&brains);
    assert_eq!((graph.nodes.len(), graph.edges.len()), (3, 1));
    assert!(
        graph.to_mermaid().contains("adr20261103_use_the_path_as_id ==>|supersedes| adr20261001_use_the_slug_as_id")
    );
}

#[test]
fn helix_front_matter_lists_another_decision_however_it_is_written() {
    let other = Adr::parse("adr/009-new.md", "---\nadr_id: \"009\"\ntitle: New\nstatus: Accepted\n---\n");
    for (lists, expected) in [
        ("", "supersedes: [\"009\"]\n"),
        ("supersedes: 1\n", "supersedes: [1, \"009\"]\n"),
        ("supersedes: [\"001\", 2]\n", "supersedes: [\"001\", 2, \"009\"]\n"),
        ("supersedes:\n  - 1\n  - ADR-002 # old\n", "supersedes:\n  - 1\n  - ADR-002 # old\n  - \"009\"\n"),
        ("supersedes: []\n", "supersedes: [\"009\"]\n"),
        ("supersedes: # none\n", "supersedes: [\"009\"] # none\n"),
        ("supersedes: [\"009\"]\n", "supersedes: [\"009\"]\n"),
    ] {
        let source = format!("---\nadr_id: \"003\"\ntitle: T\nstatus: Accepted\n{lists}---\n\n# T\n");
        let adr = Adr::parse("adr/003-t.md", &source);
        let text = adr.linked(Link::Supersedes, &other).unwrap();
        assert!(text.contains(expected), "{lists:?}: {text}");
        let text = adr.superseded_by(&other).unwrap();
        assert!(text.contains("status: Superseded\nsuperseded_by: [\"009\"]\n"), "{text}");
    }
}

/// What Helix cannot read as decisions is somebody's all the same.
#[test]
fn a_list_that_cannot_be_read_is_not_replaced() {
    let other = Adr::parse("adr/009-new.md", "---\nadr_id: \"009\"\ntitle: New\nstatus: Accepted\n---\n");
    for list in ["related_to: [the old cart]\n", "related_to: see the wiki\n", "related_to:\n  - the old cart\n"] {
        let source = format!("---\nadr_id: \"003\"\ntitle: T\nstatus: Accepted\n{list}---\n\n# T\n");
        let error = Adr::parse("adr/003-t.md", &source).linked(Link::Related, &other).unwrap_err();
        assert!(error.to_string().starts_with("adr/003-t.md cannot be changed by Helix: it has no "), "{error}");
    }
}

/// Time grows with the links that a file has, not with their square.
#[test]
fn many_links_are_read_once() {
    let links: String = (1..=60_000).map(|number| format!("[x]({number}-x.md) ")).collect();
    for links in [links, "](".repeat(300_000)] {
        let started = std::time::Instant::now();
        let adr = Adr::parse("doc/adr/0001-t.md", &format!("# 1. T\n\n## Status\n\nAccepted\n\nSupersedes {links}\n"));
        assert_eq!(adr.form, AdrForm::Nygard);
        assert!(started.elapsed().as_secs() < 15, "{:?}", started.elapsed());
    }
}

#[test]
fn new_decisions_have_the_style_of_their_directory() {
    let naming = Naming { number: 5, day: "2026-11-27" };
    for (tool, form, numbering) in [
        ("adr-tools", AdrForm::Nygard, Numbering::Digits(4)),
        ("madr4", AdrForm::Madr, Numbering::Digits(4)),
        ("madr2", AdrForm::Madr, Numbering::Digits(4)),
        ("log4brains", AdrForm::Madr, Numbering::Dated),
    ] {
        let style = Style::of(&directory(tool), Style::HELIX);
        assert_eq!((style.form, style.numbering), (form, numbering), "{tool}");
        let text = style.draft("Ship \"parcels\"", &naming);
        let name = match naming.id(style, "ship-parcels") {
            AdrId::Named(name) => format!("docs/adr/{name}.md"),
            _ => format!("docs/adr/{}", style.numbering.file_name(5, "Ship parcels")),
        };
        let read = Adr::parse(&name, &text);
        assert_eq!(
            (read.form, read.status(), read.title()),
            (form, Some(Status::Proposed), "Ship \"parcels\""),
            "{text}"
        );
        assert!(read.criteria.is_empty() && check(&read, &NoRepo).iter().any(|one| one.code == "HX0232"), "{text}");
        insta::with_settings!({ snapshot_suffix => tool, omit_expression => true }, {
            insta::assert_snapshot!("new", format!("{name}\n{text}"));
            insta::assert_snapshot!("written", style.written(&helix_draft(), &naming));
        });
        // Its criteria come with it.
        let written = Adr::parse(&name, &style.written(&helix_draft(), &naming));
        assert_eq!((written.form, written.criteria.len()), (form, 2), "{}", written.source);
        assert_eq!(written.front.as_ref().unwrap().files.create.len(), 1, "{}", written.source);
        let errors: Vec<_> = check(&written, &NoRepo).into_iter().map(|one| one.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{}", written.source);
    }
}

/// Templates as the tools write them, and one that a project has changed.
#[test]
fn templates_of_a_directory_are_filled_in() {
    let naming = Naming { number: 5, day: "2026-11-27" };
    let log4brains = "# [short title of solved problem and solution]\n\n\
        - Status: [draft | proposed | rejected] <!-- optional -->\n\
        - Date: [YYYY-MM-DD when the decision was last updated] <!-- optional -->\n- Team: <who>\n\n\
        ## Context and Problem Statement\n\n[Describe it.]\n";
    let madr = "---\n# Feel free to remove these.\nstatus: \"{proposed | rejected | accepted}\"\n\
        date: {YYYY-MM-DD when the decision was last updated}\ndecision-makers: {list everyone}\n---\n\n\
        # {short title, representative of solved problem}\n\n## Context and Problem Statement\n\n{Describe it.}\n";
    let adr_tools =
        "# NUMBER. TITLE\n\nDate: DATE\n\n## Status\n\nSTATUS\n\n## Context\n\nWhy?\n\n## Decision\n\n## Costs\n";
    for (tool, template, expected) in [
        (
            "log4brains",
            log4brains,
            ["# Update it", "- Status: proposed <!-- optional -->", "- Date: 2026-11-27 <!-- optional -->"],
        ),
        ("madr4", madr, ["# Update it", "status: \"proposed\"", "date: 2026-11-27"]),
        ("adr-tools", adr_tools, ["# 5. Update it", "Proposed", "Date: 2026-11-27"]),
    ] {
        let style = Style::of(&directory(tool), Style::HELIX);
        let text = style.filled(template, "Update it", &naming).unwrap();
        let missing: Vec<&str> = expected.into_iter().filter(|line| !text.lines().any(|own| own == *line)).collect();
        assert_eq!(missing, [""; 0], "{tool}: {text}");
        assert_eq!(text.lines().count(), template.lines().count(), "{tool}: {text}");
    }
    for not_a_template in ["", "# {title}\n\nWords.\n", "TITLE\n", "---\nadr_id: draft\ntitle: x\n---\n# TITLE\n"] {
        assert_eq!(Style::NYGARD.filled(not_a_template, "Update it", &naming), None, "{not_a_template:?}");
    }
}

fn helix_draft() -> Adr {
    let source = "---\nadr_id: draft\ntitle: Ship parcels\nstatus: Proposed\ncomponent_type: TOOL\nfiles:\n  create:\n    - src/ship.py\n---\n\n# Ship parcels\n\n## Context\n\nCustomers wait for their goods.\n\n## Considered options\n\n- A carrier: expensive\n\n## Decision\n\nWe ship with a carrier.\n\n## Acceptance criteria\n\n- [ ] A parcel has a label — test: `tests/test_ship.py::test_label`\n- [ ] It is described (file: docs/ship.md)\n\n## Consequences\n\nIt costs money.\n";
    Adr::parse("draft.md", source)
}

#[test]
fn helix_template_has_the_options_that_were_considered() {
    let request = TemplateRequest {
        language: Language::German,
        title: "T".into(),
        component_type: ComponentType::Misc,
        classification: Classification::New,
        change_scope: ChangeScope::Minor,
        creates: Vec::new(),
    };
    assert!(template(&request).contains("## Betrachtete Optionen\n\n- <eine Möglichkeit>: <was dafür"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever stands in a file, changing its state changes that alone, or is refused.
    #[test]
    fn no_file_whatever_loses_a_line_when_its_state_changes(
        text in "((---\n|status: |\\* Status: |## Status\n|## Context\n|# 7. X\n|superseded by |accepted|\\[a\\]\\(0003-b.md\\)|files: |adr_id: 1|\"|ä|\r|<!-- |-->|## Confirmation\n|- |\\PC)( |\n|\n\n)?){0,25}",
    ) {
        let other = Adr::parse("docs/adr/0003-b.md", "# 3. B\n\n## Status\n\nAccepted\n\n## Context\n\nx\n");
        let adr = Adr::parse("docs/adr/0007-a.md", &text);
        let _problems = check(&adr, &NoRepo);
        if let Ok(changed) = adr.with_status(Status::Rejected) {
            prop_assert_eq!(Adr::parse("docs/adr/0007-a.md", &changed).status(), Some(Status::Rejected));
        }
        let _changed = (adr.superseded_by(&other), adr.linked(Link::Related, &other));
        let _written = Style::MADR.written(&adr, &Naming { number: 1, day: "2026-11-27" });
    }
}

fn words() -> SiteWords {
    let word = |text: &str| text.to_owned();
    SiteWords {
        language: Language::English,
        decisions: word("Decisions"),
        graph: word("Graph"),
        search: word("Search"),
        nothing: word("Nothing found"),
        title: word("title"),
        status: word("status"),
        date: word("date"),
        supersedes: word("supersedes"),
        depends_on: word("depends on"),
        related_to: word("related to"),
        superseded_by: word("superseded by"),
        needed_by: word("needed by"),
    }
}

#[test]
fn a_site_has_every_decision_its_links_and_nothing_from_elsewhere() {
    let adrs = directory("adr-tools");
    let files = site(&adrs, &AdrGraph::new(&adrs), &words());
    let text = |path: &str| &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path}")).text;
    assert_eq!(files.len(), 3 + adrs.len());
    assert!(
        text("index.html").contains("<a href=\"decisions/0003-keep-carts-in-sqlite.html\">Keep carts in SQLite</a>")
    );
    assert!(text("search.js").contains("one sqlite file holds all carts"));
    let page = text("decisions/0002-keep-carts-in-memory.html");
    // Both the link in the text and that of the graph lead to the other page.
    assert_eq!(page.matches("href=\"0003-keep-carts-in-sqlite.html\"").count(), 2, "{page}");
    assert!(page.contains("superseded by") && page.contains("class=\"status superseded\""));
    let graph = text("graph.html");
    assert_eq!(
        (graph.matches("<rect").count(), graph.matches("class=\"supersedes\" marker").count()),
        (2, 1),
        "{graph}"
    );
    assert!(graph.contains("prefers-color-scheme: dark"));
}

#[test]
fn nothing_that_stands_in_a_decision_becomes_markup() {
    let hostile = "# 7. <script>alert(1)</script> \"'&\n\n## Status\n\nAccepted\n\nSupersedes [6. x](0006-x.md)\n\n## Context\n\n<script>alert(2)</script>\n\n<img src=x onerror=alert(3)>\n\n[a](javascript:alert(4)) [b](../../secret.txt) ![c](https://example.org/c.png) [d](https://example.org/d) <!-- unseen -->\n\n```html\n</code><script>alert(5)</script>\n```\n\n## Decision\n\n</article><style>*{}</style> \u{2028}\n";
    let adrs = [Adr::parse("docs/adr/0007-'\"><script>.md", hostile)];
    let files = site(&adrs, &AdrGraph::new(&adrs), &words());
    for SiteFile { path, text } in &files {
        assert!(path.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)), "{path}");
        let scripts = text.matches("<script").count();
        assert_eq!(scripts, usize::from(path == "index.html"), "{path}: {text}");
        assert!(
            path == "search.js"
                || !text.contains("<img")
                    && !text.contains("href=\"javascript:")
                    && !text.contains("onerror=alert(3)>"),
            "{text}"
        );
        assert_eq!(text.matches("</article>").count(), usize::from(path.starts_with("decisions/")), "{path}");
        assert_eq!(text.matches("<style").count(), usize::from(path.ends_with(".html")), "{path}");
    }
    let page = &files[3].text;
    assert!(
        page.contains("&lt;script&gt;alert(2)")
            && page.contains("href=\"https://example.org/d\"")
            && !page.contains("unseen")
    );
    assert!(!page.contains("secret.txt"), "a file that is no page is only its text: {page}");
}

#[test]
fn decisions_are_found_by_their_words() {
    let adrs = directory("adr-tools");
    let found = |words: &[&str]| -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        search(&adrs, &words).iter().map(|one| format!("{} {}", one.adr.title(), one.lines.len())).collect()
    };
    assert_eq!(found(&["sqlite"]), ["Keep carts in SQLite 2", "Keep carts in memory 1"]);
    assert_eq!(found(&["BACKUP copy"]), ["Keep carts in SQLite 1"]);
    assert_eq!(found(&["ADR-004"]), ["Back up at night 0"]);
    assert_eq!(found(&["nowhere"]), Vec::<String>::new());
    assert_eq!(found(&[" "]), Vec::<String>::new());
}
