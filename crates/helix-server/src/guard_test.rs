use super::*;

fn with(value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))])
}

#[test]
fn only_the_whole_token_opens() {
    for good in ["Bearer hx-1", "bearer hx-1", "Bearer  hx-1 "] {
        assert!(carries(&with(good), "hx-1"), "{good}");
    }
    for bad in ["", "Bearer", "Bearer ", "Bearer hx-", "Bearer hx-12", "Basic hx-1", "hx-1", "Bearerhx-1"] {
        assert!(!carries(&with(bad), "hx-1"), "{bad}");
    }
    assert!(!carries(&HeaderMap::new(), "hx-1"));
}
