//! Everything that is wrong with a request, found without changing anything: the same for a submission, a dry run and a check.
//!
//! Must not stop at the first problem where the next can be found all the same.

use async_recursion::async_recursion as boxed;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::PhaseId;
use helix_job::{AdrText, Briefing, JobSpec, Replaced};
use helix_language::{RECORD, recorded};
use helix_plan::{ParsedPlan, Plan};

use super::agents::Agents;
use super::gates;
use super::plan_file::PlanFile;
use super::repository::RepositoryFacts;
use super::rules;
use super::{Blame, SubmitError, SubmitRequest, confine, defect, run_blocking, suggestion, venv};
use crate::codes;
use crate::config::{EngineConfig, WorkspaceSource};
use crate::probes::Probes;
use crate::prompt;
use helix_git::GitEnvironment;
use helix_project::rules::ProjectRules;
use helix_project::skills::SkillCatalog;
use helix_project::workflows::WorkflowPaths;
use helix_workspace::Workspace;

/// A plan that can be carried out as it is.
pub struct Checked {
    /// The job it makes.
    pub spec: JobSpec,
    /// How its work places are prepared.
    pub workspace: Workspace,
    /// What is worth knowing and blocks nothing.
    pub warnings: Vec<Diagnostic>,
}

/// What a request comes to, and everything that speaks against it.
pub struct Inspection {
    /// What messages call the plan.
    pub file: String,
    /// Its text, for pictures.
    pub source_text: String,
    /// Errors and warnings of the plan, each at its place.
    pub diagnostics: Vec<Diagnostic>,
    /// What else a submission would be refused for: the request itself, the repository, an agent that is not there.
    pub refusals: Vec<SubmitError>,
    /// The plan with the phases of its workflow, as the request changes it; `None` when it cannot be read.
    pub parsed: Option<ParsedPlan>,
    /// The phases that the request chooses; `None` means all.
    pub only: Option<Vec<PhaseId>>,
    /// The decision that it carries out.
    pub adr: Option<AdrText>,
    /// What its agents are told besides.
    pub briefing: Briefing,
    /// What the project tells its agents, in the commit that the job would start from.
    pub rules: Option<ProjectRules>,
    /// How its work places are prepared.
    pub workspace: Workspace,
    spec: Option<JobSpec>,
}

impl Inspection {
    /// The job as far as plan and repository make it, if they do.
    pub fn spec(&self) -> Option<&JobSpec> {
        self.spec.as_ref().filter(|_| !self.diagnostics.iter().any(Diagnostic::is_error))
    }

    /// The job as far as plan and repository make it, whatever else speaks against it.
    ///
    /// # Errors
    /// The plan's errors, else what keeps the repository from being looked at.
    pub fn job(self) -> Result<JobSpec, SubmitError> {
        match self.spec.clone() {
            Some(spec) if !self.diagnostics.iter().any(Diagnostic::is_error) => Ok(spec),
            Some(_) | None => Err(self.accepted().err().unwrap_or_else(|| defect("a plan made no job".into()))),
        }
    }

    /// The job, if nothing speaks against it.
    ///
    /// # Errors
    /// The plan's errors, else the first refusal.
    pub fn accepted(self) -> Result<Checked, SubmitError> {
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            let Self { file, source_text, diagnostics, .. } = self;
            return Err(SubmitError::Plan { file, source_text, diagnostics });
        }
        match (self.refusals.into_iter().next(), self.spec) {
            (Some(refusal), _) => Err(refusal),
            (None, Some(spec)) => Ok(Checked { spec, workspace: self.workspace, warnings: self.diagnostics }),
            (None, None) => Err(defect(format!("{} was refused for no reason", self.file))),
        }
    }
}

/// Inspects a request for people who only want to know; agents are asked for their versions.
///
/// # Errors
/// There is no such plan, or it lies where it must not be read.
#[boxed]
pub async fn inspect(config: &EngineConfig, request: &SubmitRequest) -> Result<Inspection, SubmitError> {
    let projects = Projects::new(Arc::new(config.clone()), GitEnvironment::from_process());
    projects.inspect(request, &Site::Repository, &config.roots).await
}

