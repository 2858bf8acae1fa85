//! What failure intelligence does for a conversation: a turn that failed is remembered and reported, one that succeeded shows
//! what has gone away.
//!
//! Must not decide anything: the turn's outcome was decided by its facts.

use std::collections::BTreeSet;

use helix_core::finding::{Fault, FaultKind, Finding};
use helix_core::ids::RunId;
use helix_core::run::{Outcome, Retry, RunFacts};
use helix_failure::Log;
use helix_failure::event::FailureEvent;
use helix_failure::memory::{self as failures, check};
use helix_job::ErrorView;
use helix_job::session::{AnswerFinding, SessionEvent, TurnView};
use jiff::Timestamp;

use super::{ActiveTurn, SessionActor};
use crate::failures::{AttemptEnd, AttemptSite, FailureContext};

/// What a failed turn says something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The way to the model: any later answer on the same way shows that it is open again.
    TheWay,
    /// This message: only an answer to the same message shows that it can be answered.
    TheMessage,
}

impl About {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::RateLimited { .. }
            | Outcome::Overloaded { .. }
            | Outcome::Credentials { .. }
            | Outcome::Unstarted { .. }
            | Outcome::Misconfigured
            | Outcome::Interrupted
            | Outcome::Lost => Self::TheWay,
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
            | Outcome::ContextOverflow
            | Outcome::LimitReached { .. }
            | Outcome::Refused
            | Outcome::Failed(_) => Self::TheMessage,
        }
    }

    /// The name of what looked: the same in two turns if the later one shows what became of the earlier one's failure.
    fn check(self, turn: &TurnView) -> String {
        match (self, &turn.model) {
            (Self::TheWay, None) => check::RUN.to_owned(),
            // Another model has its own limits and may be down by itself.
            (Self::TheWay, Some(model)) => format!("{}/{model}", check::RUN),
            (Self::TheMessage, _) => check::message(turn.asked.as_str()),
        }
    }
}

impl SessionActor {
    /// Remembers what became of a turn's run. Returns the error that the user is shown, with what is known of it from before.
    pub(super) async fn remember_turn(
        &mut self,
        work: &ActiveTurn,
        facts: &RunFacts,
        findings: &[AnswerFinding],
        error: Option<ErrorView>,
    ) -> Option<ErrorView> {
        let Some(turn) = self.turn_of(work) else { return error };
        let (outcome, now) = (Outcome::from_facts(facts), Timestamp::now());
        if outcome.retry() == Retry::Accept {
            self.note_success(work, &turn, findings, now).await;
        }
        self.note_findings(work, &turn, findings, now).await;
        let mut error = error?;
        let site = self.site(work, &turn);
        let name = About::of(&outcome).check(&turn);
        let dialect = self.services.runner.profile(&self.view().agent).map_or("", |profile| profile.dialect.as_str());
        if let Some(mut context) = FailureContext::of_run(&site, dialect, facts, Log::of_texts("", ""), now) {
            context.see_as(&name);
            self.note_failure(context, &name, &site, &mut error).await;
        }
        Some(error)
    }

    /// Remembers that the agent could not be asked at all.
    pub(super) async fn remember_refusal(&mut self, work: &ActiveTurn, mut error: ErrorView) -> ErrorView {
        let Some(turn) = self.turn_of(work) else { return error };
        let site = self.site(work, &turn);
        let name = About::TheWay.check(&turn);
        let fault = Fault { kind: FaultKind::Environment, message: error.message.clone(), hint: error.hint.clone() };
        let context = FailureContext::of_fault(&site, &name, &fault, Timestamp::now());
        self.note_failure(context, &name, &site, &mut error).await;
        error
    }

    /// What an answer's checks found and the agent has not mended: one failure for each check.
    async fn note_findings(&mut self, work: &ActiveTurn, turn: &TurnView, findings: &[AnswerFinding], at: Timestamp) {
        let names: BTreeSet<&str> = findings.iter().map(|one| one.validator.as_str()).collect();
        for validator in names {
            let of_it = findings.iter().filter(|one| one.validator == validator);
            let found: Vec<Finding> = of_it.map(|one| one.finding.clone()).collect();
            let (site, name) = (self.site(work, turn), check::answer(validator));
            let context = FailureContext::of_findings(&site, &name, &found, at);
            let recorded = self.services.failures.record_failure(context).await;
            let artefact = self.services.reports.keep(&recorded, &name, &site).await;
            self.tell_journal(recorded.events(artefact)).await;
        }
    }

    async fn note_failure(&mut self, context: FailureContext, name: &str, site: &AttemptSite, error: &mut ErrorView) {
        let recorded = self.services.failures.record_failure(context).await;
        let artefact = self.services.reports.keep(&recorded, name, site).await;
        self.tell_journal(recorded.events(artefact)).await;
        if let Some(before) = recorded.report.recollection(recorded.seen_before) {
            let hint = error.hint.take().map(|hint| format!("{hint}. ")).unwrap_or_default();
            error.hint = Some(format!("{hint}{before}"));
        }
    }

    /// Only what looked again is resolved: the way to this model, and this very message.
    async fn note_success(&mut self, work: &ActiveTurn, turn: &TurnView, findings: &[AnswerFinding], at: Timestamp) {
        let site = self.site(work, turn);
        let mut passed = vec![About::TheWay.check(turn), About::TheMessage.check(turn)];
        let found = |name: &String| findings.iter().any(|one| check::answer(&one.validator) == *name);
        let validators = self.services.config.enforcement.validators.iter();
        passed.extend(validators.map(|one| check::answer(one.word())).filter(|name| !found(name)));
        let end = AttemptEnd { site, passed, files: Vec::new(), diff: String::new(), at };
        let resolution = self.services.failures.attempt_passed(end).await;
        self.tell_journal(resolution.resolved.iter().filter_map(FailureEvent::suggestion_resolved).collect()).await;
    }

    /// The turn as the record has it; `None` if it could not even be begun.
    fn turn_of(&self, work: &ActiveTurn) -> Option<TurnView> {
        self.view().running().filter(|running| running.id == work.turn).cloned()
    }

    fn site(&self, work: &ActiveTurn, turn: &TurnView) -> AttemptSite {
        AttemptSite {
            project: self.view().project.clone().unwrap_or_default(),
            work: failures::Work::Conversation { session: self.view().id.clone() },
            phase_name: String::new(),
            goal: turn.message.clone(),
            attempt: turn.number,
            max_attempts: None,
            agent: self.view().agent.clone(),
            run: (work.runs > 0).then(|| RunId::for_turn(&work.turn, work.runs)),
            commit: None,
            adr: None,
        }
    }

    async fn tell_journal(&mut self, events: Vec<FailureEvent>) {
        for event in events {
            if let Err(error) = self.record(SessionEvent::Failure(Box::new(event))).await {
                tracing::error!(session = %self.view().id, message = error.message, "a failure is not noted in the conversation");
                return;
            }
        }
    }
}
