use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::*;
use crate::openai::request::Form;

/// Requests of the real Open WebUI 0.12.4: one JSON object on a line with `kind`, `headers` and `body`.
const RECORDED: &str = include_str!("../../tests/fixtures/openwebui-requests.jsonl");

struct Recorded {
    kind: String,
    headers: HeaderMap,
    request: ChatRequest,
}

fn recorded() -> Vec<Recorded> {
    RECORDED
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let headers = line["headers"].as_array().unwrap().iter().map(|pair| {
                let name: HeaderName = pair[0].as_str().unwrap().parse().unwrap();
                (name, HeaderValue::from_str(pair[1].as_str().unwrap()).unwrap())
            });
            Recorded {
                kind: line["kind"].as_str().unwrap().into(),
                headers: headers.collect(),
                request: ChatRequest::parse(Form::Chat, line["body"].to_string().as_bytes()).unwrap(),
            }
        })
        .collect()
}

#[test]
fn recorded_requests_are_told_apart_by_their_header() {
    let all = recorded();
    assert!(all.len() >= 15, "{}", all.len());
    for one in &all {
        let task = recognise(&one.headers, &one.request);
        assert_eq!(task.is_some(), one.kind.starts_with("task:"), "{}", one.kind);
    }
}

#[test]
fn without_the_header_text_decides_and_never_takes_a_turn_for_a_task() {
    for one in recorded() {
        let task = recognise(&HeaderMap::new(), &one.request);
        match one.kind.as_str() {
            "task:title" => assert_eq!(task.unwrap(), "title_generation"),
            "task:tags" => assert_eq!(task.unwrap(), "tags_generation"),
            "task:follow_ups" => assert_eq!(task.unwrap(), "follow_up_generation"),
            "chat" => assert_eq!(task, None),
            kind => assert_eq!(task.is_some(), kind.starts_with("task:"), "{kind}"),
        }
    }
}

fn of(messages: Value, stream: bool) -> ChatRequest {
    let body = serde_json::json!({ "stream": stream, "messages": messages });
    ChatRequest::parse(Form::Chat, body.to_string().as_bytes()).unwrap()
}

#[test]
fn tasks_of_other_templates_and_clients_are_recognised_too() {
    let user = |text: &str| serde_json::json!([{ "role": "user", "content": text }]);
    let both = |system: &str, text: &str| serde_json::json!([{ "role": "system", "content": system }, { "role": "user", "content": text }]);
    let recognised = |messages, stream| recognise(&HeaderMap::new(), &of(messages, stream));
    let german = "Aufgabe: Nenne nur als JSON {\"title\": …}\n<chat_history>\nUSER: hallo\n</chat_history>\n";
    assert_eq!(recognised(user(german), false).as_deref(), Some("title_generation"));
    assert_eq!(recognised(user(german), true), None, "no task of these is streamed");
    let quoted = "What is {\"title\": …} with <chat_history>\nUSER: hallo\n</chat_history> in a prompt for?";
    assert_eq!(recognised(user(quoted), false), None, "a user who quotes a task");
    let legacy = "Available Tools: [{\"name\": \"x\"}]";
    assert_eq!(recognised(both(legacy, "Query: hi"), false).as_deref(), Some("function_calling"));
    assert_eq!(recognised(both(legacy, "hi"), false), None);
    let memory = "You are Open WebUI's private memory reviewer.";
    assert_eq!(recognised(both(memory, "x"), false).as_deref(), Some("memory_review"));

    let opencode =
        both("You are a title generator. You output ONLY a thread title. Nothing else.", "fix the login page");
    let libre = user(
        "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title \
         itself.\n\nConversation:\nUser: fix the login page\nAI: I do.",
    );
    let aichat = both(
        "Create a concise, 3-6 word title.\n\n**Notes**:\n- Avoid quotation marks or emojis",
        "USER: fix the login page\nASSISTANT: I do.",
    );
    let continues = user(
        "Given the following... please reply with a title for the chat that is 3-4 words in length, all words used should be \
         directly related to the content of the chat.\n\nfix the login page",
    );
    // Zed asks below the conversation.
    let ask =
        "Generate a concise 3-7 word title for this conversation, omitting punctuation.\nGo straight to the title.";
    let zed = serde_json::json!([
        { "role": "user", "content": "fix the login page" },
        { "role": "assistant", "content": "I do." },
        { "role": "user", "content": ask },
    ]);
    for messages in [opencode, libre, aichat, continues, zed] {
        let request = of(messages.clone(), true);
        let task = recognise(&HeaderMap::new(), &request).unwrap();
        assert_eq!(answer(&task, &request, &SessionSummary::default()).unwrap(), "Fix the login page", "{messages}");
    }
}

