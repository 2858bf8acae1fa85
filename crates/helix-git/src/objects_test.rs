use super::*;

#[test]
fn a_path_that_is_no_text_stays_distinct() {
    assert_eq!(escape_path(b"src/\xff\xfe.txt"), "src/\\xff\\xfe.txt");
    assert_eq!(escape_path("übung.md".as_bytes()), "übung.md");
}

#[test]
fn a_signed_commit_is_read_past_its_signature() {
    let bytes = b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 41ac004bfda6a96f51e9fba6d91871b4ce089100\n\
            author A <a@b> 1 +0000\ncommitter A <a@b> 1795300000 +0100\ngpgsig -----BEGIN\n line\n\nsubject\n\nbody\n";
    let commit = parse_commit("41ac004bfda6a96f51e9fba6d91871b4ce089100", bytes).unwrap();
    assert_eq!(commit.committed_at, "1795300000 +0100");
    assert_eq!(commit.message, "subject\n\nbody\n");
    assert_eq!(commit.parents.len(), 1);
}
