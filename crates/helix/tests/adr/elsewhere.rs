//! Decisions where other tools have put them: read, checked, changed and written as they are.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{User, commit};

/// A repository whose decisions one of the other tools has made, in this directory.
fn repository(tool: &str, directory: &str) -> User {
    let user = User::new();
    user.repository();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../helix-adr/tests/fixtures/directories").join(tool);
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        user.write(&format!("{directory}/{name}"), &std::fs::read_to_string(&path).unwrap());
    }
    commit(&user, "decisions");
    user
}

fn read(user: &User, file: &str) -> String {
    std::fs::read_to_string(user.work().join(file)).unwrap()
}

#[test]
fn a_check_says_once_what_the_form_does_not_have_and_sums_up() {
    let user = repository("adr-tools", "doc/adr");
    let checked = user.run(&["adr", "check"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(
        checked.stdout.ends_with("doc/adr/0004-back-up-at-night.md: valid\n4 decisions, 0 errors, 0 warnings\n"),
        "{checked:?}"
    );
    let note = "note: 4 decisions are in the form of Nygard: what only Helix's own form has (component, classification, scope, acceptance criteria) is not checked\n";
    assert_eq!(checked.stderr, note);
    let listed = user.run(&["adr", "list"]);
    assert!(listed.stdout.contains("ADR-003") && listed.stdout.contains("Keep carts in SQLite"), "{listed:?}");
    // Nothing was written: not even an index.
    assert_eq!(super::git(&user, &["status", "--porcelain"]), "");
    let one = user.run(&["adr", "check", "2"]);
    assert!(one.stdout.ends_with("1 decision, 0 errors, 0 warnings\n"), "{one:?}");
    let json = user.run(&["--json", "adr", "check"]).json();
    assert_eq!(json["sums"], serde_json::json!({ "decisions": 4, "errors": 0, "warnings": 0 }));
    assert!(user.run(&["adr", "graph"]).stdout.contains("adr003 ==>|supersedes| adr002"));
}

#[test]
fn decisions_are_written_and_changed_in_the_form_of_adr_tools() {
    let user = repository("adr-tools", "doc/adr");
    let made = user.run(&["adr", "new", "Ship parcels"]);
    assert_eq!((made.code, made.stdout.trim()), (0, "doc/adr/0005-ship-parcels.md"), "{made:?}");
    assert!(read(&user, "doc/adr/0005-ship-parcels.md").starts_with("# 5. Ship parcels\n\nDate: 2"));
    user.run(&["adr", "new", "X", "--component", "TOOL"]).refused(2, &["--component", "Nygard"]);
    assert_eq!(user.run(&["adr", "next-number"]).stdout.trim(), "0006");
    let accepted = user.run(&["adr", "accept", "4"]);
    assert_eq!(accepted.stdout.trim(), "doc/adr/0004-back-up-at-night.md is Accepted", "{accepted:?}");
    assert!(read(&user, "doc/adr/0004-back-up-at-night.md").contains("## Status\n\nAccepted\n\n## Context"));
    user.run(&["adr", "reject", "4"]).refused(1, &["is Accepted; only a proposed decision"]);
    let done = user.run(&["adr", "supersede", "sqlite", "--by", "doc/adr/0005-ship-parcels.md"]);
    assert_eq!(
        done.stdout.trim(),
        "doc/adr/0003-keep-carts-in-sqlite.md is superseded by doc/adr/0005-ship-parcels.md",
        "{done:?}"
    );
    assert!(
        read(&user, "doc/adr/0003-keep-carts-in-sqlite.md")
            .contains("Superseded by [5. Ship parcels](0005-ship-parcels.md)")
    );
    assert!(
        read(&user, "doc/adr/0005-ship-parcels.md")
            .contains("Supersedes [3. Keep carts in SQLite](0003-keep-carts-in-sqlite.md)")
    );
    assert_eq!(
        user.run(&["adr", "link", "5", "depends-on", "1"]).stdout.trim(),
        "doc/adr/0005-ship-parcels.md depends on ADR-001"
    );
    user.run(&["adr", "link", "5", "depends-on", "5"]).refused(2, &["cannot refer to itself"]);
    user.run(&["adr", "supersede", "carts", "--by", "1"]).refused(2, &["name one of: ", "0002-keep", "0003-keep"]);
    // A draft in Helix's form, as the Consultant writes it, gets the form of the others.
    user.write("draft.md", &super::ADR.replace("TITLE", "Refund"));
    let finalized = user.run(&["adr", "finalize", "draft.md"]);
    assert_eq!(finalized.stdout.trim(), "doc/adr/0006-refund.md", "{finalized:?}");
    let text = read(&user, "doc/adr/0006-refund.md");
    assert!(
        text.starts_with("# 6. Refund\n") && text.contains("## Acceptance criteria\n\n- [ ] `true` exits 0"),
        "{text}"
    );
    assert_eq!(
        user.run(&["adr", "finalize", "draft.md"]).stdout.trim(),
        "doc/adr/0006-refund.md",
        "it is not done twice"
    );
    // Two branches have chosen one number.
    user.write("doc/adr/0006-other.md", &text.replace("6. Refund", "6. Other"));
    user.run(&["adr", "check"]).refused(1, &["HX0216", "helix adr renumber"]);
    let renumbered = user.run(&["adr", "renumber", "doc/adr/0006-other.md"]);
    assert_eq!(renumbered.stdout.trim(), "renamed doc/adr/0006-other.md to doc/adr/0007-other.md", "{renumbered:?}");
    assert!(read(&user, "doc/adr/0007-other.md").starts_with("# 7. Other\n"));
    // An index there is only after it was asked for, and then it is kept.
    assert!(!user.work().join("doc/adr/INDEX.md").exists());
    assert_eq!(user.run(&["adr", "index"]).stdout.trim(), "doc/adr/INDEX.md");
    assert_eq!(user.run(&["adr", "reject", "7"]).code, 0);
    assert!(read(&user, "doc/adr/INDEX.md").contains("| 007 | [Other](0007-other.md) | Rejected |"));
}

#[test]
fn decisions_of_log4brains_are_named_by_their_files() {
    let user = repository("log4brains", "docs/adr");
    user.write(".log4brains.yml", "project:\n  name: shop\n  adrFolder: ./docs/adr\n");
    let listed = user.run(&["adr", "list"]).stdout;
    assert!(listed.contains("20261001-use-lunr-for-search") && !listed.contains("short title"), "{listed}");
    let checked = user.run(&["adr", "check"]);
    assert!(checked.stdout.ends_with("3 decisions, 0 errors, 0 warnings\n"), "{checked:?}");
    let made = user.run(&["adr", "new", "Ship parcels"]).stdout;
    let (day, _) = made.trim().strip_prefix("docs/adr/").unwrap().split_once('-').unwrap();
    assert!(day.len() == 8 && made.trim().ends_with("-ship-parcels.md"), "{made}");
    let written = read(&user, made.trim());
    assert!(written.starts_with("# Ship parcels\n\n- Status: proposed <!-- optional -->\n- Date: 20"), "{written}");
    assert!(written.contains("[Describe it]"), "of the directory's own template: {written}");
    assert_eq!(user.run(&["adr", "next-number"]).stdout.trim(), day);
    let done = user.run(&["adr", "supersede", "lunr", "--by", "ship-parcels"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        read(&user, "docs/adr/20261001-use-lunr-for-search.md")
            .contains(&format!("- Status: superseded by [{day}-ship-parcels]({day}-ship-parcels.md)"))
    );
    assert!(user.run(&["adr", "show", "20261103-use-the-path-as-id"]).stdout.contains("The path is the id."));
    // log4brains' own pages stay.
    assert_eq!(read(&user, "docs/adr/index.md"), "# Our decisions\n\nRead them in a browser.\n");
}

#[test]
fn drift_is_told_of_files_that_a_decision_of_another_form_claims() {
    let user = repository("madr4", "docs/decisions");
    let file = "docs/decisions/0001-prices-are-whole-cents.md";
    user.write(file, &read(&user, file).replace("date:", "files: { modify: [src/price.py] }\ndate:"));
    user.write("src/price.py", "x = 1\n");
    commit(&user, "claim");
    assert_eq!(user.run(&["adr", "drift"]).code, 0);
    user.write("src/price.py", "x = 2\n");
    commit(&user, "change");
    let drifted = user.run(&["adr", "drift"]);
    assert!(drifted.code == 1 && drifted.stdout.contains("src/price.py"), "{drifted:?}");
    let shown = user.run(&["--json", "adr", "show", "1"]).json();
    assert_eq!(
        shown["criteria"][0]["evidence"][0]["proof"]["test"]["name"], "tests/test_sum.py::test_million",
        "{shown:#}"
    );
}

#[test]
fn the_directory_is_set_where_it_cannot_be_told() {
    let user = repository("adr-tools", "doc/adr");
    user.write(
        "docs/decisions/0001-x.md",
        "# X\n\n## Context and Problem Statement\n\nWhat is it?\n\n## Decision Outcome\n\nThat is it.\n",
    );
    user.run(&["adr", "list"]).refused(2, &["docs/decisions and doc/adr", "directory = \"docs/decisions\""]);
    user.write("helix.toml", "[decisions]\ndirectory = \"doc/adr\"\n");
    assert!(user.run(&["adr", "list"]).stdout.contains("Back up at night"));
    assert_eq!(user.run(&["jobs", "list"]).code, 0, "the key is known");
    user.write("helix.toml", "[decisions]\ndirectory = \"../elsewhere\"\n");
    user.run(&["adr", "list"]).refused(2, &["helix.toml", "leaves the repository"]);
    std::fs::remove_file(user.work().join("helix.toml")).unwrap();
    user.write(".adr-dir", "docs/decisions\n");
    assert_eq!(user.run(&["adr", "new", "Y"]).stdout.trim(), "docs/decisions/0002-y.md");
    // A link out of the project is not followed.
    std::os::unix::fs::symlink("/tmp", user.work().join("away")).unwrap();
    user.write(".adr-dir", "away\n");
    user.run(&["adr", "new", "Z"]).refused(2, &["away leads out of the project"]);
}

#[test]
fn decisions_are_searched_edited_and_published() {
    let user = repository("adr-tools", "doc/adr");
    let found = user.run(&["adr", "search", "sqlite", "carts"]);
    assert!(found.stdout.starts_with("doc/adr/0003-keep-carts-in-sqlite.md: Keep carts in SQLite (ADR-003, Accepted)\n  1: # 3. Keep carts in SQLite\n"), "{found:?}");
    let nothing = user.run(&["adr", "search", "nowhere"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (1, ""), "{nothing:?}");
    // The editor is a program with arguments.
    user.write("editor", "#!/bin/sh\ntest \"$1\" = --wait && sed -i s/Proposed/Dubious/ \"$2\"\n");
    let editor = user.work().join("editor");
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = user.helix();
    command.args(["adr", "edit", "4"]).env("EDITOR", format!("{} --wait", editor.display())).env_remove("VISUAL");
    let edited = crate::user::ran(command.output().unwrap());
    assert!(edited.stderr.contains("unknown status `Dubious`") && edited.code == 0, "{edited:?}");
    let mut command = user.helix();
    // Nor is vi there, which is taken else.
    command.args(["adr", "edit", "4"]).env_remove("EDITOR").env_remove("VISUAL").env("PATH", user.work());
    crate::user::ran(command.output().unwrap()).refused(2, &["neither VISUAL nor EDITOR is set", "EDITOR=nano"]);
    let made = user.run(&["adr", "site", "--out", "public"]);
    assert_eq!((made.code, made.stdout.trim()), (0, "public/index.html"), "{made:?}");
    assert!(made.stderr.contains("4 decisions written"), "{made:?}");
    assert!(read(&user, "public/decisions/0002-keep-carts-in-memory.html").contains("superseded by"));
    assert!(read(&user, "public/graph.html").contains("<svg "));
    // It is written again in its place, without what is gone; what is not its own stays.
    std::fs::remove_file(user.work().join("doc/adr/0004-back-up-at-night.md")).unwrap();
    user.write("public/decisions/mine.html", "mine");
    assert_eq!(user.run(&["adr", "site", "--out", "public"]).code, 0);
    assert!(!user.work().join("public/decisions/0004-back-up-at-night.html").exists());
    assert_eq!(read(&user, "public/decisions/mine.html"), "mine");
    user.run(&["adr", "site", "--out", "doc"]).refused(2, &["is not empty, and not a site that Helix has written"]);
}
