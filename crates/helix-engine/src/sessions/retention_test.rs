use super::*;

#[test]
fn directories_are_told_by_their_names() {
    let of = |name: &str| session_of(name.as_ref()).map(|id| id.to_string());
    assert_eq!(of("s1m80cxsf2e74jy7s").as_deref(), Some("s1m80cxsf2e74jy7s"));
    assert_eq!(of("s1m80cxsf2e74jy7s.t3.1").as_deref(), Some("s1m80cxsf2e74jy7s"));
    assert_eq!(of("j1m80cxsf2e74jy7s.implement.1"), None);
}
