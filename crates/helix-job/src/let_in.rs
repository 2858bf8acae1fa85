//! Files of a result that run by themselves: a person decides on what they see, before the result gets anywhere.
//!
//! Must not know which files these are: git's side says so.

use super::attempt::PhaseContext;
use super::illegal::Illegal;
use super::state::{PhaseProgress, PlannedBy, Stage};
use crate::question::Answer;
use helix_core::evidence::SelfRunning;
use helix_language::{correction, finding, recorded};
use helix_plan::Phase;

impl PhaseProgress {
    /// Keeps which files of a result run by themselves.
    pub(super) fn note_self_running(&mut self, attempt: u32, files: &[SelfRunning]) -> Result<(), Illegal> {
        self.at_stage(attempt, Stage::Committing)?.runs_by_itself = files.to_vec();
        Ok(())
    }

    /// Those of the last result that nobody has let in: neither by an answer about that very content, nor by a plan of their own that
    /// names the file.
    pub(super) fn to_let_in(&self, phase: &Phase) -> Vec<SelfRunning> {
        let named = |file: &SelfRunning| {
            self.planned_by == PlannedBy::Person
                && phase.outputs.iter().any(|output| output.strip_prefix("./").unwrap_or(output) == file.path)
        };
        let seen =
            |file: &SelfRunning| self.let_in.iter().any(|known| known.path == file.path && known.digest == file.digest);
        let files = self.last_attempt().map(|last| last.runs_by_itself.as_slice()).unwrap_or_default();
        files.iter().filter(|file| !named(file) && !seen(file)).cloned().collect()
    }

    /// A person wants them out of the result.
    pub(super) fn not_let_in(
        &mut self,
        context: &PhaseContext<'_>,
        answer: &Answer,
        words: Option<&str>,
        files: &[SelfRunning],
    ) {
        let said = words.map(|words| format!(": {words}")).unwrap_or_default();
        let findings = files.iter().map(|file| {
            let path = format!("{:?}", file.path);
            let message = recorded!("result-not-let-in", path = path, by = &answer.by, said = &said);
            finding("result.runs_by_itself", message).at(&file.path, None, None)
        });
        let summary = recorded!("cause-not-let-in", by = &answer.by);
        self.gate_rejected(context, correction(summary, findings.collect()));
    }
}
