//! What a project and its user tell agents reaches the model, by the real CLIs: that of a phase, of its verifier and of the Consultant.

use std::fs;
use std::path::{Path, PathBuf};

use crate::e2e::Bed;
use helix_testkit::locate::PINNED_CLAUDE;
use helix_testkit::model::RecordedRequest;
use serde_json::Value;

const PLAN: &str = "name: pages\nphases:\n  - { id: page, type: documentation, description: Write the page., outputs: [page.md, AGENTS.md], max_attempts: 1, gates: [{ type: files_exist }], verify: true }\n";

/// A project whose rules begin with words of their own, in all the places where agents look for them.
fn project(bed: &Bed) -> PathBuf {
    let project = bed.projects().join("shop");
    for (path, text) in [
        ("phases.yaml", PLAN),
        ("AGENTS.md", "RULE-ROOT: use tabs.\n"),
        ("CLAUDE.md", "@docs/style.md\n"),
        ("docs/style.md", "RULE-IMPORTED: short lines.\n"),
        ("web/CLAUDE.md", "RULE-WEB: no frameworks.\n"),
        (".claude/rules/tests.md", "---\npaths: [\"tests/**\"]\n---\nRULE-TESTS: name behaviour.\n"),
        (".claude/skills/release/SKILL.md", "---\nname: release\ndescription: How to release.\n---\nSKILL-PAGE\n"),
        (".claude/settings.json", "{\"permissions\": {\"deny\": [\"Read(./secret.txt)\", \"Read(.env)\"]}}\n"),
        ("secret.txt", "SECRET-CONTENT\n"),
        ("web/.env", "SECRET-CONTENT\n"),
    ] {
        let path = project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    bed.git(&project, &["init", "-q", "-b", "main"]);
    bed.git(&project, &["add", "-Af"]);
    bed.git(&project, &["commit", "-q", "-m", "start"]);
    // What is not committed tells nobody anything.
    fs::write(project.join("docs/CLAUDE.md"), "RULE-UNCOMMITTED\n").unwrap();
    project
}

/// What the model was sent of the conversations that begin with this prompt.
fn sent(bed: &Bed, prompt: &str) -> Vec<RecordedRequest> {
    let all: Vec<RecordedRequest> = bed.model.requests().into_iter().filter(|one| one.method == "POST").collect();
    let found: Vec<RecordedRequest> =
        all.into_iter().filter(|one| one.body["messages"][0].to_string().contains(prompt)).collect();
    assert!(!found.is_empty(), "nobody asked {prompt:?}");
    found
}

const RULES: [&str; 5] = ["RULE-ROOT", "RULE-IMPORTED", "RULE-WEB", "RULE-TESTS", "- release: How to release."];

#[test]
fn every_agent_of_a_job_is_told_the_rules_of_the_commit_it_starts_from() {
    let script = r##"
scenes:
  - name: reviewer
    prompt: You are an independent reviewer
    steps:
      - tools: [{ name: Read, input: { file_path: "{{cwd}}/secret.txt" } }]
      - expect: { tool_result: { tool: Read, is_error: true } }
        structured: { verdict: approved, summary: It is there., findings: [] }
      - text: Approved.
  - name: page
    prompt: "# Phase `page` of"
    steps:
      - tools: [{ name: Read, input: { file_path: "{{cwd}}/secret.txt" } }]
      - expect: { tool_result: { tool: Read, is_error: true } }
        tools: [{ name: Read, input: { file_path: "{{cwd}}/web/.env" } }]
      - expect: { tool_result: { tool: Read, is_error: true } }
        tools: [{ name: Read, input: { file_path: "{{cwd}}/web/CLAUDE.md" } }]
      - expect: { tool_result: { tool: Read, is_error: false, text: RULE-WEB } }
        tools: [{ name: Bash, input: { command: "cat {{projects}}/../state/agent-files/rules-15394aac5b7e15e4837650b7423fabca/.claude/skills/release/SKILL.md", description: the skill } }]
      - expect: { tool_result: { tool: Bash, is_error: false, text: SKILL-PAGE } }
        tools: [{ name: Bash, input: { command: "printf 'RULE-OF-THE-AGENT\\n' > AGENTS.md; echo hi > page.md; cat /proc/$PPID/cmdline | tr '\\0' ' '", description: write } }]
      - expect: { tool_result: { tool: Bash, is_error: false } }
        text: The page is there.
"##;
    for version in [PINNED_CLAUDE, "2.1.197"] {
        let bed = Bed::serve(version, script.parse().unwrap());
        let project = project(&bed);
        bed.helix(0, &["run", project.join("phases.yaml").to_str().unwrap()]);
        let (work, review) = (sent(&bed, "# Phase `page` of"), sent(&bed, "You are an independent reviewer"));
        for request in work.iter().chain(&review) {
            let system = request.body["system"].to_string();
            for rule in RULES {
                assert!(system.contains(rule), "{version}: {rule} is not told: {system}");
            }
            let all = request.body.to_string();
            assert!(!all.contains("RULE-UNCOMMITTED") && !all.contains("SECRET-CONTENT"), "{version}: {all}");
            assert!(!system.contains("RULE-OF-THE-AGENT"), "{version}: an agent's own rule counts: {system}");
            assert_eq!(all.matches("RULE-IMPORTED").count(), 1, "{version}: it is told once: {all}");
        }
        // The page of the skill is the commit's, laid out where the agent may read.
        let page = page_of(&work[0].body["system"]);
        assert_eq!(fs::read_to_string(&page).unwrap().lines().last(), Some("SKILL-PAGE"), "{page:?}");
        // Both are told alike, so that the provider's cache serves the second one.
        let told = |request: &RecordedRequest| rules_in(&request.body["system"]);
        assert_eq!(told(&work[0]), told(&review[0]), "{version}");
        let asked = review[0].body["messages"].to_string();
        assert!(
            asked.contains("These tell agents how to work") && asked.contains("RULE-OF-THE-AGENT"),
            "{version}: {asked}"
        );
        let last = work.last().unwrap().body["messages"].to_string();
        assert!(last.contains("--append-system-prompt-file") && !last.contains("RULE-TESTS"), "{version}: {last}");
        bed.leave();
    }
}

fn text_of(system: &Value) -> String {
    system.as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap_or_default()).collect()
}

