//! The files that a phase of an older plan reads and writes: their shapes, and the conventions for their paths.
//!
//! Must not know which files exist. Two files that were kept apart by a convention and would become one are an error.

use std::collections::HashMap;
use std::ops::Range;

use helix_core::document::{Node, Value};

use super::super::codes;
use super::table::{Folder, OldPlace, PATHS, keys_of};
use super::{Pen, as_text, id_node, items, list_node, modern_id, text_node};

/// The phase that files belong to.
#[derive(Debug, Clone, Default)]
pub(super) struct Owner {
    /// Its place in the plan.
    pub(super) number: usize,
    /// Its id in the modern form, where it has a readable one.
    pub(super) id: Option<String>,
}

/// Where a file was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    Repository,
    Phase(String),
}

/// A path in the modern form, and where it was kept before.
struct ModernPath {
    path: String,
    kept: Kept,
}

struct Claim {
    phase: usize,
    kept: Kept,
    written: String,
    line: usize,
}

/// What the phases write, by path in the repository.
#[derive(Default)]
pub(super) struct Claims {
    first: HashMap<String, Claim>,
}

/// What an old `input`, `input_from` or `output` says.
#[derive(Default)]
pub(super) struct Files {
    /// Files, in the modern form.
    pub(super) paths: Option<Node>,
    /// Phases, in the modern form.
    pub(super) from: Vec<Node>,
}

/// Which way files go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Read; a mapping may also name phases.
    Read,
    Written,
}

/// Reads files in any of their shapes: a text, a list, or a mapping.
pub(super) fn files(value: &Node, what: &str, direction: Direction, owner: &Owner, pen: &mut Pen<'_, '_>) -> Files {
    let Value::Mapping(_) = &value.value else {
        let paths = paths(items(value), direction, owner, pen);
        return Files { paths: Some(list_node(paths, &value.range)), from: Vec::new() };
    };
    let Some(mut fields) = pen.reader.open(value, what) else { return Files::default() };
    let mut found = Files::default();
    let (mut listed, mut directory, mut expected) = (None, None, None);
    for row in keys_of(OldPlace::Files) {
        match row.key {
            "files" => listed = fields.entry(row.key),
            "directory" => directory = fields.entry(row.key),
            "expected_files" => expected = fields.entry(row.key),
            // Nothing is written from a phase, so that key is unknown there.
            "from" if direction == Direction::Read => {
                found.from = fields.entry(row.key).map(|entry| references(&entry.value)).unwrap_or_default();
            }
            _ => {}
        }
    }
    fields.finish(pen.reader);
    let mut all: Vec<Node> = listed.map(|entry| items(&entry.value)).unwrap_or_default();
    match (directory, expected) {
        (Some(directory), None) => all.push(match as_text(&directory.value) {
            Some(text) => text_node(format!("{}/", text.trim_end_matches('/')), &directory.value.range),
            None => directory.value.clone(),
        }),
        (Some(directory), Some(expected)) => {
            let above = as_text(&directory.value).map(|text| text.trim_end_matches('/'));
            for item in items(&expected.value) {
                if !pen.may_copy(std::slice::from_ref(&directory.value), &directory.key_range) {
                    break;
                }
                all.push(match (above, as_text(&item)) {
                    (Some(above), Some(name)) => text_node(format!("{above}/{name}"), &item.range),
                    // The directory is no text, and as a path it is reported.
                    (None, _) => directory.value.clone(),
                    (Some(_), None) => item,
                });
            }
        }
        (None, Some(expected)) => all.extend(items(&expected.value)),
        (None, None) => {}
    }
    if listed.is_some() || directory.is_some() || expected.is_some() {
        found.paths = Some(list_node(paths(all, direction, owner, pen), &value.range));
    }
    found
}

/// Phases that a value names, in the modern form.
pub(super) fn references(value: &Node) -> Vec<Node> {
    items(value).iter().map(id_node).collect()
}

/// Undoes the old conventions for paths.
pub(super) fn paths(list: Vec<Node>, direction: Direction, owner: &Owner, pen: &mut Pen<'_, '_>) -> Vec<Node> {
    let mut read = Vec::with_capacity(list.len());
    for item in list {
        let Some(written) = as_text(&item) else {
            read.push(item);
            continue;
        };
        let modern = modern_path(written, owner);
        if modern.path.is_empty() {
            let message = format!("`{written}` is a folder of the older layout");
            pen.reader.error(codes::BAD_PATH, &item.range, message, "name the files in it, such as src/app.py");
            continue;
        }
        let node = if modern.path == written { item.clone() } else { text_node(modern.path.clone(), &item.range) };
        if direction == Direction::Written {
            claim(modern, written, &item.range, owner, pen);
        }
        read.push(node);
    }
    read
}

/// Notes the claims of a modern `outputs`, whose paths are those of the repository.
pub(super) fn note_modern(outputs: &Node, owner: &Owner, pen: &mut Pen<'_, '_>) {
    let Value::Sequence(list) = &outputs.value else { return };
    for item in list.iter() {
        if let Some(written) = as_text(item) {
            let modern = ModernPath { path: written.to_owned(), kept: Kept::Repository };
            claim(modern, written, &item.range, owner, pen);
        }
    }
}

fn claim(modern: ModernPath, written: &str, range: &Range<usize>, owner: &Owner, pen: &mut Pen<'_, '_>) {
    let path = modern.path.strip_prefix("./").unwrap_or(&modern.path).to_owned();
    let line = pen.reader.source.line_of(range.start);
    let Some(first) = pen.claims.first.get(&path) else {
        let claim = Claim { phase: owner.number, kept: modern.kept, written: written.to_owned(), line };
        pen.claims.first.insert(path, claim);
        return;
    };
    let twice = first.phase == owner.number && first.written != written;
    if first.kept == modern.kept && !twice {
        return;
    }
    let message =
        format!("`{written}` and `{}` in line {} would be the same file: `{path}`", first.written, first.line);
    let help = "write both under `outputs`, with different paths";
    pen.reader.error(codes::FILES_MERGE, range, message, help);
}

fn modern_path(written: &str, owner: &Owner) -> ModernPath {
    let own = || match &owner.id {
        Some(id) => Kept::Phase(id.clone()),
        None => Kept::Phase(format!("#{}", owner.number)),
    };
    let plain = written.strip_prefix("./").unwrap_or(written);
    for convention in PATHS {
        match convention.folder {
            Folder::Repository => {
                if let Some(path) = plain.strip_prefix(convention.prefix) {
                    return ModernPath { path: path.into(), kept: Kept::Repository };
                }
            }
            Folder::OwnPhase => {
                if let Some(path) = plain.strip_prefix(convention.prefix) {
                    return ModernPath { path: path.into(), kept: own() };
                }
            }
            Folder::NamedPhase => {
                if let Some((id, path)) = in_named_folder(plain, convention.prefix) {
                    let id = modern_id(id).unwrap_or_else(|| id.to_owned());
                    return ModernPath { path: path.into(), kept: Kept::Phase(id) };
                }
            }
        }
    }
    ModernPath { path: written.into(), kept: Kept::Repository }
}

/// Splits `phases/design/output/spec.md` along `phases/<id>/output/` into `design` and `spec.md`.
fn in_named_folder<'p>(path: &'p str, form: &str) -> Option<(&'p str, &'p str)> {
    let (before, after) = form.split_once("<id>")?;
    let (id, rest) = path.strip_prefix(before)?.split_once('/')?;
    Some((id, rest.strip_prefix(after.trim_start_matches('/'))?))
}
