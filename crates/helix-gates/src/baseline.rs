//! What the command of a gate gave on a tree, kept in the state directory so that no tree is checked twice for comparison: neither by
//! the gates of a job nor by the preflight before it.
//!
//! Must not decide anything with it. A cache that cannot be read or written costs time, never an answer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use helix_core::error_chain;
use helix_core::finding::Fault;
use helix_core::ids::{CommitId, TreeId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::GateContext;
use super::checkout::blocking;
use super::judgement::Trouble;
use super::test_run::TestRun;
use helix_git::GitError;
use helix_process::{CommandEnd, WITHIN_RUN_VARIABLE, replace_file};

/// What a command gave on a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Baseline {
    pub(crate) end: BaselineEnd,
    /// The tests that ran, of a command whose tests are counted.
    pub(crate) run: Option<TestRun>,
    /// What any other command printed.
    #[serde(default, skip_serializing_if = "Lines::is_empty")]
    pub(crate) said: Lines,
    /// Whether it lacks files of the user's work tree, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lacks: Option<Lacks>,
}

/// Ignored files of the user's work tree that a command needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lacks {
    /// Which files there were to be tried, as a digest.
    pub(crate) of: String,
    pub(crate) names: Vec<String>,
}

impl Baseline {
    pub(crate) fn of_tests(end: CommandEnd, run: Option<TestRun>) -> Self {
        Self { end: BaselineEnd::Ran(end), run, said: Lines::default(), lacks: None }
    }

    pub(crate) fn of_command(end: CommandEnd, output: &str) -> Self {
        Self { end: BaselineEnd::Ran(end), run: None, said: Lines::of(output), lacks: None }
    }

    /// Whether nothing is wrong there; 5 is pytest's own code for "no tests collected".
    pub(crate) fn is_good(&self) -> bool {
        let failed = self.run.as_ref().map_or(0, |run| run.counts.failed);
        failed == 0 && matches!(self.end, BaselineEnd::Ran(CommandEnd::Exited(0 | 5)))
    }

    /// Whether the same command got on better than in another run: more tests pass and none is worse, or it ends well at last.
    pub(crate) fn is_better_than(&self, other: &Self) -> bool {
        let failed = |one: &Self| one.run.as_ref().map_or(0, |run| run.counts.failed);
        let passed = |one: &Self| one.run.as_ref().map_or(0, |run| run.counts.passed);
        let ends_well = |one: &Self| one.end == BaselineEnd::Ran(CommandEnd::Exited(0));
        match &self.run {
            Some(run) if run.total() > 0 => {
                passed(self) > passed(other) && (failed(self) <= failed(other) || passed(other) == 0)
            }
            Some(_) | None => ends_well(self) && !ends_well(other) && passed(other) == 0,
        }
    }
}

/// The lines of an output without their numbers, as digests, each with how often it came: what a linter finds in the same code twice is
/// the same, wherever the code has moved meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lines(BTreeMap<String, u32>);

impl Lines {
    /// More lines than this are not told apart.
    const MOST: usize = 20_000;

    fn of(output: &str) -> Self {
        let mut all = BTreeMap::new();
        for line in output.lines().take(Self::MOST) {
            *all.entry(Self::digest(line)).or_insert(0_u32) += 1;
        }
        Self(all)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn digest(line: &str) -> String {
        let mut plain = String::with_capacity(line.len());
        for c in line.trim().chars() {
            match c {
                '0'..='9' if plain.ends_with('0') => {}
                '0'..='9' => plain.push('0'),
                other => plain.push(other),
            }
        }
        format!("{:x}", Sha256::digest(plain)).chars().take(16).collect()
    }

    /// The lines of an output that did not come as often before.
    pub(crate) fn new_in<'o>(&self, output: &'o str) -> Vec<&'o str> {
        let mut left = self.0.clone();
        let is_new = |line: &&str| match left.get_mut(&Self::digest(line)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            Some(_) | None => !line.trim().is_empty(),
        };
        output.lines().filter(is_new).collect()
    }
}

/// Where a baseline was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// Where the job started.
    Job,
    /// Where the phase started.
    Phase,
    /// Both started from the same tree.
    Both,
}

