//! Markdown of others as a page shows it: no HTML of theirs, no image, and links that lead to web pages alone.
//!
//! Must not know who wrote it.

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, format_html, parse_document};
use maud::{Markup, PreEscaped, html};

/// What comrak makes, and what the pages have instead: a box that cannot be ticked is no control.
const OWN: [(&str, &str); 3] = [
    ("<a href=", "<a rel=\"noopener noreferrer nofollow\" href="),
    ("<input type=\"checkbox\" checked=\"\" disabled=\"\" />", "<span class=\"tick passed\">☑</span>"),
    ("<input type=\"checkbox\" disabled=\"\" />", "<span class=\"tick\">☐</span>"),
];

/// A text in Markdown. What is longer than a page can be is shown as it is.
pub(crate) fn markdown(text: &str) -> Markup {
    let arena = Arena::new();
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.tasklist = true;
    options.extension.strikethrough = true;
    options.render.escape = true;
    let root = parse_document(&arena, text, &options);
    for node in root.descendants() {
        let mut data = node.data.borrow_mut();
        let plain = match &data.value {
            NodeValue::Image(_) => true,
            NodeValue::Link(link) => !(link.url.starts_with("https://") || link.url.starts_with("http://")),
            _ => false,
        };
        if plain {
            data.value = NodeValue::Emph;
        }
    }
    let mut shown = String::new();
    match format_html(root, &options, &mut shown) {
        // What looks like these is all comrak's own: the text's is escaped.
        Ok(()) => {
            for (made, wanted) in OWN {
                shown = shown.replace(made, wanted);
            }
            html! { div.prose { (PreEscaped(shown)) } }
        }
        Err(_) => html! { pre.prose { (text) } },
    }
}

#[cfg(test)]
#[path = "markdown_test.rs"]
mod tests;
