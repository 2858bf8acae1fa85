//! Faults that are planted into a finished result to see which of them the gates let through.
//!
//! Must not run anything.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use helix_core::ids::CommitId;
use helix_core::said::Words;
use helix_language::recorded;
use serde::{Deserialize, Serialize};

use super::mutation::{Planted, candidates};
use super::work::{Work, Written, test_files};
use crate::GateContext;
use crate::code::{Code, Weaker};
use crate::judgement::Trouble;
use crate::sources::{Question, Sources};
use helix_git::{EntryKind, GitError, VariantFile};

/// Longest that it may take to find what can be planted: there may be thousands of mistakes.
const LONGEST: Duration = Duration::from_secs(600);

/// What kind of fault was planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultSort {
    /// Nonsense in every function of the sources.
    Stub,
    /// A summary of good tests that the code prints before it ends its process with status 0.
    Lie,
    /// A test from before the phase that asserts less.
    WeakerTest,
    /// A small mistake in a changed line.
    Mistake,
}

/// A fault in a file of a result.
#[derive(Debug, Clone)]
pub struct PlantedFault {
    pub sort: FaultSort,
    /// Where: a path of the repository.
    pub path: String,
    /// From 1; absent where it is all over the file.
    pub line: Option<u32>,
    /// What was planted, as a clause.
    pub what: Words,
    edits: Edits,
}

/// How it is planted. There may be thousands, so none has a source of its own.
#[derive(Debug, Clone)]
enum Edits {
    Files(BTreeMap<String, VariantFile>),
    Weaker(EntryKind, Arc<str>, Weaker),
    Mistake(Planted),
}

impl PlantedFault {
    /// The result with the fault in it.
    ///
    /// # Errors
    /// Git failed.
    pub fn plant(&self, context: &GateContext) -> Result<CommitId, GitError> {
        let one = |kind: &EntryKind, text: String| {
            BTreeMap::from([(self.path.clone(), VariantFile::Written(*kind, text.into_bytes()))])
        };
        let edits = match &self.edits {
            Edits::Files(edits) => edits.clone(),
            Edits::Weaker(kind, source, weaker) => one(kind, weaker.text(source)),
            Edits::Mistake(planted) => one(&planted.kind, planted.mutant.text(&planted.source)),
        };
        context.repository().variant(&context.result.commit, &edits)
    }
}

/// The faults that can be planted into a phase's result, of each sort in turn, in an order that the result's tree alone decides. `passed`
/// is how many tests a lie speaks of.
///
/// # Errors
/// Git failed, or a source takes too much to be read.
pub fn planted_faults(context: &GateContext, passed: u32) -> Result<Vec<PlantedFault>, NoFaults> {
    Ok(faults(context, passed)?)
}

/// Why no faults can be planted.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct NoFaults(#[from] Trouble);

fn faults(context: &GateContext, passed: u32) -> Result<Vec<PlantedFault>, Trouble> {
    let mut read = Sources::of(context).within(LONGEST);
    let command = context.phase.gates.iter().flat_map(|gate| gate.commands()).next().unwrap_or_default().to_owned();
    let work = Work::of(context, &command)?;
    let mut sorts: [Vec<PlantedFault>; 4] = Default::default();
    let nonsense = work.nonsense(&mut read)?.edits;
    if !nonsense.is_empty() {
        let path = nonsense.keys().next().cloned().unwrap_or_default();
        let what = recorded!("audit-nonsense", files = nonsense.len());
        sorts[0].push(PlantedFault { sort: FaultSort::Stub, path, line: None, what, edits: Edits::Files(nonsense) });
    }
    for Written { path, kind, code, source, .. } in work.written(context)? {
        let lying = Question::Lying { code, source: source.into(), passed: passed.max(1) };
        if let Some(lie) = read.ask::<Option<String>>(&path, &lying)? {
            let what = recorded!("audit-lie", tests = passed.max(1));
            let edits = BTreeMap::from([(path.clone(), VariantFile::Written(kind, lie.into_bytes()))]);
            sorts[1].push(PlantedFault { sort: FaultSort::Lie, path, line: None, what, edits: Edits::Files(edits) });
        }
    }
    let (files, base) = (context.files()?, context.files_at(&context.base)?);
    for code in [Code::Python, Code::JavaScript, Code::TypeScript, Code::Tsx, Code::Rust] {
        for file in test_files(context, code)? {
            let Some(entry) = files.get(&file.path).filter(|_| base.get(&file.path).is_some()) else { continue };
            let source: Arc<str> = file.source.into();
            let weaker = Question::Weaker(code, Cow::Borrowed(&*source));
            let weaker: Vec<Weaker> = read.ask(&file.path, &weaker)?;
            sorts[2].extend(weaker.into_iter().map(|weaker| PlantedFault {
                sort: FaultSort::WeakerTest,
                path: file.path.clone(),
                line: Some(weaker.line),
                what: weaker.what.clone(),
                edits: Edits::Weaker(entry.kind, source.clone(), weaker),
            }));
        }
    }
    spread(&mut sorts[2]);
    for planted in candidates(context, &command)?.all {
        if planted.text(&mut read)?.is_some() {
            sorts[3].push(PlantedFault {
                sort: FaultSort::Mistake,
                path: planted.path.clone(),
                line: Some(planted.mutant.line),
                what: recorded!("audit-becomes", before = &planted.mutant.before, after = &planted.mutant.after),
                edits: Edits::Mistake(planted),
            });
        }
    }
    let mut queues = sorts.map(|faults| faults.into_iter());
    let mut all = Vec::new();
    loop {
        let round: Vec<PlantedFault> = queues.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            return Ok(all);
        }
        all.extend(round);
    }
}

/// Puts faults of different places of a list first, so that a few of them say something of all.
fn spread(faults: &mut Vec<PlantedFault>) {
    let count = faults.len();
    let mut rest: Vec<Option<PlantedFault>> = std::mem::take(faults).into_iter().map(Some).collect();
    let mut step = count.next_power_of_two();
    while step > 0 {
        for place in (0..count).step_by(step) {
            faults.extend(rest[place].take());
        }
        step /= 2;
    }
}
