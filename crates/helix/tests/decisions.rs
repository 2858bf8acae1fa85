//! A planning phase that writes a decision is held to the rules of decisions: what is missing goes back to the agent with
//! its place, and only a valid record is merged.

use crate::stage::Stage;
use serde_json::{Value, json};

const HALF: &str =
    "---\nadr_id: \"001\"\ntitle: Totals\nstatus: Proposed\n---\n\n# Totals\n\n## Context\n\nBaskets show no total.\n";
const REST: &str = "\n## Decision\n\nOne function adds the prices up.\n\n## Acceptance criteria\n\n- [ ] `pytest -q` passes\n- [ ] an \
                    empty basket costs 0\n- [ ] quantities count\n";
const PLAN: &str = "name: decide\nphases:\n  - id: decide\n    name: Decide\n    type: planning\n    description: Record the \
                    decision.\n    outputs: [adr/001-totals.md]\n    gates: [{ type: adr_valid }, { type: files_exist }]\n";

#[test]
fn a_decision_with_a_missing_section_is_sent_back_and_then_merged() {
    let write = |text: String| json!({ "steps": [{ "write": { "path": "adr/001-totals.md", "content": text } }] });
    let attempts = [write(HALF.into()), write(format!("{HALF}{REST}"))];
    let script = json!({ "parts": [{ "name": "decide", "prompt": { "matches": "(?i)phase" }, "attempts": attempts }] });
    let stage = Stage::new(&script.to_string(), "");
    let plan = stage.plan("decide", PLAN);
    let ran =
        stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("adr/001-totals.md") && said.contains("the section Decision is missing"), "{said}");
    assert_eq!(stage.git(&stage.repo, &["show", "HEAD:adr/001-totals.md"]), format!("{HALF}{REST}").trim_end());
    let shown = stage.helix(&["--json", "jobs", "list"]).output().unwrap();
    let jobs: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(jobs[0]["phases"][0]["attempt"], 2, "{jobs:#}");
}
