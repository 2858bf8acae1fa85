//! Where reports are kept as files: beside the other records of their job or session, in the state directory.
//!
//! Must not know what is in a report, nor who reads it.

use std::io;
use std::path::{Path, PathBuf};

use helix_core::ids::PhaseId;
use helix_failure::memory::{OccurrencePlace, Work};
use helix_failure::report::{HISTORY_TOKENS, Report};
use jiff::{SignedDuration, Timestamp};
use tokio::io::AsyncReadExt;

use crate::absent::unless_absent;

/// Characters of a check's name in a file's.
const LONGEST_PART: usize = 100;
/// Longest report that is read, in bytes. Reports hold excerpts, never whole logs; one that is longer is damaged.
const LONGEST_REPORT: u64 = 4 << 20;

/// Files of reports below a state directory.
#[derive(Debug, Clone)]
pub(crate) struct ReportStore {
    root: PathBuf,
}

/// Where a report went.
pub(crate) struct Kept {
    /// The JSON file, relative to the state directory; `None` if it could not be written, which is logged.
    pub(crate) artefact: Option<String>,
    pub(crate) prompt: Prompt,
}

/// Whether the prompt of the next attempt can still have a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompt {
    InTime,
    TooLate,
}

impl ReportStore {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// Writes a report as JSON and Markdown, and for the prompt of the next attempt at a phase.
    pub(crate) async fn keep(&self, report: &Report, place: &OccurrencePlace) -> Kept {
        let mut kept = Kept { artefact: None, prompt: Prompt::InTime };
        // Who wrote a document was told what is wrong with it.
        let Some(artefact) = artefact(place) else { return kept };
        match self.write(report, place, &artefact).await {
            Ok(prompt) => kept = Kept { artefact: Some(artefact), prompt },
            Err(error) => tracing::error!(artefact, %error, "a failure report is not kept"),
        }
        kept
    }

    async fn write(&self, report: &Report, place: &OccurrencePlace, artefact: &str) -> io::Result<Prompt> {
        let json = self.root.join(artefact);
        if let Some(directory) = json.parent() {
            tokio::fs::create_dir_all(directory).await?;
        }
        replace(&json, &serde_json::to_vec_pretty(report)?).await?;
        replace(&json.with_extension("md"), report.markdown().as_bytes()).await?;
        let Some((waiting, taken)) = self.prompt_files(&place.work, place.attempt) else { return Ok(Prompt::InTime) };
        replace(&waiting, report.prompt(HISTORY_TOKENS).as_bytes()).await?;
        if !tokio::fs::try_exists(&taken).await? {
            return Ok(Prompt::InTime);
        }
        unless_absent(tokio::fs::remove_file(&waiting).await)?;
        Ok(Prompt::TooLate)
    }

    /// What the attempt after this one at a phase is told about it: what is there now. What is reported later is not shown.
    ///
    /// # Errors
    /// What the operating system says; that nothing is there is no error.
    pub(crate) async fn take_prompt(&self, work: &Work, attempt: u32) -> io::Result<Option<String>> {
        let Some((waiting, taken)) = self.prompt_files(work, attempt) else { return Ok(None) };
        unless_absent(tokio::fs::rename(&waiting, &taken).await)?;
        let text = unless_absent(tokio::fs::read_to_string(&taken).await)?;
        if text.is_none() {
            if let Some(directory) = taken.parent() {
                tokio::fs::create_dir_all(directory).await?;
            }
            tokio::fs::write(&taken, "").await?;
        }
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// The report of a failure of then with its file; `None` while it is not written: an older file is of a former look at the same.
    ///
    /// # Errors
    /// Why it cannot be read, with its file.
    pub(crate) async fn load(&self, place: &OccurrencePlace, at: Timestamp) -> io::Result<Option<(String, Report)>> {
        let Some(artefact) = artefact(place) else { return Ok(None) };
        let read = async {
            let mut bytes = Vec::new();
            let file = tokio::fs::File::open(self.root.join(&artefact)).await?;
            let written = Timestamp::try_from(file.metadata().await?.modified()?).unwrap_or(at);
            // File systems count in ticks.
            if at.duration_since(written) > SignedDuration::from_millis(100) {
                return Ok(None);
            }
            file.take(LONGEST_REPORT).read_to_end(&mut bytes).await?;
            Ok::<_, io::Error>(Some(serde_json::from_slice(&bytes)?))
        };
        match unless_absent(read.await) {
            Ok(report) => Ok(report.flatten().map(|report| (artefact, report))),
            Err(error) => Err(io::Error::other(format!("{artefact} cannot be read: {error}"))),
        }
    }

    /// The file for the next prompt while nobody has taken it, and afterwards.
    fn prompt_files(&self, work: &Work, attempt: u32) -> Option<(PathBuf, PathBuf)> {
        let Work::Job { job, .. } = work else { return None };
        let file = |end| self.root.join("reports").join(job.as_str()).join(format!("{}.{end}", stem(work, attempt)));
        Some((file("prompt.md"), file("prompt.taken.md")))
    }
}

/// The JSON file of a failure's report, relative to the state directory; `None` for documents, which have none.
fn artefact(place: &OccurrencePlace) -> Option<String> {
    let within = match &place.work {
        Work::Job { job, .. } => job.as_str(),
        Work::Session { session } => session.as_str(),
        Work::Document { .. } => return None,
    };
    // Models are named by clients, in any characters.
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let check: String = place.check.chars().map(safe).take(LONGEST_PART).collect();
    Some(format!("reports/{within}/{}.{check}.json", stem(&place.work, place.attempt)))
}

fn stem(work: &Work, attempt: u32) -> String {
    let part = match work {
        Work::Job { phase, .. } => phase.as_ref().map_or("job", PhaseId::as_str),
        Work::Session { .. } | Work::Document { .. } => "turn",
    };
    format!("{part}.{attempt}")
}

/// Readers see the old content or the new one, never a part.
pub(crate) async fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    tokio::fs::write(&fresh, content).await?;
    tokio::fs::rename(&fresh, path).await
}
