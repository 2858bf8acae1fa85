//! What else has to hold where tests pass: that they could have failed, and that the phase's own files decided.
//!
//! Must not judge failures: here all tests pass.

use std::collections::BTreeSet;
use std::time::Duration;

use helix_core::finding::FaultKind;
use helix_core::said::Words;
use helix_language::recorded;
use helix_plan::{Switch, Taken};

use super::work::{Nonsense, Work};
use super::{Tested, Testing};
use crate::baseline::Before;
use crate::checkout::blocking;
use crate::definition::WorkOf;
use crate::judgement::{Judgement, Trouble, fault, finding};
use crate::test_run::TestRun;

/// Least time limit of the run with nonsense: nonsense may loop for ever, but a machine may be busy.
pub(super) const LEAST_LIMIT: Duration = Duration::from_secs(60);

impl Testing<'_> {
    /// Asks of a pass what it is worth.
    pub(super) async fn proved(
        &self,
        tested: &Tested,
        before: &[Before],
        pass: Judgement,
    ) -> Result<Judgement, Trouble> {
        let (context, command) = (self.context.clone(), self.gate.command.clone());
        let work = blocking(move || Work::of(&context, &command)).await??;
        let mut notes = Vec::new();
        if let Some(judgement) = self.with_claims_alone(&work, tested).await? {
            return Ok(judgement);
        }
        // What is new in each phase, its own gates have asked: here it is the work of several.
        let alone = self.context.claims.of == WorkOf::Phase;
        let new = if alone { new_tests(tested.run.as_ref(), before) } else { BTreeSet::new() };
        match self.control(&work, tested, &new).await? {
            Control::Seen(told) => notes.extend(told),
            Control::Unseen(judgement) => return Ok(*judgement),
        }
        if let Some(judgement) = self.seen_through(&work, tested).await? {
            return Ok(judgement);
        }
        if let Some(judgement) = self.undecided(&work, tested, before).await? {
            return Ok(judgement);
        }
        if let Some(judgement) = self.former_tests(tested, before, &mut notes).await? {
            return Ok(judgement);
        }
        if alone && let Some(judgement) = self.new_tests_before(&work, tested, before, &new, &mut notes).await? {
            return Ok(judgement);
        }
        Ok(pass.with_notes(notes))
    }

    /// The result without what no claim is about: tests that pass only with that were helped.
    async fn with_claims_alone(&self, work: &Work, tested: &Tested) -> Result<Option<Judgement>, Trouble> {
        if work.strays.is_empty() {
            return Ok(None);
        }
        let (context, of) = (self.context.clone(), work.clone());
        let commit = blocking(move || of.without_strays(&context)).await??;
        let alone = self.run_variant(&commit, ".claims", self.limit).await?;
        let failed = alone.run.as_ref().map(|run| run.counts.failed);
        if alone.checked.run.end == tested.checked.run.end && failed <= tested.run.as_ref().map(|run| run.counts.failed)
        {
            return Ok(None);
        }
        let mut found = Vec::new();
        for path in &work.strays {
            found.push(finding("tests.unclaimed", recorded!("gate-unclaimed", path = path)).at(path, None, None));
        }
        Ok(Some(Judgement::of(found, recorded!("gate-unclaimed-changes"), Vec::new())))
    }

    /// The result with nonsense in its functions: tests that pass there, too, prove nothing.
    async fn control(&self, work: &Work, tested: &Tested, new: &BTreeSet<String>) -> Result<Control, Trouble> {
        if self.gate.control == Switch::Off || work.sources.is_empty() {
            return Ok(Control::Seen(Vec::new()));
        }
        let (context, of) = (self.context.clone(), work.clone());
        let Nonsense { commit, files, new_functions, unread: mut notes } =
            blocking(move || of.control(&context)).await??;
        let Some(commit) = commit else {
            notes.push(recorded!("gate-control-none", files = named(&work.sources)));
            return Ok(Control::Seen(notes));
        };
        let limit = self.limit.min(LEAST_LIMIT.max(tested.checked.run.took * 3));
        let nonsense = self.run_variant(&commit, ".control", limit).await?;
        let unseen = |kind, message| Control::Unseen(Box::new(Judgement::faulted(fault(kind, message))));
        let total = |tested: &Tested| tested.run.as_ref().map_or(0, TestRun::total);
        if total(&nonsense) == 0 && did_not_compile(&nonsense.checked.output) {
            return Ok(unseen(FaultKind::Unreadable, recorded!("gate-control-unbuilt", files = named(&files))));
        }
        if nonsense.is_as_good_as(tested) {
            return Ok(unseen(FaultKind::NothingChecked, recorded!("gate-control-unseen", files = named(&files))));
        }
        let still_pass = nonsense.run.as_ref().is_some_and(|run| new.is_subset(&run.passed));
        if new_functions && !new.is_empty() && still_pass {
            let names: Vec<String> = new.iter().take(5).cloned().collect();
            let message =
                recorded!("gate-control-new", tests = new.len(), names = names.join(", "), files = named(&files));
            return Ok(unseen(FaultKind::NothingChecked, message));
        }
        let passed = nonsense.run.as_ref().map_or(0, |run| run.counts.passed);
        let (files, tests) = (named(&files), total(tested));
        notes.push(recorded!("gate-control-seen", files = files, passed = passed, tests = tests));
        Ok(Control::Seen(notes))
    }

    /// New tests on the code as it was: those that pass there show nothing that the phase did.
    async fn new_tests_before(
        &self,
        work: &Work,
        tested: &Tested,
        before: &[Before],
        new: &BTreeSet<String>,
        notes: &mut Vec<Words>,
    ) -> Result<Option<Judgement>, Trouble> {
        let strict = self.gate.new_tests == Taken::Finding;
        let had = before.iter().filter_map(Before::tests).map(TestRun::total).max().unwrap_or(0);
        let total = tested.run.as_ref().map_or(0, TestRun::total);
        let adds = !new.is_empty() || total > had;
        let by_phase =
            work.sources.iter().any(|path| self.context.result.changed.iter().any(|file| &file.path == path));
        if work.tests.is_empty() || !adds || !by_phase || (!strict && !work.adds_source) {
            return Ok(None);
        }
        let (context, of) = (self.context.clone(), work.clone());
        let commit = blocking(move || of.without_sources(&context)).await??;
        let former = self.run_variant(&commit, ".before", self.limit).await?;
        let passing: BTreeSet<&String> = match &former.run {
            Some(run) if former.doubt.is_none() => new.intersection(&run.passed).collect(),
            _ => BTreeSet::new(),
        };
        // Without names: all tests of now pass with the code of then.
        let all = if new.is_empty() { former.is_as_good_as(tested) } else { passing.len() == new.len() };
        if !all && passing.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = passing.iter().take(5).map(|name| (*name).clone()).collect();
        let names = names.join(", ");
        let message = match all {
            true => recorded!("gate-not-new"),
            false => recorded!("gate-not-new-some", passing = passing.len(), tests = new.len(), names = names),
        };
        if strict || all {
            let found = finding("tests.not_new", message);
            return Ok(Some(Judgement::of(vec![found], recorded!("gate-not-new-tests"), Vec::new())));
        }
        notes.push(message);
        Ok(None)
    }
}

