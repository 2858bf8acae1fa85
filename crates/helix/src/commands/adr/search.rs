//! `helix adr search`: decisions that have all of some words, with the lines that say so.
//!
//! Must not know how they are found.

use std::path::Path;

use helix_core::text::clip;
use helix_language::say;
use helix_project::adr_files::{AdrDirectory, AdrSummary};
use serde_json::json;

use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::terminal::Meaning;

/// Most lines of one decision that people are shown, and their length.
const LINES: usize = 3;
const WIDTH: usize = 100;

/// Ends with 1 when nothing is found, as grep does.
pub(super) fn run(context: &Context, root: &Path, words: &[String]) -> Ended {
    let known = AdrDirectory::open(root)?;
    let found = helix_adr::search(known.adrs(), words);
    let (mut text, mut values) = (String::new(), Vec::new());
    for one in &found {
        let AdrSummary { id, title, status, file, .. } = AdrSummary::from(one.adr);
        let head = [id.as_deref(), status.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let shown = context.terminal.paint(Meaning::Good, &title);
        text.push_str(&format!("{}: {shown} ({head})\n", context.shown(&root.join(&file))));
        for (number, line) in one.lines.iter().take(LINES) {
            text.push_str(&format!("  {number}: {}\n", clip(line.trim(), WIDTH)));
        }
        let lines: Vec<_> = one.lines.iter().map(|(line, text)| json!({ "line": line, "text": text })).collect();
        values.push(json!({ "id": id, "title": title, "status": status, "file": file, "lines": lines }));
    }
    if found.is_empty() {
        context.terminal.note(&say!(context.terminal.language, "adr-not-found", words = words.join(" ")));
    }
    context.terminal.answer(&json!({ "found": values }), &text)?;
    Ok(if found.is_empty() { Exit::No } else { Exit::Success })
}
