//! A request to start a job, checked field by field. Must not know how a plan is checked.

use std::path::PathBuf;

use helix_core::evidence::Land;
use helix_core::ids::PhaseId;
use helix_core::issue::Issue;
use helix_engine::submit::SubmitRequest;
use helix_job::{Origin, Person, Replaced};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::budget;
use crate::problem::Problem;

/// The body of `POST /api/v1/jobs`. It needs `plan`, `project_path` or both; paths are absolute, except a `plan` inside
/// `project_path`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// Repository to work in. Without `plan`, its only plan is taken.
    pub project_path: Option<PathBuf>,
    /// The plan file, or a directory with one.
    pub plan: Option<PathBuf>,
    /// Only these phases: an id or a list of ids.
    pub phase_filter: Option<PhaseFilter>,
    /// Start at this phase and skip the phases that it depends on.
    pub from: Option<String>,
    /// Replaces every phase's agent.
    pub agent: Option<String>,
    /// Replaces every phase's model.
    pub model: Option<String>,
    /// Budget for the whole job in US dollars.
    pub budget_usd: Option<f64>,
    /// Replaces every phase's turn limit.
    pub max_turns: Option<u32>,
    /// How the result lands: a merge commit (`merge`), one commit (`squash`), or a branch of its own (`branch`). Replaces the plan's.
    pub land: Option<Land>,
    /// Virtual environment of Python for its agents and gates, an absolute path; default: `.venv` of the repository.
    pub venv: Option<PathBuf>,
    /// `false` starts the first agent without trying the gates' commands where the job starts; default: `true`.
    pub preflight: Option<bool>,
    /// Submitting again with the same key returns the same job.
    pub idempotency_key: Option<String>,
    /// The issue, pull request or merge request that the job is for: its number or its URL. Replaces the plan's.
    pub issue: Option<Issue>,
}

/// One phase or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PhaseFilter {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl JobRequest {
    /// The engine's form of the request.
    ///
    /// # Errors
    /// A [`Problem`] when a path is missing or relative, or an id or a limit is invalid.
    pub(crate) fn into_submit(self, by: Person) -> Result<SubmitRequest, Problem> {
        let wrong = |detail: String| Err(Problem::unprocessable(detail));
        for (field, path) in [("project_path", &self.project_path), ("plan", &self.plan), ("venv", &self.venv)] {
            let inside = field == "plan" && self.project_path.is_some();
            if let Some(path) = path.as_ref().filter(|path| !inside && !path.is_absolute()) {
                return wrong(format!("{field} must be an absolute path, not {path:?}"));
            }
        }
        let (plan, project) = match (self.plan, self.project_path) {
            (Some(plan), Some(project)) => (project.join(plan), Some(project)),
            (Some(plan), None) => (plan, None),
            (None, Some(project)) => (project.clone(), Some(project)),
            (None, None) => return wrong("one of project_path and plan is needed".into()),
        };
        budget(self.budget_usd)?;
        if self.max_turns == Some(0) {
            return wrong("max_turns must be at least 1".into());
        }
        let only = match self.phase_filter {
            None => Vec::new(),
            Some(PhaseFilter::One(id)) => vec![id],
            Some(PhaseFilter::Several(ids)) => ids,
        };
        let phase = |field: &'static str| {
            move |id: String| PhaseId::new(id).map_err(|error| Problem::unprocessable(format!("{field}: {error}")))
        };
        Ok(SubmitRequest {
            plan,
            project,
            only: only.into_iter().map(phase("phase_filter")).collect::<Result<_, _>>()?,
            from: self.from.map(phase("from")).transpose()?,
            replaced: Replaced { agent: self.agent, model: self.model, max_turns: self.max_turns },
            budget_usd: self.budget_usd,
            land: self.land,
            venv: self.venv,
            no_preflight: self.preflight == Some(false),
            escalate_to: None,
            idempotency_key: self.idempotency_key,
            issue: self.issue,
            origin: Origin::Api,
            by: Some(by),
            shown_as: None,
            is_confined: false,
        })
    }
}

#[cfg(test)]
#[path = "job_request_test.rs"]
mod tests;
