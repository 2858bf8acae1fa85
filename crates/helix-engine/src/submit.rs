//! From a plan file to a job: everything that can be wrong is found here, before anything runs.
//!
//! Must not know how a job is carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use helix_agents::AgentProfile;
use helix_core::diagnostic::{Diagnostic, Span, did_you_mean};
use helix_core::ids::{JobId, PhaseId};
use helix_core::job::{AdrText, JobEvent, JobSpec, JobState, JobView, Origin, Recorded, RepoRef};
use helix_core::plan::{ParsedPlan, Phase, Plan, PlanPlaces};
use helix_store::{NewEvent, NewJob, Submitted};
use jiff::Timestamp;

use crate::codes;
use crate::engine::Engine;
use crate::failures::{Depth, DocumentCheck, Remembering};
use crate::git::{GitEnvironment, GitError, Head, Repository};
use crate::prompt;
use crate::skills::SkillCatalog;
use crate::workflows::Shelves;

/// A request to carry out a plan.
#[derive(Debug, Clone)]
pub struct SubmitRequest {
    /// The plan file, or a directory that holds `phases.yaml` (or `plans/*/phases.yaml`, if there is just one).
    pub plan: PathBuf,
    /// Repository to work in; `None` means the one that the plan lies in.
    pub project: Option<PathBuf>,
    /// Only these phases.
    pub only: Vec<PhaseId>,
    /// This phase and all that do not come before it.
    pub from: Option<PhaseId>,
    /// Replaces every phase's agent.
    pub agent: Option<String>,
    /// Replaces every phase's model.
    pub model: Option<String>,
    /// Money for the whole job in US dollars.
    pub budget_usd: Option<f64>,
    /// Replaces every phase's turn limit.
    pub max_turns: Option<u32>,
    /// Submitting again with the same key gives the same job.
    pub idempotency_key: Option<String>,
    /// Who asks.
    pub origin: Origin,
}

impl SubmitRequest {
    /// A request for the whole plan as it is.
    pub fn new(plan: PathBuf, origin: Origin) -> Self {
        Self {
            plan,
            project: None,
            only: Vec::new(),
            from: None,
            agent: None,
            model: None,
            budget_usd: None,
            max_turns: None,
            idempotency_key: None,
            origin,
        }
    }
}

/// An accepted request.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The job.
    pub job: JobView,
    /// Whether it existed before, by its idempotency key.
    pub existed: bool,
    /// What is worth knowing about the plan and blocks nothing.
    pub warnings: Vec<Diagnostic>,
}

/// Why a request was not accepted. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The plan has errors; all of them are listed, with the source for pictures.
    #[error("{file} has {} error(s)", diagnostics.iter().filter(|one| one.is_error()).count())]
    Plan {
        /// The plan file.
        file: String,
        /// Its text.
        source_text: String,
        /// Errors and warnings.
        diagnostics: Vec<Diagnostic>,
        /// What is known of the first error from before, in one sentence.
        before: Option<String>,
    },
    /// Something else in the request or its surroundings is wrong.
    #[error("{message}")]
    Refused {
        /// `HX` and four digits.
        code: &'static str,
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
        /// Whose fault it is, for exit codes and HTTP statuses.
        blame: Blame,
    },
}

impl SubmitError {
    /// `HX` and four digits.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Plan { .. } => codes::PLAN_INVALID,
            Self::Refused { code, .. } => code,
        }
    }
}

/// Whose fault a refusal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The request is wrong: exit code 2, HTTP 422.
    Request,
    /// It is outside what the caller may touch: exit code 2, HTTP 403.
    Permission,
    /// The environment is at fault (agent missing, disk full): exit code 4, HTTP 503.
    Environment,
    /// Helix itself is at fault: exit code 5, HTTP 500.
    Helix,
}

/// Largest plan that is read, in bytes.
const MAX_PLAN: u64 = 16 << 20;

