//! Which lines are those of a template.

use super::is_left;

#[test]
fn only_what_the_template_says_is_unfilled() {
    for line in [
        "<what is the problem, and for whom>",
        "  - [ ] `<command>` exits 0 and shows `<result>`",
        "- `src/shop.py`: <what it holds>",
        "- `src/shop.py`: <was sie enthält>",
        "CLI usage: `<tool> <arguments>`",
        "* <the first option>",
    ] {
        assert!(is_left(line), "{line}");
    }
    for line in [
        "",
        "- [ ] `shop export <file>` exits 0",
        "The page shows <b>bold</b> text<br/>and `Vec<Order>`.",
        "We compare a < b and b > c.",
        "CLI usage: `shop <command> <arguments>`",
    ] {
        assert!(!is_left(line), "{line}");
    }
}
