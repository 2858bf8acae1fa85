//! The plan file of a request: where it is found, its text, and how messages point into it.
//!
//! Must not know what a plan means.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::{Diagnostic, Span};
use helix_plan::{ParsedPlan, Plan};
use helix_process::bounded::read_bytes;

use super::{Blame, SubmitError};
use crate::codes;

/// Largest plan that is read, in bytes.
const MAX_PLAN: u64 = 16 << 20;

/// A plan file and its text.
#[derive(Debug, Clone)]
pub(super) struct PlanFile {
    pub(super) path: PathBuf,
    bytes: Vec<u8>,
    shown_as: Option<String>,
}

/// The plan file that a path means: itself, or the one plan of the directory.
///
/// # Errors
/// [`SubmitError::Refused`] when there is none, or more than one.
pub fn plan_file(wanted: &Path) -> Result<PathBuf, SubmitError> {
    if !std::fs::metadata(wanted).map_err(|error| unreadable(wanted, &error))?.is_dir() {
        return Ok(wanted.to_path_buf());
    }
    match &plans_in(wanted)[..] {
        [one] => Ok(one.clone()),
        [] => Err(refused(
            format!("no plan in {}", wanted.display()),
            "expected phases.yaml or plans/NAME/phases.yaml; `helix plan new NAME` writes a first one",
        )),
        several => {
            let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            Err(refused(format!("several plans in {}", wanted.display()), format!("name one: {}", names.join(", "))))
        }
    }
}

/// The plan files of a directory, in order: its own, else those below `plans/`.
pub fn plans_in(directory: &Path) -> Vec<PathBuf> {
    let direct = directory.join("phases.yaml");
    if direct.is_file() {
        return vec![direct];
    }
    let mut found: Vec<PathBuf> = std::fs::read_dir(directory.join("plans"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("phases.yaml")))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    found
}

fn unreadable(path: &Path, error: &std::io::Error) -> SubmitError {
    let hint = "check the path and its permissions; `helix plan new NAME` writes a first plan";
    refused(format!("cannot read the plan {}: {error}", path.display()), hint)
}

fn refused(message: String, hint: impl Into<String>) -> SubmitError {
    SubmitError::refused(codes::PLAN_UNREADABLE, Blame::Request, message, hint)
}

impl PlanFile {
    /// Reads the file, or finds the one plan of a directory.
    pub(super) fn find(wanted: &Path, shown_as: Option<String>) -> Result<Self, SubmitError> {
        let path = plan_file(wanted)?;
        let bytes = read_bytes(&path, MAX_PLAN).map_err(|error| unreadable(&path, &error))?;
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        Ok(Self { path, bytes, shown_as })
    }

    /// What messages call it.
    pub(super) fn name(&self) -> String {
        self.shown_as.clone().unwrap_or_else(|| self.path.display().to_string())
    }

    /// Its text, for pictures.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Reads the plan.
    ///
    /// # Errors
    /// Every problem, at its place.
    pub(super) fn parse(&self) -> Result<ParsedPlan, Vec<Diagnostic>> {
        Plan::parse_bytes(&self.name(), &self.bytes)
    }

    /// A problem of the plan with what to do about it.
    pub(super) fn error(&self, code: &str, span: Option<Span>, message: String, help: String) -> Diagnostic {
        placed(Diagnostic::error(code, &self.name(), message).help(help), span)
    }

    /// The same of what does not keep a plan from being carried out.
    pub(super) fn warning(&self, code: &str, span: Option<Span>, message: String, help: String) -> Diagnostic {
        placed(Diagnostic::warning(code, &self.name(), message).help(help), span)
    }
}

fn placed(diagnostic: Diagnostic, span: Option<Span>) -> Diagnostic {
    match span {
        Some(span) => diagnostic.at(span),
        None => diagnostic,
    }
}
