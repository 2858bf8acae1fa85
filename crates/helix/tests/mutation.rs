//! A plan whose gate plants small mistakes: careless tests go back to the agent, with the mistakes that nobody noticed.

use crate::stage::Stage;
use serde_json::{Value, json};

const SOURCE: &str =
    "def tax(cents, gross):\\n    if gross and cents > 9:\\n        return cents * 19 // 100\\n    return 0\\n";

/// A stage whose agent writes careless tests in its first attempt and thorough ones in its second.
fn stage() -> Stage {
    let test = |body: &str| {
        format!(
            "import unittest\\nfrom shop.tax import tax\\n\\n\\nclass T(unittest.TestCase):\\n    def test_tax(self):\\n{body}"
        )
    };
    let careless =
        test("        self.assertGreater(tax(200, True), 0)\\n        self.assertEqual(tax(200, False), 0)\\n");
    let thorough = test(
        "        self.assertEqual(tax(9900, True), 1881)\\n        self.assertEqual(tax(200, False), 0)\\n        \
         self.assertEqual(tax(9, True), 0)\\n        self.assertEqual(tax(10, True), 1)\\n",
    );
    let write = |path: &str, text: &str| format!("{{ write: {{ path: {path}, content: \"{text}\" }} }}");
    let (source, careless) = (write("shop/tax.py", SOURCE), write("tests/test_tax.py", &careless));
    let thorough = write("tests/test_tax.py", &thorough);
    let script = format!(
        "parts:\n  - name: tax\n    prompt: {{ matches: \".\" }}\n    attempts:\n      - steps: [{source}, {careless}]\n      - steps: [{thorough}]\n"
    );
    Stage::new(&script, "")
}

fn plan(more: &str) -> String {
    format!(
        "name: tax\nphases:\n  - id: tax\n    type: development\n    description: TAX-PHASE adds the tax\n    outputs: [shop/tax.py, tests/test_tax.py]\n    on_failure: fail\n    max_attempts: 2\n    \
         gates:\n      - {{ type: mutation, command: \"python3 -m unittest discover -s tests -t .\"{more} }}\n"
    )
}

#[test]
fn careless_tests_go_back_with_the_mistakes_that_nobody_noticed() {
    let stage = stage();
    let plan = stage.plan("tax", &plan(", min_killed: 90, timeout: 5m"));
    let run =
        stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let jobs = stage.helix(&["--json", "jobs", "list"]).output().unwrap();
    let jobs: Value = serde_json::from_slice(&jobs.stdout).unwrap();
    assert_eq!((&jobs[0]["status"], &jobs[0]["phases"][0]["attempt"]), (&json!("succeeded"), &json!(2)), "{said}");
    let id = jobs[0]["id"].as_str().unwrap();
    let events = stage.helix(&["--json", "jobs", "watch", id]).output().unwrap();
    let events = String::from_utf8_lossy(&events.stdout).into_owned();
    for part in ["mutation.survived", "no test notices when `return cents * 19 // 100` becomes `", "planted mistakes"] {
        assert!(events.contains(part), "{part}: {events}");
    }
    let commit = jobs[0]["commit"].as_str().unwrap();
    assert!(stage.git(&stage.repo, &["show", &format!("{commit}:tests/test_tax.py")]).contains("1881"), "{said}");
    // What is merged is what the agent wrote, without a mistake in it.
    assert!(stage.git(&stage.repo, &["show", &format!("{commit}:shop/tax.py")]).contains("cents * 19 // 100"));
}

#[test]
fn a_share_that_cannot_be_is_refused_where_it_stands() {
    let stage = Stage::new("{ parts: [] }", "");
    for (more, says) in [(", min_killed: 0", "`min_killed` is 0"), (", min_killed: 101", "`min_killed` is 101")] {
        let plan = stage.plan("tax", &plan(more));
        let check = stage.helix(&["plan", "check", plan.to_str().unwrap()]).current_dir(&stage.repo).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&check.stdout), String::from_utf8_lossy(&check.stderr));
        assert!(!check.status.success() && said.contains(says) && said.contains("from 1 to 100"), "{said}");
    }
}
