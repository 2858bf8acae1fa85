use super::*;

#[test]
fn a_picture_names_the_place_and_points_at_it() {
    let source = "name: x\nphasess: []\n";
    let diagnostic = Diagnostic::error("HX0106", "plan.yaml", "unknown key `phasess`")
        .at(helix_core::source_text::SourceText::new("plan.yaml", source).span(8..15))
        .help("did you mean `phases`?");
    let drawn = picture(&diagnostic, source, Language::English, Look::Plain);
    assert!(drawn.contains("error[HX0106]: unknown key `phasess`"), "{drawn}");
    assert!(drawn.contains("plan.yaml:2:1") && drawn.contains("^^^^^^^"), "{drawn}");
    assert!(drawn.contains("hint: did you mean `phases`?"), "{drawn}");
}

#[test]
fn without_the_text_the_place_is_still_named() {
    let diagnostic =
        Diagnostic::error("HX0102", "a.yaml", "broken").at(Span { line: 3, column: 2, start: 90, end: 91 });
    assert_eq!(picture(&diagnostic, "", Language::English, Look::Plain), "error[HX0102]: broken\n--> a.yaml:3:2");
    let whole = Diagnostic::error("HX0102", "a.yaml", "empty").help("write a plan");
    assert_eq!(
        picture(&whole, "", Language::English, Look::Plain),
        "error[HX0102]: empty\n--> a.yaml\n = hint: write a plan"
    );
    let german = picture(&whole, "", Language::German, Look::Plain);
    assert_eq!(german, "Fehler[HX0102]: empty\n--> a.yaml\n = Tipp: write a plan");
}
