use super::*;

#[test]
fn a_word_is_an_answer_and_a_sentence_a_wish() {
    for (typed, wanted) in [
        ("y", Answer::Yes),
        (" Ja ", Answer::Yes),
        ("e", Answer::Edit(Draft::Plan)),
        ("d", Answer::Edit(Draft::Decision)),
        ("", Answer::NotNow),
        ("no", Answer::NotNow),
        ("yes, but with tests", Answer::Change("yes, but with tests".into())),
    ] {
        assert_eq!(Answer::parse(typed), wanted, "{typed}");
    }
}

/// What an agent leaves as a link is no draft.
#[test]
fn a_draft_is_a_plain_file_that_is_newer_than_the_last_job() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("phases.yaml");
    assert!(!is_newer(&file, None));
    std::fs::write(&file, "name: a").unwrap();
    assert!(is_newer(&file, None));
    let now = Timestamp::now();
    assert!(!is_newer(&file, Some(now + jiff::SignedDuration::from_secs(9))));
    assert!(is_newer(&file, Some(now - jiff::SignedDuration::from_secs(9))));
    let link = directory.path().join("link");
    std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
    assert!(!is_newer(&link, None));
    std::os::unix::fs::symlink("/etc/passwd", directory.path().join("out")).unwrap();
    assert!(read_draft(directory.path(), "out").is_err());
}
