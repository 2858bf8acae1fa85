//! A repository that Helix has never seen, in Python, Rust and JavaScript: it is looked at, a plan for it is checked and
//! carried out, its own test runner proves the result, and a defect that was there before is named and blocks nothing.

use std::process::Output;

use crate::stage::Stage;
use helix_testkit::project::{Language, Project};
use serde_json::{Value, json};

/// A language with a new file of it: first one that does not parse, then one that does.
struct Case {
    language: Language,
    found: &'static str,
    file: &'static str,
    broken: &'static str,
    whole: &'static str,
}

const CASES: [Case; 3] = [
    Case {
        language: Language::Python,
        found: "Python",
        file: "shop/tax.py",
        broken: "def tax(price:\n    return price\n",
        whole: "def tax(price):\n    return price // 5\n",
    },
    Case {
        language: Language::Rust,
        found: "Rust",
        file: "src/tax.rs",
        broken: "pub fn tax(price: u32 -> u32 { price / 5 }\n",
        whole: "pub fn tax(price: u32) -> u32 {\n    price / 5\n}\n",
    },
    Case {
        language: Language::JavaScript,
        found: "JavaScript",
        file: "src/tax.js",
        broken: "export function tax(price { return price / 5 }\n",
        whole: "export function tax(price) {\n  return price / 5;\n}\n",
    },
];

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_plan_is_carried_out_in_each_language_with_its_own_tests() {
    for case in CASES {
        let write = |content: &str| json!({ "steps": [{ "write": { "path": case.file, "content": content } }] });
        let attempts = [write(case.broken), write(case.whole)];
        // The task begins with "# Phase"; a correction speaks of the phase, too.
        let script =
            json!({ "parts": [{ "name": "tax", "prompt": { "matches": "(?i)phase" }, "attempts": attempts }] });
        let stage = Stage::new(&script.to_string(), "");
        let project = Project::with_failure(case.language);
        let repo = stage.sandbox.project("unseen", project).unwrap();

        let looked = stage.helix(&["init"]).current_dir(&repo).output().unwrap();
        assert!(looked.status.success() && said(&looked).contains(case.found), "{}", said(&looked));
        let example = repo.join("plans/example/phases.yaml");
        let text = std::fs::read_to_string(&example).unwrap();
        let described: Vec<&str> =
            text.lines().map(|line| if line.contains("Say here what") { "      Build it." } else { line }).collect();
        std::fs::write(&example, described.join("\n")).unwrap();
        let checked = stage.helix(&["plan", "check", "plans/example/phases.yaml"]).current_dir(&repo).output().unwrap();
        assert!(checked.status.success(), "{}", said(&checked));
        // What `init` wrote would make the user's tree one with files in it that belong to nobody: they commit it.
        stage.git(&repo, &["add", "--all"]);
        stage.git(&repo, &["commit", "--quiet", "--message", "Use Helix"]);

        let plan = format!(
            "name: tax\nphases:\n  - id: tax\n    name: Add the tax\n    type: development\n    description: Write {file}.\n    \
             outputs: [{file}]\n    gates:\n      - {{ type: outputs_claimed }}\n      - {{ type: syntax_check }}\n      \
             - {{ type: tests_pass, command: \"{command}\", known_failures: [\"*known*\"], control: off }}\n",
            file = case.file,
            command = project.test_command(),
        );
        let plan = stage.plan("tax", &plan);
        let ran = stage.helix(&["run", plan.to_str().unwrap(), "--project", repo.to_str().unwrap()]).output().unwrap();
        assert!(ran.status.success(), "{}: {}", case.found, said(&ran));

        assert_eq!(stage.git(&repo, &["show", &format!("HEAD:{}", case.file)]), case.whole.trim_end());
        assert_eq!(stage.git(&repo, &["status", "--porcelain"]), "", "the user's tree is up to date and clean");
        let shown = stage.helix(&["--json", "jobs", "list"]).output().unwrap();
        let jobs: Value = serde_json::from_slice(&shown.stdout).unwrap();
        let phase = &jobs[0]["phases"][0];
        assert_eq!((phase["status"].as_str(), phase["attempt"].as_u64()), (Some("passed"), Some(2)), "{jobs:#}");
        let tests = &phase["gates"][2];
        assert!(tests["tests"]["passed"].as_u64().unwrap() > 0, "{tests:#}");
        assert_eq!(tests["tests"]["failed"], 1, "{tests:#}");
        assert!(tests["notes"].to_string().contains("known"), "the old defect is named: {tests:#}");
    }
}
