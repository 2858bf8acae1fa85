use super::*;

#[test]
fn no_slug_stands_twice_and_every_action_says_something() {
    let mut slugs: Vec<_> = ALL.iter().map(|cause| cause.slug).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), ALL.len());
    for cause in ALL {
        assert_ne!(cause.actions[0], cause.actions[1], "{}", cause.slug);
    }
}
