//! A session whose every place is a place to die: its client sends what it said again until it has an answer.

use serde_json::{Value, json};

use super::Scene;
use crate::stage::{LOOK_AGAIN, Stage};

/// What its two messages ask for.
const MESSAGES: [&str; 2] = ["Found the library", "Lend the books"];
/// How often a message may honestly fail before it is answered.
const MOST_FAILURES: usize = 3;

const ADR: &str = "---\nadr_id: draft\ntitle: TITLE\nstatus: Proposed\n---\n\n## Context\n\nThere is a need for TITLE.\n\n\
    ## Decision\n\nSo it is done.\n\n## Acceptance criteria\n\n- [ ] `true` exits 0\n";
const PLAN: &str = "name: library\nphases:\n  - { id: shelf, type: documentation, description: Put up the shelf, outputs: [shelf.md] }\n";

/// In the first turn a project is made with a decision and a plan, and the answer lacks its marker; in the second another decision is
/// recorded and the job started, which the page watches to its end.
pub(crate) struct Talk;

pub(crate) const TALK: Talk = Talk;

/// What must be the same whether or not the host died.
#[derive(Debug, PartialEq)]
pub(crate) struct Whole {
    /// What the agent said to each message, without what Helix adds.
    answers: Vec<String>,
    sessions: usize,
    /// Status of each job.
    jobs: Vec<String>,
    /// Files of the project.
    files: String,
    /// Subjects of its commits, sorted.
    commits: Vec<String>,
    work_tree: String,
}

fn script(stage: &Stage) -> String {
    let project = stage.sandbox.home().join("helix-projects/library");
    let write = |path: &str, content: &str| json!({ "write": { "path": path, "content": content } });
    let call = |tool: &str, arguments: Value| json!({ "call": { "tool": tool, "arguments": arguments } });
    let script = json!({
        "sessions": "known",
        "parts": [
            { "name": "marker", "prompt": { "matches": "Do not repeat the answer" }, "act": { "say": "<!-- STEP: what -->" } },
            {
                "name": "founds",
                "prompt": { "matches": "Found the library" },
                "act": {
                    "steps": [
                        write("adr-library.md", &ADR.replace("TITLE", "Library")),
                        write("phases.yaml", PLAN),
                        call("project_create", json!({ "name": "library", "adr": "adr-library.md", "plan": "phases.yaml" })),
                    ],
                    "say": "It is founded.",
                },
            },
            {
                "name": "lends",
                "prompt": { "matches": "Lend the books" },
                "act": {
                    "steps": [
                        write("adr-lending.md", &ADR.replace("TITLE", "Lending")),
                        call("adr_finalize", json!({ "path": "adr-lending.md", "project": project })),
                        call("job_start", json!({ "project": project })),
                    ],
                    "say": "They are lent.\n\n<!-- STEP: done -->",
                },
            },
            {
                "name": "shelf",
                "prompt": { "matches": "(?i)phase `shelf`" },
                "act": { "steps": [write("shelf.md", "# Shelf\n")], "say": "It is up." },
            },
        ],
    });
    script.to_string()
}

/// The text of a stream, and its error if it has one; `None` when it was cut off.
fn read(stream: &str) -> Option<(String, Option<String>)> {
    let mut text = String::new();
    let mut error = None;
    for data in stream.lines().filter_map(|line| line.strip_prefix("data: ")) {
        if data == "[DONE]" {
            // Open WebUI is told of a failure in the text alone.
            let failed = text.contains("> [!CAUTION]").then(|| text.clone());
            return Some((text, error.or(failed)));
        }
        let frame: Value = serde_json::from_str(data).unwrap();
        text.push_str(frame["choices"][0]["delta"]["content"].as_str().unwrap_or_default());
        error = error.or(frame["error"]["code"].as_str().map(str::to_owned));
    }
    None
}

