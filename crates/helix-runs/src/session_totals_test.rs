use super::*;

#[tokio::test]
async fn a_sessions_total_is_kept_under_any_name_and_only_grows() {
    let root = tempfile::tempdir().unwrap();
    let totals = SessionTotals::in_directory(root.path().join("totals"));
    let session = AgentSessionId::new("019a-b").unwrap();
    assert_eq!(totals.total(&session).await.unwrap(), Usage::default());
    let first = Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() };
    let second = Usage { input_tokens: 30, output_tokens: 5, ..Usage::default() };
    for total in [first, second, first] {
        totals.keep(&session, total).await.unwrap();
    }
    assert_eq!(totals.total(&session).await.unwrap(), second);
}
