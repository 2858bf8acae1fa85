//! Helix's own pages in the browser, with a host whose agent follows a script, and a project with a decision and plans.
//!
//! Must not know what is clicked or seen: `e2e/pages.mjs` does.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context;
use helix_testkit::locate::workspace_binary;
use helix_testkit::project::{Language, Project, git};
use helix_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use super::helix::end;
use crate::{setup, workspace};

/// What the part is called in `--only`.
pub(super) const NAME: &str = "pages";

/// Pictures that `docs/` shows.
const SHOWN: [&str; 7] = [
    "pages-board.png",
    "pages-board-dark.png",
    "pages-job.png",
    "pages-changes.png",
    "pages-evidence.png",
    "pages-phone.png",
    "pages-decision.png",
];

const PLANS: [(&str, &str); 4] = [
    (
        "discount",
        "name: Discounts on the basket
adr: adr/001-discounts.md
phases:
  - { id: rounding, name: Decide the rounding, type: documentation, description: Say how a discounted price becomes whole cents, outputs: [docs/rounding.md] }
  - id: discount
    name: Write the discount
    type: development
    description: Make baskets cheaper by a percentage
    depends_on: [rounding]
    outputs: [shop/discount.py, tests/test_discount.py]
    gates:
      - { type: syntax_check }
      - { type: tests_pass, command: python3 -m unittest -v }
  - id: page
    name: Page for customers
    type: documentation
    description: Tell customers about it
    depends_on: [rounding]
    outputs: [docs/discount.md]
    approval: after
",
    ),
    ("receipt", "name: Receipt\nphases:\n  - { id: receipt, name: Print a receipt, type: documentation, description: Put all items on paper, outputs: [docs/receipt.md] }\n"),
    ("labels", "name: Labels in German\nphases:\n  - { id: labels, name: Translate the labels, type: documentation, description: Say all labels in German, outputs: [docs/labels.md] }\n"),
    (
        "export",
        "name: Export of prices\ndefaults: { max_attempts: 1 }\nphases:\n  - { id: export, name: Export the prices, type: documentation, description: Give prices away as a file, outputs: [docs/export.md], on_failure: fail }\n",
    ),
];

const ADR: &str = include_str!("../../../e2e/pages-adr.md");

/// Lets the browser go through the pages.
pub(super) fn run(program: &Path, chromium: &Path, results: &Path, document: bool) -> anyhow::Result<()> {
    setup::install_browser()?;
    workspace::run(workspace::cargo().args(["build", "--package", "helix-testkit", "--bin", "helix-fake-agent"]))?;
    let sandbox = Sandbox::new()?;
    let (shared, repo) = (sandbox.path().join("shared"), prepare(&sandbox)?);
    let script = sandbox.path().join("agent.yaml");
    let said = std::fs::read_to_string(workspace::root().join("e2e/pages.yaml"))?;
    std::fs::write(&script, said.replace("{shared}", &shared.display().to_string()))?;
    let counts = sandbox.path().join("agent.yaml.state");
    for directory in [&shared, &counts, &sandbox.home().join(".config/helix")] {
        std::fs::create_dir_all(directory)?;
    }
    let command = json!([workspace_binary("helix-fake-agent")?, "--fake-script", script]);
    let settings = format!(
        "[defaults]\nagent = \"fake\"\n\n[agents.fake]\ndialect = \"claude\"\ncommand = {command}\n\n[sandbox]\nwritable = [{counts:?}, {shared:?}]\n"
    );
    std::fs::write(sandbox.home().join(".config/helix/helix.toml"), settings)?;

    let log = results.join("pages-helix.log");
    let mut host = sandbox.command(program);
    host.args(["serve", "--json", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
    host.stderr(File::create(&log).with_context(|| format!("cannot create {}", log.display()))?);
    let mut host = host.spawn().with_context(|| format!("cannot start {}", program.display()))?;
    let driven = (|| {
        let mut line = String::new();
        BufReader::new(host.stdout.take().context("its output is not readable")?).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line).with_context(|| format!("see {}", log.display()))?;
        let place = json!({
            "helix": ready["url"], "program": program, "repo": repo, "shared": shared,
            "packages": setup::directory().join("browser"), "chromium": chromium,
            "profile": sandbox.path().join("browser"), "pictures": results,
        });
        let mut node = sandbox.command("node");
        node.arg(workspace::root().join("e2e/pages.mjs")).env("HELIX_E2E", place.to_string());
        workspace::run(&mut node)
    })();
    end(&mut host);
    driven.with_context(|| {
        format!("not everything was as it should be; pictures and logs are in {}", results.display())
    })?;
    for picture in SHOWN.iter().filter(|_| document) {
        let shown = workspace::root().join("docs/images").join(picture);
        std::fs::copy(results.join(picture), &shown).with_context(|| format!("cannot write {}", shown.display()))?;
    }
    Ok(())
}

/// A repository with a decision and plans.
fn prepare(sandbox: &Sandbox) -> anyhow::Result<PathBuf> {
    let repo = sandbox.project("shop", Project::healthy(Language::Python))?;
    let plans = PLANS.map(|(name, plan)| (format!("plans/{name}/phases.yaml"), plan));
    for (path, text) in plans.into_iter().chain([("adr/001-discounts.md".to_owned(), ADR)]) {
        let path = repo.join(path);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    for arguments in [["add", "-A"].as_slice(), &["commit", "-qm", "Plans"]] {
        git(&repo, sandbox.environment(), arguments)?;
    }
    Ok(repo)
}
