use axum::http::HeaderValue;

use super::*;

fn with(value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))])
}

#[test]
fn the_token_is_what_follows_the_scheme() {
    for good in ["Bearer hx-1", "bearer hx-1", "Bearer  hx-1 "] {
        assert_eq!(bearer(&with(good)), Some("hx-1"), "{good}");
    }
    for bad in ["", "Bearer", "Basic hx-1", "hx-1", "Bearerhx-1"] {
        assert_eq!(bearer(&with(bad)), None, "{bad}");
    }
    assert_eq!(bearer(&HeaderMap::new()), None);
}

/// Two chat clients may call different people alike, and no client's user passes for another's.
#[test]
fn a_chat_client_reaches_the_sessions_of_its_own_users_alone() {
    let page = |user: Option<&[u8]>| Principal::Chat("page".into()).owner(user);
    assert_eq!(page(Some(b"7")), Some("page/7".into()));
    assert_eq!(page(None), Some("page/".into()));
    assert_eq!(page(Some("é/x".as_bytes())), Some("page/%C3%A9%2Fx".into()));
    assert_ne!(page(Some(b"7")), Principal::Chat("other".into()).owner(Some(b"7")));
    let ana = Principal::Person(Person::new("Ana", How::Key));
    assert_eq!(ana.owner(Some(b"7")), Some("key/Ana".into()));
    let owner = Principal::Person(Person::new("root", How::Token));
    assert_eq!((owner.owner(Some(b"7")), owner.owner(None)), (None, None), "as the request says");
}
