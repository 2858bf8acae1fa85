//! Which lines are those of a template.

use super::{Left, left};

#[test]
fn only_what_the_template_says_is_unfilled() {
    for line in [
        "<what is the problem, and for whom>",
        "  - [ ] `<command>` exits 0 and shows `<result>`",
        "- `src/shop.py`: <what it holds>",
        "- `src/shop.py`: <was sie enthält>",
        "CLI usage: `<tool> <arguments>`",
    ] {
        assert_eq!(left(line), Some(Left::Template), "{line}");
    }
    let imported = "- [ ] <action> → <expected result> — test: `<tests/test_x.py::test_y>`";
    assert_eq!(left(imported), Some(Left::Import));
    for line in [
        "",
        "- [ ] `shop export <file>` exits 0",
        "The page shows <b>bold</b> text<br/>and `Vec<Order>`.",
        "We compare a < b and b > c.",
        "CLI usage: `shop <command> <arguments>`",
    ] {
        assert_eq!(left(line), None, "{line}");
    }
}
