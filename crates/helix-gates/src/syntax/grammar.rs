//! Languages that are read by a tree-sitter grammar: what it could not fit in, or had to add, is an error.
//!
//! Must not judge types or names.

use tree_sitter::{Language, Node, Parser};

use super::{MAX_ERRORS, SyntaxError};

pub(super) fn check(grammar: &Language, source: &str) -> Vec<SyntaxError> {
    let mut parser = Parser::new();
    if let Err(error) = parser.set_language(grammar) {
        return vec![SyntaxError::whole(format!("the grammar cannot be used: {error}"))];
    }
    let Some(tree) = parser.parse(source, None) else {
        return vec![SyntaxError::whole("the grammar gave no answer")];
    };
    let mut errors = Vec::new();
    collect(tree.root_node(), source, &mut errors);
    errors
}

/// Walks only where errors are, without recursion: a broken file may be nested as deeply as it likes.
fn collect(root: Node<'_>, source: &str, errors: &mut Vec<SyntaxError>) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if errors.len() >= MAX_ERRORS {
            return;
        }
        if node.is_missing() {
            errors.push(SyntaxError::at_offset(source, node.start_byte(), format!("expected {:?} here", node.kind())));
        } else if node.is_error() {
            let text: String = source.get(node.byte_range()).unwrap_or_default().chars().take(40).collect();
            let text = text.lines().next().unwrap_or_default().trim().to_owned();
            let message = if text.is_empty() { "unexpected end".into() } else { format!("unexpected {text:?}") };
            errors.push(SyntaxError::at_offset(source, node.start_byte(), message));
        } else if node.has_error() {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).filter(Node::has_error).collect();
            open.extend(children.into_iter().rev());
        }
    }
}
