//! Reply enforcement, the save hook, experts, skills and Helix's tools, with the real agent CLI [3-7, 45].

use crate::e2e::Bed;
use helix_testkit::locate::PINNED_CLAUDE;
use helix_testkit::model::Script;
use serde_json::{Value, json};

/// The turns of the only session.
fn turns(client: &mut crate::e2e::Client) -> Vec<Value> {
    let sessions = client.get("/api/v1/sessions");
    let id = sessions["sessions"][0]["id"].as_str().unwrap().to_owned();
    let session = client.get(&format!("/api/v1/sessions/{id}"));
    session["turns"].as_array().unwrap_or_else(|| panic!("{session:#}")).clone()
}

#[test]
fn a_missing_marker_is_asked_for_and_the_answer_stands() {
    let script: Script = r#"
rules:
  - when: { prompt: Do not repeat the answer }
    reply: { text: "<!-- STEP: what -->" }
  - when: { prompt: Hello }
    reply: { text: "Good day. \n" }
"#
    .parse()
    .unwrap();
    let bed = Bed::serve(PINNED_CLAUDE, script);
    let mut client = bed.client();
    let report = client.say("Hello");
    assert_eq!(report["error"], Value::Null, "{report:#}");
    assert_eq!(report["text"].as_str().unwrap().trim_end(), "Good day.", "the answer stands, once: {report:#}");
    assert!(report["reasoning"].as_str().unwrap().contains("step_marker"), "the retry is not visible: {report:#}");
    let requests = bed.model.requests();
    assert_eq!(requests.len(), 2);
    let session = "x-claude-code-session-id";
    assert_eq!(requests[0].headers[session], requests[1].headers[session], "another session was asked");
    assert!(report["usage"]["completion_tokens"].as_u64() >= Some(40), "both runs count: {report:#}");
    let turn = &turns(&mut client)[0];
    assert_eq!(turn["checks"][0]["findings"][0]["validator"], "step_marker", "{turn:#}");
    assert_eq!(turn["end"]["runs"], 2, "{turn:#}");
    assert_eq!(turn["end"]["answer"], "Good day.\n\n<!-- STEP: what -->", "{turn:#}");
    drop(client);
    bed.leave();
}

/// Who reads along keeps what was refused and sees where the other answer begins; everybody else gets that one alone. Both go on in
/// their session.
#[test]
fn a_refused_answer_gives_way_to_the_one_that_passes() {
    let script: Script = r#"
rules:
  - when: { prompt: Your last answer was checked }
    times: always
    reply: { text: "There is no such file.\n<!-- STEP: what -->" }
  - when: { prompt: Show it }
    times: always
    reply: { text: "Read [it](adr-draft.md).\n<!-- STEP: what -->" }
  - when: { prompt: And then }
    times: always
    reply: { text: "Nothing more.\n<!-- STEP: what -->" }
"#
    .parse()
    .unwrap();
    let bed = Bed::serve(PINNED_CLAUDE, script);
    let mut reader = bed.client();
    let report = reader.say("Show it");
    let (refused, replaced) = report["text"].as_str().unwrap().split_once("\n\n> [!NOTE]\n> **Helix:** ").unwrap();
    assert!(refused.starts_with("Read [it]"), "{report:#}");
    assert_eq!(
        replaced, "The answer above did not pass its checks. The answer below replaces it.\n\nThere is no such file.",
        "{report:#}"
    );
    assert_eq!(reader.say("And then?")["text"], "Nothing more.");
    let mut other = bed.client();
    assert_eq!(other.ask("Show it, please")["text"], "There is no such file.");
    assert_eq!(other.ask("And then, please?")["text"], "Nothing more.");
    let sessions = reader.get("/api/v1/sessions");
    let sessions = sessions["sessions"].as_array().unwrap().clone();
    let ids = sessions.iter().map(|one| one["id"].as_str().unwrap());
    let turns = |id| reader.get(&format!("/api/v1/sessions/{id}"))["turns"].as_array().unwrap().len();
    assert_eq!(ids.map(turns).collect::<Vec<_>>(), [2, 2], "{sessions:#?}");
    drop((reader, other));
    bed.leave();
}

#[test]
fn an_unknown_marker_is_reported_and_nothing_is_inferred() {
    // Every correction is answered with another word that is no step.
    let script: Script = r#"
rules:
  - reply: { text: "Good day.\n<!-- STEP: unknown -->" }
"#
    .parse()
    .unwrap();
    let bed = Bed::serve(PINNED_CLAUDE, script);
    let mut client = bed.client();
    let report = client.say("Hello");
    let text = report["text"].as_str().unwrap();
    assert!(
        text.starts_with("Good day.\n\n> [!CAUTION]\n> **Helix:** This answer did not pass its checks"),
        "{report:#}"
    );
    assert!(text.contains("asked 2 times") && text.contains("step_marker"), "{report:#}");
    assert_eq!(bed.model.requests().len(), 3);
    assert_eq!(report["finish"], "stop", "a missing marker is no failure of the turn: {report:#}");
    drop(client);
    bed.leave();
}

