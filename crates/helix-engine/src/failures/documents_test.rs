use super::*;

#[test]
fn the_changed_stretch_is_what_both_do_not_share() {
    let diff = |before, after| changed_stretch("p", before, after);
    assert_eq!(diff("a\nb\nc\n", "a\nx\ny\nc\n"), "--- p\n+++ p\n@@ line 2 @@\n-b\n+x\n+y\n");
    assert_eq!(diff("a\na\n", "a\n"), "--- p\n+++ p\n@@ line 2 @@\n-a\n");
    assert_eq!(diff("", "a"), "--- p\n+++ p\n@@ line 1 @@\n+a\n");
}

#[test]
fn few_drafts_are_kept_and_the_latest_text_counts() {
    let mut drafts = RefusedDrafts::default();
    for number in 0..KEPT + 3 {
        drafts.keep(&number.to_string(), "old".into());
    }
    drafts.keep("9", "new".into());
    assert_eq!(drafts.0.len(), KEPT);
    assert_eq!((drafts.take("0"), drafts.take("9"), drafts.take("9")), (None, Some("new".into()), None));
}