/// What came of the run with nonsense.
enum Control {
    /// The tests saw it, or there was nothing to see: notes on that.
    Seen(Vec<Words>),
    /// They did not, or nothing shows it.
    Unseen(Box<Judgement>),
}

/// Tests that pass now and were not there before, where their names are known.
fn new_tests(run: Option<&TestRun>, before: &[Before]) -> BTreeSet<String> {
    let Some(run) = run else { return BTreeSet::new() };
    let mut known: BTreeSet<&String> = BTreeSet::new();
    for tests in before.iter().filter_map(Before::tests) {
        if tests.counts.passed > 0 && tests.passed.is_empty() {
            return BTreeSet::new();
        }
        known.extend(&tests.passed);
        known.extend(tests.failures.iter().map(|failure| &failure.name));
    }
    run.passed.iter().filter(|name| !known.contains(name)).cloned().collect()
}

pub(super) fn did_not_compile(output: &str) -> bool {
    ["could not compile", "[build failed]", "error TS", "[setup failed]"].iter().any(|text| output.contains(text))
}

/// Files or tests for a sentence.
pub(super) fn named(files: &[String]) -> Words {
    const SHOWN: usize = 5;
    let shown = Words::from(files.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", "));
    let more = files.len().saturating_sub(SHOWN);
    if more > 0 { shown.and(" ").and(recorded!("and-more", more = more)) } else { shown }
}
