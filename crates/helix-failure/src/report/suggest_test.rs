use super::*;

#[test]
fn every_form_of_test_compiles() {
    assert_eq!(TESTS.len(), 6);
}
