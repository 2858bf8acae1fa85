//! Tools for decisions, plans and the projects that hold them. Must not hold any rule of theirs.

use async_recursion::async_recursion as boxed;
use std::path::Path;

use helix_adr::{Acceptance, AdrId};
use helix_core::diagnostic::Diagnostic;
use helix_core::ids::PhaseId;
use helix_job::Origin;
use helix_plan::Plan;
use jiff::Timestamp;
use serde_json::json;

use super::refusal::{Refusal, diagnosed};
use super::{AdrAccept, AdrCheck, AdrFinalize, Answer, Caller, InProject, PlanCheck, ProjectCreate, Tools, blocking};
use crate::consultant::CheckedFiles;
use crate::failures::Depth;
use crate::submit::{Inspection, Site, SubmitRequest};
use helix_git::Repository;
use helix_project::adr_files::{AdrDirectory, AdrFileError};
use helix_project::project::{self, ProjectError};
use helix_project::save_check::{Belongs, NO_PROJECT_CHOSEN, adr_diagnostics, read_bounded};
use helix_project::workflows::WorkflowPaths;

/// Why an ADR cannot be finalized when nobody said where.
const NO_PROJECT: &str = "pass the project in `project`; for a new one call project_create";

/// What is said of a plan that lies in no project.
const DRAFT_ONLY: &str = "\nChecked as a draft: inputs, the decision that it names and the repository's state are looked at once it lies in a \
                          project, or when `project` names one.";

impl Tools {
    /// Checks an ADR by the one rule set: validity and completeness.
    #[boxed]
    pub async fn adr_check(&self, arguments: AdrCheck) -> Answer {
        let path = self.existing(&arguments.path).await?;
        let project = self.project_for(&path, arguments.project.as_deref()).await?;
        let (file, root) = (path.clone(), project.clone());
        let in_session = matches!(self.caller, Caller::Session(_));
        let (shown, found) = blocking(move || {
            let inside = project.as_ref().and_then(|root| path.strip_prefix(root).ok());
            let shown = inside.unwrap_or(&path).display().to_string();
            let belongs = match &project {
                Some(root) => Belongs::Project(root),
                None if in_session => Belongs::NoProject,
                None => Belongs::Unknown,
            };
            let bytes = read_bounded(&path).map_err(Refusal::from_error)?;
            let found = adr_diagnostics(&shown, &bytes, belongs)?;
            Ok::<_, Refusal>((shown, found))
        })
        .await?;
        self.remember(&file, root.as_deref(), Depth::Rules, &found).await;
        let answer = diagnosed(&shown, &found);
        if root.is_some() || !in_session {
            return answer;
        }
        answer.map_err(|refusal| Refusal { text: format!("{}\n{NO_PROJECT_CHOSEN}", refusal.text), ..refusal })
    }

    /// Has remembered what a check found. What the agent of a phase leaves is checked once more by the phase's gates, and
    /// remembered then.
    async fn remember(&self, path: &Path, project: Option<&Path>, depth: Depth, found: &[Diagnostic]) {
        match &self.caller {
            Caller::Session(_) | Caller::Outside { .. } => {
                self.engine.reports().failures.document_checked(path, project, depth, found).await;
            }
            Caller::Run(_) => {}
        }
    }

