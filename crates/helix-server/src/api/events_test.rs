use super::*;

#[test]
fn the_last_event_is_a_number_or_nothing() {
    let with = |value: &'static str| HeaderMap::from_iter([("last-event-id".parse().unwrap(), value.parse().unwrap())]);
    assert_eq!(last_event_id(&HeaderMap::new()).unwrap(), None);
    assert_eq!(last_event_id(&with("")).unwrap(), None);
    assert_eq!(last_event_id(&with("12")).unwrap(), Some(12));
    assert_eq!(last_event_id(&with("-1")).unwrap_err().status, 400);
}
