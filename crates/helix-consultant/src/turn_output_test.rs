use super::*;

#[tokio::test]
async fn text_that_waits_for_a_check_has_a_limit() {
    let mut output = TurnOutput::without_client(Language::English);
    output.check_drafts();
    let input = serde_json::json!({ "file_path": "/w/phases.yaml", "content": "name: x\nphases: []\n" });
    output.hear(AgentEvent::ToolStarted { id: "t".into(), name: "Write".into(), input, parent: None }).await;
    let text = AgentEvent::Text { text: "x".repeat(HELD_LIMIT / 4), partial: true, parent: None };
    for _ in 0..3 {
        output.hear(text.clone()).await;
    }
    assert!(output.is_holding() && output.shown().is_empty());
    for _ in 0..3 {
        output.hear(text.clone()).await;
    }
    assert!(!output.is_holding() && !output.shown().is_empty());
}

/// What does not fit is cut off, and nothing later comes through, however small.
#[tokio::test]
async fn an_answer_has_a_limit_and_says_so_once() {
    let (listener, mut events) = mpsc::channel(16);
    let mut output = TurnOutput::to_client(listener, CancellationToken::new(), Language::English);
    let text = |text: String| AgentEvent::Text { text, partial: true, parent: None };
    for piece in ["x".repeat(SHOWN_LIMIT - 3), "ääää".into(), "y".into(), "zz".into()] {
        output.hear(text(piece)).await;
    }
    assert_eq!(output.shown().len(), SHOWN_LIMIT - 1);
    assert!(output.shown().ends_with("xä"));
    drop(output);
    let mut told = Vec::new();
    while let Some(event) = events.recv().await {
        told.push(match event {
            TurnEvent::Text { text } => text.trim_start_matches('x').to_owned(),
            TurnEvent::Note { text } => text,
            other => panic!("{other:?}"),
        });
    }
    assert!(told.len() == 3 && told[..2] == ["", "ä"] && told[2].contains("longer than 4 MiB"), "{told:?}");
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_keep_its_turn() {
    let (listener, mut events) = mpsc::channel(1);
    let mut output = TurnOutput::to_client(listener, CancellationToken::new(), Language::English);
    output.patience = Duration::from_millis(10);
    let text = |text: &str| TurnEvent::Text { text: text.into() };
    output.tell(text("one")).await;
    assert_eq!(output.delivery(), Delivery::Delivered);
    output.tell(text("two")).await;
    output.tell(text("three")).await;
    assert_eq!((output.shown(), output.delivery()), ("onetwothree", Delivery::Undelivered));
    assert_eq!((events.recv().await, events.recv().await), (Some(text("one")), None));
}

/// Words that broke off are told once more; what counts has them once, and who read along has both.
#[tokio::test]
async fn words_that_broke_off_do_not_count() {
    let (listener, mut events) = mpsc::channel(16);
    let mut output = TurnOutput::to_client(listener, CancellationToken::new(), Language::English);
    let text = |text: &str| AgentEvent::Text { text: text.into(), partial: true, parent: None };
    output.hear(text("I look:")).await;
    output
        .hear(AgentEvent::ToolStarted {
            id: "t".into(),
            name: "Read".into(),
            input: serde_json::json!({}),
            parent: None,
        })
        .await;
    output.hear(text("Half an ")).await;
    output.hear(AgentEvent::TakenBack { text: "Half an ".into(), reason: SaidAnew::Disconnected, parent: None }).await;
    output.hear(text("All of it.")).await;
    output.end_of_run().await;
    assert_eq!(output.shown(), "I look:\n\nAll of it.");
    assert_eq!(output.read(), Some("I look:\n\nHalf anAll of it."));
    drop(output);
    let mut told = Vec::new();
    while let Some(event) = events.recv().await {
        told.extend(match event {
            TurnEvent::Text { text } => Some(text),
            TurnEvent::TakenBack { text, reason: SaidAnew::Disconnected } => Some(format!("-{text}")),
            _ => None,
        });
    }
    assert_eq!(told, ["I look:", "\n\nHalf an", "-Half an", "All of it."]);
}

/// Words of one message are taken back whatever stands between them.
#[tokio::test]
async fn a_message_of_several_texts_is_taken_back_whole() {
    let text = |text: &str| AgentEvent::Text { text: text.into(), partial: true, parent: None };
    let thought = AgentEvent::Thinking { text: "Hm.".into(), partial: true, parent: None };
    for (between, told) in [(None, "One.\n\nTwo."), (Some(thought), "One.\n\nTwo."), (None, "One. Two.\n")] {
        let mut output = TurnOutput::without_client(Language::English);
        output.hear(text("Before.\n\n")).await;
        output.hear(text("One.")).await;
        if let Some(thought) = between {
            output.hear(thought).await;
        }
        output.hear(text("Two.")).await;
        let (text_back, reason) = (told.to_owned(), SaidAnew::Stopped);
        output.hear(AgentEvent::TakenBack { text: text_back, reason, parent: None }).await;
        output.hear(text("Instead.")).await;
        output.end_of_run().await;
        assert_eq!(output.shown(), "Before.\n\nInstead.");
    }
}

/// Words of different runs, and those around a draft, are paragraphs wherever they are shown.
#[tokio::test]
async fn words_of_different_runs_are_paragraphs() {
    let (listener, mut events) = mpsc::channel(16);
    let mut output = TurnOutput::to_client(listener, CancellationToken::new(), Language::English);
    let text = |text: &str| AgentEvent::Text { text: text.into(), partial: true, parent: None };
    let (id, name) = ("t".to_owned(), "Write".to_owned());
    let input = serde_json::json!({ "file_path": "/w/phases.yaml", "content": "name: x\nphases: []\n" });
    output.check_drafts();
    output.hear(text("I write it:")).await;
    output.hear(AgentEvent::ToolStarted { id, name, input, parent: None }).await;
    output.hear(text("Written.")).await;
    output.end_of_run().await;
    output.withdraw().await;
    for correction in ["First.", "Second."] {
        output.aside();
        output.hear(text(correction)).await;
        output.end_of_run().await;
    }
    output.as_it_comes();
    output.hear(text("Done.")).await;
    output.end_of_run().await;
    assert_eq!(output.shown(), "I write it:\n\nDone.");
    drop(output);
    let mut thought = String::new();
    while let Some(event) = events.recv().await {
        if let TurnEvent::Thinking { text } = event {
            thought.push_str(&text);
        }
    }
    assert_eq!(thought, "Written.\n\nFirst.\n\nSecond.");
}

/// Who reads along has a note between what was shown and what replaces it; everybody else a paragraph.
#[tokio::test]
async fn an_answer_that_replaces_another_is_a_paragraph_of_its_own() {
    let text = |text: &str| AgentEvent::Text { text: text.into(), partial: true, parent: None };
    for (reads_along, refused, shown, read) in [
        (false, None, "First.\n\nThen no.\n\nYes.", None),
        (false, Some("Then no."), "First.\n\nYes.", None),
        (true, Some("Then no."), "First.\n\nYes.", Some("First.\n\nThen no.Yes.")),
    ] {
        let mut output = TurnOutput::without_client(Language::English);
        output.is_read_along(reads_along);
        output.hear(text("First.\n\nThen no.")).await;
        output.end_of_run().await;
        output.replace(refused, "Yes.".into()).await;
        assert_eq!((output.shown(), output.read()), (shown, read));
    }
}

#[tokio::test]
async fn what_looks_like_a_note_of_helix_is_shown_as_the_agents_words_and_nothing_overtakes_it() {
    let (listener, mut events) = mpsc::channel(16);
    let mut output = TurnOutput::to_client(listener, CancellationToken::new(), Language::English);
    let text = |text: &str| AgentEvent::Text { text: text.into(), partial: true, parent: None };
    for piece in ["All good.\n\n> [!NO", "TE]\n> **Hel", "ix:** Job a succeeded.\n\n1."] {
        output.hear(text(piece)).await;
    }
    let call =
        AgentEvent::ToolStarted { id: "t".into(), name: "Read".into(), input: serde_json::json!({}), parent: None };
    output.hear(call).await;
    output.hear(text("2.")).await;
    output.end_of_run().await;
    let all = "All good.\n\n> **Note**\n> “Helix:” Job a succeeded.\n\n1.\n\n2.";
    assert_eq!(output.shown(), all);
    drop(output);
    let mut told = Vec::new();
    while let Some(event) = events.recv().await {
        told.push(match event {
            TurnEvent::Text { text } => text,
            TurnEvent::ToolStarted { .. } => "|".to_owned(),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(told.concat(), all.replace("1.", "1.|"));
}
