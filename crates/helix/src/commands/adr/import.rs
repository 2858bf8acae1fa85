//! `helix adr import`: MADR and Nygard files in Helix's form, shown or written.
//!
//! Must not know how a file is converted.

use std::path::{Path, PathBuf};

use clap::Args;
use helix_job::phrases;
use helix_language::say;
use helix_project::adr_files::{AdrDirectory, ImportedFile};
use serde_json::json;

use super::check::with_directories;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::readable;
use crate::terminal::Reading;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Files, or directories of them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Write them to adr/, keeping free numbers
    #[arg(long)]
    write: bool,
}

pub(super) fn run(context: &Context, root: &Path, arguments: &Arguments) -> Ended {
    let paths = with_directories(context, root, &arguments.files)?;
    for path in &paths {
        readable(path)?;
    }
    if paths.is_empty() {
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, "no Markdown files to import")
            .hint("pass the files or their directory"));
    }
    let import = if arguments.write { AdrDirectory::import } else { AdrDirectory::preview_import };
    let done = import(root, &paths)?;
    if context.terminal.reading == Reading::Programs {
        let value = json!({ "written": arguments.write, "index": done.index, "files": done.files });
        return context.terminal.json(&value);
    }
    for file in &done.files {
        say(context, root, file, arguments.write)?;
    }
    if !arguments.write {
        context.terminal.say(&say!(context.terminal.language, "import-shown"));
    }
    Ok(Exit::Success)
}

fn say(context: &Context, root: &Path, file: &ImportedFile, written: bool) -> Result<(), CommandError> {
    let from = context.shown(&file.from);
    let (language, new) = (context.terminal.language, format!("{:03}", file.number));
    let number = match file.number_before {
        Some(before) if before == file.number => say!(language, "import-same"),
        Some(before) => say!(language, "import-taken", old = format!("{before:03}"), new = new),
        None => say!(language, "import-number", new = new),
    };
    context.terminal.say(&format!("{from}: {}, {number}", file.imported.form));
    for note in &file.imported.notes {
        context.terminal.say(&format!("  {}", phrases::note(language, note)));
    }
    if written {
        context.terminal.data(&context.shown(&root.join(&file.to)))?;
    } else {
        context.terminal.raw(&file.imported.text)?;
    }
    context.terminal.say_diagnostics(&file.diagnostics, &file.imported.text);
    Ok(())
}