/// Where a plan stands that is inspected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Site {
    /// In the repository that it is to be carried out in, or the one that the request names.
    Repository,
    /// In none yet: what a repository would say of it is not known, only what this project has, if any, for plans to name.
    Draft { project: Option<PathBuf> },
}

/// The projects of a host, with what is asked while a request for one of them is inspected.
pub struct Projects {
    pub(crate) config: Arc<EngineConfig>,
    pub(crate) git: GitEnvironment,
    probes: Probes,
}

impl Projects {
    pub(crate) fn new(config: Arc<EngineConfig>, git: GitEnvironment) -> Self {
        Self { config, git, probes: Probes::default() }
    }

    /// Finds everything that is wrong with a request. Its paths must lie under these roots; with none there is no outside.
    ///
    /// # Errors
    /// As [`inspect`].
    pub(crate) async fn inspect(
        &self,
        request: &SubmitRequest,
        site: &Site,
        roots: &[PathBuf],
    ) -> Result<Inspection, SubmitError> {
        let (file, mut inspection) = self.read(request, site, roots.to_vec()).await?;
        let Some(mut parsed) = inspection.parsed.take() else { return Ok(inspection) };
        self.inspect_plan(request, site, &file, &mut parsed, &mut inspection).await?;
        inspection.parsed = Some(parsed);
        Ok(inspection)
    }

    async fn read(
        &self,
        request: &SubmitRequest,
        site: &Site,
        roots: Vec<PathBuf>,
    ) -> Result<(PlanFile, Inspection), SubmitError> {
        let (wanted, project) = (request.plan.clone(), request.project.clone());
        let (user, skills) = (self.config.config_dir.clone(), self.config.consultant.skills.clone());
        let (shown_as, site) = (request.shown_as.clone(), site.clone());
        run_blocking(move || {
            let file = PlanFile::find(&wanted, shown_as)?;
            for path in [Some(&file.path), project.as_ref()].into_iter().flatten() {
                confine(path, &roots)?;
            }
            let (workflow_paths, catalog) = match site {
                Site::Repository => {
                    let directory = project.or_else(|| file.path.parent().map(PathBuf::from)).unwrap_or_default();
                    (WorkflowPaths::around(&directory, user), SkillCatalog::around(&directory, &skills))
                }
                Site::Draft { project } => {
                    (WorkflowPaths::new(project.as_deref(), user), SkillCatalog::load(project.as_deref(), &skills))
                }
            };
            let mut diagnostics = Vec::new();
            let briefing = workflow_paths.briefing(&catalog).unwrap_or_else(|problems| {
                diagnostics.extend(problems);
                Briefing::default()
            });
            let parsed = match file.parse().and_then(|parsed| workflow_paths.expand(parsed, &file.name())) {
                Ok(parsed) => {
                    diagnostics.extend(parsed.warnings.iter().cloned());
                    diagnostics.extend(catalog.unknown_in(&file.name(), &parsed));
                    Some(parsed)
                }
                Err(problems) => {
                    diagnostics.extend(problems);
                    None
                }
            };
            let inspection = Inspection {
                file: file.name(),
                source_text: file.text(),
                diagnostics,
                refusals: Vec::new(),
                parsed,
                only: None,
                adr: None,
                briefing,
                rules: None,
                workspace: Workspace::default(),
                spec: None,
            };
            Ok((file, inspection))
        })
        .await
    }

