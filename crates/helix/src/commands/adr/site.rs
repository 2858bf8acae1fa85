//! `helix adr site`: the decisions as pages that need neither a server nor a network.
//!
//! Must not know what a page looks like. Nothing is replaced that Helix has not written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use helix_adr::{Language, SITE_MARK, SiteWords};
use helix_language::say;
use helix_project::adr_files::AdrDirectory;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::terminal::heading;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Directory to write it to: a new one, or that of an earlier site
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(context: &Context, root: &Path, arguments: &Arguments) -> Ended {
    let out = context.path(&arguments.out);
    let known = AdrDirectory::open(root)?;
    let language = context.terminal.language;
    if known.adrs().is_empty() {
        let message = format!("no ADRs in {}", root.join(known.directory()).display());
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, message).hint("write one with `helix adr new TITLE`"));
    }
    let in_use = std::fs::read_dir(&out).is_ok_and(|mut entries| entries.next().is_some());
    if out.is_file() || in_use && !is_ours(&out.join("index.html")) {
        let message = format!("{} is not empty, and not a site that Helix has written", out.display());
        return Err(CommandError::usage(codes::OUTPUT_UNWRITABLE, message).hint("name a new directory"));
    }
    let files = known.site(&words(language));
    let pages = out.join("decisions");
    let failed = |path: &Path, error: &std::io::Error| {
        let message = format!("cannot write {}: {error}", path.display());
        CommandError::new(Exit::Environment, codes::OUTPUT_UNWRITABLE, message).hint(crate::error::WRITABLE)
    };
    std::fs::create_dir_all(&pages).map_err(|error| failed(&pages, &error))?;
    let mut written = BTreeSet::new();
    for file in &files {
        let path = out.join(&file.path);
        std::fs::write(&path, &file.text).map_err(|error| failed(&path, &error))?;
        written.insert(path);
    }
    // Pages of decisions that are gone.
    for path in std::fs::read_dir(&pages).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if !written.contains(&path) && is_ours(&path) {
            std::fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
        }
    }
    let index = out.join("index.html");
    let value = json!({ "index": index, "decisions": known.adrs().len(), "files": files.len() });
    context.terminal.answer(&value, &context.shown(&index))?;
    context.terminal.note(&say!(language, "adr-site", decisions = known.adrs().len()));
    Ok(Exit::Success)
}

/// Whether a page is one that this command has written.
fn is_ours(page: &Path) -> bool {
    std::fs::read_to_string(page).is_ok_and(|text| text.contains(SITE_MARK))
}

fn words(language: helix_language::Language) -> SiteWords {
    SiteWords {
        language: if language == helix_language::Language::German { Language::German } else { Language::English },
        decisions: say!(language, "site-decisions"),
        graph: say!(language, "site-graph"),
        search: say!(language, "site-search"),
        nothing: say!(language, "site-nothing"),
        title: heading(language, "title"),
        status: heading(language, "status"),
        date: say!(language, "site-date"),
        supersedes: say!(language, "site-supersedes"),
        depends_on: say!(language, "site-depends-on"),
        related_to: say!(language, "site-related-to"),
        superseded_by: say!(language, "site-superseded-by"),
        needed_by: say!(language, "site-needed-by"),
    }
}
