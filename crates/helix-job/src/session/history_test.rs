use proptest::prelude::*;

use super::*;
use helix_core::ids::SessionId;

fn id(number: u32) -> TurnId {
    TurnId::nth(&SessionId::new("s").unwrap(), number)
}

fn stub(number: u32, under: u32, asked: &str, answered: &str) -> TurnSummary {
    TurnSummary {
        id: id(number),
        number,
        under: (under > 0).then(|| id(under)),
        before: None,
        asked: TextDigest::new(asked),
        answered: (!answered.is_empty()).then(|| TextDigest::new(answered)),
    }
}

fn exchange(asked: &str, answered: &str) -> Exchange {
    let answered = (!answered.is_empty()).then(|| TextDigest::new(answered));
    Exchange { asked: TextDigest::new(asked), answered }
}

fn of(turns: &[TurnSummary], history: &[Exchange]) -> HistoryMatch {
    match_history(turns, history, |index| (index > 0).then(|| TextDigest::new(&format!("{index} before"))))
}

fn here(after: u32) -> HistoryMatch {
    HistoryMatch::Here { after: (after > 0).then(|| id(after)), from: 0, mismatches: vec![], unseen: vec![] }
}

/// one ─ two ─ three, and one ─ other; a second session that begins with the same words.
fn tree() -> Vec<TurnSummary> {
    vec![
        stub(1, 0, "one", "A"),
        stub(2, 1, "two", "B"),
        stub(3, 2, "three", "C"),
        stub(4, 1, "other", "D"),
        stub(5, 0, "one", "E"),
    ]
}

#[test]
fn the_history_is_the_path() {
    let tree = tree();
    assert_eq!(of(&tree, &[]), here(0), "a first message");
    assert_eq!(of(&tree, &[exchange("one", "A")]), here(1));
    assert_eq!(of(&tree, &[exchange("one", "E")]), here(5), "told apart by the answer");
    assert_eq!(of(&tree, &[exchange("one", "A"), exchange("two", "B"), exchange("three", "C")]), here(3));
    assert_eq!(of(&tree, &[exchange("one", "A"), exchange("other", "D")]), here(4));
}

#[test]
fn two_user_messages_in_a_row_are_one_lost_answer() {
    let tree = tree();
    assert_eq!(of(&tree, &[exchange("one", "A"), exchange("two", "")]), here(2));
    let never_seen = of(&tree, &[exchange("one", "A"), exchange("never sent", "")]);
    assert_eq!(never_seen, HistoryMatch::Here { after: Some(id(1)), from: 0, mismatches: vec![], unseen: vec![1] });
}

#[test]
fn a_changed_answer_is_named_and_a_foreign_history_is_unknown() {
    let tree = tree();
    let changed = of(&tree, &[exchange("one", "A"), exchange("two", "edited"), exchange("three", "C")]);
    let mismatches = vec![Mismatch { turn: id(2), exchange: 1 }];
    assert_eq!(changed, HistoryMatch::Here { after: Some(id(3)), from: 0, mismatches, unseen: vec![] });
    assert_eq!(of(&tree, &[exchange("elsewhere", "X")]), HistoryMatch::Unknown);
    assert_eq!(of(&tree, &[exchange("one", "A"), exchange("elsewhere", "X")]), HistoryMatch::Unknown);
}

#[test]
fn a_session_that_was_joined_in_the_middle_begins_there() {
    let joined = |before: &str| TurnSummary { before: Some(TextDigest::new(before)), ..stub(1, 0, "two", "B") };
    let tree = [joined("1 before"), stub(2, 1, "three", "C")];
    let history = [exchange("one", "A"), exchange("two", "B"), exchange("three", "C")];
    let found = HistoryMatch::Here { after: Some(id(2)), from: 1, mismatches: vec![], unseen: vec![] };
    assert_eq!(of(&tree, &history), found);
    assert_eq!(of(&tree, &history[1..]), HistoryMatch::Unknown, "what was before it is not shown any more");
    assert_eq!(of(&[joined("else")], &history[..2]), HistoryMatch::Unknown, "something else was before it");
    let lost = [exchange("never sent", ""), exchange("two", "B"), exchange("lost", "")];
    let found = HistoryMatch::Here { after: Some(id(1)), from: 1, mismatches: vec![], unseen: vec![2] };
    assert_eq!(of(&tree, &lost), found, "it was told of what is before it");
}

#[test]
fn of_equal_paths_the_newest_counts() {
    let mut tree = tree();
    tree.push(stub(6, 1, "two", "B"));
    assert_eq!(of(&tree, &[exchange("one", "A"), exchange("two", "B")]), here(6));
}

#[test]
fn texts_are_sorted_into_exchanges() {
    use Author::{Consultant, User};
    let said = [(Consultant, "hi"), (User, "a"), (Consultant, "b"), (Consultant, "c"), (User, "d"), (User, "e")];
    let some = |text: &str| Some(text.to_owned());
    let expected = [("a".to_owned(), some("b\n\nc")), ("d".into(), None), ("e".into(), None)];
    assert_eq!(exchanges(said), expected);
}

proptest! {
    /// Whatever tree there is: the path to a turn, told by its texts, leads to a turn with exactly this path.
    #[test]
    fn every_path_is_found_again(parents in prop::collection::vec((0_usize..20, 0_u8..3, 0_u8..3), 1..20), goal in 0_usize..20) {
        let mut tree: Vec<TurnSummary> = Vec::new();
        for (number, (parent, asked, answered)) in (1..).zip(parents) {
            let under = if tree.is_empty() { 0 } else { parent % (tree.len() + 1) };
            tree.push(stub(number, u32::try_from(under).unwrap(), &format!("q{asked}"), &format!("a{answered}")));
        }
        let goal = &tree[goal % tree.len()];
        let path = |goal: &TurnSummary| {
            let mut at = goal.clone();
            let mut path = vec![Exchange { asked: at.asked.clone(), answered: at.answered.clone() }];
            while let Some(under) = &at.under {
                at = tree.iter().find(|stub| &stub.id == under).unwrap().clone();
                path.push(Exchange { asked: at.asked.clone(), answered: at.answered.clone() });
            }
            path.reverse();
            path
        };
        let wanted = path(goal);
        match of(&tree, &wanted) {
            HistoryMatch::Here { after: Some(found), mismatches, unseen, .. } => {
                prop_assert!(mismatches.is_empty() && unseen.is_empty());
                let found = tree.iter().find(|stub| stub.id == found).unwrap();
                prop_assert_eq!(path(found), wanted);
                prop_assert!(found.number >= goal.number);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
