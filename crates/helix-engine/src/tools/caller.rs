//! Who calls a tool: what relative paths mean for them, what they may touch, and what is not theirs to do.
//!
//! Must not know what any tool does.

use std::path::{Path, PathBuf};

use helix_core::ids::{RunId, SessionId};
use helix_job::session::{SessionEvent, SessionView};
use helix_job::{How, JobView, Person};
use serde::Deserialize;

use super::refusal::Refusal;
use super::{Tools, blocking};
use crate::job::PHASE_MCP_TOOLS;
use crate::submit::confine;
use async_recursion::async_recursion as boxed;
use helix_project::chosen::note_project;
use helix_project::project::project_above;
use helix_project::skills::SkillCatalog;

/// Why a session's own directory is no project: its repository would be what an agent has written, with programs that git runs.
const OWN_DIRECTORY: &str = "this directory is the session's own: make a project of what is in it with project_create";

/// What a client does itself that starts drafts on the user's yes.
const STARTS_DRAFTS: [&str; 4] = ["project_create", "adr_finalize", "adr_accept", "job_start"];
const LEFT_TO_TERMINAL: &str = "nothing was done: the user's terminal shows them your drafts adr-draft.md and phases.yaml when your \
                                answer ends, and starts them on a yes; check them with adr_check and plan_check, and end your answer";

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// The Consultant, in a session.
    Session(SessionId),
    /// The agent of a phase: it reads, checks and asks; decisions and jobs are not its own to make.
    Run(RunId),
    /// A person, through a client of theirs.
    Outside {
        /// Where its relative paths begin; without it, all its paths must be absolute.
        directory: Option<PathBuf>,
        by: Person,
    },
}

/// The part of a run's request that is needed here.
#[derive(Deserialize)]
struct RunPlace {
    cwd: PathBuf,
}

impl Tools {
    /// The session that calls, if one does.
    pub(super) async fn session(&self) -> Result<Option<SessionView>, Refusal> {
        match &self.caller {
            Caller::Session(session) => {
                Ok(Some(self.engine.sessions().get(session).await.map_err(Refusal::from_error)?))
            }
            Caller::Run(_) | Caller::Outside { .. } => Ok(None),
        }
    }

    /// Refuses what an agent that carries out a phase must leave to people and the Consultant, and notes that it asked; and what the
    /// Consultant must leave to a client that starts drafts on the user's yes.
    ///
    /// # Errors
    /// What the agent is told.
    #[boxed]
    pub async fn permit(&self, tool: &str) -> Result<(), Refusal> {
        match &self.caller {
            Caller::Run(run) if !PHASE_MCP_TOOLS.contains(&tool) => {
                self.engine.jobs().agent_refused(run.as_str(), tool).await;
                Err(Refusal::text(format!(
                    "{tool} is not for the agent of a phase (run {run}): do your task; if you need a decision, call ask_user"
                )))
            }
            Caller::Session(_) if STARTS_DRAFTS.contains(&tool) => {
                let confirms =
                    self.session().await?.is_some_and(|view| view.running().is_some_and(|turn| turn.begin.confirms));
                if confirms { Err(Refusal::text(LEFT_TO_TERMINAL)) } else { Ok(()) }
            }
            Caller::Run(_) | Caller::Session(_) | Caller::Outside { .. } => Ok(()),
        }
    }

    /// On whose behalf a call is made: in a session, its user's, as the chat client says.
    pub(super) async fn person(&self) -> Result<Person, Refusal> {
        Ok(match &self.caller {
            Caller::Outside { by, .. } => by.clone(),
            Caller::Session(_) => match self.session().await?.and_then(|view| view.owner) {
                Some(owner) => Person::new(&owner, How::Chat),
                None => self.engine.owner(How::Chat),
            },
            Caller::Run(run) => return Err(Refusal::text(format!("run {run} is not a person"))),
        })
    }

