use super::*;

#[test]
fn a_person_is_one_text_and_the_same_again() {
    for (how, word) in How::WORDS {
        let person = Person::new("Ann (key)\nof it", how);
        assert_eq!(person.to_string(), format!("Ann (key) of it ({word})"));
        assert_eq!(Person::from(person.to_string()), person);
    }
    let told = Person::from("the user, in session s1");
    assert_eq!((told.how, told.to_string().as_str()), (How::Told, "the user, in session s1"));
    assert!(!told.how.is_proof() && !How::Chat.is_proof() && How::Key.is_proof());
}

/// Nobody becomes a second person by another way in, or by another spelling.
#[test]
fn one_name_is_one_person() {
    assert!(Person::new("Ana", How::Key).is_same(&Person::new("ana", How::Terminal)));
    assert!(!Person::new("ana", How::Key).is_same(&Person::new("ben", How::Key)));
}

#[test]
fn how_it_is_known_who_somebody_is_is_told_in_the_readers_language() {
    use crate::phrases::person;
    use helix_language::Language::{English, German};

    for (recorded, english, german) in [
        ("Ann (key)", "Ann (key)", "Ann (mit Schlüssel)"),
        ("Ann (no token)", "Ann (no token)", "Ann (ohne Token)"),
        ("Ann", "Ann", "Ann"),
    ] {
        assert_eq!([person(English, &recorded.into()), person(German, &recorded.into())], [english, german]);
    }
}
