//! `cargo xtask size`: how many lines of product code there are, by crate and topic.
//!
//! Product code is what stands in `crates/*/src`, without `helix-testkit`, unit tests (`*_test.rs`), comments and blank lines.

use std::collections::BTreeMap;

use anyhow::Context;

use crate::workspace;

/// The crate that exists for tests alone.
const FOR_TESTS: &str = "helix-testkit";
/// Crates and modules that make up failure intelligence.
const FAILURE_PARTS: [&str; 2] = ["failure", "helix-engine/src/observer"];

/// What to show.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Shows crates alone.
    #[arg(long)]
    short: bool,
}

impl Options {
    /// Crates without their topics.
    pub(crate) fn of_crates() -> Self {
        Self { short: true }
    }
}

/// Lines of some files.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Lines {
    /// Neither blank nor a comment.
    code: usize,
    raw: usize,
}

impl std::ops::AddAssign for Lines {
    fn add_assign(&mut self, other: Self) {
        self.code += other.code;
        self.raw += other.raw;
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut git = std::process::Command::new("git");
    git.current_dir(workspace::root()).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "crates"]);
    let listed = workspace::output(&mut git)?;
    let (mut crates, mut topics) = (BTreeMap::<&str, Lines>::new(), BTreeMap::<(&str, &str), Lines>::new());
    let (mut total, mut failures) = (Lines::default(), Lines::default());
    for path in listed.split('\0') {
        let Some((name, topic)) = topic(path) else { continue };
        let file = workspace::root().join(path);
        if !file.is_file() {
            continue;
        }
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {path}"))?;
        let lines = count(&text);
        *crates.entry(name).or_default() += lines;
        *topics.entry((name, topic)).or_default() += lines;
        total += lines;
        if FAILURE_PARTS.iter().any(|part| path.contains(part)) {
            failures += lines;
        }
    }
    println!("{:<34} {:>7} {:>7}", "", "code", "raw");
    for (name, lines) in &crates {
        row(name, *lines);
        if !options.short {
            let own = topics.iter().filter(|((owner, _), _)| owner == name);
            own.for_each(|((_, topic), lines)| row(&format!("  {topic}"), *lines));
        }
    }
    row("failure intelligence", failures);
    row("product code", total);
    Ok(())
}

fn row(name: &str, lines: Lines) {
    println!("{name:<34} {:>7} {:>7}", lines.code, lines.raw);
}

/// The crate of a product file, and its topmost module.
fn topic(path: &str) -> Option<(&str, &str)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let stem = rest.strip_suffix(".rs").filter(|stem| !stem.ends_with("_test"))?;
    (name != FOR_TESTS).then(|| (name, stem.split('/').next().unwrap_or(stem)))
}

fn count(text: &str) -> Lines {
    let code = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    Lines { code, raw: text.lines().count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blanks_do_not_count() {
        assert_eq!(count("//! Doc.\n\nfn f() {\n    // why\n    g();\n}\n"), Lines { code: 3, raw: 6 });
    }

    #[test]
    fn product_files_are_those_of_crates_without_the_testkit() {
        assert_eq!(topic("crates/helix-job/src/state.rs"), Some(("helix-job", "state")));
        assert_eq!(topic("crates/helix/src/commands/run/mod.rs"), Some(("helix", "commands")));
        for other in [
            "crates/helix-testkit/src/lib.rs",
            "crates/helix-job/src/x_test.rs",
            "crates/helix-job/tests/x.rs",
            "xtask/src/a.rs",
        ] {
            assert_eq!(topic(other), None, "{other}");
        }
    }
}
