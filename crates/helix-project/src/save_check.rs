//! What a file is that an agent has just written, and what the rule set says of it: for the save hook, the tools and the
//! enforcement of answers alike.
//!
//! Must not hold any rule: those are in `helix_core`. Must not know who asks.

use std::path::{Component, Path, PathBuf};

use helix_adr::{Adr, AdrId, NoRepo, RepoFacts, Status, built_in_rules, check, complete};
use helix_core::diagnostic::Diagnostic;

use crate::adr_files::{AdrDirectory, AdrFileError};
use crate::skills::SkillCatalog;
use crate::workflows::Shelves;

/// Largest file that is looked at, in bytes; no ADR or plan comes near it.
const MAX_FILE: u64 = 8 << 20;
/// Directories whose ADRs and plans are samples or somebody else's.
const SAMPLES: [&str; 7] = ["fixtures", "testdata", "snapshots", "node_modules", "target", ".git", "vendor"];

/// What a file is for Helix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavedKind {
    /// An architecture decision record, draft or not.
    Adr,
    Plan,
}

impl SavedKind {
    /// Tells by name, place and content; `None` for every other file.
    ///
    /// An ADR is a Markdown file below `adr/`, `adrs/` or `decisions/` (not its index or README), one whose name begins with
    /// `adr`, or one whose front matter has an `adr_id`. A plan is `phases.yaml`, `*.phases.yaml`, or a YAML file with
    /// `name:`, `phases:` and phases with an `id`. Samples (`fixtures/`, `testdata/` and the like) are neither.
    pub fn of(path: &Path, text: &str) -> Option<Self> {
        let names: Vec<String> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
                Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
            })
            .collect();
        let (name, directories) = names.split_last()?;
        if directories.iter().any(|directory| SAMPLES.contains(&directory.as_str())) {
            return None;
        }
        let (stem, extension) = name.rsplit_once('.')?;
        match extension {
            "md" | "markdown" => {
                let placed = matches!(directories.last().map(String::as_str), Some("adr" | "adrs" | "decisions"))
                    && !matches!(stem, "index" | "readme" | "template");
                let named = stem.strip_prefix("adr").is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
                (placed || named || has_adr_id(text)).then_some(Self::Adr)
            }
            "yaml" | "yml" => {
                (stem == "phases" || stem.ends_with(".phases") || looks_like_plan(text)).then_some(Self::Plan)
            }
            _ => None,
        }
    }

    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Adr => "ADR",
            Self::Plan => "plan",
        }
    }
}

/// Whether the front matter has the key that only ADRs have.
pub fn has_adr_id(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    lines.next().is_some_and(|first| first.trim_end() == "---")
        && lines.take_while(|line| line.trim_end() != "---").any(|line| line.starts_with("adr_id:"))
}

/// Whether a YAML text has what every plan has at its top.
pub fn looks_like_plan(text: &str) -> bool {
    let top = |key: &str| text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')));
    let phase = |line: &str| line.trim_start().trim_start_matches("- ").starts_with("id:");
    top("phases") && (top("name") || top("project")) && text.lines().any(phase)
}

/// Where a file belongs: decides what can be known of other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belongs<'a> {
    /// To nothing that is known, such as a draft in a conversation that has no project yet.
    Nowhere,
    /// To the project with this root.
    Project(&'a Path),
}

/// A file that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedFile {
    pub kind: SavedKind,
    /// Its name in the diagnostics.
    pub file: String,
    pub text: String,
    /// What was found, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl CheckedFile {
    /// The problems that block.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|one| one.is_error())
    }
}

/// Why a file cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum SaveCheckError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// It is larger than any ADR or plan.
    #[error("{} has {bytes} bytes; ADRs and plans have at most 8 MiB", path.display())]
    TooLarge { path: PathBuf, bytes: u64 },
    /// The project's ADRs cannot be read.
    #[error("the ADRs of the project cannot be read")]
    Project(#[from] AdrFileError),
}