impl Since {
    /// For messages: before what.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Phase | Self::Both => "phase",
        }
    }
}

/// A baseline with its place.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    pub(crate) since: Since,
    pub(crate) baseline: Baseline,
}

impl Before {
    /// The tests that ran there, if any did.
    pub(crate) fn tests(&self) -> Option<&TestRun> {
        self.baseline.run.as_ref().filter(|run| run.total() > 0)
    }

    /// Whether a test failed there.
    pub(crate) fn failed(&self, name: &str) -> bool {
        self.tests().is_some_and(|run| run.failures.iter().any(|failure| failure.name == name))
    }
}

/// How the command ended there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BaselineEnd {
    Ran(CommandEnd),
    NotRun(String),
}

impl BaselineEnd {
    /// Whether the same would come out the next time.
    fn lasts(&self) -> bool {
        matches!(self, Self::Ran(end) if end.lasts())
    }
}

/// A command that can be run on any commit to see what it gives there.
pub(crate) trait Measured {
    /// Runs it on a commit, with these ignored files of the user's work tree in the checkout. `suffix` tells the runs of one gate apart.
    async fn measure(&self, commit: &CommitId, suffix: &str, with: &[String]) -> Result<Measure, Trouble>;
}

/// What came of a run.
pub(crate) struct Measure {
    pub(crate) baseline: Baseline,
    /// What kept it from checking anything.
    pub(crate) fault: Option<Fault>,
    /// What it printed, where it ran and failed.
    pub(crate) output: Option<String>,
}

impl Measure {
    /// What a run gave that may not have begun: a tree may lack the very program that a phase adds.
    pub(crate) fn begun(found: Result<Self, Trouble>) -> Result<Self, Trouble> {
        match found {
            Err(Trouble::Command(error)) => {
                tracing::info!(%error, "the command does not run there");
                let end = BaselineEnd::NotRun(error.to_string());
                let baseline = Baseline { end, run: None, said: Lines::default(), lacks: None };
                Ok(Self { baseline, fault: Some(error.fault()), output: None })
            }
            other => other,
        }
    }
}

/// What a command gives where the job started and where the phase did.
pub(crate) async fn baselines(
    context: &GateContext,
    cache: &Cache,
    now: &Baseline,
    command: &impl Measured,
) -> Result<Vec<Before>, Trouble> {
    let (job, phase) = {
        let (spaces, origin, base) = (context.spaces.clone(), context.origin.clone(), context.base.clone());
        blocking(move || {
            let tree = |commit: &CommitId| spaces.repository().commit(commit.as_str()).map(|commit| commit.tree);
            Ok::<_, GitError>((tree(&origin)?, tree(&base)?))
        })
        .await??
    };
    let places = match job == phase {
        true => vec![(Since::Both, &context.base, phase)],
        false => vec![(Since::Job, &context.origin, job), (Since::Phase, &context.base, phase)],
    };
    let mut before = Vec::new();
    for (since, commit, tree) in places {
        // A phase that changed nothing has left what there was: this very run shows it.
        let baseline = match tree == context.result.tree {
            true => now.clone(),
            false => {
                let suffix = if since == Since::Job { ".origin" } else { ".base" };
                cache.measured(command, (commit, &tree), suffix).await?.baseline
            }
        };
        before.push(Before { since, baseline });
    }
    Ok(before)
}

/// Version of the readers: a cache written by other readers is not used.
const READERS: &str = "5";

/// The cache for one command in one environment: in another one the same tests may fail for want of a package. Files of LFS and of
/// submodules are part of it: a tree names them, and the user may fetch them later.
pub(crate) struct Cache {
    directory: PathBuf,
    command: String,
}

