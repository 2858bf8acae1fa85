//! The text of a decision as HTML. Must not let any markup through that stands in the text.

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, format_html, parse_document};

/// Renders Markdown. Markup in it is shown as text; a link to another decision leads to its page, one to any other file of the
/// repository is only its text, and a picture is a link.
pub(super) fn body(markdown: &str, page: impl Fn(&str) -> Option<String>) -> String {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.tasklist = true;
    options.extension.strikethrough = true;
    options.extension.autolink = true;
    options.extension.header_id_prefix = Some(String::new());
    options.render.escape = true;
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options);
    let nodes: Vec<&AstNode<'_>> = root.descendants().collect();
    for node in nodes {
        let unlinked = match &mut node.data.borrow_mut().value {
            NodeValue::HtmlBlock(html) if html.literal.trim_start().starts_with("<!--") => {
                html.literal.clear();
                false
            }
            NodeValue::HtmlInline(html) if html.starts_with("<!--") => {
                html.clear();
                false
            }
            NodeValue::Link(link) | NodeValue::Image(link) => match (page(&link.url), is_elsewhere(&link.url)) {
                (Some(page), false) => {
                    link.url = page;
                    false
                }
                (_, is_elsewhere) => !is_elsewhere,
            },
            _ => false,
        };
        if unlinked {
            while let Some(child) = node.first_child() {
                node.insert_before(child);
            }
            node.detach();
            continue;
        }
        let mut data = node.data.borrow_mut();
        if let NodeValue::Image(link) = &data.value {
            data.value = NodeValue::Link(link.clone());
        }
    }
    let mut out = String::new();
    match format_html(root, &options, &mut out) {
        Ok(()) => out,
        // A text has room for all that is written to it.
        Err(_) => format!("<pre>{}</pre>", html_text(markdown)),
    }
}

/// Whether a link leads to the web, to a person or within the page.
fn is_elsewhere(url: &str) -> bool {
    ["https://", "http://", "mailto:", "#"].iter().any(|start| url.starts_with(start))
}

/// A text between tags or in an attribute.
pub(super) fn html_text(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
