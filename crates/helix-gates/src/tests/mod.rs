//! `tests_pass`: the test command exits 0, tests really ran, nothing is worse than before the job and before the phase, and the tests
//! notice when the phase's code answers nonsense.
//!
//! Must not take a runner's exit code alone for proof: without counts there is no pass, and neither is there one where the tests could
//! not have failed.

mod audit;
mod deciding;
mod former;
mod judge;
mod mutation;
mod proof;
mod rebound;
mod report;
mod seeing;
mod work;

use std::sync::Arc;
use std::time::Duration;

use helix_core::finding::{FaultKind, Finding, Verdict};
use helix_core::ids::CommitId;
use helix_core::said::Words;
use helix_language::recorded;
use helix_plan::{Taken, TestsGate};

use super::GateContext;
use super::baseline::{Baseline, Before, Cache, Measure, Measured, baselines};
use super::checkout::{Check, Checked, KILLED, blocking, run_on, words};
use super::command::{as_submitted, run_notes};
use super::definition::{Purpose, WorkOf};
use super::judgement::{Judgement, Trouble, fault, finding};
use super::output::{Counted, Runner};
use super::sources::{Question, Sources};
use super::test_run::TestRun;
pub use audit::{FaultSort, NoFaults, PlantedFault, planted_faults};
use helix_process::CommandEnd;
pub(super) use mutation::mutation;
use report::{Asked, asked};

/// A test command on its way to an answer.
pub(super) struct Testing<'a> {
    context: &'a Arc<GateContext>,
    gate: &'a TestsGate,
    asked: Asked,
    limit: Duration,
}

/// A run of it.
struct Tested {
    checked: Checked,
    run: Option<TestRun>,
    /// Why its counts are not to be believed.
    doubt: Option<Words>,
}

impl Tested {
    /// Whether as many tests pass as in another run, and nothing is worse: the tests saw no difference.
    fn is_as_good_as(&self, other: &Self) -> bool {
        let counts = |tested: &Self| tested.run.as_ref().map(|run| run.counts).unwrap_or_default();
        let (mine, others) = (counts(self), counts(other));
        self.checked.run.end == other.checked.run.end
            && mine.passed >= others.passed
            && mine.failed <= others.failed
            && mine.passed > 0
    }
}

/// In which files tests may ask less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excused {
    Nothing,
    /// In those that the plan names by their whole path.
    Named,
    /// In all that an output covers.
    Claimed,
}

/// Tests that assert less than they did: findings, and notes of what the plan allows.
///
/// Results put together are asked, too: a phase without such a gate was not asked what it did to the tests. What others did to them on
/// their branch is theirs.
pub(super) async fn weaker_tests(
    context: &Arc<GateContext>,
    excused: Excused,
) -> Result<(Vec<Finding>, Vec<Words>), Trouble> {
    if context.claims.of == WorkOf::Branch {
        return Ok((Vec::new(), Vec::new()));
    }
    let of = context.clone();
    let excused = if context.claims.weaker_tests { Excused::Claimed } else { excused };
    blocking(move || work::weaker_tests(&of, excused)).await?
}

/// What became of tests that a command may have run without anybody seeing it. What the plan names is the phase's to change.
pub(super) async fn unseen_tests(context: &Arc<GateContext>, judged: Judgement) -> Result<Judgement, Trouble> {
    let (weaker, told) = weaker_tests(context, Excused::Named).await?;
    Ok(judged.with_findings(weaker).with_notes(told))
}

pub(super) async fn tests_pass(context: &Arc<GateContext>, gate: &TestsGate) -> Result<Judgement, Trouble> {
    let argv = words(&gate.command)?;
    let mut notes = as_submitted(context, Purpose::Tests, [gate.command.as_str()]).await?;
    let excused = if gate.weaker_tests == Taken::Note { Excused::Claimed } else { Excused::Nothing };
    let (weaker, told) = weaker_tests(context, excused).await?;
    notes.extend(told);
    let testing = Testing::new(context, gate, &argv);
    let tested = testing.run(&context.result.commit, "").await?;
    notes.extend(run_notes(&tested.checked.run));
    if let Some(fault) = tested.checked.fault() {
        return Err(Judgement::faulted(fault).with_command(tested.checked.evidence).with_notes(notes).into());
    }
    let (judgement, before) = testing.judged(&tested).await?;
    let failed = matches!(&judgement.verdict, Verdict::Fail { findings } if findings.iter().any(|found| found.rule.starts_with("tests.")));
    let (judgement, tested) = match failed {
        true => testing.once_more(tested, judgement, &before).await?,
        false => (judgement, tested),
    };
    let judgement = match &judgement.verdict {
        Verdict::Pass if weaker.is_empty() && context.claims.of != WorkOf::Branch => {
            testing.proved(&tested, &before, judgement).await?
        }
        Verdict::Pass | Verdict::Fail { .. } | Verdict::Inconclusive { .. } => judgement,
    };
    let tests = tested.run.as_ref().map(|run| run.counts);
    let judgement = Judgement { tests, ..judgement.with_findings(weaker) };
    Ok(judgement.with_command(tested.checked.evidence).with_notes(notes))
}

impl<'a> Testing<'a> {
    pub(super) fn new(context: &'a Arc<GateContext>, gate: &'a TestsGate, argv: &[String]) -> Self {
        let options = context.environment.get("PYTEST_ADDOPTS").map(str::to_owned);
        Self { context, gate, asked: asked(argv, options.as_deref()), limit: gate.timeout.duration() }
    }

