use super::*;

#[test]
fn a_key_is_kept_as_a_digest_and_ends_when_it_is_revoked() {
    let state = tempfile::tempdir().unwrap();
    let keys = Keys::open(state.path()).unwrap();
    let (ana, page) = (keys.create(Holder::Person, "Ana").unwrap(), keys.create(Holder::Chat, "Ana").unwrap());
    let kept = std::fs::read_to_string(state.path().join("keys.json")).unwrap();
    assert!(!kept.contains(&ana) && !kept.contains(&page), "{kept}");
    assert!(matches!(keys.create(Holder::Person, "ana"), Err(KeyError::Taken(_))));
    for name in ["", " ", "a\nb", "a/b", &"x".repeat(65)] {
        assert!(matches!(keys.create(Holder::Person, name), Err(KeyError::Name(_))), "{name:?}");
    }
    // The next host knows them.
    let keys = Keys::open(state.path()).unwrap();
    assert_eq!(keys.holder(&ana), Some((Holder::Person, "Ana".into())));
    assert_eq!(keys.holder(&page), Some((Holder::Chat, "Ana".into())));
    assert!(keys.revoke(Holder::Person, "Ana").unwrap() && !keys.revoke(Holder::Person, "Ana").unwrap());
    assert_eq!((keys.holder(&ana), keys.list().len()), (None, 1));
}
