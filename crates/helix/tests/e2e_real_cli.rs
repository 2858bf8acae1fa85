//! The main job from outside: a session becomes an ADR, a plan and verified commits, by the real agent CLI.

use std::fs;

use crate::e2e::Bed;
use helix_testkit::locate::PINNED_CLAUDE;
use helix_testkit::model::{Fault, FaultKind, Reply, Rule, Script, TextTest, When};
use serde_json::{Value, json};

/// Asserts that an answer came in order, and returns its text.
#[track_caller]
fn answered(report: &Value) -> &str {
    assert_eq!(report["error"], Value::Null, "{report:#}");
    assert_eq!(report["finish"], "stop", "{report:#}");
    let usage = &report["usage"];
    assert!(usage["prompt_tokens"].as_u64() > Some(0) && usage["completion_tokens"].as_u64() > Some(0), "{report:#}");
    report["text"].as_str().unwrap()
}

#[test]
fn a_session_becomes_verified_commits() {
    let script = include_str!("e2e/session.yaml").parse().unwrap();
    let bed = Bed::serve(PINNED_CLAUDE, script);
    let mut client = bed.client();

    let question = client.say("I want to keep my accounts and see each month's balance.");
    assert_eq!(answered(&question).trim_end(), "In which unit do you count: whole cents or fractions?", "{question:#}");

    let started = client.say("Whole cents, in Python. Go ahead and build it.");
    assert!(answered(&started).starts_with("I write the decision and the plan."), "{started:#}");
    assert!(started["pieces"].as_u64() > Some(2), "the answer did not stream: {started:#}");
    let activity = started["reasoning"].as_str().unwrap();
    for part in ["Everything is said.", "→ Write", "✗ Check plan", "✓ Started the job"] {
        assert!(activity.contains(part), "{part:?} is not shown: {started:#}");
    }

    let progress = client.say("How far is it?");
    assert!(answered(&progress).contains("account-book"), "{progress:#}");

    let jobs = bed.helix(0, &["jobs", "list"]);
    assert_eq!(jobs.as_array().unwrap().len(), 1, "{jobs:#}");
    let id = jobs[0]["id"].as_str().unwrap();
    assert!(started["text"].as_str().unwrap().contains(id), "the user was told of another job than {id}: {started:#}");
    bed.helix(0, &["jobs", "watch", id]);
    let job = bed.helix(0, &["jobs", "show", id]);
    verified(&job);
    let done = client.say("How far is it?");
    assert!(answered(&done).contains("is succeeded"), "{done:#}");

    let project = bed.projects().join("account-book");
    merged(&bed, &project, &job);
    corrected(&bed);

    let sessions = client.get("/api/v1/sessions");
    let sessions = sessions["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "every turn belongs to one session [15]: {sessions:#?}");
    assert_eq!(sessions[0]["turn_count"], 4, "{sessions:#?}");
    bed.no_run_of(id);
    bed.no_run_of(sessions[0]["id"].as_str().unwrap());
    drop(client);
    bed.leave();
}

/// Every phase was proven by tests that really ran, the second one at its second attempt.
fn verified(job: &Value) {
    assert_eq!(job["status"], "succeeded", "{job:#}");
    let phases: Vec<Value> = job["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| {
            let tests = phase["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == "tests_pass").unwrap();
            assert_eq!(tests["command"]["argv"], json!(["pytest", "-q"]));
            assert_eq!(tests["command"]["exit_code"], 0);
            json!([phase["id"], phase["status"], phase["attempt"], tests["verdict"], tests["tests"]])
        })
        .collect();
    let counts = |passed: u32| json!({ "passed": passed, "failed": 0, "skipped": 0 });
    assert_eq!(
        phases,
        [json!(["book", "passed", 1, "pass", counts(2)]), json!(["report", "passed", 2, "pass", counts(3)])],
        "{job:#}"
    );
    assert!(job["usage"]["output_tokens"].as_u64() > Some(0), "{job:#}");
}

/// The commit is on the project's branch with the decision, the plan and the work of both phases.
fn merged(bed: &Bed, project: &std::path::Path, job: &Value) {
    assert_eq!(job["commit"], bed.git(project, &["rev-parse", "main"]));
    assert_eq!(bed.git(project, &["status", "--porcelain"]), "");
    let files = bed.git(project, &["ls-tree", "-r", "--name-only", "main"]);
    let adr = "adr/001-account-book-in-whole-cents.md";
    let plan = "plans/account-book/phases.yaml";
    let mut wanted = [
        adr,
        plan,
        "adr/INDEX.md",
        "README.md",
        ".gitignore",
        "book.py",
        "test_book.py",
        "report.py",
        "test_report.py",
    ];
    wanted.sort_unstable();
    assert_eq!(files.lines().collect::<Vec<_>>(), wanted);
    let read = |path: &str| fs::read_to_string(project.join(path)).unwrap();
    assert!(read(adr).contains("status: Proposed"), "{}", read(adr));
    assert!(read("adr/INDEX.md").contains("001-account-book-in-whole-cents.md"), "{}", read("adr/INDEX.md"));
    assert!(read(plan).contains(&format!("\nadr: {adr}\n")), "{}", read(plan));
    assert!(read("report.py").contains("sorted(entries)"));
    // What Helix itself has finalized and carried out is in order by its own check.
    let (code, said) = bed.adr_check(project);
    assert!(code == Some(0) && !said.contains("HX0213") && !said.contains("HX0227"), "{said}");
}

/// The agent's own session was told what the failed gate had found.
fn corrected(bed: &Bed) {
    let requests = bed.model.requests();
    let by = |scene: &str| requests.iter().find(|one| one.answered_by.as_deref() == Some(scene)).unwrap();
    let (first, again) = (by("scene report take 1 step 1"), by("scene report again take 1 step 1"));
    let prompt = again.body["messages"].to_string();
    for part in ["test_one_sum_for_each_month", "test_report.py", "The report is there."] {
        assert!(prompt.contains(part), "{part:?} is not in the correction: {prompt}");
    }
    let session = "x-claude-code-session-id";
    assert_eq!(first.headers[session], again.headers[session], "the correction went into another session");
}

/// What the endpoint does with all requests of a session that begins so.
fn troubled(prompt: &str, fault: FaultKind) -> Rule {
    let when = When { any_prompt: Some(TextTest::contains(prompt)), ..When::default() };
    Rule {
        name: prompt.into(),
        when,
        reply: Reply::text("never said").with_fault(Fault::always(fault)),
        ..Rule::default()
    }
}

#[test]
fn a_providers_error_names_cause_and_remedy_and_ends_the_answer_in_order() {
    let mut script = Script::always(Reply::text("All is well again.\n\n<!-- STEP: what -->"));
    script.rules.insert(0, troubled("Overloaded?", FaultKind::Overloaded));
    script.rules.insert(1, troubled("Locked out?", FaultKind::Unauthorized));
    let bed = Bed::serve(PINNED_CLAUDE, script);

    // One client after the other: each has a session of its own.
    let overloaded = bed.client().say("Overloaded? (streamed)");
    let (text, error) = (overloaded["text"].as_str().unwrap(), &overloaded["error"]);
    assert_eq!(error["code"], "provider_overloaded", "{overloaded:#}");
    assert!(text.starts_with("> [!CAUTION]") && text.contains("529"), "{overloaded:#}");
    assert!(overloaded["reasoning"].as_str().unwrap().contains("try 1 of 1"), "retries are shown: {overloaded:#}");
    assert!(overloaded["usage"].is_object(), "{overloaded:#}");

    let before = bed.model.requests().len();
    let whole = bed.client().ask("Overloaded? (in one piece)");
    assert_eq!(
        (&whole["error"]["status"], &whole["error"]["code"]),
        (&json!(503), &json!("provider_overloaded")),
        "{whole:#}"
    );
    assert_eq!(bed.model.requests().len() - before, 2, "the package asked for the turn again by itself");

    let mut client = bed.client();
    let lines = client.listen("Locked out?");
    let [.., error, last] = lines.as_slice() else { panic!("{lines:#?}") };
    assert_eq!(last, "data: [DONE]", "{lines:#?}");
    let error: Value = serde_json::from_str(error.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "provider_credentials", "{lines:#?}");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("API key"), "no remedy in {message:?}");
    assert!(error["choices"].is_null(), "clients overlook errors beside choices: {error}");

    // The session goes on once the provider does; the failed turn is no obstacle.
    let mut patient = bed.client();
    assert_eq!(patient.ask("Are you well?")["text"], "All is well again.");
    assert_eq!(answered(&patient.say("Still?")), "All is well again.");
    drop((client, patient));
    bed.leave();
}

/// What the provider refuses for good is asked in one run; its trouble is repeated as often as is configured. The requests are those
/// that really came: the CLI repeats some by itself.
#[test]
fn a_refused_request_is_tried_once_and_trouble_is_repeated_as_configured() {
    let cases = [
        ("Refuse 400", FaultKind::InvalidRequest, 4, 1, "messages: the request is not valid", "helix.toml"),
        ("Refuse 401", FaultKind::Unauthorized, 4, 1, "credentials", "log in"),
        ("Refuse 403", FaultKind::Forbidden, 4, 1, "credentials", "log in"),
        ("Refuse 404", FaultKind::NotFound, 4, 1, "model", "choose a model"),
        ("Refuse 413", FaultKind::TooLarge, 4, 1, "the agent reports", "split the phase"),
        ("Refuse too long", FaultKind::PromptTooLong, 1, 1, "context", "split the phase"),
        ("Refuse 529", FaultKind::Overloaded, 1, 3, "529", "go on later"),
    ];
    let mut script = Script::always(Reply::text("never said"));
    script.rules.splice(0..0, cases.iter().map(|(prompt, fault, ..)| troubled(prompt, *fault)));
    let bed = Bed::serve_with(PINNED_CLAUDE, script, "[jobs]\nretries = 2\nretry_delay = \"50ms\"\n", &[]);
    let project = bed.projects().join("refused");
    fs::create_dir_all(&project).unwrap();
    for arguments in [&["init", "-q", "-b", "main"][..], &["commit", "-q", "--allow-empty", "-m", "first"]] {
        bed.git(&project, arguments);
    }
    for (prompt, _, code, runs, says, hint) in cases {
        let plan = project.join("plan.yaml");
        let text = format!(
            "name: p\nphases:\n  - {{ id: a, type: development, description: \"{prompt}\", on_failure: fail }}\n"
        );
        fs::write(&plan, text).unwrap();
        let before = bed.model.requests().len();
        let started = bed.helix(0, &["run", plan.to_str().unwrap(), "--detach"]);
        let id = started["job"].as_str().unwrap();
        let watched = bed.at(&project, &["jobs", "watch", id]);
        let told = String::from_utf8_lossy(&watched.stdout).into_owned();
        assert_eq!(watched.status.code(), Some(code), "{prompt}: {told}");
        assert!(told.contains(says) && told.contains(hint), "{prompt}: {told}");
        let job = bed.helix(0, &["jobs", "show", id]);
        let requests = bed.model.requests().len() - before;
        println!("{prompt}: {requests} request(s): {}", job["error"]);
        assert_eq!(job["phases"][0]["runs"].as_array().unwrap().len(), runs, "{prompt}: {job:#}");
        let error = &job["error"];
        assert!(error["message"].as_str().unwrap().contains(says), "{prompt}: {error:#}");
        assert!(error["hint"].as_str().unwrap().contains(hint), "{prompt}: {error:#}");
        assert!(requests >= runs, "{prompt}: {requests}");
    }
    bed.leave();
}

/// A stream that breaks and is healed by the CLI: whoever reads along sees where the whole answer begins, everybody else sees that
/// alone, and the session goes on as if nothing had been. Texts around tool calls are paragraphs.
#[test]
fn an_answer_that_broke_off_ends_as_what_was_answered() {
    let script: Script = r##"
rules:
  - when: { prompt: Break off, stream: false }
    times: always
    reply: { text: "Forty-two, in other words.\n<!-- STEP: what -->" }
  - when: { prompt: Break off read }
    times: always
    reply: { text: "The answer is forty-two, and that is all.\n<!-- STEP: what -->", chunk_chars: 8, fault: { kind: reset-mid-stream, times: 1, delay_ms: 2000 } }
  - when: { prompt: Break off whole }
    times: always
    reply: { text: "The answer is forty-two, and that is all.\n<!-- STEP: what -->", chunk_chars: 8, fault: { kind: reset-mid-stream, times: 1 } }
  - when: { prompt: Break off item }
    times: always
    reply: { text: "The answer is forty-two, and that is all.\n<!-- STEP: what -->", chunk_chars: 8, fault: { kind: reset-mid-stream, times: 1 } }
  - when: { prompt: Look twice, last: prompt }
    reply: { text: "First I look at the list:", tools: [{ name: Read, input: { file_path: "{{cwd}}/none.md" } }] }
  - when: { prompt: Look twice, tool_result: { tool: Read } }
    reply: { text: "**Result**: none.\n<!-- STEP: what -->" }
  - when: { prompt: And then }
    reply: { text: "Then nothing.\n<!-- STEP: what -->" }
"##
    .parse()
    .unwrap();
    for version in [PINNED_CLAUDE, "2.1.197"] {
        let bed = Bed::serve(version, script.clone());
        let whole = match version {
            // The newer one asks for another stream, the older one for the answer in one piece.
            PINNED_CLAUDE => "The answer is forty-two, and that is all.",
            _ => "Forty-two, in other words.",
        };
        let mut reader = bed.client();
        let read = reader.say("Break off read.");
        let text = answered(&read);
        let (broken, rest) =
            text.split_once("\n\n> [!NOTE]\n> **Helix:** ").unwrap_or_else(|| panic!("{version}: {read:#}"));
        assert!(broken.starts_with("The answ") && broken.len() < 30, "{version}: {read:#}");
        assert!(
            rest.starts_with("The connection to the model broke") && rest.ends_with(&format!("\n\n{whole}")),
            "{version}: {read:#}"
        );
        assert_eq!(rest.matches(whole).count(), 1, "{version}: {read:#}");
        assert_eq!(bed.client().ask("Break off whole.")["text"], whole, "{version}");
        assert_eq!(bed.javascript_client().ask("Break off item.")["text"], whole, "{version}");

        let before = bed.model.requests().len();
        assert_eq!(answered(&reader.say("And then?")), "Then nothing.", "{version}");
        let asked = bed.model.requests()[before..].iter().map(|one| one.body.to_string()).collect::<String>();
        assert!(asked.contains(whole) && !asked.contains("connection to the model"), "{version}: {asked}");
        assert!(!asked.contains("has edited your last answer"), "{version}: nobody changed the answer: {asked}");
        let sessions = reader.get("/api/v1/sessions");
        let all = sessions["sessions"].as_array().unwrap();
        assert_eq!(all.len(), 3, "{version}: {sessions:#}");
        let session = reader.get(&format!("/api/v1/sessions/{}", all[2]["id"].as_str().unwrap()));
        assert_eq!(session["turns"].as_array().unwrap().len(), 2, "{version}: {session:#}");
        let end = &session["turns"][0]["end"];
        assert!(end["answer"].as_str().unwrap().starts_with(whole) && end["shown"].is_null(), "{version}: {session:#}");

        let paragraphs = "First I look at the list:\n\n**Result**: none.";
        assert_eq!(answered(&bed.client().say("Look twice.")), paragraphs, "{version}");
        assert_eq!(bed.client().ask("Look twice, please.")["text"], paragraphs, "{version}");
        drop(reader);
        bed.leave();
    }
}

/// What its provider stopped is no part of the answer that the model gives instead: who read along is told so, with a seam. A text
/// that was too long for a message goes on in the next.
#[test]
fn what_the_provider_stopped_is_taken_back() {
    let script: Script = r##"
rules:
  - when: { prompt: stopped by a safety classifier }
    times: always
    reply: { text: "I leave that out.\n<!-- STEP: what -->" }
  - when: { prompt: Tell me all }
    times: always
    reply: { text: "It begins with:\n<!-- STEP: how -->", fault: refusal }
  - when: { prompt: Tell me much }
    times: 1
    reply: { text: "It goes ", stop_reason: max_tokens }
  - reply: { text: "on.\n<!-- STEP: what -->" }
"##
    .parse()
    .unwrap();
    let bed = Bed::serve(PINNED_CLAUDE, script);
    let seam =
        "> [!NOTE]\n> **Helix:** The provider's safeguards stopped the model here. What it answers instead follows.";
    let said = bed.client().say("Tell me all.");
    assert_eq!(answered(&said), format!("It begins with:\n\n{seam}\n\nI leave that out."));
    assert_eq!(bed.client().ask("Tell me all, please.")["text"], "I leave that out.");
    assert_eq!(answered(&bed.client().say("Tell me much.")), "It goes on.");
    bed.leave();
}

/// The Consultant writes in its own directory only.
#[test]
fn an_older_cli_writes_drafts_too() {
    let script: Script = r##"
rules:
  - when: { prompt: Write a note, last: prompt }
    reply:
      tools:
        - { name: Write, input: { file_path: "{{cwd}}/note.md", content: "# Kept\n" } }
        - { name: Write, input: { file_path: "{{projects}}/outside.md", content: "# Not kept\n" } }
        - { name: mcp__helix__adr_check, input: { path: note.md } }
  - when: { prompt: Write a note, tool_result: { tool: mcp__helix__adr_check, is_error: true, text: error } }
    reply: { text: "The note is no ADR.\n<!-- STEP: what -->" }
"##
    .parse()
    .unwrap();
    let bed = Bed::serve("2.1.197", script);
    let mut client = bed.client();
    let report = client.say("Write a note.");
    assert_eq!(answered(&report), "The note is no ADR.", "{report:#}");
    let sessions = client.get("/api/v1/sessions");
    let directory = sessions["sessions"][0]["directory"].as_str().unwrap();
    assert_eq!(fs::read_to_string(format!("{directory}/note.md")).unwrap(), "# Kept\n");
    assert!(!bed.projects().join("outside.md").exists(), "the Consultant wrote outside its directory");
    drop(client);
    bed.leave();
}

/// The rules that a phase's agent is given keep the file tools of the real CLI in its worktree, in both
/// versions; variables of the host's environment that nobody named do not reach its commands. What they do not keep in is `Bash`
/// and the agent's own key: `docs/agents.md` says so.
#[test]
fn a_phase_changes_files_in_its_worktree_only() {
    let script = r##"
scenes:
  - name: page
    prompt: "# Phase `page` of"
    steps:
      - tools: [{ name: Write, input: { file_path: "{{cwd}}/page.md", content: "# Kept\n" } }]
      - expect: { tool_result: { tool: Write, is_error: false } }
        tools: [{ name: Write, input: { file_path: "{{projects}}/shop/page.md", content: "# In the user's tree\n" } }]
      - expect: { tool_result: { tool: Write, is_error: true } }
        tools: [{ name: Write, input: { file_path: "{{projects}}/outside.md", content: "# Outside\n" } }]
      - expect: { tool_result: { tool: Write, is_error: true } }
        tools: [{ name: Write, input: { file_path: "{{cwd}}/../outside.md", content: "# Outside\n" } }]
      - expect: { tool_result: { tool: Write, is_error: true } }
        tools: [{ name: Read, input: { file_path: "{{projects}}/shop/.gitignore" } }]
      - expect: { tool_result: { tool: Read, is_error: false } }
        tools: [{ name: Edit, input: { file_path: "{{projects}}/shop/.gitignore", old_string: "pyc", new_string: "py" } }]
      - expect: { tool_result: { tool: Edit, is_error: true } }
        tools: [{ name: Bash, input: { command: "echo key=${AWS_SECRET_ACCESS_KEY-none}", description: looks } }]
      - expect: { tool_result: { tool: Bash, is_error: false, text: key=none } }
        text: The page is there.
"##;
    for version in [PINNED_CLAUDE, "2.1.197"] {
        let bed = Bed::serve_in(version, script.parse().unwrap(), &[("AWS_SECRET_ACCESS_KEY", "secret")]);
        let project = bed.projects().join("shop");
        fs::create_dir_all(&project).unwrap();
        let plan = "name: pages\nphases:\n  - { id: page, type: documentation, description: Write the page., outputs: [page.md], max_attempts: 1, gates: [{ type: files_exist }] }\n";
        fs::write(project.join("phases.yaml"), plan).unwrap();
        fs::write(project.join(".gitignore"), "*.pyc\n").unwrap();
        bed.git(&project, &["init", "-q", "-b", "main"]);
        bed.git(&project, &["add", "-A"]);
        bed.git(&project, &["commit", "-q", "-m", "start"]);
        bed.helix(0, &["run", project.join("phases.yaml").to_str().unwrap()]);
        assert_eq!(fs::read_to_string(project.join("page.md")).unwrap(), "# Kept\n", "{version}");
        assert_eq!(fs::read_to_string(project.join(".gitignore")).unwrap(), "*.pyc\n", "{version}");
        assert!(!bed.projects().join("outside.md").exists(), "{version}: it wrote outside its worktree");
        assert_eq!(bed.git(&project, &["status", "--porcelain"]), "", "{version}");
        bed.leave();
    }
}

/// Three turns with a tool call in the first one; each answer names what was asked.
fn notes() -> Script {
    r##"
rules:
  - when: { prompt: Write a note, last: prompt }
    reply:
      text: "I write it.\n\n"
      tools: [{ name: Write, input: { file_path: "{{cwd}}/note.md", content: "# Kept\n" } }]
  - when: { prompt: Write a note, tool_result: { tool: Write, is_error: false } }
    reply: { text: "The note is there.\n<!-- STEP: what -->" }
  - when: { prompt: What stands in it }
    reply: { text: "It says Kept.\n<!-- STEP: what -->" }
  - when: { prompt: Who wrote it }
    reply: { text: "I did.\n<!-- STEP: what -->" }
  - when: { prompt: When was that }
    reply: { text: "Just now.\n<!-- STEP: what -->" }
"##
    .parse()
    .unwrap()
}

#[test]
fn a_javascript_client_streams_edits_and_asks_in_both_forms() {
    for version in [PINNED_CLAUDE, "2.1.197"] {
        let bed = Bed::serve(version, notes());
        let mut client = bed.javascript_client();
        let first = client.say("Write a note.");
        assert_eq!(answered(&first), "I write it.\n\nThe note is there.", "{version}: {first:#}");
        assert!(first["reasoning"].as_str().unwrap().contains("✓ Wrote note.md"), "{version}: {first:#}");
        assert_eq!(client.ask("What stands in it?")["text"], "It says Kept.", "{version}");

        // An edit of the second message: the agent's own session is cut after the first answer, tool calls included.
        let before = bed.model.requests().len();
        let edited = client.edit("Who wrote it?");
        assert_eq!(answered(&edited), "I did.", "{version}: {edited:#}");
        let requests = bed.model.requests();
        let body = requests[before..]
            .iter()
            .map(|one| one.body.to_string())
            .find(|body| body.contains("Who wrote it"))
            .unwrap();
        assert!(body.contains("The note is there.") && body.contains("tool_use"), "{version}: {body}");
        assert!(!body.contains("What stands in it"), "{version}: the other branch is not told: {body}");
        assert_eq!(answered(&client.say("When was that?")), "Just now.", "{version}");

        let response = client.respond("Write a note for me.");
        assert_eq!(
            (&response["error"], &response["text"]),
            (&Value::Null, &json!("I write it.\n\nThe note is there.")),
            "{version}: {response:#}"
        );
        let items: Vec<&str> =
            response["items"].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();
        assert!(items.contains(&"mcp_call") && items.contains(&"message"), "{version}: {response:#}");
        assert!(response["usage"]["output_tokens"].as_u64() > Some(0), "{version}: {response:#}");
        let next = client.respond("What stands in it?");
        assert_eq!(next["text"], "It says Kept.", "{version}: {next:#}");
        drop(client);
        bed.leave();
    }
}

/// Every phase of a built-in workflow with the real CLI: what it adds, what a reviewer approves, and the plan's own.
#[test]
fn a_workflow_is_carried_out_by_the_real_cli() {
    let bed = Bed::serve(PINNED_CLAUDE, include_str!("e2e/workflow.yaml").parse().unwrap());
    let project = bed.projects().join("shop");
    fs::create_dir_all(&project).unwrap();
    let plan = "name: csv-export\nworkflow: { name: extern-complex, inputs: { tests: pytest -q } }\nphases:\n  - id: exporter\n    type: development\n    description: Write the exporter.\n    outputs: [export.py]\n    gates: [{ type: files_exist }, { type: syntax_check }]\n";
    fs::write(project.join("phases.yaml"), plan).unwrap();
    fs::write(project.join("test_shop.py"), "def test_shop():\n    assert True\n").unwrap();
    fs::write(project.join(".gitignore"), "__pycache__/\n.pytest_cache/\n").unwrap();
    bed.git(&project, &["init", "-q", "-b", "main"]);
    bed.git(&project, &["add", "-A"]);
    bed.git(&project, &["commit", "-q", "-m", "start"]);
    bed.helix(0, &["run", project.join("phases.yaml").to_str().unwrap()]);
    let id = bed.helix(0, &["jobs", "list"])[0]["id"].as_str().unwrap().to_owned();
    let job = bed.helix(0, &["jobs", "show", &id]);
    assert_eq!(job["status"], "succeeded", "{job:#}");
    let mut phases: Vec<(&str, &str, u64)> = (job["phases"].as_array().unwrap().iter())
        .map(|phase| {
            (phase["id"].as_str().unwrap(), phase["status"].as_str().unwrap(), phase["attempt"].as_u64().unwrap())
        })
        .collect();
    phases.sort_unstable();
    let order = ["documentation", "exporter", "feasibility", "planning-agent", "rows", "verify"];
    assert_eq!(phases, order.map(|id| (id, "passed", 1)), "{job:#}");
    assert_eq!(bed.helix(0, &["jobs", "evidence", &id])["proved"], true);
    let files = bed.git(&project, &["ls-tree", "-r", "--name-only", "main"]);
    for file in ["docs/csv-export.md", "docs/feasibility/csv-export.md", "export.py", "rows.py", "test_export.py"] {
        assert!(files.lines().any(|line| line == file), "{file} is not there: {files}");
    }
    assert_eq!(bed.git(&project, &["status", "--porcelain", "--", "export.py"]), "");
    bed.no_run_of(&id);
    bed.leave();
}

/// The schemas of planner and adviser are what the real CLI takes, in both versions, and their answers move the job.
#[test]
fn a_planner_and_an_adviser_answer_in_their_forms_through_the_real_cli() {
    for version in [PINNED_CLAUDE, "2.1.197"] {
        let bed = Bed::serve(version, include_str!("e2e/advice.yaml").parse().unwrap());
        let project = bed.projects().join("shop");
        fs::create_dir_all(&project).unwrap();
        let plan = "name: pages\nphases:\n\
            - { id: plan, type: planning, description: Plan the rows., generates_phases: { min: 1, max: 2 } }\n\
            - { id: page, type: documentation, description: Write the page., depends_on: [plan], outputs: [page.md], max_attempts: 1, gates: [{ type: files_exist }] }\n";
        fs::write(project.join("phases.yaml"), plan).unwrap();
        bed.git(&project, &["init", "-q", "-b", "main"]);
        bed.git(&project, &["add", "-A"]);
        bed.git(&project, &["commit", "-q", "-m", "start"]);
        bed.helix(0, &["run", project.join("phases.yaml").to_str().unwrap()]);
        let id = bed.helix(0, &["jobs", "list"])[0]["id"].as_str().unwrap().to_owned();
        let job = bed.helix(0, &["jobs", "show", &id]);
        let phases: Vec<Value> = (job["phases"].as_array().unwrap().iter())
            .map(|phase| json!([phase["id"], phase["status"], phase["attempt"]]))
            .collect();
        let wanted = [json!(["plan", "passed", 1]), json!(["rows", "passed", 1]), json!(["page", "passed", 2])];
        assert_eq!(phases, wanted, "{version}: {job:#}");
        let requests = bed.model.requests();
        let asked = |scene: &str| requests.iter().filter(|one| one.answered_by.as_deref() == Some(scene)).count();
        assert_eq!((asked("scene adviser take 1 step 2"), asked("scene planning take 1 step 1")), (1, 1), "{version}");
        // Who advises finds and searches files, and is offered no shell.
        let adviser = requests.iter().find(|one| one.answered_by.as_deref() == Some("scene adviser take 1 step 1"));
        let offered = adviser.unwrap().body["tools"].as_array().unwrap();
        let offers = |name: &str| offered.iter().any(|tool| tool["name"] == name);
        assert!(["Read", "Glob", "Grep"].into_iter().all(offers) && !offers("Bash"), "{version}: {offered:#?}");
        let told = requests.iter().rev().find(|one| one.answered_by.as_deref() == Some("scene page take 2 step 1"));
        assert!(
            told.unwrap().body.to_string().contains("belongs into page.md"),
            "{version}: the hint is not passed on"
        );
        bed.no_run_of(&id);
        bed.leave();
    }
}
