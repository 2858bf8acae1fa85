use super::*;

#[test]
fn a_command_is_one_line_that_begins_with_a_word_and_a_slash() {
    let of = |text: &str| Command::parse(text).map(|command| (command.word, command.rest));
    assert_eq!(of("/help"), Some(("/help".into(), String::new())));
    assert_eq!(of("/model  opus "), Some(("/model".into(), "opus".into())));
    for text in ["/", "/etc/hosts is wrong", "say /help", "/plan\nand more", "", "a/b"] {
        assert_eq!(of(text), None, "{text}");
    }
}
