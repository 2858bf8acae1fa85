//! One target, several deliveries: of jobs, of hosts, and of hosts that are not there any more.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use super::evolution::{commit, plan, said};
use super::{part, writes};
use crate::stage::{LIMIT, LOOK_AGAIN, Stage};

/// The target of two jobs is changed by one after the other, whatever becomes of their host meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn two_jobs_deliver_to_one_target_one_after_the_other() {
    let names = ["one", "two", "three", "four"];
    let texts = names.map(|name| writes(name, &format!("{name}.txt"), "text\n")).concat();
    let stage = Stage::new(&["parts:\n", &texts, &part("deliver", "{ say: Ready. }")].concat(), "max_agents = 4\n");
    let plan =
        |name: &str, gate: &str| stage.plan(name, &plan(name, gate).replace("version.txt", &format!("{name}.txt")));
    let (log, go) = waiting_deployment(&stage);
    let gate = "{ type: deploy_success, target: production, command: ./deploy.sh, health: { command: \"true\", every: 1s, for: 1s } }";
    let host = stage.start();
    let first = stage.submit(&plan("one", gate), &stage.repo, "one").await;
    let lines = || std::fs::read_to_string(&log).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
    let start = Instant::now();
    while lines().is_empty() {
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let second = stage.submit(&plan("two", gate), &stage.repo, "two").await;
    let waits = async || {
        let phase = stage.job(&second).await["phases"][1].clone();
        phase["waits_for"]["what"] == "target" && phase["stage"].as_str().unwrap().contains(&first)
    };
    while !waits().await {
        assert!(start.elapsed() < LIMIT, "{:#}\n{}", stage.job(&second).await, stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    std::fs::write(&go, "").unwrap();
    for id in [&first, &second] {
        stage.events(id).await;
        assert_eq!(stage.job(id).await["status"], "succeeded", "{}", stage.log());
    }
    assert_eq!(lines(), ["begin", "end", "begin", "end"]);
    // The second one saw the first to its end, and knows it as what is brought back.
    assert_eq!(stage.job(&second).await["deliveries"][0]["baseline"]["job"], json!(first));
    // A host that dies in the middle of a delivery holds its target no longer than the next one needs to see that.
    std::fs::remove_file(&go).unwrap();
    drop(host);
    let mut host = stage.start();
    let third = stage.submit(&plan("three", gate), &stage.repo, "three").await;
    let start = Instant::now();
    while lines().len() < 5 {
        assert!(start.elapsed() < LIMIT, "{:#}\n{}", stage.job(&third).await, stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    host.0.kill().unwrap();
    host.0.wait().unwrap();
    let _host = stage.start();
    let fourth = stage.submit(&plan("four", gate), &stage.repo, "four").await;
    stage.events(&third).await;
    assert_eq!(stage.job(&third).await["deliveries"][0]["state"], "unknown", "{}", stage.log());
    std::fs::write(&go, "").unwrap();
    stage.events(&fourth).await;
    assert_eq!(stage.job(&fourth).await["deliveries"][0]["state"], "delivered", "{}", stage.log());
}

/// A deployment that waits for a file and says when it begins and ends, also where it is stopped, which takes it two seconds.
fn waiting_deployment(stage: &Stage) -> (PathBuf, PathBuf) {
    let (log, go) = (stage.shared().join("log"), stage.shared().join("go"));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    let deploy = format!(
        "#!/bin/sh\ntrap '' INT\ntrap 'echo end >> {0}; exit 1' TERM\necho begin >> {0}\nuntil [ -e {1} ]; do sleep 0.05; done\necho end >> {0}\n",
        log.display(),
        go.display()
    );
    std::fs::write(stage.repo.join("deploy.sh"), deploy).unwrap();
    std::fs::set_permissions(stage.repo.join("deploy.sh"), executable).unwrap();
    commit(stage, "How it is deployed");
    (log, go)
}

/// A job that is cancelled is over at once, and its command is not.
#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_is_being_stopped_holds_its_target_until_its_command_has_ended() {
    let texts = ["one", "two"].map(|name| writes(name, &format!("{name}.txt"), "text\n")).concat();
    let stage = Stage::new(&["parts:\n", &texts, &part("deliver", "{ say: Ready. }")].concat(), "max_agents = 2\n");
    let (log, go) = waiting_deployment(&stage);
    let lines = || std::fs::read_to_string(&log).unwrap_or_default();
    let gate = "{ type: deploy_success, target: production, command: ./deploy.sh }";
    let plan = |name: &str| stage.plan(name, &plan(name, gate).replace("version.txt", &format!("{name}.txt")));
    let _host = stage.start();
    let first = stage.submit(&plan("one"), &stage.repo, "one").await;
    let start = Instant::now();
    while lines().is_empty() {
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let second = stage.submit(&plan("two"), &stage.repo, "two").await;
    while stage.job(&second).await["phases"][1]["waits_for"]["what"] != "target" {
        assert!(start.elapsed() < LIMIT, "{:#}\n{}", stage.job(&second).await, stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let done = stage.helix(&["jobs", "cancel", &first]).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    while lines().lines().count() < 3 {
        assert!(start.elapsed() < LIMIT, "{:#}\n{}", stage.job(&second).await, stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    std::fs::write(&go, "").unwrap();
    stage.events(&second).await;
    assert_eq!(stage.job(&first).await["deliveries"][0]["state"], "unknown", "{}", stage.log());
    assert_eq!(stage.job(&second).await["status"], "succeeded", "{}", stage.log());
    assert_eq!(lines(), "begin\nend\nbegin\nend\n");
}

/// Hosts with state directories of their own know of each other by the repository, also of those that are not there any more.
#[tokio::test(flavor = "multi_thread")]
async fn two_state_directories_deliver_to_one_target_one_after_the_other() {
    let texts = ["one", "two", "three"].map(|name| writes(name, &format!("{name}.txt"), "text\n")).concat();
    let script = ["parts:\n", &texts, &part("deliver", "{ say: Ready. }")].concat();
    let (first, second) = (Stage::new(&script, ""), Stage::new(&script, ""));
    let (log, go) = waiting_deployment(&first);
    first.shares_with(&second);
    let gate = "{ type: deploy_success, target: production, command: ./deploy.sh }";
    let plan = |stage: &Stage, name: &str| {
        let text = plan(name, gate).replace("version.txt", &format!("{name}.txt"));
        stage.plan(name, &text.replace(", optional: true", ""))
    };
    let lines = |log: &Path| std::fs::read_to_string(log).unwrap_or_default().lines().count();
    let (mut host, _other) = (first.start(), second.start());
    let one = first.submit(&plan(&first, "one"), &first.repo, "one").await;
    let start = Instant::now();
    while lines(&log) < 1 {
        assert!(start.elapsed() < LIMIT, "{}", first.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let two = second.submit(&plan(&second, "two"), &first.repo, "two").await;
    let state = first.sandbox.state().canonicalize().unwrap();
    let wait = json!({ "what": "target", "target": "production", "job": one, "state_dir": state });
    while second.job(&two).await["phases"][1]["waits_for"] != wait {
        assert!(start.elapsed() < LIMIT, "{:#}\n{}", second.job(&two).await, second.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    // Nobody knows any more how far the first one came: that is told, and not waited for.
    host.0.kill().unwrap();
    host.0.wait().unwrap();
    second.events(&two).await;
    let error = second.job(&two).await["error"].clone();
    let command = format!("`HELIX_STATE_DIR={} helix jobs cancel {one}`", state.display());
    assert!(error["message"].as_str().unwrap().contains(&one), "{error:#}");
    assert!(error["hint"].as_str().unwrap().contains(&command), "{error:#}");
    assert_eq!(lines(&log), 1);
    let done = first.helix(&["jobs", "cancel", &one]).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    std::fs::write(&go, "").unwrap();
    let done = second.helix(&["jobs", "resume", &two]).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "begin\nend\nbegin\nend\n");
    // What the other one has delivered is what is brought back.
    let _host = first.start();
    let three = first.submit(&plan(&first, "three"), &first.repo, "three").await;
    first.events(&three).await;
    assert_eq!(first.job(&three).await["deliveries"][0]["baseline"]["job"], json!(two), "{}", first.log());
}
