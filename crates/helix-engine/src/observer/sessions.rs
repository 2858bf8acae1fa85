//! Failures of sessions: of turns, and of answers whose faults were not fixed; a turn that succeeded shows what is gone.
//!
//! Must not decide anything: the turn's outcome follows from its facts alone.

use std::collections::BTreeSet;

use helix_consultant::Validator;
use helix_core::finding::Finding;
use helix_core::ids::RunId;
use helix_core::run::{Outcome, Retry, RunFacts};
use helix_failure::event::FailureEvent;
use helix_failure::memory::{Work, check};
use helix_job::session::{SessionView, TurnView};
use jiff::Timestamp;

use super::{Observer, resolved};
use crate::failures::{AttemptSite, FailureContext};

/// What a failed turn says something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The provider and the agent: any later answer of the same model shows that they work again.
    Provider,
    /// This message: only an answer to the same message shows that it can be answered.
    Message,
}

impl About {
    fn from_outcome(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::RateLimited { .. }
            | Outcome::Overloaded { .. }
            | Outcome::Credentials { .. }
            | Outcome::Unstarted { .. }
            | Outcome::Misconfigured
            | Outcome::NoRecord
            | Outcome::Interrupted
            | Outcome::Lost => Self::Provider,
            Outcome::Completed(_)
            | Outcome::CompletedWithDenials(_)
            | Outcome::TasksLost { .. }
            | Outcome::LocalCommand
            | Outcome::Truncated { .. }
            | Outcome::Incomplete { .. }
            | Outcome::StoppedByHook
            | Outcome::Cancelled
            | Outcome::TimedOut
            | Outcome::Stalled
            | Outcome::Stuck { .. }
            | Outcome::ContextOverflow
            | Outcome::LimitReached { .. }
            | Outcome::Refused
            | Outcome::Failed(_) => Self::Message,
        }
    }

    /// The check's name: the same in two turns if the later one shows what became of the earlier one's failure.
    fn check(self, turn: &TurnView) -> String {
        match (self, &turn.begin.model) {
            (Self::Provider, None) => check::RUN.to_owned(),
            // Another model has its own limits and may be down by itself.
            (Self::Provider, Some(model)) => format!("{}/{model}", check::RUN),
            (Self::Message, _) => check::message(turn.begin.asked.as_str()),
        }
    }
}

impl Observer {
    /// Remembers what became of a turn, and says what to note in its session.
    pub(super) async fn turn_finished(
        &self,
        session: &SessionView,
        turn: &TurnView,
        facts: &RunFacts,
        at: Timestamp,
    ) -> Vec<FailureEvent> {
        let (outcome, findings) = (Outcome::from_facts(facts), turn.unfixed());
        let site = site(session, turn);
        let mut notes = Vec::new();
        if outcome.retry() == Retry::Accept {
            // Only what looked again is resolved.
            let mut passed = vec![About::Provider.check(turn), About::Message.check(turn)];
            let found = |name: &String| findings.iter().any(|one| check::answer(&one.validator) == *name);
            let validators = self.validators.iter().map(|one| check::answer(one));
            passed.extend(validators.filter(|name| !found(name)));
            notes.extend(resolved(&self.failures.attempt_ended(site.answer(passed, at)).await.resolved));
        }
        let mut validators: BTreeSet<&str> = findings.iter().map(|one| one.validator.as_str()).collect();
        // An observation, no failure: nothing depends on it.
        validators.remove(Validator::StepMarker.word());
        for validator in validators {
            let of_it = findings.iter().filter(|one| one.validator == validator);
            let found: Vec<Finding> = of_it.map(|one| one.finding.clone()).collect();
            let context = FailureContext::of_findings(&site, &check::answer(validator), &found, at);
            notes.extend(self.failures.record(context).await.events());
        }
        let profile = self.services.runner.profile(&session.agent);
        let dialect = profile.map_or("", |profile| profile.dialect.word());
        if let Some(mut context) = FailureContext::of_run(&site, dialect, facts, at) {
            context.place.check = About::from_outcome(&outcome).check(turn);
            notes.extend(self.failures.record(context).await.events());
        }
        notes
    }
}

fn site(session: &SessionView, turn: &TurnView) -> AttemptSite {
    let runs = turn.end.as_ref().map_or(0, |end| end.runs);
    let work = Work::Session { session: session.id.clone() };
    let mut site = AttemptSite::new(session.project.clone().unwrap_or_default(), work, turn.number);
    site.report_place.goal = turn.begin.message.clone();
    site.place.agent = session.agent.clone();
    site.place.run = (runs > 0).then(|| RunId::for_turn(&turn.id, runs));
    site
}
