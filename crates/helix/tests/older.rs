//! Projects and clients of the former system: its oldest plan is carried out in order, started and followed by a client that
//! knows only the former routes and words.

use crate::stage::Stage;
use serde_json::{Value, json};

/// Without a name, dependencies or any word of today; each phase has a folder of its own.
const SKELETON: &str = r#"# Export
phases:
  - id: 01-analysis
    name: Analysis
    type: development
    description: Look at the shop.
    input:
      files: [README.md]
    output:
      files:
        - phases/01-analysis/output/analysis.md
    quality_gate:
      type: files_exist

  - id: 02_Export
    name: Export
    description: Write the exporter.
    config:
      skills: []
    input:
      files: [phases/01-analysis/output/analysis.md]
    output:
      files: [phases/02_Export/output/new/shop/export.py]
    quality_gate:
      type: syntax_check

  - id: "3"
    type: documentation
    input: [phases/02_Export/output/new/shop/export.py]
    output: { directory: phases/3/output/docs, expected_files: [export.md] }
    quality_gates: [files_exist]
"#;

fn writes(phase: &str, path: &str, text: &str) -> String {
    format!(
        "  - name: '{phase}'\n    prompt: {{ matches: '(# Phase|work on phase) `{phase}`' }}\n    attempts: [{{ steps: [{{ write: {{ path: {path}, content: {} }} }}] }}]\n",
        Value::from(text)
    )
}

/// A stage whose repository has the oldest plan as a project.
fn stage(more: &str) -> Stage {
    let script = [
        writes("01-analysis", "analysis.md", "# It can be done\n"),
        writes("02-export", "shop/export.py", "ROWS = []\n"),
        writes("3", "docs/export.md", "# Export\n"),
    ];
    stage_of(&format!("{SKELETON}{more}"), &script)
}

/// A stage whose repository has an older project in `projects/internal/export`, below the one root.
fn stage_of(plan: &str, script: &[String]) -> Stage {
    let stage = Stage::new(&format!("parts:\n{}", script.concat()), "");
    let settings = stage.sandbox.home().join(".config/helix/helix.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, format!("{text}\n[server]\nroots = [{:?}]\n", stage.repo)).unwrap();
    let project = stage.repo.join("projects/internal/export");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("phases.yaml"), plan).unwrap();
    std::fs::write(stage.repo.join("README.md"), "# Shop\n").unwrap();
    stage.git(&stage.repo, &["add", "--all"]);
    stage.git(&stage.repo, &["commit", "--quiet", "--message", "plan"]);
    stage
}

/// A client of the former API.
struct Client<'s>(&'s Stage);

