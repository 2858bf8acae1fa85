//! `conflicts_resolved`: no conflict marker of git is left.
//!
//! Must not know which results contradicted each other.

use helix_core::evidence::ChangeKind;

use super::GateContext;
use super::judgement::{Judgement, Trouble, finding};
use helix_language::recorded;

/// Largest file that is searched, in bytes; git makes no markers in larger or binary ones.
const MAX_SEARCHED: usize = 16 << 20;

/// Looks for markers in the named files of the result, or in all changed ones. A named file that is gone is resolved.
pub(crate) fn conflicts_resolved(context: &GateContext, files: &[String]) -> Result<Judgement, Trouble> {
    let changed = context.result.changed.iter().filter(|file| file.how != ChangeKind::Deleted);
    let paths: Vec<String> = match files.is_empty() {
        true => changed.map(|file| file.path.clone()).collect(),
        false => files.to_vec(),
    };
    if paths.is_empty() {
        return Ok(Judgement::nothing(recorded!("gate-conflicts-nothing")));
    }
    let repository = context.repository();
    let listing = context.files()?;
    let mut findings = Vec::new();
    for path in &paths {
        let Some(entry) = listing.get(path) else { continue };
        if entry.kind == helix_git::EntryKind::Submodule || repository.size(&entry.object)? > MAX_SEARCHED {
            continue;
        }
        let content = repository.blob(&entry.object)?;
        for (index, line) in content.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| is_marker(line)) {
            let line_number = u32::try_from(index + 1).ok();
            let marker = String::from_utf8_lossy(line).trim_end().to_owned();
            let message = recorded!("gate-conflict-marker", marker = marker);
            findings.push(finding("conflicts.marker", message).at(path, line_number, None));
        }
    }
    let summary = match findings.len() {
        0 => recorded!("gate-conflicts-none", files = paths.len()),
        count => recorded!("gate-conflicts-left", markers = count),
    };
    Ok(Judgement::of(findings, summary, Vec::new()))
}

/// Marker lines that mean nothing else; a line of equal signs alone may be a heading.
fn is_marker(line: &[u8]) -> bool {
    line.starts_with(b"<<<<<<< ") || line.starts_with(b">>>>>>> ") || line.starts_with(b"||||||| ")
}
