use super::*;

fn response(body: impl Into<Body>) -> Frames {
    SseStream::new(body.into())
}

#[test]
fn chunks_are_read_by_what_they_are() {
    let text = r#"{ "choices": [{ "delta": { "content": "Hi" } }] }"#;
    assert_eq!(piece(text).unwrap(), Some(ChatEvent::Text("Hi".into())));
    let status = r#"{ "event": { "type": "status", "data": { "description": "reads a file" } } }"#;
    assert_eq!(piece(status).unwrap(), Some(ChatEvent::Activity("reads a file".into())));
    assert_eq!(piece(r#"{ "choices": [] }"#).unwrap(), None);
    let error = r#"{ "error": { "message": "no", "type": "server_error", "param": null, "code": null } }"#;
    assert!(piece(error).is_err());
}

#[tokio::test]
async fn comments_and_half_frames_are_skipped() {
    let body =
        ": keep-alive\n\ndata: {\"choices\":[{\"delta\":\ndata: {\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\ndata: half";
    let mut chat = ChatStream { frames: response(body), language: None };
    assert_eq!(chat.next().await.unwrap(), Some(ChatEvent::Text("Hi".into())));
    assert_eq!(chat.next().await.unwrap(), None);
    let mut events = JobEvents(response("event: problem\ndata: {}\n\nid: 7\ndata: half"));
    assert!(events.next().await.unwrap().is_none());
}
