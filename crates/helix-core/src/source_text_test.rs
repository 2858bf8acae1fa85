use super::*;

#[test]
fn places_agree_with_the_plain_scan() {
    let text = format!("a\nüb: {}\n\nende", "ä€x".repeat(3000));
    let source = SourceText::new("f", &text);
    for (at, _) in text.char_indices().step_by(7).chain([(text.len(), ' ')]) {
        let before: Vec<&str> = text[..at].split('\n').collect();
        let (line, column) = (before.len(), before[before.len() - 1].chars().count() + 1);
        let span = source.span(at..at);
        assert_eq!((span.line as usize, span.column as usize), (line, column), "offset {at}");
    }
}

#[test]
fn an_empty_text_has_one_place() {
    let span = SourceText::new("f", "").span(3..9);
    assert_eq!((span.line, span.column, span.start, span.end), (1, 1, 0, 0));
}
