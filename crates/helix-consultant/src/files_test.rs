use super::*;

#[tokio::test]
async fn drafts_are_copied_and_links_are_not() {
    let root = tempfile::tempdir().unwrap();
    let (from, to) = (root.path().join("a"), root.path().join("b"));
    std::fs::create_dir_all(from.join("adr")).unwrap();
    std::fs::write(from.join("adr/draft.md"), "x").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", from.join("link")).unwrap();
    let copied = copy(from.to_str().unwrap().into(), to.clone()).await.unwrap();
    assert_eq!(copied, Copied { files: 1, bytes: 1, is_whole: true });
    assert_eq!(std::fs::read_to_string(to.join("adr/draft.md")).unwrap(), "x");
    assert!(!to.join("link").exists());
}
