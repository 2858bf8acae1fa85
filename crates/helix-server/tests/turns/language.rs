//! Helix's own words in a chat are in the language that the user writes; the agent's prompts stay English.

use helix_server::ServerConfig;
use serde_json::{Value, json};

use super::jobs::{Stage, last_status, said, second, statuses};
use super::{content, frames};
use crate::host::Host;

fn last_line(frames: &[Value]) -> &str {
    last_status(frames)["description"].as_str().unwrap()
}

/// None of these belongs into a German chat, but for what gates have recorded.
fn assert_german(frames: &[Value]) {
    let shown = format!("{}\n{}", statuses(frames).join("\n"), content(frames));
    for english in ["waits for", "running", "attempt", "succeeded", "passed", "Answer", "Details", "the phase"] {
        assert!(!shown.contains(english), "{english:?} in {shown}");
    }
}

#[tokio::test]
async fn a_german_chat_is_german_from_the_approval_to_the_jobs_end_also_after_an_ok() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "    approval: before\n").await;
    std::fs::write(&stage.gate, "").unwrap();
    let go = format!("Bitte fang mit der Seite an {} [[fake: say Es geht los.]]", stage.until_there("begun"));
    let reader = stage.watched(&second(&go)).await;
    stage.has_turns(2).await;
    let job = stage.start().await;
    stage.put("begun");
    let asked = reader.rest().await;
    let text = content(&asked);
    let block = "> [!IMPORTANT]\n> **Helix:** Job pages wartet auf dich (Phase `page`):\n>\n> Phase page (Write the page) beginnen?\n";
    assert!(text.contains(block), "{text}");
    assert!(
        text.contains("> - **approve**: Die Phase beginnen\n> - **reject**: Nicht beginnen; die Phase scheitert\n"),
        "{text}"
    );
    assert!(text.contains("> Antworte hier im Chat oder mit `helix answer "), "{text}");
    assert!(last_line(&asked).starts_with("pages wartet auf dich: Phase page"), "{asked:?}");

    // Too short to tell: the session stays German.
    let mut messages = second(&go);
    let ok = format!("ok {} [[fake: say Gut.]]", stage.until_there("told"));
    messages.as_array_mut().unwrap().extend([said("assistant", &text), said("user", &ok)]);
    let mut reader = stage.watched(&messages).await;
    stage.has_turns(3).await;
    stage.tool("answer", json!({ "choice": "approve" })).await;
    stage.put("told");
    reader.until("Phase 1 von 1, Write the page: Agent arbeitet").await;
    let ended = reader.rest().await;
    let text = content(&ended);
    assert!(text.contains("> [!NOTE]\n> **Helix:** Job pages war erfolgreich, als "), "{text}");
    assert!(
        text.contains("| Phase | Versuche | Gates | Zeit | Kosten |")
            && text.contains("> Änderungen: [`helix jobs diff "),
        "{text}"
    );
    assert!(statuses(&ended).iter().any(|line| line.ends_with(", 1 Datei geändert")), "{ended:?}");
    assert_german(&ended);
    let prompt = stage.prompt_of(2).await;
    assert!(prompt.contains("It waits for an answer to"), "the agent is told in English: {prompt}");
    stage.finished(&job).await;

    // A client that names the session and sends nothing else: the record tells.
    let request = stage.host.post("/v1/chat/completions").header("x-helix-session", &stage.session);
    let body = json!({ "model": "helix", "stream": true, "messages": [said("user", "ok [[fake: say Gern.]]")] });
    let answer = request.header("x-helix-client", "openwebui").json(&body).send().await.unwrap().text().await.unwrap();
    let answer = frames(&answer);
    let lines = statuses(&answer);
    assert!(
        lines.iter().any(|line| line.starts_with("Seit deiner letzten Nachricht: pages war erfolgreich, als ")),
        "{answer:?}"
    );

    // The user changes the language, and Helix with them.
    let mut messages = second(&go);
    let english = "What is it and where do I find this? [[fake: say Here.]]";
    messages.as_array_mut().unwrap().extend([said("assistant", "Es geht los."), said("user", english)]);
    let answer = stage.watched(&messages).await.rest().await;
    assert!(
        statuses(&answer).iter().any(|line| line.starts_with("Since your last message, pages succeeded, merged into ")),
        "{answer:?}"
    );
    stage.host.stop().await;
}

#[tokio::test]
async fn errors_and_what_an_answer_took_are_in_the_users_language() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let ask = async |text: &str| {
        let body = json!({ "model": "helix", "stream": true, "messages": [said("user", text)] });
        let request = host.post("/v1/chat/completions").header("x-chat", text).header("x-helix-client", "openwebui");
        frames(&request.json(&body).send().await.unwrap().text().await.unwrap())
    };
    for (text, line) in [
        ("Wie geht es dir? [[fake: say Gut.]]", "Beantwortet"),
        ("How are you? [[fake: say Well.]]", "Answered"),
        ("Zeig mir bitte den Fehler [[fake: crash]]", "Mit einem Fehler beendet"),
        ("Show me what is wrong please [[fake: crash]]", "Stopped with an error"),
    ] {
        let frames = ask(text).await;
        assert!(last_line(&frames).starts_with(line), "{frames:?}");
    }
    let german = content(&ask("Bitte sag mir, warum [[fake: overloaded]]").await);
    assert!(
        german.contains("> [!CAUTION]\n> **Helix:** Der Anbieter meldete einen Fehler: HTTP 529 (Overloaded).\n"),
        "{german}"
    );
    assert!(german.contains("> Sende die Nachricht in ein paar Minuten noch einmal.\n"), "{german}");
    host.stop().await;
}

#[tokio::test]
async fn what_a_gate_found_is_german_in_a_german_chat() {
    let more = "    max_attempts: 1\n    gates: [{ type: files_exist, files: [gone.md] }]\n";
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, more).await;
    std::fs::write(&stage.gate, "").unwrap();
    let go = format!("Bitte fang mit der Seite an {} [[fake: say Es geht los.]]", stage.until_there("begun"));
    let reader = stage.watched(&second(&go)).await;
    stage.has_turns(2).await;
    stage.start().await;
    stage.put("begun");
    let frames = reader.rest().await;
    let (lines, text) = (statuses(&frames).join("\n"), content(&frames));
    assert!(lines.contains("files_exist nicht bestanden (1 Datei fehlt oder ist leer)"), "{lines}");
    assert!(
        text.contains("Gate files_exist fand: 1 Datei fehlt oder ist leer: gone.md ist nicht im Ergebnis"),
        "{text}"
    );
    for shown in [&lines, &text] {
        assert!(!shown.contains("is not in the result") && !shown.contains("are missing"), "{shown}");
    }
    stage.host.stop().await;
}
