use super::*;

#[test]
fn each_content_is_judged_once_and_a_broken_record_judges_nothing() {
    let session = tempfile::tempdir().unwrap();
    let work = session.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let draft = work.join("adr-draft.md");
    std::fs::write(&draft, "one").unwrap();
    let judged = CheckedFiles::beside(&work);
    assert!(!judged.has(&draft, b"one"));
    judged.accept(&draft, b"one").unwrap();
    assert!(judged.has(&draft, b"one") && !judged.has(&draft, b"two"));
    std::fs::write(session.path().join(RECORD), "{ broken").unwrap();
    assert!(!judged.has(&draft, b"one"));
    judged.accept(&draft, b"two").unwrap();
    assert!(judged.has(&draft, b"two"));
}

#[test]
fn two_at_once_lose_nothing() {
    let session = tempfile::tempdir().unwrap();
    let work = session.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let files: Vec<PathBuf> = (0..8).map(|n| work.join(format!("{n}.md"))).collect();
    std::thread::scope(|scope| {
        for file in &files {
            std::fs::write(file, "x").unwrap();
            scope.spawn(|| CheckedFiles::beside(&work).accept(file, b"x").unwrap());
        }
    });
    assert!(files.iter().all(|file| CheckedFiles::beside(&work).has(file, b"x")));
}
