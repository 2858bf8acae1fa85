//! How command lines are split, and what is said of those that only a shell understands.

use super::*;

#[test]
fn quoting_follows_posix() {
    let cases: [(&str, &[&str]); 10] = [
        ("pytest -q", &["pytest", "-q"]),
        ("  a\t b  \n", &["a", "b"]),
        (r#"python -c 'print("x; y")'"#, &["python", "-c", r#"print("x; y")"#]),
        (r#"echo "a \"b\" \$c \d""#, &["echo", r#"a "b" $c \d"#]),
        (r"a\ b c\;d", &["a b", "c;d"]),
        (r#"sh -c "make && ./run > $OUT""#, &["sh", "-c", "make && ./run > $OUT"]),
        ("cargo test --features a,b -- --nocapture", &["cargo", "test", "--features", "a,b", "--", "--nocapture"]),
        ("tool --flag=x '' \"\"", &["tool", "--flag=x", "", ""]),
        ("a\\\nb", &["ab"]),
        ("prettier --check src/**/*.js {a,b}", &["prettier", "--check", "src/**/*.js", "{a,b}"]),
    ];
    for (command, words) in cases {
        assert_eq!(split_words(command).unwrap(), words, "{command}");
    }
}

#[test]
fn what_only_a_shell_can_do_is_refused_at_its_place() {
    let cases = [
        ("a && b", "&&", 2),
        ("a || b", "||", 2),
        ("a | b", "|", 2),
        ("a;b", ";", 1),
        ("a > f", ">", 2),
        ("a 2>&1", ">", 3),
        ("a $(b)", "$(", 2),
        ("a $HOME", "$", 2),
        ("a `b`", "`", 2),
        ("a &", "&", 2),
        ("a\nb", r"\n", 1),
        ("(a)", "(", 0),
        ("~/bin/x", "~", 0),
        ("CI=1 npm test", "CI=", 2),
    ];
    for (command, syntax, at) in cases {
        assert_eq!(split_words(command).unwrap_err(), SplitError::shell(syntax, at, command), "{command}");
    }
}

#[test]
fn the_remedy_is_a_command_that_splits() {
    for command in ["cd a && pytest", "echo \"$X\" | wc", "echo 'a' $B"] {
        let remedy = split_words(command).unwrap_err().remedy;
        let line = remedy.split("shell, write: ").nth(1).unwrap().split("; otherwise").next().unwrap();
        assert_eq!(split_words(line).unwrap(), ["sh", "-c", command]);
    }
}

#[test]
fn open_quotes_and_nothing_are_errors() {
    assert_eq!(split_words("a 'b").unwrap_err(), SplitError::open_quote('\'', 2));
    assert_eq!(split_words("a \"b\\\"").unwrap_err(), SplitError::open_quote('"', 2));
    assert_eq!(split_words("a \\").unwrap_err().to_string(), "the command ends with a backslash");
    for empty in ["", " \n", "''", "\"\" x"] {
        assert_eq!(split_words(empty).unwrap_err().to_string(), "the command is empty", "{empty:?}");
    }
}
