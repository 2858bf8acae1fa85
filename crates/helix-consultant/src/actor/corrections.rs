//! Reply enforcement within a turn: has answers looked at, has the same agent session mend them, and keeps the best.
//!
//! Must not know what makes an answer good; `enforce` says that. A correction is a run of the same turn, so that queue, Stop and
//! restart treat it like any other.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use helix_agents::SessionRef;
use helix_core::ids::{AgentSessionId, RunId};
use helix_core::run::{Outcome, Retry as Verdict};
use helix_core::step_marker::split;
use helix_job::ErrorView;
use helix_job::session::{SessionEvent, TurnView};

use super::super::enforce::{
    AnswerAttempt, AnswerAttempts, CheckedFiles, CorrectionScope, Evidence, Examined, NextStep, Retry, examine,
};
use super::super::{ParentSelector, Purpose, SessionSelector, TurnEvent, TurnRequest, turn_error};
use super::{ActiveTurn, RunReport, SessionActor};
use tokio_util::sync::CancellationToken;

/// What stands between an answer that the user has seen and the one that replaces it.
const REPLACES: &str = "\n\n---\n\n";

/// A run of the turn and what it left.
pub(super) type FinishedRun = (RunId, RunReport);

/// An answer that was enforced.
pub(super) struct Enforced {
    /// The report of the turn: the best answer with the evidence of its run.
    pub(super) report: RunReport,
    /// What the user is told below it, if it is not in order.
    pub(super) note: Option<String>,
}

impl Enforced {
    fn unchanged(report: RunReport) -> Self {
        Self { report, note: None }
    }
}

/// The turn's answers so far.
struct Corrections {
    attempts: AnswerAttempts,
    /// Reports of the runs whose answers are among the attempts.
    reports: Vec<FinishedRun>,
    /// The last run of all, whose end is the end of the agent's session.
    last: RunReport,
    /// Texts that the user has seen.
    visible: Vec<String>,
}

