//! Where reports are kept as files: beside the other records of their job or conversation, in the state directory.
//!
//! Must not know what is in a report, nor who reads it.

use std::path::{Path, PathBuf};

use helix_core::ids::PhaseId;
use helix_failure::memory::Work;

use super::context::AttemptSite;
use super::desk::RecordedFailure;

/// Characters of a check's name in a file's.
const LONGEST_PART: usize = 100;

/// Files of reports below a state directory.
#[derive(Debug, Clone)]
pub struct ReportShelf {
    root: PathBuf,
}

impl ReportShelf {
    /// The shelf of the state directory with this root.
    pub fn of(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// Writes a report as JSON and Markdown, and what the next attempt at a phase is told of it. Returns the JSON file, relative
    /// to the state directory; `None` if it could not be written, which is logged, or the work has no place on this shelf.
    pub async fn keep(&self, recorded: &RecordedFailure, check: &str, site: &AttemptSite) -> Option<String> {
        let within = directory(&site.work)?;
        let stem = stem(site);
        let name = format!("{stem}.{}", file_part(check));
        let json = match serde_json::to_vec_pretty(&recorded.report) {
            Ok(json) => json,
            Err(error) => {
                tracing::error!(within, %error, "a failure report cannot be written as JSON");
                return None;
            }
        };
        let mut files =
            vec![(format!("{name}.json"), json), (format!("{name}.md"), recorded.report.markdown().into_bytes())];
        if site.work.job().is_some() {
            files.push((format!("{stem}.prompt.md"), recorded.prompt().into_bytes()));
        }
        let directory = self.root.join("reports").join(&within);
        let wrote = async {
            tokio::fs::create_dir_all(&directory).await?;
            for (file, content) in files {
                let (path, fresh) = (directory.join(&file), directory.join(format!(".{file}.new")));
                tokio::fs::write(&fresh, content).await?;
                tokio::fs::rename(&fresh, path).await?;
            }
            Ok::<_, std::io::Error>(())
        };
        match wrote.await {
            Ok(()) => Some(format!("reports/{within}/{name}.json")),
            Err(error) => {
                tracing::error!(within, %error, "a failure report is not kept");
                None
            }
        }
    }

    /// What the attempt after this one at a phase of a job is told.
    ///
    /// # Errors
    /// What the operating system says; that there is nothing to be told is none.
    pub async fn told_after(&self, site: &AttemptSite) -> std::io::Result<Option<String>> {
        let Some(within) = directory(&site.work) else { return Ok(None) };
        let file = self.root.join("reports").join(within).join(format!("{}.prompt.md", stem(site)));
        match tokio::fs::read_to_string(&file).await {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The directory of a work's reports, below `reports`. What is wrong with a document is told to whoever had it looked at.
fn directory(work: &Work) -> Option<String> {
    match work {
        Work::Job { job, .. } => Some(job.to_string()),
        Work::Conversation { session } => Some(session.to_string()),
        Work::Document { .. } => None,
    }
}

fn stem(site: &AttemptSite) -> String {
    let part = match &site.work {
        Work::Job { phase, .. } => phase.as_ref().map_or("job", PhaseId::as_str),
        Work::Conversation { .. } | Work::Document { .. } => "turn",
    };
    format!("{part}.{}", site.attempt)
}

/// A check's name as part of a file's: models are named by clients, in any characters.
fn file_part(check: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    check.chars().map(safe).take(LONGEST_PART).collect()
}
