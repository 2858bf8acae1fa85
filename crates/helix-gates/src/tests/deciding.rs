//! Whether the tests decide: where some of them expect other values, those have to fail, and no others.
//!
//! Must not say what a test should expect. The measure is what the same tests do with the code that was there when the job began.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};

use helix_core::finding::Finding;
use helix_core::ids::{CommitId, TreeId};
use helix_git::VariantFile;
use helix_language::recorded;
use helix_plan::Switch;

use super::proof::{LEAST_LIMIT, named};
use super::work::{Work, source_of, test_files};
use super::{Tested, Testing};
use crate::GateContext;
use crate::baseline::{Before, Since};
use crate::checkout::blocking;
use crate::code::{Code, Expecting, TestFile, expecting_else};
use crate::judgement::{Judgement, Trouble, finding};
use crate::sources::{Question, Sources};
use crate::test_run::TestRun;

/// Trees in which some tests expect other values.
struct Altered {
    result: CommitId,
    /// The result and where the job began, with the changes to the tests that the job has left alone; `None` where there are none.
    alone: Option<Alone>,
    names: AlteredTests,
}

struct Alone {
    result: CommitId,
    origin: (CommitId, TreeId),
}

/// The own names of tests, of which half expect other values.
#[derive(Default)]
struct AlteredTests {
    /// Those that the job has written or changed.
    of_job: BTreeSet<String>,
    /// All whose assertions are of a known form.
    certain: BTreeSet<String>,
    /// Of the other half, those that the job has left alone.
    kept: BTreeSet<String>,
    /// Those that expected other values where the job began, and of which nothing is asked now.
    spared: BTreeSet<String>,
    /// Those of a name that no other test has, with an assertion that a value equals a constant: each has to notice.
    exact: BTreeSet<String>,
}

/// What is wrong with the tests of an altered tree.
#[derive(Default, PartialEq, Eq)]
struct Seen {
    /// Tests that pass whatever they expect.
    undecided: Vec<String>,
    /// Tests that are as they were and fail.
    aware: Vec<String>,
    /// Whether no test ran, though tests did where the job began.
    has_ended_early: bool,
}

/// What the tests came to: as they are, and where the job began, there also altered.
struct Runs<'r> {
    now: &'r TestRun,
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
        let Some(Altered { result, alone, names }) = blocking(move || altered(&context, &of)).await?? else {
            return Ok(None);
        };
        let then = before.iter().find(|before| before.since != Since::Phase).and_then(Before::tests);
        let altered_then = match (&alone, then) {
            (Some(Alone { origin: (commit, tree), .. }), Some(_)) => {
                let cache = self.cache().await;
                cache.measured(self, (commit, tree), ".origin-other").await?.baseline.run
            }
            _ => None,
        };
        let limit = self.limit.min(LEAST_LIMIT.max(tested.checked.run.took * 3));
        let altered = async |commit: &CommitId, suffix: &str| {
            Ok::<_, Trouble>(self.run_variant(commit, suffix, limit).await?.run.unwrap_or_default())
        };
        let runs = Runs { now, then, altered_then: altered_then.as_ref() };
        let run = altered(&result, ".other").await?;
        let mut seen = vec![(&result, runs.seen(&run, &names), names)];
        // A test of the job that fails, or does not compile, may take others with it: what those do alone counts.
        if let (Some(Alone { result, .. }), [(_, first, names)]) = (&alone, &mut seen[..])
            && (first.has_ended_early || !first.aware.is_empty())
        {
            *first = Seen { undecided: std::mem::take(&mut first.undecided), ..Seen::default() };
            let spared = names.of_job.clone();
            let names = AlteredTests { kept: names.kept.clone(), spared, ..AlteredTests::default() };
            let run = altered(result, ".other-alone").await?;
            seen.push((result, runs.seen(&run, &names), names));
        }
        let mut all = Seen::default();
        for (commit, first, names) in seen.into_iter().filter(|(_, first, _)| *first != Seen::default()) {
            // What fails now and then shows itself the second time.
            let again = runs.seen(&altered(commit, ".other-again").await?, &names);
            all.undecided.extend(again.undecided.into_iter().filter(|name| first.undecided.contains(name)));
            if first.has_ended_early || !first.aware.is_empty() {
                all.aware.extend(again.aware);
                all.has_ended_early |= first.has_ended_early && again.has_ended_early;
            }
        }
        let found = all.findings();
        Ok((!found.is_empty()).then(|| Judgement::of(found, recorded!("gate-not-deciding"), Vec::new())))
    }
}

