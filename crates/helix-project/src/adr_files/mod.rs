//! A project's `adr/` directory: reading, checking, numbering, importing and drift, safe for several processes at once.
//!
//! Must not know what makes an ADR valid: that is the one rule set in `helix_adr`.

mod check;
mod drift;
mod error;
mod implemented;
mod import;
mod numbers;
mod renumber;
mod summary;
mod threads;
mod writing;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use helix_adr::{
    Adr, AdrGraph, AdrId, ChangeScope, ClaimIndex, Claimant, Classification, ComponentType, Language, Link, Links,
    RepoFacts, Rule, TemplateRequest, built_in_rules, find_circle, index_markdown, number_of_file_name, parse_rules,
    template as adr_template,
};

pub use check::{CheckedAdr, CheckedFile};
pub use drift::{Drift, DriftError, DriftedFile, UndecidedFile, drift};
pub use error::AdrFileError;
pub use implemented::Proven;
pub use import::{ImportedFile, Imports};
pub use numbers::Finalized;
pub use renumber::{Mention, RenumberError, Renumbered};
pub use summary::AdrSummary;
use writing::disk;

/// Name of the generated index.
pub const INDEX: &str = "INDEX.md";
/// Name of the repository's own rules.
pub const RULES: &str = "rules.yaml";
/// Largest ADR that is read, in bytes.
const MAX_ADR: u64 = 8 << 20;
/// Largest circle whose every member is told of it; of a larger one the first is.
const TOLD_CIRCLE: usize = 64;

/// All ADRs of a project.
#[derive(Debug)]
pub struct AdrDirectory {
    root: PathBuf,
    /// Whether the files of the project are facts for checks.
    knows_files: bool,
    adrs: Vec<Adr>,
    unreadable: Vec<(PathBuf, AdrFileError)>,
    by_id: HashMap<AdrId, Vec<usize>>,
    by_file: HashMap<String, usize>,
    claims: ClaimIndex,
    supersedes: Walk,
    depends_on: Walk,
}

/// The links of one kind, and in which circle an ADR is.
#[derive(Debug, Default)]
struct Walk {
    links: Links,
    groups: Vec<Vec<AdrId>>,
    group_of: HashMap<AdrId, usize>,
}

impl Walk {
    fn new(links: Links) -> Self {
        let groups = links.circular_groups();
        let group_of =
            groups.iter().enumerate().flat_map(|(number, group)| group.iter().map(move |id| (*id, number))).collect();
        Self { links, groups, group_of }
    }

    fn circle(&self, own: AdrId, first: AdrId) -> Option<Vec<AdrId>> {
        // A text that differs from the file is walked from; all others are answered from what is known.
        if !self.links.next(own).contains(&first) {
            return find_circle(own, first, |id| self.links.next(id).to_vec());
        }
        let number = self.group_of.get(&own)?;
        if self.group_of.get(&first) != Some(number) {
            return None;
        }
        let group = self.groups.get(*number)?;
        if group.len() > TOLD_CIRCLE && group.first() != Some(&own) {
            return None;
        }
        let inside = |id: AdrId| -> Vec<AdrId> {
            let next = self.links.next(id).iter().copied();
            next.filter(|next| self.group_of.get(next) == Some(number)).collect()
        };
        find_circle(own, first, inside)
    }
}

impl AdrDirectory {
    /// Reads `adr/` of a project; a project without one has no ADRs.
    ///
    /// # Errors
    /// [`AdrFileError::Disk`] when the directory cannot be listed. Files that cannot be read are in
    /// [`AdrDirectory::unreadable`].
    pub fn open(root: &Path) -> Result<Self, AdrFileError> {
        let directory = root.join("adr");
        let listed = std::fs::read_dir(&directory)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>());
        let mut files = match listed {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            listed => listed.map_err(disk("list", &directory))?,
        };
        files.retain(|path| is_decision(path));
        files.sort();
        let read = threads::each(&files, |path| read(path, &relative(root, path)));
        let (mut adrs, mut unreadable) = (Vec::with_capacity(files.len()), Vec::new());
        for (path, read) in files.into_iter().zip(read) {
            match read {
                Ok(adr) => adrs.push(adr),
                Err(error) => unreadable.push((path, error)),
            }
        }
        Ok(Self::of(root.to_path_buf(), adrs, unreadable))
    }

    fn of(root: PathBuf, adrs: Vec<Adr>, unreadable: Vec<(PathBuf, AdrFileError)>) -> Self {
        let mut by_id: HashMap<AdrId, Vec<usize>> = HashMap::with_capacity(adrs.len());
        let mut by_file = HashMap::with_capacity(adrs.len());
        let (mut supersedes, mut depends_on) = (Vec::new(), Vec::new());
        for (number, adr) in adrs.iter().enumerate() {
            by_file.insert(adr.file.clone(), number);
            let Some(id) = adr.id() else { continue };
            by_id.entry(id).or_default().push(number);
            if let Some(front) = adr.front.as_ref().filter(|_| id != AdrId::Draft) {
                supersedes.extend(front.supersedes.iter().map(|other| (id, other.value)));
                depends_on.extend(front.depends_on.iter().map(|other| (id, other.value)));
            }
        }
        let claims = ClaimIndex::new(&adrs);
        let (supersedes, depends_on) = (Walk::new(Links::new(supersedes)), Walk::new(Links::new(depends_on)));
        Self { root, knows_files: true, adrs, unreadable, by_id, by_file, claims, supersedes, depends_on }
    }

    /// The same, without saying which files there are.
    pub(crate) fn without_files(self) -> Self {
        Self { knows_files: false, ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The ADRs in the order of their file names.
    pub fn adrs(&self) -> &[Adr] {
        &self.adrs
    }

    /// Files of the directory that could not be read, with the reason.
    pub fn unreadable(&self) -> &[(PathBuf, AdrFileError)] {
        &self.unreadable
    }

    /// The index of all ADRs.
    pub fn index(&self) -> String {
        index_markdown(&self.adrs)
    }

    /// How the ADRs hang together.
    pub fn graph(&self) -> AdrGraph {
        AdrGraph::new(&self.adrs)
    }

    /// Whose the files are.
    pub fn claims(&self) -> &ClaimIndex {
        &self.claims
    }

    /// The rules of completeness: the built-in ones, and those of `adr/rules.yaml`.
    ///
    /// # Errors
    /// [`AdrFileError`] when that file cannot be read or holds something that is no rule.
    pub fn rules(&self) -> Result<Vec<Rule>, AdrFileError> {
        let mut rules = built_in_rules();
        let path = self.root.join("adr").join(RULES);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(rules),
            text => text.map_err(disk("read", &path))?,
        };
        let name = relative(&self.root, &path);
        let own = parse_rules(&name, &text)
            .map_err(|diagnostic| AdrFileError::Rules { diagnostic, source_text: text.clone() })?;
        rules.extend(own);
        Ok(rules)
    }

    /// The ADR of a number.
    pub fn find(&self, id: AdrId) -> Option<&Adr> {
        self.adrs.get(*self.by_id.get(&id)?.first()?)
    }

    fn holders(&self, id: AdrId) -> impl Iterator<Item = &Adr> {
        self.by_id.get(&id).into_iter().flatten().filter_map(|number| self.adrs.get(*number))
    }
}

