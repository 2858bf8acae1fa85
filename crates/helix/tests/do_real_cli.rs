//! `helix do` from outside, with the real agent CLI: a sentence in a repository becomes a plan, and on a yes a merged job.

use std::fs;

use crate::e2e::Bed;
use helix_testkit::locate::PINNED_CLAUDE;
use serde_json::json;

#[test]
fn a_sentence_in_a_repository_becomes_a_merged_job() {
    let bed = Bed::serve(PINNED_CLAUDE, include_str!("e2e/do.yaml").parse().unwrap());
    let ledger = bed.projects().join("ledger");
    fs::create_dir_all(&ledger).unwrap();
    fs::write(ledger.join("book.py"), "def balance(entries):\n    return sum(cents for _, cents in entries)\n")
        .unwrap();
    fs::write(
        ledger.join("test_book.py"),
        "from book import balance\n\n\ndef test_nothing():\n    assert balance([]) == 0\n",
    )
    .unwrap();
    fs::write(ledger.join(".gitignore"), "__pycache__/\n.pytest_cache/\n").unwrap();
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "The book"]] {
        bed.git(&ledger, arguments);
    }
    // Work of the user's that the result does not touch is no obstacle.
    fs::write(ledger.join("book.py"), "# mine\ndef balance(entries):\n    return sum(cents for _, cents in entries)\n")
        .unwrap();
    let steps = json!([
        { "expect": "→ Read book.py", "type": "" },
        { "expect": "✎ adr-draft.md (+", "type": "" },
        { "expect": "Balance of a month", "type": "" },
        { "expect": "(development): Add the balance of a month", "type": "" },
        { "expect": "say what to change:", "type": "y\r" },
        { "expect": "merged into main", "type": "" },
    ]);
    let ended = bed.at_terminal(&ledger, &["do", "Add the balance of a month"], &steps);
    assert_eq!(ended["code"], 0, "{ended:#}");
    let seen = ended["seen"].as_str().unwrap();
    assert!(seen.contains("One phase adds month.py and its tests.") && !seen.contains("STEP"), "{seen}");

    let jobs = bed.helix(0, &["jobs", "list"]);
    assert_eq!((jobs.as_array().unwrap().len(), &jobs[0]["status"]), (1, &json!("succeeded")), "{jobs:#}");
    let tests = &jobs[0]["phases"][0]["gates"][1];
    assert_eq!((&tests["gate"], &tests["tests"]["passed"]), (&json!("tests_pass"), &json!(3)), "{jobs:#}");
    // On a yes the decision has its number and is accepted, by the person who said it; the plan names it.
    let adr = fs::read_to_string(ledger.join("adr/001-balance-of-a-month.md")).unwrap();
    assert!(adr.contains("status: Accepted"), "{adr}");
    assert_eq!(jobs[0]["adr"], "adr/001-balance-of-a-month.md", "{jobs:#}");
    assert!(ledger.join("month.py").is_file());
    assert_eq!(bed.git(&ledger, &["status", "--porcelain"]).trim(), "M book.py");
    let message = bed.git(&ledger, &["log", "-1", "--format=%B"]);
    assert!(message.starts_with("month: The balance of one month\n"), "{message}");
    assert!(message.contains("Helix-Agent: claude"), "{message}");

    // What the model was told of the place: path, files, decisions with the next number, and who starts.
    let requests = bed.model.requests();
    let first = requests.iter().find(|one| one.answered_by.as_deref().is_some_and(|by| by.starts_with("scene drafts")));
    let told = first.unwrap().body["messages"].to_string();
    for part in [ledger.to_str().unwrap(), "book.py", "The next number is 001", "How drafts are started"] {
        assert!(told.contains(part), "{part:?} is not in {told}");
    }
    bed.leave();
}
