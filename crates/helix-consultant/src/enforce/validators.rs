//! The validators: what each looks at, when it applies, and what it finds. Must not know how often an answer may be tried.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_core::finding::{Finding, Place};
use helix_core::said::Words;
use helix_core::step_marker::{Marker, Step, split};
use helix_job::session::AnswerFinding;
use helix_language::{Language, recorded};

use super::answer;
use super::checked_files::CheckedFiles;
use helix_project::save_check::{
    Belongs, SaveCheckError, SavedKind, adr_diagnostics, check_file, may_be_document, plan_diagnostics,
};
use helix_project::skills::SkillCatalog;
use helix_project::workflows::WorkflowPaths;

/// Most files of a session's directory that are looked at.
const MOST_FILES: usize = 2_000;
/// Deepest directory that is looked at.
const DEEPEST: usize = 4;
/// Most findings of one validator: a longer list is not read, and the next try finds the rest.
pub(super) const MOST_FINDINGS: usize = 20;

helix_core::words! {
    /// A rule for answers, with its name in the configuration, the record and corrections; in the order in which they look.
    pub enum Validator {
        /// The answer ends with a step marker with a known step. Applies to every answer.
        StepMarker = "step_marker",
        /// ADRs that the turn wrote or that stand whole in the answer have no errors.
        AdrStructure = "adr_structure",
        /// Files that the answer names as being there are there.
        FileExistence = "file_existence",
        /// Plans that the turn wrote or that stand whole in the answer have no errors.
        PlanValid = "plan_valid",
    }
}

impl Validator {
    /// The rule for documents of a kind.
    fn for_kind(kind: SavedKind) -> Self {
        match kind {
            SavedKind::Adr => Self::AdrStructure,
            SavedKind::Plan => Self::PlanValid,
        }
    }

    fn finding(self, finding: Finding) -> AnswerFinding {
        AnswerFinding { validator: self.word().to_owned(), finding }
    }
}

/// What the validators look at.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    /// The whole answer, marker included.
    pub(crate) answer: String,
    pub(crate) directory: PathBuf,
    /// The project that the session is about.
    pub(crate) project: Option<PathBuf>,
    /// The user's own skills.
    pub(crate) skills: Vec<PathBuf>,
    /// The user's configuration directory, with workflows of their own.
    pub(crate) config: Option<PathBuf>,
}

/// What was found, and the files that were looked at with their content.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Examined {
    pub(crate) findings: Vec<AnswerFinding>,
    /// ADRs and plans of the directory whose content was not judged before.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
    /// Checks of the user's own that could not be made, and why.
    pub(crate) unmade: Vec<Words>,
}

impl Examined {
    /// Whether the marker is all that is wrong: then the answer itself need not be said again.
    pub(crate) fn is_marker_alone(&self) -> bool {
        !self.findings.is_empty() && self.findings.iter().all(|one| one.validator == Validator::StepMarker.word())
    }
}

