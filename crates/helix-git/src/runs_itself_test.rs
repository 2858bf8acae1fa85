use super::*;

fn by(path: &str, kind: EntryKind) -> Option<RunsBy> {
    rule(path, kind).map(|rule| rule.by)
}

#[test]
fn files_that_run_by_themselves_are_known_in_any_directory_and_spelling() {
    let known = [
        (".envrc", RunsBy::Shell),
        ("deep/in/.envrc", RunsBy::Shell),
        (".ENVRC", RunsBy::Shell),
        (".en\u{200c}vrc", RunsBy::Shell),
        (".vscode/tasks.json", RunsBy::Editor),
        ("web/.VSCode/settings.json", RunsBy::Editor),
        ("shop.code-workspace", RunsBy::Editor),
        (".idea/runConfigurations/x.xml", RunsBy::Editor),
        (".claude/settings.local.json", RunsBy::Agent),
        (".mcp.json", RunsBy::Agent),
        ("web/AGENTS.md", RunsBy::Agent),
        ("helix.toml", RunsBy::Helix),
        (".github/workflows/own.yml", RunsBy::Server),
        (".gitlab-ci.yml", RunsBy::Server),
        ("Jenkinsfile", RunsBy::Server),
        (".husky/pre-commit", RunsBy::Git),
        (".husky/_/h", RunsBy::Git),
        ("lefthook.yaml", RunsBy::Git),
        (".config/lefthook.jsonc", RunsBy::Git),
        (".lefthook.toml", RunsBy::Git),
        (".crush.json", RunsBy::Agent),
        (".factory/mcp.json", RunsBy::Agent),
        (".clinerules", RunsBy::Agent),
        (".rules", RunsBy::Agent),
        ("web/.unheard-of/rules/a.md", RunsBy::Agent),
        (".unheard-of/mcp.json", RunsBy::Agent),
        (".vim/coc-settings.json", RunsBy::Editor),
        (".bsp/server.json", RunsBy::Editor),
        (".gitmodules", RunsBy::Git),
        ("fixtures/.hg/hgrc", RunsBy::Git),
        ("sitecustomize.py", RunsBy::Interpreter),
        (".venv/lib/python3.12/site-packages/a.pth", RunsBy::Interpreter),
        (".Rprofile", RunsBy::Interpreter),
        ("package.json", RunsBy::Tool),
        (".cargo/config.toml", RunsBy::Tool),
        (".pnpmfile.cjs", RunsBy::Tool),
        ("docs/Desktop.ini", RunsBy::FileManager),
        ("mise.local.toml", RunsBy::Shell),
        (".config/mise/conf.d/a.toml", RunsBy::Shell),
        (".github/prompts/review.prompt.md", RunsBy::Agent),
        (".github/copilot-instructions.md", RunsBy::Agent),
        ("skills/lang/python/SKILL.md", RunsBy::Agent),
        ("prompts/development.md.j2", RunsBy::Helix),
        ("pnpm-workspace.yaml", RunsBy::Tool),
        ("x.LNK", RunsBy::FileManager),
    ];
    for (path, expected) in known {
        assert_eq!(by(path, EntryKind::File), Some(expected), "{path}");
    }
}

#[test]
fn what_a_person_starts_and_what_is_only_alike_is_not_taken_for_it() {
    let others = [
        "Makefile",
        "build.rs",
        "conftest.py",
        "src/envrc",
        ".envrc.example",
        ".env.example",
        "vscode/tasks.json",
        ".vscode",
        "docs/claude/settings.json",
        "model.pth",
        "weights/site-packages.pth",
        "github/workflows/x.yml",
        "package-lock.json",
        "Cargo.toml",
        "pyproject.toml",
        "src/mcp.json",
        "src/rules/a.md",
        ".unheard-of/data.json",
        "lefthook.md",
        ".editorconfig",
        ".gitignore",
        ".github/CODEOWNERS",
    ];
    for path in others {
        assert_eq!(by(path, EntryKind::File), None, "{path}");
    }
}

#[test]
fn a_link_in_the_place_of_such_a_directory_counts() {
    for path in [".vscode", ".github", "web/.claude", ".cargo"] {
        assert!(by(path, EntryKind::Symlink).is_some(), "{path}");
        assert!(by(path, EntryKind::Submodule).is_some(), "{path}");
        assert_eq!(by(path, EntryKind::File), None, "{path}");
    }
    assert_eq!(by("src", EntryKind::Symlink), None);
}

#[test]
fn of_a_package_only_what_runs_by_itself_counts() {
    let npm = |text| scripts(text, npm_runs);
    assert_eq!(npm(r#"{"scripts": {"test": "jest", "build": "tsc"}, "dependencies": {"a": "1"}}"#), Some(vec![]));
    let expected = vec![r#"postinstall: "curl x | sh""#.to_owned(), r#"husky: {"hooks":{}}"#.into()];
    assert_eq!(
        npm(r#"{"scripts": {"postinstall": "curl x | sh", "test": "y"}, "husky": {"hooks": {}}}"#),
        Some(expected)
    );
    assert_eq!(npm("{ not: 'json' }"), None);
    let composer = scripts(r#"{"scripts": {"post-install-cmd": ["x"], "test": "y"}}"#, composer_runs);
    assert_eq!(composer, Some(vec![r#"post-install-cmd: ["x"]"#.to_owned()]));
}

#[test]
fn a_line_is_new_as_often_as_it_was_not_there() {
    let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(added(&lines("a b b"), &lines("b a b b c")), ["b", "c"]);
    assert_eq!(added(&lines("a b"), &lines("b a")), Vec::<&String>::new());
}