impl Cache {
    /// `kind` tells apart what is read of the same command's output.
    pub(crate) async fn of(context: &Arc<GateContext>, kind: &str, argv: &[String]) -> Self {
        let own = Arc::clone(context);
        let digests = blocking(move || (own.workspace.digest(&own.spaces), own.spaces.digest_of_named()));
        // What cannot be told is told apart by its error.
        let (workspace, named) = match digests.await {
            Ok((workspace, named)) => (workspace, named.unwrap_or_else(|error| error_chain(&error))),
            Err(_) => Default::default(),
        };
        let mut hash = Sha256::new();
        let own = |name: &str| name.starts_with("HELIX_") || name == WITHIN_RUN_VARIABLE;
        let variables = context.environment.iter().filter(|(name, _)| !own(name));
        let variables = variables.flat_map(|(name, value)| [name, value]);
        for part in [kind, &workspace, &named].into_iter().chain(argv.iter().map(String::as_str)).chain(variables) {
            hash.update(format!("{}\0{part}\0", part.len()));
        }
        Self { directory: context.baselines.clone(), command: format!("{:x}", hash.finalize()) }
    }

    fn path(&self, tree: &TreeId) -> PathBuf {
        let digest = Sha256::digest(format!("{READERS}\0{tree}\0{}", self.command));
        self.directory.join(format!("{digest:x}.json"))
    }

    pub(crate) async fn load(&self, tree: &TreeId) -> Option<Baseline> {
        let bytes = tokio::fs::read(self.path(tree)).await.ok()?;
        serde_json::from_slice(&bytes).inspect_err(|error| tracing::warn!(%error, "a cached baseline is damaged")).ok()
    }

    /// What the command gives on a commit, without running it if its tree is known.
    pub(crate) async fn measured(
        &self,
        command: &impl Measured,
        (commit, tree): (&CommitId, &TreeId),
        suffix: &str,
    ) -> Result<Measure, Trouble> {
        let nothing = async |_: &Measure| Ok(None);
        let measured = self.measured_unless(command, (commit, tree), suffix, nothing).await?;
        measured.map_err(Trouble::from)
    }

    /// The same, and what its surroundings lacked if it ran and failed: such a run is not kept, so that the next one asks again.
    pub(crate) async fn measured_unless(
        &self,
        command: &impl Measured,
        (commit, tree): (&CommitId, &TreeId),
        suffix: &str,
        lacked: impl AsyncFnOnce(&Measure) -> Result<Option<Fault>, Trouble>,
    ) -> Result<Result<Measure, Fault>, Trouble> {
        if let Some(baseline) = self.load(tree).await {
            return Ok(Ok(Measure { baseline, fault: None, output: None }));
        }
        let found = command.measure(commit, suffix, &[]).await?;
        if let Some(fault) = lacked(&found).await? {
            return Ok(Err(fault));
        }
        self.store(tree, &found.baseline).await;
        Ok(Ok(found))
    }

    /// Keeps what a tree gave. Of two runs of one tree the better one stays: a test that fails now and then is no old failure.
    pub(crate) async fn store(&self, tree: &TreeId, baseline: &Baseline) {
        let failed = |baseline: &Baseline| baseline.run.as_ref().map_or(u32::MAX, |run| run.counts.failed);
        let known = self.load(tree).await;
        let is_no_better = known.is_some_and(|known| failed(&known) <= failed(baseline));
        if baseline.end.lasts() && !is_no_better {
            self.replace(tree, baseline).await;
        }
    }

    /// Keeps what is known of a tree in the place of what was, if it lasts.
    pub(crate) async fn replace(&self, tree: &TreeId, baseline: &Baseline) {
        if !baseline.end.lasts() {
            return;
        }
        if let Err(trouble) = self.write(self.path(tree), baseline).await {
            tracing::warn!(%trouble, "a baseline could not be cached; it will be run again");
        }
    }

    async fn write(&self, path: PathBuf, baseline: &Baseline) -> Result<(), Trouble> {
        let broken = |error: &dyn std::error::Error| Trouble::Broken(error_chain(error).into());
        let bytes = serde_json::to_vec(baseline).map_err(|error| broken(&error))?;
        tokio::fs::create_dir_all(&self.directory).await.map_err(|error| broken(&error))?;
        blocking(move || replace_file(&path, &bytes)).await?.map_err(|error| broken(&error))
    }
}

#[cfg(test)]
#[path = "baseline_test.rs"]
mod tests;
