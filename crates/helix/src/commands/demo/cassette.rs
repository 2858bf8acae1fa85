//! What the embedded agent does in the demo: one take of the Consultant, two of `implement`, one of its verifier, one of `document`.
//!
//! Must not know where any of it happens; placeholders are the cassette's own.

#[cfg(test)]
use helix_plan::Plan;
use serde_json::{Value, json};

use super::flavour::Flavour;

const ADR: &str = include_str!("material/adr.md");
const PLAN: &str = include_str!("material/phases.yaml");
const PAGE: &str = include_str!("material/page.md");

/// What the user asks for.
pub(super) const REQUEST: &str =
    "Our shop shows a basket but not what it costs. Please add a function for the total price, with tests.";

/// The cassette for this machine's language, as JSON.
pub(super) fn cassette(flavour: &Flavour, state_dir: &str, config: &str, projects: &str) -> Value {
    let fill = |text: &str| {
        let proofs = flavour.proofs.iter().enumerate();
        let text = proofs.fold(text.to_owned(), |text, (at, proof)| text.replace(&format!("@@PROOF{at}@@"), proof));
        text.replace("@@SOURCE@@", flavour.source)
            .replace("@@TEST@@", flavour.test)
            .replace("@@GATE@@", flavour.gate)
            .replace("@@COMMAND@@", flavour.command)
    };
    let helix = |arguments: &[&str]| {
        let command: Vec<&str> = ["{{helix}}", "--state-dir", state_dir, "--config", config]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        json!({ "run": { "command": command, "must_succeed": true } })
    };
    let project = format!("{projects}/shop");
    json!({
        "helix_cassette": 1,
        "pause_ms": 4,
        "takes": [
            { "key": "consultant", "repeat": true, "actions": [
                { "think": "They want a total. Whole cents, quantities count. I write down the decision, then the plan." },
                { "say": "I record the decision and plan the work in two phases: implement with tests, then document.\n\n" },
                { "write": { "path": "adr-draft.md", "text": fill(ADR) } },
                helix(&["adr", "check", "adr-draft.md"]),
                { "write": { "path": "phases.yaml", "text": fill(PLAN) } },
                helix(&["plan", "check", "phases.yaml"]),
                helix(&["project", "create", "shop", "--adr", "adr-draft.md", "--plan", "phases.yaml"]),
                helix(&["run", &project, "--detach"]),
                { "consume": { "input_tokens": 2100, "output_tokens": 640, "cost_usd": 0.0159 } },
                { "say": "The decision is recorded as ADR-001, the plan is checked, and the job is running. Every phase must pass its gates before it is merged.\n\n<!-- STEP: done -->" },
            ] },
            { "key": "implement", "take": 1, "actions": [
                { "think": "The sum of the prices, and three tests." },
                { "write": { "path": flavour.source, "text": flavour.first } },
                { "write": { "path": flavour.test, "text": flavour.tests } },
                { "consume": { "input_tokens": 1400, "output_tokens": 310, "cost_usd": 0.0088 } },
                { "say": "I wrote the function and three tests." },
            ] },
            { "key": "implement", "take": 2, "expects": [flavour.test], "actions": [
                { "think": "The finding says that quantities do not count." },
                { "edit": { "path": flavour.source, "find": flavour.find, "replace": flavour.replace } },
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
                { "write": { "path": "docs/basket.md", "text": fill(PAGE) } },
                { "consume": { "input_tokens": 900, "output_tokens": 120, "cost_usd": 0.0045 } },
                { "say": "The page is written." },
            ] },
        ],
    })
}

/// The plan as the Consultant writes it, for the tests.
#[cfg(test)]
pub(super) fn plan_of(flavour: &Flavour) -> Result<helix_plan::ParsedPlan, Vec<helix_core::diagnostic::Diagnostic>> {
    let cassette = cassette(flavour, "/s", "/c", "/p");
    let text = cassette.pointer("/takes/0/actions/4/write/text").and_then(Value::as_str).unwrap_or_default();
    Plan::parse("phases.yaml", text)
}

#[cfg(test)]
#[path = "cassette_test.rs"]
mod tests;
