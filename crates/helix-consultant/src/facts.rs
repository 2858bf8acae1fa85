//! What the Consultant is told besides the conversation: its project, decisions, jobs, open questions, skills, experts.
//!
//! Must not know the chat. Everything here is read anew for each turn, and bounded: it stands in every prompt.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_core::ids::JobId;
use helix_core::text::one_line;
use helix_job::question::{QuestionStatus, QuestionView};
use helix_job::session::SessionView;
use helix_store::{Journal, ReadError};
use serde_json::{Value, json};

use super::job_digest::newest_jobs;
use super::services::ConsultantServices;
use crate::prompt::Facts;
use helix_project::adr_files::AdrDirectory;
use helix_project::skills::SkillCatalog;
use helix_runs::services::TOOL_NAMES;

/// Most decisions of the project that are named, the newest.
const MOST_ADRS: usize = 40;
/// Most names of a directory.
const MOST_NAMES: usize = 60;
/// Longest text of a question or a description, in characters.
const LONGEST_TEXT: usize = 600;

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
    pub(super) async fn facts(&self, view: &SessionView) -> Result<Facts, FactsError> {
        let (jobs, questions) = known_jobs(self.journal(), &view.jobs).await?;
        let (project, user) = (view.project.clone().map(PathBuf::from), self.config.skills.clone());
        let projects = self.projects.clone();
        let read = tokio::task::spawn_blocking(move || {
            let skills = SkillCatalog::load(project.as_deref(), &user);
            (project.as_deref().and_then(known_project), names_in(&projects), skills)
        });
        let (project, known_projects, catalog) = read.await?;
        let experts = &self.config.experts;
        let facts = json!({
            "workspace": view.directory,
            "projects": self.projects.to_string_lossy(),
            "known_projects": known_projects,
            "project": project,
            "jobs": jobs,
            "questions": questions,
            "skills": catalog.skills().map(|one| named(&one.name, &one.description)).collect::<Vec<_>>(),
            "experts": experts.iter().map(|one| named(&one.name, &one.description)).collect::<Vec<_>>(),
            "adr_template": helix_project::adr_files::template(),
            "tools": self.host.tools.as_ref().map_or_else(Vec::new, |_| TOOL_NAMES.to_vec()),
        });
        Ok(facts.as_object().cloned().unwrap_or_default())
    }
}

fn named(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": one_line(description, LONGEST_TEXT) })
}

/// The newest jobs of a conversation as the journal has them, and what they wait for.
async fn known_jobs(journal: &Arc<dyn Journal>, ids: &[JobId]) -> Result<(Vec<Value>, Vec<Value>), ReadError> {
    let (mut jobs, mut questions) = (Vec::new(), Vec::new());
    for job in newest_jobs(journal, ids).await? {
        let phases = job.phases.iter().filter(|_| !job.status.is_final());
        jobs.push(json!({
            "id": job.id,
            "name": job.name,
            "status": job.status.word(),
            "phases": phases.map(|phase| format!("{} {}", phase.id, phase.status.word())).collect::<Vec<_>>(),
        }));
        let open = job.questions.iter().filter(|question| question.status == QuestionStatus::Open);
        questions.extend(open.map(known_question));
    }
    Ok((jobs, questions))
}

/// What is known of a project; `None` when it is not there any more.
fn known_project(root: &Path) -> Option<Value> {
    if !root.is_dir() {
        return None;
    }
    let plans = names_in(&root.join("plans")).into_iter().map(|name| format!("plans/{name}/phases.yaml"));
    let adrs: Vec<Value> = match AdrDirectory::open(root) {
        Ok(directory) => directory.adrs().iter().map(known_adr).collect(),
        Err(error) => {
            tracing::warn!(project = %root.display(), %error, "the Consultant is not told of the project's decisions");
            Vec::new()
        }
    };
    let more_adrs = adrs.len().saturating_sub(MOST_ADRS);
    Some(json!({
        "path": root.to_string_lossy(),
        "files": names_in(root),
        "plans": plans.filter(|plan| root.join(plan).is_file()).collect::<Vec<_>>(),
        "adrs": adrs[more_adrs..],
        "more_adrs": more_adrs,
    }))
}

fn known_adr(adr: &helix_adr::Adr) -> Value {
    let id = adr.id().map(|id| id.to_string().trim_start_matches("ADR-").to_owned());
    json!({
        "id": id.unwrap_or_default(),
        "title": adr.title().chars().take(120).collect::<String>(),
        "status": adr.status().map(|status| status.word()).unwrap_or_default(),
        "file": adr.file,
    })
}

/// A question that a job waits for, its text cut to what a prompt can bear.
fn known_question(question: &QuestionView) -> Value {
    json!({
        "id": question.id,
        "kind": question.kind,
        "job": question.job,
        "phase": question.phase,
        "text": one_line(&question.text, LONGEST_TEXT),
        "options": question.options.iter().map(|option| &option.key).collect::<Vec<_>>(),
    })
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
