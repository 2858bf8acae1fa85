use super::*;

#[test]
fn only_the_end_counts() {
    assert_eq!(split("Hello\n<!-- STEP: why -->\n"), ("Hello", Marker::Step(Step::Why)));
    assert_eq!(split("<!-- STEP: why -->\nHello").1, Marker::Absent);
    assert_eq!(split("Hello <!-- STEP: why -->"), ("Hello", Marker::Step(Step::Why)));
    assert_eq!(split("Hello <!-- STEP: why --> you").1, Marker::Absent);
    assert_eq!(split("a <!-- b --> <!-- STEP: why -->"), ("a <!-- b -->", Marker::Step(Step::Why)));
    assert_eq!(split("Hello\n<!-- STEP: unknown -->").1, Marker::Unknown("unknown".into()));
    assert_eq!(split("Hello"), ("Hello", Marker::Absent));
    // However it is spaced and cased.
    for marker in ["<!--STEP:Done-->", "<!-- step : DONE -->", "  <!--  Step:done  -->  "] {
        assert_eq!(split(&format!("Hello\n{marker}")), ("Hello", Marker::Step(Step::Done)), "{marker}");
    }
    assert_eq!(split("Hello\n<!-- STEPS: done -->").1, Marker::Absent);
}

#[test]
fn a_stream_shows_everything_but_the_marker_however_it_is_cut() {
    for (answer, shown) in [
        ("Hello\n\nworld\n<!-- STEP: done -->", "Hello\n\nworld"),
        ("a <!-- no marker --> b\n<!-- neither -->", "a <!-- no marker --> b\n<!-- neither -->"),
        ("x\n<!-- STEP: what -->\nand more", "x\nand more"),
        ("ends with space \n\n", "ends with space \n\n"),
        ("x\n<!--STEP:what-->\n\nand <!--STEP:what-->\nmore\n<!-- STEP: done -->", "x\n\nand <!--STEP:what-->\nmore"),
        ("<!-- STEP: what -->\n<!-- STEP: why -->\nmore", "more"),
        ("x <b>y</b> <!-- STEP: what -->\n", "x <b>y</b>"),
        ("x\n<!-- STEP: what --> \n<b>y</b>\n<!-- STEP: why -->\n\nz", "x\n<b>y</b>\n\nz"),
        ("ä\n<!-", "ä\n<!-"),
        ("x\n<!-- STEP: why --> <b>y</b>", "x\n<!-- STEP: why --> <b>y</b>"),
        ("x\n<!-- STEP: <step> -->", "x"),
        ("<p> <!-- step: two -->", "<p> <!-- step: two -->"),
        ("comments begin with <!-- and end with -->", "comments begin with <!-- and end with -->"),
    ] {
        for size in 1..answer.len() {
            let mut filter = MarkerFilter::default();
            let mut out = String::new();
            let chars: Vec<char> = answer.chars().collect();
            for piece in chars.chunks(size) {
                out.push_str(&filter.push(&piece.iter().collect::<String>()));
            }
            out.push_str(&filter.finish().0);
            assert_eq!(out, shown, "pieces of {size}");
            assert_eq!(visible(answer), shown);
        }
    }
}