/// Looks at a file; `None` when it is neither ADR nor plan. `shown` is its name for people; `shelves` have the workflows that a
/// plan may name.
///
/// # Errors
/// [`SaveCheckError`] when it cannot be read.
pub fn check_file(
    path: &Path,
    shown: &str,
    belongs: Belongs<'_>,
    skills: &SkillCatalog,
    shelves: &Shelves,
) -> Result<Option<CheckedFile>, SaveCheckError> {
    // Cheap first: most files that agents write are neither.
    if !path.extension().is_some_and(|end| ["md", "markdown", "yaml", "yml"].iter().any(|own| end == *own)) {
        return Ok(None);
    }
    let bytes = read_bounded(path)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let within = match belongs {
        Belongs::Project(root) => path.strip_prefix(root).unwrap_or(path),
        Belongs::Nowhere => path.file_name().map_or(path, Path::new),
    };
    let Some(kind) = SavedKind::of(within, &text) else { return Ok(None) };
    let diagnostics = match kind {
        SavedKind::Adr => adr_diagnostics(shown, &bytes, belongs)?,
        SavedKind::Plan => plan_diagnostics(shown, &bytes, skills, shelves),
    };
    Ok(Some(CheckedFile { kind, file: shown.to_owned(), text, diagnostics }))
}

/// Reads a file that may be an ADR or a plan.
///
/// # Errors
/// [`SaveCheckError`] when it cannot be read or is larger than any of these.
pub fn read_bounded(path: &Path) -> Result<Vec<u8>, SaveCheckError> {
    let unreadable = |source| SaveCheckError::Unreadable { path: path.to_path_buf(), source };
    let found = std::fs::metadata(path).map_err(unreadable)?;
    if !found.is_file() {
        return Err(unreadable(std::io::Error::other("it is not a file")));
    }
    if found.len() > MAX_FILE {
        return Err(SaveCheckError::TooLarge { path: path.to_path_buf(), bytes: found.len() });
    }
    std::fs::read(path).map_err(unreadable)
}

/// Everything that the rule set says of an ADR: validity and completeness.
///
/// # Errors
/// [`AdrFileError`] when the project's ADRs cannot be read.
pub fn adr_diagnostics(shown: &str, bytes: &[u8], belongs: Belongs<'_>) -> Result<Vec<Diagnostic>, AdrFileError> {
    let adr = match Adr::parse_bytes(shown, bytes) {
        Ok(adr) => adr,
        Err(diagnostic) => return Ok(vec![*diagnostic]),
    };
    let (mut found, rules) = match belongs {
        Belongs::Nowhere => (check(&adr, &NoRepo), built_in_rules()),
        Belongs::Project(root) => {
            let facts = ProjectFacts::of(root, &adr)?;
            (check(&adr, &facts), facts.adrs.rules()?)
        }
    };
    found.extend(complete(&adr, &rules));
    helix_core::source_text::sort_by_place(&mut found);
    Ok(found)
}

/// Everything that is wrong with a plan, its workflow included, and skills that nobody has.
pub fn plan_diagnostics(shown: &str, bytes: &[u8], skills: &SkillCatalog, shelves: &Shelves) -> Vec<Diagnostic> {
    match shelves.read(shown, bytes) {
        Ok(parsed) => {
            let mut found = parsed.warnings.clone();
            found.extend(skills.unknown_in(shown, &parsed));
            found
        }
        Err(diagnostics) => diagnostics,
    }
}

/// A project's facts for one ADR. Whether claimed files exist is asked of drafts only: what a decision creates is there once it
/// has been carried out.
struct ProjectFacts {
    adrs: AdrDirectory,
    is_draft: bool,
}

impl ProjectFacts {
    fn of(root: &Path, adr: &Adr) -> Result<Self, AdrFileError> {
        let front = adr.front.as_ref();
        let proposed = front.and_then(|front| front.status.as_ref()).is_none_or(|one| one.value == Status::Proposed);
        let numbered =
            front.and_then(|front| front.adr_id.as_ref()).is_some_and(|one| matches!(one.value, AdrId::Number(_)));
        Ok(Self { adrs: AdrDirectory::open(root)?, is_draft: proposed && !numbered })
    }
}