impl SessionActor {
    /// Looks at the answers of these runs, in their order, and has the last one mended as often as the settings allow. Runs that
    /// are there already (after a restart) are not repeated.
    pub(super) async fn enforce(
        &mut self,
        work: &mut ActiveTurn,
        request: &TurnRequest,
        runs: Vec<FinishedRun>,
    ) -> Enforced {
        let mut runs = VecDeque::from(runs);
        // What came before the first answer (a lost session) was never one.
        while runs.len() > 1 && runs.front().is_some_and(|(_, report)| !is_answer(report)) {
            runs.pop_front();
        }
        let Some((mut run, mut report)) = runs.pop_front() else {
            return Enforced::unchanged(super::lost_report());
        };
        let enforcement = &self.services.config.enforcement;
        if enforcement.validators.is_empty() || !is_answer(&report) {
            work.output.release().await;
            return Enforced::unchanged(runs.pop_back().map_or(report, |(_, last)| last));
        }
        let mut corrections = Corrections {
            attempts: AnswerAttempts::new(enforcement.retries),
            reports: Vec::new(),
            last: report.clone(),
            visible: Vec::new(),
        };
        let (mut wanted, mut trouble) = (CorrectionScope::Answer, None);
        loop {
            let answer = corrections.attempts.answer_of(wanted, &report.answer);
            let examined = match self.examine(&answer).await {
                Ok(examined) => examined,
                Err(why) => {
                    // Nothing is known of this answer: it is shown, and nobody says that it is in order.
                    work.output.release().await;
                    let note = unexamined(&why);
                    let report = RunReport { answer, ..corrections.last };
                    return Enforced { report, note: Some(note) };
                }
            };
            let attempt = AnswerAttempt { run: run.clone(), answer: answer.clone(), examined };
            if let Some(check) = attempt.check() {
                let event = SessionEvent::AnswerChecked { turn: work.turn.clone(), check };
                if let Err(error) = self.record_for(work, event).await {
                    tracing::error!(session = %self.view().id, message = error.message, "a check of an answer is not recorded");
                }
            }
            corrections.reports.push((run.clone(), report.clone()));
            let next = corrections.attempts.add(attempt);
            if let NextStep::Accept = next {
                work.output.release().await;
            }
            // An agent may say its answer only at the end: nothing of it was shown then.
            let shown = !work.output.shown().trim().is_empty();
            if corrections.reports.len() == 1 && shown && !work.output.is_holding() {
                corrections.visible.push(split(&answer).0.to_owned());
            }
            let retry = match next {
                NextStep::Accept | NextStep::Exhausted => break,
                NextStep::Retry(retry) => retry,
            };
            // After a restart its runs are there already, and were asked for.
            if runs.is_empty() && corrections.last.session.is_none() {
                let note = corrections.attempts.note(Some("this agent cannot continue a session"));
                return self.kept(work, corrections, note, None).await;
            }
            work.output.tell(TurnEvent::Status { text: retry.status.clone() }).await;
            match retry.wanted {
                // The answer stands: it may be read while the marker is asked for.
                CorrectionScope::MarkerLine => {
                    work.output.release().await;
                    if !work.output.shown().trim().is_empty() {
                        corrections.visible.push(split(&answer).0.to_owned());
                    }
                }
                CorrectionScope::Answer => work.output.withdraw().await,
            }
            wanted = retry.wanted;
            let again = match runs.pop_front() {
                Some(done) => Ok(done),
                None => self.ask_again(work, request, &retry, &corrections).await,
            };
            if again.is_ok() {
                corrections.attempts.count_asked();
            }
            match again {
                Ok((next_run, next_report)) if is_answer(&next_report) => {
                    (run, report) = (next_run, next_report);
                    corrections.last = report.clone();
                }
                // The answer that is there stays: a correction that fails erases nothing.
                Ok((_, failed)) => {
                    trouble = Some(Outcome::from_facts(&failed.facts));
                    corrections.last = RunReport {
                        session: failed.session.or(corrections.last.session),
                        point: failed.point.or(corrections.last.point),
                        ..failed
                    };
                    break;
                }
                Err(error) => {
                    tracing::warn!(session = %self.view().id, message = error.message, "a correction cannot be asked for");
                    let note = corrections.attempts.note(Some(&error.message));
                    return self.kept(work, corrections, note, None).await;
                }
            }
        }
        let note = match &trouble {
            Some(Outcome::Cancelled) => None,
            Some(outcome) => {
                let why = turn_error::of_outcome(outcome).map(|error| error.message);
                corrections.attempts.note(Some(why.as_deref().unwrap_or("it gave no answer")))
            }
            None => corrections.attempts.note(None),
        };
        self.kept(work, corrections, note, trouble).await
    }

