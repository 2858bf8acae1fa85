//! Why a tool could not do what it was asked, in words that an agent can act on. Must not know any tool.

use helix_core::diagnostic::Diagnostic;
use helix_core::text::count;
use serde_json::{Value, json};

use super::Answer;
use crate::submit::SubmitError;
use helix_git::GitError;
use helix_project::adr_files::AdrFileError;
use helix_project::project::ProjectError;

/// A refusal: text for the agent, and the same for programs.
pub struct Refusal {
    pub text: String,
    pub data: Value,
}

impl Refusal {
    pub(super) fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { data: json!({ "error": text }), text }
    }

    pub(super) fn from_error(error: impl std::error::Error) -> Self {
        Self::text(helix_core::error_chain(&error))
    }

    /// With what else a job of the same plan would be refused for.
    pub(super) fn and_also(mut self, others: &[Self]) -> Self {
        for other in others {
            self.text.push_str(&format!("\nA job of it would be refused: {}", other.text));
        }
        if !others.is_empty() {
            self.data["refusals"] = json!(others.iter().map(|other| &other.data).collect::<Vec<_>>());
        }
        self
    }

    fn found(file: &str, diagnostics: &[Diagnostic]) -> Self {
        diagnosed(file, diagnostics).map_or_else(|refusal| refusal, |(text, data)| Self { text, data })
    }
}

impl From<AdrFileError> for Refusal {
    fn from(error: AdrFileError) -> Self {
        match error {
            AdrFileError::Invalid { file, diagnostics, .. } => Self::found(&file, &diagnostics),
            AdrFileError::Place { message, hint } => Self::text(format!("{message}; {hint}")),
            other => Self::from_error(other),
        }
    }
}

impl From<GitError> for Refusal {
    fn from(error: GitError) -> Self {
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        Self::text(format!("{}{hint}", error.fault().message))
    }
}

impl From<ProjectError> for Refusal {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::Adr(error) => error.into(),
            ProjectError::Git(error) => error.into(),
            ProjectError::Plan { file, diagnostics } => Self::found(&file, &diagnostics),
            other => Self::from_error(other),
        }
    }
}

impl From<SubmitError> for Refusal {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Plan { file, diagnostics, .. } => Self::found(&file, &diagnostics),
            SubmitError::Refused { code, message, hint, .. } => {
                let hint_text = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
                Self {
                    text: format!("{code}: {message}{hint_text}"),
                    data: json!({ "code": code, "error": message, "hint": hint }),
                }
            }
        }
    }
}

/// What was found in a file, for the agent; a refusal if there are errors.
pub(super) fn diagnosed(file: &str, diagnostics: &[Diagnostic]) -> Answer {
    let errors = diagnostics.iter().filter(|one| one.is_error()).count();
    let warnings = diagnostics.len() - errors;
    let mut text = match errors {
        0 => format!("{file} has no errors ({}).", count(warnings, "warning")),
        _ => format!("{file} has {} and {}:", count(errors, "error"), count(warnings, "warning")),
    };
    for diagnostic in diagnostics {
        text.push_str(&format!("\n{diagnostic}"));
    }
    let data = json!({ "file": file, "errors": errors, "warnings": warnings, "diagnostics": diagnostics });
    if errors == 0 { Ok((text, data)) } else { Err(Refusal { text, data }) }
}
