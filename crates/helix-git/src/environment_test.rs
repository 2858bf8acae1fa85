use super::*;

/// Whatever asks for passwords in the user's environment does not for Helix's git.
#[test]
fn nothing_that_could_ask_for_a_password_is_passed_on() {
    let users = [
        ("PATH", "/bin"),
        ("GIT_TERMINAL_PROMPT", "1"),
        ("GIT_ASKPASS", "/usr/bin/ask"),
        ("SSH_ASKPASS", "/usr/bin/ask"),
        ("SSH_ASKPASS_REQUIRE", "force"),
        ("GIT_SSH_COMMAND", "ssh -v"),
        ("GIT_SSH", "/usr/bin/myssh"),
        ("DISPLAY", ":0"),
        ("GPG_TTY", "/dev/pts/1"),
        ("GIT_DIR", "/elsewhere"),
        ("ANTHROPIC_API_KEY", "secret"),
    ];
    let git = GitEnvironment::from_variables(users.map(|(name, value)| (name.into(), value.into())));
    let get = |name: &str| {
        let found: Vec<&OsString> =
            git.variables().iter().filter(|(known, _)| known == name).map(|(_, value)| value).collect();
        assert!(found.len() < 2, "{name} is set twice: {found:?}");
        found.first().map(|value| value.to_str().unwrap())
    };
    assert_eq!(get("PATH"), Some("/bin"));
    assert_eq!(get("GIT_TERMINAL_PROMPT"), Some("0"));
    assert_eq!((get("GIT_ASKPASS"), get("SSH_ASKPASS")), (Some(""), Some("")));
    assert_eq!(get("GIT_SSH_COMMAND"), Some("ssh -oBatchMode=yes"));
    for name in ["SSH_ASKPASS_REQUIRE", "GIT_SSH", "DISPLAY", "GPG_TTY", "GIT_DIR", "ANTHROPIC_API_KEY"] {
        assert_eq!(get(name), None, "{name}");
    }
}

/// Git runs in directories that agents have filled: a program that lies there is not taken for it.
#[test]
fn programs_are_not_looked_for_below_the_directory_that_git_runs_in() {
    let path = (OsString::from("PATH"), OsString::from("./node_modules/.bin:/usr/bin::bin:/bin"));
    let git = GitEnvironment::from_variables([path]);
    assert_eq!(git.variables()[0], ("PATH".into(), "/usr/bin:/bin".into()));
}
