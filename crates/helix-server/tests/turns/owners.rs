//! Whose jobs the Consultant of a chat user reaches.

use std::time::Duration;

use helix_core::ids::SessionId;
use helix_engine::tools::{Caller, Tools};
use helix_server::ServerConfig;
use serde_json::{Value, json};

use super::jobs::Stage;
use crate::host::Host;

/// Whoever knows the id of another one's job can neither answer it nor hear of it; the owner of the host can.
#[tokio::test]
async fn a_chat_user_reaches_no_job_of_another_one() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "    approval: before\n").await;
    let session = async |user: &str| {
        let request = stage.host.post("/v1/chat/completions").header("x-openwebui-user-id", user);
        let body = json!({ "messages": [{ "role": "user", "content": format!("I am {user} [[fake: say Hi.]]") }] });
        let answer: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
        SessionId::new(answer["helix"]["session"].as_str().unwrap()).unwrap()
    };
    let tools = async |user: &str| Tools::new(stage.host.engine().clone(), Caller::Session(session(user).await));
    let (ann, bob) = (tools("ann").await, tools("bob").await);
    let project = stage.sandbox.path().join("shop");
    let started = ann.job_start(serde_json::from_value(json!({ "project": project })).unwrap()).await;
    let id =
        started.unwrap_or_else(|refusal| panic!("{}", refusal.text)).0.split_whitespace().nth(2).unwrap().to_owned();
    let status = |id: &str| serde_json::from_value(json!({ "job": id })).unwrap();
    let question = loop {
        let view: Value = stage.host.get(&format!("/api/v1/jobs/{id}")).send().await.unwrap().json().await.unwrap();
        if let Some(question) = view["questions"][0]["id"].as_str() {
            break question.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let approval = || serde_json::from_value(json!({ "question": question, "choice": "approve" })).unwrap();

    let refused = bob.job_status(status(&id)).await.err().unwrap().text;
    assert_eq!(refused, format!("no chat of this user has started a job {id}"));
    let unknown = bob.job_status(status("j1m80cxsf2e74jy7s")).await.err().unwrap().text;
    assert_eq!(unknown.replace("j1m80cxsf2e74jy7s", &id), refused, "not even that there is one");
    assert_eq!(bob.answer(approval()).await.err().unwrap().text, refused);
    assert!(
        bob.job_status(serde_json::from_value(json!({})).unwrap()).await.err().unwrap().text.contains("no job yet")
    );
    let view: Value = stage.host.get(&format!("/api/v1/jobs/{id}")).send().await.unwrap().json().await.unwrap();
    assert_eq!(view["questions"][0]["status"], "open", "{view}");
    assert_eq!(view["attempted"][0]["asked"], "answer", "it is on record: {view}");

    assert!(ann.job_status(status(&id)).await.is_ok());
    let owner = stage.tool("job_status", json!({ "job": id })).await;
    assert!(owner.contains("It waits for an answer"), "{owner}");
    assert!(ann.answer(approval()).await.is_ok());
    stage.put("go");
    stage.finished(&id).await;
    stage.host.stop().await;
}

/// A decision makes a project of a directory, but not of another session's.
#[tokio::test]
async fn what_lies_in_another_session_is_no_project() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let session = async |chat: &str| {
        let write = "[[fake: run mkdir adr && printf '# T\\n\\nStatus: Proposed\\n' > adr/001-x.md]]";
        let body = json!({ "messages": [{ "role": "user", "content": format!("I write {write} [[fake: say Hi.]]") }] });
        let request = host.post("/v1/chat/completions").header("x-chat", chat).json(&body);
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        SessionId::new(answer["helix"]["session"].as_str().unwrap()).unwrap()
    };
    let (ann, bob) = (session("ann").await, session("bob").await);
    let directory = host.engine().sessions().get(&ann).await.unwrap().directory;
    assert!(std::path::Path::new(&directory).join("adr/001-x.md").is_file());
    let tools = Tools::new(host.engine().clone(), Caller::Session(bob));
    let refusal = tools.adr_list(serde_json::from_value(json!({ "project": directory })).unwrap()).await.unwrap_err();
    assert!(refusal.text.contains("lies in Helix's state directory"), "{}", refusal.text);
    host.stop().await;
}

/// What lies outside of the allowed directories is refused over HTTP, too, also behind a link inside of them.
#[tokio::test]
async fn a_project_outside_of_the_roots_is_refused() {
    let roots = tempfile::tempdir().unwrap();
    let root = roots.path().to_owned();
    let host = Host::with_engine(ServerConfig::default(), |engine| engine.roots = vec![root]).await;
    let stage = Stage::new(host, "").await;
    let outside = stage.sandbox.path().join("shop");
    let link = roots.path().join("shop");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    for path in [&outside, &link, &link.join("plans/pages/phases.yaml")] {
        let answer = stage.host.post("/api/v1/jobs").json(&json!({ "project_path": path })).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{}", path.display());
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["code"], "HX0410", "{problem}");
    }
    let jobs: Value = stage.host.get("/api/v1/jobs").send().await.unwrap().json().await.unwrap();
    assert_eq!(jobs, json!({ "jobs": [] }));
    stage.host.stop().await;
}
