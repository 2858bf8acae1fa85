use super::*;

#[test]
fn names_survive_the_way_to_text_and_back() {
    for text in ["job/j0abc", "session/s.1_2-3"] {
        assert_eq!(text.parse::<Stream>().unwrap().to_string(), text);
    }
}

#[test]
fn other_texts_are_refused() {
    for text in ["", "job", "job/", "run/r1", "job/a/b", "session/..", "JOB/j1"] {
        assert_eq!(text.parse::<Stream>(), Err(InvalidStream { text: text.into() }), "{text}");
    }
}