fn rules_in(system: &Value) -> String {
    let text = text_of(system);
    let told = &text[text.find("# Rules of this project").unwrap_or_else(|| panic!("{text}"))..];
    // What the older CLI adds of git.
    told.split("gitStatus").next().unwrap_or_default().trim_end().to_owned()
}

fn page_of(system: &Value) -> PathBuf {
    let text = text_of(system);
    let line = text.lines().find(|line| line.starts_with("- release:")).unwrap_or_else(|| panic!("{text}"));
    Path::new(line.split('`').nth(1).unwrap()).to_owned()
}

#[test]
fn the_consultant_is_told_the_rules_of_its_project_and_kept_from_what_it_denies() {
    let script = r##"
scenes:
  - name: first
    prompt: "Look at the shop"
    steps:
      - tools: [{ name: mcp__helix__adr_list, input: { project: "{{projects}}/shop" } }]
      - text: "I see it.\n<!-- STEP: what -->"
  - name: second
    prompt: "What is secret"
    steps:
      - tools: [{ name: Read, input: { file_path: "{{projects}}/shop/secret.txt" } }]
      - expect: { tool_result: { tool: Read, is_error: true } }
        tools: [{ name: Read, input: { file_path: "{{projects}}/shop/web/.env" } }]
      - expect: { tool_result: { tool: Read, is_error: true } }
        tools: [{ name: Read, input: { file_path: "{{projects}}/shop/docs/style.md" } }]
      - expect: { tool_result: { tool: Read, is_error: false, text: RULE-IMPORTED } }
        text: "I may not say.\n<!-- STEP: what -->"
  - name: third
    prompt: "And now"
    steps:
      - text: "Nothing.\n<!-- STEP: what -->"
"##;
    for version in [PINNED_CLAUDE, "2.1.197"] {
        let bed = Bed::serve(version, script.parse().unwrap());
        project(&bed);
        let mut client = bed.client();
        for (message, told) in [("Look at the shop.", 0), ("What is secret?", 1), ("And now?", 1)] {
            let report = client.say(message);
            assert_eq!(report["error"], Value::Null, "{version}: {report:#}");
            let last = bed.model.requests().last().unwrap().body["messages"].to_string();
            assert_eq!(last.matches("RULE-ROOT").count(), told, "{version}, {message}: {last}");
            assert!(!last.contains("SECRET-CONTENT") && !last.contains("RULE-UNCOMMITTED"), "{version}: {last}");
        }
        drop(client);
        bed.leave();
    }
}

