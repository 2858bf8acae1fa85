use super::*;

#[test]
fn files_of_a_checkout_are_named_as_in_the_project() {
    let told = |text: &str| {
        let mut log = Log::of_texts(text, "");
        in_project(&mut log, Path::new("/s/worktrees"));
        log.lines.into_iter().map(|line| line.raw).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        told("File \"/s/worktrees/j1/gate/tests/a.py\", line 5, in /s/worktrees/j1/fix.2/b.py"),
        "File \"tests/a.py\", line 5, in b.py"
    );
    for other in ["/s/worktrees/j1", "cd /s/worktrees/j1/gate && make a/b", "/else/worktrees/j1/gate/a"] {
        assert_eq!(told(other), other);
    }
}
