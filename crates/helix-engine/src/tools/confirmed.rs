//! A person's yes to the drafts of a session: the decision is finalized and accepted, and the plan runs.
//!
//! Must not hold any rule of decisions or plans. Doing it again after a crash gives the same decision and, until a job runs, one job.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use async_recursion::async_recursion as boxed;
use helix_adr::{AdrId, Status};
use helix_core::evidence::Land;
use helix_job::session::SessionView;
use helix_job::{Origin, Person, Replaced};
use helix_plan::Plan;
use helix_project::adr_files::AdrDirectory;
use helix_project::project::with_adr;
use helix_project::save_check::read_bounded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;
use super::{AdrAccept, AdrFinalize, Caller, ProjectCreate, Tools, blocking};
use crate::submit::{Submission, SubmitRequest};

/// The draft of a decision, in the directory of a session.
pub const ADR_DRAFT: &str = "adr-draft.md";
/// The draft of a plan, in the directory of a session.
pub const PLAN_DRAFT: &str = "phases.yaml";

/// How a person wants the drafts of a session to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftStart {
    /// Replaces every phase's agent.
    pub agent: Option<String>,
    /// Replaces every phase's model.
    pub model: Option<String>,
    /// Budget for the whole job in US dollars.
    pub budget_usd: Option<f64>,
    /// Replaces every phase's turn limit.
    pub max_turns: Option<u32>,
    /// How the result lands; replaces the plan's.
    pub land: Option<Land>,
    /// Virtual environment of Python for its agents and gates, an absolute path.
    pub venv: Option<PathBuf>,
}

impl Tools {
    /// Starts the drafts of the session on a person's yes: in its project, or in a new one of the plan's name.
    ///
    /// # Errors
    /// Why not; a decision that was finalized is the same at the next call.
    #[boxed]
    pub async fn start_drafts(&self, by: &Person, wanted: DraftStart) -> Result<Submission, Refusal> {
        let view = self.session().await?.ok_or_else(|| Refusal::text("there is no session"))?;
        let directory = PathBuf::from(&view.directory);
        let (plan, adr) = (directory.join(PLAN_DRAFT), directory.join(ADR_DRAFT));
        let since = self.started_last(&view).await?;
        let (plan_file, adr_file) = (plan.clone(), adr.clone());
        let (text, decides) = blocking(move || {
            let text = read_bounded(&plan_file).map_err(|_| Refusal::text("this session has no plan yet"))?;
            Ok::<_, Refusal>((String::from_utf8_lossy(&text).into_owned(), is_newer(&adr_file, since)))
        })
        .await?;
        let plan_name =
            |text: &str| Plan::parse_bytes(PLAN_DRAFT, text.as_bytes()).ok().map(|parsed| parsed.plan.file_name());
        let word = |path: &Path| path.to_string_lossy().into_owned();
        let (project, plan) = match view.project.clone() {
            Some(project) => {
                if decides {
                    let finalize = AdrFinalize { path: word(&adr), project: Some(project.clone()) };
                    let (_, done) = self.adr_finalize(finalize).await?;
                    let number = done["number"].to_string();
                    self.accept(&project, number, by).await?;
                    let named = with_adr(&text, has_adr(&text), done["path"].as_str().unwrap_or_default());
                    let into = plan.clone();
                    blocking(move || replace(&into, &named)).await?;
                }
                (project, plan)
            }
            None => {
                let name = plan_name(&text).ok_or_else(|| Refusal::text("the plan has no name for its project"))?;
                let made = ProjectCreate { name, adr: decides.then(|| word(&adr)), plan: Some(word(&plan)) };
                let (_, made) = self.project_create(made).await?;
                let project = made["project"].as_str().unwrap_or_default().to_owned();
                if decides {
                    self.accept(&project, "1".to_owned(), by).await?;
                }
                let plan = Path::new(&project).join(made["plan"].as_str().unwrap_or_default());
                (project, plan)
            }
        };
        let origin = match &self.caller {
            Caller::Session(session) => Origin::Chat { session: session.clone() },
            Caller::Run(_) | Caller::Outside { .. } => Origin::Api,
        };
        let mut request = SubmitRequest::new(plan, origin);
        request.project = Some(self.existing(&project).await?);
        let DraftStart { agent, model, budget_usd, max_turns, land, venv } = wanted;
        request.replaced = Replaced { agent, model, max_turns };
        (request.budget_usd, request.land, request.venv) = (budget_usd, land, venv);
        self.submit(request).await
    }

    /// Accepts a decision that is still a proposal.
    async fn accept(&self, project: &str, number: String, by: &Person) -> Result<(), Refusal> {
        let id: AdrId = number.parse().map_err(|error| Refusal::text(format!("the decision's number: {error}")))?;
        let root = PathBuf::from(project);
        let status = blocking(move || {
            let known = AdrDirectory::open(&root)?;
            Ok::<_, Refusal>(known.find(&id).and_then(helix_adr::Adr::status))
        });
        if status.await?.is_some_and(|status| status != Status::Proposed) {
            return Ok(());
        }
        let accept = AdrAccept { number, by: Some(by.name.clone()), project: Some(project.to_owned()) };
        self.adr_accept(accept).await.map(drop)
    }

    /// When the last job of the session was started: drafts from before were its own.
    async fn started_last(&self, view: &SessionView) -> Result<Option<SystemTime>, Refusal> {
        let Some(last) = view.jobs.last() else { return Ok(None) };
        let job = self.engine.jobs().get(last.as_str()).await.map_err(Refusal::from_error)?;
        Ok(Some(job.created_at.into()))
    }
}

/// Whether there is a file that was written after a time.
fn is_newer(path: &Path, since: Option<SystemTime>) -> bool {
    let changed = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
    let changed = changed.and_then(|file| file.modified().ok());
    changed.is_some_and(|changed| since.is_none_or(|since| changed > since))
}

fn has_adr(text: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("adr").is_some_and(|rest| rest.trim_start().starts_with(':')))
}

/// Writes the plan whole or not at all; where it says the same, not at all.
fn replace(path: &Path, text: &str) -> Result<(), Refusal> {
    if std::fs::read_to_string(path).is_ok_and(|now| now == text) {
        return Ok(());
    }
    let directory = path.parent().unwrap_or(path);
    let written = tempfile::NamedTempFile::new_in(directory).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)
    });
    written.map(drop).map_err(|error| Refusal::text(format!("cannot write {}: {error}", path.display())))
}