/// Looks at an answer. Reads files: not for an async thread.
///
/// # Errors
/// [`SaveCheckError`] when what has to be looked at cannot be read: nothing is known of the answer then.
pub(crate) fn examine(validators: &[Validator], evidence: &Evidence) -> Result<Examined, SaveCheckError> {
    let mut examined = Examined::default();
    let catalog = SkillCatalog::load(evidence.project.as_deref(), &evidence.skills);
    let belongs = evidence.project.as_deref().map_or(Belongs::NoProject, Belongs::Project);
    let workflow_paths = WorkflowPaths::new(evidence.project.as_deref(), evidence.config.clone());
    let shown = answer::read(split(&evidence.answer).0, &evidence.directory);
    if validators.contains(&Validator::StepMarker) {
        examined.findings.extend(marker(&evidence.answer));
    }
    let wants = |kind| validators.contains(&Validator::for_kind(kind));
    let judged = CheckedFiles::beside(&evidence.directory);
    if wants(SavedKind::Adr) || wants(SavedKind::Plan) {
        for path in candidates(&evidence.directory)? {
            let shown = path.strip_prefix(&evidence.directory).unwrap_or(&path).display().to_string();
            // An ADR's project is not the directory it is drafted in.
            let Some(checked) = check_file(&path, &shown, belongs, &catalog, &workflow_paths)? else { continue };
            let content = checked.text.clone().into_bytes();
            if !wants(checked.kind) || judged.has(&path, &content) {
                continue;
            }
            examined.findings.extend(errors(checked.kind, &checked.diagnostics));
            examined.files.push((path, content));
        }
        for document in shown.documents.iter().filter(|document| wants(document.kind)) {
            let name = format!("the {} in your answer (code block in line {})", document.kind.word(), document.line);
            let bytes = document.text.as_bytes();
            let diagnostics = match document.kind {
                SavedKind::Adr => adr_diagnostics(&name, bytes, belongs)?,
                SavedKind::Plan => plan_diagnostics(&name, bytes, &catalog, &workflow_paths),
            };
            examined.findings.extend(errors(document.kind, &diagnostics));
        }
    }
    if validators.contains(&Validator::FileExistence) {
        let missing = shown.files.iter().filter(|file| !file.path.exists());
        examined.findings.extend(missing.take(MOST_FINDINGS).map(|file| {
            let said = recorded!("answer-no-file", file = format!("{:?}", file.written));
            let fix = "write the file, use the right path, or do not refer to it with a link or a full path";
            Validator::FileExistence.finding(found("answer.file", said).fix(fix))
        }));
    }
    Ok(examined)
}

/// The marker is metadata: absent stays absent, an unknown word is reported, and nothing is inferred from either.
fn marker(answer: &str) -> Option<AnswerFinding> {
    let words: Vec<String> = Step::ALL.iter().map(|step| format!("`{}`", step.word())).collect();
    let fix = format!("end with one line `<!-- STEP: … -->`, with one of {}", words.join(", "));
    match split(answer).1 {
        Marker::Step(_) => None,
        Marker::Absent => {
            let finding = found("marker.absent", recorded!("answer-no-marker"));
            Some(Validator::StepMarker.finding(finding.fix(fix)))
        }
        Marker::Unknown(word) => {
            let shown: String = word.chars().take(40).collect();
            let finding = found("marker.unknown", recorded!("answer-no-step", marker = format!("{shown:?}")));
            Some(Validator::StepMarker.finding(finding.fix(fix)))
        }
    }
}

/// A finding in Helix's own words.
fn found(rule: &str, said: Words) -> Finding {
    Finding { said: said.clone(), ..Finding::new(rule, Language::English.words(&said)) }
}

/// The errors of a document.
fn errors(kind: SavedKind, diagnostics: &[Diagnostic]) -> impl Iterator<Item = AnswerFinding> {
    let errors = diagnostics.iter().filter(|one| one.is_error()).take(MOST_FINDINGS);
    errors.map(move |diagnostic| {
        let place = Place {
            file: diagnostic.file.clone(),
            line: diagnostic.span.map(|span| span.line),
            column: diagnostic.span.map(|span| span.column),
        };
        let rule = format!("{}.{}", kind.word(), diagnostic.code).to_lowercase();
        let (message, fix) = (diagnostic.message.clone(), diagnostic.help.clone());
        Validator::for_kind(kind).finding(Finding { place: Some(place), fix, ..Finding::new(rule, message) })
    })
}

/// Markdown and YAML files of the session's directory, without links and hidden directories.
fn candidates(directory: &Path) -> Result<Vec<PathBuf>, SaveCheckError> {
    let (mut files, mut open) = (Vec::new(), vec![(directory.to_path_buf(), 0)]);
    while let Some((current, depth)) = open.pop() {
        let unreadable = |source| SaveCheckError::Unreadable { path: current.clone(), source };
        let entries = match std::fs::read_dir(&current) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(error)),
        };
        for entry in entries {
            let entry = entry.map_err(unreadable)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if kind.is_dir() && !hidden && depth < DEEPEST {
                open.push((path, depth + 1));
            } else if kind.is_file() && may_be_document(&path) {
                files.push(path);
            }
        }
        if files.len() > MOST_FILES {
            break;
        }
    }
    files.sort();
    files.truncate(MOST_FILES);
    Ok(files)
}
