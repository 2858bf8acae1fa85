use std::time::Duration;

use helix_core::usage::Usage;

use super::*;

fn of(outcome: Outcome) -> Response {
    let error =
        Some(helix_language::ErrorView { message: "it failed".into(), hint: Some("do this".into()), said: None });
    let ended = TurnEnded {
        outcome,
        answer: String::new(),
        usage: Usage::default(),
        took: Duration::ZERO,
        is_in_order: true,
        error,
    };
    ApiError::of_turn(&ended, "2026-01-01T00:00:00Z".parse().unwrap()).unwrap().into_response()
}

#[test]
fn a_rate_limit_says_when_to_come_back() {
    let resets_at = Some("2026-01-01T00:02:00Z".parse().unwrap());
    let response = of(Outcome::RateLimited { resets_at });
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "120");
    assert_eq!(of(Outcome::RateLimited { resets_at: None }).headers()["retry-after"], "60");
    let past = Some("2025-01-01T00:02:00Z".parse().unwrap());
    assert_eq!(of(Outcome::RateLimited { resets_at: past }).headers()["retry-after"], "1");
}

#[test]
fn the_providers_credentials_are_not_the_clients() {
    assert_eq!(of(Outcome::Credentials { billing: false }).status(), 502);
    assert_eq!(of(Outcome::Overloaded { http_status: Some(529), message: String::new() }).status(), 503);
    assert_eq!(of(Outcome::Lost).status(), 500);
}

#[test]
fn a_carried_out_turn_is_not_repeated_by_a_library() {
    assert_eq!(of(Outcome::Stalled).headers()["x-should-retry"], "false");
}