impl RepoFacts for ProjectFacts {
    fn exists(&self, path: &str) -> Option<bool> {
        if self.is_draft { self.adrs.exists(path) } else { None }
    }
    fn known_adr(&self, id: AdrId) -> Option<bool> {
        self.adrs.known_adr(id)
    }
    fn supersedes(&self, id: AdrId) -> Vec<AdrId> {
        self.adrs.supersedes(id)
    }
    fn others_with_number(&self, id: AdrId, file: &str) -> Vec<String> {
        self.adrs.others_with_number(id, file)
    }
    fn depends_on(&self, id: AdrId) -> Vec<AdrId> {
        self.adrs.depends_on(id)
    }
    fn claimants(&self, path: &str) -> Vec<helix_adr::Claimant> {
        self.adrs.claimants(path)
    }
    fn circle(&self, link: helix_adr::Link, own: AdrId, first: AdrId) -> Option<Vec<AdrId>> {
        self.adrs.circle(link, own, first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adrs_and_plans_are_told_by_name_place_and_content() {
        let adr = "---\nadr_id: draft\n---\n";
        let plan = "name: x\nphases:\n  - id: a\n";
        for (path, text, kind) in [
            ("adr-draft.md", "", Some(SavedKind::Adr)),
            ("adr/007-x.md", "", Some(SavedKind::Adr)),
            ("docs/decisions/x.md", "", Some(SavedKind::Adr)),
            ("notes.md", adr, Some(SavedKind::Adr)),
            ("adr/INDEX.md", "", None),
            ("adrenaline.md", "", None),
            ("notes.md", "# adr_id: no\n", None),
            ("tests/fixtures/adrs/bad.md", adr, None),
            ("phases.yaml", "", Some(SavedKind::Plan)),
            ("plans/x/phases.yml", "", Some(SavedKind::Plan)),
            ("shop.phases.yaml", "", Some(SavedKind::Plan)),
            ("plan.yaml", plan, Some(SavedKind::Plan)),
            // A build description of a cloud provider has phases, too.
            ("buildspec.yml", "version: 0.2\nphases:\n  install:\n    commands: [x]\n", None),
            ("src/adr.rs", adr, None),
            ("phases", plan, None),
        ] {
            assert_eq!(SavedKind::of(Path::new(path), text), kind, "{path}");
        }
    }

    #[test]
    fn a_plan_is_looked_at_with_its_workflow() {
        let project = tempfile::tempdir().unwrap();
        let path = project.path().join("phases.yaml");
        let plan = |text: &str| {
            let text = format!(
                "name: pages\nworkflow: {text}\nphases:\n  - {{ id: page, type: documentation, description: d, outputs: [page.md], depends_on: [verify] }}\n"
            );
            std::fs::write(&path, text).unwrap();
            let shelves = Shelves::of(Some(project.path()), None);
            let checked =
                check_file(&path, "p", Belongs::Nowhere, &SkillCatalog::default(), &shelves).unwrap().unwrap();
            checked.errors().map(|one| one.code.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(plan("{ name: extern-simple, inputs: { tests: pytest } }"), Vec::<String>::new());
        assert_eq!(plan("extern-simple"), ["HX0130"]);
        assert_eq!(plan("own"), ["HX0129"]);
        std::fs::create_dir(project.path().join("workflows")).unwrap();
        let own = "name: own\ndescription: d\nphases:\n  - slot: work\n  - { id: verify, type: documentation, description: d, outputs: [v.md] }\n";
        std::fs::write(project.path().join("workflows/own.yaml"), own).unwrap();
        assert_eq!(plan("own"), Vec::<String>::new());
    }

    #[test]
    fn claims_are_checked_for_drafts_of_a_known_project_only() {
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("here.py"), "").unwrap();
        let adr = |id: &str, status: &str| {
            format!(
                "---\nadr_id: {id}\ntitle: T\nstatus: {status}\nfiles:\n  create: [here.py]\n  modify: [gone.py]\n---\n\n# T\n"
            )
        };
        let claims = |text: &str, belongs| {
            let found = adr_diagnostics("adr-draft.md", text.as_bytes(), belongs).unwrap();
            found.iter().filter(|one| one.message.contains(".py") && one.is_error()).count()
        };
        assert_eq!(claims(&adr("draft", "Proposed"), Belongs::Project(project.path())), 2);
        assert_eq!(claims(&adr("draft", "Proposed"), Belongs::Nowhere), 0);
        assert_eq!(claims(&adr("3", "Accepted"), Belongs::Project(project.path())), 0);
    }
}