    pub(super) async fn cache(&self) -> Cache {
        Cache::of(self.context, "tests", &self.asked.argv).await
    }

    /// Runs the command on a commit; `suffix` tells the runs of one gate apart.
    async fn run(&self, commit: &CommitId, suffix: &str) -> Result<Tested, Trouble> {
        self.run_with(commit, suffix, self.limit, &[]).await
    }

    /// Runs it on another form of the result. What was killed from outside shows nothing of the difference.
    async fn run_variant(&self, commit: &CommitId, suffix: &str, limit: Duration) -> Result<Tested, Trouble> {
        let tested = self.run_with(commit, suffix, limit, &[]).await?;
        match tested.checked.fault.clone() {
            Some(fault) if tested.checked.run.end == CommandEnd::Signalled(KILLED) => Err(fault.into()),
            _ => Ok(tested),
        }
    }

    async fn run_with(
        &self,
        commit: &CommitId,
        suffix: &str,
        limit: Duration,
        with: &[String],
    ) -> Result<Tested, Trouble> {
        let Asked { argv, variables, report, runner } = &self.asked;
        let check = Check { argv, limit, suffix, variables, report: report.as_deref(), with };
        let checked = run_on(self.context, commit, check).await?;
        let (checked, Counted { run, doubt }) = read_run(self.context, checked, *runner).await?;
        Ok(Tested { checked, run, doubt })
    }

    /// The answer of a run, and what the same command gives where the job started and where the phase did.
    async fn judged(&self, tested: &Tested) -> Result<(Judgement, Vec<Before>), Trouble> {
        let context = self.context;
        if let Some(doubt) = &tested.doubt {
            let fault = fault(FaultKind::Unreadable, doubt.clone());
            return Ok((Judgement::faulted(fault), Vec::new()));
        }
        let cache = self.cache().await;
        let now = Baseline::of_tests(tested.checked.run.end, tested.run.clone());
        // What this phase's result is, the next phase's base will be: a job pays for each tree once.
        cache.store(&context.result.tree, &now).await;
        let before = match now.run.as_ref().is_some_and(|run| run.total() > 0) {
            true => baselines(context, &cache, &now, self).await?,
            false => Vec::new(),
        };
        Ok((self.judgement(tested, &before), before))
    }

    fn judgement(&self, Tested { checked, run, .. }: &Tested, before: &[Before]) -> Judgement {
        let TestsGate { command, known_failures, .. } = self.gate;
        judge::judge(command, &checked.run, &checked.output, run.as_ref(), before, known_failures)
    }

    /// Runs failed tests again: those that pass then are flaky, and say nothing about the work. The judgement, and the run that it is of.
    async fn once_more(
        &self,
        first: Tested,
        judgement: Judgement,
        before: &[Before],
    ) -> Result<(Judgement, Tested), Trouble> {
        let Some(failed) = first.run.as_ref().filter(|run| run.counts.failed > 0) else {
            return Ok((judgement, first));
        };
        let again = self.run(&self.context.result.commit, ".again").await?;
        let second = self.judgement(&again, before);
        let passes = again.doubt.is_none() && matches!(second.verdict, Verdict::Pass);
        if !passes || again.run.as_ref().is_none_or(|run| run.total() < failed.total()) {
            return Ok((judgement, first));
        }
        let names: Vec<&str> = failed.failures.iter().take(5).map(|failure| failure.name.as_str()).collect();
        let message = recorded!("gate-flaky", tests = names.join(", "));
        if self.gate.flaky == Taken::Note {
            return Ok((second.with_notes([message]), again));
        }
        let changed = &self.context.result.changed;
        let of_phase = failed.failures.iter().filter_map(|failure| failure.file.as_ref());
        let own = of_phase.into_iter().find(|file| changed.iter().any(|changed| &changed.path == *file));
        if let Some(file) = own {
            let found = finding("tests.flaky", message).at(file, None, None);
            return Ok((Judgement::of(vec![found], recorded!("gate-flaky-own"), judgement.notes), first));
        }
        let fault = fault(FaultKind::Flaky, recorded!("gate-flaky-fault", why = message));
        Ok((Judgement::faulted(fault).with_notes(judgement.notes), first))
    }
}

impl Measured for Testing<'_> {
    async fn measure(&self, commit: &CommitId, suffix: &str, with: &[String]) -> Result<Measure, Trouble> {
        let measured = async {
            let tested = self.run_with(commit, suffix, self.limit, with).await?;
            let fault = tested.checked.fault();
            let baseline = Baseline::of_tests(tested.checked.run.end, tested.run);
            Ok(Measure { fault, output: Some(tested.checked.output).filter(|_| !baseline.is_good()), baseline })
        };
        Measure::begun(measured.await)
    }
}

/// Reads a run that has ended: its output and report are the work of what is tested.
pub(super) async fn read_run(
    context: &Arc<GateContext>,
    checked: Checked,
    runner: Runner,
) -> Result<(Checked, Counted), Trouble> {
    let context = context.clone();
    blocking(move || {
        let asked = Question::TestRun {
            runner,
            has_ended: matches!(checked.run.end, CommandEnd::Exited(0 | 1)),
            output: checked.output.as_str().into(),
            report: checked.report.as_deref().map(Into::into),
        };
        let counted = Sources::of(&context).ask(recorded!("gate-tests-output"), &asked)?;
        Ok((checked, counted))
    })
    .await?
}
