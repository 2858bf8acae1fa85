use super::*;

fn opened(state: &Path) -> (Arc<Keys>, Logins) {
    let keys = Arc::new(Keys::open(state).unwrap());
    (Arc::clone(&keys), Logins::open(state, keys).unwrap())
}

#[test]
fn a_code_logs_in_once_and_a_session_outlives_the_host_until_it_is_ended() {
    let state = tempfile::tempdir().unwrap();
    let (_, logins) = opened(state.path());
    let code = logins.code(&Person::new("root", How::Terminal)).unwrap().unwrap().code;
    assert_eq!(logins.log_in("another").unwrap(), None);
    let token = logins.log_in(&code).unwrap().unwrap();
    assert_eq!(logins.log_in(&code).unwrap(), None, "once");
    assert_eq!(logins.person(&code), None, "a code is no session");
    let kept = std::fs::read_to_string(state.path().join("logins.json")).unwrap();
    assert!(!kept.contains(&token) && !kept.contains(&code), "{kept}");
    let (_, next) = opened(state.path());
    assert_eq!(next.person(&token), Some(Person::new("root", How::Browser)));
    next.log_out(&token).unwrap();
    assert_eq!(next.person(&token), None);
    assert_eq!(opened(state.path()).1.person(&token), None);
}

#[test]
fn nobody_logs_in_whom_nothing_proves_and_no_session_makes_another() {
    let state = tempfile::tempdir().unwrap();
    let (_, logins) = opened(state.path());
    for how in [How::Browser, How::Chat, How::Open, How::Told, How::Key] {
        assert_eq!(logins.code(&Person::new("Eve", how)).unwrap(), None, "{how:?}");
    }
}

#[test]
fn a_session_ends_with_the_key_of_its_person() {
    let state = tempfile::tempdir().unwrap();
    let (keys, logins) = opened(state.path());
    keys.create(Holder::Person, "Ana").unwrap();
    let ana = Person::new("Ana", How::Key);
    let log_in = || logins.code(&ana).unwrap().unwrap().code;
    let token = logins.log_in(&log_in()).unwrap().unwrap();
    let waiting = log_in();
    assert_eq!(logins.person(&token).unwrap().to_string(), "Ana (browser)");
    keys.revoke(Holder::Person, "Ana").unwrap();
    assert_eq!((logins.person(&token), logins.log_in(&waiting).unwrap()), (None, None));
    // Another key under the same name is another one.
    keys.create(Holder::Person, "Ana").unwrap();
    assert_eq!(logins.person(&token), None);
}
