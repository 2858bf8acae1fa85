use helix_engine::{Engine, EngineConfig, StateDir};

use super::*;

fn text(text: &str) -> TurnEvent {
    TurnEvent::Text { text: text.into() }
}

fn note(text: &str) -> TurnEvent {
    TurnEvent::Note { text: text.into() }
}

fn thinking() -> TurnEvent {
    TurnEvent::Thinking { text: "Hm.".into() }
}

#[tokio::test]
async fn only_what_closes_the_text_ends_a_link_that_is_not_over() {
    let scratch = tempfile::tempdir().unwrap();
    let config = EngineConfig::new(scratch.path().join("projects"), helix_git::GitEnvironment::from_process());
    let engine = Engine::open(StateDir::open(scratch.path().join("state")).unwrap(), config).await.unwrap();
    let mut links = Links::new(ServerState::new(engine.clone(), ServerConfig::default()), None, Language::English);
    for (event, shown) in [
        (text("see [a](no"), vec![text("see [a]")]),
        (thinking(), vec![thinking()]),
        (text("te.md) and [b](c"), vec![text("\u{2060}(note.md) and [b]")]),
        (note("Below."), vec![text("(c"), note("Below.")]),
        (text("```\n[c](d"), vec![text("```\n[c](d")]),
        // The block closes the fence: what follows is no code.
        (note("Below."), vec![note("Below.")]),
        (text("[e](f"), vec![text("[e]")]),
    ] {
        assert_eq!(links.apply(event.clone()).await, shown, "{event:?}");
    }
    // Thoughts are parted from one event to the next, and nothing of them is code.
    let thought = |text: &str| TurnEvent::Thinking { text: text.into() };
    let mut links = Links::new(ServerState::new(engine.clone(), ServerConfig::default()), None, Language::English);
    for (event, shown) in [
        (thought("```\n<"), vec![thought("```\n")]),
        (text("A"), vec![text("A")]),
        (thought("img src=x>!"), vec![thought("<\u{2060}img src=x>")]),
        (thought("[a](https://e.example)"), vec![thought("!\u{2060}[a](https://e.example)")]),
    ] {
        assert_eq!(links.apply(event.clone()).await, shown, "{event:?}");
    }
    let mut links = Links::new(ServerState::new(engine.clone(), ServerConfig::default()), None, Language::English);
    links.goes_on_from("```\n[a](b");
    assert_eq!(links.apply(text("c) [d](e")).await, [text("c) [d](e")], "the rest of an answer is still code");
    for (shown, goes_on) in
        [("[a]", "(javascript:x)"), ("[a](", "javascript:x)"), ("[a](java", "script:x)"), ("<", "b>")]
    {
        let mut links = Links::new(ServerState::new(engine.clone(), ServerConfig::default()), None, Language::English);
        links.goes_on_from(shown);
        assert_eq!(links.apply(text(goes_on)).await, [text(&format!("\u{2060}{goes_on}"))], "{shown}");
    }
    engine.close().await;
}

#[test]
fn names_that_only_containers_know_are_no_address() {
    let base = |authority| base(&ServerConfig::default(), Some(authority));
    for known in ["127.0.0.1:8787", "[::1]:8787", "[::1]", "localhost", "LOCALHOST:1", "helix.example:80"] {
        assert_eq!(base(known), Some(format!("http://{known}")), "{known}");
    }
    for unknown in ["host.docker.internal:8787", "Host.Docker.INTERNAL", "helix:8787", "helix", "a.b/c", "u@a.b"] {
        assert_eq!(base(unknown), None, "{unknown}");
    }
}
