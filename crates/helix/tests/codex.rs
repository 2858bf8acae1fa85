//! A plan of two phases is carried out by the real Codex CLI, and one by a plain program, each to a merged commit; the model behind
//! Codex is scripted, on loopback.

use std::path::Path;
use std::process::Output;

use crate::stage::Stage;
use helix_testkit::locate::{PINNED_CODEX, codex_binary};
use helix_testkit::model::{Exchange, ModelAnswer, ScriptedResponses, codex_environment};
use serde_json::{Value, json};

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A stage whose only agent is this one.
fn stage_with(agent: &str) -> Stage {
    let stage = Stage::new("{ parts: [] }", "");
    let file = stage.sandbox.home().join(".config/helix/helix.toml");
    std::fs::write(file, format!("[defaults]\nagent = \"other\"\n\n[agents.other]\n{agent}\n")).unwrap();
    stage
}

/// Runs a plan of two phases, the second after the first, and gives the job and the answer of `helix run`.
fn run(stage: &Stage) -> (Value, Output) {
    let plan = stage.plan(
        "two",
        "name: two\nphases:\n\
         - id: tax\n  name: Tax\n  type: development\n  description: TAX-PHASE adds the tax\n  outputs: [shop/tax.py]\n  gates: [{ type: files_exist }]\n\
         - id: note\n  name: Note\n  type: documentation\n  description: NOTE-PHASE writes a note\n  depends_on: [tax]\n  outputs: [NOTE.md]\n  gates: [{ type: files_exist }]\n",
    );
    let mut command = stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    let output = command.current_dir(&stage.repo).output().unwrap();
    let list = stage.helix(&["--json", "jobs", "list"]).output().unwrap();
    let jobs: Value = serde_json::from_slice(&list.stdout).unwrap_or_else(|_| panic!("{}", said(&list)));
    let id = jobs[0]["id"].as_str().unwrap_or_else(|| panic!("{}", said(&output))).to_owned();
    let shown = stage.helix(&["--json", "jobs", "show", &id]).output().unwrap();
    (serde_json::from_slice(&shown.stdout).unwrap_or_else(|_| panic!("{}", said(&shown))), output)
}

fn merged(stage: &Stage, job: &Value, output: &Output) {
    assert_eq!(job["status"], "succeeded", "{job:#}\n{}", said(output));
    assert!(output.status.success(), "{}", said(output));
    let files = stage.git(&stage.repo, &["ls-tree", "-r", "--name-only", "HEAD"]);
    assert!(files.lines().any(|file| file == "shop/tax.py") && files.lines().any(|file| file == "NOTE.md"), "{files}");
    assert_eq!(job["commit"], stage.git(&stage.repo, &["rev-parse", "HEAD"]).trim());
}

/// A stage whose only agent is the real Codex with this model.
fn codex_stage(codex: &Path, model: &ScriptedResponses) -> Stage {
    let leading = model.codex_arguments();
    let words: Vec<&str> = std::iter::once(codex.to_str().unwrap()).chain(leading.iter().map(String::as_str)).collect();
    let stage = stage_with("");
    let home = stage.sandbox.home().join("codex");
    std::fs::create_dir_all(&home).unwrap();
    let environment: Vec<String> =
        codex_environment(&home).iter().map(|(name, value)| format!("{name} = {}", json!(value))).collect();
    let agent = format!(
        "dialect = \"codex\"\ncommand = {}\nmodel = \"scripted-model\"\nenv = {{ {} }}\n",
        json!(words),
        environment.join(", ")
    );
    let file = stage.sandbox.home().join(".config/helix/helix.toml");
    std::fs::write(file, format!("[defaults]\nagent = \"other\"\n\n[agents.other]\n{agent}")).unwrap();
    stage
}