    /// A job that the caller has to do with: an agent's own, of a chat user what their sessions have started, else any. Of another it
    /// hears nothing, not even that there is one.
    pub(super) async fn job(&self, id: &str) -> Result<JobView, Refusal> {
        let found = self.engine.jobs().get(id).await;
        let owner = self.session().await?.and_then(|view| view.owner);
        let is_own = |job: &JobView| match (&self.caller, &owner) {
            (Caller::Run(run), _) => run.job_and_phase().is_some_and(|(own, _)| own == job.id),
            (Caller::Session(_), Some(owner)) => job.by.as_ref() == Some(&Person::new(owner, How::Chat)),
            (Caller::Session(_), None) | (Caller::Outside { .. }, _) => true,
        };
        match (found, &self.caller, &owner) {
            (Ok(job), _, _) if is_own(&job) => Ok(job),
            (Err(error), Caller::Outside { .. }, _) | (Err(error), Caller::Session(_), None) => {
                Err(Refusal::from_error(error))
            }
            (_, Caller::Run(_), _) => Err(Refusal::text(format!("{id} is not your job: leave out its id"))),
            (_, _, _) => Err(Refusal::text(format!("no chat of this user has started a job {id}"))),
        }
    }

    /// Where relative paths begin, if anywhere.
    async fn start(&self) -> Result<Option<PathBuf>, Refusal> {
        match &self.caller {
            Caller::Session(_) => Ok(self.session().await?.map(|view| PathBuf::from(view.directory))),
            Caller::Outside { directory, .. } => Ok(directory.clone()),
            Caller::Run(run) => {
                let path = self.engine.jobs().run_dir(run).join("request.json");
                let unknown = |error: &dyn std::error::Error| Refusal::text(format!("no record of run {run}: {error}"));
                let bytes = tokio::fs::read(&path).await.map_err(|error| unknown(&error))?;
                let place: RunPlace = serde_json::from_slice(&bytes).map_err(|error| unknown(&error))?;
                Ok(Some(place.cwd))
            }
        }
    }

    /// The directory of a session or run, links resolved: what lies in it, an agent has written.
    pub(super) async fn own(&self) -> Result<Option<PathBuf>, Refusal> {
        let start = match &self.caller {
            Caller::Session(_) | Caller::Run(_) => self.start().await?,
            Caller::Outside { .. } => None,
        };
        let Some(start) = start else { return Ok(None) };
        let real = tokio::fs::canonicalize(&start).await;
        real.map(Some).map_err(|error| Refusal::text(format!("cannot use {}: {error}", start.display())))
    }

    /// A path that the caller may use, links resolved. A run: in its own directory. A session: there, in the projects that Helix has
    /// made, and under the configured roots, or without any in a project. Others: the same with roots, else anything on this machine.
    pub(super) async fn existing(&self, path: &str) -> Result<PathBuf, Refusal> {
        let config = &self.engine.projects().config;
        let asked = match self.start().await? {
            Some(start) => start.join(path),
            None => PathBuf::from(path),
        };
        if !asked.is_absolute() {
            return Err(Refusal::text(format!("{path:?} is relative: give the full path")));
        }
        let real = tokio::fs::canonicalize(&asked)
            .await
            .map_err(|error| Refusal::text(format!("cannot use {}: {error}", asked.display())))?;
        let own = self.own().await?;
        if own.as_ref().is_some_and(|own| real.starts_with(own)) {
            return Ok(real);
        }
        let (caller, roots) =
            (self.caller.clone(), [config.roots.as_slice(), std::slice::from_ref(&config.projects)].concat());
        let is_rooted = !config.roots.is_empty();
        // A decision or `.git` makes a project of any directory, also of another session's and of a job's.
        let state = self.engine.state_directory();
        let is_made = |projects: PathBuf| projects.starts_with(state) && real.starts_with(projects);
        let is_others = matches!(caller, Caller::Session(_))
            && real.starts_with(state)
            && !config.projects.canonicalize().is_ok_and(is_made);
        blocking(move || {
            match caller {
                Caller::Run(_) => return Err(Refusal::text(format!("{} is not in your directory", asked.display()))),
                Caller::Session(_) if is_others => {
                    return Err(Refusal::text(format!("{} lies in Helix's state directory", asked.display())));
                }
                Caller::Session(_) if !is_rooted && project_above(&real, None).is_some() => {}
                Caller::Outside { .. } if !is_rooted => {}
                Caller::Session(_) | Caller::Outside { .. } => confine(&real, &roots)?,
            }
            Ok(real)
        })
        .await
    }

