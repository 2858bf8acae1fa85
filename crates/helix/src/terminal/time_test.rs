use super::*;

#[test]
fn moments_are_told_by_their_distance() {
    let now: Timestamp = "2026-05-20T12:00:00Z".parse().unwrap();
    let told = [30, 120, 7_200, 172_800, 31 * 86_400]
        .map(|seconds| before(Language::English, now - jiff::SignedDuration::from_secs(seconds), now));
    assert_eq!(told[..4], ["just now", "2 min ago", "2 h ago", "2 days ago"]);
    assert!(told[4].starts_with("2026-04-"), "{told:?}");
}