/// Makes every other test that can expect another value expect one. Which half nobody can foresee, and each file with such a test has a
/// blank line more: code that knows its tests' files does not know these.
fn altered(context: &GateContext, work: &Work) -> Result<Option<Altered>, Trouble> {
    let (files, origin) = (context.files()?, context.files_at(&context.origin)?);
    let of_sources: Vec<Code> = work.sources.iter().filter_map(|path| Code::of_path(path)).collect();
    let mut sources = Sources::of(context);
    let mut found: Vec<(TestFile, Vec<Expecting>)> = Vec::new();
    let mut expecting = |code: Code, path: &str, source: &str| -> Result<Vec<Expecting>, Trouble> {
        sources.ask(path, &Question::Expecting(code, source.into()))
    };
    for code in Code::ALL.into_iter().filter(|code| of_sources.iter().any(|of| of.is_tested_with(*code))) {
        for file in test_files(context, code)? {
            let tests = expecting(code, &file.path, &file.source)?;
            if !tests.is_empty() {
                found.push((file, tests));
            }
        }
    }
    let mut of_name = HashMap::<String, usize>::new();
    for (_, tests) in &found {
        tests.iter().for_each(|test| *of_name.entry(test.test.clone()).or_default() += 1);
    }
    let all: usize = of_name.values().sum();
    let mut turn = if all > 1 { RandomState::new().hash_one(()) % 2 } else { 1 };
    let (mut now, mut alone, mut then) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut names = AlteredTests::default();
    for (TestFile { path, code, source }, tests) in found {
        let Some(entry) = files.get(&path) else { continue };
        let edit = |all: &mut BTreeMap<_, _>, kind, source: &str, tests: &[&Expecting]| {
            let text = expecting_else(source, tests.iter().copied()) + "\n";
            all.insert(path.clone(), VariantFile::Written(kind, text.into_bytes()));
        };
        let (chosen, others): (Vec<&Expecting>, Vec<&Expecting>) = tests.iter().partition(|_| {
            turn += 1;
            turn % 2 == 0
        });
        edit(&mut now, entry.kind, &source, &chosen);
        names.certain.extend(chosen.iter().filter(|test| test.is_certain).map(|test| test.test.clone()));
        let exact = chosen.iter().filter(|test| test.is_exact && of_name.get(&test.test) == Some(&1));
        names.exact.extend(exact.map(|test| test.test.clone()));
        let former = match origin.get(&path) {
            Some(former) if former.object == entry.object => Some((former.kind, source.clone(), tests.clone())),
            _ => match source_of(context, &origin, &path)? {
                Some((kind, source)) => expecting(code, &path, &source).map(|tests| Some((kind, source, tests)))?,
                None => None,
            },
        };
        let Some((kind, former, tests)) = former else {
            names.of_job.extend(chosen.into_iter().map(|test| test.test.clone()));
            continue;
        };
        let (same, of_job): (Vec<&Expecting>, Vec<&Expecting>) =
            chosen.into_iter().partition(|test| tests.iter().any(|former| former.is(test)));
        edit(&mut alone, entry.kind, &source, &same);
        let same: Vec<&Expecting> = tests.iter().filter(|former| same.iter().any(|test| test.is(former))).collect();
        edit(&mut then, kind, &former, &same);
        names.of_job.extend(of_job.into_iter().map(|test| test.test.clone()));
        let kept = others.into_iter().filter(|test| tests.iter().any(|former| former.is(test)));
        names.kept.extend(kept.map(|test| test.test.clone()));
    }
    if now.is_empty() {
        return Ok(None);
    }
    let repository = context.repository();
    let result = repository.variant(&context.result.commit, &now)?;
    let alone = match then.is_empty() {
        true => None,
        false => {
            let origin = repository.variant(&context.origin, &then)?;
            let tree = repository.commit(origin.as_str())?.tree;
            Some(Alone { result: repository.variant(&context.result.commit, &alone)?, origin: (origin, tree) })
        }
    };
    Ok(Some(Altered { result, alone, names }))
}

