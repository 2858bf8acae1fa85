//! Sessions that are not to be kept are forgotten, and no others.

use helix_engine::consultant::Retention;
use helix_server::ServerConfig;
use serde_json::{Value, json};

use crate::host::Host;

async fn say(host: &Host, chat: &str, messages: Value) -> Value {
    let request = host.post("/v1/chat/completions").header("x-chat", chat);
    let answer = request.json(&json!({ "model": "helix", "messages": messages })).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.json().await.unwrap()
}

fn hello() -> Value {
    json!([{ "role": "user", "content": "hello [[fake: say Hi.]]" }])
}

async fn chats(host: &Host) -> Vec<String> {
    let list: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
    let mut keys: Vec<String> =
        list["sessions"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap().to_owned()).collect();
    keys.sort_unstable();
    keys
}

/// Names below a directory of the state that belong to a session.
fn left(host: &Host, directory: &str, session: &str) -> usize {
    let entries = std::fs::read_dir(host.state().join(directory)).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with(session)).count()
}

/// A crash between the journal and the disk: nobody else is to be forgotten, and what is left goes all the same.
#[tokio::test]
async fn what_a_crash_left_of_a_forgotten_session_goes() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let kept = say(&host, "a", hello()).await["helix"]["session"].as_str().unwrap().to_owned();
    let gone = format!("{}zz", &kept[..kept.len() - 2]);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(200_000);
    let places = [("sessions", gone.clone()), ("runs", format!("{gone}.t1.1")), ("reports", gone.clone())];
    for (place, name) in &places {
        let directory = host.state().join(place).join(name);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::File::open(&directory).unwrap().set_modified(old).unwrap();
    }
    let host = host.restart(ServerConfig::default()).await;
    let is_left = || places.iter().any(|(place, name)| left(&host, place, name) > 0);
    let began = std::time::Instant::now();
    while is_left() && began.elapsed() < std::time::Duration::from_secs(30) {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(!is_left(), "what a crash left is still there");
    assert_eq!((left(&host, "sessions", &kept), left(&host, "runs", &kept)), (1, 1));
    host.stop().await;
}

#[tokio::test]
async fn only_the_latest_sessions_are_kept_and_a_forgotten_one_can_go_on() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let mut sessions = Vec::new();
    for chat in ["a", "b", "c"] {
        sessions.push(say(&host, chat, hello()).await["helix"]["session"].as_str().unwrap().to_owned());
    }
    // Something happens in the oldest one: now it is the latest.
    let more = json!([
        { "role": "user", "content": "hello [[fake: say Hi.]]" }, { "role": "assistant", "content": "Hi." },
        { "role": "user", "content": "more [[fake: say Well.]]" },
    ]);
    say(&host, "a", more.clone()).await;
    // A temporary one goes by its age alone, and takes no other one's place.
    say(&host, "temporary:t", hello()).await;
    let keep = Retention { days: None, count: Some(2) };
    let host = host.restart_with(ServerConfig::default(), |engine| engine.consultant.retention = keep).await;
    // The host looks after its start, beside everything else: it tells nobody when it is through.
    while chats(&host).await.len() > 3 || left(&host, "runs", &sessions[1]) > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let kept = chats(&host).await;
    assert!(kept[..2] == ["chat:a", "chat:c"] && kept[2].starts_with("temporary:"), "{kept:?}");
    let directories: Vec<usize> = sessions.iter().map(|session| left(&host, "sessions", session)).collect();
    assert_eq!(directories, [1, 0, 1]);
    assert!(left(&host, "runs", &sessions[0]) == 2 && left(&host, "runs", &sessions[2]) == 1);

    // Whoever goes on with it tells what was said.
    let answer = say(&host, "b", more).await;
    assert_ne!(answer["helix"]["session"], sessions[1].as_str());
    let (_, prompt) = host.asked(&format!("{}.1", answer["helix"]["turn"].as_str().unwrap()));
    assert!(prompt.contains("The record of this session so far") && prompt.contains("Hi."), "{prompt}");
    host.stop().await;
}
