//! What the embedded agent does in the demo: one take of the Consultant, two of `implement`, one of its verifier, one of `document`.
//!
//! Must not know where any of it happens; placeholders are the cassette's own.

use serde_json::{Value, json};

const ADR: &str = include_str!("material/adr.md");
const PLAN: &str = include_str!("material/phases.yaml");
const PAGE: &str = include_str!("material/page.md");
/// The first try, which ignores quantities and fails a test.
const SOURCE: &str = include_str!("material/basket.sh");
const TESTS: &str = include_str!("material/test_basket.sh");
/// What is wrong with the first try, and what is right.
const CORRECTION: [&str; 2] = ["sum + $1", "sum + $1 * $2"];

/// What the user asks for.
pub(super) const REQUEST: &str =
    "Our shop shows a basket but not what it costs. Please add a function for the total price, with tests.";

/// The cassette, as JSON.
pub(super) fn cassette(state_dir: &str, config: &str) -> Value {
    let helix = |arguments: &[&str]| {
        let command = [&["{{helix}}", "--state-dir", state_dir, "--config", config], arguments].concat();
        json!({ "run": { "command": command, "must_succeed": true } })
    };
    let [find, replace] = CORRECTION;
    json!({
        "helix_cassette": 1,
        "pause_ms": 4,
        "takes": [
            { "key": "consultant", "repeat": true, "actions": [
                { "think": "They want a total. Whole cents, quantities count. I write down the decision, then the plan." },
                { "say": "I record the decision and plan the work in two phases: implement with tests, then document.\n\n" },
                { "write": { "path": "adr-draft.md", "text": ADR } },
                helix(&["adr", "check", "adr-draft.md"]),
                { "write": { "path": "phases.yaml", "text": PLAN } },
                helix(&["plan", "check", "phases.yaml"]),
                { "consume": { "input_tokens": 2100, "output_tokens": 640, "cost_usd": 0.0159 } },
                { "say": "The decision and the plan are checked: create the project, and run it. Every phase must pass its gates before it is merged.\n\n<!-- STEP: done -->" },
            ] },
            { "key": "implement", "take": 1, "actions": [
                { "think": "The sum of the prices, and three tests." },
                { "write": { "path": "basket.sh", "text": SOURCE } },
                { "write": { "path": "tests/test_basket.sh", "text": TESTS } },
                { "consume": { "input_tokens": 1400, "output_tokens": 310, "cost_usd": 0.0088 } },
                { "say": "I wrote the function and three tests." },
            ] },
            { "key": "implement", "take": 2, "expects": ["quantities count"], "actions": [
                { "think": "The finding says that quantities do not count." },
                { "edit": { "path": "basket.sh", "find": find, "replace": replace } },
                { "consume": { "input_tokens": 1700, "output_tokens": 90, "cost_usd": 0.0064 } },
                { "say": "The quantity was ignored; each price is now multiplied by it." },
            ] },
            { "key": "implement.verify", "repeat": true, "actions": [
                { "think": "I read the function, then each test against the criteria of the decision." },
                { "structured": { "verdict": "approved", "summary": "The total is right, and each criterion has a test that would fail without it.", "checks_passed": [
                    "an empty basket, several items and quantities are tested",
                    "no secret and no path of this machine in the changed files",
                ], "findings": [] } },
                { "consume": { "input_tokens": 1900, "output_tokens": 110, "cost_usd": 0.0021 } },
            ] },
            { "key": "document", "repeat": true, "actions": [
                { "write": { "path": "docs/basket.md", "text": PAGE } },
                { "consume": { "input_tokens": 900, "output_tokens": 120, "cost_usd": 0.0045 } },
                { "say": "The page is written." },
            ] },
        ],
    })
}

#[cfg(test)]
#[path = "cassette_test.rs"]
mod tests;
