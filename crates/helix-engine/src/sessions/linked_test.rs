use super::*;

#[test]
fn only_plain_files_beneath_a_directory_are_opened() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("work");
    std::fs::create_dir_all(root.join("docs/.git")).unwrap();
    std::fs::create_dir(root.join(".git")).unwrap();
    for name in ["note.md", "docs/a.md", ".env", ".git/config", "docs/.git/x", "tls.key", "../secret.md"] {
        std::fs::write(root.join(name), name).unwrap();
    }
    std::os::unix::fs::symlink(scratch.path().join("secret.md"), root.join("link.md")).unwrap();
    std::os::unix::fs::symlink(scratch.path(), root.join("up")).unwrap();
    std::fs::File::create(root.join("large.md")).unwrap().set_len(LARGEST_LINKED + 1).unwrap();
    let opens =
        |written: &str| beneath(&root, Path::new(written)).is_some_and(|within| open_beneath(&root, &within).is_some());
    let own = root.join("note.md");
    for written in ["note.md", "./note.md", "docs/a.md", "docs/./a.md", own.to_str().unwrap()] {
        assert!(opens(written), "{written}");
    }
    let outside = scratch.path().join("secret.md");
    for written in [
        "",
        ".",
        "docs",
        "none.md",
        ".env",
        ".git/config",
        "docs/.git/x",
        "tls.key",
        "../secret.md",
        "docs/../../secret.md",
        "docs/../note.md",
        "link.md",
        "up/secret.md",
        "large.md",
        "/etc/hostname",
        "/dev/null",
        outside.to_str().unwrap(),
    ] {
        assert!(!opens(written), "{written}");
    }
}
