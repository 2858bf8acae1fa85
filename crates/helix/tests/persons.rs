//! Jobs that wait for persons, go on after a failure, and can prove what they did: through the command line, the API and the
//! files beside the plan.

mod let_in;
mod terminal;

use std::path::Path;
use std::process::Output;

use crate::stage::{LOOK_AGAIN, Stage};
use helix_core::ids::JobId;
use helix_job::JobEvent;
use helix_store::{Access, Append, Journal as _, NewEvent, Projection, SqliteJournal, Stream};
use serde_json::{Value, json};

const WRITES: &str = "parts:
  - { name: page, prompt: 'Write the page', act: { steps: [{ write: { path: page.md, content: \"# Page\\n\" } }] } }
  - { name: more, prompt: 'Write more', act: { steps: [{ write: { path: more.md, content: \"# More\\n\" } }] } }
";

fn plan(first: &str) -> String {
    format!(
        "name: pages
phases:
  - id: page
    type: documentation
    description: Write the page.
    outputs: [page.md]
    max_attempts: 1
{first}  - id: more
    type: documentation
    description: Write more.
    depends_on: [page]
    outputs: [more.md]
"
    )
}

fn run(stage: &Stage, arguments: &[&str]) -> Output {
    stage.helix(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

/// Runs a command that must end with this code; standard output as JSON.
fn json_of(stage: &Stage, arguments: &[&str], wanted: i32) -> Value {
    let output = run(stage, &[arguments, &["--json"]].concat());
    assert_eq!(code(&output), wanted, "{arguments:?}: {}\n{}", text(&output.stdout), text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

fn only_job(stage: &Stage) -> Value {
    let jobs = json_of(stage, &["jobs", "list"], 0);
    jobs[0].clone()
}

/// Starts a plan that stops at a person: exit code 3, and no process is left.
fn waiting(stage: &Stage, plan: &Path) -> Value {
    let repo = stage.repo.to_str().unwrap();
    let output = run(stage, &["run", plan.to_str().unwrap(), "--project", repo]);
    let said = format!("{}\n{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(code(&output), 3, "{said}");
    assert!(said.contains("helix answer") && !said.contains("stays until they end"), "{said}");
    let job = only_job(stage);
    assert_eq!(job["status"], "waiting", "{job:#}");
    job
}

fn watched(stage: &Stage, id: &str, wanted: i32) {
    let output = run(stage, &["jobs", "watch", id]);
    assert_eq!(code(&output), wanted, "{}\n{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn a_job_waits_without_a_process_and_goes_on_after_an_answer_from_another_one() {
    let stage = Stage::new(WRITES, "");
    let plan = stage.plan("pages", &plan("    approval: before\n"));
    let job = waiting(&stage, &plan);
    let id = job["id"].as_str().unwrap();
    assert_eq!(stage.plays_of("page"), 0, "it began before it was approved");
    Stage::no_agent_is_left(id);
    let open = json_of(&stage, &["answer"], 0);
    let question = open[0]["id"].as_str().unwrap().to_owned();
    assert_eq!((open.as_array().unwrap().len(), &open[0]["status"]), (1, &json!("open")));
    let listed = text(&run(&stage, &["jobs", "list"]).stdout);
    assert!(listed.contains("helix answer"), "{listed}");

    let nothing = run(&stage, &["answer", &question]);
    assert_eq!(code(&nothing), 2, "{}", text(&nothing.stderr));
    let misfit = run(&stage, &["answer", &question, "--choice", "perhaps"]);
    assert!(code(&misfit) == 2 && text(&misfit.stderr).contains("approve"), "{}", text(&misfit.stderr));

    let answered = json_of(&stage, &["answer", &question, "--choice", "approve", "--text", "go on"], 0);
    assert_eq!(answered["answer"]["choice"], "approve", "{answered:#}");
    watched(&stage, id, 0);
    let again = run(&stage, &["answer", &question, "--choice", "reject"]);
    assert_eq!(code(&again), 2);
    assert!(text(&again.stderr).contains("has answered it"), "{}", text(&again.stderr));
    assert_eq!(only_job(&stage)["status"], "succeeded");

    let evidence = json_of(&stage, &["jobs", "evidence", id], 0);
    assert_eq!(evidence["proved"], true, "{evidence:#}");
    assert_eq!(evidence["phases"][0]["answers"][0]["text"], "go on");
}

#[test]
fn a_german_terminal_is_asked_and_told_in_german_and_programs_read_english() {
    let mut stage = Stage::new(WRITES, "");
    let plan = stage.plan("pages", &plan("    approval: before\n"));
    let job = waiting(&stage, &plan);
    let id = job["id"].as_str().unwrap();
    stage.sandbox.set("LC_ALL", "de_DE.UTF-8");

    let shown = text(&run(&stage, &["jobs", "show", id]).stdout);
    assert!(shown.contains("⏸ wartet bisher ") && shown.contains("wartet auf dich:"), "{shown}");
    let list = text(&run(&stage, &["jobs", "list"]).stdout);
    assert!(list.contains("Phasen") && list.contains(" (wartet auf dich: helix answer)"), "{list}");
    let open = text(&run(&stage, &["answer"]).stdout);
    assert!(open.contains("Phase page beginnen?") && open.contains("[approve] Die Phase beginnen"), "{open}");
    assert!(open.contains("    Antwort: helix answer "), "{open}");
    let question = json_of(&stage, &["answer"], 0)[0].clone();
    assert!(question["text"].as_str().unwrap().starts_with("Start phase page?"), "{question:#}");
    let answered = run(&stage, &["answer", question["id"].as_str().unwrap(), "--choice", "approve"]);
    assert!(text(&answered.stdout).ends_with(" beantwortet\n"), "{}", text(&answered.stdout));

    let output = run(&stage, &["jobs", "watch", id]);
    let said = format!("{}\n{}", text(&output.stderr), text(&output.stdout));
    assert_eq!(code(&output), 0, "{said}");
    for german in [
        "[page] Agent arbeitet, Versuch 1",
        "1 Datei geändert",
        "Job erfolgreich",
        "✓ bestanden",
        "✓ erfolgreich nach ",
        " $",
    ] {
        assert!(said.contains(german), "{german:?} in {said}");
    }
    for english in ["agent running", "attempt", "passed", "succeeded", "waits", "details", "cost"] {
        assert!(!said.contains(english), "{english:?} in {said}");
    }
    let evidence = text(&run(&stage, &["jobs", "evidence", id]).stdout);
    for german in [", ab Commit ", "page belegt\n", "übernommen als "] {
        assert!(evidence.contains(german), "{german:?} in {evidence}");
    }
    let programs = json_of(&stage, &["jobs", "show", id], 0);
    assert_eq!(programs["status"], "succeeded");

    // What a proof lacks is German for people and English for programs.
    let proof = json_of(&stage, &["jobs", "evidence", id], 0);
    let record = proof["phases"][0]["run"]["record"].as_str().unwrap();
    std::fs::remove_dir_all(record).unwrap();
    let lacking = text(&run(&stage, &["jobs", "evidence", id]).stdout);
    assert!(lacking.contains("fehlt: die Aufzeichnung des Laufs "), "{lacking}");
    let proof = json_of(&stage, &["jobs", "evidence", id], 6);
    assert!(proof["phases"][0]["missing"][0].as_str().unwrap().starts_with("the record of run "), "{proof:#}");
    assert!(proof["lacking"][0].as_str().unwrap().starts_with("phase page: the record of run "), "{proof:#}");
    for (command, german) in [
        (["people", "list"], "niemand hat einen Schlüssel"),
        (["token", "list"], "keine Tokens"),
        (["trust", "--list"], "vertraut"),
    ] {
        let output = run(&stage, &command);
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(said.contains(german), "{said}");
    }
    stage.sandbox.set("LC_ALL", "C");
    let english = text(&run(&stage, &["jobs", "show", id]).stdout);
    assert!(english.contains("✓ succeeded in "), "{english}");
}

#[test]
fn a_german_terminal_reads_in_german_why_a_job_failed_and_what_to_do() {
    let mut stage = Stage::new(WRITES, "");
    stage.sandbox.set("LC_ALL", "de_DE.UTF-8");
    let gate = "    on_failure: fail\n    gates: [{ type: command, command: 'false' }]\n";
    let (plan, repo) = (stage.plan("pages", &plan(gate)), stage.repo.to_str().unwrap().to_owned());
    let output = run(&stage, &["run", plan.to_str().unwrap(), "--project", &repo]);
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    let job = only_job(&stage);
    let shown = text(&run(&stage, &["jobs", "show", job["id"].as_str().unwrap()]).stdout);
    for german in [
        "Bericht: page, Versuch 1",
        "Gate command fand: `false` ist fehlgeschlagen (Exit 1)",
        "Ursache: ohne Grund gescheitert (",
        "Vorschlag: führe den Befehl von Hand aus: er endete, ohne zu sagen, warum",
    ] {
        assert!(shown.contains(german), "{german:?} in {shown}");
    }
    for english in ["suggested", "exit status", "attempt", "cause:", "guess"] {
        assert!(!shown.contains(english), "{english:?} in {shown}");
    }
}

#[tokio::test]
async fn the_api_answers_approvals_of_results_and_says_what_does_not_fit() {
    let stage = Stage::new(WRITES, "");
    let host = stage.start();
    let plan =
        stage.plan("pages", &plan("    approval: after\n    gates: [{ type: manual, question: 'Is it printed?' }]\n"));
    let id = stage.submit(&plan, &stage.repo, "k").await;
    let (url, token) = stage.reachable().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = async |path: &str| -> Value {
        http.get(format!("{url}{path}")).bearer_auth(&token).send().await.unwrap().json().await.unwrap()
    };
    let post = async |path: &str, body: Value| -> (u16, Value) {
        let answer = http.post(format!("{url}{path}")).bearer_auth(&token).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    };
    for (expected, named) in [("Is it printed?", false), ("page", true)] {
        let question = loop {
            let open = get("/api/v1/questions").await;
            if let Some(first) = open["questions"].get(0) {
                break first.clone();
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        };
        assert!(question["text"].as_str().unwrap().contains(expected), "{question:#}");
        let path = format!("/api/v1/questions/{}", question["id"].as_str().unwrap());
        assert_eq!(get(&path).await["status"], "open");
        let (status, problem) = post(&format!("{path}/answer"), json!({ "choice": "never" })).await;
        assert_eq!((status, &problem["code"]), (422, &json!("HX0813")), "{problem:#}");
        // The question is named by the path or by the body.
        let (status, answered) = if named {
            let body = json!({ "question": question["id"], "choice": "approve", "by": "anna" });
            post("/api/v1/questions", body).await
        } else {
            post(&format!("{path}/answer"), json!({ "choice": "approve", "by": "anna" })).await
        };
        assert_eq!(status, 200, "{answered:#}");
        // What was authenticated counts, whatever the body says.
        assert!(answered["answer"]["by"].as_str().unwrap().ends_with(" (token)"), "{answered:#}");
        let (status, problem) = post(&format!("{path}/answer"), json!({ "choice": "approve" })).await;
        assert_eq!((status, &problem["code"]), (409, &json!("HX0812")), "{problem:#}");
    }
    stage.events(&id).await;
    assert_eq!(stage.job(&id).await["status"], "succeeded");
    assert_eq!(get(&format!("/api/v1/questions?job={id}")).await["questions"].as_array().unwrap().len(), 2);
    assert_eq!(post("/api/v1/questions/nonsense/answer", json!({ "choice": "a" })).await.0, 404);
    assert_eq!(post("/api/v1/questions", json!({ "question": "nonsense", "choice": "a" })).await.0, 404);
    assert_eq!(post("/api/v1/questions", json!({ "choice": "a" })).await.0, 422);
    let (status, problem) = post(&format!("/api/v1/jobs/{id}/resume"), json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("HX0814")), "{problem:#}");
    assert_eq!(post(&format!("/api/v1/jobs/{id}/retry"), json!({ "phase": "pge" })).await.0, 422);
    let patch = http.get(format!("{url}/api/v1/jobs/{id}/diff?phase=more")).bearer_auth(&token).send().await.unwrap();
    assert_eq!(patch.headers()["content-type"], "text/x-diff; charset=utf-8");
    let patch = patch.text().await.unwrap();
    assert!(patch.contains("+# More") && !patch.contains("# Page"), "{patch}");
    assert_eq!(get(&format!("/api/v1/jobs/{id}/evidence")).await["proved"], true);
    drop(host);
}

const FAILS_ONCE: &str = "parts:
  - name: page
    prompt: 'Write the page'
    attempts:
      - { steps: [{ write: { path: wrong.md, content: \"no\\n\" } }] }
      - { steps: [{ write: { path: page.md, content: \"# Page\\n\" } }] }
  - { name: more, prompt: 'Write more', act: { steps: [{ write: { path: more.md, content: \"# More\\n\" } }] } }
";

#[test]
fn a_failed_job_is_resumed_a_phase_is_done_again_and_every_attempt_can_be_seen() {
    let stage = Stage::new(FAILS_ONCE, "");
    let gates = "    on_failure: fail\n    gates: [{ type: files_exist }, { type: command, command: 'echo looked' }]\n";
    let file = stage.plan("pages", &plan(gates));
    let repo = stage.repo.to_str().unwrap().to_owned();
    let failed = run(&stage, &["run", file.to_str().unwrap(), "--project", &repo]);
    assert_eq!(code(&failed), 1, "{}", text(&failed.stderr));
    let id = only_job(&stage)["id"].as_str().unwrap().to_owned();
    let status: Value = serde_json::from_slice(&std::fs::read(file.with_file_name("status.json")).unwrap()).unwrap();
    assert_eq!((&status["id"], &status["status"]), (&json!(id), &json!("failed")));

    let whole = run(&stage, &["jobs", "diff", &id]);
    assert_eq!(code(&whole), 2, "a job without a result has no difference");
    let unknown = run(&stage, &["jobs", "retry", &id, "--phase", "pag"]);
    assert!(code(&unknown) == 2 && text(&unknown.stderr).contains("page"), "{}", text(&unknown.stderr));

    let resumed = run(&stage, &["jobs", "resume", &id]);
    assert_eq!(code(&resumed), 0, "{}\n{}", text(&resumed.stdout), text(&resumed.stderr));
    let first = text(&run(&stage, &["jobs", "diff", &id, "--phase", "page", "--attempt", "1"]).stdout);
    assert!(first.contains("+++ b/wrong.md") && !first.contains("page.md"), "{first}");
    let second = text(&run(&stage, &["jobs", "diff", &id, "--phase", "page", "--attempt", "2"]).stdout);
    assert!(second.contains("+++ b/page.md"), "{second}");
    let whole = json_of(&stage, &["jobs", "diff", &id], 0);
    assert!(whole["patch"].as_str().unwrap().contains("more.md"), "{whole:#}");
    assert_eq!(code(&run(&stage, &["jobs", "resume", &id])), 2, "what has succeeded is not resumed");

    // Evidence is what is there now, not what was there.
    let evidence = json_of(&stage, &["jobs", "evidence", &id], 0);
    let gates = evidence["phases"][0]["gates"].as_array().unwrap();
    let output = gates.iter().find_map(|gate| gate["output"]["file"].as_str()).unwrap().to_owned();
    std::fs::write(&output, "looked at something else\n").unwrap();
    let tampered = json_of(&stage, &["jobs", "evidence", &id], 6);
    assert_eq!(tampered["proved"], false);
    assert_eq!(tampered["phases"][0]["standing"], "unproved");
    assert!(tampered["phases"][0]["missing"][0].as_str().unwrap().contains("was changed after it ran"), "{tampered:#}");
    std::fs::remove_dir_all(
        stage.sandbox.state().join("runs").join(evidence["phases"][1]["run"]["run"].as_str().unwrap()),
    )
    .unwrap();
    let without = json_of(&stage, &["jobs", "evidence", &id], 6);
    assert_eq!(without["phases"][1]["standing"], "unproved");
}

#[test]
fn a_phase_that_has_passed_is_done_again_with_all_that_build_on_it() {
    let script = WRITES.to_owned()
        + "  - { name: last, prompt: 'Write the last', attempts: [{}, { steps: [{ write: { path: last.md, content: x } }] }] }\n";
    let stage = Stage::new(&script, "");
    let last = "  - { id: last, type: documentation, description: Write the last., depends_on: [more], outputs: [last.md], \
                max_attempts: 1, on_failure: fail }\n";
    let file = stage.plan("pages", &(plan("") + last));
    let failed = run(&stage, &["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    assert_eq!(code(&failed), 1, "{}", text(&failed.stderr));
    assert_eq!((stage.plays_of("page"), stage.plays_of("more")), (1, 1));
    let id = only_job(&stage)["id"].as_str().unwrap().to_owned();
    let again = run(&stage, &["jobs", "retry", &id, "--phase", "more"]);
    assert_eq!(code(&again), 0, "{}\n{}", text(&again.stdout), text(&again.stderr));
    assert_eq!((stage.plays_of("page"), stage.plays_of("more"), stage.plays_of("last")), (1, 2, 2));
    assert_eq!(json_of(&stage, &["jobs", "evidence", &id], 0)["proved"], true);
}

#[test]
fn a_phase_that_cannot_go_on_asks_a_person_and_a_dry_run_shows_what_agents_are_told() {
    let stage = Stage::new(FAILS_ONCE, "");
    let config = stage.sandbox.home().join(".config/helix/helix.toml");
    let text_of = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{text_of}\n[adviser]\nrounds = 0\n")).unwrap();
    let file = stage.plan("pages", &plan(""));
    let dry =
        json_of(&stage, &["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap(), "--dry-run"], 0);
    assert!(dry["prompts"][0]["prompt"].as_str().unwrap().contains("Write the page"), "{dry:#}");
    assert_eq!((dry["prompts"].as_array().unwrap().len(), stage.plays_of("page")), (2, 0));

    let job = waiting(&stage, &file);
    let (id, question) = (job["id"].as_str().unwrap(), job["questions"][0]["id"].as_str().unwrap());
    assert_eq!(job["questions"][0]["kind"], "escalation", "{job:#}");
    let no_reason = run(&stage, &["answer", question, "--choice", "accept"]);
    let told = text(&no_reason.stderr);
    assert!(code(&no_reason) == 2 && told.contains("say why") && told.contains("--text"), "{told}");
    json_of(&stage, &["answer", question, "--choice", "retry", "--text", "the file is page.md"], 0);
    watched(&stage, id, 0);
    assert_eq!(stage.plays_of("page"), 2);
    let shown = text(&run(&stage, &["jobs", "show", id]).stdout);
    assert!(shown.contains("answered") && shown.contains("the file is page.md"), "{shown}");
}

#[tokio::test]
async fn the_status_beside_the_plan_follows_the_job_and_is_whole_at_every_moment() {
    let script = WRITES.replace("steps: [{ write: { path: page.md", "steps: [{ sleep: 400 }, { write: { path: page.md");
    let stage = Stage::new(&script, "");
    let directory = stage.repo.join("plans/pages");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("phases.yaml"), plan("")).unwrap();
    stage.git(&stage.repo, &["add", "-A"]);
    stage.git(&stage.repo, &["commit", "-q", "-m", "plan"]);
    let host = stage.start();
    let id = stage.submit(&directory.join("phases.yaml"), &stage.repo, "k").await;
    let file = directory.join("status.json");
    let mut seen: Vec<String> = Vec::new();
    let start = std::time::Instant::now();
    while seen.last().is_none_or(|last| last != "succeeded") {
        assert!(start.elapsed() < crate::stage::LIMIT, "{seen:?}\n{}", stage.log());
        if let Ok(bytes) = std::fs::read(&file) {
            let status: Value = serde_json::from_slice(&bytes).expect("a whole file at every moment");
            assert_eq!(status["id"], id);
            let word = status["status"].as_str().unwrap().to_owned();
            if seen.last() != Some(&word) {
                seen.push(word);
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    assert!(seen.contains(&"running".to_owned()), "{seen:?}");
    assert_eq!(stage.git(&stage.repo, &["status", "--porcelain", "--untracked-files=all"]), "");
    let names: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");

    // What somebody else wrote is left alone, and the job does not mind.
    std::fs::write(&file, "{\"mine\": true}").unwrap();
    let second = stage.submit(&directory.join("phases.yaml"), &stage.repo, "again").await;
    assert_eq!(code(&run(&stage, &["jobs", "cancel", &second])), 0);
    stage.events(&second).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"mine\": true}");
    drop(host);
}

/// A gate's command gets nothing secret of the host's environment and not its stdin, and finds the
/// programs that its phase's agent finds.
#[test]
fn the_command_of_a_gate_gets_the_agents_tools_and_neither_its_keys_nor_the_terminals_input() {
    let tools = tempfile::tempdir().unwrap();
    let tool = tools.path().join("only-here");
    std::fs::write(&tool, "#!/bin/sh\necho found\n").unwrap();
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    let script = WRITES.replacen(
        "content: \"# Page\\n\" } }",
        "content: \"# Page\\n\" } }, { run: 'printf %s \"$JAVA_HOME:$GOPATH\" > seen.txt' }",
        1,
    );
    let stage = Stage::new(&script, &format!("\n[agents.fake.env]\nPATH = {path:?}\nGOPATH = \"/of/the/agent\"\n"));
    let commands = [
        "sh -c 'test -z \"$ANTHROPIC_API_KEY$OPENAI_API_KEY$AWS_SECRET_ACCESS_KEY\"'",
        "sh -c 'test \"$(readlink /proc/self/fd/0)\" = /dev/null && test -z \"$(cat)\"'",
        "only-here",
        // The same toolchain on both sides, of the host and of the agent's own settings.
        "sh -c 'test \"$(cat seen.txt)\" = \"$JAVA_HOME:$GOPATH\" && test \"$JAVA_HOME:$GOPATH\" = /of/the/host:/of/the/agent'",
    ];
    let gates: Vec<String> =
        commands.iter().map(|command| json!({ "type": "command", "command": command }).to_string()).collect();
    let file = stage.plan("pages", &plan(&format!("    gates: [{}]\n", gates.join(", "))));
    let mut run = stage.helix(&["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"] {
        run.env(name, "secret");
    }
    run.env("JAVA_HOME", "/of/the/host").env("GOPATH", "/of/the/host");
    run.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut run = run.spawn().unwrap();
    let mut stdin = run.stdin.take().unwrap();
    // It stays open: a command that reads it would wait for ever, or eat what is meant for the next one.
    std::io::Write::write_all(&mut stdin, b"not for the gates\n").unwrap();
    let output = run.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(code(&output), 0, "{}\n{}", text(&output.stdout), text(&output.stderr));
    let job = only_job(&stage);
    let id = job["id"].as_str().unwrap();
    let shown = json_of(&stage, &["jobs", "show", id], 0);
    let verdicts: Vec<&Value> =
        shown["phases"][0]["gates"].as_array().unwrap().iter().map(|gate| &gate["verdict"]).collect();
    assert_eq!(verdicts, ["pass"; 5], "outputs_claimed, and the four of the plan: {shown:#}");
}

/// The modes of a result are git's, whatever the umask of the shell that Helix was started in.
#[test]
fn a_strict_umask_reaches_no_result() {
    let script = "parts:
  - { name: page, prompt: 'Write the page', act: { steps: [{ write: { path: page.md, content: \"# Page\\n\" } }, { run: 'printf x > tool.sh; chmod u+x tool.sh' }] } }
  - { name: more, prompt: 'Write more', act: { steps: [{ write: { path: more.md, content: \"# More\\n\" } }] } }
";
    let stage = Stage::new(script, "");
    let file = stage.plan("pages", &plan("").replacen("outputs: [page.md]", "outputs: [page.md, tool.sh]", 1));
    let mut run = stage.sandbox.command("sh");
    run.args(["-c", "umask 077; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_helix"), "run", file.to_str().unwrap()]);
    let output =
        run.args(["--project", stage.repo.to_str().unwrap()]).stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(code(&output), 0, "{}\n{}", text(&output.stdout), text(&output.stderr));
    let listed = stage.git(&stage.repo, &["ls-tree", "main", "page.md", "tool.sh", "more.md"]);
    let modes: Vec<&str> = listed.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(modes, ["100644", "100644", "100755"], "{listed}");
}

/// A phase that did nothing was passed, and its job was done: whatever a plan lists as gates, declared outputs are checked,
/// and a development phase that changed no file has failed. What failed is not proved.
#[test]
fn a_phase_whose_agent_changed_nothing_does_not_pass() {
    let script = "parts:\n  - { name: idle, prompt: 'Do the work', act: {} }\n";
    let gates = "gates: [{ type: command, command: python3 --version }], max_attempts: 1, on_failure: fail";
    for (keys, found) in [
        ("type: documentation, outputs: [page.md]", "page.md is claimed as an output"),
        ("type: test, outputs: [tests/test_page.py]", "tests/test_page.py is claimed as an output"),
        ("type: development", "a development phase must change files: the phase changed no file"),
    ] {
        let stage = Stage::new(script, "");
        let plan = format!("name: idle\nphases:\n  - {{ id: idle, {keys}, description: Do the work., {gates} }}\n");
        let file = stage.plan("idle", &plan);
        let ended = run(&stage, &["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
        assert_eq!(code(&ended), 1, "{keys}: {}\n{}", text(&ended.stdout), text(&ended.stderr));
        let job = only_job(&stage);
        assert_eq!((&job["status"], &job["phases"][0]["status"]), (&json!("failed"), &json!("failed")), "{job:#}");
        let id = job["id"].as_str().unwrap();
        assert!(job.to_string().contains(found), "{keys}: nobody says {found:?}:\n{job:#}");
        assert_eq!(json_of(&stage, &["jobs", "evidence", id], 6)["proved"], false);
    }
}

/// It was told as "check that the state directory is writable".
#[tokio::test]
async fn a_record_that_contradicts_itself_is_told_as_that() {
    let stage = Stage::new(WRITES, "");
    let file = stage.plan("pages", &plan(""));
    let ended = run(&stage, &["run", file.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    assert_eq!(code(&ended), 0, "{}", text(&ended.stderr));
    let job = only_job(&stage);
    let id = JobId::new(job["id"].as_str().unwrap()).unwrap();
    let journal = SqliteJournal::open(stage.sandbox.state().join("helix.db"), Access::ReadWrite).await.unwrap();
    let mut view = journal.job(id.to_string()).await.unwrap().unwrap();
    let event = JobEvent::CancelRequested { by: "nobody".into() };
    let event = NewEvent::of(view.created_at, &event).unwrap();
    view.last_event += 1;
    let append = Append::to(Stream::Job(id.clone()), vec![event]).after(view.last_event - 1);
    journal.append(append.with(Projection::Job(Box::new(view)))).await.unwrap();
    drop(journal);
    let said = run(&stage, &["jobs", "evidence", id.as_str()]);
    let stderr = text(&said.stderr);
    assert_eq!(code(&said), 5, "{stderr}");
    assert!(stderr.contains("contradicts itself") && stderr.contains("the job is over"), "{stderr}");
    assert!(stderr.contains("bug in Helix") && !stderr.contains("writable"), "{stderr}");
}
