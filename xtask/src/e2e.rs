//! `cargo xtask e2e`: Helix's own pages, and Open WebUI, in a real browser, with Helix and the real agent CLI behind it, whose model follows a script.
//!
//! Must not know what is said or shown: the scripts in `e2e/` do. Everything is on loopback and in a home of its own.

mod helix;
mod open_webui;
mod pages;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use helix_testkit::locate::{PINNED_CLAUDE, claude_binary};
use helix_testkit::model::{Script, ScriptedModel};
use helix_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::{setup, workspace};

/// What to run, and what with.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only flows whose name contains this, or one of these with commas between them; `pages`: Helix's own pages
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Takes this `helix` instead of building one
    #[arg(long, value_name = "FILE")]
    helix: Option<PathBuf>,
    /// Puts the new pictures into docs/images/
    #[arg(long)]
    document: bool,
}

/// Starts everything, lets the browser do its flows, ends everything, and looks whether anything is left.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let begun = Instant::now();
    let tools = setup::directory();
    let chromium = setup::browser()?;
    let program = options.helix.clone().map_or_else(build, |given| std::path::absolute(given).map_err(Into::into))?;
    let results = results()?;
    let only = options.only.as_deref();
    if only.is_none_or(|only| only.split(',').any(|part| part == pages::NAME)) {
        pages::run(&program, &chromium, &results, options.document)?;
    }
    if only == Some(pages::NAME) {
        eprintln!("everything passed in {:.0} s; pictures are in {}", begun.elapsed().as_secs_f64(), results.display());
        return Ok(());
    }
    let claude = claude_binary(PINNED_CLAUDE).context("the agent is missing\nhint: `cargo xtask setup` installs it")?;
    for part in ["python/bin/python", "open-webui/complete", "browser/complete"] {
        if !tools.join(part).exists() {
            bail!(
                "{} is missing\nhint: `cargo xtask setup` and `cargo xtask openwebui` install it",
                tools.join(part).display()
            );
        }
    }
    let mut sandbox = Sandbox::new()?;
    let tests = tools.join("python/bin");
    let path = std::env::var("PATH").context("PATH is not set, or is no text")?;
    sandbox.set("PATH", format!("{}:{path}", tests.display()));
    let model = ScriptedModel::start_blocking(script(&sandbox)?)?;
    let helix = helix::Served::start(&program, &claude, &model.base_url(), &sandbox, &results)?;
    let webui = open_webui::Served::start(&tools.join("open-webui"), &helix.url, &helix.token, &sandbox, &results)?;
    eprintln!("everything is up after {:.0} s", begun.elapsed().as_secs_f64());

    let place = json!({
        "helix": helix.url,
        "token": helix.token,
        "program": program,
        "environment": { "HELIX_STATE_DIR": sandbox.state(), "HOME": sandbox.home() },
        "model": model.base_url(),
        "page": webui.url,
        "packages": tools.join("browser"),
        "chromium": chromium,
        "profile": sandbox.path().join("browser"),
        "pictures": results,
        "only": options.only,
    });
    let driven = drive(&sandbox, &place);
    drop(webui);
    let left = helix.leave(&sandbox);
    let unforeseen = model.failures();
    if !unforeseen.is_empty() {
        eprintln!("the model was asked what its script does not foresee:\n{}", unforeseen.join("\n"));
    }
    driven.with_context(|| {
        format!("not everything was as it should be; pictures and logs are in {}", results.display())
    })?;
    left?;
    if !unforeseen.is_empty() {
        bail!("the agent asked its model for something unforeseen");
    }
    if options.document {
        for (taken, shown) in [("follow-up.png", "open-webui.png"), ("job-done.png", "open-webui-job.png")] {
            let picture = workspace::root().join("docs/images").join(shown);
            std::fs::copy(results.join(taken), &picture)
                .with_context(|| format!("cannot write {}", picture.display()))?;
        }
    }
    eprintln!("everything passed in {:.0} s; pictures are in {}", begun.elapsed().as_secs_f64(), results.display());
    Ok(())
}

/// An empty directory for pictures and logs.
fn results() -> anyhow::Result<PathBuf> {
    let results = workspace::root().join("target/e2e");
    match std::fs::remove_dir_all(&results) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", results.display()));
        }
        Ok(()) | Err(_) => {}
    }
    std::fs::create_dir_all(&results).with_context(|| format!("cannot create {}", results.display()))?;
    Ok(results)
}

/// Lets the browser do its flows.
fn drive(sandbox: &Sandbox, place: &Value) -> anyhow::Result<()> {
    let mut node = sandbox.command("node");
    node.arg(workspace::root().join("e2e/open-webui.mjs")).env("HELIX_E2E", place.to_string());
    workspace::run(&mut node)
}

/// What the model says: to the user of the browser, and in the session that the tests of the same kind have.
fn script(sandbox: &Sandbox) -> anyhow::Result<Script> {
    let load = |path: &str| Script::load(&workspace::root().join(path)).map_err(anyhow::Error::from);
    let mut script = load("e2e/open-webui.yaml")?;
    let session = load("crates/helix/tests/e2e/session.yaml")?;
    script.rules.extend(session.rules);
    script.scenes.extend(session.scenes);
    script.variables.insert("projects".into(), projects(sandbox.path()).display().to_string());
    Ok(script)
}

/// Where new projects are made.
fn projects(root: &Path) -> PathBuf {
    root.join("projects")
}

/// Builds Helix as a developer has it.
fn build() -> anyhow::Result<PathBuf> {
    workspace::run(workspace::cargo().args(["build", "--package", "helix"]))?;
    let mut metadata = workspace::cargo();
    metadata.args(["metadata", "--format-version", "1", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&workspace::output(&mut metadata)?)?;
    let target = metadata.get("target_directory").and_then(Value::as_str).context("cargo names no directory")?;
    Ok(Path::new(target).join("debug/helix"))
}