    pub(super) async fn existing_if_given(&self, path: Option<&str>) -> Result<Option<PathBuf>, Refusal> {
        match path.filter(|path| !path.is_empty()) {
            Some(path) => Ok(Some(self.existing(path).await?)),
            None => Ok(None),
        }
    }

    /// Above what directory no project is looked for: a run's own, links resolved.
    async fn top(&self) -> Result<Option<PathBuf>, Refusal> {
        if let Caller::Run(_) = &self.caller { self.own().await } else { Ok(None) }
    }

    /// The project that is meant: the named one, the session's own, the run's repository, or none.
    pub(super) async fn project(&self, named: Option<&str>) -> Result<Option<PathBuf>, Refusal> {
        let top = self.top().await?;
        if let Some(named) = self.existing_if_given(named).await? {
            let root = blocking(move || {
                let directory = if named.is_dir() { named.clone() } else { named.parent().unwrap_or(&named).into() };
                Ok::<_, Refusal>(project_above(&directory, top.as_deref()).unwrap_or(directory))
            })
            .await?;
            if matches!(self.caller, Caller::Session(_)) && self.own().await?.is_some_and(|own| root.starts_with(own)) {
                return Err(Refusal::text(OWN_DIRECTORY));
            }
            self.choose(&root).await?;
            return Ok(Some(root));
        }
        match &self.caller {
            Caller::Session(_) => Ok(self.session().await?.and_then(|view| view.project).map(PathBuf::from)),
            Caller::Run(_) | Caller::Outside { .. } => {
                let Some(start) = top.clone().or(self.start().await?) else { return Ok(None) };
                blocking(move || Ok::<_, Refusal>(project_above(&start, top.as_deref()))).await
            }
        }
    }

    /// The project that a file is checked against: the one that is meant, or the one that the file lies in. A draft in a
    /// session's own directory lies in none, wherever the state directory is.
    pub(super) async fn project_for(&self, file: &Path, named: Option<&str>) -> Result<Option<PathBuf>, Refusal> {
        let own = self.session().await?.map(|view| PathBuf::from(view.directory));
        if named.is_none_or(str::is_empty) && !own.is_some_and(|own| file.starts_with(own)) {
            let directory = file.parent().unwrap_or(file).to_path_buf();
            let top = self.top().await?;
            return blocking(move || Ok::<_, Refusal>(project_above(&directory, top.as_deref()))).await;
        }
        self.project(named).await
    }

    /// Notes which project the session is about from now on.
    pub(super) async fn choose(&self, project: &Path) -> Result<(), Refusal> {
        let Some(view) = self.session().await? else { return Ok(()) };
        let path = project.to_string_lossy().into_owned();
        let within_own = project.starts_with(&view.directory);
        if within_own || view.project.as_ref() == Some(&path) {
            return Ok(());
        }
        let (session, noted) = (PathBuf::from(&view.directory), PathBuf::from(&path));
        blocking(move || {
            let session = session.parent().unwrap_or(&session);
            note_project(session, Some(&noted))
                .map_err(|error| Refusal::text(format!("cannot note the project: {error}")))
        })
        .await?;
        let recorded = self.engine.sessions().record(view, SessionEvent::ProjectChosen { path }).await;
        recorded.map_err(|error| Refusal::text(error.line()))
    }

    /// The skills in reach of a project.
    pub(super) async fn skills(&self, project: Option<PathBuf>) -> Result<SkillCatalog, Refusal> {
        let user = self.engine.projects().config.consultant.skills.clone();
        blocking(move || Ok::<_, Refusal>(SkillCatalog::load(project.as_deref(), &user))).await
    }
}

#[cfg(test)]
#[path = "caller_test.rs"]
mod tests;
