//! Helix's own tools: what the Consultant and any MCP client can call. One method each, typed in and out.
//!
//! Must not know MCP: the server wraps these.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::{PhaseId, SessionId};
use helix_core::job::{JobView, Origin};
use helix_core::plan::Plan;
use helix_core::session::SessionEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::adr_files::{AdrDirectory, AdrFileError};
use crate::engine::Engine;
use crate::git::{GitError, Repository};
use crate::project::{self, ProjectError};
use crate::submit::{SubmitError, SubmitRequest, confine};

/// Arguments of `adr_check`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AdrCheck {
    /// Path of the ADR, relative to the working directory or absolute.
    pub path: String,
}

/// Arguments of `adr_finalize`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AdrFinalize {
    /// Path of the draft.
    pub path: String,
    /// Directory of the project that gets the ADR; empty means the conversation's own project.
    #[serde(default)]
    pub project: Option<String>,
}

/// Arguments of `adr_list`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AdrList {
    /// Directory of the project.
    pub project: String,
}

/// Arguments of `plan_check`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct PlanCheck {
    /// Path of the plan.
    pub path: String,
}

/// Arguments of `project_create`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ProjectCreate {
    /// Name of the new project: lower-case letters, digits and `-`.
    pub name: String,
    /// Draft of the ADR: it is finalized in the project.
    #[serde(default)]
    pub adr: Option<String>,
    /// Draft of the plan: it becomes `plans/<plan name>/phases.yaml`.
    #[serde(default)]
    pub plan: Option<String>,
}

/// Arguments of `job_start`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct JobStart {
    /// Path of the project or the plan.
    pub project: String,
}

/// Arguments of `job_status`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct JobStatusOf {
    /// Id of the job, or a unique prefix; empty means the last one of this conversation.
    #[serde(default)]
    pub job: Option<String>,
}

/// What a tool answers: text for the agent, and whether it is a refusal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolAnswer {
    /// For the agent to read.
    pub text: String,
    /// The same for programs.
    pub data: serde_json::Value,
    /// Whether the tool could not do what it was asked.
    pub failed: bool,
}

/// The tools of one caller.
#[derive(Clone)]
pub struct Tools {
    engine: Engine,
    session: Option<SessionId>,
}

/// Why a tool could not do what it was asked; for the agent to read.
struct Refusal {
    text: String,
    data: Value,
}

type Answer = Result<(String, Value), Refusal>;

impl Tools {
    pub(crate) fn new(engine: Engine, session: Option<SessionId>) -> Self {
        Self { engine, session }
    }

    /// Checks an ADR by the one rule set.
    pub async fn adr_check(&self, arguments: AdrCheck) -> ToolAnswer {
        self.answer(async {
            let path = self.existing(&arguments.path).await?;
            let root = project_root(&path);
            let checked = blocking(move || AdrDirectory::open(&root)?.check(&path)).await?;
            diagnosed(&checked.adr.file, &checked.diagnostics)
        })
        .await
    }

    /// Gives a draft its number and its place in the project, and commits it.
    pub async fn adr_finalize(&self, arguments: AdrFinalize) -> ToolAnswer {
        self.answer(async {
            let draft = self.existing(&arguments.path).await?;
            let project = match &arguments.project {
                Some(project) => self.existing(project).await?,
                None => project_root(&draft),
            };
            let git = self.engine.inner.git.clone();
            let done = blocking(move || {
                let repository = Repository::open(&project, git).map_err(|error| Refusal::of(&error))?;
                let done = AdrDirectory::finalize(repository.top(), &draft)?;
                let message = format!("Record decision {}", done.path);
                repository.commit_files(&[done.path.clone(), done.index.clone()], &message)?;
                Ok::<_, Refusal>(done)
            })
            .await?;
            let text = format!("Finalized as {} and committed, with {}.", done.path, done.index);
            Ok((text, json!({ "number": done.number, "path": done.path, "index": done.index })))
        })
        .await
    }

    /// Lists a project's ADRs.
    pub async fn adr_list(&self, arguments: AdrList) -> ToolAnswer {
        self.answer(async {
            let root = self.existing(&arguments.project).await?;
            let index = blocking(move || AdrDirectory::open(&root).map(|adrs| adrs.index())).await?;
            Ok((index.clone(), json!({ "index": index })))
        })
        .await
    }

