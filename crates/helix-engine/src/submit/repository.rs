//! What the repository says about a plan: inputs, the decision it carries out, the files that define its gates.
//!
//! Must not change anything in it.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use helix_adr::{Adr, RepoFacts, check};
use helix_core::diagnostic::Diagnostic;
use helix_core::error_chain;
use helix_job::{AdrText, RepoRef};
use helix_plan::{Plan, PlanPlaces};

use super::guessed::guesses;
use super::plan_file::PlanFile;
use super::{Blame, SubmitError};
use crate::codes;
use crate::job::inputs::missing_inputs;
use helix_gates::holds;
use helix_git::{GitEnvironment, GitError, Head, Repository, TreeListing};
use helix_process::bounded::read_bytes_beneath;
use helix_project::adr_files::MAX_ADR;
use helix_project::rules::ProjectRules;

/// What the repository says about a plan.
pub(super) struct RepositoryFacts {
    pub(super) repo: RepoRef,
    pub(super) adr: Option<AdrText>,
    pub(super) gate_files: BTreeMap<String, String>,
    /// What it tells agents.
    pub(super) rules: ProjectRules,
    pub(super) problems: Vec<Diagnostic>,
}

impl RepositoryFacts {
    /// Looks.
    ///
    /// # Errors
    /// [`SubmitError::Refused`] when no job can work there at all.
    pub(super) fn survey(
        directory: PathBuf,
        git: GitEnvironment,
        plan: &Plan,
        places: &PlanPlaces,
        file: &PlanFile,
    ) -> Result<Self, SubmitError> {
        let refused = |code, message: String, hint: Option<String>| SubmitError::Refused {
            code,
            message,
            hint,
            blame: Blame::Request,
        };
        let repository = Repository::open(&directory, git)
            .map_err(|error| refused(codes::NO_REPOSITORY, error_chain(&error), error.hint()))?;
        let git_failed = |error: GitError| refused(codes::NO_REPOSITORY, error_chain(&error), error.hint());
        repository.identity().map_err(|error| refused(codes::NO_IDENTITY, error_chain(&error), error.hint()))?;
        let (base, branch) = match repository.head().map_err(git_failed)? {
            Head::Branch { branch, commit } => (commit, Some(branch)),
            Head::Detached { commit } => (commit, None),
            Head::Unborn { branch } => {
                return Err(refused(
                    codes::NO_COMMIT,
                    format!("{} has no commit yet on branch {branch}", repository.top().display()),
                    Some("commit what is there first: `git add . && git commit -m start`".into()),
                ));
            }
        };
        match repository.missing_files(&base).map_err(git_failed)? {
            0 => {}
            missing => {
                let top = repository.top().display();
                let message = format!("{top} is a partial clone and {missing} files of its last commit are not here");
                let hint = format!("fetch them: `git -C {top} archive HEAD >/dev/null`");
                return Err(refused(codes::NO_REPOSITORY, message, Some(hint)));
            }
        }
        let start = repository.commit(base.as_str()).and_then(|commit| repository.listing(&commit.tree));
        let start = start.map_err(git_failed)?;
        let mut problems = Vec::new();
        let ancestry = plan.ancestry();
        for (index, phase) in plan.phases.iter().enumerate().filter(|(_, phase)| !phase.inputs.is_empty()) {
            let made: HashSet<&str> =
                ancestry.before(&phase.id).flat_map(|one| &one.outputs).map(String::as_str).collect();
            // What added phases will make is not known yet: such inputs are checked before the attempt.
            let grows = ancestry.before(&phase.id).any(|one| one.generates_phases.is_some());
            let inputs: Vec<String> =
                phase.inputs.iter().filter(|input| !grows && !made.contains(input.as_str())).cloned().collect();
            for missing in missing_inputs(&start, &inputs) {
                let place = places.phases.get(index).and_then(|place| {
                    place.inputs.get(phase.inputs.iter().position(|input| *input == missing)?).copied()
                });
                let message = format!("input {missing} of phase {} is not in the repository", phase.id);
                let help = format!("commit it first, or let an earlier phase claim it as an output (base is {base})");
                problems.push(file.error(codes::INPUT_MISSING, place, message, help));
            }
        }
        for guess in guesses(plan, start.keys().map(String::as_str)) {
            let (phase, output) = guess.at;
            let place = places.phases.get(phase).and_then(|place| place.outputs.get(output).copied());
            let message =
                format!("output {} is a new file in a new directory, and {} is there", guess.output, guess.there);
            let help = format!("write {} if that is meant; claims are paths from the repository's root", guess.there);
            problems.push(file.warning(codes::OUTPUT_GUESSED, place, message, help));
        }
        let adr = match &plan.adr {
            None => None,
            Some(path) => match decision(repository.top(), path) {
                Ok(text) => Some(AdrText { path: path.clone(), text }),
                Err(error) => {
                    let message = format!("the plan's ADR {path} cannot be read: {error}");
                    let help = format!("paths are relative to {}", repository.top().display());
                    problems.push(file.error(codes::ADR_MISSING, places.adr, message, help));
                    None
                }
            },
        };
        problems.extend(adr.iter().flat_map(|adr| unkept_claims(adr, &start, places, file)));
        let gate_files = helix_gates::gate_files(plan, &repository, &base).map_err(git_failed)?;
        let rules = ProjectRules::at(&repository, base.as_str()).map_err(git_failed)?;
        let repo = RepoRef { path: repository.top().to_string_lossy().into_owned(), base, branch };
        Ok(Self { repo, adr, gate_files, rules, problems })
    }
}

/// The text of the plan's decision, which lies in the repository.
fn decision(top: &Path, path: &str) -> std::io::Result<String> {
    let bytes = read_bytes_beneath(top, &top.join(path), MAX_ADR)?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8"))
}

/// What the plan's decision claims of files and cannot be kept from the commit that the job starts from.
fn unkept_claims(adr: &AdrText, listing: &TreeListing, places: &PlanPlaces, file: &PlanFile) -> Vec<Diagnostic> {
    let adr = Adr::parse(&adr.path, &adr.text);
    let about_claims = |one: &Diagnostic| {
        [helix_adr::codes::MODIFY_MISSING, helix_adr::codes::CREATE_EXISTS].contains(&one.code.as_str())
    };
    let wrong = check(&adr, &Start(listing)).into_iter().filter(about_claims);
    wrong
        .map(|one| {
            let line = one.span.map(|span| format!(":{}:{}", span.line, span.column)).unwrap_or_default();
            let message =
                format!("the plan's decision does not fit the repository: {}{line}: {}", adr.file, one.message);
            let help = format!("{}; what counts is the commit that the job starts from", one.help.unwrap_or_default());
            file.error(&one.code, places.adr, message, help)
        })
        .collect()
}

/// Facts about the commit that a job starts from: only its files are asked for.
struct Start<'a>(&'a TreeListing);

impl RepoFacts for Start<'_> {
    fn exists(&self, path: &str) -> Option<bool> {
        Some(holds(self.0, path))
    }
}
