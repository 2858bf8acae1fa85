//! Whether the tests decide: where some of them expect other values, those have to fail, and no others.
//!
//! Must not say what a test should expect. The measure is what the same tests do with the code that was there when the job began.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use helix_core::finding::Finding;
use helix_core::ids::{CommitId, TreeId};
use helix_git::VariantFile;
use helix_plan::Switch;

use super::proof::LEAST_LIMIT;
use super::work::{Work, test_files};
use super::{Tested, Testing};
use crate::GateContext;
use crate::baseline::{Before, Since};
use crate::checkout::blocking;
use crate::code::{Code, Expecting, TestFile, expecting_else};
use crate::judgement::{Judgement, Trouble, finding};
use crate::sources::{Question, Sources};
use crate::test_run::TestRun;

/// Most tests that are named.
const NAMED: usize = 5;

/// Trees in which some tests expect other values.
struct Altered {
    result: CommitId,
    /// Where the job began, with the same changes to the tests that the job has left alone; `None` where there are none.
    origin: Option<(CommitId, TreeId)>,
    /// The own names of these tests.
    tests: BTreeSet<String>,
    /// Of those in files that the job has changed.
    of_job: BTreeSet<String>,
}

/// What the tests came to: as they are and altered, now and where the job began.
struct Runs<'r> {
    now: &'r TestRun,
    altered: &'r TestRun,
    then: Option<&'r TestRun>,
    altered_then: Option<&'r TestRun>,
}

impl Testing<'_> {
    /// Findings of tests that pass whatever they expect, and of tests that fail because others have changed.
    pub(super) async fn undecided(
        &self,
        work: &Work,
        tested: &Tested,
        before: &[Before],
    ) -> Result<Option<Judgement>, Trouble> {
        let Some(now) = tested.run.as_ref().filter(|_| self.gate.control != Switch::Off) else { return Ok(None) };
        let (context, of) = (self.context.clone(), work.clone());
        let Some(altered) = blocking(move || altered(&context, &of)).await?? else { return Ok(None) };
        let then = before.iter().find(|before| before.since != Since::Phase).and_then(Before::tests);
        let altered_then = match (&altered.origin, then) {
            (Some((commit, tree)), Some(_)) => {
                let cache = self.cache().await;
                cache.measured(self, (commit, tree), ".origin-other").await?.baseline.run
            }
            _ => None,
        };
        let limit = self.limit.min(LEAST_LIMIT.max(tested.checked.run.took * 3));
        let mut found = Vec::new();
        // What fails now and then shows itself the second time.
        for suffix in [".other", ".other-again"] {
            let run = self.altered_run(&altered.result, suffix, limit).await?;
            found = findings(
                &Runs { now, altered: &run, then, altered_then: altered_then.as_ref() },
                &altered.tests,
                &altered.of_job,
            );
            if found.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(Judgement::of(found, "the tests do not decide".into(), Vec::new())))
    }

    async fn altered_run(&self, commit: &CommitId, suffix: &str, limit: Duration) -> Result<TestRun, Trouble> {
        Ok(self.run_variant(commit, suffix, limit).await?.run.unwrap_or_default())
    }
}

