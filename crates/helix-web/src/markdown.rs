//! Markdown of others as a page shows it: no HTML of theirs, no image, and links that lead to web pages alone.
//!
//! Must not know who wrote it.

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, format_html, parse_document};
use maud::{Markup, PreEscaped, html};

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
        Ok(()) => html! { div.prose { (PreEscaped(shown.replace("<a href=", "<a rel=\"noopener noreferrer nofollow\" href="))) } },
        Err(_) => html! { pre.prose { (text) } },
    }
}

#[cfg(test)]
#[path = "markdown_test.rs"]
mod tests;
