use super::*;

#[test]
fn the_nearest_word_is_suggested_where_serde_names_them() {
    let hint = |message: &str| unreadable(Problem::bad_request, message).hint;
    let variant =
        "Failed to deserialize query string: format: unknown variant `markdwn`, expected `json` or `markdown`";
    assert_eq!(hint(variant).as_deref(), Some("did you mean `markdown`?"));
    let field = "unknown field `x`, expected one of `plan`, `project_path`";
    assert_eq!(hint(field).as_deref(), Some("use one of: plan, project_path"));
    assert_eq!(hint("missing field `plan`"), None);
}
