//! `status.json` beside a job's plan: its state as everybody sees it, rewritten after every change, for programs that only watch
//! files.
//!
//! Nothing depends on it: trouble is logged once and changes nothing about the job. Must not touch a file that somebody else
//! wrote, or one that git keeps.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use helix_core::ids::JobId;
use helix_job::{JobStatus, JobView};
use helix_process::bounded::read_text;

use super::Jobs;
use crate::error::EngineError;
use helix_git::{GitEnvironment, GitError, OpenError, Repository};

/// Largest file in its place that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// The file's name.
const STATUS_FILE: &str = "status.json";

/// How long changes are collected before they are written: the whole file is written each time.
const SETTLE: Duration = Duration::from_millis(200);

/// How old the times in it may become while nothing happens.
const REFRESH: Duration = Duration::from_secs(5);

/// Pauses between tries to read the journal, where that fails.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// How its name begins before it is whole.
const BEFORE: &str = ".status.json.";

/// Two jobs of one plan do not write at the same moment: each looks whose turn it is first.
static WRITING: Mutex<()> = Mutex::new(());

/// Why the file was not written.
#[derive(Debug, thiserror::Error)]
enum StatusFileError {
    #[error("the job cannot be read")]
    Unread(#[from] EngineError),
    #[error("a task of Helix ended early")]
    Task(#[from] helix_process::EndedEarly),
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable { path: PathBuf, source: std::io::Error },
    #[error("{} already exists and was not written by Helix: not overwritten", path.display())]
    Foreign { path: PathBuf },
    #[error("{} is tracked by git: not overwritten", path.display())]
    Tracked { path: PathBuf },
    #[error("the repository of {} cannot be read", path.display())]
    Repository { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
}

impl Jobs {
    /// Keeps the file of a job up to date until the job is over or this engine closes. Runs beside the job's loop.
    pub(super) async fn keep_status_file(self: Arc<Self>, id: JobId) {
        if let Err(error) = self.follow_into_file(&id).await {
            tracing::warn!(job = %id, error = %helix_core::error_chain(&error), "status.json is not kept");
        }
    }

    async fn follow_into_file(&self, id: &JobId) -> Result<(), StatusFileError> {
        let (first, git) = (self.get(id.as_str()).await?, self.effects.shared.git.clone());
        let path = helix_process::spawn_blocking(move || prepare(&first, git)).await??;
        let mut pause = FIRST_PAUSE;
        loop {
            match self.write_changes(id, &path).await {
                // The journal cannot be read at this moment: the job waits for it, too, and goes on.
                Err(StatusFileError::Unread(error)) => {
                    tracing::warn!(job = %id, %error, "status.json is behind: the journal cannot be read; trying again in {pause:?}");
                    tokio::select! {
                        () = self.services.closing.cancelled() => return Ok(()),
                        () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                    }
                }
                ended => return ended,
            }
        }
    }

    /// Writes the job as it is now, and again after every change until it is over or this engine closes.
    async fn write_changes(&self, id: &JobId, path: &Path) -> Result<(), StatusFileError> {
        let mut view = self.get(id.as_str()).await?;
        let mut events = self.events(id, view.last_event).await?;
        loop {
            let (now, place) = (view, path.to_owned());
            let (last, running) = (now.last_event, now.status == JobStatus::Running);
            helix_process::spawn_blocking(move || write(&place, &now)).await??;
            let refresh = async {
                match running {
                    true => tokio::time::sleep(REFRESH).await,
                    false => std::future::pending().await,
                }
            };
            let ended = tokio::select! {
                received = events.recv() => received.transpose()?.is_none(),
                // Nothing happened; but what is under way takes its time, and the file says how long.
                () = refresh => false,
            };
            // What a script reads after the end, or while somebody is waited for, is true at once.
            if !ended && self.get(id.as_str()).await?.status == JobStatus::Running {
                self.services.closing.run_until_cancelled(tokio::time::sleep(SETTLE)).await;
            }
            // Changes that came in the meantime are written together.
            while let Ok(more) = events.try_recv() {
                more?;
            }
            view = self.get(id.as_str()).await?;
            if ended && view.last_event == last {
                return Ok(());
            }
        }
    }
}

/// Where the file goes; sees to it that git does not.
fn prepare(view: &JobView, git: GitEnvironment) -> Result<PathBuf, StatusFileError> {
    let directory = Path::new(&view.plan_path).parent().unwrap_or(Path::new("/"));
    let path = directory.join(STATUS_FILE);
    let failed =
        |source: Box<dyn std::error::Error + Send + Sync>| StatusFileError::Repository { path: path.clone(), source };
    match Repository::open(directory, git) {
        Ok(repository) => {
            if is_tracked(&repository, &path).map_err(|error| failed(Box::new(error)))? {
                return Err(StatusFileError::Tracked { path });
            }
            exclude(&repository, &path)?;
        }
        // A plan may lie outside every repository, or in one without a work tree.
        Err(OpenError::NoRepository { .. } | OpenError::Bare { .. }) => {}
        Err(error) => return Err(failed(Box::new(error))),
    }
    Ok(path)
}

fn is_tracked(repository: &Repository, path: &Path) -> Result<bool, GitError> {
    let directory = path.parent().unwrap_or(repository.top());
    let args = ["ls-files", "--error-unmatch", "--", ":(literal)status.json"];
    Ok(repository.git(directory, args).accept(&[0, 1]).run()?.code == 0)
}

/// Adds the file to the repository's own list of what it ignores, which is in no commit.
fn exclude(repository: &Repository, path: &Path) -> Result<(), StatusFileError> {
    let directory = path.parent().and_then(|parent| std::fs::canonicalize(parent).ok());
    let top = std::fs::canonicalize(repository.top()).ok();
    let (Some(directory), Some(top)) = (directory, top) else { return Ok(()) };
    let Ok(inside) = directory.strip_prefix(&top) else { return Ok(()) };
    // The file itself, and what it is before it takes its name.
    let file = format!("/{}", pattern(&inside.join(STATUS_FILE)));
    let before = format!("/{}*", pattern(&inside.join(BEFORE)));
    let list = repository.common_dir().join("info").join("exclude");
    let unwritable = |source| StatusFileError::Unwritable { path: list.clone(), source };
    let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let known = read_text(None, &list, LONGEST).map_err(unwritable)?.unwrap_or_default();
    let new = [file, before].into_iter().filter(|line| !known.lines().any(|known| known == line));
    let new: String = new.map(|line| format!("{line}\n")).collect();
    if new.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(repository.common_dir().join("info")).map_err(unwritable)?;
    let mut list_file = std::fs::OpenOptions::new().create(true).append(true).open(&list).map_err(unwritable)?;
    let break_before = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
    list_file.write_all(format!("{break_before}{new}").as_bytes()).map_err(unwritable)
}

/// A path in which nothing means anything to git.
fn pattern(path: &Path) -> String {
    let mut escaped = String::new();
    for character in path.to_string_lossy().chars() {
        if matches!(character, '\\' | '*' | '?' | '[' | ' ') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// What makes a file a job's status.
#[derive(serde::Deserialize)]
struct Status {
    id: JobId,
    #[serde(rename = "plan_path")]
    _plan_path: String,
    #[serde(rename = "phases")]
    _phases: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    created_at: Option<jiff::Timestamp>,
}

/// What there is of the file.
enum There {
    /// Nothing, or the status of this job or an older one.
    Replaceable,
    /// A job of the same plan that was submitted later: the file is that one's.
    Newer,
    Foreign,
}

fn look(path: &Path, view: &JobView) -> std::io::Result<There> {
    let Some(text) = read_text(None, path, LONGEST)? else { return Ok(There::Replaceable) };
    let Ok(status) = serde_json::from_str::<Status>(&text) else { return Ok(There::Foreign) };
    let newer = status.id != view.id && status.created_at.is_some_and(|created| created > view.created_at);
    Ok(if newer { There::Newer } else { There::Replaceable })
}

/// Replaces the file in one step: a reader sees a whole one.
fn write(path: &Path, view: &JobView) -> Result<(), StatusFileError> {
    let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let unwritable = |source| StatusFileError::Unwritable { path: path.to_owned(), source };
    match look(path, view).map_err(unwritable)? {
        There::Replaceable => {}
        There::Newer => return Ok(()),
        There::Foreign => return Err(StatusFileError::Foreign { path: path.to_owned() }),
    }
    let mut text = serde_json::to_vec_pretty(view).map_err(|error| unwritable(error.into()))?;
    text.push(b'\n');
    let directory = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new().prefix(BEFORE).tempfile_in(directory).map_err(unwritable)?;
    file.write_all(&text).map_err(unwritable)?;
    // Readable as any other file of the project; temporary files are not.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(mode).map_err(unwritable)?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(())
}