    /// The best answer, shown if it has not been, with the files as it left them.
    async fn kept(
        &self,
        work: &mut ActiveTurn,
        corrections: Corrections,
        note: Option<String>,
        trouble: Option<Outcome>,
    ) -> Enforced {
        let Corrections { attempts, reports, last, visible } = corrections;
        let Some(best) = attempts.best() else { return Enforced::unchanged(last) };
        let text = split(&best.answer).0;
        if work.output.is_holding() && reports.len() == 1 {
            work.output.release().await;
        } else if !visible.iter().any(|seen| seen == text) {
            work.output.withdraw().await;
            if !work.output.shown().trim().is_empty() {
                work.output.tell(TurnEvent::Text { text: REPLACES.to_owned() }).await;
            }
            work.output.tell(TurnEvent::Text { text: text.to_owned() }).await;
        } else {
            work.output.withdraw().await;
        }
        work.output.as_it_comes();
        let (restore, judged) = (attempts.files_to_restore(), attempts.judged_files());
        let directory = PathBuf::from(&self.view().directory);
        let settled = tokio::task::spawn_blocking(move || restore_files(&directory, restore, judged)).await;
        match settled {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(session = %self.view().id, %error, "what was judged is not recorded; it is looked at again");
            }
            Err(error) => tracing::warn!(session = %self.view().id, %error, "what was judged is not recorded"),
        }
        // A turn that was stopped is recorded as stopped, whatever its answer was worth by then.
        let stopped = matches!(trouble, Some(Outcome::Cancelled));
        let evidence = reports.into_iter().find(|(run, _)| *run == best.run).map(|(_, report)| report.facts);
        let facts = evidence.filter(|_| !stopped).unwrap_or_else(|| last.facts.clone());
        let report = RunReport { answer: best.answer.clone(), facts, ..last };
        Enforced { report, note }
    }

    async fn ask_again(
        &self,
        work: &mut ActiveTurn,
        request: &TurnRequest,
        retry: &Retry,
        corrections: &Corrections,
    ) -> Result<FinishedRun, ErrorView> {
        let session: AgentSessionId = corrections
            .last
            .session
            .clone()
            .ok_or_else(|| ErrorView { message: "the agent reported no session to resume".into(), hint: None })?;
        work.output.aside();
        let report = self.run_once(work, request, &retry.prompt, SessionRef::Resume(session)).await?;
        // The last run's own consumption is added at the end of the turn.
        work.usage += corrections.last.usage;
        Ok((RunId::for_turn(&work.turn, work.runs), report))
    }

    async fn examine(&mut self, answer: &str) -> Result<Examined, String> {
        // Tools may have chosen a project meanwhile.
        self.log.reload().await.map_err(|error| helix_core::error_chain(&error))?;
        let evidence = Evidence {
            answer: answer.to_owned(),
            directory: PathBuf::from(&self.view().directory),
            project: self.view().project.clone().map(PathBuf::from),
            skills: self.services.config.skills.clone(),
            config: self.services.config_dir.clone(),
        };
        let validators = self.services.config.enforcement.validators.clone();
        match tokio::task::spawn_blocking(move || examine(&validators, &evidence)).await {
            Ok(Ok(examined)) => Ok(examined),
            Ok(Err(error)) => Err(helix_core::error_chain(&error)),
            Err(error) => Err(format!("the check ended early: {error}")),
        }
    }

    /// The request of a turn that a former host began, as far as a correction needs it.
    pub(super) fn recovered_request(&self, turn: &TurnView) -> TurnRequest {
        TurnRequest {
            session: SessionSelector::Id(self.view().id.clone()),
            owner: self.view().owner.clone(),
            parent: ParentSelector::Latest,
            purpose: Purpose::Answer,
            message: turn.begin.message.clone(),
            words: turn.begin.message.clone(),
            uploads: Vec::new(),
            history: Vec::new(),
            client: turn.begin.client.clone(),
            system: turn.begin.system.clone(),
            model: turn.begin.model.clone(),
            disconnected: CancellationToken::new(),
        }
    }
}

fn is_answer(report: &RunReport) -> bool {
    Outcome::from_facts(&report.facts).retry() == Verdict::Accept && !report.answer.trim().is_empty()
}

fn unexamined(why: &str) -> String {
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    format!(
        "> [!CAUTION]\n> **Helix:** This answer could not be checked: {why}.\n>\n> Make sure that the session's directory is readable; \
         `helix doctor` examines the state directory.\n"
    )
}

/// Puts files back as the best answer left them, and notes what was judged.
fn restore_files(
    directory: &Path,
    restore: Vec<(PathBuf, Vec<u8>)>,
    judged: Vec<(PathBuf, Vec<u8>)>,
) -> std::io::Result<()> {
    for (path, content) in restore {
        // Only what was read there before, and never through a link that came meanwhile.
        let parent = path.parent().unwrap_or(directory);
        let mut file = tempfile::NamedTempFile::new_in(parent)?;
        std::io::Write::write_all(&mut file, &content)?;
        file.persist(&path).map_err(|error| error.error)?;
    }
    if judged.is_empty() { Ok(()) } else { CheckedFiles::beside(directory).accept_all(judged) }
}
