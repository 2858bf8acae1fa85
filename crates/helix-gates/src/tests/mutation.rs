//! `mutation`: most small mistakes in the lines that the phase changed make its tests fail.
//!
//! Must not take a mistake for noticed that could not be built or tested to an end, nor a sample that was cut short for the whole.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use helix_core::finding::FaultKind;
use helix_core::said::Words;
use helix_language::recorded;
use helix_plan::{MutationGate, TestsGate};
use sha2::{Digest, Sha256};

use super::proof::did_not_compile;
use super::work::{TOO_LONG, UNPARSED, Unread, Work, left_unread, source_of};
use super::{Tested, Testing};
use crate::GateContext;
use crate::checkout::{blocking, words};
use crate::code::{Code, Mutant, new_lines};
use crate::command::{as_submitted, end_words};
use crate::definition::Purpose;
use crate::judgement::{Judgement, Trouble, fault, finding};
use crate::sources::{Question, Sources};
use crate::test_run::TestRun;
use helix_git::{EntryKind, VariantFile};
use helix_process::CommandEnd;

/// Most mistakes that are tried: more change the share by a few points only.
const MOST: usize = 100;
/// So many that were tried say something of those for which there was no time.
const ENOUGH: usize = 20;
/// Least time limit of one run with a mistake, which may make a loop endless.
const LEAST_LIMIT: Duration = Duration::from_secs(10);

/// A mistake in a file.
#[derive(Debug, Clone)]
pub(super) struct Planted {
    pub(super) path: String,
    pub(super) kind: EntryKind,
    pub(super) code: Code,
    pub(super) source: Arc<str>,
    pub(super) mutant: Mutant,
}

impl Planted {
    /// The source with the mistake in it; `None` where it would not be one of the language any more.
    pub(super) fn text(&self, sources: &mut Sources<'_>) -> Result<Option<String>, Trouble> {
        let (code, source) = (self.code, Cow::Borrowed(&*self.source));
        sources.ask(&self.path, &Question::Planted { code, source, mutant: Cow::Borrowed(&self.mutant) })
    }
}

/// What can be tried.
pub(super) struct Candidates {
    sources: Vec<String>,
    pub(super) all: Vec<Planted>,
    /// Sources in which none can be looked for.
    unread: Vec<Unread>,
}

/// What came of a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Killed,
    TimedOut,
    Survived,
    Unbuilt,
}

pub(crate) async fn mutation(context: &Arc<GateContext>, gate: &MutationGate) -> Result<Judgement, Trouble> {
    let begun = Instant::now();
    let limit = gate.timeout.duration();
    let argv = words(&gate.command)?;
    let mut noted = as_submitted(context, Purpose::Tests, [gate.command.as_str()]).await?;
    let (of, command) = (context.clone(), gate.command.clone());
    let found = blocking(move || -> Result<_, Trouble> {
        let found = candidates(&of, &command)?;
        let unread = left_unread(&mut Sources::of(&of), &found.unread)?;
        Ok((found, unread))
    });
    let (Candidates { sources, all, .. }, unread) = found.await??;
    noted.extend(unread);
    if all.is_empty() {
        let message = match sources.is_empty() {
            true => recorded!("gate-mutation-no-source"),
            false => recorded!("gate-mutation-none", files = sources.join(", ")),
        };
        return Ok(Judgement::nothing(message).with_notes(noted));
    }
    let tests = TestsGate::of_command(gate.command.clone(), gate.timeout);
    let testing = Testing::new(context, &tests, &argv);
    let clean = testing.run(&context.result.commit, "").await?;
    let passed = clean.run.as_ref().map_or(0, |run| run.counts.passed);
    if clean.checked.run.end != CommandEnd::Exited(0) || passed == 0 || clean.doubt.is_some() {
        let how = end_words(clean.checked.run.end);
        let message = recorded!("gate-mutation-unclean", command = &gate.command, how = how, passed = passed);
        return Ok(Judgement::nothing(message).with_command(clean.checked.evidence).with_notes(noted));
    }
    let took = clean.checked.run.took;
    let own = LEAST_LIMIT.max(took * 3);
    let mut fates: Vec<(Arc<Planted>, Fate)> = Vec::new();
    let possible = all.len();
    let mut in_time = true;
    for (number, planted) in all.into_iter().take(MOST).map(Arc::new).enumerate() {
        let left = limit.saturating_sub(begun.elapsed());
        if left < took {
            in_time = false;
            break;
        }
        let fate = testing.fate(&planted, number, own.min(left), &clean).await?;
        // What was stopped before its own time was over shows nothing.
        if fate == Some(Fate::TimedOut) && left < own {
            in_time = false;
            break;
        }
        fates.extend(fate.map(|fate| (planted, fate)));
    }
    let judgement = judged(gate, &fates, possible, in_time).with_command(clean.checked.evidence);
    Ok(Judgement { tests: clean.run.map(|run| run.counts), ..judgement }.with_notes(noted))
}

