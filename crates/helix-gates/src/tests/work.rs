//! What a phase did, seen from its tests: sources, tests, and what it touched besides. And trees that differ in one of them.
//!
//! Must not run anything.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use helix_core::evidence::{ChangeKind, ChangedFile};
use helix_core::finding::{FaultKind, Finding};
use helix_core::ids::CommitId;
use helix_core::said::Words;

use super::Excused;
use super::rebound::{Modules, Rebound, rebound};
use crate::GateContext;
use crate::code::{
    Bindings, Code, Helpers, MAX_SOURCE, Mutant, OtherAnswer, Stubbed, TestFile, Weakening, as_documentation,
    has_examples, included, new_lines,
};
use crate::definition::{Family, WorkOf, families, gate_members, is_packaging, is_test};
use crate::judgement::{Trouble, fault};
use crate::pattern::beside;
use crate::sources::{Question, Sources, go_on};
use helix_git::{EntryKind, GitError, TreeListing, VariantFile};
use helix_language::{finding_with_fix, recorded};
use helix_plan::GateSpec;

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
    /// Changes that no claim is about, and that tests may read: anything but code. Of a phase, also those of the phases before it.
    pub(super) strays: Vec<String>,
}

/// A result whose functions answer nonsense.
pub(super) struct Nonsense {
    /// `None` where there is no function.
    pub(super) commit: Option<CommitId>,
    /// Where they do.
    pub(super) files: Vec<String>,
    /// Whether the job wrote or changed one of these functions.
    pub(super) new_functions: bool,
    /// Sources that stay whole, with why, for people.
    pub(super) unread: Vec<Words>,
}

/// Sources with nonsense in their functions.
#[derive(Default)]
pub(super) struct NonsenseFiles {
    pub(super) edits: BTreeMap<String, VariantFile>,
    /// Whether the job wrote or changed one of these functions.
    new_functions: bool,
    /// The sources that cannot be read.
    unread: Vec<Unread>,
}