/// Checks everything and writes the job's first event.
pub(crate) async fn submit(engine: &Engine, request: SubmitRequest) -> Result<Submission, SubmitError> {
    let inner = &engine.inner;
    if let Some(key) = request.idempotency_key.clone() {
        let known = inner.journal.job_by_key(key).await.map_err(|error| journal_refusal(&error))?;
        if let Some(job) = known {
            return Ok(Submission { job, existed: true, warnings: Vec::new() });
        }
    }
    let checked = remembered(engine, check(engine, &request).await).await?;
    let now = Timestamp::now();
    let id = JobId::from_parts(u64::try_from(now.as_millisecond()).unwrap_or(0), crate::engine::random());
    let event = JobEvent::JobSubmitted { spec: Box::new(checked.spec) };
    let new = NewEvent::of(now, &event).map_err(|error| journal_refusal(&error))?;
    let state =
        JobState::New.apply(&Recorded { number: 1, at: now, event }).map_err(|error| journal_refusal(&error))?;
    let Some(view) = JobView::project(&id, &state) else {
        return Err(journal_refusal(&std::io::Error::other("a submitted job has no view")));
    };
    let job = NewJob { idempotency_key: request.idempotency_key, events: vec![new], view: Box::new(view.clone()) };
    inner.config.crash.pass("before a submission");
    match inner.journal.submit(job).await.map_err(|error| journal_refusal(&error))? {
        Submitted::Created(_) => {
            inner.config.crash.pass("after a submission");
            engine.start_loop(id, state);
            Ok(Submission { job: view, existed: false, warnings: checked.warnings })
        }
        Submitted::Existing(other) => {
            let job = engine.job(other.as_str()).await.map_err(|error| journal_refusal(&error))?;
            Ok(Submission { job, existed: true, warnings: checked.warnings })
        }
    }
}

/// Remembers that a plan was refused or accepted; says with the refusal what is known from before.
async fn remembered(engine: &Engine, checked: Result<Checked, SubmitError>) -> Result<Checked, SubmitError> {
    let (path, diagnostics) = match &checked {
        Ok(checked) => (PathBuf::from(&checked.spec.plan_path), [].as_slice()),
        Err(SubmitError::Plan { file, diagnostics, .. }) => (PathBuf::from(file), diagnostics.as_slice()),
        Err(SubmitError::Refused { .. }) => return checked,
    };
    let project = checked.as_ref().ok().map(|checked| PathBuf::from(&checked.spec.repo.path));
    let look = DocumentCheck {
        path: &path,
        project: project.as_deref(),
        depth: Depth::Submission,
        diagnostics,
        remembering: Remembering::Yes,
    };
    let known = engine.failures().document_checked(look).await;
    checked.map_err(|error| match error {
        SubmitError::Plan { file, source_text, diagnostics, before: _ } => {
            SubmitError::Plan { file, source_text, diagnostics, before: known }
        }
        refused @ SubmitError::Refused { .. } => refused,
    })
}

/// A plan that can be carried out as it is.
pub struct Checked {
    /// The job it makes.
    pub spec: JobSpec,
    /// What is worth knowing and blocks nothing.
    pub warnings: Vec<Diagnostic>,
}

/// Finds everything that is wrong with a request, without changing anything.
///
/// # Errors
/// [`SubmitError`].
pub async fn check(engine: &Engine, request: &SubmitRequest) -> Result<Checked, SubmitError> {
    let config = &engine.inner.config;
    let (roots, wanted, project) = (config.roots.clone(), request.plan.clone(), request.project.clone());
    let given = project.clone();
    let file = run_blocking(move || {
        let file = PlanFile::find(&wanted)?;
        for path in [Some(&file.path), given.as_ref()].into_iter().flatten() {
            confine(path, &roots)?;
        }
        Ok(file)
    })
    .await?;
    let shelves_of = project.clone().or_else(|| file.path.parent().map(PathBuf::from)).unwrap_or_default();
    let (user, skills) = (config.config_dir.clone(), config.consultant.skills.clone());
    let (file, parsed, briefing) = run_blocking(move || {
        let shelves = Shelves::around(&shelves_of, user);
        let mut parsed = shelves.expand(file.parse()?, &file.name()).map_err(|problems| file.refused(problems))?;
        let catalog = SkillCatalog::around(&shelves_of, &skills);
        parsed.warnings.extend(catalog.unknown_in(&file.name(), &parsed));
        let briefing = shelves.briefing(&catalog).map_err(|problems| file.refused(problems))?;
        Ok((file, parsed, briefing))
    })
    .await?;
    let ParsedPlan { mut plan, mut warnings, places, .. } = parsed;
    override_plan(&mut plan, request)?;
    let mut problems = not_carried_out(&file, &plan, &places);
    problems.extend(unknown_agents(engine, &file, &plan, &places));
    let only = selected(&plan, request)?;
    let (git, project) = (engine.inner.git.clone(), request.project.clone());
    let plan_dir = file.path.parent().map_or_else(|| PathBuf::from("."), PathBuf::from);
    let ground = {
        let (plan, places, file) = (plan.clone(), places.clone(), file.clone());
        run_blocking(move || Ground::survey(project.unwrap_or(plan_dir), git, &plan, &places, &file)).await?
    };
    problems.extend(ground.problems);
    problems.extend(prompt::check(&plan, ground.adr.as_ref(), &briefing, |phase, problem| {
        let at = plan.phases.iter().position(|one| one.id == phase.id).and_then(|at| places.phases.get(at));
        file.error(&problem.code, at.map(|at| at.id), problem.message, problem.help.unwrap_or_default())
    }));
    if problems.iter().any(Diagnostic::is_error) {
        problems.extend(warnings);
        return Err(file.refused(problems));
    }
    warnings.extend(problems);
    for agent in agents_of(engine, &plan) {
        engine.inner.probes.check(&agent).await.map_err(|(message, hint)| SubmitError::Refused {
            code: codes::AGENT_UNUSABLE,
            message,
            hint: Some(hint),
            blame: Blame::Environment,
        })?;
    }
    let mut policy = config.policy.clone();
    policy.budget_usd = request.budget_usd.or(policy.budget_usd);
    let spec = JobSpec {
        plan,
        plan_path: file.path.to_string_lossy().into_owned(),
        repo: ground.repo,
        adr: ground.adr,
        policy,
        idempotency_key: request.idempotency_key.clone(),
        origin: request.origin.clone(),
        only,
        roles: config.roles.clone(),
        briefing,
        gate_files: ground.gate_files,
    };
    Ok(Checked { spec, warnings })
}

