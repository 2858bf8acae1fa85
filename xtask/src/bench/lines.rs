//! Very long lines and very many: what the engine reads per second, and how much memory a long line takes.
//!
//! Must not know how lines are read.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, bail};
use serde_json::Value;

use super::Extent;
use super::figure::{Bar, Figure, median};
use super::host::{Place, kind, recorded_at};
use super::programs::Programs;

const LINE_BYTES: usize = 250;
const LONG_LINE: usize = 10_000_000;

/// A run of one phase: how long it took, and its record.
struct Run {
    seconds: f64,
    record: PathBuf,
    lines: u64,
}

/// Measures floods of two kinds of lines, then the long line on a fresh host.
pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let (rounds, lines) = match extent {
        Extent::Whole => (3, 200_000),
        Extent::Quick => (1, 50_000),
    };
    let floods = [
        ("notices", format!("flood lines={lines} bytes={LINE_BYTES}")),
        ("text fragments", format!("deltas {lines} unpaced {LINE_BYTES}")),
    ];
    let mut figures = Vec::new();
    for (what, order) in floods {
        let (mut helix, mut bare, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        let place = Place::new(programs)?;
        let host = place.serve()?;
        for round in 0..rounds {
            let run = one_phase(&place, &format!("flood{round}"), &order)?;
            let bytes = whole(&run)?;
            if run.lines < lines {
                bail!("{} of {lines} lines were read", run.lines);
            }
            helix.push(bytes / run.seconds);
            bare.push(bytes / parsing_seconds(programs, &run)?);
            alone.push(bytes / writing_seconds(&place, &order)?);
        }
        let name = format!("{lines} {what} of {LINE_BYTES} B, unthrottled");
        let note = format!(
            "bare: reading and parsing the same file; the agent alone writes {:.0} MB/s; host's peak RSS {:.0} MiB",
            median(&alone),
            host.memory_mib("VmHWM")?
        );
        figures.push(
            Figure::new(name, median(&helix), "MB/s")
                .beside(median(&bare))
                .bar(Bar::AtLeastOrShare(50.0, 0.6))
                .note(note),
        );
    }
    figures.extend(long_line(programs)?);
    Ok(figures)
}

fn long_line(programs: &Programs) -> anyhow::Result<Vec<Figure>> {
    let place = Place::new(programs)?;
    let host = place.serve()?;
    let before = host.memory_mib("VmHWM")?;
    let run = one_phase(&place, "long", &format!("huge-line bytes={LONG_LINE}"))?;
    whole(&run)?;
    let longest = BufReader::new(std::fs::File::open(&run.record)?)
        .split(b'\n')
        .try_fold(0, |longest, line| line.map(|line| std::cmp::max(longest, line.len())))?;
    if longest < LONG_LINE {
        bail!("the longest line of the record has {longest} bytes");
    }
    let parsing = parsing_seconds(programs, &run)? * 1e3;
    let peak = host.memory_mib("VmHWM")?;
    Ok(vec![
        Figure::new("a line of 10 MB: whole run", run.seconds * 1e3, "ms").beside(parsing).note("nothing lost"),
        Figure::new("a line of 10 MB: host's peak RSS", peak, "MiB")
            .note(format!("{before:.0} MiB before; bounded by the longest line, not by the output")),
    ])
}

fn one_phase(place: &Place, name: &str, order: &str) -> anyhow::Result<Run> {
    let plan = format!(
        "name: {name}\nphases:\n  - id: only\n    type: review\n    description: '[[fake: {order}]]'\n    gates: []\n"
    );
    let repository = place.repository(name, &plan)?;
    let events = place.run(&repository)?;
    let find = |wanted: &str| {
        let mut found = events.iter().filter(|event| kind(event) == wanted);
        let event = found.next().with_context(|| format!("the job has no event {wanted}"))?;
        if found.next().is_some() { Err(anyhow::anyhow!("the job has two events {wanted}")) } else { Ok(event) }
    };
    let (started, finished) = (find("attempt_started")?, find("run_finished")?);
    let run = started.get("run").and_then(Value::as_str).context("an attempt without a run")?;
    let lines =
        finished.pointer("/facts/stdout/lines").and_then(Value::as_u64).context("a run without a count of lines")?;
    let record = place.sandbox.state().join("runs").join(run).join("stdout.jsonl");
    Ok(Run { seconds: recorded_at(finished)? - recorded_at(started)?, record, lines })
}

/// Checks that Helix has read as many lines as there are; returns the size in megabytes.
fn whole(run: &Run) -> anyhow::Result<f64> {
    let text = std::fs::read(&run.record).with_context(|| run.record.display().to_string())?;
    let there = text.iter().filter(|byte| **byte == b'\n').count() as u64;
    if there != run.lines {
        bail!("{there} lines were written, {} were read", run.lines);
    }
    Ok(text.len() as f64 / 1e6)
}

/// Reads and parses a file in one thread, in an executable built as Helix is.
fn parsing_seconds(programs: &Programs, run: &Run) -> anyhow::Result<f64> {
    let report = programs.example("reader_figures", &[run.record.to_str().context("a path that is no text")?])?;
    let objects = report.get("objects").and_then(Value::as_u64).unwrap_or(0);
    if objects != run.lines {
        bail!("{objects} objects in {} lines", run.lines);
    }
    report.get("seconds").and_then(Value::as_f64).context("the example's report has no time")
}

/// Lets the agent write the same by itself, into a file.
fn writing_seconds(place: &Place, order: &str) -> anyhow::Result<f64> {
    let path = place.sandbox.path().join("alone.jsonl");
    let mut command = place.agent(&place.sandbox.home());
    command.stdin(Stdio::piped()).stdout(std::fs::File::create(&path)?);
    let began = Instant::now();
    let mut child = command.spawn().context("the agent cannot be started")?;
    child.stdin.take().context("the agent has no stdin")?.write_all(format!("[[fake: {order}]]").as_bytes())?;
    child.wait()?;
    Ok(began.elapsed().as_secs_f64())
}