/// A source of the result.
pub(super) struct Written {
    pub(super) path: String,
    pub(super) kind: EntryKind,
    pub(super) code: Code,
    pub(super) source: String,
    /// Lines that were not there before.
    pub(super) lines: BTreeSet<u32>,
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
    /// Looks at what the phase changed; where it changed no source, at sources of the job before it. Of results put together, at all that
    /// the job changed.
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
                Some(code) if tested(code) && allowed && file.how != ChangeKind::Deleted && !is_packaging(path) => {
                    work.adds_source |= of_phase && file.how == ChangeKind::Added;
                    work.sources.push(path.clone());
                }
                Some(_) => work.others.push(path.clone()),
                None => {
                    if !allowed && !members.contains(path) {
                        work.strays.push(path.clone());
                    }
                    if is_test(path) {
                        work.tests.push(file.clone());
                    }
                }
            }
        };
        let of_job = || {
            let origin = context.repository().commit(context.origin.as_str())?.tree;
            context.repository().changes(&origin, &context.result.tree)
        };
        if context.claims.of != WorkOf::Phase {
            of_job()?.iter().for_each(|file| sort(&mut work, file, true));
            return Ok(work);
        }
        for file in &context.result.changed {
            sort(&mut work, file, true);
        }
        if context.origin == context.base {
            return Ok(work);
        }
        let of_job = of_job()?;
        // No gate may have asked the phases before it what they did.
        let of_phase: BTreeSet<&String> = context.result.changed.iter().map(|file| &file.path).collect();
        let earlier = of_job.iter().map(|file| &file.path).filter(|path| !of_phase.contains(path));
        let unclaimed = earlier.filter(|path| Code::of_path(path).is_none_or(|_| is_test(path)));
        work.strays.extend(unclaimed.filter(|path| !context.claims.allow_before(path)).cloned());
        if work.sources.is_empty() {
            let mut earlier = Self::default();
            of_job.iter().for_each(|file| sort(&mut earlier, file, false));
            work.sources = earlier.sources;
        }
        Ok(work)
    }

    /// The result with nonsense in the functions of these sources.
    pub(super) fn control(&self, context: &GateContext) -> Result<Nonsense, Trouble> {
        let mut sources = Sources::of(context);
        let NonsenseFiles { edits, new_functions, unread } = self.nonsense(&mut sources)?;
        let unread = left_unread(&mut sources, &unread)?;
        let variant = || context.repository().variant(&context.result.commit, &edits);
        let commit = if edits.is_empty() { None } else { Some(variant()?) };
        Ok(Nonsense { commit, files: edits.into_keys().collect(), new_functions, unread })
    }

    /// These sources with nonsense in their functions.
    pub(super) fn nonsense(&self, sources: &mut Sources<'_>) -> Result<NonsenseFiles, Trouble> {
        let context = sources.context();
        let (files, before) = (context.files()?, context.files_at(&context.origin)?);
        let mut nonsense = |files: &TreeListing, path: &str, code| -> Result<Stubs, Trouble> {
            let Some((kind, source)) = source_of(context, files, path)? else { return Ok(Err(TOO_LONG)) };
            let stubbed: Option<Stubbed> = sources.ask(path, &Question::Stubbed(code, source.into()))?;
            Ok(stubbed.map(|stubbed| (kind, stubbed)).ok_or(UNPARSED))
        };
        let NonsenseFiles { mut edits, mut new_functions, mut unread } = NonsenseFiles::default();
        for path in self.sources.iter().filter(|path| files.get(*path).is_some_and(|entry| entry.kind.is_file())) {
            let Some(code) = Code::of_path(path) else { continue };
            match nonsense(&files, path, code)? {
                Err(why) => unread.push(Unread { path: path.clone(), code, why }),
                Ok((_, Stubbed { functions, .. })) if functions.is_empty() => {}
                Ok((kind, Stubbed { source, functions })) => {
                    let former = nonsense(&before, path, code)?;
                    new_functions |= former.map_or(true, |(_, former)| !functions.is_subset(&former.functions));
                    edits.insert(path.clone(), VariantFile::Written(kind, source.into_bytes()));
                }
            }
        }
        Ok(NonsenseFiles { edits, new_functions, unread })
    }

    /// All code that the phase wrote, or the job before it where the phase wrote none, claimed or not.
    pub(super) fn written(&self, context: &GateContext) -> Result<Vec<Written>, GitError> {
        let (files, base, origin) =
            (context.files()?, context.files_at(&context.base)?, context.files_at(&context.origin)?);
        let mut found = Vec::new();
        for path in self.sources.iter().chain(&self.others) {
            let of_phase =
                context.claims.of == WorkOf::Phase && context.result.changed.iter().any(|file| &file.path == path);
            let Some((kind, source)) = source_of(context, &files, path)? else { continue };
            let before = if of_phase { &base } else { &origin };
            let lines = new_lines(context.text(before, path)?.as_deref(), &source);
            let Some(code) = Code::of_path(path) else { continue };
            found.push(Written { path: path.clone(), kind, code, source, lines });
        }
        Ok(found)
    }

    /// The result without what no claim is about.
    pub(super) fn without_strays(&self, context: &GateContext) -> Result<CommitId, GitError> {
        // What the phases before it claim is theirs; their other changes go with this phase's.
        let of_phase = |path: &&String| context.claims.of == WorkOf::Phase && context.claims.allow_before(path);
        let (of_phase, of_job) = self.strays.iter().partition::<Vec<_>, _>(of_phase);
        let (base, origin) = (context.files_at(&context.base)?, context.files_at(&context.origin)?);
        let edits = former(&base, of_phase).chain(former(&origin, of_job)).collect();
        context.repository().variant(&context.result.commit, &edits)
    }

    /// The result with the code that was there before the phase.
    pub(super) fn without_sources(&self, context: &GateContext) -> Result<CommitId, GitError> {
        let of_phase: BTreeSet<&String> = context.result.changed.iter().map(|file| &file.path).collect();
        let code = self.sources.iter().chain(&self.others).filter(|path| of_phase.contains(path));
        let start = if context.claims.of == WorkOf::Phase { &context.base } else { &context.origin };
        let edits = former(&*context.files_at(start)?, code).collect();
        context.repository().variant(&context.result.commit, &edits)
    }
}