    /// Gives a draft its number and its place in the project, and commits it.
    #[boxed]
    pub async fn adr_finalize(&self, arguments: AdrFinalize) -> Answer {
        let draft = self.existing(&arguments.path).await?;
        let project = self.project_for(&draft, arguments.project.as_deref()).await?;
        let project = project.ok_or_else(|| Refusal::text(NO_PROJECT))?;
        let (git, judged) = (self.engine.projects().git.clone(), self.judged().await?);
        let (file, root, crash) = (draft.clone(), project.clone(), self.engine.projects().config.crash.clone());
        let done = blocking(move || {
            let repository = Repository::open(&project, git).map_err(Refusal::from_error)?;
            let accepted = judged.as_ref().map(|_| read_bounded(&draft)).transpose().map_err(Refusal::from_error)?;
            crash.pass(|| "before finalizing a decision".into());
            let done = match AdrDirectory::finalize(repository.top(), &draft) {
                Ok(done) => done,
                Err(error) => return Ok(Err(error)),
            };
            crash.pass(|| "after finalizing a decision".into());
            let message = format!("Record decision {}", done.path);
            repository.commit_files(&done.files(), &message)?;
            crash.pass(|| "after committing a decision".into());
            if let (Some(judged), Some(bytes)) = (judged, accepted) {
                judged.accept(&draft, &bytes).map_err(Refusal::from_error)?;
            }
            Ok::<_, Refusal>(Ok(done))
        })
        .await?;
        let done = match done {
            Ok(done) => done,
            Err(error) => {
                // Any other error says nothing about the draft: it must not pass for one that was fixed.
                if let AdrFileError::Invalid { diagnostics, .. } = &error {
                    self.remember(&file, Some(&root), Depth::Rules, diagnostics).await;
                }
                return Err(error.into());
            }
        };
        let with = done.index.as_ref().map(|index| format!(", with {index}")).unwrap_or_default();
        let text = format!(
            "Finalized as {} and committed{with}. It is a proposal: once the user has said yes to it, call adr_accept.",
            done.path
        );
        let data = json!({ "id": done.id, "number": done.number(), "path": done.path, "index": done.index });
        self.remember(&file, Some(&root), Depth::Rules, &[]).await;
        Ok((text, data))
    }

    /// Makes a proposed decision an accepted one, by the user's word, and commits it.
    pub async fn adr_accept(&self, arguments: AdrAccept) -> Answer {
        let root = self.project(arguments.project.as_deref()).await?;
        let root = root.ok_or_else(|| Refusal::text("pass the project's directory in `project`"))?;
        let id: AdrId = arguments.number.parse().map_err(|error| Refusal::text(format!("`number`: {error}")))?;
        // What the call says is somebody's word; who calls is known.
        let caller = match &self.caller {
            Caller::Session(session) => format!("the user of session {session}"),
            Caller::Outside { by, .. } => by.to_string(),
            Caller::Run(run) => return Err(Refusal::text(format!("run {run} is no person: only one can accept it"))),
        };
        let by = match arguments.by.as_deref().map(str::trim).filter(|by| !by.is_empty()) {
            Some(name) => format!("{name}, as said by {caller}"),
            None => caller,
        };
        let git = self.engine.projects().git.clone();
        let acceptance = Acceptance { by, on: Timestamp::now().strftime("%F").to_string() };
        let said = acceptance.clone();
        let path = blocking(move || {
            let repository = Repository::open(&root, git).map_err(Refusal::from_error)?;
            let changed = AdrDirectory::accept(repository.top(), &id, &said)?;
            let path = changed.files.concat();
            repository.commit_files(&changed.all(), &format!("Accept decision {path}"))?;
            Ok::<_, Refusal>(path)
        })
        .await?;
        let text = format!("{path} is accepted by {} and committed.", acceptance.by);
        Ok((text, json!({ "path": path, "accepted_by": acceptance.by, "accepted_on": acceptance.on })))
    }

    /// Lists a project's ADRs.
    #[boxed]
    pub async fn adr_list(&self, arguments: InProject) -> Answer {
        let root = self.project(arguments.project.as_deref()).await?;
        let root = root.ok_or_else(|| Refusal::text("pass the project's directory in `project`"))?;
        let index = blocking(move || AdrDirectory::open(&root).map(|adrs| adrs.index())).await?;
        Ok((index.clone(), json!({ "index": index })))
    }

    /// Checks a plan as a submission does, so that one that passes here is not refused by `job_start`.
    #[boxed]
    pub async fn plan_check(&self, arguments: PlanCheck) -> Answer {
        let path = self.existing(&arguments.path).await?;
        let project = self.project_for(&path, arguments.project.as_deref()).await?;
        let named = arguments.project.as_deref().is_some_and(|project| !project.is_empty());
        let mut request = SubmitRequest::new(path.clone(), Origin::Api);
        // A draft in the session's own directory belongs to no repository yet, whichever the session is about.
        request.project = project.clone().filter(|_| named);
        // What a run or session has in its own directory may be a repository whose settings it has written: nobody asks git about it.
        let own = self.own().await?;
        let is_own = |root: &Path| own.as_ref().is_some_and(|own| root.starts_with(own));
        let site = match &project {
            Some(root) if !is_own(root) && (named || path.starts_with(root)) => Site::Repository,
            Some(_) | None => Site::Draft { project: project.clone() },
        };
        let depth = match &site {
            Site::Repository => Depth::Submission,
            Site::Draft { .. } => Depth::Rules,
        };
        let inspection = self.engine.projects().inspect(&request, &site, &[]).await?;
        let Inspection { file, diagnostics, refusals, parsed, .. } = inspection;
        let refusals: Vec<Refusal> = refusals.into_iter().map(Refusal::from).collect();
        let answer = diagnosed(&file, &diagnostics).map_err(|refusal| refusal.and_also(&refusals));
        self.remember(&path, project.as_deref(), depth, &diagnostics).await;
        let (text, mut data) = answer?;
        if !refusals.is_empty() {
            return Err(Refusal { text, data }.and_also(&refusals));
        }
        let order = parsed.map(|parsed| order_of(&parsed.plan)).unwrap_or_default();
        data["order"] = json!(order);
        let draft = match site {
            Site::Repository => "",
            Site::Draft { .. } => DRAFT_ONLY,
        };
        Ok((format!("{text}\nPhases run in this order: {order}{draft}"), data))
    }

