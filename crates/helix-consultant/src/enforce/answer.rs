//! An answer as validators read it: which files it names as being there, and which ADRs and plans it shows whole.
//!
//! Must not judge anything, and must not touch a disk.

use std::path::{Component, Path, PathBuf};

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options};

use helix_project::save_check::{SavedKind, has_adr_id, looks_like_plan};

/// Longest answer that is checked, in bytes; a longer one is not the work of a session.
const MAX_ANSWER: usize = 4 << 20;

/// What an answer shows and names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// Files that the answer names as being there.
    pub(super) files: Vec<NamedFile>,
    /// ADR drafts and plans that stand in the answer itself, whole.
    pub(super) documents: Vec<ShownDocument>,
}

/// A file that an answer names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedFile {
    /// As it is written.
    pub(super) written: String,
    /// The file that is meant, absolute.
    pub(super) path: PathBuf,
}

/// A document in a code block of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownDocument {
    pub(super) kind: SavedKind,
    pub(super) text: String,
    /// Line of the answer in which its block begins.
    pub(super) line: usize,
}

/// Reads an answer. `directory` is where its relative links begin; full paths count only below it.
///
/// A file is named as being there by a link to it (`[plan](phases.yaml)`), or by its full path below the directory in a code span.
/// A bare name is talk: "I would put it into `src/export.py`" says nothing about what is there. A document is a code block that
/// begins like a whole ADR draft or holds a whole plan; an excerpt is neither, and neither is an ADR with a number, which is
/// quoted.
pub(super) fn read(answer: &str, directory: &Path) -> Shown {
    let mut shown = Shown::default();
    if answer.len() > MAX_ANSWER {
        return shown;
    }
    let arena = Arena::new();
    let root = comrak::parse_document(&arena, answer, &Options::default());
    for node in root.descendants() {
        collect(node, directory, &mut shown);
    }
    shown.files.sort_by(|a, b| a.path.cmp(&b.path));
    shown.files.dedup_by(|a, b| a.path == b.path);
    shown
}

fn collect<'a>(node: &'a AstNode<'a>, directory: &Path, shown: &mut Shown) {
    let data = node.data.borrow();
    match &data.value {
        NodeValue::Link(link) => shown.files.extend(linked(&link.url, directory)),
        NodeValue::Code(code) => shown.files.extend(spelt_out(&code.literal, directory)),
        NodeValue::CodeBlock(block) => {
            let language = block.info.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            let kind = match language.as_str() {
                "" | "md" | "markdown" if is_adr_draft(&block.literal) => SavedKind::Adr,
                "" | "yaml" | "yml" if looks_like_plan(&block.literal) => SavedKind::Plan,
                _ => return,
            };
            let line = data.sourcepos.start.line;
            shown.documents.push(ShownDocument { kind, text: block.literal.clone(), line });
        }
        _ => {}
    }
}

fn is_adr_draft(text: &str) -> bool {
    let numbered = |line: &str| {
        line.strip_prefix("adr_id:")
            .is_some_and(|id| id.trim().trim_matches(['"', '\'']).starts_with(|c: char| c.is_ascii_digit() || c == 'A'))
    };
    has_adr_id(text) && !text.lines().any(numbered)
}

/// A link to a file.
fn linked(url: &str, directory: &Path) -> Option<NamedFile> {
    named(&linked_path(url)?, directory)
}

/// The path that a link leads to; `None` for addresses and anchors.
pub fn linked_path(url: &str) -> Option<String> {
    let path = url.split(['#', '?']).next().unwrap_or_default();
    let has_scheme = path.split_once(':').is_some_and(|(scheme, _)| !scheme.is_empty() && !scheme.contains('/'));
    let path = match path.strip_prefix("file://") {
        Some(path) => path,
        None if has_scheme || path.starts_with("//") => return None,
        None => path,
    };
    let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    (!path.is_empty()).then(|| path.into_owned())
}

/// A full path below the directory.
fn spelt_out(code: &str, directory: &Path) -> Option<NamedFile> {
    let path = code.trim();
    // `file.py:12` names a line of the file.
    let path = match path.rsplit_once(':') {
        Some((file, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => file,
        _ => path,
    };
    if path.starts_with('/') && !path.contains(char::is_whitespace) { named(path, directory) } else { None }
}

/// A file below the directory. Elsewhere a path in an answer may be of another machine, or of a repository page.
fn named(written: &str, directory: &Path) -> Option<NamedFile> {
    let is_placeholder = written.contains(['*', '<', '>', '{', '}', '…', '$', '\0'])
        || written.contains("...")
        || written.contains("NNN");
    let path = normal(&directory.join(written));
    let is_file = !is_placeholder && !written.ends_with('/') && path.starts_with(directory) && path != directory;
    is_file.then(|| NamedFile { written: written.to_owned(), path })
}

/// Without `.` and `..`, by name alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => out.push(part),
        }
    }
    out
}

#[cfg(test)]
#[path = "answer_test.rs"]
mod tests;
