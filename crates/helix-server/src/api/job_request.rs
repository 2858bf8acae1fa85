//! A request to start a job, as it comes over the wire. Must not know how a plan is checked.

use std::path::PathBuf;

use axum::http::StatusCode;
use helix_core::diagnostic::did_you_mean;
use helix_core::ids::{InvalidId, PhaseId};
use helix_engine::submit::SubmitRequest;
use helix_job::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::problem::{Problem, codes};

/// What `POST /api/v1/jobs` takes. At least one of `plan` and `project_path` is needed; paths are absolute, but for a
/// `plan` that lies in `project_path`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobRequest {
    /// Repository to work in. Without `plan`, its only plan is taken.
    #[serde(default)]
    pub(crate) project_path: Option<PathBuf>,
    /// The plan file, or a directory that holds one.
    #[serde(default)]
    pub(crate) plan: Option<PathBuf>,
    /// Only these phases: an id or a list of ids.
    #[serde(default)]
    pub(crate) phase_filter: Option<PhaseFilter>,
    /// This phase and all that do not come before it.
    #[serde(default)]
    pub(crate) from: Option<String>,
    /// Replaces every phase's agent.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    /// Replaces every phase's model.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// US dollars for the whole job; also accepted as `budget`.
    #[serde(default, alias = "budget")]
    pub(crate) budget_usd: Option<f64>,
    /// Replaces every phase's turn limit.
    #[serde(default)]
    pub(crate) max_turns: Option<u32>,
    /// Submitting again with the same key gives the same job.
    #[serde(default)]
    pub(crate) idempotency_key: Option<String>,
}

/// One phase or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PhaseFilter {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

const FIELDS: [&str; 10] = [
    "project_path",
    "plan",
    "phase_filter",
    "from",
    "agent",
    "model",
    "budget_usd",
    "budget",
    "max_turns",
    "idempotency_key",
];

impl JobRequest {
    /// Parses a body.
    ///
    /// # Errors
    /// A [`Problem`] that names the field.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Problem> {
        let value: Value =
            serde_json::from_slice(body).map_err(|error| bad(format!("the body is not JSON: {error}")))?;
        let Value::Object(fields) = &value else { return Err(bad("the body must be a JSON object")) };
        if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            let problem = bad(format!("there is no field {unknown:?}"));
            return Err(match did_you_mean(unknown, FIELDS) {
                Some(known) => problem.hint(format!("did you mean {known:?}?")),
                None => problem.hint(format!("the fields are {}", FIELDS.join(", "))),
            });
        }
        serde_json::from_value(value).map_err(|error| bad(error.to_string()))
    }

    /// Turns it into the engine's words.
    ///
    /// # Errors
    /// A [`Problem`] when a path is missing or relative, an id is none, or a limit is no limit.
    pub(crate) fn into_submit(self) -> Result<SubmitRequest, Problem> {
        let absolute = |field: &str, path: PathBuf| {
            if path.is_absolute() {
                Ok(path)
            } else {
                Err(bad(format!("{field} must be an absolute path, not {path:?}")))
            }
        };
        let project = self.project_path.map(|path| absolute("project_path", path)).transpose()?;
        let (plan, project) = match (self.plan, project) {
            (Some(plan), Some(project)) => (project.join(plan), Some(project)),
            (Some(plan), None) => (absolute("plan", plan)?, None),
            (None, Some(project)) => (project.clone(), Some(project)),
            (None, None) => return Err(bad("one of project_path and plan is needed")),
        };
        if let Some(budget) = self.budget_usd
            && !(budget.is_finite() && budget > 0.0)
        {
            return Err(bad(format!("budget_usd must be more than 0, not {budget}")));
        }
        if self.max_turns == Some(0) {
            return Err(bad("max_turns must be at least 1"));
        }
        let only = match self.phase_filter {
            None => Vec::new(),
            Some(PhaseFilter::One(id)) => vec![id],
            Some(PhaseFilter::Several(ids)) => ids,
        };
        let only = only
            .into_iter()
            .map(PhaseId::new)
            .collect::<Result<_, _>>()
            .map_err(|error| bad_id("phase_filter", &error))?;
        let from = self.from.map(PhaseId::new).transpose().map_err(|error| bad_id("from", &error))?;
        Ok(SubmitRequest {
            plan,
            project,
            only,
            from,
            agent: self.agent,
            model: self.model,
            budget_usd: self.budget_usd,
            max_turns: self.max_turns,
            idempotency_key: self.idempotency_key,
            origin: Origin::Api,
            shown_as: None,
        })
    }
}

fn bad(detail: impl Into<Box<str>>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, codes::BAD_REQUEST, detail)
}

fn bad_id(field: &str, error: &InvalidId) -> Problem {
    bad(format!("{field}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submit(body: &str) -> Result<SubmitRequest, Problem> {
        JobRequest::parse(body.as_bytes())?.into_submit()
    }

    #[test]
    fn a_project_a_plan_or_both() {
        let both = submit(r#"{"project_path":"/p","plan":"plans/a","phase_filter":"one","budget":2.5}"#).unwrap();
        assert_eq!((both.plan, both.project), ("/p/plans/a".into(), Some("/p".into())));
        assert_eq!((both.only.len(), both.budget_usd), (1, Some(2.5)));
        let project = submit(r#"{"project_path":"/p","phase_filter":["a","b"]}"#).unwrap();
        assert_eq!((project.plan, project.project, project.only.len()), ("/p".into(), Some("/p".into()), 2));
        assert_eq!(submit(r#"{"plan":"/p/phases.yaml"}"#).unwrap().project, None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (body, words) in [
            ("nonsense", "not JSON"),
            ("[]", "JSON object"),
            ("{}", "one of project_path and plan"),
            (r#"{"plan":"x"}"#, "absolute"),
            (r#"{"project_path":"x"}"#, "absolute"),
            (r#"{"plan":"/p","phase_filter":"A B"}"#, "phase_filter"),
            (r#"{"plan":"/p","from":""}"#, "from"),
            (r#"{"plan":"/p","budget_usd":0}"#, "budget_usd"),
            (r#"{"plan":"/p","max_turns":0}"#, "max_turns"),
            (r#"{"plan":"/p","max_turns":"many"}"#, "invalid type"),
        ] {
            let problem = submit(body).unwrap_err();
            assert_eq!(problem.status, 400, "{body}");
            assert!(problem.detail.contains(words), "{body}: {}", problem.detail);
        }
        let problem = submit(r#"{"plan":"/p","phasefilter":"a"}"#).unwrap_err();
        assert_eq!(problem.hint.as_deref(), Some("did you mean \"phase_filter\"?"));
    }

    #[test]
    fn the_list_of_fields_is_the_types() {
        let schema = serde_json::to_value(schemars::schema_for!(JobRequest)).unwrap();
        let mut fields: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        fields.push("budget");
        fields.sort_unstable();
        let mut known = FIELDS.to_vec();
        known.sort_unstable();
        assert_eq!(fields, known);
    }
}