#[test]
fn a_plan_with_errors_is_found_when_it_is_saved_and_again_in_the_answer() {
    let script: Script = r##"
rules:
  - when: { prompt: Plan it, last: prompt }
    reply:
      text: "I write the plan."
      tools:
        - { name: Write, input: { file_path: "{{cwd}}/phases.yaml", content: "name: notes\nphases:\n  - id: A B\n" } }
  - when: { prompt: Plan it, tool_result: { tool: Write } }
    reply: { text: "It is planned, trust me.\n<!-- STEP: generate -->" }
  - when: { prompt: must be fixed first, last: prompt }
    reply:
      tools: [{ name: Read, input: { file_path: "{{cwd}}/phases.yaml" } }]
  - when: { prompt: must be fixed first, tool_result: { tool: Read } }
    reply:
      tools:
        - name: Write
          input:
            file_path: "{{cwd}}/phases.yaml"
            content: "name: notes\nphases:\n  - id: notes\n    name: Notes\n    type: documentation\n    description: Write them\n    outputs: [notes.md]\n"
  - when: { prompt: must be fixed first, tool_result: { tool: Write, is_error: false } }
    reply: { text: "Here is [the plan](phases.yaml).\n<!-- STEP: generate -->" }
"##
    .parse()
    .unwrap();
    let bed = Bed::serve(PINNED_CLAUDE, script);
    let mut client = bed.client();
    let report = client.say("Plan it");
    let text = report["text"].as_str().unwrap();
    assert!(text.starts_with("I write the plan."), "{report:#}");
    assert!(text.contains("Here is [the plan](http://127.0.0.1:") && text.ends_with(")."), "{report:#}");
    assert!(!text.contains("trust me"), "an answer that was not in order was shown as one: {report:#}");
    let reasoning = report["reasoning"].as_str().unwrap();
    assert!(reasoning.contains("plan_valid") && reasoning.contains("trust me"), "{report:#}");

    let requests = bed.model.requests();
    let body = |at: usize| requests[at].body["messages"].to_string();
    assert!(body(1).contains("Helix checked the plan phases.yaml"), "the hook told the agent nothing: {}", body(1));
    assert!(body(2).contains("must be fixed first") && body(2).contains("phases.yaml:3"), "{}", body(2));
    let after = requests.last().unwrap().body["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(!after.contains("Helix checked"), "a good plan is no finding: {after}");
    let turn = &turns(&mut client)[0];
    assert_eq!(turn["checks"].as_array().unwrap().len(), 1, "{turn:#}");
    assert_eq!(turn["checks"][0]["findings"][0]["validator"], "plan_valid", "{turn:#}");

    // The next question is an ordinary one, whatever lies in the directory.
    drop(client);
    bed.leave();
}

#[test]
fn experts_are_sub_agents_of_the_cli() {
    let script: Script = r#"
rules:
  - when: { system: You are a database engineer }
    reply: { text: "The index is missing." }
  - when: { prompt: Ask the expert, last: prompt }
    reply:
      tools:
        - name: Agent
          input: { description: second opinion, subagent_type: databases, prompt: "Is this schema fine?" }
  - when: { prompt: Ask the expert, tool_result: { text: The index is missing } }
    reply: { text: "The expert misses an index.\n<!-- STEP: why -->" }
"#
    .parse()
    .unwrap();
    let experts = "[experts.databases]\ndescription = \"Knows databases\"\nprompt = \"You are a database engineer.\"\n";
    let bed = Bed::serve_with(PINNED_CLAUDE, script, "[consultant]\nexperts = true\n", &[("experts.toml", experts)]);
    let mut client = bed.client();
    let report = client.say("Ask the expert");
    assert_eq!(report["text"].as_str().map(str::trim), Some("The expert misses an index."), "{report:#}");
    let run = turns(&mut client)[0]["run"].as_str().unwrap().to_owned();
    let printed = bed.printed(&run);
    let init: Value = printed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["subtype"] == "init")
        .unwrap();
    assert!(init["agents"].as_array().unwrap().contains(&json!("databases")), "{init:#}");
    assert_eq!(bed.model.requests().len(), 3);
    drop(client);
    bed.leave();
}

#[test]
fn the_consultant_reads_skills_and_asks_through_helixs_tools() {
    let script: Script = r#"
rules:
  - when: { prompt: Which style, last: prompt, any_prompt: "- python: How we write Python", has_tool: mcp__helix__skill_read }
    reply:
      tools:
        - { name: mcp__helix__skills_list, input: {} }
        - { name: mcp__helix__skill_read, input: { name: python } }
        - { name: mcp__helix__ask_user, input: { question: "Tabs or spaces?", options: [tabs, spaces] } }
        - { name: mcp__helix__similar_failures, input: { text: "ModuleNotFoundError: No module named x" } }
        - { name: mcp__helix__answer, input: { choice: approve } }
  - when: { prompt: Which style, tool_result: { tool: mcp__helix__skill_read, is_error: false, text: Use spaces } }
    reply: { text: "Tabs or spaces?\n<!-- STEP: constraints -->" }
"#
    .parse()
    .unwrap();
    let skill = "---\nname: python\ndescription: How we write Python\n---\nUse spaces.\n";
    let bed = Bed::serve_with(PINNED_CLAUDE, script, "", &[("skills/python/SKILL.md", skill)]);
    let mut client = bed.client();
    let report = client.say("Which style?");
    assert_eq!(report["text"].as_str().map(str::trim), Some("Tabs or spaces?"), "{report:#}");
    let results = bed.model.requests()[1].body["messages"].as_array().unwrap().last().unwrap().to_string();
    for part in ["- python: How we write Python", "End your turn now", "No similar failure", "waits for an answer"] {
        assert!(results.contains(part), "{part:?} is not in {results}");
    }
    drop(client);
    bed.leave();
}
