use super::*;

fn parse(body: &str) -> Result<ChatRequest, ApiError> {
    ChatRequest::parse(Form::Chat, body.as_bytes())
}

#[test]
fn text_and_parts_and_unknown_fields_are_accepted() {
    let request = parse(
        r#"{"stream":true,"model":"helix","temperature":0.3,"x":{"y":1},"stream_options":{"include_usage":true},
           "tools":[{"type":"function"}],"messages":[
           {"role":"developer","content":"be brief","name":"n"},
           {"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},
             {"type":"file","file":{"filename":"a.txt","file_data":"data:text/plain;base64,eA=="}},{"type":"text","text":"here"}]},
           {"role":"assistant","content":null,"tool_calls":[]}]}"#,
    )
    .unwrap();
    assert!(request.stream && request.include_usage && request.offers_tools);
    assert_eq!(request.messages[0].role, Role::System);
    assert_eq!(request.messages[1].text, "look\nhere");
    let uploads: Vec<_> =
        request.messages[1].uploads.iter().map(|one| (one.media_type.as_str(), one.bytes.to_vec())).collect();
    assert_eq!(uploads, [("image/png", vec![0, 0, 0]), ("text/plain", b"x".to_vec())]);
    assert_eq!(request.messages[2], Message::new("messages[2]".into(), Role::Assistant, String::new()));
}

#[test]
fn errors_name_the_field() {
    for (body, param) in [
        ("{", None),
        ("[]", None),
        ("\u{feff}", None),
        (r#"{"model":"m"}"#, Some("messages")),
        (r#"{"messages":[]}"#, Some("messages")),
        (r#"{"messages":{}}"#, Some("messages")),
        (r#"{"messages":["hi"]}"#, Some("messages[0]")),
        (r#"{"messages":[{"content":"hi"}]}"#, Some("messages[0].role")),
        (r#"{"messages":[{"role":"user","content":"a"},{"role":"robot","content":"hi"}]}"#, Some("messages[1].role")),
        (r#"{"messages":[{"role":"user","content":7}]}"#, Some("messages[0].content")),
        (r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#, Some("messages[0].content[0].text")),
        (r#"{"messages":[{"role":"user","content":[{}]}]}"#, Some("messages[0].content[0].type")),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,?"}}]}]}"#,
            Some("messages[0].content[0].image_url"),
        ),
        (r#"{"stream":"yes","messages":[{"role":"user","content":"a"}]}"#, Some("stream")),
        (r#"{"stream_options":1,"messages":[{"role":"user","content":"a"}]}"#, Some("stream_options")),
        (r#"{"model":4,"messages":[{"role":"user","content":"a"}]}"#, Some("model")),
    ] {
        assert_eq!(parse(body).unwrap_err().envelope.error.param.as_deref(), param, "{body}");
    }
}

fn parse_response(body: &str) -> Result<ChatRequest, ApiError> {
    ChatRequest::parse(Form::Responses, body.as_bytes())
}

#[test]
fn text_and_items_are_the_same_conversation() {
    let short = parse_response(r#"{"model":"helix","input":"hi","instructions":"be brief","stream":true}"#).unwrap();
    let roles: Vec<Role> = short.messages.iter().map(|one| one.role).collect();
    assert_eq!((roles, short.stream), (vec![Role::System, Role::User], true));
    let long = parse_response(
        r#"{"input":[{"role":"user","content":"a"},{"type":"reasoning","summary":[]},
           {"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},
           {"type":"function_call","call_id":"c","name":"n","arguments":"{}"},
           {"type":"function_call_output","call_id":"c","output":"d"},
           {"role":"user","content":[{"type":"input_text","text":"e"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}],
           "previous_response_id":"resp_1"}"#,
    )
    .unwrap();
    let texts: Vec<&str> = long.messages.iter().map(|one| one.text.as_str()).collect();
    assert_eq!((texts, long.previous.as_deref()), (vec!["a", "b", "d", "e"], Some("resp_1")));
    assert_eq!(long.messages[3].uploads.len(), 1);
}

#[test]
fn errors_of_responses_name_the_field() {
    for (body, param) in [
        ("[]", None),
        (r#"{}"#, Some("input")),
        (r#"{"input":7}"#, Some("input")),
        (r#"{"input":["x"]}"#, Some("input[0]")),
        (r#"{"input":[{"role":"robot","content":"x"}]}"#, Some("input[0].role")),
        (r#"{"input":"x","background":true}"#, Some("background")),
        (r#"{"input":"x","previous_response_id":1}"#, Some("previous_response_id")),
    ] {
        assert_eq!(parse_response(body).unwrap_err().envelope.error.param.as_deref(), param, "{body}");
    }
}
