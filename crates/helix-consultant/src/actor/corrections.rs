//! Reply enforcement within a turn: has answers looked at, has the same agent session fix them, and keeps the best.
//!
//! Must not know what makes an answer good; `enforce` says that. A correction is a run of the same turn, so that queue, Stop and
//! restart treat it like any other.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use helix_agents::SessionRef;
use helix_core::ids::{AgentSessionId, RunId};
use helix_core::run::{Ending, Outcome, Retry as Verdict};
use helix_core::said::Words;
use helix_core::step_marker::{self, split};
use helix_core::usage::Usage;
use helix_job::session::{AnswerFinding, SessionEvent};
use helix_language::{ErrorView, say};
use tokio_util::sync::CancellationToken;

use super::super::enforce::{
    AnswerAttempt, AnswerAttempts, CheckedAnswer, CheckedFiles, CorrectionScope, Evidence, Examined, examine,
};
use super::super::{TurnEvent, agent_words, phrases};
use super::{ActiveTurn, RunReport, SessionActor};
use helix_process::replace_private;

/// A run of the turn and what it left.
pub(super) type FinishedRun = (RunId, RunReport);

/// An answer that was enforced.
pub(super) struct Enforced {
    /// The report of the turn: the best answer with the evidence of its run.
    pub(super) report: RunReport,
    /// What the user is told below it, if it is not in order.
    pub(super) note: Option<String>,
    /// What was found in it.
    pub(super) unfixed: Vec<AnswerFinding>,
}

impl Enforced {
    pub(super) fn unchanged(report: RunReport) -> Self {
        Self { report, note: None, unfixed: Vec::new() }
    }
}

/// The turn's answers so far.
struct Corrections {
    attempts: AnswerAttempts,
    /// The last run of all, whose end is the end of the agent's session.
    last: RunReport,
    /// Texts that the user has seen.
    visible: Vec<String>,
}

impl SessionActor {
    /// Looks at the answers of these runs, in their order, and has the last one fixed as often as the settings allow. Runs that
    /// are there already (after a restart) are not repeated.
    pub(super) async fn enforce(&mut self, work: &mut ActiveTurn, runs: Vec<FinishedRun>) -> Enforced {
        let mut runs = VecDeque::from(runs);
        // What came before the first answer (a lost session) was never one.
        while runs.len() > 1 && runs.front().is_some_and(|(_, report)| !is_answer(report)) {
            runs.pop_front();
        }
        let Some((mut run, mut report)) = runs.pop_front() else {
            return Enforced::unchanged(super::unrecorded(Ending::Unknown));
        };
        let enforcement = &self.services.config.enforcement;
        if enforcement.is_off() || !is_answer(&report) {
            work.output.release().await;
            return Enforced::unchanged(runs.pop_back().map_or(report, |(_, last)| last));
        }
        let attempts = AnswerAttempts::new(enforcement.retries, work.output.language());
        let mut corrections = Corrections { attempts, last: report.clone(), visible: Vec::new() };
        let mut wanted = CorrectionScope::Answer;
        // Why a correction that is wanted could not be had.
        let failed = loop {
            let answer = corrections.attempts.answer_of(wanted, &report.answer);
            let examined = match self.examine(&answer, &run, &work.stop).await {
                Ok(examined) => examined,
                Err(why) => {
                    // Nothing is known of this answer: it is shown, and nobody says that it is in order.
                    work.output.release().await;
                    return Enforced {
                        report: RunReport { answer, ..corrections.last },
                        note: Some(phrases::unexamined(work.output.language(), &why)),
                        unfixed: Vec::new(),
                    };
                }
            };
            let attempt =
                AnswerAttempt { run: run.clone(), answer: answer.clone(), examined, facts: report.facts.clone() };
            if let Some(check) = attempt.check() {
                let event = SessionEvent::AnswerChecked { turn: work.turn.clone(), check };
                if let Err(error) = self.record_for(work, event).await {
                    tracing::error!(session = %self.view().id, message = error.message, "a check of an answer is not recorded");
                }
            }
            let retry = corrections.attempts.add(attempt);
            // An agent may say its answer only at the end: nothing of it was shown then.
            let shown = !work.output.shown().trim().is_empty();
            if corrections.attempts.count() == 1 && shown && !work.output.is_holding() {
                corrections.visible.push(step_marker::visible(&answer));
            }
            let Some(retry) = retry else { break None };
            // A run that is there already was asked for before a restart; else there must be a session to ask again.
            let next_run = match (runs.pop_front(), corrections.last.session.clone()) {
                (Some(done), _) => Ok(done),
                (None, Some(session)) => Err(session),
                (None, None) => break Some(say!(work.output.language(), "chat-no-session")),
            };
            work.output.tell(TurnEvent::Status { text: retry.status }).await;
            match retry.wanted {
                // The answer stands: it may be read while the marker is asked for.
                CorrectionScope::MarkerLine => {
                    work.output.release().await;
                    if !work.output.shown().trim().is_empty() {
                        corrections.visible.push(step_marker::visible(&answer));
                    }
                }
                CorrectionScope::Answer => work.output.withdraw().await,
            }
            wanted = retry.wanted;
            let corrected = match next_run {
                Ok(done) => Ok(done),
                Err(session) => self.ask_again(work, &retry.prompt, session, corrections.last.usage).await,
            };
            (run, report) = match corrected {
                Ok(corrected) => corrected,
                Err(error) => {
                    tracing::warn!(session = %self.view().id, message = error.message, "a correction cannot be asked for");
                    break Some(error.message);
                }
            };
            corrections.attempts.count_asked();
            let before = std::mem::replace(&mut corrections.last, report.clone());
            if !is_answer(&report) {
                // The answer that is there stays: a correction that fails erases nothing.
                corrections.last.session = report.session.or(before.session);
                corrections.last.point = report.point.or(before.point);
                let language = work.output.language();
                let why = phrases::of_outcome(language, &Outcome::from_facts(&report.facts));
                break Some(why.map_or_else(|| say!(language, "chat-no-answer"), |error| error.message));
            }
        };
        self.keep_best(work, corrections, failed).await
    }

