//! `helix adr accept`, `reject`, `supersede` and `link`: what decisions say of their state and of each other.
//!
//! Must not know how a form says it.

use std::path::Path;

use helix_adr::{Acceptance, AdrForm, AdrId, Link, Status};
use helix_core::text::one_line;
use helix_language::say;
use helix_project::adr_files::{AdrDirectory, AdrFileError, Changed};
use jiff::Timestamp;
use serde_json::json;

use super::identified;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};

/// How decisions hang together, as people type it. What supersedes has a command of its own, since it changes both.
pub(super) const LINKS: [(&str, Link); 2] = [("depends-on", Link::DependsOn), ("related-to", Link::Related)];

/// Characters of the name of who accepts.
const LONGEST_NAME: usize = 200;

/// What a person decides is not decided by a run of an agent.
fn by_a_person(context: &Context) -> Result<(), CommandError> {
    let Some(run) = context.environment.variable("HELIX_RUN_ID") else { return Ok(()) };
    let message = format!("this is decided by a person, not by an agent (run {run})");
    Err(CommandError::new(Exit::No, codes::CANNOT_BE_DONE, message).hint("leave it to a person"))
}

pub(super) fn accept(context: &Context, root: &Path, wanted: &str, by: Option<String>) -> Ended {
    by_a_person(context)?;
    let by = by.map(|by| one_line(&by, LONGEST_NAME)).filter(|by| !by.is_empty());
    let by = by.unwrap_or_else(|| context.environment.person());
    let acceptance = Acceptance { by, on: Timestamp::now().strftime("%F").to_string() };
    let known = AdrDirectory::open(root)?;
    let (id, file) = identified(context, &known, wanted)?;
    let names = known.by_file(&file).is_some_and(|adr| adr.form == AdrForm::Helix);
    let path = match AdrDirectory::accept(root, &id, &acceptance) {
        // The next step that a job names begins with this, and somebody may have accepted since: that stays as it is.
        Err(AdrFileError::NotProposed { file, status: status @ (Status::Accepted | Status::Implemented) }) => {
            return told_status(context, root, &file, status);
        }
        changed => changed?.files.concat(),
    };
    let Acceptance { by, on } = acceptance;
    // Other forms have no place for who accepts: nothing is said that is not written.
    if !names {
        return told_status(context, root, &path, Status::Accepted);
    }
    let (path, status) = (root.join(path), Status::Accepted.word());
    let shown = context.shown(&path);
    let value = json!({ "path": path, "status": status, "accepted_by": by, "accepted_on": on });
    let text = say!(context.terminal.language, "adr-accepted", file = shown, status = status, by = by);
    context.terminal.answer(&value, &text)
}

pub(super) fn reject(context: &Context, root: &Path, wanted: &str) -> Ended {
    by_a_person(context)?;
    let (id, _) = identified(context, &AdrDirectory::open(root)?, wanted)?;
    let path = AdrDirectory::reject(root, &id)?.files.concat();
    told_status(context, root, &path, Status::Rejected)
}

fn told_status(context: &Context, root: &Path, path: &str, status: Status) -> Ended {
    let (path, status) = (root.join(path), status.word());
    let text = say!(context.terminal.language, "adr-status-is", file = context.shown(&path), status = status);
    context.terminal.answer(&json!({ "path": path, "status": status }), &text)
}

pub(super) fn supersede(context: &Context, root: &Path, old: &str, new: &str) -> Ended {
    by_a_person(context)?;
    let (old, new) = two(context, root, old, new)?;
    let changed = AdrDirectory::supersede(root, &old, &new)?;
    let (old, new) = files(context, root, &changed);
    let text = say!(context.terminal.language, "adr-superseded", old = old, new = new);
    context.terminal.answer(&json!({ "changed": changed.files }), &text)
}

pub(super) fn link(context: &Context, root: &Path, from: &str, link: Link, to: &str) -> Ended {
    let (from, to) = two(context, root, from, to)?;
    let changed = AdrDirectory::link(root, &from, link, &to)?;
    let (file, _) = files(context, root, &changed);
    let (link, other) = (link.word().replace(' ', "-"), to.to_string());
    let text = say!(context.terminal.language, "adr-linked", file = file, link = link, other = other);
    context.terminal.answer(&json!({ "changed": changed.files }), &text)
}

/// Two decisions, which are not one and the same.
fn two(context: &Context, root: &Path, one: &str, other: &str) -> Result<(AdrId, AdrId), CommandError> {
    let known = AdrDirectory::open(root)?;
    let ((one, file), (other, _)) = (identified(context, &known, one)?, identified(context, &known, other)?);
    if one == other {
        return Err(CommandError::usage(codes::USAGE, format!("{file} cannot refer to itself")).hint("name two ADRs"));
    }
    Ok((one, other))
}

fn files(context: &Context, root: &Path, changed: &Changed) -> (String, String) {
    let shown = |at: usize| changed.files.get(at).map(|file| context.shown(&root.join(file))).unwrap_or_default();
    (shown(0), shown(1))
}
