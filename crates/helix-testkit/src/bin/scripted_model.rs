//! `helix-scripted-model`: serves a script until a signal comes; see `docs/testkit.md`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use helix_testkit::model::{Script, ScriptedModel};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Serves a scripted Anthropic Messages API on loopback.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// The script (YAML or JSON).
    #[arg(long)]
    script: PathBuf,
    /// The port; 0 means any.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Writes all requests here, as JSON lines, when it ends.
    #[arg(long)]
    record: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    let model = ScriptedModel::start_on(Script::load(&options.script)?, options.port)?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", json!({"base_url": model.base_url(), "pid": std::process::id()}))?;
    stdout.flush()?;
    signals.forever().next();
    if let Some(path) = &options.record {
        let mut file = std::fs::File::create(path).with_context(|| path.display().to_string())?;
        for request in model.requests() {
            writeln!(file, "{}", serde_json::to_string(&request)?)?;
        }
    }
    let failures = model.failures();
    for failure in &failures {
        writeln!(std::io::stderr(), "error: {failure}")?;
    }
    model.shutdown();
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