/// A plan file and its text.
#[derive(Debug, Clone)]
struct PlanFile {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl PlanFile {
    /// Reads the file, or finds the one plan of a directory.
    fn find(wanted: &Path) -> Result<Self, SubmitError> {
        let unreadable = |message: String, hint: &str| SubmitError::Refused {
            code: codes::PLAN_UNREADABLE,
            message,
            hint: Some(hint.into()),
            blame: Blame::Request,
        };
        let path = if wanted.is_dir() { Self::in_directory(wanted)? } else { wanted.to_path_buf() };
        let metadata = std::fs::metadata(&path).map_err(|error| {
            unreadable(
                format!("cannot read the plan {}: {error}", path.display()),
                "check the path; `helix plan new` writes a first plan",
            )
        })?;
        if !metadata.is_file() || metadata.len() > MAX_PLAN {
            let what = if metadata.is_file() { format!("has {} bytes", metadata.len()) } else { "is no file".into() };
            return Err(unreadable(format!("{} {what}", path.display()), "a plan is a file of at most 16 MiB"));
        }
        let bytes = std::fs::read(&path).map_err(|error| {
            unreadable(format!("cannot read the plan {}: {error}", path.display()), "check its permissions")
        })?;
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        Ok(Self { path, bytes })
    }

    fn in_directory(directory: &Path) -> Result<PathBuf, SubmitError> {
        let direct = directory.join("phases.yaml");
        if direct.is_file() {
            return Ok(direct);
        }
        let mut found: Vec<PathBuf> = std::fs::read_dir(directory.join("plans"))
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path().join("phases.yaml")))
            .filter(|path| path.is_file())
            .collect();
        found.sort();
        let (message, hint) = match &found[..] {
            [one] => return Ok(one.clone()),
            [] => (
                format!("there is no plan in {}", directory.display()),
                "expected phases.yaml or plans/<name>/phases.yaml; `helix plan new` writes a first one".to_owned(),
            ),
            several => {
                let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
                (
                    format!("there are several plans in {}", directory.display()),
                    format!("name one: {}", names.join(", ")),
                )
            }
        };
        Err(SubmitError::Refused { code: codes::PLAN_UNREADABLE, message, hint: Some(hint), blame: Blame::Request })
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn parse(&self) -> Result<ParsedPlan, SubmitError> {
        Plan::parse_bytes(&self.name(), &self.bytes).map_err(|problems| self.refused(problems))
    }

    fn refused(&self, diagnostics: Vec<Diagnostic>) -> SubmitError {
        let source_text = String::from_utf8_lossy(&self.bytes).into_owned();
        SubmitError::Plan { file: self.name(), source_text, diagnostics, before: None }
    }

    fn error(&self, code: &str, span: Option<Span>, message: String, help: String) -> Diagnostic {
        let diagnostic = Diagnostic::error(code, &self.name(), message).help(help);
        match span {
            Some(span) => diagnostic.at(span),
            None => diagnostic,
        }
    }
}

/// What the repository says about a plan.
struct Ground {
    repo: RepoRef,
    adr: Option<AdrText>,
    gate_files: BTreeMap<String, String>,
    problems: Vec<Diagnostic>,
}