    async fn inspect_plan(
        &self,
        request: &SubmitRequest,
        site: &Site,
        file: &PlanFile,
        parsed: &mut ParsedPlan,
        inspection: &mut Inspection,
    ) -> Result<(), SubmitError> {
        inspection.refusals.extend(override_plan(&mut parsed.plan, request).err());
        let ParsedPlan { plan, places, .. } = &*parsed;
        let agents = Agents { config: &self.config, file, plan, places };
        inspection.diagnostics.extend(agents.problems());
        inspection.refusals.extend(agents.unkept_budget(request));
        match selected(plan, request) {
            Ok(only) => inspection.only = only,
            Err(refusal) => inspection.refusals.push(refusal),
        }
        let repository = match site {
            Site::Draft { .. } => None,
            Site::Repository => {
                let beside = file.path.parent().map_or_else(|| PathBuf::from("."), PathBuf::from);
                Some((request.project.clone().unwrap_or(beside), self.git.clone()))
            }
        };
        let search_paths: Vec<_> = plan.phases.iter().map(|phase| agents.search_path(phase)).collect();
        let (own, beside, briefing) = (parsed.clone(), file.clone(), inspection.briefing.clone());
        let venv = request.venv.clone().or_else(|| self.config.venv.clone());
        let source = self.config.workspaces.clone();
        let surveyed =
            run_blocking(move || Ok(survey(repository, &own, &beside, &briefing, (search_paths, venv), &source)));
        let (facts, venv, workspace, refusal, problems) = surveyed.await?;
        inspection.workspace = workspace;
        inspection.refusals.extend(refusal);
        inspection.diagnostics.extend(problems);
        if let Some(facts) = &facts {
            inspection.diagnostics.extend(rules::problems(&facts.rules, &agents.used(), file));
            inspection.rules = Some(facts.rules.clone());
        }
        inspection.adr = facts.as_ref().and_then(|facts| facts.adr.clone());
        for agent in agents.used() {
            if let Err((message, hint)) = self.probes.check(agent).await {
                let refusal = SubmitError::refused(codes::AGENT_UNUSABLE, Blame::Environment, message, hint);
                inspection.refusals.push(refusal);
            }
        }
        if let Some(why) = self.config.sandbox.obstacle() {
            let hint = RECORD.words(&recorded!("sandbox-remedy"));
            let message = RECORD.words(&recorded!("start-sandbox-required", missing = why));
            inspection.refusals.push(SubmitError::refused(codes::NO_SANDBOX, Blame::Environment, message, hint));
        }
        // Errors first, as people read them.
        inspection.diagnostics.sort_by_key(|one| !one.is_error());
        let Some(facts) = facts else { return Ok(()) };
        let mut policy = self.config.policy.clone();
        policy.budget_usd = request.budget_usd.or(policy.budget_usd);
        policy.land = request.land.or(plan.land).unwrap_or(policy.land);
        policy.escalation.person = request.escalate_to.unwrap_or(policy.escalation.person);
        inspection.spec = Some(JobSpec {
            plan: plan.clone(),
            plan_path: file.path.to_string_lossy().into_owned(),
            repo: facts.repo,
            adr: facts.adr,
            policy,
            idempotency_key: request.idempotency_key.clone(),
            origin: request.origin.clone(),
            by: request.by.clone(),
            only: inspection.only.clone(),
            default_agent: self.config.default_agent.clone(),
            replaced: request.replaced.clone(),
            roles: self.config.roles.clone(),
            briefing: inspection.briefing.clone(),
            gate_files: facts.gate_files,
            venv,
            no_preflight: request.no_preflight,
        });
        Ok(())
    }
}

