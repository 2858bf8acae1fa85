use super::*;

#[test]
fn every_form_compiles() {
    assert_eq!(MASKS.len(), FORMS.len());
}

#[test]
fn a_text_without_secrets_is_lent() {
    assert!(matches!(redact("error[E0308]: mismatched types"), Cow::Borrowed(_)));
}
