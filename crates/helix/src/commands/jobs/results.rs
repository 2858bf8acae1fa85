//! `helix jobs diff` and `helix jobs evidence`: read from the journal, the repository and the records, with or without a host.

use std::path::Path;

use helix_core::ids::PhaseId;
use helix_core::text::visible;
use helix_engine::audit::Audit;
use helix_engine::evidence::{DiffSelection, JobEvidence};
use helix_language::say;
use serde::Serialize;

use crate::commands::gates::{last_audit, rate};
use crate::commands::verify::own_key;
use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::files::write_new;
use crate::offline::{archive, open_or_missing};
use crate::terminal::{Meaning, Reading, of_patch};
use crate::watch::meaning;

pub(super) async fn diff(context: &Context, id: &str, phase: Option<PhaseId>, attempt: Option<u32>) -> Ended {
    let journal = open_or_missing(context, id).await?;
    let found = archive(context, &journal)?.diff(id, DiffSelection { phase, attempt }).await?;
    if context.terminal.reading == Reading::Programs {
        return context.terminal.json(&found);
    }
    if found.patch.is_empty() {
        let (from, to) = (found.from.to_string(), found.to.to_string());
        context.terminal.say(&say!(context.terminal.language, "diff-nothing", from = from, to = to));
    }
    // Of an agent's lines a terminal shows every character; a pipe gets the patch as it is.
    let shown = |line: &str| if context.terminal.columns().is_some() { visible(line) } else { line.to_owned() };
    for line in found.patch.lines() {
        let meaning = of_patch(line);
        let line = shown(line);
        context
            .terminal
            .data(&meaning.map_or_else(|| line.clone(), |meaning| context.terminal.paint(meaning, &line)))?;
    }
    if found.cut > 0 {
        let (from, to) = (found.from.to_string(), found.to.to_string());
        context.terminal.say(&say!(context.terminal.language, "diff-more", bytes = found.cut, from = from, to = to));
    }
    Ok(Exit::Success)
}

/// Ends with a status of its own unless the job succeeded and everything is proved.
pub(super) async fn evidence(context: &Context, id: &str, bundle: Option<&Path>) -> Ended {
    let journal = open_or_missing(context, id).await?;
    let archive = archive(context, &journal)?;
    let stated;
    let (found, written) = match bundle {
        None => (&archive.evidence(id).await?, None),
        Some(file) => {
            stated = archive.statement(id, env!("CARGO_PKG_VERSION")).await?;
            let key = own_key(context)?;
            write_new(&context.path(file), &stated.signed(&key)?)?;
            (stated.evidence(), Some((file, key.public())))
        }
    };
    let audit = last_audit(context, &found.job)?;
    let text = [evidence_text(context, found)]
        .into_iter()
        .chain(audit.iter().map(|audit| rate(context.terminal.language, audit)));
    let text = text.collect::<Vec<_>>().join("\n");
    context.terminal.answer(&Audited { evidence: found, audit }, &text)?;
    if let Some((file, key)) = written {
        let (file, key) = (file.display().to_string(), key.to_string());
        context.terminal.note(&say!(context.terminal.language, "evidence-written", file = file, key = key));
    }
    Ok(if found.proved { Exit::Success } else { Exit::NotProved })
}

/// Evidence, and what an audit of the job's gates found, which proves nothing of the job.
#[derive(Serialize)]
struct Audited<'a> {
    #[serde(flatten)]
    evidence: &'a JobEvidence,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<Audit>,
}

/// What proves a job, for people.
fn evidence_text(context: &Context, found: &JobEvidence) -> String {
    found.text(context.terminal.language, |sign, text| {
        context.terminal.paint(sign.map_or(Meaning::Strong, meaning), text)
    })
}
