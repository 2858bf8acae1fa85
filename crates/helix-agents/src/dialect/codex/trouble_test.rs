use super::*;
use AgentErrorKind as Kind;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn sentences_become_kinds() {
    for (message, error, nature) in [
        ("unexpected status 401 Unauthorized: nope, url: http://x", Some(Kind::Authentication), Nature::Error),
        ("exceeded retry limit, last status: 429 Too Many Requests", Some(Kind::RateLimit), Nature::Error),
        ("Quota exceeded. Check your plan and billing details.", Some(Kind::Billing), Nature::Error),
        ("Selected model is at capacity. Please try a different model.", Some(Kind::Server), Nature::Error),
        ("The model does not exist", Some(Kind::ModelNotFound), Nature::Error),
        ("Incomplete response returned, reason: max_output_tokens", Some(Kind::MaxOutputTokens), Nature::Error),
        ("{\"error\": {\"code\": \"invalid_value\", \"type\": \"x\"}}", Some(Kind::InvalidRequest), Nature::Error),
        ("{\"error\": {\"code\": \"context_length_exceeded\"}}", Some(Kind::Unknown), Nature::ContextFull),
        ("turn interrupted", None, Nature::Interrupted),
        ("something that nobody has said before", Some(Kind::Unknown), Nature::Error),
        ("", Some(Kind::Unknown), Nature::Error),
    ] {
        let found = Trouble::classify(message);
        assert_eq!((found.error, found.nature), (error, nature), "{message}");
    }
}

#[test]
fn limits_say_when_they_reset() {
    let said = Some(time("2026-11-22T23:50:00Z"));
    for (words, wanted) in [
        ("You\u{2019}ve hit your usage limit. Upgrade or try again at 11:59 PM.", Some("2026-11-22T23:59:00Z")),
        ("You've hit your usage limit. Try again at 12:05 AM.", Some("2026-11-23T00:05:00Z")),
        ("You've hit your usage limit, try again at Dec 3rd, 2026 1:07 PM.", Some("2026-12-03T13:07:00Z")),
        ("rate limit exceeded: x. Please try again in 1.5s.", Some("2026-11-22T23:50:01.5Z")),
        ("Rate limit reached, try again in 2 hours 5 minutes.", Some("2026-11-23T01:55:00Z")),
        ("You've hit your usage limit. Try again later.", None),
        ("You've hit your usage limit. Try again at 25:99 PM.", None),
    ] {
        let limit = Trouble::classify(words).rate_limit(said).unwrap();
        assert_eq!((limit.rejected, limit.resets_at), (true, wanted.map(time)), "{words}");
    }
    assert_eq!(Trouble::classify("usage limit, try again in 5 s").rate_limit(None).unwrap().resets_at, None);
}
