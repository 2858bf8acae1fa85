//! Drift: files of a decision in force that changed after it, and changed files that no decision claims.
//!
//! Must not judge: whether a change contradicts its decision is for people. History is read once, whatever the number of ADRs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use helix_adr::{AdrId, Claimant, Status};
use helix_core::said::Words;
use helix_language::recorded;
use schemars::JsonSchema;
use serde::Serialize;

use super::{AdrDirectory, is_decision_name};
use helix_git::{GitEnvironment, GitError, OpenError, OpenWarning, Repository, escape_path};

/// What has drifted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Drift {
    /// What was compared with: a ref, or each decision's own last change.
    pub since: String,
    /// Claimed files that changed after their decision, by decision and path.
    pub claimed: Vec<DriftedFile>,
    /// Changed files that no decision in force claims, by path.
    pub undecided: Vec<UndecidedFile>,
    /// What keeps the answer from being complete.
    #[serde(serialize_with = "helix_language::english::serialize")]
    #[schemars(with = "Vec<String>")]
    pub notes: Vec<Words>,
}

/// A claimed file that changed after its decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct DriftedFile {
    /// The decision.
    pub adr: AdrId,
    /// Its file.
    pub adr_file: String,
    /// Its state.
    pub status: &'static str,
    /// The changed file.
    pub file: String,
    /// The path or glob by which the decision claims it.
    pub claim: String,
    /// The last commit that changed it; absent for a change that is not committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// That commit's subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// That commit's time, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed_at: Option<String>,
}

/// A changed file that no decision claims.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct UndecidedFile {
    /// The file.
    pub file: String,
    /// The last commit that changed it; absent for a change that is not committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Why drift cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum DriftError {
    /// There is no repository.
    #[error("drift needs a git history")]
    Repository { source: OpenError },
    #[error("the history cannot be read")]
    Git {
        #[from]
        source: GitError,
    },
    /// The ref does not exist.
    #[error("no commit {name:?}")]
    NoSuchRef { name: String },
}

/// A commit of the history, the youngest first.
struct Change {
    commit: String,
    committed_at: String,
    subject: String,
}

/// The last change of each path: 0 where it is not committed, else its place among the changes, from 1. The smaller the younger.
struct History {
    changes: Vec<Change>,
    last: HashMap<String, usize>,
}

/// Compares decisions with what changed since: since `since` if given, else since each decision's own last change. Without
/// `since`, files that no decision claims are looked for after the last change to any decision.
///
/// # Errors
/// [`DriftError`].
pub fn drift(directory: &AdrDirectory, environment: GitEnvironment, since: Option<&str>) -> Result<Drift, DriftError> {
    let root = directory.root();
    let repository = Repository::open(root, environment).map_err(|source| DriftError::Repository { source })?;
    let mut notes = Vec::new();
    if repository.warnings().contains(&OpenWarning::Shallow) {
        notes.push(recorded!("drift-shallow"));
    }
    let base = match since {
        Some(name) if name.starts_with('-') => return Err(DriftError::NoSuchRef { name: name.into() }),
        Some(name) => match repository.find_commit(&format!("{name}^{{commit}}"))? {
            Some(commit) => Some(commit.id.as_str().to_owned()),
            None => return Err(DriftError::NoSuchRef { name: name.into() }),
        },
        None => None,
    };
    let top = repository.top().canonicalize().unwrap_or_else(|_| repository.top().to_path_buf());
    let own = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let prefix = own.strip_prefix(&top).unwrap_or(Path::new("")).to_string_lossy().into_owned();
    let history = History::read(&repository, root, &prefix, base.as_deref())?;

    let mut claimed: BTreeSet<DriftedFile> = BTreeSet::new();
    let decided_at = |file: &str| history.last.get(file).copied();
    let directory_path = format!("{}/", directory.directory());
    let is_beside = |path: &str| path.starts_with(&directory_path);
    let decisions = history
        .last
        .iter()
        .filter(|(path, _)| is_beside(path) && path.rsplit('/').next().is_some_and(is_decision_name));
    let youngest_decision = decisions.map(|(_, at)| *at).min();
    let mut undecided = BTreeSet::new();
    let statuses: BTreeMap<&str, Status> = directory
        .adrs()
        .iter()
        .filter(|adr| adr.id().is_some())
        .filter_map(|adr| Some((adr.file.as_str(), adr.status()?)))
        .collect();
    for (path, at) in &history.last {
        if is_beside(path) {
            continue;
        }
        let claimants: Vec<&Claimant> = directory.known().claims().claimants(path);
        let change = at.checked_sub(1).and_then(|at| history.changes.get(at));
        for claimant in &claimants {
            let drifted = match (since.is_some(), decided_at(&claimant.file)) {
                // A decision that changed in the same range was made anew.
                (true, decided) => decided.is_none(),
                (false, Some(decided)) => *at < decided,
                // The decision is older than all that is known of the history.
                (false, None) => true,
            };
            if drifted {
                claimed.insert(DriftedFile {
                    adr: claimant.id.clone(),
                    adr_file: claimant.file.clone(),
                    status: statuses.get(claimant.file.as_str()).map_or("", |status| status.word()),
                    file: path.clone(),
                    claim: claimant.path.clone(),
                    commit: change.map(|change| change.commit.clone()),
                    subject: change.map(|change| change.subject.clone()),
                    committed_at: change.map(|change| change.committed_at.clone()),
                });
            }
        }
        let counts = since.is_some() || youngest_decision.is_none_or(|decision| *at < decision);
        if claimants.is_empty() && counts {
            undecided.insert(UndecidedFile { file: path.clone(), commit: change.map(|change| change.commit.clone()) });
        }
    }
    if directory.adrs().is_empty() {
        notes.push(recorded!("drift-no-decisions", directory = directory.directory()));
    }
    Ok(Drift {
        since: since.map_or_else(|| "each decision's last change".to_owned(), str::to_owned),
        claimed: claimed.into_iter().collect(),
        undecided: undecided.into_iter().collect(),
        notes,
    })
}

