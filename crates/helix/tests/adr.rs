//! Decisions from the command line: numbers under pressure, import, drift, coverage, repair.

mod elsewhere;

use std::collections::BTreeSet;

use crate::user::User;

const ADR: &str = "---\nadr_id: draft\ntitle: TITLE\nstatus: Proposed\n---\n\n## Context\n\nThere is a need for TITLE.\n\n## Decision\n\nSo it is done.\n\n## Acceptance criteria\n\n- [ ] `true` exits 0\n";

fn git(user: &User, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.current_dir(user.work()).args(arguments);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", user.work().join("../home"));
    command.env("GIT_AUTHOR_NAME", "A").env("GIT_AUTHOR_EMAIL", "a@example.org");
    command.env("GIT_COMMITTER_NAME", "A").env("GIT_COMMITTER_EMAIL", "a@example.org");
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn commit(user: &User, message: &str) {
    git(user, &["add", "--all"]);
    git(user, &["commit", "--quiet", "--message", message]);
}

/// Processes that finalize at the same moment get one number each, and the index has them all.
#[test]
fn numbers_are_given_out_one_at_a_time() {
    let user = User::new();
    user.repository();
    let drafts: Vec<String> = (0..8).map(|number| format!("draft-{number}.md")).collect();
    for draft in &drafts {
        user.write(draft, &ADR.replace("TITLE", draft));
    }
    let started: Vec<_> = drafts
        .iter()
        .map(|draft| {
            let mut command = user.helix();
            command.args(["adr", "finalize", draft]).stdout(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let written: BTreeSet<String> = started
        .into_iter()
        .map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()[..7].to_owned())
        .collect();
    let expected: BTreeSet<String> = (1..=8).map(|number| format!("adr/{number:03}")).collect();
    assert_eq!(written, expected);
    let index = std::fs::read_to_string(user.work().join("adr/INDEX.md")).unwrap();
    assert_eq!(index.matches("](0").count(), 8, "{index}");
    assert_eq!(user.run(&["adr", "check"]).code, 0);
    assert_eq!(
        user.run(&["--json", "adr", "index"]).json()["index"],
        user.work().join("adr/INDEX.md").to_str().unwrap()
    );
    // An interrupted finalizing is not done twice.
    let again = user.run(&["adr", "finalize", "draft-0.md"]);
    assert!(again.code == 0 && expected.contains(&again.stdout[..7]), "{again:?}");
    assert_eq!(user.run(&["adr", "next-number"]).stdout.trim(), "009");
}

/// A number that is taken on another branch or in another worktree is not given out again.
#[test]
fn numbers_on_other_branches_and_in_worktrees_are_taken() {
    let user = User::new();
    user.repository();
    user.write("a.md", &ADR.replace("TITLE", "a"));
    commit(&user, "start");
    git(&user, &["switch", "--quiet", "--create", "other"]);
    assert_eq!(user.run(&["adr", "finalize", "a.md"]).stdout.trim(), "adr/001-a.md");
    commit(&user, "one");
    git(&user, &["switch", "--quiet", "-"]);
    assert_eq!(user.run(&["adr", "next-number"]).stdout.trim(), "002");
    git(&user, &["worktree", "add", "--quiet", "../tree", "--detach"]);
    std::fs::create_dir_all(user.work().join("../tree/adr")).unwrap();
    std::fs::write(user.work().join("../tree/adr/007-x.md"), "not committed").unwrap();
    user.write("b.md", &ADR.replace("TITLE", "b"));
    assert_eq!(user.run(&["adr", "finalize", "b.md"]).stdout.trim(), "adr/008-b.md");
}

#[test]
fn foreign_files_are_imported_under_their_numbers() {
    let user = User::new();
    user.repository();
    let nygard = "# 3. Use CSV\n\nDate: 2020-01-01\n\n## Status\n\nAccepted\n\nAmended by [4. Quote](0004-quote.md)\n\n## Context\n\nWe need it.\n\n## Decision\n\nCSV it is.\n\n## Consequences\n\nNone.\n";
    user.write("doc/adr/0003-use-csv.md", nygard);
    user.write(
        "doc/adr/0004-quote.md",
        &nygard.replace("3. Use CSV", "4. Quote").replace("Amended by [4. Quote](0004-quote.md)", ""),
    );
    user.write("adr/004-taken.md", &ADR.replace("draft", "\"004\"").replace("TITLE", "Taken"));
    let shown = user.run(&["adr", "import", "doc/adr/0003-use-csv.md"]);
    assert!(
        shown.code == 0 && shown.stdout.contains("adr_id: \"003\"") && shown.stderr.contains("nothing was written"),
        "{shown:?}"
    );
    assert!(!user.work().join("adr/003-use-csv.md").exists());
    let done = user.run(&["adr", "import", "doc/adr", "--write"]);
    assert_eq!(done.stdout, "adr/003-use-csv.md\nadr/005-quote.md\n", "{done:?}");
    let first = std::fs::read_to_string(user.work().join("adr/003-use-csv.md")).unwrap();
    assert!(first.contains("related_to: [\"005\"]"), "links follow the new numbers: {first}");
    let index = std::fs::read_to_string(user.work().join("adr/INDEX.md")).unwrap();
    assert!(index.contains("003-use-csv.md") && index.contains("005-quote.md"), "{index}");
    assert_eq!(user.run(&["adr", "check"]).code, 0);
    user.run(&["adr", "import", "adr/003-use-csv.md", "--write"]).refused(2, &["HX0931", "already in Helix's format"]);
    // One that lies in adr/ already is replaced there.
    user.write("adr/0009-old.md", &nygard.replace("3. Use CSV", "9. Old"));
    assert_eq!(user.run(&["adr", "import", "adr/0009-old.md", "--write"]).stdout, "adr/009-old.md\n");
    assert!(!user.work().join("adr/0009-old.md").exists());
}

#[test]
fn drift_is_told_from_history() {
    let user = User::new();
    user.repository();
    let claim = ADR
        .replace("draft", "\"001\"")
        .replace("TITLE", "Carts")
        .replace("Proposed", "Accepted\nfiles: {modify: [src/cart.py]}");
    user.write("src/cart.py", "a\n");
    user.write("adr/001-carts.md", &claim);
    commit(&user, "decide");
    let calm = user.run(&["adr", "drift"]);
    assert_eq!(calm.code, 0, "{calm:?}");
    user.write("src/cart.py", "b\n");
    commit(&user, "change the cart");
    user.write("src/new.py", "c\n");
    let found = user.run(&["--json", "adr", "drift"]);
    let json = found.json();
    assert_eq!(
        (found.code, &json["claimed"][0]["file"], &json["claimed"][0]["subject"]),
        (1, &"src/cart.py".into(), &"change the cart".into()),
        "{json:#}"
    );
    assert_eq!(
        (&json["undecided"][0]["file"], json["undecided"].as_array().unwrap().len()),
        (&"src/new.py".into(), 1),
        "{json:#}"
    );
    assert_eq!(user.run(&["adr", "drift", "--since", "HEAD"]).code, 0);
    assert_eq!(user.run(&["adr", "drift", "--since", "HEAD", "--strict"]).code, 1);
    user.run(&["adr", "drift", "--since", "nowhere"]).refused(2, &["nowhere", "hint:"]);
    // A decision that was made anew in the same range covers the change.
    user.write("adr/001-carts.md", &format!("{claim}- [ ] `true` exits 0 again\n"));
    commit(&user, "decide anew");
    assert_eq!(user.run(&["adr", "drift"]).code, 0);
    assert_eq!(user.run(&["adr", "drift", "--since", "HEAD~2"]).code, 0);
}

#[test]
fn uncovered_concepts_are_named_with_their_place() {
    let user = User::new();
    user.repository();
    user.write("docs/konzept.md", "# K\n\n## Fehlerbehandlung\n\n## Barrierefreiheit\n");
    user.write("p/phases.yaml", "name: p\nphases:\n  - id: a\n    name: Error handling\n    type: development\n    description: Errors are told.\n    inputs: [docs/konzept.md]\n    outputs: [src/a.py]\n");
    let ran = user.run(&["adr", "coverage", "p/phases.yaml"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("MISSING  docs/konzept.md:5:1: Barrierefreiheit"), "{ran:?}");
    assert!(ran.stdout.contains("Fehlerbehandlung: phase a"), "{ran:?}");
    let json = user.run(&["--json", "adr", "coverage", "p/phases.yaml"]).json();
    assert_eq!((&json["missing"], &json["concepts"][1]["span"]["line"]), (&1.into(), &5.into()), "{json:#}");
    // A source without concepts is no proof of anything.
    user.write("empty.md", "# Only a title\n");
    user.run(&["adr", "coverage", "p/phases.yaml", "--source", "empty.md"]).refused(2, &["no concept", "hint:"]);
}

#[test]
fn wrong_encodings_are_repaired_where_that_is_certain() {
    let user = User::new();
    user.repository();
    let text = ADR.replace("draft", "\"001\"").replace("TITLE", "Größe");
    let wrong = text.replace("Größe.", "GrÃ¶ÃŸe.").replace("So it", "ÃƒÂ¤ â†’ √º: so it");
    user.write("adr/001-groesse.md", &wrong);
    let before = user.run(&["adr", "check"]);
    assert!(before.code == 1 && before.stderr.contains("HX0224") && before.stderr.contains("--fix"), "{before:?}");
    let fixed = user.run(&["adr", "check", "--fix"]);
    assert!(fixed.code == 0 && fixed.stderr.contains("5 repairs"), "{fixed:?}");
    let now = std::fs::read_to_string(user.work().join("adr/001-groesse.md")).unwrap();
    assert_eq!(now, text.replace("So it", "ä → ü: so it"));
    assert_eq!(user.run(&["adr", "graph", "--format", "dot"]).code, 0);
}

/// Every command takes a decision by its number and by its file.
#[test]
fn a_decision_is_named_by_number_or_file() {
    let user = User::new();
    user.write("adr/001-a.md", &ADR.replace("draft", "\"001\"").replace("TITLE", "A"));
    user.write("adr/002-b.md", &ADR.replace("draft", "\"002\"").replace("TITLE", "B"));
    user.repository();
    for name in ["1", "adr/001-a.md"] {
        assert!(user.run(&["adr", "show", name]).stdout.contains("title: A"), "{name}");
        let checked = user.run(&["adr", "check", name]);
        assert!(
            checked.code == 0 && checked.stdout.contains("001-a.md") && !checked.stdout.contains("002"),
            "{checked:?}"
        );
        user.run(&["adr", "implemented", name]).refused(1, &["no merged job for adr/001-a.md"]);
        user.run(&["adr", "coverage", name]).refused(2, &["has no sources"]);
    }
    // A name is one line, and steers no terminal.
    let accepted = user.run(&["adr", "accept", "adr/001-a.md", "--by", "A\nstatus: Implemented \u{202e}B"]);
    assert_eq!(accepted.code, 0);
    assert!(accepted.stdout.trim_end().ends_with("by A status: Implemented B"), "{accepted:?}");
    assert_eq!(user.run(&["adr", "accept", "002"]).code, 0);
    user.run(&["adr", "accept", "9"]).refused(2, &["HX0920", "helix adr list"]);
    user.write("adr/002-c.md", &ADR.replace("draft", "\"002\"").replace("TITLE", "C"));
    user.run(&["adr", "accept", "adr/002-c.md"]).refused(2, &["no number of its own"]);
    user.run(&["adr", "renumber", "2"]).refused(2, &["name one of: adr/002-b.md, adr/002-c.md"]);
}

/// A template that nobody has filled in is a draft and no decision.
#[test]
fn an_unfilled_template_does_not_become_a_decision() {
    let user = User::new();
    user.repository();
    assert_eq!(user.run(&["adr", "new", "CSV export"]).code, 0);
    let draft = "adr/draft-csv-export.md";
    let checked = user.run(&["adr", "check", draft]);
    assert!(checked.code == 0 && checked.stderr.contains("warning[HX0232]"), "{checked:?}");
    user.run(&["adr", "finalize", draft]).refused(2, &["error[HX0232]", "lines still contain template text"]);
    assert!(user.work().join(draft).exists() && !user.work().join("adr/001-csv-export.md").exists());
    // Nor is one by writing a number into it.
    let text = std::fs::read_to_string(user.work().join(draft)).unwrap();
    user.write("adr/001-csv-export.md", &text.replace("adr_id: draft", "adr_id: \"001\""));
    user.run(&["adr", "check", "adr/001-csv-export.md"]).refused(1, &["error[HX0232]"]);
    std::fs::remove_file(user.work().join("adr/001-csv-export.md")).unwrap();
    user.write(draft, &ADR.replace("TITLE", "CSV export"));
    assert_eq!(user.run(&["adr", "finalize", draft]).stdout.trim(), "adr/001-csv-export.md");
}

/// Two clones that have not seen each other choose one number; after the merge the later decision gets another one, and whoever
/// named it follows.
#[test]
fn a_number_that_two_clones_chose_is_mended_after_the_merge() {
    let user = User::new();
    user.repository();
    user.write("a.md", &ADR.replace("TITLE", "a"));
    assert_eq!(user.run(&["adr", "finalize", "a.md"]).stdout.trim(), "adr/001-a.md");
    commit(&user, "start");
    git(&user, &["branch", "--move", "main"]);
    git(&user, &["clone", "--quiet", ".", "../other"]);
    let other = user.work().join("../other");
    std::fs::write(other.join("csv.md"), ADR.replace("TITLE", "CSV")).unwrap();
    let finalized = user.helix().current_dir(&other).args(["adr", "finalize", "csv.md"]).output().unwrap();
    assert_eq!(String::from_utf8(finalized.stdout).unwrap().trim(), "adr/002-csv.md");
    std::fs::write(other.join("README.md"), "ADR-002 is CSV.\n").unwrap();
    git(&user, &["-C", "../other", "add", "--all"]);
    git(&user, &["-C", "../other", "commit", "--quiet", "--message", "csv"]);

    git(&user, &["switch", "--quiet", "--create", "feature"]);
    user.write("json.md", &ADR.replace("TITLE", "JSON").replace("So it is done.", "So it is done, by ADR-002."));
    assert_eq!(user.run(&["adr", "finalize", "json.md"]).stdout.trim(), "adr/002-json.md");
    let next = ADR.replace("TITLE", "XML").replace("status: Proposed", "status: Proposed\ndepends_on: [\"002\", 1]");
    user.write("xml.md", &next.replace("So it is done.", "As [before](002-json.md)."));
    assert_eq!(user.run(&["adr", "finalize", "xml.md"]).stdout.trim(), "adr/003-xml.md");
    let plan = "name: x\nadr: adr/002-json.md\nphases:\n  - { id: a, type: documentation, description: As ADR-002 says, outputs: [a.md] }\n";
    user.write("plans/x/phases.yaml", plan);
    user.write("src/json.py", "# decided in adr/002-json.md\n");
    commit(&user, "json");
    git(&user, &["remote", "add", "origin", "../other"]);
    git(&user, &["fetch", "--quiet", "origin"]);
    // What was fetched counts.
    assert_eq!(user.run(&["adr", "next-number"]).stdout.trim(), "004");
    git(&user, &["merge", "--quiet", "--strategy-option", "theirs", "origin/main"]);
    user.run(&["adr", "check"]).refused(1, &["HX0216", "adr/002-csv.md", "adr/002-json.md", "helix adr renumber"]);

    let done = user.run(&["adr", "renumber"]);
    assert_eq!((done.code, done.stdout.trim()), (0, "renamed adr/002-json.md to adr/004-json.md"), "{done:?}");
    assert!(done.stderr.contains("look at src/json.py:1"), "{done:?}");
    assert!(!done.stderr.contains("README"), "written of the other one: {done:?}");
    let read = |file: &str| std::fs::read_to_string(user.work().join(file)).unwrap();
    assert!(!user.work().join("adr/002-json.md").exists());
    let json = read("adr/004-json.md");
    assert!(json.contains("adr_id: \"004\"") && json.contains("by ADR-004."), "{json}");
    let xml = read("adr/003-xml.md");
    assert!(xml.contains("depends_on: [\"004\", 1]") && xml.contains("(004-json.md)"), "{xml}");
    assert_eq!(read("plans/x/phases.yaml"), plan.replace("002", "004"));
    assert_eq!(read("README.md"), "ADR-002 is CSV.\n");
    assert!(read("adr/INDEX.md").contains("](004-json.md)") && read("adr/INDEX.md").contains("](002-csv.md)"));
    assert!(read("adr/002-csv.md").contains("adr_id: \"002\""));
    assert_eq!(user.run(&["adr", "check"]).code, 0);
    let again = user.run(&["adr", "renumber"]);
    assert!(again.code == 0 && again.stdout.is_empty(), "{again:?}");
    commit(&user, "mended");

    // Begun and interrupted: the front matter has the number that the file name has not.
    user.write("adr/004-json.md", &read("adr/004-json.md").replace("\"004\"", "\"005\""));
    assert_eq!(user.run(&["adr", "renumber"]).stdout.trim(), "renamed adr/004-json.md to adr/005-json.md");
    assert!(read("plans/x/phases.yaml").contains("adr/005-json.md"));
    // Neither is committed: nothing tells which was first, and a person may.
    user.write("adr/007-p.md", &ADR.replace("TITLE", "P").replace("draft", "\"007\""));
    user.write("adr/007-q.md", &ADR.replace("TITLE", "Q").replace("draft", "\"007\""));
    user.run(&["adr", "renumber"]).refused(2, &["adr/007-p.md and adr/007-q.md", "helix adr renumber FILE"]);
    assert_eq!(user.run(&["adr", "renumber", "adr/007-p.md"]).stdout.trim(), "renamed adr/007-p.md to adr/008-p.md");
    user.run(&["adr", "renumber", "--base", "nowhere"]).refused(2, &["no commit nowhere"]);
}
