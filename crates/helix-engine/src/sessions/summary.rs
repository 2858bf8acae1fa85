//! What a session has come to, for anyone who gives it a title or says what could come next.
//!
//! Must not change anything, nor wait for a turn: it reads what is there and opens nothing.

use async_recursion::async_recursion as boxed;
use std::path::Path;

use helix_adr::Adr;
use helix_job::phrases::open_questions;
use helix_job::session::SessionView;
use helix_job::{JobStatus, JobView};
use helix_language::Language;
use helix_process::bounded::read_text;

use super::Sessions;
use crate::absent::unless_absent;
use crate::consultant::phrases;
use crate::error::EngineError;
use helix_project::save_check::SavedKind;

/// Most files of a session's directory that are looked at.
const MOST_FILES: usize = 64;
/// Largest draft that is read, in bytes.
const LARGEST_DRAFT: u64 = 256 << 10;

/// What a session has come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// What it is about: the decision's title, else the plan's name; nothing while it is only talk.
    pub title: Option<String>,
    /// Words for it: project, language, field.
    pub tags: Vec<String>,
    /// How far it is.
    pub stage: SessionStage,
    /// The language that the user writes, as far as the record tells.
    pub language: Option<Language>,
}

/// How far a session is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SessionStage {
    /// Only talk so far.
    #[default]
    Talk,
    /// A decision or a plan is written.
    Drafted,
    /// A job is under way.
    Working,
    /// A job waits for a person, who could say one of these sentences.
    Asked(Vec<String>),
    /// The last job has succeeded.
    Succeeded,
    /// The last job has failed or was cancelled.
    Failed,
}

impl Sessions {
    /// What the session with this key has come to; `None` where there is none of this owner.
    ///
    /// # Errors
    /// [`EngineError::Journal`], and [`EngineError::Environment`] when its directory cannot be read.
    #[boxed]
    pub async fn summary(&self, owner: Option<&str>, key: &str) -> Result<Option<SessionSummary>, EngineError> {
        let Some(view) = self.by_key(key).await?.filter(|view| view.owner.as_deref() == owner) else {
            return Ok(None);
        };
        let last = view.jobs.last().map(std::slice::from_ref).unwrap_or_default();
        let job = self.known(last).await?.pop();
        let latest = match &view.latest {
            Some(turn) => Some(self.turn(turn).await?),
            None => None,
        };
        // Nobody is asked to go on from an answer that failed or did not pass its checks.
        let is_in_order =
            latest.is_none_or(|turn| turn.is_answered() && turn.end.as_ref().is_none_or(|end| end.note.is_none()));
        let language = self.consultant.language_of(view.latest.clone()).await.map_err(EngineError::from)?;
        let read = helix_process::spawn_blocking(move || summarize(&view, job.as_ref(), is_in_order, language)).await;
        read.map_err(EngineError::environment)?.map(Some).map_err(EngineError::environment)
    }
}

fn summarize(
    view: &SessionView,
    job: Option<&JobView>,
    is_in_order: bool,
    language: Option<Language>,
) -> std::io::Result<SessionSummary> {
    let draft = draft(Path::new(&view.directory))?;
    let front = draft.as_ref().and_then(|adr| adr.front.as_ref());
    let project = view.project.as_deref().and_then(|path| Path::new(path).file_name());
    let mut tags: Vec<String> = project.map(|name| name.to_string_lossy().into_owned()).into_iter().collect();
    for field in front.into_iter().flat_map(|front| [&front.language, &front.domain]).flatten() {
        if !field.value.trim().is_empty() && !tags.contains(&field.value) {
            tags.push(field.value.clone());
        }
    }
    let title = draft.as_ref().map(|adr| adr.title().to_owned()).or_else(|| job.map(|job| job.name.clone()));
    let stage = match stage(draft.is_some(), job, language.unwrap_or_default()) {
        SessionStage::Drafted | SessionStage::Succeeded if !is_in_order => SessionStage::Talk,
        stage => stage,
    };
    Ok(SessionSummary { title, tags, stage, language })
}

fn stage(drafted: bool, job: Option<&JobView>, language: Language) -> SessionStage {
    match job.map(|job| (job.status, open_questions(job).next())) {
        Some((JobStatus::Queued | JobStatus::Running | JobStatus::Waiting, Some(question))) => {
            SessionStage::Asked(question.options.iter().map(|one| phrases::choice(language, question, one)).collect())
        }
        Some((JobStatus::Queued | JobStatus::Running | JobStatus::Waiting, None)) => SessionStage::Working,
        Some((JobStatus::Succeeded, _)) => SessionStage::Succeeded,
        Some((JobStatus::Failed | JobStatus::Cancelled, _)) => SessionStage::Failed,
        None if drafted => SessionStage::Drafted,
        None => SessionStage::Talk,
    }
}

/// The decision that the Consultant wrote last in its directory.
fn draft(directory: &Path) -> std::io::Result<Option<Adr>> {
    let Some(entries) = unless_absent(std::fs::read_dir(directory))? else { return Ok(None) };
    let mut newest = None;
    for entry in entries.take(MOST_FILES) {
        let entry = entry?;
        let (path, about) = (entry.path(), entry.metadata()?);
        if !about.is_file() || about.len() > LARGEST_DRAFT || path.extension().is_none_or(|extension| extension != "md")
        {
            continue;
        }
        // What is no text is no decision.
        let Ok(Some(text)) = read_text(Some(directory), &path, LARGEST_DRAFT) else { continue };
        let written = about.modified()?;
        if SavedKind::detect(&path, &text) == Some(SavedKind::Adr)
            && newest.as_ref().is_none_or(|(before, _)| *before <= written)
        {
            newest = Some((written, Adr::parse(&path.to_string_lossy(), &text)));
        }
    }
    Ok(newest.map(|(_, adr)| adr))
}
