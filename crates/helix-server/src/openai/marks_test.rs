use helix_engine::consultant::phrases::{caution, job_asks};
use helix_job::question::QuestionView;
use helix_language::Language;

use super::*;

#[test]
fn own_marks_go_and_everything_else_stays() {
    let block = caution("the provider\nrefuses", Some("wait until 14:00"));
    assert_eq!(block, "> [!CAUTION]\n> **Helix:** The provider refuses.\n>\n> Wait until 14:00.\n");
    assert_eq!(strip(&format!("Half an answer\n\n{block}")), "Half an answer");
    assert_eq!(strip(&format!("{block}\nand on")), "and on");
    let foreign = "> [!CAUTION]\n> mind the gap\n\n<details><summary>log</summary>x</details>";
    assert_eq!(strip(foreign), foreign);
}

#[test]
fn what_helix_says_of_jobs_goes_too() {
    let question: QuestionView = serde_json::from_value(serde_json::json!({
        "id": "j1.page.1", "job": "j1", "job_name": "pages", "phase": "page", "kind": "approval", "status": "open",
        "text": "May it begin?\n\n- first\n> second", "options": [{ "key": "approve", "label": "yes" }],
        "free_text": true, "asked_at": "2026-01-01T00:00:00Z", "expires_at": null,
    }))
    .unwrap();
    let block = job_asks(Language::English, &question);
    assert_eq!(strip(&format!("It runs.\n\n{block}\n\n{block}")), "It runs.");
}

#[test]
fn marks_without_end_are_read_in_one_pass() {
    // Each of these made an earlier form look through all that follows.
    for piece in ["<details type=\"reasoning\">x\n", "> [!CAUTION]\n", "\n<details type=\"tool_calls\"</details>"] {
        let text = piece.repeat(4_000_000 / piece.len());
        let began = std::time::Instant::now();
        strip(&text);
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{piece:?} took {:?}", began.elapsed());
    }
}

#[test]
fn activity_that_clients_send_back_goes() {
    let text = "<details type=\"reasoning\" done=\"true\">\nhm\n</details>\nYes.\n<details type=\"tool_calls\" name=\"x\">y</details>\nNo.";
    assert_eq!(strip(text), "Yes.\n\nNo.");
    let open = "<details type=\"reasoning\" done=\"false\">hm";
    assert_eq!(strip(open), open);
}
