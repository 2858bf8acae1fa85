//! What the tests that the job has changed say of its code as they were.
//!
//! Must not say whether they were to be changed: the plan does, where it names their file.

use helix_core::said::Words;
use helix_language::recorded;
use helix_plan::Taken;

use super::deciding::{Names, failures};
use super::proof::named;
use super::work::with_former_tests;
use super::{Tested, Testing};
use crate::baseline::{Before, Since};
use crate::checkout::blocking;
use crate::judgement::{Judgement, Trouble, finding};

impl Testing<'_> {
    /// A finding where a test that failed when the job began passes only as the job has changed it; a note of others that do.
    pub(super) async fn former_tests(
        &self,
        tested: &Tested,
        before: &[Before],
        notes: &mut Vec<Words>,
    ) -> Result<Option<Judgement>, Trouble> {
        let context = self.context.clone();
        let Some(commit) = blocking(move || with_former_tests(&context)).await?? else { return Ok(None) };
        let former = self.run_variant(&commit, ".former", self.limit).await?.run.unwrap_or_default();
        let passing = tested.run.as_ref().map(|run| &run.passed).filter(|names| !names.is_empty());
        let passing = passing.map(|names| Names::new(names.iter().map(String::as_str)));
        let mut failing = failures(Some(&former));
        failing.retain(|name| passing.as_ref().is_none_or(|passing| passing.has(name)));
        let then = before.iter().find(|before| before.since != Since::Phase).and_then(Before::tests);
        let failed_then = Names::failed(then);
        let (to_fix, others): (Vec<String>, Vec<String>) = failing.into_iter().partition(|name| failed_then.has(name));
        if !others.is_empty() {
            notes.push(recorded!("gate-former-fail", tests = named(&others)));
        }
        if to_fix.is_empty() {
            return Ok(None);
        }
        let message = recorded!("gate-former", tests = named(&to_fix));
        if self.gate.weaker_tests == Taken::Note {
            notes.push(message);
            return Ok(None);
        }
        let found = vec![finding("tests.former", message)];
        Ok(Some(Judgement::of(found, recorded!("gate-former-changed"), Vec::new())))
    }
}