impl Ground {
    fn survey(
        directory: PathBuf,
        git: GitEnvironment,
        plan: &Plan,
        places: &PlanPlaces,
        file: &PlanFile,
    ) -> Result<Self, SubmitError> {
        let refused = |code, message: String, hint: Option<String>| SubmitError::Refused {
            code,
            message,
            hint,
            blame: Blame::Request,
        };
        let repository = Repository::open(&directory, git)
            .map_err(|error| refused(codes::NO_REPOSITORY, chain(&error), error.hint()))?;
        let git_failed = |error: GitError| refused(codes::NO_REPOSITORY, chain(&error), error.hint());
        repository.identity().map_err(|error| refused(codes::NO_IDENTITY, chain(&error), error.hint()))?;
        let (base, branch) = match repository.head().map_err(git_failed)? {
            Head::Branch { branch, commit } => (commit, Some(branch)),
            Head::Detached { commit } => (commit, None),
            Head::Unborn { branch } => {
                return Err(refused(
                    codes::NO_COMMIT,
                    format!("{} has no commit yet on branch {branch}", repository.top().display()),
                    Some("commit what is there first: `git add . && git commit -m start`".into()),
                ));
            }
        };
        let mut problems = Vec::new();
        for (index, phase) in plan.phases.iter().enumerate() {
            let made: Vec<&str> = plan
                .ancestors(&phase.id)
                .iter()
                .filter_map(|id| plan.phase(id))
                .flat_map(|one| &one.outputs)
                .map(String::as_str)
                .collect();
            // What added phases will make is not known yet: such inputs are checked before the attempt.
            let grows = plan
                .ancestors(&phase.id)
                .iter()
                .any(|id| plan.phase(id).is_some_and(|one| one.generates_phases.is_some()));
            let inputs: Vec<String> =
                phase.inputs.iter().filter(|input| !grows && !made.contains(&input.as_str())).cloned().collect();
            for missing in crate::job::inputs::missing_inputs(&repository, &base, &inputs).map_err(git_failed)? {
                let place = places.phases.get(index).and_then(|place| {
                    place.inputs.get(phase.inputs.iter().position(|input| *input == missing)?).copied()
                });
                let message = format!("input {missing} of phase {} is not in the repository", phase.id);
                let help = format!("commit it first, or let an earlier phase claim it as an output (base is {base})");
                problems.push(file.error(codes::INPUT_MISSING, place, message, help));
            }
        }
        let adr = match &plan.adr {
            None => None,
            Some(path) => match std::fs::read_to_string(repository.top().join(path)) {
                Ok(text) => Some(AdrText { path: path.clone(), text }),
                Err(error) => {
                    let message = format!("the plan's ADR {path} cannot be read: {error}");
                    let help = format!("paths are relative to {}", repository.top().display());
                    problems.push(file.error(codes::ADR_MISSING, places.adr, message, help));
                    None
                }
            },
        };
        let gate_files = crate::gates::gate_files(plan, &repository, &base).map_err(git_failed)?;
        let repo = RepoRef { path: repository.top().to_string_lossy().into_owned(), base, branch };
        Ok(Self { repo, adr, gate_files, problems })
    }
}

fn override_plan(plan: &mut Plan, request: &SubmitRequest) -> Result<(), SubmitError> {
    if request.budget_usd.is_some_and(|budget| !(budget > 0.0 && budget.is_finite())) || request.max_turns == Some(0) {
        return Err(SubmitError::Refused {
            code: codes::BAD_LIMIT,
            message: "a limit must be a positive number".into(),
            hint: Some("leave it out for no limit".into()),
            blame: Blame::Request,
        });
    }
    for phase in &mut plan.phases {
        phase.agent = request.agent.clone().or_else(|| phase.agent.take());
        phase.model = request.model.clone().or_else(|| phase.model.take());
        phase.max_turns = request.max_turns.or(phase.max_turns);
        if let Some(generates) = &mut phase.generates_phases {
            let added = &mut generates.defaults;
            added.agent = request.agent.clone().or_else(|| added.agent.take());
            added.model = request.model.clone().or_else(|| added.model.take());
            added.max_turns = request.max_turns.or(added.max_turns);
        }
    }
    Ok(())
}

/// What the plan asks for and this version does not do. Refused at submit, so that nothing is silently left out.
fn not_carried_out(file: &PlanFile, plan: &Plan, places: &PlanPlaces) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, phase) in plan.phases.iter().enumerate() {
        let span = places.phases.get(index).map(|place| place.id);
        let given = phase.generates_phases.iter().flat_map(|generate| &generate.gates);
        for gate in phase.gates.iter().chain(given) {
            if let Err(unsupported) = crate::gates::supported(gate) {
                let message = format!("{unsupported} (phase {})", phase.id);
                problems.push(file.error(codes::NOT_CARRIED_OUT, span, message, unsupported.hint.into()));
            }
        }
    }
    problems
}

