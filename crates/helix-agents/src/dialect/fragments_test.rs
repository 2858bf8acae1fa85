use super::*;

#[test]
fn a_streamed_text_is_not_handed_out_again() {
    let mut fragments = Fragments::default();
    fragments.add(Channel::Text, None, "Hel");
    fragments.add(Channel::Text, None, "lo");
    assert_eq!(fragments.missing_of(Channel::Text, None, "Hello"), "");
    assert_eq!(fragments.missing_of(Channel::Text, None, "Hello"), "Hello", "each text is matched once");
}

#[test]
fn what_was_not_streamed_is_handed_out() {
    let mut fragments = Fragments::default();
    fragments.add(Channel::Text, None, "Hel");
    fragments.add(Channel::Thinking, None, "hm");
    fragments.add(Channel::Text, Some("t1"), "other");
    assert_eq!(fragments.missing_of(Channel::Text, None, "Hello"), "lo");
    assert_eq!(fragments.missing_of(Channel::Text, Some("t1"), "something else"), "something else");
    assert_eq!(fragments.missing_of(Channel::Thinking, None, "hm"), "");
}

#[test]
fn two_texts_of_a_message_may_overlap_in_time() {
    let mut fragments = Fragments::default();
    fragments.add(Channel::Text, None, "onetw");
    assert_eq!(fragments.missing_of(Channel::Text, None, "one"), "");
    fragments.add(Channel::Text, None, "o");
    assert_eq!(fragments.missing_of(Channel::Text, None, "two"), "");
}

#[test]
fn fragments_of_another_text_are_taken_back() {
    let mut fragments = Fragments::default();
    fragments.add(Channel::Text, None, "Half an");
    assert_eq!(fragments.taken_back(Channel::Text, None, "Half and half"), None, "it goes on");
    assert_eq!(fragments.taken_back(Channel::Text, None, "Something else").as_deref(), Some("Half an"));
    assert_eq!(fragments.missing_of(Channel::Text, None, "Something else"), "Something else");
    fragments.add(Channel::Text, None, "broke off");
    fragments.add(Channel::Thinking, None, "hm");
    assert_eq!((fragments.forget(None), fragments.forget(None)), ("broke off".to_owned(), String::new()));
}
