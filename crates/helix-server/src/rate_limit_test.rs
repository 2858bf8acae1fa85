use super::*;

#[test]
fn a_key_has_a_minutes_worth_and_then_gets_it_back_evenly() {
    let limit = RateLimit::new(Some(3));
    let (one, two, start) = (|| "1".to_owned(), || "2".to_owned(), Instant::now());
    for _ in 0..3 {
        assert_eq!(limit.take(one(), start), Ok(()));
    }
    assert_eq!(limit.take(one(), start), Err((3, 20)));
    assert_eq!(limit.take(two(), start), Ok(()), "another key");
    assert_eq!(limit.take(one(), start + Duration::from_secs(15)), Err((3, 5)));
    assert_eq!(limit.take(one(), start + Duration::from_secs(20)), Ok(()));
    assert_eq!(limit.take(one(), start + Duration::from_secs(20)), Err((3, 20)), "refused requests cost nothing");
}

#[test]
fn memory_is_bounded_however_many_keys_there_are() {
    let limit = RateLimit::new(Some(1));
    let now = Instant::now();
    for number in 0..u32::try_from(KEYS).unwrap() + 500 {
        limit.take(number.to_string(), now).ok();
    }
    assert!(limit.buckets.lock().unwrap().len() <= KEYS + 1);
    assert_eq!(limit.take("new".into(), now + MINUTE), Ok(()), "full buckets are forgotten");
}

#[test]
fn without_a_limit_nobody_is_counted() {
    let limit = RateLimit::new(None);
    assert_eq!(limit.take("1".into(), Instant::now()), Ok(()));
    assert!(limit.buckets.lock().unwrap().is_empty());
}