/// What the user has for the agent reaches it as far as the configuration says so; what the user's settings forbid always counts.
#[test]
fn the_users_own_rules_servers_and_denials_reach_the_agent_as_configured() {
    let script = r##"
scenes:
  - name: reviewer
    prompt: You are an independent reviewer
    steps:
      - structured: { verdict: approved, summary: It is there., findings: [] }
      - text: Approved.
  - name: page
    prompt: "# Phase `page` of"
    steps:
      - tools: [{ name: mcp__tracker__close, input: {} }]
      - expect: { tool_result: { tool: mcp__tracker__close, is_error: false, text: closed by token s3 } }
        tools: [{ name: mcp__tracker__delete, input: {} }]
      - expect: { tool_result: { tool: mcp__tracker__delete, is_error: true } }
        tools: [{ name: Bash, input: { command: "touch pushed.txt", description: forbidden } }]
      - expect: { tool_result: { tool: Bash, is_error: true } }
        tools: [{ name: Write, input: { file_path: "{{cwd}}/page.md", content: "hi\n" } }]
      - expect: { tool_result: { tool: Write, is_error: false } }
        text: The page is there.
"##;
    let keys =
        "inherit = [\"rules\", \"skills\", \"mcp:tracker\", \"hooks\"]\ntools = { deny = [\"mcp:tracker/delete\"] }\n";
    let server = include_str!("e2e/tool_server.py");
    let files = [
        ("tool_server.py", server),
        ("../../../claude-config/CLAUDE.md", "RULE-OF-THE-USER: be brief.\n"),
        ("../../../claude-config/rules/more.md", "RULE-MORE-OF-THE-USER\n"),
        ("../../../claude-config/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: How to tidy.\n---\nx\n"),
        (
            "../../../claude-config/settings.json",
            "{\"permissions\": {\"deny\": [\"Bash(touch:*)\"]}, \"hooks\": {\"PostToolUse\": [{\"matcher\": \"Write\", \"hooks\": [{\"type\": \"command\", \"command\": \"echo hooked > hooked.txt\"}]}]}}\n",
        ),
        (
            ".mcp.json",
            "{\"mcpServers\": {\"tracker\": {\"command\": \"python3\", \"args\": [\"./tool_server.py\"], \"env\": {\"TRACKER_TOKEN\": \"s3\"}}, \"other\": {\"command\": \"false\"}}}",
        ),
    ];
    for version in [PINNED_CLAUDE, "2.1.197"] {
        let bed = Bed::serve_agent(version, script.parse().unwrap(), keys, &files);
        let project = project(&bed);
        bed.git(&project, &["rm", "-q", "--cached", ".claude/settings.json"]);
        fs::write(project.join("phases.yaml"), PLAN.replace(", AGENTS.md]", "]")).unwrap();
        bed.git(&project, &["add", "phases.yaml"]);
        bed.git(&project, &["commit", "-q", "-m", "less"]);
        let dry = bed.helix(0, &["run", "--dry-run", project.join("phases.yaml").to_str().unwrap()]);
        let of =
            |agent: &str| dry["agents"].as_array().unwrap().iter().find(|one| one["agent"] == agent).unwrap().clone();
        assert_eq!(dry["agents"][0]["rules"][0]["path"], "AGENTS.md", "{dry:#}");
        assert_eq!(of("claude")["tool_servers"], serde_json::json!(["tracker"]), "{dry:#}");
        assert!(of("claude")["deny"].to_string().contains("shell:touch:*"), "{dry:#}");
        let doctor = String::from_utf8(bed.at(&project, &["doctor"]).stdout).unwrap();
        for part in
            ["AGENTS.md (", "skills: release", "tool servers: tracker", "denied: mcp:tracker/delete, shell:touch:*"]
        {
            assert!(doctor.contains(part), "{part}: {doctor}");
        }
        bed.helix(0, &["run", project.join("phases.yaml").to_str().unwrap()]);
        let (work, review) = (sent(&bed, "# Phase `page` of"), sent(&bed, "You are an independent reviewer"));
        for request in work.iter().chain(&review) {
            let system = text_of(&request.body["system"]);
            let place = |text: &str| system.find(text).unwrap_or_else(|| panic!("{version}: no {text}: {system}"));
            assert!(place("RULE-OF-THE-USER") < place("RULE-ROOT"), "{version}");
            assert!(place("RULE-MORE-OF-THE-USER") < place("- tidy: How to tidy."), "{version}");
        }
        let tools = |request: &RecordedRequest| request.body["tools"].to_string();
        assert!(tools(&work[0]).contains("mcp__tracker__close"), "{version}: {}", tools(&work[0]));
        assert!(!tools(&review[0]).contains("mcp__tracker"), "{version}: who judges gets nothing that acts");
        assert_eq!(bed.git(&project, &["show", "main:hooked.txt"]).trim(), "hooked", "{version}");
        bed.leave();
    }
}

