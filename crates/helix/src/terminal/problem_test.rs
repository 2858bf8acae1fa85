use super::*;
use crate::error::CommandError;

#[test]
fn a_picture_names_the_place_and_points_at_it() {
    let source = "name: x\nphasess: []\n";
    let diagnostic = Diagnostic::error("HX0106", "plan.yaml", "unknown key `phasess`")
        .at(helix_core::source_text::SourceText::new("plan.yaml", source).span(8..15))
        .help("did you mean `phases`?");
    let drawn = picture(&diagnostic, source, Look::Plain);
    assert!(drawn.contains("error[HX0106]: unknown key `phasess`"), "{drawn}");
    assert!(drawn.contains("plan.yaml:2:1") && drawn.contains("^^^^^^^"), "{drawn}");
    assert!(drawn.contains("hint: did you mean `phases`?"), "{drawn}");
}

#[test]
fn without_the_text_the_place_is_still_named() {
    let diagnostic =
        Diagnostic::error("HX0102", "a.yaml", "broken").at(Span { line: 3, column: 2, start: 90, end: 91 });
    assert_eq!(picture(&diagnostic, "", Look::Plain), "error[HX0102]: broken\n--> a.yaml:3:2");
    let whole = Diagnostic::error("HX0102", "a.yaml", "empty").help("write a plan");
    assert_eq!(picture(&whole, "", Look::Plain), "error[HX0102]: empty\n--> a.yaml\n = hint: write a plan");
}

#[test]
fn the_word_before_a_text_is_in_the_texts_own_language() {
    let told = |message: &str, hint: &str| {
        let error = CommandError::environment("HX0102", message).cause("the disk is full").hint(hint);
        let CommandError::Problem(problem) = error else { unreachable!("a problem") };
        draw(&problem, Look::Plain)
    };
    assert_eq!(
        told("der Anbieter hat die Anfrage nicht angenommen", "warte, und sende sie dann noch einmal"),
        "Fehler[HX0102]: der Anbieter hat die Anfrage nicht angenommen\n  because: the disk is full\n\
         Tipp: warte, und sende sie dann noch einmal"
    );
    assert_eq!(
        told("the state directory cannot be read", "look at what is in it"),
        "error[HX0102]: the state directory cannot be read\n  because: the disk is full\nhint: look at what is in it"
    );
}