impl Testing<'_> {
    /// Plants a mistake and runs the tests; `None` where the mistake is none of the language.
    async fn fate(
        &self,
        planted: &Arc<Planted>,
        number: usize,
        limit: Duration,
        clean: &Tested,
    ) -> Result<Option<Fate>, Trouble> {
        let (context, of) = (self.context.clone(), planted.clone());
        let commit = blocking(move || -> Result<_, Trouble> {
            let Some(text) = of.text(&mut Sources::of(&context))? else { return Ok(None) };
            let edits = BTreeMap::from([(of.path.clone(), VariantFile::Written(of.kind, text.into_bytes()))]);
            Ok(Some(context.repository().variant(&context.result.commit, &edits)?))
        });
        let Some(commit) = commit.await?? else { return Ok(None) };
        let tested = self.run_with(&commit, &format!(".mutant-{number}"), limit, &[]).await?;
        let ran = tested.run.as_ref().map_or(0, TestRun::total);
        let end = tested.checked.run.end;
        // What was ended from outside, or did not find a program, says nothing of this mistake.
        if end != CommandEnd::TimedOut && tested.checked.fault.is_some() {
            return Ok(None);
        }
        Ok(Some(match end {
            CommandEnd::TimedOut => Fate::TimedOut,
            _ if ran == 0 && did_not_compile(&tested.checked.output) => Fate::Unbuilt,
            _ if tested.is_as_good_as(clean) => Fate::Survived,
            _ => Fate::Killed,
        }))
    }
}

/// The sources, and the mistakes in their changed lines in the order in which they are tried: one of each line first, and which ones is
/// decided by the result's tree alone.
pub(super) fn candidates(context: &GateContext, command: &str) -> Result<Candidates, Trouble> {
    let mut read = Sources::of(context);
    let work = Work::of(context, command)?;
    let files = context.files()?;
    let (base, origin) = (context.files_at(&context.base)?, context.files_at(&context.origin)?);
    let mut ranked: Vec<(usize, String, Planted)> = Vec::new();
    let mut unread = Vec::new();
    for path in work.sources.iter().filter(|path| files.get(*path).is_some_and(|entry| entry.kind.is_file())) {
        let of_phase = context.result.changed.iter().any(|file| &file.path == path);
        let before = if of_phase { &base } else { &origin };
        let Some(code) = Code::of_path(path) else { continue };
        let mut skipped = |why| unread.push(Unread { path: path.clone(), code, why });
        let Some((kind, source)) = source_of(context, &files, path)? else {
            skipped(TOO_LONG);
            continue;
        };
        let source: Arc<str> = source.into();
        let mut of_line: BTreeMap<u32, Vec<(String, Mutant)>> = BTreeMap::new();
        let lines = Cow::Owned(new_lines(context.text(before, path)?.as_deref(), &source));
        let mutants = Question::Mutants { code, source: Cow::Borrowed(&*source), lines };
        let Some(mutants) = read.ask::<Option<Vec<Mutant>>>(path, &mutants)? else {
            skipped(UNPARSED);
            continue;
        };
        for mutant in mutants {
            let digest = Sha256::digest(format!("{}\0{path}\0{}", context.result.tree, mutant.key()));
            of_line.entry(mutant.line).or_default().push((format!("{digest:x}"), mutant));
        }
        for mut of_one in of_line.into_values() {
            of_one.sort_by(|one, other| one.0.cmp(&other.0));
            for (rank, (digest, mutant)) in of_one.into_iter().enumerate() {
                let (path, source) = (path.clone(), source.clone());
                ranked.push((rank, digest, Planted { path, kind, code, source, mutant }));
            }
        }
    }
    ranked.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let all = ranked.into_iter().map(|(_, _, planted)| planted).collect();
    Ok(Candidates { sources: work.sources, all, unread })
}

fn judged(gate: &MutationGate, fates: &[(Arc<Planted>, Fate)], possible: usize, in_time: bool) -> Judgement {
    let of = |wanted| fates.iter().filter(|(_, fate)| *fate == wanted).count();
    let (killed, slow, survived, unbuilt) =
        (of(Fate::Killed), of(Fate::TimedOut), of(Fate::Survived), of(Fate::Unbuilt));
    // A run that took too long may say more of the machine than of the tests.
    let viable = killed + survived;
    let mut notes = vec![recorded!(
        "gate-mutation-tried",
        possible = possible,
        tried = fates.len(),
        killed = killed,
        slow = slow,
        survived = survived,
        unbuilt = unbuilt
    )];
    if viable == 0 || !in_time && viable < ENOUGH {
        let (kind, message) = if !in_time {
            (FaultKind::Timeout, recorded!("gate-mutation-few", viable = viable, possible = possible))
        } else if slow > 0 {
            (FaultKind::Timeout, recorded!("gate-mutation-slow"))
        } else {
            (FaultKind::NothingChecked, recorded!("gate-mutation-unbuilt"))
        };
        return Judgement::faulted(fault(kind, message)).with_notes(notes);
    }
    let summary = recorded!("gate-mutation", killed = killed, viable = viable, wanted = gate.min_killed);
    let lines = fates.iter().filter(|(_, fate)| *fate == Fate::Survived).map(|(planted, _)| {
        let Mutant { line, before, after, .. } = &planted.mutant;
        (planted, *line, recorded!("gate-mutation-survived", before = before, after = after))
    });
    if killed * 100 >= viable * usize::try_from(gate.min_killed).unwrap_or(100) {
        notes.extend(lines.map(|(planted, line, said)| Words::from(format!("{}:{line}: ", planted.path)).and(said)));
        return Judgement::of(Vec::new(), summary, notes);
    }
    let findings =
        lines.map(|(planted, line, said)| finding("mutation.survived", said).at(&planted.path, Some(line), None));
    Judgement::of(findings.collect(), summary, notes)
}
