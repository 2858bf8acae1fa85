use super::*;

#[test]
fn markdown_is_rendered_and_nothing_of_it_is_html_or_loads_anything() {
    let text = "# A\n\n- [x] done\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>alert(1)</script>\n\n<b onclick=x>bold</b> [web](https://example.org) \
                [script](javascript:alert(1)) [data](data:text/html,x) ![picture](https://example.org/x.png) <https://example.org/y>";
    let shown = markdown(text).into_string();
    assert!(
        shown.contains("<h1>A</h1>") && shown.contains("<table>") && shown.contains("☑") && !shown.contains("<input"),
        "{shown}"
    );
    assert!(
        !shown.contains("<script")
            && !shown.contains("<b ")
            && !shown.contains("<img")
            && !shown.contains("javascript:"),
        "{shown}"
    );
    assert!(shown.contains("<em>picture</em>") && shown.contains("<em>data</em>"), "{shown}");
    assert_eq!(
        shown.matches("<a ").count(),
        shown.matches("rel=\"noopener noreferrer nofollow\" href=\"https://").count()
    );
}
