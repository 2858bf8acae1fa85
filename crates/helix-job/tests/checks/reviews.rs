//! Reviews: answers that are none, what goes on after them, and what a rejection says.
//!
//! Must not carry anything out: that is the play's business.

use helix_core::finding::Verdict;
use helix_job::{Effect, JobEvent, PhaseState, Reopen};
use helix_plan::OnFailure;

use super::{Play, unreadable, verified};
use crate::world::{finding, spec, tree};

#[test]
fn an_unusable_verdict_is_asked_for_once_more_and_never_has_the_work_done_again() {
    let mut play = Play::new(spec(vec![verified("a")]));
    play.work();
    play.review("a", 1, 1, unreadable());
    assert_eq!(play.keys(), ["review/a/1/verify/2"]);
    play.review("a", 1, 2, unreadable());
    let PhaseState::Failed { error, .. } = play.phase("a") else { panic!("[24] never a pass: {:?}", play.phase("a")) };
    assert!(error.message.starts_with("the verifier gave no usable answer 2 times"), "{error:?}");
    assert!(error.hint.unwrap().contains("`helix jobs resume JOB` asks the verifier again"));
    // Going on asks the verifier, not the agent; what that says then counts.
    play.happy();
    let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
    play.event(JobEvent::JobResumed {
        by: "a test".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    assert_eq!(play.keys(), ["review/a/1/verify/3"]);
    play.review("a", 1, 3, Verdict::Pass);
    assert!(matches!(play.phase("a"), PhaseState::Passed { .. }));
    let view = play.view();
    assert_eq!((view.phases[0].attempt, view.phases[0].review.as_ref().map(|review| review.runs)), (1, Some(3)));
}

/// Journals of before had the work done again after two answers that were none.
#[test]
fn an_older_journal_in_which_the_work_was_done_again_is_still_read() {
    let mut play = Play::new(spec(vec![verified("a")]));
    let [begin] = &play.effects()[..] else { panic!("{:?}", play.effects()) };
    let mut again = begin.clone();
    let Effect::StartAttempt { attempt, .. } = &mut again else { panic!("{again:?}") };
    *attempt = 2;
    play.work();
    play.review("a", 1, 1, unreadable());
    play.review("a", 1, 2, unreadable());
    let again = play.world.carry_out(&again, |_| tree(2)).unwrap();
    play.event(again);
    assert!(matches!(play.phase("a"), PhaseState::Working { .. }));
}

#[test]
fn a_rejection_says_in_the_error_what_it_was_for() {
    let mut one = verified("a");
    (one.max_attempts, one.on_failure) = (1, OnFailure::Fail);
    let mut play = Play::new(spec(vec![one]));
    play.work();
    let found = vec![finding("the report is empty"), finding("it has no title")];
    play.review("a", 1, 1, Verdict::Fail { findings: found });
    let PhaseState::Failed { error, .. } = play.phase("a") else { panic!("{:?}", play.phase("a")) };
    assert_eq!(error.message, "the verifier rejects the result: fail: the report is empty (and 1 more)");
    let hint = error.hint.unwrap();
    assert!(!hint.contains("jobs show"), "{hint}");
    let review = play.view().phases[0].review.clone().unwrap();
    assert_eq!((review.attempt, review.verdict.word()), (1, "fail"));
}
