//! New projects: a repository with its first decision and its first plan in it, committed.
//!
//! Must not know conversations or jobs.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::{CommitId, TreeId};
use helix_plan::Plan;

use crate::adr_files::{AdrDirectory, AdrFileError, Place};
use crate::workflows::WorkflowPaths;
use helix_git::{GitEnvironment, GitError, Head, OpenError, Repository};
use helix_process::bounded::read_bytes;

/// Largest plan that is read, in bytes.
const MAX_PLAN: u64 = 8 << 20;

/// A new project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    pub path: String,
    /// Its ADR, relative to the directory.
    pub adr: Option<String>,
    /// Its plan, relative to the directory.
    pub plan: Option<String>,
    /// What the plan may lack now that it names its decision.
    pub warnings: Vec<Diagnostic>,
    pub commit: CommitId,
}

/// Why a project was not created. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// There is something already.
    #[error("{} exists already; choose another name, or work in that project", path.display())]
    Exists { path: PathBuf },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Disk {
        /// The file or directory.
        path: PathBuf,
        source: std::io::Error,
    },
    /// The plan has errors.
    #[error("{file} has errors")]
    Plan { file: String, diagnostics: Vec<Diagnostic> },
    /// The ADR cannot be finalized.
    #[error("the ADR cannot be finalized")]
    Adr(#[source] AdrFileError),
    /// The repository cannot be made.
    #[error("the repository cannot be made")]
    Open(#[source] OpenError),
    /// Its place lies in another repository.
    #[error("{} lies in the repository {}", path.display(), outer.display())]
    Nested { path: PathBuf, outer: PathBuf },
    /// Git made no first commit.
    #[error("git made no first commit in {}", path.display())]
    NoCommit { path: PathBuf },
    #[error("git failed")]
    Git(#[source] GitError),
}

/// Makes a project under construction beside its final place and moves it there when it is whole.
pub fn create(
    root: &Path,
    git: GitEnvironment,
    workflow_paths: &WorkflowPaths,
    adr: Option<&Path>,
    plan: Option<&Path>,
) -> Result<Created, ProjectError> {
    let parent = root.parent().unwrap_or(root);
    std::fs::create_dir_all(parent).map_err(disk(parent))?;
    let site = tempfile::Builder::new().prefix(".new-").tempdir_in(parent).map_err(disk(parent))?;
    let mut made = furnish(site.path(), git.clone(), root, workflow_paths, adr, plan)?;
    if root.exists() {
        // With the same drafts in it and nothing else, it was made by a call whose answer nobody heard.
        let same = if adr.is_some() || plan.is_some() { same_project(root, site.path(), git)? } else { None };
        return match same {
            Some(commit) => Ok(Created { path: root.to_string_lossy().into_owned(), commit, ..made }),
            None => Err(ProjectError::Exists { path: root.to_path_buf() }),
        };
    }
    let site = site.keep();
    // A rename onto a directory that somebody else has made meanwhile fails unless that one is empty.
    if let Err(source) = std::fs::rename(&site, root) {
        std::fs::remove_dir_all(&site).map_err(disk(&site))?;
        return Err(ProjectError::Disk { path: root.to_path_buf(), source });
    }
    made.path = root.to_string_lossy().into_owned();
    Ok(made)
}

/// The commit of a project that holds what the one under construction does, and nothing else.
fn same_project(root: &Path, site: &Path, git: GitEnvironment) -> Result<Option<CommitId>, ProjectError> {
    let head = |path: &Path| -> Result<Option<(CommitId, TreeId)>, ProjectError> {
        // What is no repository of its own is somebody else's.
        if !path.join(".git").exists() {
            return Ok(None);
        }
        let repository = Repository::open(path, git.clone()).map_err(ProjectError::Open)?;
        let found = repository.find_commit("HEAD").map_err(ProjectError::Git)?;
        Ok(found.map(|commit| (commit.id, commit.tree)))
    };
    Ok(match (head(root)?, head(site)?) {
        (Some((commit, there)), Some((_, here))) if there == here => Some(commit),
        (Some(_) | None, Some(_) | None) => None,
    })
}

fn furnish(
    site: &Path,
    git: GitEnvironment,
    root: &Path,
    workflow_paths: &WorkflowPaths,
    adr: Option<&Path>,
    plan: Option<&Path>,
) -> Result<Created, ProjectError> {
    let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let decided = adr.map(|draft| AdrDirectory::finalize(site, draft)).transpose().map_err(ProjectError::Adr)?;
    let decided = decided.map(|decided| decided.path);
    let mut warnings = Vec::new();
    let planned = match plan {
        None => None,
        Some(draft) => {
            let bytes = read_bytes(draft, MAX_PLAN).map_err(disk(draft))?;
            let file = draft.display().to_string();
            let refused = |diagnostics| ProjectError::Plan { file: file.clone(), diagnostics };
            let parsed = Plan::parse_bytes(&file, &bytes).map_err(refused)?;
            let text = String::from_utf8_lossy(&bytes);
            let text = match &decided {
                Some(adr) => with_adr(&text, parsed.plan.adr.is_some(), adr),
                None => text.into_owned(),
            };
            let path = format!("plans/{}/phases.yaml", parsed.plan.file_name());
            // The workflow may ask for the decision, which has its name only now.
            warnings = workflow_paths.read(&path, text.as_bytes()).map_err(refused)?.warnings;
            let target = site.join(&path);
            let folder = target.parent().unwrap_or(site);
            std::fs::create_dir_all(folder).map_err(disk(folder))?;
            std::fs::write(&target, text).map_err(disk(&target))?;
            Some(path)
        }
    };
    let readme = site.join("README.md");
    std::fs::write(&readme, format!("# {name}\n")).map_err(disk(&readme))?;
    let repository = Repository::init(site, git).map_err(ProjectError::Open)?;
    if repository.top().canonicalize().ok() != site.canonicalize().ok() {
        return Err(ProjectError::Nested { path: root.to_path_buf(), outer: repository.top().to_path_buf() });
    }
    match repository.head().map_err(ProjectError::Git)? {
        Head::Branch { commit, .. } | Head::Detached { commit } => {
            Ok(Created { path: String::new(), adr: decided, plan: planned, warnings, commit })
        }
        Head::Unborn { .. } => Err(ProjectError::NoCommit { path: root.to_path_buf() }),
    }
}

/// The repository or project that a directory belongs to: the nearest one at or above it with decisions or `.git`, not above `top`.
pub fn project_above(directory: &Path, top: Option<&Path>) -> Option<PathBuf> {
    let is_project = |above: &&Path| above.join(".git").exists() || Place::is_project(above);
    let within = |above: &&Path| top.is_none_or(|top| above.starts_with(top));
    directory.ancestors().take_while(within).find(is_project).map(Path::to_path_buf)
}

/// The plan with its `adr` key naming the finalized ADR; every other line stays as it is.
pub fn with_adr(text: &str, has_key: bool, adr: &str) -> String {
    let is_key = |line: &str, key: &str| line.starts_with(key) && line[key.len()..].trim_start().starts_with(':');
    let wanted = if has_key { "adr" } else { "name" };
    let mut out = String::with_capacity(text.len() + adr.len() + 8);
    for line in text.split_inclusive('\n') {
        match (is_key(line, wanted), has_key) {
            (true, true) => out.push_str(&format!("adr: {adr}\n")),
            (true, false) => {
                out.push_str(line);
                out.push_str(&format!("{}adr: {adr}\n", if line.ends_with('\n') { "" } else { "\n" }));
            }
            (false, _) => out.push_str(line),
        }
    }
    out
}

fn disk(path: &Path) -> impl FnOnce(std::io::Error) -> ProjectError {
    let path = path.to_path_buf();
    move |source| ProjectError::Disk { path, source }
}

#[cfg(test)]
#[path = "project_test.rs"]
mod tests;