    /// Makes a new repository with the ADR and the plan in it.
    #[boxed]
    pub async fn project_create(&self, arguments: ProjectCreate) -> Answer {
        let name = PhaseId::new(arguments.name.clone()).map_err(|_| {
            let name = &arguments.name;
            Refusal::text(format!("{name:?} is not a project name: use lower-case letters, digits and '-'"))
        })?;
        let adr = self.existing_if_given(arguments.adr.as_deref()).await?;
        let plan = self.existing_if_given(arguments.plan.as_deref()).await?;
        let root = self.engine.projects().config.projects.join(name.as_str());
        let (git, judged) = (self.engine.projects().git.clone(), self.judged().await?);
        // A new project has no workflows of its own.
        let workflow_paths = WorkflowPaths::new(None, self.engine.projects().config.config_dir.clone());
        let crash = self.engine.projects().config.crash.clone();
        let (decision, phases) = (adr.clone(), plan.clone());
        let made = blocking(move || {
            crash.pass(|| "before creating a project".into());
            let made = match project::create(&root, git, &workflow_paths, adr.as_deref(), plan.as_deref()) {
                Ok(made) => made,
                Err(error) => return Ok(Err(error)),
            };
            crash.pass(|| "after creating a project".into());
            if let Some(judged) = judged {
                for draft in [adr, plan].into_iter().flatten() {
                    let bytes = read_bounded(&draft).map_err(Refusal::from_error)?;
                    judged.accept(&draft, &bytes).map_err(Refusal::from_error)?;
                }
            }
            Ok::<_, Refusal>(Ok(made))
        })
        .await?;
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                let (draft, found) = match &error {
                    ProjectError::Adr(AdrFileError::Invalid { diagnostics, .. }) => (decision, diagnostics.clone()),
                    ProjectError::Plan { diagnostics, .. } => (phases, diagnostics.clone()),
                    _ => (None, Vec::new()),
                };
                let Some(draft) = draft else { return Err(error.into()) };
                self.remember(&draft, None, Depth::Rules, &found).await;
                return Err(error.into());
            }
        };
        for draft in [decision, phases].into_iter().flatten() {
            // Whatever it was refused for before, it is in order now.
            self.remember(&draft, None, Depth::Rules, &[]).await;
        }
        self.choose(std::path::Path::new(&made.path)).await?;
        let mut text = format!(
            "Created the project {}{}{}.",
            made.path,
            made.adr.as_ref().map(|adr| format!(" with {adr}")).unwrap_or_default(),
            made.plan.as_ref().map(|plan| format!(" and {plan}")).unwrap_or_default(),
        );
        for warning in &made.warnings {
            text.push_str(&format!("\n{warning}"));
        }
        let data = json!({
            "project": made.path, "adr": made.adr, "plan": made.plan, "warnings": made.warnings, "commit": made.commit,
        });
        Ok((text, data))
    }

    /// What has been judged of the session's files; drafts that a project has taken over are.
    async fn judged(&self) -> Result<Option<CheckedFiles>, Refusal> {
        Ok(self.session().await?.map(|view| CheckedFiles::beside(std::path::Path::new(&view.directory))))
    }
}

fn order_of(plan: &Plan) -> String {
    let waves = plan.waves();
    let names = waves.iter().map(|wave| wave.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(" with "));
    names.collect::<Vec<_>>().join(", then ")
}