/// Begins a commit in the output; no path and no subject holds it.
const MARK: &str = "\u{1}";

impl History {
    /// Reads the commits of the main line, a merge as what it brought, and what is not committed. Paths are relative to the
    /// project; what lies outside of it is left out.
    fn read(repository: &Repository, root: &Path, prefix: &str, base: Option<&str>) -> Result<Self, GitError> {
        let mut history = Self { changes: Vec::new(), last: HashMap::new() };
        let inside = |path: &[u8]| -> Option<String> {
            let path = escape_path(path);
            match prefix {
                "" => Some(path),
                _ => path.strip_prefix(prefix)?.strip_prefix('/').map(str::to_owned),
            }
        };
        let (tracked, fresh) = (
            repository
                .git(root, ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "HEAD"])
                .accept(&[0, 128])
                .run()?,
            repository.git(root, ["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]).run()?,
        );
        for output in [&tracked.stdout, &fresh.stdout] {
            for path in output.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
                if let Some(path) = inside(path) {
                    history.last.insert(path, 0);
                }
            }
        }
        let range = base.map_or_else(|| "HEAD".to_owned(), |base| format!("{base}..HEAD"));
        let format = "--format=%x00%x01%H%x00%cI%x00%s%x00";
        let args =
            ["log", "--first-parent", "-m", "--name-only", "--no-renames", "--no-ext-diff", "-z", format, &range, "--"];
        let output = repository.git(root, args).accept(&[0, 128]).run()?;
        let mut fields = output.stdout.split(|byte| *byte == 0);
        while let Some(field) = fields.next() {
            let text = String::from_utf8_lossy(field);
            if let Some(commit) = text.trim_start_matches('\n').strip_prefix(MARK) {
                let mut next =
                    || fields.next().map(|field| String::from_utf8_lossy(field).into_owned()).unwrap_or_default();
                let (committed_at, subject) = (next(), next());
                history.changes.push(Change { commit: commit.to_owned(), committed_at, subject });
                continue;
            }
            let path = field.strip_prefix(b"\n").unwrap_or(field);
            if path.is_empty() {
                continue;
            }
            if let Some(path) = inside(path).filter(|_| !history.changes.is_empty()) {
                // The youngest change comes first; older ones do not replace it.
                history.last.entry(path).or_insert(history.changes.len());
            }
        }
        Ok(history)
    }
}
