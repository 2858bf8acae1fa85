use super::*;

#[test]
fn words_speak_for_their_category() {
    let lexicon = Lexicon::read("# learned\n* 10:5\nrefused 7:30\nno_such 0:25 10:-20\n").unwrap();
    let (category, likely) = lexicon.judge("it was refused").best();
    assert_eq!(category, Category::NetworkError);
    assert!(likely > 0.6, "{likely}");
    assert!(lexicon.judge("it was refused").likelihood(Category::FileAccess) < 0.1);
    assert_eq!(lexicon.reasons("no such thing, refused", Category::FileAccess, 3), ["no_such"]);
    assert!(lexicon.judge("quick brown fox").best().1 < LIKELY);
}

#[test]
fn what_is_no_weight_is_told_with_its_line() {
    for wrong in ["refused 7", "refused 11:3", "refused x:3", "refused 7:y", " 7:3"] {
        let error = Lexicon::read(&format!("* 10:5\n{wrong}")).unwrap_err();
        assert!(
            error.to_string().starts_with("line 2 of the lexicon") && error.to_string().ends_with(wrong),
            "{error}"
        );
    }
    assert!(Lexicon::shipped().is_ok());
}
