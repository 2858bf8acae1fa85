//! The references and anchors of a Markdown document.
//!
//! Must not know whether what it points to is there.

use std::collections::BTreeSet;

use comrak::nodes::NodeValue;
use comrak::{Anchorizer, Arena, Options, parse_document};
use serde::{Deserialize, Serialize};

/// Something in a document that points somewhere.
#[derive(Serialize, Deserialize)]
pub(crate) struct Reference {
    pub(crate) target: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// Whether it is a link; otherwise code that looks like a path.
    pub(crate) link: bool,
}

/// What a document points to, and what in it can be pointed to.
#[derive(Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) references: Vec<Reference>,
    pub(crate) anchors: BTreeSet<String>,
}

pub(crate) fn read(source: &str) -> Document {
    let mut options = Options::default();
    options.extension.front_matter_delimiter = Some("---".into());
    options.extension.table = true;
    options.extension.autolink = false;
    options.extension.footnotes = true;
    let arena = Arena::new();
    let root = parse_document(&arena, source, &options);
    let mut document = Document { references: Vec::new(), anchors: BTreeSet::new() };
    let mut anchorizer = Anchorizer::new();
    for node in root.descendants() {
        let data = node.data.borrow();
        let start = data.sourcepos.start;
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let (line, column) = (number(start.line), number(start.column));
        let mut refer = |target: &str, link| {
            document.references.push(Reference { target: target.to_owned(), line, column, link });
        };
        match &data.value {
            NodeValue::Link(link) | NodeValue::Image(link) => refer(&link.url, true),
            NodeValue::Code(code) => refer(&code.literal, false),
            NodeValue::Heading(_) => {
                let mut text = String::new();
                for inner in node.descendants() {
                    match &inner.data.borrow().value {
                        NodeValue::Text(part) => text.push_str(part),
                        NodeValue::Code(code) => text.push_str(&code.literal),
                        _ => {}
                    }
                }
                document.anchors.insert(anchorizer.anchorize(&text));
            }
            NodeValue::HtmlBlock(html) => collect_ids(&html.literal, &mut document.anchors),
            NodeValue::HtmlInline(html) => collect_ids(html, &mut document.anchors),
            _ => {}
        }
    }
    document
}

/// Takes `id="…"` and `name="…"` of HTML in the document.
fn collect_ids(html: &str, anchors: &mut BTreeSet<String>) {
    for key in [" id=\"", " name=\""] {
        for part in html.split(key).skip(1) {
            anchors.extend(part.split('"').next().map(str::to_owned));
        }
    }
}
