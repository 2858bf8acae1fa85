//! `cargo xtask bench`: what Helix costs beside the bare work, through the real executables, with a bar for each figure.
//!
//! Must not know what is measured: each group of figures has a file of its own.

mod adrs;
mod failures;
mod figure;
mod host;
mod idle;
mod libraries;
mod lines;
mod machine;
mod phases;
mod programs;
mod recall;
mod sessions;
mod streams;
mod turns;

use anyhow::{Context, bail};
use serde_json::json;

use figure::{Figure, Verdict};
use machine::Machine;
use programs::Programs;

/// How much to measure, and in what form to say it.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Fewer and shorter rounds: to see that it works, not for figures.
    #[arg(long)]
    quick: bool,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// Only groups whose name contains this: idle, phases, streams, turns, lines, libraries, recall, adrs, failures, sessions.
    #[arg(long)]
    only: Option<String>,
    /// Measures the executables that are there, without building them.
    #[arg(long)]
    no_build: bool,
    /// Fails if a bar is missed.
    #[arg(long)]
    strict: bool,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Enough to see that it works.
    Quick,
}

type Group = (&'static str, fn(&Programs, Extent) -> anyhow::Result<Vec<Figure>>);

const GROUPS: [Group; 10] = [
    ("idle", idle::measure),
    ("phases", phases::measure),
    ("streams", streams::measure),
    ("turns", turns::measure),
    ("lines", lines::measure),
    ("libraries", libraries::measure),
    ("adrs", adrs::measure),
    ("failures", failures::measure),
    ("recall", recall::measure),
    ("sessions", sessions::measure),
];

/// Measures one group after the other.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let extent = if options.quick { Extent::Quick } else { Extent::Whole };
    let programs = if options.no_build { Programs::found()? } else { Programs::build()? };
    let machine = Machine::look(&programs)?;
    let mut figures = Vec::new();
    for (name, measure) in GROUPS {
        if options.only.as_ref().is_some_and(|part| !name.contains(part.as_str())) {
            continue;
        }
        eprintln!("measuring {name}");
        figures.extend(measure(&programs, extent).with_context(|| format!("{name} cannot be measured"))?);
    }
    if options.json {
        let rows: Vec<_> = figures.iter().map(Figure::json).collect();
        println!("{:#}", json!({ "machine": machine.json(), "figures": rows }));
    } else {
        println!("{}\n\n{}", machine.text(), figure::table(&figures));
    }
    let missed = figures.iter().filter(|figure| figure.verdict() == Verdict::Missed).count();
    if missed > 0 {
        eprintln!("targets missed: {missed}");
        if options.strict {
            bail!("targets missed: {missed}");
        }
    }
    Ok(())
}
