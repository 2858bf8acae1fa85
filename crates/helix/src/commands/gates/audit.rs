//! `helix gates audit`: faults planted into a shadow of a job's results, and which of them its gates let through.
//!
//! Must not write anything but the audit's own file in the state directory.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use helix_core::ids::JobId;
use helix_core::text::one_line;
use helix_engine::audit::{Audit, AuditLimits, TriedFault};
use helix_language::{Language, say};
use tokio_util::sync::CancellationToken;

use crate::commands::job_names::Id;
use crate::config::workspace_source;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit};
use crate::files::unwritable;
use crate::offline::{archive, open_or_missing};
use crate::runtime::unless_stopped;
use crate::terminal::{Meaning, Terminal, one_json_line};

/// Longest text of a fault in one line, in characters.
const SHOWN: usize = 200;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    job: Id,
    /// Most faults that are planted
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
    /// Minutes after which no further fault is planted
    #[arg(long, value_name = "MINUTES", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..))]
    time: u16,
}

pub(super) fn run(context: &Context, arguments: Arguments) -> Ended {
    let terminal = &context.terminal;
    let limits =
        AuditLimits { faults: arguments.limit.into(), time: Duration::from_secs(60 * u64::from(arguments.time)) };
    context.block_on(async {
        let id = arguments.job.named(context).await?;
        let journal = open_or_missing(context, &id).await?;
        let archive = archive(context, &journal)?;
        let sandbox = context.settings()?.sandbox(&context.environment);
        let cancel = CancellationToken::new();
        let tell = |fault: &TriedFault| terminal.note(&line(terminal, fault));
        let workspaces = workspace_source(&context.environment, &context.overrides);
        let with = (context.environment.program.clone(), sandbox, workspaces);
        let running = archive.audit(&id, limits, with, &cancel, &tell);
        let Some(audit) = unless_stopped(running, &cancel).await? else { return Ok(Exit::Interrupted) };
        let mut text: Vec<String> = audit.escaped().map(|fault| line(terminal, fault)).collect();
        let language = terminal.language;
        text.extend(audit.left_out.iter().map(|one| {
            say!(language, "gates-audit-left-out", phase = one.phase.as_str(), why = language.words(&one.said))
        }));
        text.push(rate(language, &audit));
        terminal.answer(&audit, &text.join("\n"))?;
        terminal.note(&say!(terminal.language, "gates-audit-alone"));
        // Last: what a quarter of an hour has found is not lost to a full disk.
        keep(context, &audit)?;
        Ok(if audit.escaped().next().is_some() { Exit::No } else { Exit::Success })
    })
}

/// A fault in one line: what became of it, where it was, and what it was.
fn line(terminal: &Terminal, fault: &TriedFault) -> String {
    let language = terminal.language;
    let end = match &fault.noticed_by {
        Some(gate) => {
            let said = one_line(&language.words(&fault.gate_said), SHOWN);
            say!(language, "gates-audit-noticed", gate = gate, said = said.as_str())
        }
        None => terminal.paint(Meaning::Bad, &say!(language, "gates-audit-escaped")),
    };
    let sort =
        serde_json::to_value(fault.sort).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default();
    let sort = say!(language, "gates-audit-sort", sort = sort);
    let place = match fault.line {
        Some(line) => format!("{}:{line}", fault.path),
        None => fault.path.clone(),
    };
    format!("{} {sort} {place}: {} – {end}", fault.phase, one_line(&language.words(&fault.planted_said), SHOWN))
}

/// The escape rate, in one line.
pub(crate) fn rate(language: Language, audit: &Audit) -> String {
    let percent = |share: f64| language.decimal(&format!("{:.1}", share * 100.0)).into_owned();
    let (low, high) = audit.interval;
    let said = say!(
        language,
        "gates-audit-rate",
        rate = percent(audit.escape_rate),
        escaped = audit.escaped().count(),
        tried = audit.faults.len(),
        low = percent(low),
        high = percent(high),
        possible = audit.possible
    );
    format!("{said}; {}", say!(language, "gates-audit-at", at = language.local(audit.made_at)))
}

fn file(context: &Context, job: &JobId) -> Result<PathBuf, CommandError> {
    Ok(context.settings()?.state_dir.value.join("audits").join(format!("{job}.json")))
}

fn keep(context: &Context, audit: &Audit) -> Result<(), CommandError> {
    let path = file(context, &audit.job)?;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(unwritable(directory))?;
    }
    helix_process::replace_private(&path, one_json_line(audit)?.as_bytes()).map_err(unwritable(&path))
}

/// The last audit of a job, if there is one that can be read.
pub(crate) fn last(context: &Context, job: &JobId) -> Result<Option<Audit>, CommandError> {
    let text = std::fs::read_to_string(file(context, job)?).ok();
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}
