use super::*;

#[tokio::test]
async fn a_body_over_the_limit_is_told_from_a_broken_one() {
    let time = Duration::from_secs(1);
    assert_eq!(read(&HeaderMap::new(), Body::from("12345"), 5, time).await.unwrap(), "12345");
    let problem = read(&HeaderMap::new(), Body::from("123456"), 5, time).await.unwrap_err();
    assert_eq!((problem.status, &*problem.code), (413, codes::TOO_LARGE));
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up() {
    let stream = futures::stream::pending::<Result<Bytes, std::io::Error>>();
    let read = read(&HeaderMap::new(), Body::from_stream(stream), 5, Duration::from_millis(1)).await;
    assert_eq!(read.unwrap_err().status, 408);
}
