use agent_client_protocol_schema::v1::ContentBlock;
use serde_json::json;

use super::in_words;

fn parts(parts: serde_json::Value) -> Vec<ContentBlock> {
    serde_json::from_value(parts).unwrap()
}

#[test]
fn files_in_a_message_are_named_or_quoted() {
    let message = parts(json!([
        { "type": "text", "text": "Compare " },
        { "type": "resource_link", "name": "a.md", "uri": "file:///p/a.md" },
        { "type": "resource", "resource": { "uri": "file:///p/b.md", "text": "```\nx\n```\n" } },
    ]));
    let quoted = "Compare [a.md](file:///p/a.md)\n\nfile:///p/b.md:\n````\n```\nx\n```\n````";
    assert_eq!(in_words(&message).unwrap(), quoted);
}

#[test]
fn what_the_consultant_cannot_read_is_refused() {
    for refused in [
        json!([{ "type": "image", "data": "", "mimeType": "image/png" }]),
        json!([{ "type": "resource", "resource": { "uri": "file:///p/b", "blob": "" } }]),
        json!([{ "type": "text", "text": " " }]),
        json!([]),
    ] {
        in_words(&parts(refused)).unwrap_err();
    }
}
