//! How long the memory of failures takes to recall similar ones: 100,000 and 1,000,000 distinct failures, file on disk.

use anyhow::Context;
use serde_json::Value;

use super::Extent;
use super::figure::{Bar, Figure};
use super::programs::Programs;

/// Runs the example for each size.
pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    // Bars of the issue: 10 ms and 50 ms at the 99th percentile.
    let sizes: &[(u64, f64)] = match extent {
        Extent::Whole => &[(100_000, 10.0), (1_000_000, 50.0)],
        Extent::Quick => &[(10_000, 10.0)],
    };
    let mut figures = Vec::new();
    for (failures, bar) in sizes {
        let report = programs.example("failure_recall", &["--failures", &failures.to_string()])?;
        let of = |field: &str| {
            report.get(field).and_then(Value::as_f64).with_context(|| format!("the example's report has no {field}"))
        };
        figures.push(
            Figure::new(format!("similar failures of {failures}, p99"), of("similar_p99_ms")?, "ms")
                .bar(Bar::AtMost(*bar))
                .note(format!(
                    "p50 {:.2} ms, longest {:.2} ms; file {:.0} MB; {:.0} of {:.0} queries without an answer",
                    of("similar_p50_ms")?,
                    of("similar_most_ms")?,
                    of("file_mb")?,
                    of("without_answer")?,
                    of("queries")?,
                )),
        );
        figures.push(
            Figure::new(format!("capture of a failure beside {failures}, p99"), of("capture_p99_ms")?, "ms")
                .note(format!("p50 {:.2} ms", of("capture_p50_ms")?)),
        );
    }
    Ok(figures)
}
