use axum::http::{HeaderName, HeaderValue};
use helix_engine::consultant::Purpose;
use serde_json::Value;

use super::super::profile::ToolDisplay;
use super::super::request::ChatRequest;
use super::super::task::Task;
use super::*;

/// Every request of Open WebUI 0.12.4 that was recorded in a real browser: one JSON object on a line.
const RECORDED: &str = include_str!("../../tests/fixtures/openwebui-conversations.jsonl");

struct Recorded {
    seq: u64,
    headers: HeaderMap,
    request: ChatRequest,
}

fn recorded(session: &str) -> Vec<Recorded> {
    let lines = RECORDED.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["session"] == session)
        .map(|line| Recorded {
            seq: line["seq"].as_u64().unwrap(),
            headers: line["headers"]
                .as_array()
                .unwrap()
                .iter()
                .map(|pair| {
                    let name: HeaderName = pair[0].as_str().unwrap().parse().unwrap();
                    (name, HeaderValue::from_str(pair[1].as_str().unwrap()).unwrap())
                })
                .collect(),
            request: ChatRequest::parse(line["body"].to_string().as_bytes()).unwrap(),
        })
        .collect()
}

fn address(one: &Recorded) -> (Address, Conversation) {
    let conversation = Conversation::from_messages(&one.request.messages).unwrap();
    let profile = Profile::of(&one.headers);
    assert_eq!(profile, Profile::OpenWebUi { tools: ToolDisplay::Items }, "{}", one.seq);
    (Address::of(&one.headers, profile, &conversation, None).unwrap(), conversation)
}

fn turn(all: &[Recorded], seq: u64) -> (Address, Conversation) {
    let one = all.iter().find(|one| one.seq == seq).unwrap();
    assert_eq!(Task::recognise(&one.headers, &one.request), None, "{seq} is a turn");
    address(one)
}

fn parent(address: &Address) -> Option<&str> {
    match &address.place {
        ParentSelector::Ids { parent } => parent.as_deref(),
        other => panic!("{other:?}"),
    }
}

/// [14], [25 of the peers' list]
#[test]
fn every_recorded_request_is_a_turn_or_a_task_as_the_client_meant_it() {
    let (mut turns, mut tasks) = (0, 0);
    for session in ["04", "05", "06", "07", "10", "15"] {
        for one in recorded(session) {
            let meant = one.headers.get("x-task").map(|value| value.to_str().unwrap().to_owned());
            let task = Task::recognise(&one.headers, &one.request);
            match meant {
                // Without the template in the connection's headers, text alone decides; turns are never mistaken for tasks.
                None => {
                    let last = one.request.messages.last().unwrap().text.clone();
                    assert_eq!(task.is_some(), last.trim_start().starts_with("### Task:"), "{session}/{}", one.seq);
                }
                Some(name) => assert_eq!(task.as_ref().map_or("", Task::name), name, "{session}/{}", one.seq),
            }
            match task {
                Some(_) => tasks += 1,
                None => {
                    address(&one);
                    turns += 1;
                }
            }
        }
    }
    assert!(turns >= 35 && tasks >= 40, "{turns} turns, {tasks} tasks");
}

#[test]
fn turns_of_one_chat_form_a_chain_and_regenerating_is_a_sibling() {
    let all = recorded("04");
    let (first, second, again) = (turn(&all, 117).0, turn(&all, 120).0, turn(&all, 122).0);
    assert_eq!(parent(&first), None);
    assert_eq!(parent(&second), first.client.message.as_deref());
    assert_eq!((parent(&again), &again.conversation), (parent(&second), &second.conversation));
    assert_eq!(again.client.user_message, second.client.user_message);
    assert_ne!(again.client.message, second.client.message, "another answer to the same message");
    assert_eq!(again.client.request, second.client.request);
}

#[test]
fn an_edit_leaves_the_same_parent_and_continuing_keeps_the_id() {
    let all = recorded("15");
    let (first, second, edited) = (turn(&all, 3).0, turn(&all, 6).0, turn(&all, 8).0);
    assert_eq!(parent(&edited), first.client.message.as_deref());
    assert_eq!(parent(&second), parent(&edited));
    assert_ne!(second.client.user_message, edited.client.user_message);
    let (continued, conversation) = turn(&all, 10);
    assert_eq!(conversation.purpose, Purpose::Continue);
    assert_eq!(continued.client.message, edited.client.message);
    assert_ne!(continued.client.request, edited.client.request, "no repetition of the first request");
}

