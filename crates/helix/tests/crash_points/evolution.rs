//! The way back, whose every place is a place to die: an unhealthy delivery is rolled back, and a merged job is reverted.

use std::path::Path;

use serde_json::{Value, json};

use super::Scene;
use crate::stage::{LIMIT, LOOK_AGAIN, Stage};

/// A job whose delivery turns out ill, and one that is merged and taken out again.
pub(crate) struct WayBack;

pub(crate) const WAY_BACK: WayBack = WayBack;

const SCRIPT: &str = r##"
sessions: known
parts:
  - { name: deliver, prompt: { matches: '(?i)phase `deliver`' }, act: { say: Ready. } }
  - { name: page, prompt: { matches: '(?i)phase `page`' }, act: { steps: [{ write: { path: page.md, content: "# Page\n" } }] } }
"##;

/// What must be the same whether or not the host died. How far a rollback came that a host died in is unknown: then that is what
/// has to be said.
#[derive(Debug, PartialEq)]
pub(crate) struct Whole {
    status: String,
    /// Whether what is said of the delivery is what happened to the target.
    told: bool,
    files: String,
    reverts: usize,
    reverted: bool,
    work_tree: String,
}

fn times(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}

impl Scene for WayBack {
    type Whole = Whole;

    fn name(&self) -> &'static str {
        "way back"
    }

    fn has(&self, _: &str) -> bool {
        true
    }

    fn always(&self) -> &'static [&'static str] {
        &["rollback", "reverted"]
    }

    fn least(&self) -> usize {
        41
    }

    /// What follows a death in a delivery or a rollback is another course.
    fn deaths(&self) -> usize {
        1
    }

    fn stage(&self) -> Stage {
        Stage::new(SCRIPT, "max_agents = 4\n")
    }

    async fn play(&self, stage: &Stage) -> Whole {
        let (out, back) = (stage.shared().join("out"), stage.shared().join("back"));
        let gate = format!(
            "{{ type: deploy_success, command: \"sh -c 'echo out >> {}'\", rollback: \"sh -c 'echo back >> {1}'\", health: {{ command: test -e {1}, every: 1s, for: 1s, limit: 1 }} }}",
            out.display(),
            back.display()
        );
        let plan = format!(
            "name: ill\nphases:\n  - {{ id: deliver, type: deploy, description: Deliver it, gates: [{{ type: command, command: \"true\" }}, {gate}] }}\n"
        );
        let ill = stage.submit(&stage.plan("ill", &plan), &stage.repo, "ill").await;
        stage.events(&ill).await;
        let job = stage.job(&ill).await;
        let delivery = &job["deliveries"][0];
        let unknown = delivery["outcome"].as_str().is_some_and(|words| words.contains("unknown: a person is needed"));
        let told = match (delivery["state"].as_str().unwrap_or_default(), times(&out), times(&back)) {
            ("rolled_back", 1, 1) => true,
            ("rollback_failed", 1, 0 | 1) => unknown,
            ("unknown", 0 | 1, 0) => true,
            _ => false,
        };
        let plan = "name: page\nphases:\n  - { id: page, type: documentation, description: Write it, outputs: [page.md], gates: [{ type: files_exist }] }\n";
        let page = stage.submit(&stage.plan("page", plan), &stage.repo, "page").await;
        stage.events(&page).await;
        let path = format!("/api/v1/jobs/{page}/revert");
        let start = std::time::Instant::now();
        let reverted = loop {
            let answer = stage.ask(|http, url| http.post(format!("{url}{path}")).json(&json!({ "by": "ada" }))).await;
            // A host that dies in the middle of its answer is asked again.
            if let Ok(answer) = answer.json::<Value>().await {
                break answer;
            }
            assert!(start.elapsed() < LIMIT, "{}", stage.log());
            tokio::time::sleep(LOOK_AGAIN).await;
        };
        Stage::no_agent_is_left(&ill);
        Stage::no_agent_is_left(&page);
        let log = stage.git(&stage.repo, &["log", "--format=%B"]);
        let head = stage.git(&stage.repo, &["rev-parse", "HEAD"]);
        Whole {
            status: job["status"].as_str().unwrap_or_default().to_owned(),
            told,
            files: stage.git(&stage.repo, &["ls-tree", "-r", "--name-only", "HEAD"]),
            reverts: log.lines().filter(|line| line.starts_with("Helix-Reverts: ")).count(),
            reverted: reverted["reverted"]["commit"] == head.trim()
                && reverted["reverted"]["by"].as_str().is_some_and(|by| by.ends_with(" (token)")),
            work_tree: stage.git(&stage.repo, &["status", "--porcelain"]),
        }
    }

    fn is_as_meant(&self, whole: &Whole) {
        assert_eq!(
            (whole.status.as_str(), whole.told, whole.reverts, whole.reverted),
            ("failed", true, 1, true),
            "{whole:#?}"
        );
        assert!(!whole.files.contains("page.md"), "{whole:#?}");
    }
}