/// A file whose functions answer nonsense, or why there is none.
type Stubs = Result<(EntryKind, Stubbed), &'static str>;

/// A source in which nothing can be planted.
pub(super) struct Unread {
    pub(super) path: String,
    pub(super) code: Code,
    /// One of those that follow; messages choose by it.
    pub(super) why: &'static str,
}

pub(super) const TOO_LONG: &str = "long";
pub(super) const UNPARSED: &str = "unparsed";

/// Notes of sources that were as unreadable when the job began. What the job made so keeps the gate from saying anything about it.
pub(super) fn left_unread(sources: &mut Sources<'_>, unread: &[Unread]) -> Result<Vec<Words>, Trouble> {
    let context = sources.context();
    let before = context.files_at(&context.origin)?;
    let mut notes = Vec::new();
    for Unread { path, code, why } in unread {
        let was_readable = match source_of(context, &before, path)? {
            Some((_, source)) => {
                let mutants = Question::Mutants { code: *code, source: source.into(), lines: Cow::default() };
                sources.ask::<Option<Vec<Mutant>>>(path, &mutants)?.is_some()
            }
            None => !before.contains_key(path),
        };
        if was_readable {
            return Err(fault(FaultKind::Unreadable, recorded!("gate-unread", path = path, why = *why)).into());
        }
        notes.push(recorded!("gate-unread-before", path = path, why = *why));
    }
    Ok(notes)
}

/// The text of a file that is not too long to be looked at.
pub(super) fn source_of(
    context: &GateContext,
    files: &TreeListing,
    path: &str,
) -> Result<Option<(EntryKind, String)>, GitError> {
    let Some(entry) = files.get(path).filter(|entry| entry.kind.is_file()) else { return Ok(None) };
    if context.repository().size(&entry.object)? > MAX_SOURCE {
        return Ok(None);
    }
    Ok(context.text(files, path)?.map(|text| (entry.kind, text)))
}

impl Excused {
    fn covers(self, context: &GateContext, path: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Named => context.claims.name(path),
            Self::Claimed => context.claims.cover(path),
        }
    }

    /// What to do about tests that ask less.
    fn fix(self) -> Words {
        match self {
            Self::Nothing | Self::Claimed => recorded!("gate-weaker-fix"),
            Self::Named => recorded!("gate-weaker-fix-named"),
        }
    }
}

/// Most test files of a tree that are read for what they ask.
const MOST_TESTS: usize = 400;

/// The tests of the result in a language.
pub(super) fn test_files(context: &GateContext, code: Code) -> Result<Vec<TestFile>, GitError> {
    test_files_of(context, &*context.files()?, code)
}

fn test_files_of(context: &GateContext, files: &TreeListing, code: Code) -> Result<Vec<TestFile>, GitError> {
    let mut found = Vec::new();
    let paths = files.keys().filter(|path| Code::of_path(path) == Some(code));
    for path in paths.filter(|path| is_test(path) || code == Code::Rust).take(MOST_TESTS) {
        let source = source_of(context, files, path)?.map(|(_, source)| source);
        found.extend(source.map(|source| TestFile { path: path.clone(), code, source }));
    }
    Ok(found)
}

/// What the other test files in the directory of one, which for Go is a package, have for its tests to call.
fn helpers_beside(sources: &mut Sources<'_>, files: &TreeListing, code: Code, path: &str) -> Result<Helpers, Trouble> {
    let directory = |path: &str| path.rsplit_once('/').map(|(directory, _)| directory.to_owned());
    let mut found = Helpers::new();
    for TestFile { path: other, source, .. } in test_files_of(sources.context(), files, code)? {
        if other != path && directory(&other) == directory(path) {
            let helpers: Helpers = sources.ask(&other, &Question::Helpers(code, source.into()))?;
            for (name, real) in helpers {
                found.entry(name).and_modify(|known| *known &= real).or_insert(real);
            }
        }
    }
    Ok(found)
}