#[test]
fn two_phases_by_the_real_codex_become_a_merged_commit() {
    let codex = match codex_binary(PINNED_CODEX) {
        Ok(codex) => codex,
        Err(error) => return eprintln!("left out: {error}"),
    };
    let command = |text: &str| ModelAnswer::Command(text.to_owned());
    let say = |text: &str| ModelAnswer::Text(text.to_owned());
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: shop/tax.py\n+def tax(price):\n+    return price // 5\n*** End Patch\nEOF\n";
    let model = ScriptedResponses::start(vec![
        Exchange { prompt: "TAX-PHASE".to_owned(), answers: vec![command(patch), say("The tax is there.")] },
        Exchange {
            prompt: "NOTE-PHASE".to_owned(),
            answers: vec![
                command("cat shop/tax.py > /dev/null && echo $OPENAI_API_KEY > NOTE.md && ! env | grep test-key"),
                say("The note is written."),
            ],
        },
    ])
    .unwrap();
    let stage = codex_stage(&codex, &model);
    for (path, text) in [
        ("AGENTS.md", "RULE-ROOT: use tabs.\n"),
        ("shop/CLAUDE.md", "RULE-SHOP: whole cents.\n"),
        (".claude/settings.json", "{\"permissions\": {\"deny\": [\"Read(./secret.txt)\"]}}\n"),
        (".agents/skills/release/SKILL.md", "---\nname: release\ndescription: SKILL-RELEASE.\n---\nx\n"),
    ] {
        let path = stage.repo.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    stage.git(&stage.repo, &["add", "-A"]);
    stage.git(&stage.repo, &["commit", "-q", "-m", "rules"]);
    let doctor = stage.helix(&["doctor"]).current_dir(&stage.repo).output().unwrap();
    assert!(said(&doctor).contains(&format!("version {PINNED_CODEX}")), "{}", said(&doctor));

    let (job, output) = run(&stage);
    assert_eq!(model.failures(), Vec::<String>::new(), "{job:#}");
    merged(&stage, &job, &output);
    assert!(said(&output).contains("HX0424"), "it is said that Codex is only told: {}", said(&output));
    assert_eq!(model.requests().len(), 4, "each phase takes two requests");
    for request in model.requests() {
        let input = request["input"].to_string();
        for rule in ["RULE-ROOT", "RULE-SHOP", "SKILL-RELEASE", "read:./secret.txt"] {
            assert_eq!(input.matches(rule).count(), 1, "{rule} is told once, from the commit: {request:#}");
        }
    }
    assert_eq!(model.authorizations(), ["Bearer test-key"; 4], "the provider gets the key");
    let key = stage.git(&stage.repo, &["show", "HEAD:NOTE.md"]);
    assert!(key.starts_with("hxk-") && !key.contains("test-key"), "the agent has one of its run: {key}");
    assert_eq!(job["usage"]["output_tokens"], 80, "{job:#}");
}

/// A resumed session reports all that it ever consumed: each attempt counts its own.
#[test]
fn a_corrected_phase_of_the_real_codex_counts_its_tokens_once() {
    let codex = match codex_binary(PINNED_CODEX) {
        Ok(codex) => codex,
        Err(error) => return eprintln!("left out: {error}"),
    };
    let command = |text: &str| ModelAnswer::Command(text.to_owned());
    let say = |text: &str| ModelAnswer::Text(text.to_owned());
    let model = ScriptedResponses::start(vec![
        Exchange { prompt: "TAX-PHASE".into(), answers: vec![command("echo x > other.txt"), say("It is there.")] },
        Exchange {
            prompt: "not accepted".into(),
            answers: vec![command("echo TAX = 5 > shop/tax.py"), say("Now it is.")],
        },
    ])
    .unwrap();
    let stage = codex_stage(&codex, &model);
    let plan = stage.plan(
        "one",
        "name: one\nphases:\n- { id: tax, type: development, description: TAX-PHASE adds the tax, outputs: [shop/tax.py], gates: [{ type: files_exist }] }\n",
    );
    let mut command =
        stage.helix(&["--json", "run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    let output = command.current_dir(&stage.repo).output().unwrap();
    let list = stage.helix(&["--json", "jobs", "list"]).output().unwrap();
    let jobs: Value = serde_json::from_slice(&list.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    assert_eq!((&jobs[0]["status"], &jobs[0]["phases"][0]["attempt"]), (&json!("succeeded"), &json!(2)), "{jobs:#}");
    assert_eq!(model.requests().len(), 4, "each attempt takes two requests");
    assert_eq!(jobs[0]["usage"]["output_tokens"], 80, "{jobs:#}");
}

/// A model that repeats a failing command costs no more than so many requests, and a new session is told of it.
#[test]
fn the_real_codex_is_ended_when_its_model_is_stuck() {
    let codex = match codex_binary(PINNED_CODEX) {
        Ok(codex) => codex,
        Err(error) => return eprintln!("left out: {error}"),
    };
    let command = |text: &str| ModelAnswer::Command(text.to_owned());
    let say = |text: &str| ModelAnswer::Text(text.to_owned());
    let mut looping = vec![command("cat missing.txt"); 30];
    looping.push(say("There is no such file."));
    let answers = vec![command("echo TAX = 5 > shop/tax.py"), say("Now it is.")];
    let model = ScriptedResponses::start(vec![
        Exchange { prompt: "in the same way".into(), answers },
        Exchange { prompt: "TAX-PHASE".into(), answers: looping },
    ])
    .unwrap();
    let stage = codex_stage(&codex, &model);
    let plan = stage.plan(
        "one",
        "name: one\nphases:\n- { id: tax, type: development, description: TAX-PHASE adds the tax, outputs: [shop/tax.py], gates: [{ type: files_exist }] }\n",
    );
    let mut command = stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    let output = command.current_dir(&stage.repo).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("times in the same way, with nothing new in between"), "{}", said(&output));
    assert!(model.requests().len() <= 12, "{} requests", model.requests().len());
}

#[test]
fn two_phases_by_a_plain_program_become_a_merged_commit() {
    let program = "prompt=$(cat); case $prompt in *TAX-PHASE*) printf 'def tax(price):\\n    return price // 5\\n' > shop/tax.py;; \
                   *NOTE-PHASE*) echo seen > NOTE.md;; esac; echo working; \
                   echo '{\"helix\":\"result\",\"status\":\"success\",\"answer\":\"It is there.\"}'";
    let stage = stage_with(&format!("dialect = \"command\"\ncommand = {}", json!(["sh", "-c", program])));
    let (job, output) = run(&stage);
    merged(&stage, &job, &output);
}

/// What runs for the agent runs for the gate: both see the same of the environment, and only the agent its provider's key.
#[test]
fn agents_and_gates_have_the_same_environment_but_for_keys() {
    let program = "cat > /dev/null; echo \"$JAVA_HOME,$LC_MINE,$MINE,$OTHER\" > seen.txt; echo \"$OPENAI_API_KEY\" > key.txt; \
                   echo '{\"helix\":\"result\",\"status\":\"success\",\"answer\":\"Seen.\"}'";
    let gate = "test \"$JAVA_HOME,$LC_MINE,$MINE,$OTHER\" = \"$(cat seen.txt)\" && test \"$(cat seen.txt) $(cat key.txt)$OPENAI_API_KEY\" = ";
    for (pass_env, wanted) in
        [("", "/java,l,, "), ("pass_env = [\"PATH\", \"JAVA_HOME\", \"LC_*\", \"MINE\"]", "/java,l,m, ")]
    {
        let agent = format!("dialect = \"command\"\n{pass_env}\ncommand = {}", json!(["sh", "-c", program]));
        let stage = stage_with(&agent);
        let check = json!(format!("sh -c '{gate} \"{wanted}\"'"));
        let plan = stage.plan("one", &format!("name: one\nphases:\n- {{ id: see, type: development, description: sees, outputs: [seen.txt, key.txt], max_attempts: 1, on_failure: fail, gates: [{{ type: command, command: {check} }}] }}\n"));
        let mut command = stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
        for (name, value) in
            [("JAVA_HOME", "/java"), ("LC_MINE", "l"), ("MINE", "m"), ("OTHER", "o"), ("OPENAI_API_KEY", "k")]
        {
            command.env(name, value);
        }
        let output = command.current_dir(&stage.repo).output().unwrap();
        assert!(output.status.success(), "{pass_env}: {}", said(&output));
    }
}

#[test]
fn a_plain_program_without_a_record_is_never_done() {
    let program = "cat > /dev/null; echo 'def tax(): pass' >> shop/tax.py; echo seen >> NOTE.md";
    let stage = stage_with(&format!("dialect = \"command\"\ncommand = {}", json!(["sh", "-c", program])));
    let plan = stage
        .plan("one", "name: one\nphases:\n- id: tax\n  name: Tax\n  type: development\n  description: adds the tax\n  outputs: [shop/tax.py]\n  max_attempts: 3\n  on_failure: fail\n  gates: [{ type: files_exist }]\n");
    let mut command = stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    let output = command.current_dir(&stage.repo).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    for part in ["the agent printed no result record", "trust_exit = true"] {
        assert!(said(&output).contains(part), "{}", said(&output));
    }
    assert!(!stage.repo.join("shop/tax.py").exists(), "{}", said(&output));
    let list = stage.helix(&["--json", "jobs", "list"]).output().unwrap();
    let jobs: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(jobs[0]["phases"][0]["attempt"], json!(1), "what is configuration is not tried again: {jobs:#}");

    let trusting = format!("dialect = \"command\"\ntrust_exit = true\ncommand = {}", json!(["sh", "-c", program]));
    let stage = stage_with(&trusting);
    let doctor = stage.helix(&["doctor"]).current_dir(&stage.repo).output().unwrap();
    assert!(said(&doctor).contains("exit status 0 alone counts as done"), "{}", said(&doctor));
    let (job, output) = run(&stage);
    merged(&stage, &job, &output);
}

#[test]
fn an_agent_with_a_dialect_that_does_not_exist_is_an_error_before_anything_starts() {
    let stage = stage_with("dialect = \"codec\"\ncommand = [\"true\"]");
    let plan = stage
        .plan("one", "name: one\nphases:\n- id: tax\n  name: Tax\n  type: development\n  description: adds the tax\n");
    let output = stage
        .helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()])
        .current_dir(&stage.repo)
        .output()
        .unwrap();
    assert!(!output.status.success());
    for part in ["HX0903", "`codec` is not a value", "did you mean `codex`?"] {
        assert!(said(&output).contains(part), "{part}: {}", said(&output));
    }
}
