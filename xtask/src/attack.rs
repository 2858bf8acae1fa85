//! `cargo xtask attack`: attacks Helix as an agent, a test, a cloned repository or another user of the machine would, and says
//! which attacks Helix held.
//!
//! Must not know any attack: the files in `attacks/` do. An attack whose script did not come to its decisive step says
//! nothing about Helix, so it is never counted as held.

mod book;
mod ground;
mod report;
mod trial;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, bail};

use crate::{setup, workspace};
use book::{Attack, Book};
use ground::Ground;
use report::Row;
use trial::{Trial, Verdict};

/// How many attacks are tried at a time.
const AT_ONCE: usize = 2;

/// What to try, and on what.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only attacks whose class or name contains this, or one of these with commas between them
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Takes this `helix` instead of building one; `helix-fake-agent` and `helix-scripted-model` must lie beside it
    #[arg(long, value_name = "FILE")]
    helix: Option<PathBuf>,
    /// Only the attacks that CI tries, in less than a minute
    #[arg(long)]
    reduced: bool,
    /// Lists the attacks and tries none
    #[arg(long)]
    list: bool,
    /// Prints one JSON object for each attack instead of the tables
    #[arg(long)]
    json: bool,
    /// Keeps the directory of each attack, to look at what happened
    #[arg(long)]
    keep: bool,
}

/// Tries the attacks; an error unless Helix held all of them.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let book = Book::load(&workspace::root().join("attacks"))?;
    let parts: Vec<&str> = options.only.iter().flat_map(|parts| parts.split(',')).collect();
    let chosen: Vec<&Attack> = book
        .attacks
        .iter()
        .filter(|attack| !options.reduced || attack.reduced)
        .filter(|attack| parts.is_empty() || parts.iter().any(|part| attack.matches(part)))
        .collect();
    if chosen.is_empty() {
        bail!("no attack matches\nhint: `cargo xtask attack --list` names all of them");
    }
    if options.list {
        report::list(&chosen);
        return Ok(());
    }
    let programs = options.helix.clone().map_or_else(build, |given| std::path::absolute(given).map_err(Into::into))?;
    let ground = Ground::prepare(&book.directory, &programs, &setup::directory(), options.keep)?;
    if !ground.privileged() {
        eprintln!("not root: all attacks run as the present user, and those that need another user cannot be tried");
    }
    let rows = try_all(&ground, &book, &chosen, options.json);
    if !options.json {
        report::table(&rows);
    }
    let held = rows.iter().filter(|row| matches!(row.verdict, Verdict::Held)).count();
    if held < rows.len() {
        let through = rows.iter().filter(|row| matches!(row.verdict, Verdict::Through)).count();
        bail!("{through} of {} attacks got through, {} could not be tried", rows.len(), rows.len() - held - through);
    }
    Ok(())
}

/// Tries the controls of all worlds that are needed, then the attacks, and last, one by one, those that strain the machine.
fn try_all(ground: &Ground, book: &Book, chosen: &[&Attack], json: bool) -> Vec<Row> {
    let controls = book.controls(chosen);
    let unfit: BTreeMap<String, String> = in_parallel(AT_ONCE, controls.iter().enumerate(), |(number, control)| {
        let trial = Trial { ground, attack: &control.attack, number };
        let failure = control.failure(&trial.run().verdict)?;
        Some((control.world.clone(), failure))
    })
    .into_iter()
    .flatten()
    .collect();

    let numbered = chosen.iter().enumerate().map(|(number, attack)| (controls.len() + number, *attack));
    let (alone, together): (Vec<_>, Vec<_>) = numbered.partition(|(_, attack)| attack.alone);
    let one = |(number, attack): (usize, &Attack)| {
        let row = match unfit.get(&attack.world).filter(|_| attack.is_cheat()) {
            Some(why) => Row::untried(attack, why.clone()),
            None => Trial { ground, attack, number }.run(),
        };
        report::line(&row, json);
        row
    };
    let mut rows = in_parallel(AT_ONCE, together.into_iter(), one);
    rows.extend(in_parallel(1, alone.into_iter(), one));
    rows
}

/// Does something for each item, `at_once` at a time; the results are in the order of their ends.
fn in_parallel<T: Send, R: Send>(
    at_once: usize,
    items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let (waiting, done) = (Mutex::new(items.collect::<VecDeque<T>>()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let Some(item) = lock(&waiting).pop_front() else { return };
                    let result = work(item);
                    lock(&done).push(result);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Builds Helix and what plays its agents.
fn build() -> anyhow::Result<PathBuf> {
    workspace::run(workspace::cargo().args(["build", "--package", "helix", "--package", "helix-testkit"]))?;
    let mut metadata = workspace::cargo();
    metadata.args(["metadata", "--format-version", "1", "--no-deps"]);
    let metadata: serde_json::Value = serde_json::from_str(&workspace::output(&mut metadata)?)?;
    let target =
        metadata.get("target_directory").and_then(serde_json::Value::as_str).context("cargo names no directory")?;
    Ok(Path::new(target).join("debug/helix"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        let mut done = in_parallel(3, 0..50, |item| item * 2);
        done.sort_unstable();
        assert_eq!(done, (0..50).map(|item| item * 2).collect::<Vec<_>>());
    }
}
