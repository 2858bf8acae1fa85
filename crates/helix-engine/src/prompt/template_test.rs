use super::*;

#[test]
fn every_type_has_a_template_and_a_file_of_its_own() {
    let names: std::collections::BTreeSet<String> = PhaseType::ALL.into_iter().map(prompt_file_name).collect();
    assert_eq!(names.len(), PhaseType::ALL.len());
    assert!(!names.contains("consultant.md.j2"), "that is the Consultant's");
    let texts: std::collections::BTreeSet<&str> = PhaseType::ALL.into_iter().map(built_in).collect();
    assert_eq!(texts.len(), PhaseType::ALL.len());
}
