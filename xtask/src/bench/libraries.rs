//! Figures of single crates, measured by their own examples: durable appends, the reader of Claude Code's lines, and what a run's keeper
//! and walls cost.

use anyhow::Context;
use serde_json::Value;

use super::Extent;
use super::figure::{Bar, Figure};
use super::programs::Programs;

pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let (seconds, rounds) = match extent {
        Extent::Whole => ("2", "100"),
        Extent::Quick => ("0.5", "10"),
    };
    let appends = programs.example("append_rate", &["--seconds", seconds])?;
    let bare = number(&appends, "/bare_single_row_commits/per_second")?;
    let mut figures = Vec::new();
    for callers in [1, 16, 256] {
        let of = |field: &str| number(&appends, &format!("/appenders_{callers}/{field}"));
        figures.push(
            Figure::new(format!("durable appends, {callers} callers"), of("per_second")?, "1/s")
                .beside(bare)
                .note(format!("answered after {:.2} ms (p50), {:.2} ms (p99)", of("p50_ms")?, of("p99_ms")?)),
        );
    }
    let reader = programs.example("reader_figures", &[])?;
    figures.push(
        Figure::new("reader of Claude Code's lines", number(&reader, "/reader_mb_s")?, "MB/s")
            .beside(number(&reader, "/bare_mb_s")?)
            .note("200,000 recorded lines from memory; bare is serde_json"),
    );
    let runs = programs.example("run_figures", &[rounds])?;
    let (kept, held) = (number(&runs, "/kept_ms")?, runs.pointer("/held").and_then(Value::as_str).unwrap_or_default());
    figures.push(
        Figure::new("a run of `true` under its keeper, without walls", kept, "ms")
            .beside(number(&runs, "/bare_ms")?)
            .note("bare is a spawn; the keeper forces claim and end to disk"),
    );
    figures.push(
        Figure::new("a run of `true` behind walls", number(&runs, "/walled_ms")?, "ms")
            .beside(kept)
            .bar(Bar::AboveBareAtMost(15.0))
            .note(format!("bare is the same without walls; what held: {held}")),
    );
    Ok(figures)
}

fn number(report: &Value, pointer: &str) -> anyhow::Result<f64> {
    report.pointer(pointer).and_then(Value::as_f64).with_context(|| format!("an example's report has no {pointer}"))
}
