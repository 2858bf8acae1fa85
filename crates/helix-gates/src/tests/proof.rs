//! What else has to hold where tests pass: that they could have failed, and that the phase's own files decided.
//!
//! Must not judge failures: here all tests pass.

use std::collections::BTreeSet;
use std::time::Duration;

use helix_core::finding::{Fault, FaultKind};
use helix_plan::{Switch, Taken};

use super::work::{Nonsense, Work};
use super::{Tested, Testing};
use crate::baseline::Before;
use crate::checkout::blocking;
use crate::definition::WorkOf;
use crate::judgement::{Judgement, Trouble, finding};
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
        let fix = "undo these changes and make the tests pass by what the phase claims; if they are needed, the plan must claim them";
        let mut found = Vec::new();
        for path in &work.strays {
            let message = format!("the tests pass only with the change to {path}, which no output of the phase claims");
            found.push(finding("tests.unclaimed", message).at(path, None, None).fix(fix));
        }
        Ok(Some(Judgement::of(
            found,
            "the tests pass only with changes that the phase does not claim".into(),
            Vec::new(),
        )))
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
            notes.push(format!(
                "no function in {} could be made to answer nonsense, so nothing shows what the tests see",
                named(&work.sources)
            ));
            return Ok(Control::Seen(notes));
        };
        let limit = self.limit.min(LEAST_LIMIT.max(tested.checked.run.took * 3));
        let nonsense = self.run_variant(&commit, ".control", limit).await?;
        let unseen = |kind, message: String, hint: &str| {
            Control::Unseen(Box::new(Judgement::faulted(Fault {
                kind,
                message,
                hint: Some(hint.to_owned()),
                said: None,
            })))
        };
        let total = |tested: &Tested| tested.run.as_ref().map_or(0, TestRun::total);
        if total(&nonsense) == 0 && did_not_compile(&nonsense.checked.output) {
            let message = format!(
                "{} could not be compiled with nonsense in the functions, so nothing shows what the tests see",
                named(&files)
            );
            let hint = "look at the output of this run (`.control.log`); the plan may set `control: off` in this gate";
            return Ok(unseen(FaultKind::Unreadable, message, hint));
        }
        if nonsense.is_as_good_as(tested) {
            let message = format!(
                "the tests also pass with nonsense in every function of {}: they do not test this work",
                named(&files)
            );
            let hint = "write tests that call these functions and compare what comes of it; if this command is about something else, \
                        the plan sets `control: off` in this gate";
            return Ok(unseen(FaultKind::NothingChecked, message, hint));
        }
        let still_pass = nonsense.run.as_ref().is_some_and(|run| new.is_subset(&run.passed));
        if new_functions && !new.is_empty() && still_pass {
            let names: Vec<String> = new.iter().take(5).cloned().collect();
            let message = format!(
                "all {} new tests ({}) also pass with nonsense in every function of {}: they do not test this work",
                new.len(),
                names.join(", "),
                named(&files)
            );
            let hint = "let the new tests call what the phase wrote and compare what comes of it; if they are about something else, \
                        the plan sets `control: off` in this gate";
            return Ok(unseen(FaultKind::NothingChecked, message, hint));
        }
        let passed = nonsense.run.as_ref().map_or(0, |run| run.counts.passed);
        notes.push(format!(
            "with nonsense in every function of {}, {passed} of {} tests pass: the tests see this work",
            named(&files),
            total(tested)
        ));
        Ok(Control::Seen(notes))
    }

    /// New tests on the code as it was: those that pass there show nothing that the phase did.
    async fn new_tests_before(
        &self,
        work: &Work,
        tested: &Tested,
        before: &[Before],
        new: &BTreeSet<String>,
        notes: &mut Vec<String>,
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
        let which = match (all, names.is_empty()) {
            (true, _) => "all new tests pass".to_owned(),
            (false, _) => format!("{} of {} new tests ({}) pass", passing.len(), new.len(), names.join(", ")),
        };
        let message = format!("{which} with the code as it was before the phase, too: they do not show what it did");
        if strict || all {
            let fix = "write tests that fail without the phase's work and pass with it";
            let found = finding("tests.not_new", message).fix(fix);
            return Ok(Some(Judgement::of(vec![found], "the new tests do not test what is new".into(), Vec::new())));
        }
        notes.push(message);
        Ok(None)
    }
}

/// What came of the run with nonsense.
enum Control {
    /// The tests saw it, or there was nothing to see: notes on that.
    Seen(Vec<String>),
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
pub(super) fn named(files: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = files.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if files.len() > SHOWN { format!("{shown} and {} more", files.len() - SHOWN) } else { shown }
}
