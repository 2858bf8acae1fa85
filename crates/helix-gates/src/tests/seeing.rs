//! Code that passes its tests by other means than being right: it has their answers written in it, or it sees that it is tested.
//!
//! Must not find anything by looks alone where a run can show it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use helix_core::finding::{FaultKind, Finding};
use helix_core::ids::CommitId;
use helix_language::recorded;

use super::proof::did_not_compile;
use super::work::{UNPARSED, Unread, Work, Written, left_unread, test_files};
use super::{Tested, Testing};
use crate::GateContext;
use crate::checkout::blocking;
use crate::code::{Asked, Blinded, Code};
use crate::judgement::{Judgement, Trouble, fault, finding};
use crate::sources::{Question, Sources};
use crate::test_run::TestRun;
use helix_git::VariantFile;
use helix_plan::Switch;

/// Where code looks for a test runner: path, line from 1, and what stands there.
type Look = (String, u32, String);

/// What of the code is to be tried.
struct Suspicions {
    /// Answers of tests that stand in it.
    known: Vec<Finding>,
    /// Results whose code sees no test runner: the first that can be built shows what it does.
    blind: Vec<Blind>,
}

/// A result whose code sees no test runner.
struct Blind {
    commit: CommitId,
    /// Where it looked.
    looks: Vec<Look>,
    /// Whether it has nothing less than what there is besides tests: else they may need what is missing.
    is_whole: bool,
}

impl Testing<'_> {
    /// Findings of code that passes by what it knows of its tests.
    pub(super) async fn seen_through(&self, work: &Work, tested: &Tested) -> Result<Option<Judgement>, Trouble> {
        if self.gate.control == Switch::Off {
            return Ok(None);
        }
        let (context, of) = (self.context.clone(), work.clone());
        let Suspicions { known, blind } = blocking(move || suspicions(&context, &of)).await??;
        if !known.is_empty() {
            return Ok(Some(Judgement::of(known, recorded!("gate-knows-answers"), Vec::new())));
        }
        for Blind { commit, looks, is_whole } in blind {
            let suffix = if is_whole { ".unaware" } else { ".unaware-less" };
            let unseeing = self.run_variant(&commit, suffix, self.limit).await?;
            let ran = unseeing.run.as_ref().map_or(0, TestRun::total);
            match ran == 0 && did_not_compile(&unseeing.checked.output) {
                true if is_whole => return Ok(Some(self.not_built(&looks))),
                true => continue,
                false => {}
            }
            if !unseeing.is_as_good_as(tested) {
                let found = looks.into_iter().map(|(path, line, what)| {
                    finding("tests.aware", recorded!("gate-sees-tests", code = what)).at(&path, Some(line), None)
                });
                return Ok(Some(Judgement::of(found.collect(), recorded!("gate-does-otherwise"), Vec::new())));
            }
            break;
        }
        Ok(None)
    }

    fn not_built(&self, looks: &[Look]) -> Judgement {
        let places: Vec<String> = looks.iter().take(5).map(|(path, line, _)| format!("{path}:{line}")).collect();
        let message = recorded!("gate-sees-unbuilt", places = places.join(", "));
        Judgement::faulted(fault(FaultKind::Unreadable, message))
    }
}

fn suspicions(context: &Arc<GateContext>, work: &Work) -> Result<Suspicions, Trouble> {
    let (written, mut sources) = (work.written(context)?, Sources::of(context));
    let mut known = Vec::new();
    let mut blind = [false, true].map(|is_whole| (is_whole, BTreeMap::new(), Vec::new()));
    let mut questions: Vec<(Code, Vec<Asked>)> = Vec::new();
    // Code that no output claims takes part, too.
    let unread = written.iter().filter(|written| written.code.reads_otherwise(&written.source));
    let unread: Vec<_> = unread.map(|one| Unread { path: one.path.clone(), code: one.code, why: UNPARSED }).collect();
    left_unread(&mut sources, &unread)?;
    for Written { path, kind, code, source, lines } in written {
        if !questions.iter().any(|(of, _)| *of == code) {
            let mut all = Vec::new();
            for file in test_files(context, code)? {
                let asked = Question::Asked(code, file.source.into());
                all.extend(sources.ask::<Vec<Asked>>(&file.path, &asked)?);
            }
            questions.push((code, all));
        }
        let of_code = questions.iter().find(|(of, _)| *of == code).map(|(_, asked)| asked.as_slice());
        let asked = of_code.unwrap_or_default().into();
        let known_answers =
            Question::KnownAnswers { code, source: source.as_str().into(), lines: Cow::Borrowed(&lines), asked };
        for (line, what) in sources.ask::<BTreeMap<u32, String>>(&path, &known_answers)? {
            let message = recorded!("gate-knows-answer", answer = what);
            known.push(finding("tests.known", message).at(&path, Some(line), None));
        }
        for (is_whole, edits, looks) in &mut blind {
            let lines = Cow::Borrowed(&lines);
            let blinded = Question::Blinded { code, source: source.as_str().into(), lines, keep: *is_whole };
            if let Some(Blinded { source, looks: at }) = sources.ask::<Option<Blinded>>(&path, &blinded)? {
                looks.extend(at.into_iter().map(|(line, what)| (path.clone(), line, what)));
                edits.insert(path.clone(), VariantFile::Written(kind, source.into_bytes()));
            }
        }
    }
    let mut trees = Vec::new();
    let as_much = blind[0].2.len() == blind[1].2.len();
    for (is_whole, edits, looks) in
        blind.into_iter().filter(|(is_whole, edits, _)| !edits.is_empty() && (*is_whole || !as_much))
    {
        let commit = context.repository().variant(&context.result.commit, &edits)?;
        trees.push(Blind { commit, looks, is_whole });
    }
    Ok(Suspicions { known, blind: trees })
}