impl Runs<'_> {
    fn seen(&self, altered: &TestRun, names: &AlteredTests) -> Seen {
        Seen {
            undecided: self.undecided(altered, names),
            aware: self.aware(altered, names),
            has_ended_early: self.has_ended_early(altered),
        }
    }

    fn undecided(&self, altered: &TestRun, names: &AlteredTests) -> Vec<String> {
        let Self { now, then, altered_then } = self;
        let (failed, passed, failed_then) =
            (Names::failed(Some(altered)), Names::passed(Some(altered)), Names::failed(*then));
        // Without names, what did not fail has passed if as many tests ran.
        let unnamed = altered.passed.is_empty() && altered.total() == now.total();
        let mut found = failures(*altered_then);
        found.retain(|name| !failed_then.has(name) && !failed.has(name) && (unnamed || passed.has(name)));
        found.retain(|name| !names.spared.iter().any(|test| is_of(name, test)));
        // Those that failed then, and those that are new.
        let passed_then = Names::passed(*then);
        let asked = names.exact.iter().filter(|test| then.is_some() || names.of_job.contains(*test));
        found.extend(asked.filter(|test| passed.has(test) && !failed.has(test) && !passed_then.has(test)).cloned());
        if found.is_empty() && altered.counts.failed == 0 && altered.counts.passed >= now.counts.passed {
            // Where nothing of then can show it, none of those that ran may have failed.
            let is_known = altered_then.is_some_and(|run| run.counts.passed > 0);
            let asked = |test: &&String| !is_known || names.of_job.contains(*test);
            let asked: Vec<&String> = names.certain.iter().filter(asked).collect();
            found.extend(now.passed.iter().filter(|name| asked.iter().any(|test| is_of(name, test))).cloned());
        }
        found
    }

    fn aware(&self, altered: &TestRun, names: &AlteredTests) -> Vec<String> {
        let (failed, passed) = (Names::failed(self.altered_then), Names::passed(self.altered_then));
        let mut found = failures(Some(altered));
        // Without names, those are known that could have been altered.
        let unnamed = self.altered_then.is_some_and(|run| run.passed.is_empty() && run.total() > 0);
        found.retain(|name| {
            let was_there = passed.has(name) || unnamed && names.kept.iter().any(|test| is_of(name, test));
            was_there && !failed.has(name) && !names.of_job.iter().any(|test| is_of(name, test))
        });
        found
    }

    fn has_ended_early(&self, altered: &TestRun) -> bool {
        altered.total() == 0 && self.altered_then.is_some_and(|run| run.total() > 0)
    }
}

impl Seen {
    fn findings(&self) -> Vec<Finding> {
        let Self { undecided, aware, has_ended_early } = self;
        let mut found = Vec::new();
        if !undecided.is_empty() {
            found.push(finding("tests.undecided", recorded!("gate-undecided", tests = named(undecided))));
        }
        if *has_ended_early || !aware.is_empty() {
            let message = match has_ended_early {
                true => recorded!("gate-aware-ended"),
                false => recorded!("gate-aware", tests = named(aware)),
            };
            found.push(finding("tests.aware", message));
        }
        found
    }
}

pub(super) fn failures(run: Option<&TestRun>) -> Vec<String> {
    run.into_iter().flat_map(|run| &run.failures).map(|failure| failure.name.clone()).collect()
}

/// Whether a runner's name is that of a test, with or without parameters.
fn is_of(name: &str, test: &str) -> bool {
    let name = Names::plain(name);
    let without = name.split('[').next().unwrap_or(&name);
    [name.as_str(), without]
        .into_iter()
        .any(|name| name.strip_suffix(test).is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', ' '])))
}

/// Names of tests. Runners write those of failed ones otherwise than those in their reports: with or without the file, and with other
/// marks between the parts.
#[derive(Default)]
pub(super) struct Names {
    by_last_part: HashMap<String, Vec<String>>,
}

impl Names {
    pub(super) fn failed(run: Option<&TestRun>) -> Self {
        Self::new(run.into_iter().flat_map(|run| &run.failures).map(|failure| failure.name.as_str()))
    }

    fn passed(run: Option<&TestRun>) -> Self {
        Self::new(run.into_iter().flat_map(|run| &run.passed).map(String::as_str))
    }

    pub(super) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut all = Self::default();
        for name in names {
            let name = Self::plain(name);
            all.by_last_part.entry(Self::last_part(&name).to_owned()).or_default().push(name);
        }
        all
    }

    fn plain(name: &str) -> String {
        let inner = name.split_once(" (").and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
        inner.replace(".py::", ".").replace("::", ".").replace('/', ".")
    }

    fn last_part(plain: &str) -> &str {
        plain.rsplit('.').next().unwrap_or(plain)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        let name = Self::plain(name);
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let alike = self.by_last_part.get(Self::last_part(&name));
        alike.into_iter().flatten().any(|known| ends(known, &name) || ends(&name, known))
    }
}

#[cfg(test)]
#[path = "deciding_test.rs"]
mod tests;
