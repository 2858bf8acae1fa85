//! What a phase did, seen from its tests: sources, tests, and what it touched besides. And trees that differ in one of them.
//!
//! Must not run anything.

use std::collections::{BTreeMap, BTreeSet};

use helix_core::evidence::{ChangeKind, ChangedFile};
use helix_core::finding::Finding;
use helix_core::ids::CommitId;
use helix_plan::Taken;

use crate::GateContext;
use crate::code::{Code, MAX_SOURCE, Stubbed, stubbed, weakened};
use crate::definition::{Family, families, gate_members, is_test};
use crate::judgement::finding;
use helix_git::{EntryKind, GitError, TreeEntry, TreeListing, VariantFile};

/// What changed, by what it is for the tests.
#[derive(Debug, Default, Clone)]
pub(super) struct Work {
    /// Files with code that the command tests, as far as one can see, and that the phase may change.
    pub(super) sources: Vec<String>,
    /// Whether the phase itself added one of them.
    pub(super) adds_source: bool,
    /// All other code that is no test.
    others: Vec<String>,
    /// Tests and what lies beside them.
    pub(super) tests: Vec<ChangedFile>,
    /// Changes that no claim is about, and that tests may read: anything but code and prose.
    pub(super) strays: Vec<String>,
}

/// A result whose functions answer nonsense.
pub(super) struct Nonsense {
    pub(super) commit: CommitId,
    /// Where they do.
    pub(super) files: Vec<String>,
    /// Whether the job wrote or changed one of these functions.
    pub(super) new_functions: bool,
}

/// Whether a family's tools test code in a language.
fn tests(family: Family, code: Code) -> bool {
    match code {
        Code::Python => family == Family::Python,
        Code::JavaScript | Code::TypeScript | Code::Tsx => family == Family::Node,
        Code::Rust => family == Family::Rust,
        Code::Go => family == Family::Go,
    }
}

impl Work {
    /// Looks at what the phase changed; where it changed no source, at sources of the job before it.
    pub(super) fn of(context: &GateContext, command: &str) -> Result<Self, GitError> {
        let families = families(context.repository(), &context.result.tree, command)?;
        let members = gate_members(context.repository(), &context.result.tree, command)?;
        let tested = |code| families.is_empty() || families.iter().any(|family| tests(*family, code));
        let mut work = Self::default();
        let sort = |work: &mut Self, file: &ChangedFile, of_phase: bool| {
            let path = &file.path;
            let allowed = context.claims.allow(path);
            let code = Code::of_path(path).filter(|_| !members.contains(path));
            match code.filter(|_| !is_test(path)) {
                Some(code) if tested(code) && allowed && file.how != ChangeKind::Deleted => {
                    work.adds_source |= of_phase && file.how == ChangeKind::Added;
                    work.sources.push(path.clone());
                }
                Some(_) => work.others.push(path.clone()),
                None => {
                    let is_prose = [".md", ".rst", ".adoc"].iter().any(|ending| path.ends_with(ending));
                    if !allowed && !members.contains(path) && !is_prose {
                        work.strays.push(path.clone());
                    }
                    if is_test(path) {
                        work.tests.push(file.clone());
                    }
                }
            }
        };
        for file in &context.result.changed {
            sort(&mut work, file, true);
        }
        if work.sources.is_empty() && context.origin != context.base {
            let origin = context.repository().commit(context.origin.as_str())?.tree;
            let mut earlier = Self::default();
            for file in context.repository().changes(&origin, &context.result.tree)? {
                sort(&mut earlier, &file, false);
            }
            work.sources = earlier.sources;
        }
        Ok(work)
    }

    /// The result with nonsense in the functions of these sources; `None` where there is no function.
    pub(super) fn control(&self, context: &GateContext) -> Result<Option<Nonsense>, GitError> {
        let (repository, files, before) = (context.repository(), context.files()?, context.files_at(&context.origin)?);
        let nonsense = |entry: &TreeEntry, path: &str| -> Result<Option<Stubbed>, GitError> {
            if !is_file(entry.kind) || repository.size(&entry.object)? > MAX_SOURCE {
                return Ok(None);
            }
            let source = String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned();
            Ok(Code::of_path(path).and_then(|code| stubbed(code, &source)))
        };
        let (mut edits, mut new_functions) = (BTreeMap::new(), false);
        for path in &self.sources {
            let Some(entry) = files.get(path) else { continue };
            let Some(Stubbed { source, functions }) = nonsense(entry, path)? else { continue };
            let former = before.get(path).map(|entry| nonsense(entry, path)).transpose()?.flatten();
            new_functions |= former.is_none_or(|former| !functions.is_subset(&former.functions));
            edits.insert(path.clone(), VariantFile::Written(entry.kind, source.into_bytes()));
        }
        if edits.is_empty() {
            return Ok(None);
        }
        let commit = repository.variant(&context.result.commit, &edits)?;
        Ok(Some(Nonsense { commit, files: edits.into_keys().collect(), new_functions }))
    }

    /// The result without what no claim is about.
    pub(super) fn without_strays(&self, context: &GateContext) -> Result<CommitId, GitError> {
        restored(context, &self.strays)
    }

    /// The result with the code that was there before the phase.
    pub(super) fn without_sources(&self, context: &GateContext) -> Result<CommitId, GitError> {
        let of_phase: BTreeSet<&String> = context.result.changed.iter().map(|file| &file.path).collect();
        let code = self.sources.iter().chain(&self.others).filter(|path| of_phase.contains(path)).cloned();
        restored(context, &code.collect::<Vec<_>>())
    }
}

fn is_file(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::File | EntryKind::Executable)
}

/// The result with these files as they were when the phase began.
fn restored(context: &GateContext, paths: &[String]) -> Result<CommitId, GitError> {
    let base = context.files_at(&context.base)?;
    let former = |path: &String| base.get(path).map_or(VariantFile::Removed, |entry| VariantFile::Kept(entry.clone()));
    let edits = paths.iter().map(|path| (path.clone(), former(path))).collect();
    context.repository().variant(&context.result.commit, &edits)
}

/// Tests of the base that assert less now: findings, and notes of what the plan allows or what may be meant well.
pub(super) fn weaker_tests(context: &GateContext, taken: Taken) -> Result<(Vec<Finding>, Vec<String>), GitError> {
    let (repository, before, now) = (context.repository(), context.files_at(&context.base)?, context.files()?);
    let read = |files: &TreeListing, path: &str| -> Result<Option<String>, GitError> {
        let Some(entry) = files.get(path).filter(|entry| is_file(entry.kind)) else { return Ok(None) };
        match repository.size(&entry.object)? > MAX_SOURCE {
            true => Ok(None),
            false => Ok(Some(String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned())),
        }
    };
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for file in context.result.changed.iter().filter(|file| file.how == ChangeKind::Modified) {
        let path = &file.path;
        let Some(code) = Code::of_path(path).filter(|code| is_test(path) || *code == Code::Rust) else { continue };
        let (Some(old), Some(new)) = (read(&before, path)?, read(&now, path)?) else { continue };
        for weak in weakened(code, is_test(path), &old, &new) {
            let message = format!("the test {} {}", weak.test, weak.how);
            let claimed = context.claims.allow(path);
            if claimed && (taken == Taken::Note || !weak.plain) {
                notes.push(format!("{path}: {message}"));
                continue;
            }
            let fix = "make the code pass the test as it was; if the task asks for less, the plan sets `weaker_tests: note` in this gate";
            findings.push(finding("tests.weaker", message).at(path, weak.line, None).fix(fix));
        }
    }
    Ok((findings, notes))
}
