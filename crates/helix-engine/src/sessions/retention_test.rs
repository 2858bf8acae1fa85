use super::*;

#[test]
fn directories_are_told_by_their_names() {
    let of = |name: &str| session_of(name.as_ref()).map(|id| id.to_string());
    assert_eq!(of("s1m80cxsf2e74jy7s").as_deref(), Some("s1m80cxsf2e74jy7s"));
    assert_eq!(of("s1m80cxsf2e74jy7s.t3.1").as_deref(), Some("s1m80cxsf2e74jy7s"));
    assert_eq!(of("j1m80cxsf2e74jy7s.implement.1"), None);
}

#[test]
fn what_cannot_be_removed_keeps_nothing_else_from_going() {
    let place = tempfile::tempdir().unwrap();
    let ids: Vec<SessionId> = (10..50).map(|number| SessionId::new(format!("s{number}")).unwrap()).collect();
    for (index, id) in ids.iter().enumerate() {
        let path = place.path().join(id.as_str());
        // A file is no directory that could be removed with what is in it.
        if index % 2 == 0 { std::fs::create_dir(path).unwrap() } else { std::fs::write(path, "").unwrap() }
    }
    sweep(place.path(), &HashSet::new(), &ids.iter().cloned().collect()).unwrap();
    let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|path| path.is_file()), "{left:?}");
}
