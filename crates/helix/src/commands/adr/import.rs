//! `helix adr import`: MADR and Nygard files in Helix's form, shown or written.
//!
//! Must not know how a file is converted.

use std::path::{Path, PathBuf};

use helix_project::adr_files::{AdrDirectory, Imports};
use serde_json::json;

use super::check::decisions_in;
use super::failed;
use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended, unreadable};
use crate::exit::Exit;
use crate::terminal::Reading;

/// What becomes of the converted texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    Nothing,
    Files,
}

pub(super) fn run(context: &Context, root: &Path, files: &[PathBuf], write: Write) -> Ended {
    let mut paths = Vec::new();
    for file in files {
        let path = context.environment.directory.join(file);
        if path.is_dir() {
            paths.extend(decisions_in(&path)?);
        } else {
            std::fs::File::open(&path).map_err(unreadable(&path))?;
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, "no Markdown files to import")
            .hint("pass the files or their directory"));
    }
    let done = match write {
        Write::Nothing => AdrDirectory::preview_import(root, &paths),
        Write::Files => AdrDirectory::import(root, &paths),
    };
    let done = done.map_err(|error| failed(&error))?;
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(&data(&done, write))?,
        Reading::People => say(context, root, &done, write)?,
    }
    Ok(Exit::Success)
}

fn say(context: &Context, root: &Path, done: &Imports, write: Write) -> Result<(), CommandError> {
    for file in &done.files {
        let from = context.shown(&file.from);
        let to = context.shown(&root.join(&file.to));
        let number = match file.number_before {
            Some(before) if before == file.number => "number unchanged".to_owned(),
            Some(before) => format!("{before:03} is in use; new number {:03}", file.number),
            None => format!("it is {:03}", file.number),
        };
        context.terminal.say(&format!("{from}: {}, {number}", file.imported.form));
        for note in &file.imported.notes {
            context.terminal.say(&format!("  note: {note}"));
        }
        match write {
            Write::Nothing => context.terminal.raw(&file.imported.text)?,
            Write::Files => context.terminal.data(&to)?,
        }
        context.terminal.say_diagnostics(&file.diagnostics, &file.imported.text);
    }
    if write == Write::Nothing {
        context.terminal.say("nothing was written; add --write to write the files");
    }
    Ok(())
}

fn data(done: &Imports, write: Write) -> serde_json::Value {
    let files: Vec<serde_json::Value> = done
        .files
        .iter()
        .map(|file| {
            json!({
                "from": file.from, "to": file.to, "number": file.number, "number_before": file.number_before,
                "form": file.imported.form, "title": file.imported.title, "status": file.imported.status.word(),
                "notes": file.imported.notes, "diagnostics": file.diagnostics, "text": file.imported.text,
            })
        })
        .collect();
    json!({ "written": write == Write::Files, "index": done.index, "files": files })
}