/// Settings of which nobody knows what they forbid stop a job before any agent starts; what is not told is said.
#[test]
fn what_cannot_be_understood_is_said_before_any_agent_starts() {
    let bed = Bed::serve(PINNED_CLAUDE, "{ scenes: [] }".parse().unwrap());
    let project = project(&bed);
    fs::write(project.join(".claude/settings.json"), "{\"permissions\": {\"deny\": \"Bash\"}}").unwrap();
    fs::write(project.join("AGENTS.md"), "@~/secret.md\n").unwrap();
    bed.git(&project, &["commit", "-q", "-a", "-m", "broken"]);
    for words in [&["run", "phases.yaml"][..], &["plan", "check", "phases.yaml"]] {
        let output = bed.at(&project, words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        for part in ["HX0423", ".claude/settings.json", "HX0454", "AGENTS.md imports ~/secret.md"] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    assert_eq!(bed.model.requests().len(), 0);
    bed.leave();
}

/// What a person has to be asked about is denied first; with a yes, the resumed agent may do just that.
#[test]
fn a_call_that_needs_a_yes_becomes_a_question_and_counts_once_it_is_answered() {
    let push = |text: &str| format!("{{ name: Bash, input: {{ command: \"touch {text}\", description: d }} }}");
    let script = format!(
        r##"
scenes:
  - name: page
    prompt: "# Phase `page` of"
    steps:
      - tools: [{{ name: Bash, input: {{ command: "echo hi > page.md", description: d }} }}]
      - expect: {{ tool_result: {{ tool: Bash, is_error: false }} }}
        tools: [{yes}]
      - expect: {{ tool_result: {{ tool: Bash, is_error: true, text: a person is asked }} }}
        text: I have asked.
  - name: answered
    prompt: "About your work on phase"
    steps:
      - tools: [{yes}]
      - expect: {{ tool_result: {{ tool: Bash, is_error: false }} }}
        tools: [{other}]
      - expect: {{ tool_result: {{ tool: Bash, is_error: true }} }}
        text: I have asked again.
"##,
        yes = push("allowed.txt"),
        other = push("other.txt")
    );
    let keys = "tools = { ask = [\"shell:touch *\"] }\n";
    for version in [PINNED_CLAUDE, "2.1.197"] {
        let bed = Bed::serve_agent(version, script.parse().unwrap(), keys, &[]);
        let project = project(&bed);
        let plan = PLAN.replace(", AGENTS.md]", ", allowed.txt]").replace(", verify: true", "");
        fs::write(project.join("phases.yaml"), plan).unwrap();
        bed.git(&project, &["commit", "-q", "-a", "-m", "plan"]);
        let asked = |status: i32, arguments: &[&str]| bed.helix(status, arguments);
        let started = asked(0, &["run", "--detach", project.join("phases.yaml").to_str().unwrap()]);
        let job = started["job"].as_str().unwrap().to_owned();
        asked(3, &["jobs", "watch", &job]);
        let shown = asked(0, &["jobs", "show", &job]);
        let question = &shown["questions"][0];
        assert!(question["text"].as_str().unwrap().ends_with("touch allowed.txt"), "{version}: {shown:#}");
        if version != PINNED_CLAUDE {
            // The older CLI does not find a session from another worktree: its agent begins anew, with the answer.
            asked(0, &["jobs", "cancel", &job]);
            bed.leave();
            continue;
        }
        asked(0, &["answer", question["id"].as_str().unwrap(), "--choice", "1"]);
        asked(3, &["jobs", "watch", &job]);
        let shown = asked(0, &["jobs", "show", &job]);
        let open: Vec<&Value> =
            shown["questions"].as_array().unwrap().iter().filter(|one| one["status"] == "open").collect();
        assert_eq!(open.len(), 1, "{version}: {shown:#}");
        assert!(open[0]["text"].as_str().unwrap().ends_with("touch other.txt"), "{version}: {shown:#}");
        asked(0, &["jobs", "cancel", &job]);
        bed.leave();
    }
}
