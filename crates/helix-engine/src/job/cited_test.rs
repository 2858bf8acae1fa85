use helix_core::finding::Place;

use super::*;

fn fail(places: &[(Option<&str>, Option<u32>)]) -> Verdict {
    let finding = |(file, line): &(Option<&str>, Option<u32>)| Finding {
        place: file.map(|file| Place { file: file.into(), line: *line, column: None }),
        ..Finding::new("review.finding", "critical: the code is missing")
    };
    Verdict::Fail { findings: places.iter().map(finding).collect() }
}

#[test]
fn only_findings_about_the_result_block() {
    let checkout = tempfile::tempdir().unwrap();
    let root = checkout.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::write(root.join("src/a.py"), "1\n2\n3\n").unwrap();
    std::fs::write(root.join(".git"), "gitdir: elsewhere\n").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", root.join("out")).unwrap();
    let citable = Citable { absent: vec!["docs/page.md".into(), "old.py".into()] };
    let absolute = root.join("src/a.py").to_str().unwrap().to_owned();
    for (named, line, place) in [
        ("src/a.py", Some(3), "src/a.py:3"),
        ("./src/a.py", Some(4), "src/a.py"),
        ("src/a.py", Some(0), "src/a.py"),
        (absolute.as_str(), None, "src/a.py"),
        ("docs/page.md", Some(1), "docs/page.md"),
        ("old.py", None, "old.py"),
    ] {
        let Verdict::Fail { findings } = citable.judge(fail(&[(Some(named), line), (None, None)]), &root) else {
            panic!("{named} is of the result")
        };
        let places: Vec<String> = findings.iter().map(|one| one.place.as_ref().unwrap().to_string()).collect();
        assert_eq!(places, [place], "{named}");
    }
    let outside = ["src/b.py", "src", "../src/a.py", "/etc/passwd", "out", ".git", "", " "];
    for named in outside.map(Some).into_iter().chain([None]) {
        let verdict = citable.judge(fail(&[(named, Some(1))]), &root);
        assert!(matches!(verdict, Verdict::Inconclusive { .. }), "{named:?}: {verdict:?}");
    }
    assert_eq!(citable.judge(Verdict::Pass, &root), Verdict::Pass);
}