/// Makes every other test that can expect another value expect one. Which half nobody can foresee, and each file with such a test has a
/// blank line more: code that knows its tests' files does not know these.
fn altered(context: &GateContext, work: &Work) -> Result<Option<Altered>, Trouble> {
    let (files, origin) = (context.files()?, context.files_at(&context.origin)?);
    let of_sources: Vec<Code> = work.sources.iter().filter_map(|path| Code::of_path(path)).collect();
    let mut sources = Sources::of(context);
    let mut found: Vec<(TestFile, Vec<Expecting>)> = Vec::new();
    for code in Code::ALL.into_iter().filter(|code| of_sources.iter().any(|of| of.is_tested_with(*code))) {
        for file in test_files(context, code)? {
            let tests: Vec<Expecting> =
                sources.ask(&file.path, &Question::Expecting { code, source: file.source.as_str().into() })?;
            if !tests.is_empty() {
                found.push((file, tests));
            }
        }
    }
    let all: usize = found.iter().map(|(_, tests)| tests.len()).sum();
    let mut turn = if all > 1 { RandomState::new().hash_one(()) % 2 } else { 1 };
    let (mut now, mut then) = (BTreeMap::new(), BTreeMap::new());
    let (mut names, mut of_job) = (BTreeSet::new(), BTreeSet::new());
    for (TestFile { path, source, .. }, tests) in found {
        let Some(entry) = files.get(&path) else { continue };
        let chosen: Vec<&Expecting> = tests
            .iter()
            .filter(|_| {
                turn += 1;
                turn % 2 == 0
            })
            .collect();
        let text = expecting_else(&source, chosen.iter().copied()) + "\n";
        let edit = VariantFile::Written(entry.kind, text.into_bytes());
        names.extend(chosen.iter().map(|test| test.test.clone()));
        if origin.get(&path).is_some_and(|former| former.object == entry.object) {
            then.insert(path.clone(), edit.clone());
        } else {
            of_job.extend(chosen.iter().map(|test| test.test.clone()));
        }
        now.insert(path, edit);
    }
    if names.is_empty() {
        return Ok(None);
    }
    let repository = context.repository();
    let result = repository.variant(&context.result.commit, &now)?;
    let origin = match then.is_empty() {
        true => None,
        false => {
            let commit = repository.variant(&context.origin, &then)?;
            let tree = repository.commit(commit.as_str())?.tree;
            Some((commit, tree))
        }
    };
    Ok(Some(Altered { result, origin, tests: names, of_job }))
}

/// `tests` are the own names of the altered tests, `of_job` of those that the job has written or changed.
fn findings(runs: &Runs<'_>, tests: &BTreeSet<String>, of_job: &BTreeSet<String>) -> Vec<Finding> {
    let Runs { now, altered, then, altered_then } = runs;
    let failed = |run: &TestRun, name: &str| run.failures.iter().any(|failure| failure.name == name);
    let is_one_of = |name: &str, tests: &BTreeSet<String>| tests.iter().any(|test| name.contains(test.as_str()));
    // Without names, what did not fail has passed if as many tests ran.
    let passed = |name: &str| {
        altered.passed.contains(name)
            || altered.passed.is_empty() && altered.total() == now.total() && !failed(altered, name)
    };
    let noticed: Vec<&str> = (altered_then.iter().flat_map(|run| &run.failures))
        .map(|failure| failure.name.as_str())
        .filter(|name| !then.is_some_and(|then| failed(then, name)))
        .collect();
    let mut undecided: Vec<&str> = noticed.iter().copied().filter(|name| passed(name)).collect();
    // Where nothing of then can show it, none of those that ran may have failed.
    let unknown = if altered_then.is_none_or(|run| run.counts.passed == 0) { tests } else { of_job };
    if undecided.is_empty() && altered.counts.failed == 0 && altered.counts.passed >= now.counts.passed {
        undecided.extend(now.passed.iter().map(String::as_str).filter(|name| is_one_of(name, unknown)));
    }
    let mut found = Vec::new();
    if !undecided.is_empty() {
        let message = format!(
            "tests also pass where they expect other values ({}): the code is equal to more than it answers, knows its tests, or decides in their \
             place",
            listed(&undecided)
        );
        let fix = "let the code answer what is right and nothing else; if these tests cannot be asked so, the plan sets `control: off` in this gate";
        found.push(finding("tests.undecided", message).fix(fix));
    }
    let aware: Vec<&str> = (altered.failures.iter().map(|failure| failure.name.as_str()))
        .filter(|name| altered_then.is_some_and(|run| run.passed.contains(*name)) && !is_one_of(name, of_job))
        .collect();
    let nothing_ran = altered.total() == 0 && altered_then.is_some_and(|run| run.total() > 0);
    if nothing_ran || !aware.is_empty() {
        let which = if nothing_ran { "no test runs".to_owned() } else { format!("tests fail ({})", listed(&aware)) };
        let message = format!("{which} where other tests expect other values, as they did not when the job began: the code looks at its tests");
        let fix = "let the code do the same whatever its tests say";
        found.push(finding("tests.aware", message).fix(fix));
    }
    found
}

fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
#[path = "deciding_test.rs"]
mod tests;