#[test]
fn two_models_are_siblings_and_a_fork_names_an_answer_of_the_old_chat() {
    let all = recorded("04");
    let (one, other) = (turn(&all, 146).0, turn(&all, 147).0);
    assert_eq!((&one.conversation, &one.client.user_message), (&other.conversation, &other.client.user_message));
    assert_ne!(one.client.message, other.client.message);
    let (next, next_other) = (turn(&all, 151).0, turn(&all, 152).0);
    assert_eq!(parent(&next), other.client.message.as_deref(), "both go on from the one answer that was chosen");
    assert_eq!(parent(&next_other), parent(&next));
    let (old, forked) = (turn(&all, 157).0, turn(&all, 162).0);
    assert_ne!(old.conversation, forked.conversation);
    assert_eq!(parent(&forked), old.client.message.as_deref());
}

#[test]
fn deleting_an_answer_and_temporary_chats_and_files_keep_to_the_path() {
    let all = recorded("10");
    let (kept, after) = (turn(&all, 46).0, turn(&all, 50).0);
    assert_eq!(parent(&after), kept.client.message.as_deref(), "not the answer that was deleted");
    let (prompted, conversation) = turn(&all, 52);
    assert_eq!(parent(&prompted), after.client.message.as_deref());
    assert!(conversation.system.is_some(), "a system prompt that appears in mid-chat changes no address");
    let all = recorded("04");
    let (first, second) = (turn(&all, 140).0, turn(&all, 142).0);
    assert_eq!(second.conversation, first.conversation, "temporary");
    assert_eq!(parent(&second), first.client.message.as_deref());
    let (_, image) = turn(&all, 127);
    assert_eq!(image.uploads.len(), 1);
    assert_eq!(image.uploads[0].media_type, "image/png");
    let (_, after_image) = turn(&all, 130);
    assert_eq!((after_image.uploads.len(), after_image.history[0].uploads.len()), (0, 1));
    let (_, listed) = turn(&all, 136);
    assert_eq!(listed.words, "What is in this file?");
    assert!(listed.message.contains("notes.txt"), "the agent is told of the file: {}", listed.message);
    let all = recorded("06");
    let (_, wrapped) = turn(&all, 21);
    assert_eq!(wrapped.words, "file for lean");
}

#[test]
fn without_ids_the_history_decides_unless_a_client_relies_on_memory() {
    let say = |history: &[&str]| {
        let messages: Vec<Value> =
            history.iter().map(|text| serde_json::json!({ "role": "user", "content": text })).collect();
        let request = ChatRequest::parse(serde_json::json!({ "messages": messages }).to_string().as_bytes()).unwrap();
        Conversation::from_messages(&request.messages).unwrap()
    };
    let of = |pairs: &[(&'static str, &'static str)], profile: Profile, history: &[&str]| {
        let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        Address::of(&headers, profile, &say(history), None).unwrap().place
    };
    let web = Profile::OpenWebUi { tools: ToolDisplay::Items };
    assert_eq!(of(&[], Profile::Plain, &["hi"]), ParentSelector::History);
    assert_eq!(of(&[("x-chat", "c")], Profile::Plain, &["hi"]), ParentSelector::Latest);
    assert_eq!(of(&[("x-chat", "c")], Profile::Plain, &["hi", "and"]), ParentSelector::History);
    assert_eq!(of(&[("x-chat", "c")], web, &["hi"]), ParentSelector::History);
    assert_eq!(of(&[("x-openwebui-chat-id", "c")], Profile::Plain, &["hi"]), ParentSelector::History);
    assert_eq!(of(&[("x-helix-session", "s1")], web, &["hi"]), ParentSelector::Latest);
    let unfilled = [("x-chat", ""), ("x-message", ""), ("x-parent", "")];
    assert_eq!(of(&unfilled, web, &["hi"]), ParentSelector::History, "a script through Open WebUI's own API");
    let filled = [("x-chat", "c"), ("x-message", "m"), ("x-parent", "")];
    assert_eq!(of(&filled, web, &["hi"]), ParentSelector::Ids { parent: None });
}
