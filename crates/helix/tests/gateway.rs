//! The real Claude Code CLI works without having its provider's key: what it runs finds another one, which opens a gateway of its keeper.

use crate::stage::Stage;
use helix_testkit::locate::{PINNED_CLAUDE, claude_binary};
use helix_testkit::model::{Script, ScriptedModel};
use helix_testkit::sandbox::model_environment;
use serde_json::{Value, json};

const LOOKS: &str = "(env; cat /proc/self/environ; cat \"$CLAUDE_CONFIG_DIR\"/* \"$CLAUDE_CONFIG_DIR\"/.*; \
                     grep -rs test-ke[y] \"$HOME\" \"$CLAUDE_CONFIG_DIR\" /tmp) > found.txt 2> /dev/null; \
                     curl -s -m 5 -H 'x-api-key: other' \"$ANTHROPIC_BASE_URL/v1/models\" >> found.txt; echo looked >> found.txt";

/// Runs a phase in which the real agent looks for its key; gives what it found, the job's evidence, and the model.
fn look(sandbox: &str, variables: &[(&str, &str)]) -> (String, String, ScriptedModel) {
    let script = json!({ "scenes": [{ "name": "look", "prompt": "LOOK-PHASE", "at_end": "repeat-last", "steps": [
        { "tools": [{ "name": "Bash", "input": { "command": LOOKS } }] }, { "text": "I have looked." },
    ] }] });
    let model = ScriptedModel::start_blocking(script.to_string().parse::<Script>().unwrap()).unwrap();
    let stage = Stage::new("{ parts: [] }", "");
    let mut environment: Vec<(&str, String)> = model_environment(&model.base_url()).into();
    environment.retain(|(name, _)| variables.is_empty() || *name != "ANTHROPIC_API_KEY");
    environment.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
    let environment: Vec<String> =
        environment.iter().map(|(name, value)| format!("{name} = {}", json!(value))).collect();
    let agent = format!(
        "[defaults]\nagent = \"claude\"\n\n[agents.claude]\ncommand = {}\nconfig_dir = {}\nenv = {{ {} }}\n\n{sandbox}\n",
        json!([claude_binary(PINNED_CLAUDE).unwrap()]),
        json!(stage.sandbox.claude_config()),
        environment.join(", "),
    );
    std::fs::write(stage.sandbox.home().join(".config/helix/helix.toml"), agent).unwrap();
    let plan = stage.plan(
        "look",
        "name: look\nphases:\n- { id: look, type: development, description: LOOK-PHASE, outputs: [found.txt], verify: false, gates: [{ type: files_exist }] }\n",
    );
    let mut command = stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    let ran = command.current_dir(&stage.repo).output().unwrap();
    let found = std::fs::read_to_string(stage.repo.join("found.txt")).unwrap_or_else(|_| panic!("{ran:?}"));
    let list = stage.helix(&["--json", "jobs", "list"]).output().unwrap();
    let jobs: Value = serde_json::from_slice(&list.stdout).unwrap();
    let evidence = stage.helix(&["jobs", "evidence", jobs[0]["id"].as_str().unwrap()]).output().unwrap();
    (found, String::from_utf8(evidence.stdout).unwrap(), model)
}

#[test]
fn the_agent_works_without_its_providers_key() {
    for variable in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"] {
        let (found, evidence, model) = look("", &[(variable, "test-key")]);
        assert!(found.contains("looked") && found.contains(&format!("{variable}=hxk-")), "{found}");
        assert!(!found.contains("test-key"), "{found}");
        assert!(
            !found.contains(&model.base_url()) && found.contains("ANTHROPIC_BASE_URL=http://127.0.0.1:"),
            "{found}"
        );
        assert!(found.contains("this is not the key of the run"), "{found}");
        assert!(evidence.lines().any(|line| line.contains("sandbox") && line.contains("key")), "{evidence}");
        assert!(!evidence.contains("not key"), "{evidence}");
        model.assert_no_failures();
        let keys = ["x-api-key", "authorization"];
        let sent = |headers: &std::collections::BTreeMap<String, String>| {
            keys.iter().find_map(|name| headers.get(*name)).cloned().unwrap_or_default()
        };
        let seen: Vec<String> = model.requests().iter().map(|request| sent(&request.headers)).collect();
        assert!(!seen.is_empty() && seen.iter().all(|key| key.ends_with("test-key")), "{seen:?}");
    }
}

#[test]
fn agents_have_their_keys_where_the_user_says_so_and_the_evidence_tells() {
    let (found, evidence, model) = look("[sandbox]\nagent_keys = true", &[]);
    assert!(found.contains("ANTHROPIC_API_KEY=test-key") && found.contains(&model.base_url()), "{found}");
    assert!(evidence.contains("not key: what the agent runs can read the agent's own key or login"), "{evidence}");
}