/// Tests that expect something else than they did, or are gone: findings, but for files that the plan names by their whole path or where
/// it allows that tests ask less.
fn other_expectations(
    sources: &mut Sources<'_>,
    tests: &[(String, Arc<TreeListing>)],
    excused: Excused,
) -> Result<(Vec<Finding>, Vec<Words>), Trouble> {
    let context = sources.context();
    let now = context.files()?;
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let runs_examples = runs_examples(context, &now)?;
    for (path, before) in tests {
        let code = Code::of_path(path).filter(|code| is_test(path) || *code == Code::Rust);
        if code.is_none() && !runs_examples {
            continue;
        }
        let read = |files: &TreeListing| -> Result<Option<TestFile>, GitError> {
            let source = source_of(context, files, path)?.map(|(_, source)| source);
            let source = source.filter(|source| code.is_some() || has_examples(source));
            Ok(source.map(|source| TestFile { path: path.clone(), code: code.unwrap_or(Code::Python), source }))
        };
        old.extend(read(before)?);
        new.extend(read(&now)?);
    }
    if !tests.is_empty() {
        let then = included_documents(context, &*context.files_at(&context.origin)?)?;
        let now = included_documents(context, &now)?;
        let file = |(path, source): (&String, &String)| TestFile {
            path: path.clone(),
            code: Code::Rust,
            source: source.clone(),
        };
        old.extend(then.iter().filter(|(path, text)| now.get(*path) != Some(text)).map(file));
        new.extend(now.iter().filter(|(path, text)| then.get(*path) != Some(text)).map(file));
    }
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    let mut add = |rule, (path, line): (String, Option<u32>), said: Words, fix: Words| {
        if context.claims.name(&path) || excused.covers(context, &path) {
            notes.push(Words::from(format!("{path}: ")).and(said));
        } else {
            findings.push(finding_with_fix(rule, said, fix).at(&path, line, None));
        }
    };
    for (path, Rebound { line, name }) in other_meanings(sources, tests)? {
        let said = recorded!("gate-weaker-rebound", name = name);
        add("tests.weaker", (path, Some(line)), said, excused.fix());
    }
    if old.is_empty() {
        return Ok((findings, notes));
    }
    let changed = if new.is_empty() { &old } else { &new };
    let changed = changed.iter().take(3).map(|file| file.path.as_str()).collect::<Vec<_>>().join(", ");
    let other: Vec<OtherAnswer> =
        sources.ask(&changed, &Question::OtherAnswers { before: old.into(), now: new.into() })?;
    for OtherAnswer { path, line, said } in other {
        let fix = match excused {
            Excused::Nothing | Excused::Claimed => recorded!("gate-expects-fix"),
            Excused::Named => recorded!("gate-expects-fix-named"),
        };
        add("tests.expects", (path, line), said, fix);
    }
    Ok((findings, notes))
}

/// Names in tests that stand for something else, though what they stood for is still there.
fn other_meanings(
    sources: &mut Sources<'_>,
    tests: &[(String, Arc<TreeListing>)],
) -> Result<Vec<(String, Rebound)>, Trouble> {
    let context = sources.context();
    let (now, begun) = (context.files()?, Instant::now());
    let (mut found, mut known) = (Vec::new(), BTreeMap::<String, Option<Arc<(Bindings, String)>>>::new());
    for (path, before) in tests {
        let Some(code) = Code::of_path(path).filter(|code| is_test(path) || *code == Code::Rust) else { continue };
        let versions = (source_of(context, before, path)?, source_of(context, &now, path)?);
        let (Some((_, old)), Some((_, new))) = versions else { continue };
        let mut bound =
            |path: &str, code, source: &str| sources.ask::<Bindings>(path, &Question::Bound(code, source.into()));
        let names = [bound(path, code, &old)?, bound(path, code, &new)?];
        let (was, is) = (|path: &str| is_there(before, path), |path: &str| is_there(&now, path));
        // Many names come from one module.
        let mut read = |file: &str| -> Result<Option<Arc<(Bindings, String)>>, Trouble> {
            if let Some(known) = known.get(file) {
                return Ok(known.clone());
            }
            let module = match Code::of_path(file).zip(source_of(context, &now, file)?) {
                Some((code, (_, text))) => Some(Arc::new((bound(file, code, &text)?, text))),
                None => None,
            };
            Ok(known.entry(file.to_owned()).or_insert(module).clone())
        };
        let go_on = || go_on(context, path, begun);
        let restores = restores_spies(context, before, path)?;
        let mut modules = Modules { was: &was, is: &is, read: &mut read, restores, go_on: &go_on };
        found.extend(
            rebound(code, path, (&names[0], &names[1]), &mut modules)?.into_iter().map(|one| (path.clone(), one)),
        );
    }
    Ok(found)
}