/// Sends a message again and again, always the same, until it is answered.
async fn say(stage: &Stage, number: usize, history: &[Value]) -> String {
    let body = json!({ "model": "helix", "stream": true, "messages": history });
    let parent = if number == 0 { String::new() } else { format!("m{}", number - 1) };
    let mut failures = Vec::new();
    loop {
        let answer = stage
            .ask(|http, url| {
                let request = http.post(format!("{url}/v1/chat/completions")).header("x-helix-client", "openwebui");
                let request = request.header("x-chat", "library").header("x-message", format!("m{number}"));
                request.header("x-parent", &parent).json(&body)
            })
            .await;
        let status = answer.status();
        match answer.text().await.ok().and_then(|text| read(&text)) {
            // The host died: whether there is an answer is seen by asking the next one.
            None => assert!(status.is_success(), "{status}\n{}", stage.log()),
            Some((text, None)) => return text,
            Some((text, Some(code))) => {
                failures.push(code);
                assert!(failures.len() <= MOST_FAILURES, "{failures:?}: {text}\n{}", stage.log());
            }
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

impl Scene for Talk {
    type Whole = Whole;

    fn name(&self) -> &'static str {
        "session"
    }

    /// What its job does is tried by the others.
    fn has(&self, place: &str) -> bool {
        ["opening a session", "decision", "project", "submission", "watching", " t1", " t2"]
            .iter()
            .any(|part| place.contains(part))
    }

    fn always(&self) -> &'static [&'static str] {
        &["after a submission", "after committing", "after creating"]
    }

    fn least(&self) -> usize {
        25
    }

    /// A turn that was lost is said again as another one, whose places have other names.
    fn deaths(&self) -> usize {
        1
    }

    fn stage(&self) -> Stage {
        let stage = Stage::new("{}", "max_agents = 4\n");
        stage.agent_does(&script(&stage));
        stage
    }

    async fn play(&self, stage: &Stage) -> Whole {
        let mut history: Vec<Value> = Vec::new();
        let mut answers = Vec::new();
        for (number, message) in MESSAGES.iter().enumerate() {
            history.push(json!({ "role": "user", "content": message }));
            let answer = say(stage, number, &history).await;
            history.push(json!({ "role": "assistant", "content": answer }));
            answers.push(answer.split("\n\n").next().unwrap_or_default().to_owned());
        }
        let all = |path: &'static str| async move {
            let answer = stage.ask(|http, url| http.get(format!("{url}/api/v1/{path}"))).await;
            let answer: Value = answer.json().await.unwrap();
            answer[path].as_array().unwrap_or_else(|| panic!("{answer:#}")).clone()
        };
        let (sessions, jobs) = (all("sessions").await, all("jobs").await);
        let mut statuses = Vec::new();
        for job in &jobs {
            let id = job["id"].as_str().unwrap();
            stage.events(id).await;
            statuses.push(stage.job(id).await["status"].as_str().unwrap().to_owned());
            Stage::no_agent_is_left(id);
        }
        for session in &sessions {
            Stage::no_agent_is_left(session["id"].as_str().unwrap());
        }
        let project = stage.sandbox.home().join("helix-projects/library");
        let mut commits: Vec<String> =
            stage.git(&project, &["log", "--no-merges", "--format=%s"]).lines().map(str::to_owned).collect();
        commits.sort();
        Whole {
            answers,
            sessions: sessions.len(),
            jobs: statuses,
            files: stage.git(&project, &["ls-tree", "-r", "--name-only", "HEAD"]),
            commits,
            work_tree: stage.git(&project, &["status", "--porcelain"]),
        }
    }

    fn is_as_meant(&self, whole: &Whole) {
        assert_eq!(whole.answers, ["It is founded.", "They are lent."], "{whole:#?}");
        assert_eq!((whole.sessions, whole.jobs.as_slice()), (1, ["succeeded".to_owned()].as_slice()), "{whole:#?}");
        for file in ["adr/001-library.md", "adr/002-lending.md", "plans/library/phases.yaml", "shelf.md"] {
            assert!(whole.files.lines().any(|line| line == file), "no {file}: {whole:#?}");
        }
    }
}