fn unknown_agents(engine: &Engine, file: &PlanFile, plan: &Plan, places: &PlanPlaces) -> Vec<Diagnostic> {
    let profiles = engine.inner.runner.profiles();
    let known = || profiles.iter().map(|profile| profile.name.as_str());
    let mut problems = Vec::new();
    for (index, phase) in plan.phases.iter().enumerate() {
        let span = places.phases.get(index).and_then(|place| place.agent.or(Some(place.id)));
        for agent in agents_in(engine, phase) {
            if known().any(|name| name == agent) {
                continue;
            }
            let help = match did_you_mean(agent, known()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("configured agents: {}", known().collect::<Vec<_>>().join(", ")),
            };
            let message = format!("there is no agent {agent} (phase {})", phase.id);
            problems.push(file.error(codes::UNKNOWN_AGENT, span, message, help));
        }
    }
    problems
}

/// The agent of a phase, and that of the phases that it adds.
fn agents_in<'a>(engine: &'a Engine, phase: &'a Phase) -> BTreeSet<&'a str> {
    let added = phase.generates_phases.iter().map(|generate| generate.defaults.agent.as_deref());
    std::iter::once(phase.agent.as_deref())
        .chain(added)
        .map(|agent| agent.unwrap_or(&engine.inner.config.default_agent))
        .collect()
}

fn agents_of(engine: &Engine, plan: &Plan) -> Vec<AgentProfile> {
    let names: BTreeSet<&str> = plan.phases.iter().flat_map(|phase| agents_in(engine, phase)).collect();
    engine.inner.runner.profiles().iter().filter(|profile| names.contains(profile.name.as_str())).cloned().collect()
}

/// The phases that `--phase` and `--from` choose; `None` means all.
fn selected(plan: &Plan, request: &SubmitRequest) -> Result<Option<Vec<PhaseId>>, SubmitError> {
    for id in request.only.iter().chain(&request.from) {
        if plan.phase(id).is_none() {
            let names: Vec<&str> = plan.phases.iter().map(|phase| phase.id.as_str()).collect();
            let hint = match did_you_mean(id.as_str(), names.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("phases of the plan: {}", names.join(", ")),
            };
            return Err(SubmitError::Refused {
                code: codes::UNKNOWN_PHASE,
                message: format!("there is no phase {id} in the plan"),
                hint: Some(hint),
                blame: Blame::Request,
            });
        }
    }
    let from = request.from.as_ref().map(|from| plan.ancestors(from));
    if request.only.is_empty() && from.is_none() {
        return Ok(None);
    }
    let chosen = plan.phases.iter().map(|phase| &phase.id).filter(|id| {
        (request.only.is_empty() || request.only.contains(id))
            && from.as_ref().is_none_or(|before| !before.contains(id))
    });
    Ok(Some(chosen.cloned().collect()))
}

/// Refuses a path that lies outside the roots, links resolved.
pub(crate) fn confine(path: &Path, roots: &[PathBuf]) -> Result<(), SubmitError> {
    if roots.is_empty() {
        return Ok(());
    }
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let inside =
        roots.iter().any(|root| real.starts_with(std::fs::canonicalize(root).unwrap_or_else(|_| root.clone())));
    if inside {
        return Ok(());
    }
    Err(SubmitError::Refused {
        code: codes::OUTSIDE_ROOTS,
        message: format!("{} lies outside the allowed roots", path.display()),
        hint: Some("add its directory to [server] roots in helix.toml".into()),
        blame: Blame::Permission,
    })
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SubmitError> + Send + 'static,
) -> Result<T, SubmitError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(SubmitError::Refused {
            code: codes::JOURNAL_FAILED,
            message: format!("a task of Helix ended early: {error}"),
            hint: Some("this is a defect of Helix: please report it".into()),
            blame: Blame::Helix,
        }),
    }
}

fn journal_refusal(error: &dyn std::error::Error) -> SubmitError {
    SubmitError::Refused {
        code: codes::JOURNAL_FAILED,
        message: format!("the job cannot be recorded: {}", chain(error)),
        hint: Some("check that the state directory is writable and not full, then submit again".into()),
        blame: Blame::Environment,
    }
}

/// An error with all its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    crate::job::environment(error).message
}