/// What is found in the repository, if the plan has one yet, and in the phases. `search_paths` says for each phase where the programs
/// of its gates are looked for, `venv` the virtual environment that was asked for. Reads files and asks git.
fn survey(
    repository: Option<(PathBuf, GitEnvironment)>,
    ParsedPlan { plan, places, .. }: &ParsedPlan,
    file: &PlanFile,
    briefing: &Briefing,
    (mut search_paths, venv): (Vec<Option<String>>, Option<PathBuf>),
    workspaces: &WorkspaceSource,
) -> (Option<RepositoryFacts>, Option<String>, Workspace, Vec<SubmitError>, Vec<Diagnostic>) {
    let facts = repository.map(|(directory, git)| RepositoryFacts::survey(directory, git, plan, places, file));
    let (facts, mut refusals) = match facts.transpose() {
        Ok(facts) => (facts, Vec::new()),
        Err(refusal) => (None, vec![refusal]),
    };
    let top = facts.as_ref().map(|facts| PathBuf::from(&facts.repo.path));
    let venv = venv::chosen_venv(venv, top.as_deref()).unwrap_or_else(|refusal| {
        refusals.push(refusal);
        None
    });
    let workspace = top.as_deref().map_or(Ok(Workspace::default()), |top| workspace_of(workspaces, top));
    let workspace = workspace.unwrap_or_else(|refusal| {
        refusals.push(refusal);
        Workspace::default()
    });
    if !workspace.setup.is_empty() {
        // What a set-up will install cannot be looked for yet.
        search_paths.fill(None);
    }
    if let Some(venv) = &venv {
        search_paths.iter_mut().flatten().for_each(|path| path.insert_str(0, &format!("{venv}/bin:")));
    }
    let adr = facts.as_ref().and_then(|facts| facts.adr.as_ref());
    let mut problems: Vec<Diagnostic> = facts.iter().flat_map(|facts| facts.problems.iter().cloned()).collect();
    problems.extend(gates::problems(file, plan, places, adr, &search_paths));
    // Without its decision, a template that shows it would be called wrong.
    if plan.adr.is_none() || adr.is_some() {
        problems.extend(prompt::check(plan, adr, briefing, |at, problem| {
            let span = places.phases.get(at).map(|place| place.id);
            file.error(&problem.code, span, problem.message, problem.help.unwrap_or_default())
        }));
    }
    (facts, venv, workspace, refusals, problems)
}

/// How work places of a repository are prepared. Blocks.
///
/// # Errors
/// What it says of that cannot be used.
pub(crate) fn workspace_of(workspaces: &WorkspaceSource, top: &Path) -> Result<Workspace, SubmitError> {
    let refused =
        |(message, hint): (String, String)| SubmitError::refused(codes::NO_WORKSPACE, Blame::Request, message, hint);
    workspaces.workspace(top).map_err(refused)
}

fn override_plan(plan: &mut Plan, request: &SubmitRequest) -> Result<(), SubmitError> {
    let Replaced { agent, model, max_turns } = &request.replaced;
    if request.budget_usd.is_some_and(|budget| !(budget > 0.0 && budget.is_finite())) || *max_turns == Some(0) {
        let message = "a limit must be a positive number".to_owned();
        return Err(SubmitError::refused(codes::BAD_LIMIT, Blame::Request, message, "omit it for no limit"));
    }
    plan.issue = request.issue.clone().or_else(|| plan.issue.take());
    for phase in &mut plan.phases {
        phase.agent = agent.clone().or_else(|| phase.agent.take());
        phase.model = model.clone().or_else(|| phase.model.take());
        phase.max_turns = max_turns.or(phase.max_turns);
        if let Some(generates) = &mut phase.generates_phases {
            let added = &mut generates.defaults;
            added.agent = agent.clone().or_else(|| added.agent.take());
            added.model = model.clone().or_else(|| added.model.take());
            added.max_turns = max_turns.or(added.max_turns);
        }
    }
    Ok(())
}

/// The phases that `--phase` and `--from` choose; `None` means all.
fn selected(plan: &Plan, request: &SubmitRequest) -> Result<Option<Vec<PhaseId>>, SubmitError> {
    for id in request.only.iter().chain(&request.from) {
        if plan.phase(id).is_none() {
            let names: Vec<&str> = plan.phases.iter().map(|phase| phase.id.as_str()).collect();
            let hint = suggestion(id.as_str(), &names, "phases of the plan");
            let message = format!("the plan has no phase {id}");
            return Err(SubmitError::refused(codes::UNKNOWN_PHASE, Blame::Request, message, hint));
        }
    }
    if request.only.is_empty() && request.from.is_none() {
        return Ok(None);
    }
    let ancestry = plan.ancestry();
    let chosen = plan.phases.iter().map(|phase| &phase.id).filter(|id| {
        (request.only.is_empty() || request.only.contains(id))
            && request.from.as_ref().is_none_or(|from| !ancestry.is_before(id, from))
    });
    Ok(Some(chosen.cloned().collect()))
}
