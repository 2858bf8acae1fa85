use axum::http::HeaderName;
use helix_engine::consultant::Upload;
use serde_json::Value;

use super::*;
use crate::openai::request::{ChatRequest, Form};
use crate::openai::task::recognise;

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
            request: ChatRequest::parse(Form::Chat, line["body"].to_string().as_bytes()).unwrap(),
        })
        .collect()
}

fn turn_of(one: &Recorded) -> TurnRequest {
    let profile = Profile::choose(&one.headers, None, None, false);
    assert_eq!(profile, Profile::OpenWebUi, "{}", one.seq);
    turn_request(&one.headers, profile, one.request.messages.clone(), None).unwrap()
}

fn turn(all: &[Recorded], seq: u64) -> TurnRequest {
    let one = all.iter().find(|one| one.seq == seq).unwrap();
    assert_eq!(recognise(&one.headers, &one.request), None, "{seq} is a turn");
    turn_of(one)
}

fn parent(turn: &TurnRequest) -> Option<&str> {
    match &turn.parent {
        ParentSelector::Ids { parent } => parent.as_deref(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_recorded_request_is_a_turn_or_a_task_as_the_client_meant_it() {
    let (mut turns, mut tasks) = (0, 0);
    for session in ["04", "05", "06", "07", "10", "15"] {
        for one in recorded(session) {
            let meant = one.headers.get("x-task").map(|value| value.to_str().unwrap().to_owned());
            let task = recognise(&one.headers, &one.request);
            match meant {
                // Without the template in the connection's headers, text alone decides; turns are never mistaken for tasks.
                None => {
                    let last = one.request.messages.last().unwrap().text.clone();
                    assert_eq!(task.is_some(), last.trim_start().starts_with("### Task:"), "{session}/{}", one.seq);
                }
                Some(name) => assert_eq!(task.as_deref().unwrap_or_default(), name, "{session}/{}", one.seq),
            }
            match task {
                Some(_) => tasks += 1,
                None => {
                    turn_of(&one);
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
    let (first, second, again) = (turn(&all, 117), turn(&all, 120), turn(&all, 122));
    assert_eq!(parent(&first), None);
    assert_eq!(parent(&second), first.client.message.as_deref());
    assert_eq!((parent(&again), &again.session), (parent(&second), &second.session));
    assert_eq!(again.client.user_message, second.client.user_message);
    assert_ne!(again.client.message, second.client.message, "another answer to the same message");
    assert_eq!(again.client.request, second.client.request);
}

#[test]
fn an_edit_leaves_the_same_parent_and_continuing_keeps_the_id() {
    let all = recorded("15");
    let (first, second, edited) = (turn(&all, 3), turn(&all, 6), turn(&all, 8));
    assert_eq!(parent(&edited), first.client.message.as_deref());
    assert_eq!(parent(&second), parent(&edited));
    assert_ne!(second.client.user_message, edited.client.user_message);
    let continued = turn(&all, 10);
    assert_eq!(continued.purpose, Purpose::Continue);
    assert_eq!(continued.client.message, edited.client.message);
    assert_ne!(continued.client.request, edited.client.request, "no repetition of the first request");
}

#[test]
fn two_models_are_siblings_and_a_fork_names_an_answer_of_the_old_chat() {
    let all = recorded("04");
    let (one, other) = (turn(&all, 146), turn(&all, 147));
    assert_eq!((&one.session, &one.client.user_message), (&other.session, &other.client.user_message));
    assert_ne!(one.client.message, other.client.message);
    let (next, next_other) = (turn(&all, 151), turn(&all, 152));
    assert_eq!(parent(&next), other.client.message.as_deref(), "both go on from the one answer that was chosen");
    assert_eq!(parent(&next_other), parent(&next));
    let (old, forked) = (turn(&all, 157), turn(&all, 162));
    assert_ne!(old.session, forked.session);
    assert_eq!(parent(&forked), old.client.message.as_deref());
}

#[test]
fn deleting_an_answer_and_temporary_chats_and_files_keep_to_the_path() {
    let all = recorded("10");
    let (kept, after) = (turn(&all, 46), turn(&all, 50));
    assert_eq!(parent(&after), kept.client.message.as_deref(), "not the answer that was deleted");
    let prompted = turn(&all, 52);
    assert_eq!(parent(&prompted), after.client.message.as_deref());
    assert!(prompted.system.is_some(), "a system prompt that appears in mid-chat changes no place");
    let all = recorded("04");
    let (first, second) = (turn(&all, 140), turn(&all, 142));
    assert_eq!(second.session, first.session, "temporary");
    assert_eq!(parent(&second), first.client.message.as_deref());
    let image = turn(&all, 127);
    assert_eq!(image.uploads.len(), 1);
    assert_eq!(
        (image.uploads[0].media_type.as_str(), image.uploads[0].name.as_deref()),
        ("image/png", Some("red.png"))
    );
    let after_image = turn(&all, 130);
    assert_eq!((after_image.uploads.len(), after_image.history.is_empty()), (0, false));
    let listed = turn(&all, 136);
    assert_eq!(listed.words, "What is in this file?");
    assert!(listed.message.contains("notes.txt"), "the agent is told of the file: {}", listed.message);
    let all = recorded("06");
    let wrapped = turn(&all, 21);
    assert_eq!(wrapped.words, "file for lean");
}

#[test]
fn without_ids_the_history_decides_unless_a_client_relies_on_memory() {
    let of = |pairs: &[(&'static str, &'static str)], profile: Profile, history: &[&str]| {
        request(pairs, profile, history).parent
    };
    let web = Profile::OpenWebUi;
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

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

fn message(role: Role, text: &str) -> Message {
    Message::new("messages[0]".into(), role, text.into())
}

/// The turn of some user messages.
fn request(pairs: &[(&'static str, &str)], profile: Profile, texts: &[&str]) -> TurnRequest {
    let messages = texts.iter().map(|text| message(Role::User, text)).collect();
    turn_request(&headers(pairs), profile, messages, None).unwrap()
}

fn plain(messages: Vec<Message>) -> Result<TurnRequest, ApiError> {
    turn_request(&HeaderMap::new(), Profile::Plain, messages, None)
}

#[test]
fn the_last_user_message_is_asked_and_the_rest_is_history() {
    let turn = plain(vec![
        message(Role::System, "be brief"),
        message(Role::User, "one"),
        message(Role::Assistant, &format!("first\n\n{}", helix_engine::consultant::phrases::caution("it broke", None))),
        message(Role::Assistant, ""),
        message(Role::Tool, "output"),
        message(Role::User, "lost"),
        message(Role::User, "two"),
    ])
    .unwrap();
    let said = |author, text: &str| HistoryMessage { author, text: text.into() };
    let history = vec![said(Author::User, "one"), said(Author::Consultant, "first"), said(Author::User, "lost")];
    assert_eq!((turn.history, turn.system.as_deref(), turn.purpose), (history, Some("be brief"), Purpose::Answer));
    assert_eq!((turn.message.as_str(), turn.words.as_str(), turn.uploads.len()), ("two", "two", 0));
}

#[test]
fn an_answer_at_the_end_is_continued() {
    let turn = plain(vec![message(Role::User, "one"), message(Role::Assistant, "half")]).unwrap();
    assert_eq!((turn.purpose, turn.message.as_str()), (Purpose::Continue, CONTINUE));
    assert_eq!(turn.history.len(), 2);
}

#[test]
fn files_go_with_the_message_and_what_cannot_go_is_told() {
    let mut image = message(Role::User, "");
    image.left_out.push("an image at http://x".into());
    let turn = plain(vec![image.clone()]).unwrap();
    assert!(turn.message.starts_with("[Helix: the user also sent an image at http://x,"), "{turn:?}");
    image.left_out.clear();
    image.uploads.push(Upload { name: None, media_type: "image/png".into(), bytes: b"x".as_slice().into() });
    let turn = plain(vec![image]).unwrap();
    assert_eq!((turn.message.as_str(), turn.uploads.len()), ("", 1), "a file alone is a message");
}

#[test]
fn only_the_same_request_has_the_same_digest() {
    let of = |texts: &[&str]| request(&[], Profile::Plain, texts).client.request;
    assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
    assert_ne!(of(&["a", "b"]), of(&["ab"]));
    assert_ne!(of(&["a", "bc"]), of(&["ab", "c"]));
}

#[test]
fn nothing_to_answer_is_refused() {
    for messages in [
        vec![message(Role::System, "x")],
        vec![message(Role::Assistant, "x")],
        vec![message(Role::User, "x"), message(Role::Tool, "y")],
        vec![message(Role::User, " \n")],
    ] {
        assert!(plain(messages.clone()).is_err(), "{messages:?}");
    }
}

#[test]
fn wrapping_is_no_part_of_the_opening() {
    let wrapped = "### Task:\nRespond to the user query using the provided context\n<context>\nsecret\n</context>\n\nfile full context";
    assert_eq!(unwrapped(wrapped), "file full context");
    assert_eq!(unwrapped("<attached_files><file name=\"a\"/></attached_files>\nlook"), "look");
    assert_eq!(unwrapped("### Task: build it"), "### Task: build it");
}

fn named(pairs: &[(&'static str, &str)]) -> SessionSelector {
    session(&headers(pairs), "hi")
}

#[test]
fn ids_of_clients_are_kept_as_they_are_and_each_user_has_their_own() {
    let key = |text: &str| SessionSelector::Key(text.into());
    assert_eq!(named(&[("x-chat", "a_b")]), key("chat:a_b"));
    assert_ne!(named(&[("x-chat", "a-b")]), key("chat:a_b"));
    assert_eq!(named(&[("x-chat", ""), ("x-openwebui-chat-id", "c1")]), key("chat:c1"));
    let of = |user| named(&[("x-chat", "c1"), ("x-openwebui-user-id", user)]);
    assert_ne!(of("u1"), of("u2"));
    assert_ne!(of("u1"), key("chat:c1"));
    assert_eq!(of(""), key("chat:c1"));
}

#[test]
fn without_an_id_all_turns_have_the_beginning_of_a_key_in_common() {
    let caller = headers(&[("authorization", "Bearer a")]);
    let first = session(&caller, "hi");
    assert!(matches!(&first, SessionSelector::Unnamed(prefix) if prefix.starts_with("opening:")), "{first:?}");
    let system = |text: &str| message(Role::System, text);
    for later in [
        vec![message(Role::User, "hi"), message(Role::Assistant, "yes"), message(Role::User, "and then?")],
        vec![system("instructions may change"), message(Role::User, "hi")],
    ] {
        let later = turn_request(&caller, Profile::Plain, later, None).unwrap();
        assert_eq!(later.session, first);
    }
    for other in [
        session(&caller, "hi there"),
        named(&[("authorization", "Bearer b")]),
        named(&[("authorization", "Bearer a"), ("x-openwebui-user-id", "u")]),
    ] {
        assert_ne!(other, first);
    }
}

#[test]
fn temporary_chats_of_one_tab_are_told_apart() {
    let tab = headers(&[("x-chat", "temporary:QgVG")]);
    let one = session(&tab, "temp one");
    assert!(matches!(&one, SessionSelector::Unnamed(prefix) if prefix.starts_with("temporary:")), "{one:?}");
    assert_ne!(session(&tab, "temp two"), one);
    assert_eq!(session(&tab, "temp one"), one);
}

/// Older clients send the connection's templates as they are: `{{CHAT_ID}}` would be one chat for everybody.
#[test]
fn a_template_that_was_not_filled_names_nothing() {
    let mut sent =
        headers(&[("x-task", "{{TASK}}"), ("x-chat", "{{CHAT_ID}}"), ("x-message", "m"), ("user-agent", "x")]);
    assert!(drop_unfilled(&mut sent));
    assert!(!sent.contains_key("x-task"), "not even that there is none");
    assert!(matches!(session(&sent, "hi"), SessionSelector::Unnamed(_)));
    assert_eq!((text(&sent, "x-message").as_deref(), text(&sent, "user-agent").as_deref()), (Some("m"), Some("x")));
    assert!(!drop_unfilled(&mut sent));
}

/// As Open WebUI wraps a message in the texts that are attached to a chat.
#[test]
fn a_text_that_is_quoted_around_a_message_is_a_file_of_it() {
    let source = |id: u32, name: &str, text: &str| {
        format!("<source id=\"{id}\" name=\"{name}\" resource-type=\"file\" resource-id=\"1a6a\">{text}</source>\n")
    };
    let sources =
        [source(1, "notes.txt", "alpha\nbeta\n"), source(2, "b.md", "x</source>y"), source(1, "notes.txt", "gamma")];
    let rules = "Respond to the user query using the provided context, incorporating inline citations";
    let wrapped = format!("### Task:\n{rules}\n<context>\n{}</context>\n\nWhat is it?", sources.concat());
    let turn = plain(vec![message(Role::User, &wrapped)]).unwrap();
    assert_eq!((turn.message.as_str(), turn.words.as_str()), ("What is it?", "What is it?"));
    let files: Vec<(&str, &str)> = turn
        .uploads
        .iter()
        .map(|one| (one.name.as_deref().unwrap(), std::str::from_utf8(&one.bytes).unwrap()))
        .collect();
    assert_eq!(files, [("notes.txt", "alpha\nbeta\n\n\ngamma"), ("b.md", "x</source>y")]);
    let unknown = "### Task:\nRespond\n<context>\nplain\n</context>\n\nWhat?";
    let turn = plain(vec![message(Role::User, unknown)]).unwrap();
    assert_eq!((turn.message.as_str(), turn.uploads.len()), (unknown, 0), "nothing is lost of another form");
}
