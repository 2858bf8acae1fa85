//! What the command of a gate printed, whole.
//!
//! Must not judge it: whether it still is what was judged is said beside it.

use std::path::Path;

use helix_core::evidence::{CommandEvidence, GateReport};
use helix_core::ids::PhaseId;
use helix_job::Active;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OutputState;
use super::look::FileDigest;
use crate::error::EngineError;

/// Most of an output that is given: its end, in bytes.
const MOST: u64 = 4 << 20;

/// Which output is wanted: the newest that fits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputSelection {
    /// A phase; any where absent.
    pub phase: Option<PhaseId>,
    /// One of its attempts, from 1.
    pub attempt: Option<u32>,
    /// Name of a gate; any where absent, of those that did not pass before the others.
    pub gate: Option<String>,
}

/// What a gate's command printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateOutput {
    /// Whose gate it is.
    pub phase: PhaseId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The gate's answer.
    pub report: GateReport,
    /// Whether the file is still the one that was judged.
    pub state: OutputState,
    /// The text, or the end of a very long one.
    pub text: String,
}

/// The newest output that fits.
///
/// # Errors
/// There is none, or it is gone.
pub(super) fn output(active: &Active, root: &Path, wanted: &OutputSelection) -> Result<GateOutput, EngineError> {
    let OutputSelection { phase, attempt, gate } = wanted;
    let mut found: Vec<(&PhaseId, u32, &GateReport, &CommandEvidence)> = Vec::new();
    for progress in active.phases.iter().filter(|one| phase.as_ref().is_none_or(|phase| *phase == one.id)) {
        for this in progress.attempts.iter().filter(|one| attempt.is_none_or(|number| number == one.begin.attempt)) {
            for report in this.gates.iter().filter(|one| gate.as_ref().is_none_or(|gate| *gate == one.gate)) {
                found.extend(command(report).map(|command| (&progress.id, this.begin.attempt, report, command)));
            }
        }
    }
    let newest = |passed: bool| found.iter().rev().find(|(.., report, _)| report.verdict.passed() == passed);
    let chosen = if gate.is_some() { found.last() } else { newest(false).or_else(|| newest(true)) };
    let Some((phase, attempt, report, command)) = chosen else {
        let mut names: Vec<&str> = active
            .phases
            .iter()
            .flat_map(|one| &one.attempts)
            .flat_map(|one| &one.gates)
            .map(|one| one.gate.as_str())
            .collect();
        names.dedup();
        let has = if names.is_empty() {
            "no gate has run (yet)".to_owned()
        } else {
            format!("gates that ran: {}", names.join(", "))
        };
        return Err(EngineError::refused(format!("there is no output of such a gate; {has}")));
    };
    let file = root.join(&command.output_file);
    let text = helix_process::end_of_file(&file, MOST).map_err(EngineError::environment)?;
    let state = match FileDigest::read(&file) {
        Ok(now) if now.sha256 == command.output_sha256 => OutputState::Intact,
        Ok(_) => OutputState::Changed,
        Err(_) => OutputState::Missing,
    };
    let (phase, attempt, report) = ((*phase).clone(), *attempt, (*report).clone());
    Ok(GateOutput { phase, attempt, report, state, text })
}

/// The command that a gate ran last.
fn command(report: &GateReport) -> Option<&CommandEvidence> {
    report.command.as_ref().or_else(|| report.steps.iter().rev().find_map(|step| step.command.as_ref()))
}
