use super::*;

#[test]
fn records_of_every_tool_are_read_as_what_they_stand_for() {
    let said = |line: &str| read(line);
    let diagnostic = |text: &str| Some(Record::Diagnostic(text.into()));
    assert_eq!(
        said(r#"{"reason":"compiler-message","message":{"level":"error","code":{"code":"E0382"},"message":"moved"}}"#),
        diagnostic("error[E0382]: moved")
    );
    assert_eq!(said(r#"{"reason":"build-finished","success":false}"#), Some(Record::Noise));
    assert_eq!(
        said(r#"{"Action":"output","Output":"x_test.go:3: no\n"}"#),
        Some(Record::Text("x_test.go:3: no".into()))
    );
    assert_eq!(
        said(r#"<failure message="assert 1 == &quot;2&quot;" type="AssertionError">"#),
        diagnostic("AssertionError: assert 1 == \"2\"")
    );
    assert_eq!(said(r#"{"level":"warn","msg":"connect ETIMEDOUT"}"#), None);
    assert_eq!(
        said(r#"{"type":"result","subtype":"success","is_error":false,"result":"No such file"}"#),
        Some(Record::AgentContent)
    );
    assert_eq!(said("{broken"), None);
}
