use super::*;

#[test]
fn a_limit_names_its_time_and_no_remedy_speaks_of_jobs() {
    let at = "2026-11-22T14:05:31Z".parse().unwrap();
    let view = of_outcome(&Outcome::RateLimited { resets_at: Some(at) }).unwrap();
    assert_eq!(view.message, "the provider's usage limit is reached until 2026-11-22 14:05 UTC");
    let outcomes = [
        Outcome::LocalCommand,
        Outcome::Truncated { evidence: "x".into() },
        Outcome::Incomplete { missing: "a result".into() },
        Outcome::TasksLost { tasks: 1 },
        Outcome::StoppedByHook,
        Outcome::Interrupted,
        Outcome::Cancelled,
        Outcome::TimedOut,
        Outcome::Stalled,
        Outcome::Lost,
        Outcome::RateLimited { resets_at: None },
        Outcome::Overloaded { http_status: Some(529) },
        Outcome::Credentials { billing: true },
        Outcome::Credentials { billing: false },
        Outcome::ContextOverflow,
        Outcome::LimitReached { limit: LimitKind::Budget },
        Outcome::Refused,
        Outcome::Unstarted { reason: "no such file".into() },
        Outcome::Misconfigured,
        Outcome::Failed(Failure::Contradicted { evidence: "x".into() }),
    ];
    for outcome in outcomes {
        let view = of_outcome(&outcome).unwrap();
        let text = format!("{} {}", view.message, view.hint.unwrap());
        for word in [" job", "phase", "attempt"] {
            assert!(!text.contains(word), "{word:?} in {text:?}");
        }
    }
}
