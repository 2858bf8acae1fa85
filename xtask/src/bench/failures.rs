//! Explaining failures through the executable: the corpus of recorded ones, a huge log, and one endless line.
//!
//! Must not know how failures are classified.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use helix_testkit::sandbox::Sandbox;

use super::Extent;
use super::figure::{Bar, Figure, median};
use super::programs::Programs;

/// Bytes of the huge log.
const HUGE: usize = 100 * 1024 * 1024;
/// Bytes of the endless line.
const ENDLESS: usize = 10 * 1024 * 1024;

/// Measures all three; the bars are those of the issue that asked for it: 200 cases in 1 s, 100 MB in 2 s.
pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let (share, rounds) = match extent {
        Extent::Whole => (1, 5),
        Extent::Quick => (10, 2),
    };
    let place = Sandbox::new().context("there is no room for the logs")?;
    let (huge, endless) = (place.path().join("huge.log"), place.path().join("endless.log"));
    write_huge(&huge, HUGE / share)?;
    // Words that begin many patterns and complete none: the worst for a pattern that tries again at each of them.
    let words = "error: expected unexpected could not find the timeout of connection ";
    std::fs::write(&endless, words.repeat(ENDLESS / share / words.len()))?;
    let corpus =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates/helix-failure/tests/fixtures/failures/corpus.jsonl");
    let (mut cases, mut logs, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        cases.push(explain(programs, place.path(), &["--facts".as_ref(), corpus.as_os_str()])?);
        logs.push(explain(programs, place.path(), &[huge.as_os_str()])?);
        lines.push(explain(programs, place.path(), &[endless.as_os_str()])?);
    }
    let bar = |limit| match extent {
        Extent::Whole => Bar::AtMost(limit),
        Extent::Quick => Bar::None,
    };
    Ok(vec![
        Figure::new("`helix failures explain --facts` of the corpus", median(&cases), "s")
            .bar(bar(1.0))
            .note("202 recorded failures"),
        Figure::new(format!("`helix failures explain` of {} MB", HUGE / share / 1024 / 1024), median(&logs), "s")
            .bar(bar(2.0))
            .note("the cause stands in the middle"),
        Figure::new(format!("the same, one line of {} MB", ENDLESS / share / 1024 / 1024), median(&lines), "s")
            .bar(bar(1.0)),
    ])
}

/// Lines that look like failures and are none, with one cause in the middle.
fn write_huge(path: &Path, bytes: usize) -> anyhow::Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut written = 0;
    let mut told = false;
    while written < bytes {
        if !told && written > bytes / 2 {
            writeln!(file, "cp: error writing 'out': No space left on device")?;
            told = true;
        }
        let line = format!("{written} src/a.rs:3: warning: failed to be quiet, step {written} of many more\n");
        file.write_all(line.as_bytes())?;
        written += line.len();
    }
    Ok(file.flush()?)
}

/// Seconds that one explanation takes.
fn explain(programs: &Programs, home: &Path, arguments: &[&std::ffi::OsStr]) -> anyhow::Result<f64> {
    let mut command = Command::new(programs.path("helix")?);
    command.current_dir(home).env("HOME", home).env("HELIX_STATE_DIR", home.join("state"));
    command.args(["--json", "failures", "explain"]).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().context("helix cannot be started")?;
    let seconds = began.elapsed().as_secs_f64();
    if !status.success() {
        bail!("the explanation ended with {status}");
    }
    Ok(seconds)
}
