//! The plan file of a request: where it is found, its text, and how messages point into it.
//!
//! Must not know what a plan means.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::{Diagnostic, Span};
use helix_plan::{ParsedPlan, Plan};

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

impl PlanFile {
    /// Reads the file, or finds the one plan of a directory.
    pub(super) fn find(wanted: &Path, shown_as: Option<String>) -> Result<Self, SubmitError> {
        let unreadable =
            |message: String, hint: &str| SubmitError::refused(codes::PLAN_UNREADABLE, Blame::Request, message, hint);
        let path = if wanted.is_dir() { Self::in_directory(wanted)? } else { wanted.to_path_buf() };
        let metadata = std::fs::metadata(&path).map_err(|error| {
            unreadable(
                format!("cannot read the plan {}: {error}", path.display()),
                "check the path; `helix plan new` writes a first plan",
            )
        })?;
        if !metadata.is_file() || metadata.len() > MAX_PLAN {
            let what =
                if metadata.is_file() { format!("has {} bytes", metadata.len()) } else { "is not a file".into() };
            return Err(unreadable(format!("{} {what}", path.display()), "a plan is a file of at most 16 MiB"));
        }
        let bytes = std::fs::read(&path).map_err(|error| {
            unreadable(format!("cannot read the plan {}: {error}", path.display()), "check its permissions")
        })?;
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        Ok(Self { path, bytes, shown_as })
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
                format!("no plan in {}", directory.display()),
                "expected phases.yaml or plans/<name>/phases.yaml; `helix plan new` writes a first one".to_owned(),
            ),
            several => {
                let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
                (format!("several plans in {}", directory.display()), format!("name one: {}", names.join(", ")))
            }
        };
        Err(SubmitError::refused(codes::PLAN_UNREADABLE, Blame::Request, message, hint))
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