    /// Checks a plan.
    pub async fn plan_check(&self, arguments: PlanCheck) -> ToolAnswer {
        self.answer(async {
            let path = self.existing(&arguments.path).await?;
            let file = path.display().to_string();
            let bytes = tokio::fs::read(&path).await.map_err(|error| Refusal::of(&error))?;
            match Plan::parse_bytes(&file, &bytes) {
                Ok(parsed) => {
                    let order = order_of(&parsed.plan);
                    let (text, mut data) = diagnosed(&file, &parsed.warnings)?;
                    data["order"] = json!(order);
                    Ok((format!("{text}\nPhases run in this order: {order}"), data))
                }
                Err(diagnostics) => diagnosed(&file, &diagnostics),
            }
        })
        .await
    }

    /// Makes a new repository with the ADR and the plan in it.
    pub async fn project_create(&self, arguments: ProjectCreate) -> ToolAnswer {
        self.answer(async {
            let name = PhaseId::new(arguments.name.clone()).map_err(|_| {
                Refusal::text(format!(
                    "{:?} is no project name: use lower-case letters, digits and '-'",
                    arguments.name
                ))
            })?;
            let adr = self.existing_if_given(arguments.adr.as_deref()).await?;
            let plan = self.existing_if_given(arguments.plan.as_deref()).await?;
            let root = self.engine.inner.config.projects.join(name.as_str());
            let git = self.engine.inner.git.clone();
            let made = blocking(move || project::create(&root, git, adr.as_deref(), plan.as_deref())).await?;
            let text = format!(
                "Created the project {}{}{}.",
                made.path,
                made.adr.as_ref().map(|adr| format!(" with {adr}")).unwrap_or_default(),
                made.plan.as_ref().map(|plan| format!(" and {plan}")).unwrap_or_default(),
            );
            Ok((text, json!({ "project": made.path, "adr": made.adr, "plan": made.plan, "commit": made.commit })))
        })
        .await
    }

    /// Starts a job; returns at once with its id.
    pub async fn job_start(&self, arguments: JobStart) -> ToolAnswer {
        self.answer(async {
            let origin = match &self.session {
                Some(session) => Origin::Chat { session: session.clone() },
                None => Origin::Api,
            };
            let request = SubmitRequest::new(self.existing(&arguments.project).await?, origin);
            let submission = self.engine.submit(request).await.map_err(|error| refused_submit(&error))?;
            let id = submission.job.id.clone();
            if let Some(session) = &self.session {
                let event = SessionEvent::JobStarted { job: id.clone() };
                let recorded = self.engine.inner.desk.record(session, event).await;
                recorded.map_err(|error| Refusal::text(format!("job {id} runs, but is not noted here: {error}")))?;
            }
            let phases: Vec<&str> = submission.job.phases.iter().map(|phase| phase.id.as_str()).collect();
            let text = format!("Started job {id} ({}): {}.", submission.job.name, phases.join(", "));
            Ok((text, json!({ "job": id, "name": submission.job.name, "phases": phases })))
        })
        .await
    }

    /// How a job stands.
    pub async fn job_status(&self, arguments: JobStatusOf) -> ToolAnswer {
        self.answer(async {
            let id = match (arguments.job, &self.session) {
                (Some(id), _) => id,
                (None, Some(session)) => {
                    let view = self.engine.session(session).await.map_err(|error| Refusal::of(&error))?;
                    let last = view.jobs.last().map(ToString::to_string);
                    last.ok_or_else(|| Refusal::text("this conversation has started no job yet".into()))?
                }
                (None, None) => {
                    return Err(Refusal::text("name the job: there is no conversation to take it from".into()));
                }
            };
            let job = self.engine.job(&id).await.map_err(|error| Refusal::of(&error))?;
            let data = serde_json::to_value(&job).map_err(|error| Refusal::of(&error))?;
            Ok((status_text(&job), data))
        })
        .await
    }

    async fn answer(&self, work: impl Future<Output = Answer>) -> ToolAnswer {
        match work.await {
            Ok((text, data)) => ToolAnswer { text, data, failed: false },
            Err(Refusal { text, data }) => ToolAnswer { text, data, failed: true },
        }
    }

    /// A path that the caller may use: relative ones start in the conversation's own directory; all must lie there, under
    /// the configured roots, or among the projects that Helix has made.
    async fn existing(&self, path: &str) -> Result<PathBuf, Refusal> {
        let inner = &self.engine.inner;
        let own = match &self.session {
            Some(session) => {
                let view = self.engine.session(session).await.map_err(|error| Refusal::of(&error))?;
                Some(PathBuf::from(view.directory))
            }
            None => None,
        };
        let asked = match &own {
            Some(own) => own.join(path),
            None => PathBuf::from(path),
        };
        let real = tokio::fs::canonicalize(&asked)
            .await
            .map_err(|error| Refusal::text(format!("cannot use {}: {error}", asked.display())))?;
        if !inner.config.roots.is_empty() {
            let mut roots = inner.config.roots.clone();
            roots.extend(own);
            roots.push(inner.config.projects.clone());
            confine(&real, &roots).map_err(|error| refused_submit(&error))?;
        }
        Ok(real)
    }

