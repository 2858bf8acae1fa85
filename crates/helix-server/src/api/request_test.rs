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

#[test]
fn a_parameter_that_cannot_be_read_is_named_with_its_value_and_what_it_takes() {
    let pairs = [("limit".to_owned(), "abc".to_owned())];
    let problem = unreadable_query(&pairs, "Failed to deserialize query string: limit: invalid digit found in string");
    assert_eq!(&*problem.detail, "limit cannot be \"abc\"");
    assert_eq!(problem.hint.as_deref(), Some("limit takes a whole number, such as limit=20"));
}