    /// The best answer, shown if it has not been, with the files as it left them.
    async fn keep_best(&self, work: &mut ActiveTurn, corrections: Corrections, failed: Option<String>) -> Enforced {
        let Corrections { attempts, last, visible } = corrections;
        let Some(best) = attempts.best() else { return Enforced::unchanged(last) };
        let text = step_marker::visible(&best.answer);
        if work.output.is_holding() && attempts.count() == 1 {
            work.output.release().await;
        } else {
            work.output.withdraw().await;
            // An answer that got its marker later has lost the line breaks at its end.
            if !visible.iter().any(|seen| seen.trim_end() == text.trim_end()) {
                let refused = visible.last().map(|refused| agent_words::of_whole(refused));
                work.output.replace(refused.as_deref(), agent_words::of_whole(&text).into_owned()).await;
            }
        }
        work.output.as_it_comes();
        let (restore, judged) = (attempts.files_to_restore(), best.examined.files.clone());
        let directory = PathBuf::from(&self.view().directory);
        let restored = tokio::task::spawn_blocking(move || restore_files(&directory, restore, judged)).await;
        if let Err(error) = restored.map_err(std::io::Error::other).flatten() {
            tracing::warn!(session = %self.view().id, %error, "what was judged is not recorded; it is looked at again");
        }
        // A turn that was stopped is recorded as stopped, whatever its answer was worth by then.
        let (facts, note, unfixed) = match Outcome::from_facts(&last.facts) {
            Outcome::Cancelled => (last.facts.clone(), None, Vec::new()),
            _ => (best.facts.clone(), attempts.note(failed.as_deref()), best.examined.findings.clone()),
        };
        let unmade = &best.examined.unmade;
        let unmade = (!unmade.is_empty()).then(|| phrases::unmade(work.output.language(), unmade));
        let note = note.into_iter().chain(unmade).reduce(|first, second| format!("{first}\n{second}"));
        Enforced { report: RunReport { answer: best.answer.clone(), facts, ..last }, note, unfixed }
    }

    /// Asks for a correction; the last run's own consumption is added at the end of the turn.
    async fn ask_again(
        &self,
        work: &mut ActiveTurn,
        prompt: &str,
        session: AgentSessionId,
        consumed: Usage,
    ) -> Result<FinishedRun, ErrorView> {
        work.output.aside();
        let report = self.run_once(work, prompt, SessionRef::Resume(session)).await?;
        work.usage += consumed;
        Ok((RunId::for_turn(&work.turn, work.runs), report))
    }

    async fn examine(&mut self, answer: &str, run: &RunId, stop: &CancellationToken) -> Result<Examined, String> {
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
        let examined = tokio::task::spawn_blocking(move || examine(&validators, &evidence)).await;
        let examined = examined.map_err(|error| format!("the check ended early: {error}"))?;
        let mut examined = examined.map_err(|error| helix_core::error_chain(&error))?;
        let asked = CheckedAnswer {
            supervisor: self.services.runner.supervisor(),
            run,
            answer: split(answer).0,
            directory: Path::new(&self.view().directory),
            project: self.view().project.as_deref(),
            stop,
        };
        for (number, validator) in self.services.config.enforcement.own.iter().enumerate() {
            match asked.findings(number, validator).await {
                Ok(found) => examined.findings.extend(found),
                Err(why) => examined.unmade.push(Words::from(format!("{}: ", validator.name)).and(why)),
            }
        }
        Ok(examined)
    }
}

fn is_answer(report: &RunReport) -> bool {
    Outcome::from_facts(&report.facts).retry() == Verdict::Accept && !report.answer.trim().is_empty()
}

/// Puts files back as the best answer left them, and notes what was judged.
fn restore_files(
    directory: &Path,
    restore: Vec<(PathBuf, Vec<u8>)>,
    judged: Vec<(PathBuf, Vec<u8>)>,
) -> std::io::Result<()> {
    for (path, content) in restore {
        // Only what was read there before, and never through a link that came meanwhile.
        replace_private(&path, &content)?;
    }
    if judged.is_empty() { Ok(()) } else { CheckedFiles::beside(directory).accept_all(judged) }
}