impl RepoFacts for AdrDirectory {
    fn exists(&self, path: &str) -> Option<bool> {
        self.root.join(path).try_exists().ok().filter(|_| self.knows_files)
    }

    fn known_adr(&self, id: AdrId) -> Option<bool> {
        Some(self.by_id.contains_key(&id))
    }

    fn supersedes(&self, id: AdrId) -> Vec<AdrId> {
        self.supersedes.links.next(id).to_vec()
    }

    fn depends_on(&self, id: AdrId) -> Vec<AdrId> {
        self.depends_on.links.next(id).to_vec()
    }

    fn others_with_number(&self, id: AdrId, file: &str) -> Vec<String> {
        self.holders(id).filter(|adr| adr.file != file).map(|adr| adr.file.clone()).collect()
    }

    fn claimants(&self, path: &str) -> Vec<Claimant> {
        self.claims.of(path).into_iter().cloned().collect()
    }

    fn circle(&self, link: Link, own: AdrId, first: AdrId) -> Option<Vec<AdrId>> {
        match link {
            Link::Supersedes => self.supersedes.circle(own, first),
            Link::DependsOn => self.depends_on.circle(own, first),
            Link::Related => None,
        }
    }
}

/// The form of an ADR as the Consultant is given it: generated from the rule set that checks it.
pub fn template() -> String {
    let text = adr_template(&example_request());
    let fence = helix_core::finding::fence_for(&text);
    format!("{fence}markdown\n{text}\n{fence}")
}

/// What the Consultant's example is about.
fn example_request() -> TemplateRequest {
    TemplateRequest {
        language: Language::English,
        title: "Export orders as CSV".into(),
        component_type: ComponentType::Tool,
        classification: Classification::New,
        change_scope: ChangeScope::Minor,
        creates: vec!["src/export.py".into()],
    }
}

/// Numbers in use, with the files that hold them; more than one file is a collision.
pub fn collisions(directory: &AdrDirectory) -> BTreeMap<u32, Vec<String>> {
    let mut files: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for adr in &directory.adrs {
        if let Some(number) = number(adr) {
            files.entry(number).or_default().push(adr.file.clone());
        }
    }
    files.retain(|_, holders| holders.len() > 1);
    files
}

/// Whether a file of `adr/` may be a decision: Markdown that is neither index nor readme.
pub fn is_decision(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".md") && !name.starts_with('.') && name != INDEX && !name.eq_ignore_ascii_case("readme.md")
}

/// The number that an ADR takes: its own, or that of its file's name.
fn number(adr: &Adr) -> Option<u32> {
    adr.number().or_else(|| number_of_file_name(&adr.file))
}

fn read(path: &Path, name: &str) -> Result<Adr, AdrFileError> {
    let bytes = std::fs::metadata(path).map_err(disk("read", path))?.len();
    if bytes > MAX_ADR {
        return Err(AdrFileError::TooLarge { path: path.to_path_buf(), bytes });
    }
    let bytes = std::fs::read(path).map_err(disk("read", path))?;
    Adr::parse_bytes(name, &bytes).map_err(AdrFileError::Unreadable)
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use helix_adr::{NoRepo, check, complete};

    use super::*;

    /// What the Consultant is given as the form of an ADR is accepted by the rules that its ADRs are measured by.
    #[test]
    fn the_consultants_template_passes_the_rule_set() {
        let given = template();
        let inner = given.split_once("markdown\n").unwrap().1.trim_end_matches('`').trim_end();
        let adr = Adr::parse("draft.md", inner);
        // What is wrong with it is only that nobody has filled it in.
        let codes: Vec<String> = check(&adr, &NoRepo).into_iter().map(|one| one.code).collect();
        assert_eq!(codes, ["HX0232"]);
        let filled = Adr::parse("draft.md", &inner.replace("<command>", "shop export"));
        assert_eq!(complete(&adr, &built_in_rules()), []);
        assert_eq!(filled.criteria.len(), 3);
        assert!(filled.criteria.iter().all(|one| !one.evidence.is_empty()), "{:#?}", filled.criteria);
    }
}
