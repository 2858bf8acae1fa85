//! What the tools are told: one type each, from which the schemas that clients see are made. Must not know what is done with it.

use schemars::JsonSchema;
use serde::Deserialize;

/// Arguments of `adr_check`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AdrCheck {
    /// Path of the ADR.
    pub path: String,
    /// Directory of the ADR's project, for its files and other ADRs. Default: the session's project, or the one that
    /// contains the file.
    pub project: Option<String>,
}

/// Arguments of `adr_finalize`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AdrFinalize {
    /// Path of the draft.
    pub path: String,
    /// Directory of the project that gets the ADR. Default: the session's project, or the one that contains the draft.
    pub project: Option<String>,
}

/// Arguments of `adr_accept`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AdrAccept {
    /// Number of the decision, such as `12`.
    pub number: String,
    /// The person who has accepted it, by name, where that is not who calls. It is written down as what the caller says.
    pub by: Option<String>,
    /// Directory of the project. Default: the session's project.
    pub project: Option<String>,
}

/// Arguments of `adr_list` and `skills_list`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct InProject {
    /// Directory of the project. Default: the session's project.
    pub project: Option<String>,
}

/// Arguments of `plan_check`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct PlanCheck {
    /// Path of the plan.
    pub path: String,
    /// Directory of the plan's project: it is checked like a job there. Default: the project that contains the file;
    /// a draft outside any project is checked without one.
    pub project: Option<String>,
}

/// Arguments of `project_create`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ProjectCreate {
    /// Name of the new project: lower-case letters, digits and `-`.
    pub name: String,
    /// Draft of the ADR: it is finalized in the project.
    pub adr: Option<String>,
    /// Draft of the plan: it becomes `plans/<plan name>/phases.yaml`.
    pub plan: Option<String>,
}

/// Arguments of `job_start`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct JobStart {
    /// Path of the project or the plan.
    pub project: String,
    /// Path of a plan that is to run on the project, such as a draft of yours. Default: the project's only plan.
    pub plan: Option<String>,
}

/// Arguments of `job_status`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct JobStatusOf {
    /// Id of the job, or a unique prefix. Default: the last job of this session.
    pub job: Option<String>,
}

/// Arguments of `ask_user`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AskUser {
    /// The complete question.
    pub question: String,
    /// The options. Default: any text.
    #[serde(default)]
    pub options: Vec<String>,
}

/// Arguments of `answer`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AnswerQuestion {
    /// Id of the question. Default: the only open one of this session's jobs.
    pub question: Option<String>,
    /// The chosen option's key.
    pub choice: Option<String>,
    /// The user's own words.
    pub text: Option<String>,
}

/// Arguments of `similar_failures`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct SimilarFailures {
    /// Text of the failure: a log, an error message, a finding.
    pub text: String,
    /// The tool that failed, such as `pytest`, if known.
    pub tool: Option<String>,
    /// Maximum number of answers, at most 10.
    pub limit: Option<u32>,
}

/// Arguments of `skill_read`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct SkillRead {
    /// Name of the skill.
    pub name: String,
    /// Another file of the skill, relative to its directory. Default: its page.
    pub file: Option<String>,
    /// Directory of the project. Default: the session's project.
    pub project: Option<String>,
}