/// Whether the configuration of Jest or Vitest for a test, as it was, takes back all spies before each test.
fn restores_spies(context: &GateContext, files: &TreeListing, path: &str) -> Result<bool, GitError> {
    if !Code::of_path(path).is_some_and(Code::is_script) {
        return Ok(false);
    }
    const ENDINGS: [&str; 7] = ["js", "ts", "mjs", "cjs", "mts", "cts", "json"];
    let names = ["jest", "vitest", "vite"].map(|name| ENDINGS.map(|end| format!("{name}.config.{end}")));
    let names: Vec<String> = names.into_iter().flatten().chain(["package.json".to_owned()]).collect();
    for end in path.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]) {
        let mut is_configured = false;
        for name in &names {
            let Some((_, text)) = source_of(context, files, &format!("{}{name}", &path[..end]))? else { continue };
            let bare: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect();
            if name == "package.json" && !bare.contains("jest:{") {
                continue;
            }
            if bare.contains("restoreMocks:true") {
                return Ok(true);
            }
            is_configured = true;
        }
        // The nearest one counts.
        if is_configured {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Whether a file is in a tree, or in a directory where the path ends with `/`.
fn is_there(files: &TreeListing, path: &str) -> bool {
    match path.ends_with('/') {
        true => files.range(path.to_owned()..).next().is_some_and(|(found, _)| found.starts_with(path)),
        false => files.contains_key(path),
    }
}

/// Documents of a tree that its sources in Rust have for their documentation.
fn included_documents(context: &GateContext, files: &TreeListing) -> Result<BTreeMap<String, String>, GitError> {
    let mut found = BTreeMap::new();
    for TestFile { path, source, .. } in test_files_of(context, files, Code::Rust)? {
        for named in included(&source).into_iter().filter_map(|named| beside(&path, &named)) {
            if let Some((_, text)) = source_of(context, files, &named)? {
                found.insert(named, as_documentation(&text));
            }
        }
    }
    Ok(found)
}

/// Whether a command of the phase's gates runs the examples that stand in texts and docstrings, or pytest is configured so.
fn runs_examples(context: &GateContext, files: &TreeListing) -> Result<bool, GitError> {
    const DOCTEST: &str = "doctest";
    if context.phase.gates.iter().flat_map(GateSpec::commands).any(|command| command.contains(DOCTEST)) {
        return Ok(true);
    }
    for file in ["pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"] {
        // Other tools run examples, too, and none of these is the command.
        if source_of(context, files, file)?.is_some_and(|(_, text)| text.contains("--doctest")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// These files as they were.
fn former<'p>(
    files: &TreeListing,
    paths: impl IntoIterator<Item = &'p String>,
) -> impl Iterator<Item = (String, VariantFile)> {
    let former = |path: &String| files.get(path).map_or(VariantFile::Removed, |entry| VariantFile::Kept(entry.clone()));
    paths.into_iter().map(move |path| (path.clone(), former(path)))
}

/// Files that the phase changed, or the job before it, each with the files among which its former version is: those of the job's start
/// or, if it is newer, those of the phase's. An earlier phase may have had no gate that asked what it did to the tests.
fn former_tests(context: &GateContext) -> Result<Vec<(String, Arc<TreeListing>)>, GitError> {
    let (origin, base) = (context.files_at(&context.origin)?, context.files_at(&context.base)?);
    let mut changed: BTreeSet<String> = context.result.changed.iter().map(|file| file.path.clone()).collect();
    if context.origin != context.base {
        let start = context.repository().commit(context.origin.as_str())?.tree;
        let of_job = context.repository().changes(&start, &context.result.tree)?;
        changed.extend(of_job.into_iter().map(|file| file.path));
    }
    let former = |path: String| {
        let files = if origin.contains_key(&path) { &origin } else { &base };
        (path, files.clone())
    };
    Ok(changed.into_iter().map(former).collect())
}

/// The result with the tests that the job has changed as they were, but for files that the plan names by their whole path; `None` where
/// there are none.
pub(super) fn with_former_tests(context: &GateContext) -> Result<Option<CommitId>, GitError> {
    let now = context.files()?;
    let mut edits = BTreeMap::new();
    for (path, before) in former_tests(context)? {
        let former = before.get(&path).filter(|entry| entry.kind.is_file() && is_test(&path));
        if let Some(former) = former.filter(|_| now.contains_key(&path) && !context.claims.name(&path)) {
            edits.insert(path.clone(), VariantFile::Kept(former.clone()));
        }
    }
    if edits.is_empty() {
        return Ok(None);
    }
    context.repository().variant(&context.result.commit, &edits).map(Some)
}

/// Tests of the base that assert less now: findings, and notes of what the plan allows or what may be meant well.
pub(super) fn weaker_tests(context: &GateContext, excused: Excused) -> Result<(Vec<Finding>, Vec<Words>), Trouble> {
    let (tests, now, mut sources) = (former_tests(context)?, context.files()?, Sources::of(context));
    let read = |files: &TreeListing, path: &str| -> Result<Option<String>, GitError> {
        Ok(source_of(context, files, path)?.map(|(_, source)| source))
    };
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for (path, before) in &tests {
        let Some(code) = Code::of_path(path).filter(|code| is_test(path) || *code == Code::Rust) else { continue };
        let Some(old) = read(before, path)? else { continue };
        let weakened = match read(&now, path)? {
            Some(new) => {
                let weakened = |sources: &mut Sources<'_>, helpers: [Helpers; 2]| {
                    let [helpers_before, helpers_now] = helpers.map(Cow::Owned);
                    let (is_test, before, now) = (is_test(path), Cow::Borrowed(&*old), Cow::Borrowed(&*new));
                    let asked = Question::Weakened { code, is_test, before, now, helpers_before, helpers_now };
                    sources.ask::<Vec<Weakening>>(path, &asked)
                };
                let mut found = weakened(&mut sources, Default::default())?;
                if code == Code::Go && !found.is_empty() {
                    // What a test asks may stand in a function that it hands its `t`.
                    let helpers = helpers_beside(&mut sources, before, code, path)?;
                    let helpers_now = helpers_beside(&mut sources, &now, code, path)?;
                    let still = weakened(&mut sources, [helpers, helpers_now])?;
                    found.retain(|weak| still.iter().any(|one| one.line == weak.line));
                }
                found
            }
            None if now.contains_key(path) && (is_test(path) || old.contains("#[test]")) => {
                vec![Weakening::of_file(recorded!("gate-weaker-long"))]
            }
            None => continue,
        };
        for weak in weakened {
            if excused.covers(context, path) || context.claims.cover(path) && !weak.plain {
                notes.push(Words::from(format!("{path}: ")).and(weak.said));
                continue;
            }
            findings.push(finding_with_fix("tests.weaker", weak.said, excused.fix()).at(path, weak.line, None));
        }
    }
    // One file after the other has shown that it can be read: what takes too much is named.
    let (other, told) = other_expectations(&mut sources, &tests, excused)?;
    findings.splice(0..0, other);
    notes.splice(0..0, told);
    Ok((findings, notes))
}