#[test]
fn answers_have_the_form_that_the_client_parses() {
    let mut seen = Vec::new();
    for one in recorded() {
        let Some(task) = recognise(&one.headers, &one.request) else { continue };
        let answer = answer(&task, &one.request, &SessionSummary::default());
        let json = |answer: Result<String, ApiError>| serde_json::from_str::<Value>(&answer.unwrap()).unwrap();
        match task.as_str() {
            "title_generation" => assert!(!json(answer)["title"].as_str().unwrap().is_empty()),
            "tags_generation" => assert_eq!(json(answer)["tags"], serde_json::json!(["general"])),
            "follow_up_generation" => assert_eq!(json(answer)["follow_ups"], serde_json::json!([])),
            "query_generation" => assert_eq!(json(answer)["queries"], serde_json::json!([])),
            "autocomplete_generation" => assert_eq!(json(answer)["text"], ""),
            "image_prompt_generation" => assert_eq!(json(answer)["prompt"], "hi there"),
            "emoji_generation" => assert_eq!(answer.unwrap().chars().count(), 1),
            "moa_response_generation" => assert!(answer.unwrap().contains("does not merge"), "nobody thought about it"),
            other => panic!("{other}"),
        }
        seen.push(task);
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 8, "{seen:?}");
}

/// Its prompt is English and has no history: the user's words are those that it quotes.
#[test]
fn answers_are_not_merged_in_the_users_language() {
    let recorded = recorded().into_iter().find(|one| one.kind == "task:moa").unwrap();
    let german = |text: &str| text.replace("query: \"q\"", "query: \"Wie baue ich das am besten auf?\"");
    let mut request = recorded.request;
    request.messages[0].text = german(&request.messages[0].text);
    let answer = answer("moa_response_generation", &request, &SessionSummary::default()).unwrap();
    assert!(answer.contains("führt keine Antworten zusammen"), "{answer}");
}

#[test]
fn a_title_is_what_the_first_message_is_about() {
    let prompt = |history: &str| format!("### Task:\nx\n<chat_history>\n{history}\n</chat_history>");
    let title = |said: &str| about(Language::English, first_words(&prompt(&format!("USER: {said}\nASSISTANT: sure"))));
    for (said, title_of_it) in [
        ("hello headers", "Headers"),
        ("please add a CSV export to the report page, with totals and a test", "Add a CSV export to the report page"),
        ("I want to start a new small project. Ask me what it is for, then write an ADR.", "Start a new small project"),
        (
            "Hello! Could you please help me to find out why the import of the customers takes so long?",
            "Find out why the import of the customers takes",
        ),
        ("Hallo, ich möchte bitte eine Übersicht meiner Konten. Danke!", "Eine Übersicht meiner Konten"),
        (
            "Kannst du mir die Rechnungen nach Kunden und Monaten und nach dem Betrag sortieren?",
            "Die Rechnungen nach Kunden und Monaten",
        ),
        ("Fix report.py: it crashes", "Fix report.py: it crashes"),
        ("history of Hull", "History of Hull"),
        ("Hi", "Hi"),
    ] {
        assert_eq!(title(said), title_of_it, "{said}");
    }
    assert_eq!(title(&"ä".repeat(99)).chars().count(), 50);
    assert_eq!(about(Language::English, first_words("nonsense")), "New chat");
}

#[test]
fn what_the_conversation_has_come_to_counts_before_its_words() {
    let topic = SessionSummary {
        title: Some("Account book in whole cents".into()),
        tags: vec!["accounts".into(), "python".into()],
        stage: SessionStage::Asked(vec!["yes".into(), "no".into()]),
        language: None,
    };
    let prompt = "### Task:\\nx\\n<chat_history>\\nUSER: Ich möchte bitte die Konten\\n</chat_history>";
    let body = format!(r#"{{"messages":[{{"role":"user","content":"{prompt}"}}]}}"#);
    let request = ChatRequest::parse(Form::Chat, body.as_bytes()).unwrap();
    let answer = |name: &str, topic: &SessionSummary| {
        let text = super::answer(name, &request, topic).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(answer("title_generation", &topic)["title"], "Account book in whole cents");
    assert_eq!(answer("tags_generation", &topic)["tags"], serde_json::json!(["accounts", "python"]));
    assert_eq!(answer("follow_up_generation", &topic)["follow_ups"], serde_json::json!(["yes", "no"]));
    let working = SessionSummary { stage: SessionStage::Working, ..topic };
    assert_eq!(answer("follow_up_generation", &working)["follow_ups"], serde_json::json!(["Wie weit ist der Job?"]));
}

/// Measured: with an attached file, the user's own message comes in this wrapping.
#[test]
fn a_turn_with_an_attached_file_is_no_task() {
    let wrapped =
        "### Task:\\nRespond to the user query using the provided context.\\n<context>\\nalpha\\n</context>\\n\\nfull?";
    let body = format!(r#"{{"stream":false,"messages":[{{"role":"user","content":"{wrapped}"}}]}}"#);
    let request = ChatRequest::parse(Form::Chat, body.as_bytes()).unwrap();
    assert_eq!(recognise(&HeaderMap::new(), &request), None);
}

#[test]
fn an_empty_header_is_a_turn_whatever_the_text_says() {
    let title = recorded().into_iter().find(|one| one.kind == "task:title").unwrap();
    let headers = HeaderMap::from_iter([(HeaderName::from_static(TASK_HEADER), HeaderValue::from_static(""))]);
    assert_eq!(recognise(&headers, &title.request), None);
}