impl Client<'_> {
    async fn execute(&self, body: Value) -> (u16, Value) {
        let answer = self.0.ask(|http, url| http.post(format!("{url}/helix/execute")).json(&body)).await;
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn get(&self, path: &str) -> Value {
        self.0.ask(|http, url| http.get(format!("{url}/helix{path}"))).await.json().await.unwrap()
    }

    async fn stop(&self, job: &str) -> Value {
        self.0.ask(|http, url| http.delete(format!("{url}/helix/jobs/{job}"))).await.json().await.unwrap()
    }

    /// The events of a job to its end, each with its name.
    async fn stream(&self, job: &str, after: u64) -> Vec<(String, Value)> {
        let path = format!("/helix/stream/{job}?after={after}");
        let text = self.0.ask(|http, url| http.get(format!("{url}{path}"))).await.text().await.unwrap();
        let field = |frame: &str, name: &str| Some(frame.lines().find_map(|line| line.strip_prefix(name))?.to_owned());
        let frames = text.split("\n\n").filter_map(|frame| Some((field(frame, "event: ")?, field(frame, "data: ")?)));
        frames.map(|(name, data)| (name, serde_json::from_str(&data).unwrap())).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_plan_runs_in_order_to_its_end_for_a_client_of_the_former_api() {
    let stage = stage("");
    let _host = stage.start();
    let client = Client(&stage);
    let (status, job) =
        client.execute(json!({ "project_path": "projects/internal/export/", "phase_filter": null })).await;
    assert_eq!(status, 200, "{job:#}\n{}", stage.log());
    let id = job["job_id"].as_str().unwrap().to_owned();
    assert!(["pending", "running"].contains(&job["status"].as_str().unwrap()), "{job:#}");
    assert_eq!(job["name"], "export", "after the directory: {job:#}");

    let events = client.stream(&id, 0).await;
    let told: Vec<(&str, &str)> =
        events.iter().map(|(name, data)| (name.as_str(), data["phase_id"].as_str().unwrap_or("-"))).collect();
    let known = ["job_started", "phase_start", "gate_passed", "gate_failed", "phase_complete", "phase_failed"];
    let told: Vec<_> = told.into_iter().filter(|(name, _)| known.contains(name) || name.starts_with("job_")).collect();
    let phase = |id| [("phase_start", id), ("gate_passed", id), ("phase_complete", id)];
    let mut expected = vec![("job_started", "-")];
    expected.extend(["01-analysis", "02-export", "3"].into_iter().flat_map(phase));
    expected.push(("job_completed", "-"));
    let mut once = told.clone();
    once.dedup();
    assert_eq!(once, expected, "{events:#?}");
    let data = |name: &str| &events.iter().find(|(told, _)| told == name).unwrap().1;
    assert_eq!(
        (&data("phase_start")["name"], &data("phase_start")["type"]),
        (&json!("Analysis"), &json!("development"))
    );
    assert_eq!((&data("phase_complete")["success"], data("phase_complete")["duration"].is_f64()), (&json!(true), true));
    assert_eq!(
        (&data("job_completed")["phases_completed"], &data("job_completed")["phases_total"]),
        (&json!(3), &json!(3))
    );
    assert!(events.iter().all(|(_, data)| data["timestamp"].is_string()), "{events:#?}");
    let last = events.last().unwrap().1["number"].as_u64().unwrap();
    let rest: Vec<String> = client.stream(&id, last - 1).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(rest, ["job_completed"], "a stream goes on behind a number");

    let job = client.get(&format!("/jobs/{id}")).await;
    assert_eq!((&job["job_id"], &job["status"], &job["error"]), (&json!(id), &json!("completed"), &Value::Null));
    assert_eq!(job["current_phase"], "3", "{job:#}");
    for time in ["created_at", "started_at", "completed_at"] {
        assert!(job[time].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{time}: {job:#}");
    }
    let phases = job["phases"].as_array().unwrap();
    let shown = |field: &str| phases.iter().map(|phase| phase[field].clone()).collect::<Vec<_>>();
    assert_eq!(shown("phase_id"), ["01-analysis", "02-export", "3"]);
    assert_eq!(shown("status"), ["completed", "completed", "completed"]);
    assert_eq!(phases[1]["output_files"], json!(["shop/export.py"]));
    assert!(phases[1]["duration_seconds"].as_f64().unwrap() >= 0.0 && phases[1]["gates"].is_array(), "{job:#}");
    for pair in phases.windows(2) {
        let time = |phase: &Value, key: &str| phase[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert!(time(&pair[0], "completed_at") <= time(&pair[1], "started_at"), "not in order: {job:#}");
    }
    for file in ["analysis.md", "shop/export.py", "docs/export.md"] {
        assert!(stage.repo.join(file).is_file(), "{file} is not there");
    }
    let listed = client.get("/jobs?limit=5").await;
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["job_id"]), (1, &json!(id)), "{listed:#}");
    assert_eq!(client.stop(&id).await, json!({ "status": "already_stopped", "job_id": id, "job_status": "completed" }));
    // The modern form of the same job has both times too.
    let modern = stage.job(&id).await;
    assert_eq!((&modern["started_at"], &modern["status"]), (&job["started_at"], &json!("succeeded")), "{modern:#}");

    for (body, status, words) in [
        (json!({ "project_path": "projects/internal/exprt" }), 404, "Project not found: projects/internal/exprt"),
        (json!({ "project_path": "/no/such/project" }), 404, "/no/such/project"),
        (json!({ "project_path": "projects/../../" }), 404, "Project not found"),
    ] {
        let (answered, problem) = client.execute(body).await;
        assert_eq!(answered, status, "{problem:#}");
        assert!(problem["detail"].as_str().unwrap().contains(words), "{problem:#}");
    }
    assert_eq!(client.get("/jobs/none").await["status"], 404);
}

/// Each phase had a folder of its own, so files of one name never met, and they do not now.
#[tokio::test(flavor = "multi_thread")]
async fn phases_of_the_oldest_plan_may_write_files_of_one_name() {
    let phase = |id: &str, input: &str| {
        format!(
            "  - id: {id}\n    {input}\n    output:\n      files: [phases/{id}/output/notes.md]\n    quality_gate: {{ type: files_exist }}\n"
        )
    };
    let plan = format!(
        "phases:\n{}{}",
        phase("look", "description: Look."),
        phase("Build_It", "input: { files: [phases/look/output/notes.md] }")
    );
    let (look, build) = ("phases/look/output/notes.md", "phases/build-it/output/notes.md");
    let stage = stage_of(&plan, &[writes("look", look, "# Seen\n"), writes("build-it", build, "# Built\n")]);
    let _host = stage.start();
    let client = Client(&stage);
    let (status, job) = client.execute(json!({ "project_path": "projects/internal/export" })).await;
    assert_eq!(status, 200, "{job:#}\n{}", stage.log());
    client.stream(job["job_id"].as_str().unwrap(), 0).await;
    let job = client.get(&format!("/jobs/{}", job["job_id"].as_str().unwrap())).await;
    assert_eq!(job["status"], "completed", "{job:#}\n{}", stage.log());
    assert_eq!(job["phases"][1]["output_files"], json!([build]), "{job:#}");
    let read = |file: &str| std::fs::read_to_string(stage.repo.join(file)).unwrap();
    assert_eq!((read(look), read(build)), ("# Seen\n".to_owned(), "# Built\n".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_former_api_stops_a_job_and_is_told_of_failures() {
    let more = "  - { id: 4, type: hardware-test, description: Try it., requires_approval: true }\n";
    let stage = stage(more);
    let _host = stage.start();
    let client = Client(&stage);
    let (_, job) = client.execute(json!({ "project_path": stage.repo.join("projects/internal/export") })).await;
    let id = job["job_id"].as_str().unwrap_or_else(|| panic!("{job:#}")).to_owned();
    while stage.job(&id).await["status"] != "waiting" {
        tokio::time::sleep(crate::stage::LOOK_AGAIN).await;
    }
    assert_eq!(client.get(&format!("/jobs/{id}")).await["status"], "running", "the former API knew no waiting");
    assert_eq!(client.stop(&id).await, json!({ "status": "cancelled", "job_id": id }));
    let events = client.stream(&id, 0).await;
    assert_eq!(events.last().unwrap().0, "job_cancelled", "{events:#?}");
    assert_eq!(client.get(&format!("/jobs/{id}")).await["status"], "cancelled");

    // One phase alone, by the id that it has in the file; the agent writes something else than it claims.
    let path = stage.repo.join("projects/internal/export/phases.yaml");
    let text = std::fs::read_to_string(&path).unwrap().replace("new/shop/export.py", "new/shop/other.py");
    std::fs::write(&path, format!("max_retries: 0\n{text}")).unwrap();
    std::fs::write(stage.repo.join("analysis.md"), "# It can be done\n").unwrap();
    stage.git(&stage.repo, &["add", "--all"]);
    stage.git(&stage.repo, &["commit", "--quiet", "--message", "again"]);
    let filter = json!({ "project_path": "projects/internal/export", "phase_filter": ["02_Export"] });
    let (status, job) = client.execute(filter).await;
    assert_eq!(status, 200, "{job:#}");
    let id = job["job_id"].as_str().unwrap();
    let job = stage.answer_all(id, |question| panic!("nobody who could answer is told: {question:#}")).await;
    assert_eq!(job["status"], "failed", "{job:#}");
    let names: Vec<(String, Value)> = client.stream(id, 0).await;
    let named = |wanted: &str| names.iter().find(|(name, _)| name == wanted).unwrap_or_else(|| panic!("{names:#?}"));
    assert_eq!(named("gate_failed").1["gate_type"], "outputs_claimed");
    assert_eq!(named("phase_failed").1["phase_id"], "02-export");
    assert!(!named("job_failed").1["error"].as_str().unwrap().is_empty());
    let job = client.get(&format!("/jobs/{id}")).await;
    assert!(job["status"] == "failed" && job["error"].is_string(), "{job:#}");
}