    async fn existing_if_given(&self, path: Option<&str>) -> Result<Option<PathBuf>, Refusal> {
        match path.filter(|path| !path.is_empty()) {
            Some(path) => Ok(Some(self.existing(path).await?)),
            None => Ok(None),
        }
    }
}

impl Refusal {
    fn text(text: String) -> Self {
        Self { data: json!({ "error": text }), text }
    }

    fn of(error: &dyn std::error::Error) -> Self {
        Self::text(crate::job::environment(error).message)
    }
}

impl From<AdrFileError> for Refusal {
    fn from(error: AdrFileError) -> Self {
        match error {
            AdrFileError::Invalid { file, diagnostics, .. } => match diagnosed(&file, &diagnostics) {
                Ok((text, data)) => Self { text, data },
                Err(refusal) => refusal,
            },
            other => Self::of(&other),
        }
    }
}

impl From<GitError> for Refusal {
    fn from(error: GitError) -> Self {
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        Self::text(format!("{}{hint}", error.fault().message))
    }
}

impl From<ProjectError> for Refusal {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::Adr(error) => error.into(),
            ProjectError::Git(error) => error.into(),
            ProjectError::Plan { file, diagnostics } => match diagnosed(&file, &diagnostics) {
                Ok((text, data)) => Self { text, data },
                Err(refusal) => refusal,
            },
            other => Self::of(&other),
        }
    }
}

/// What was found, for the agent; a refusal if there are errors.
fn diagnosed(file: &str, diagnostics: &[Diagnostic]) -> Answer {
    let errors = diagnostics.iter().filter(|one| one.is_error()).count();
    let warnings = diagnostics.len() - errors;
    let mut text = match errors {
        0 => format!("{file} has no errors ({warnings} warning(s))."),
        _ => format!("{file} has {errors} error(s) and {warnings} warning(s):"),
    };
    for diagnostic in diagnostics {
        text.push_str(&format!("\n{diagnostic}"));
    }
    let data = json!({ "file": file, "errors": errors, "warnings": warnings, "diagnostics": diagnostics });
    if errors == 0 { Ok((text, data)) } else { Err(Refusal { text, data }) }
}

fn refused_submit(error: &SubmitError) -> Refusal {
    match error {
        SubmitError::Plan { file, diagnostics, .. } => match diagnosed(file, diagnostics) {
            Ok((text, data)) => Refusal { text, data },
            Err(refusal) => refusal,
        },
        SubmitError::Refused { code, message, hint, .. } => {
            let hint_text = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
            Refusal {
                text: format!("{code}: {message}{hint_text}"),
                data: json!({ "code": code, "error": message, "hint": hint }),
            }
        }
    }
}

fn order_of(plan: &Plan) -> String {
    let waves = plan.waves();
    let names = waves.iter().map(|wave| wave.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(" with "));
    names.collect::<Vec<_>>().join(", then ")
}

fn status_text(job: &JobView) -> String {
    let mut text = format!("Job {} ({}) is {}.", job.id, job.name, job.status.word());
    for phase in &job.phases {
        let stage = phase.stage.as_ref().map(|stage| format!(", {stage}")).unwrap_or_default();
        let error = phase.error.as_ref().map(|error| format!(": {}", error.message)).unwrap_or_default();
        text.push_str(&format!("\n- {} {}{stage} (try {}){error}", phase.id, phase.status.word(), phase.attempt));
    }
    if let Some(commit) = &job.commit {
        text.push_str(&format!("\nThe result is commit {commit}."));
    }
    if let Some(error) = &job.error {
        let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        text.push_str(&format!("\nIt failed: {}{hint}", error.message));
    }
    text
}

/// The repository or project that a file belongs to: the nearest directory above it with `adr/` or `.git`, else its own.
fn project_root(path: &Path) -> PathBuf {
    let start = path.parent().unwrap_or(path);
    let root = start.ancestors().find(|above| above.join(".git").exists() || above.join("adr").is_dir());
    root.unwrap_or(start).to_path_buf()
}

async fn blocking<T: Send + 'static, E: Into<Refusal> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(Into::into),
        Err(error) => Err(Refusal::text(format!("a task of Helix ended early: {error}"))),
    }
}
