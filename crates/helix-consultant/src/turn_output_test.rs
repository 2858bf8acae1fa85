use super::*;

#[tokio::test]
async fn text_that_waits_for_a_check_has_a_limit() {
    let mut output = TurnOutput::without_client();
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

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_keep_its_turn() {
    let (listener, mut events) = mpsc::channel(1);
    let mut output = TurnOutput::to_client(listener, CancellationToken::new());
    output.patience = Duration::from_millis(10);
    let text = |text: &str| TurnEvent::Text { text: text.into() };
    output.tell(text("one")).await;
    assert_eq!(output.delivery(), Delivery::Delivered);
    output.tell(text("two")).await;
    output.tell(text("three")).await;
    assert_eq!((output.shown(), output.delivery()), ("onetwothree", Delivery::Undelivered));
    assert_eq!((events.recv().await, events.recv().await), (Some(text("one")), None));
}
