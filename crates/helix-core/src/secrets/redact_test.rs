use super::*;

#[test]
fn every_form_compiles() {
    assert_eq!(MASKS.len(), FORMS.len());
}

#[test]
fn a_text_without_secrets_is_lent() {
    assert!(matches!(redact("error[E0308]: mismatched types"), Cow::Borrowed(_)));
}

/// What follows a key may look like the padding of a masked one.
#[test]
fn an_asterisk_after_a_key_goes_at_once() {
    let key = concat!("sk-ant-", "api03-Zx");
    let once = redact(&format!("failed with {key}*")).into_owned();
    assert_eq!(once, "failed with [secret]");
    assert_eq!(redact(&once), once);
}
