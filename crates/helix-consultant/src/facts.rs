//! What the Consultant is told besides the conversation: its project, decisions, jobs, open questions, skills, experts.
//!
//! Must not know the chat. Everything here is read anew for each turn, and bounded: it stands in every prompt.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_adr::AdrId;
use helix_core::ids::JobId;
use helix_job::question::QuestionStatus;
use helix_job::session::SessionView;
use helix_store::{Journal, ReadError};

use super::services::ConsultantServices;
use crate::prompt::{ConsultantFacts, KnownAdr, KnownJob, KnownProject, KnownQuestion, Named};
use helix_project::adr_files::AdrDirectory;
use helix_project::skills::SkillCatalog;
use helix_runs::services::TOOL_NAMES;

/// Most jobs of a conversation that are named, the newest.
const MOST_JOBS: usize = 10;
/// Most decisions of the project that are named, the newest.
const MOST_ADRS: usize = 40;
/// Most names of a directory.
const MOST_NAMES: usize = 60;

/// Why the facts cannot be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum FactsError {
    #[error("the session's jobs cannot be read")]
    Journal(#[from] ReadError),
    /// A task of Helix ended early.
    #[error("the project's facts cannot be read")]
    Task(#[from] tokio::task::JoinError),
}

impl ConsultantServices {
    /// Everything that the template is rendered with.
    pub(super) async fn facts(&self, view: &SessionView) -> Result<ConsultantFacts, FactsError> {
        let (jobs, questions) = known_jobs(self.journal(), &view.jobs).await?;
        let (project, user) = (view.project.clone().map(PathBuf::from), self.config.skills.clone());
        let projects = self.projects.clone();
        let read = tokio::task::spawn_blocking(move || {
            let skills = SkillCatalog::load(project.as_deref(), &user);
            (project.as_deref().and_then(known_project), names_in(&projects), skills)
        });
        let (project, known_projects, catalog) = read.await?;
        let skills = catalog.skills().map(|one| named(&one.name, &one.description)).collect();
        let experts = self.config.experts.iter().map(|one| named(&one.name, &one.description)).collect();
        let tools = if self.host.tools.is_some() { TOOL_NAMES.map(str::to_owned).to_vec() } else { Vec::new() };
        Ok(ConsultantFacts {
            workspace: view.directory.clone(),
            projects: self.projects.to_string_lossy().into_owned(),
            known_projects,
            project,
            jobs,
            questions,
            skills,
            experts,
            adr_template: helix_project::adr_files::template(),
            tools,
        })
    }
}

fn named(name: &str, description: &str) -> Named {
    Named { name: name.to_owned(), description: description.split_whitespace().collect::<Vec<_>>().join(" ") }
}

/// The newest jobs of a conversation as the journal has them, and what they wait for.
async fn known_jobs(
    journal: &Arc<dyn Journal>,
    ids: &[JobId],
) -> Result<(Vec<KnownJob>, Vec<KnownQuestion>), ReadError> {
    let (mut jobs, mut questions) = (Vec::new(), Vec::new());
    for id in &ids[ids.len().saturating_sub(MOST_JOBS)..] {
        // A job that is gone from the journal is of no use to anybody.
        let Some(job) = journal.job(id.to_string()).await? else { continue };
        let phase = |phase: &helix_job::PhaseView| format!("{} {}", phase.id, phase.status.word());
        jobs.push(KnownJob {
            id: id.to_string(),
            name: job.name.clone(),
            status: job.status.word().to_owned(),
            phases: if job.status.is_final() { Vec::new() } else { job.phases.iter().map(phase).collect() },
        });
        let open = job.questions.iter().filter(|question| question.status == QuestionStatus::Open);
        questions.extend(open.map(KnownQuestion::from_view));
    }
    Ok((jobs, questions))
}

/// What is known of a project; `None` when it is not there any more.
fn known_project(root: &Path) -> Option<KnownProject> {
    if !root.is_dir() {
        return None;
    }
    let plans = names_in(&root.join("plans")).into_iter().map(|name| format!("plans/{name}/phases.yaml"));
    let adrs = match AdrDirectory::open(root) {
        Ok(directory) => directory.adrs().iter().map(known_adr).collect(),
        Err(error) => {
            tracing::warn!(project = %root.display(), %error, "the Consultant is not told of the project's decisions");
            Vec::new()
        }
    };
    let more_adrs = adrs.len().saturating_sub(MOST_ADRS);
    Some(KnownProject {
        path: root.to_string_lossy().into_owned(),
        files: names_in(root),
        plans: plans.filter(|plan| root.join(plan).is_file()).collect(),
        adrs: adrs.into_iter().skip(more_adrs).collect(),
        more_adrs,
    })
}

fn known_adr(adr: &helix_adr::Adr) -> KnownAdr {
    let front = adr.front.as_ref();
    let id = front.and_then(|front| front.adr_id.as_ref()).map(|id| match id.value {
        AdrId::Number(number) => format!("{number:03}"),
        AdrId::Draft => "draft".to_owned(),
    });
    let status = front.and_then(|front| front.status.as_ref()).map(|status| status.value.word().to_owned());
    KnownAdr {
        id: id.unwrap_or_default(),
        title: adr.title().chars().take(120).collect(),
        status: status.unwrap_or_default(),
        file: adr.file.clone(),
    }
}

/// Names in a directory in order, hidden ones left out; none if it cannot be read.
fn names_in(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.') && !name.contains(char::is_control))
        .take(2_000)
        .collect();
    names.sort();
    if names.len() > MOST_NAMES {
        names.truncate(MOST_NAMES);
        names.push("…".into());
    }
    names
}
