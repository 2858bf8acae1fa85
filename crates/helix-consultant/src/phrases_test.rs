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

#[test]
fn a_question_is_a_block_of_which_every_line_is_marked() {
    let question: QuestionView = serde_json::from_value(serde_json::json!({
        "id": "j1.page.1", "job": "j1", "job_name": "pages", "phase": "page", "kind": "approval", "status": "open",
        "text": "May it begin?\n\n- first\n> second", "options": [{ "key": "approve", "label": "yes" }],
        "free_text": true, "asked_at": "2026-01-01T00:00:00Z", "expires_at": null,
    }))
    .unwrap();
    let lines = [
        "> [!IMPORTANT]",
        "> **Helix:** Job pages waits for you (phase `page`):",
        ">",
        "> May it begin?",
        "> ",
        "> - first",
        "> > second",
        ">",
        "> - **approve**: yes",
        ">",
        "> Answer here in the chat, or with `helix answer j1.page.1`.",
    ];
    assert_eq!(job_asks(&question), lines.join("\n") + "\n");
    assert!(!job_asks(&QuestionView { options: Vec::new(), ..question }).contains("**approve**"));
}

#[test]
fn what_is_wrong_with_an_answer_is_said_in_one_block() {
    let finding = |number: usize| AnswerFinding {
        validator: "plan_valid".into(),
        finding: helix_core::finding::Finding::new("plan.x", format!("wrong\n{number}")),
    };
    let findings: Vec<AnswerFinding> = (1..=7).map(finding).collect();
    let note = not_in_order(&findings, 1, Some("the provider's limit\nis reached"));
    let first = "> **Helix:** This answer did not pass its checks; the agent was asked once to fix it: the provider's limit is reached.";
    assert!(
        note.starts_with(&format!("> [!CAUTION]\n{first}\n>\n> - plan_valid: wrong 1\n> - plan_valid: wrong 2\n")),
        "{note}"
    );
    assert!(note.ends_with("> - and 2 more\n>\n> Ask for it again, or ignore it.\n"), "{note}");
    let unmade = unmade(&["slow: it took longer than 1 s".to_owned()]);
    assert!(unmade.contains(">\n> - slow: it took longer than 1 s\n>\n> See `[consultant] validators`"), "{unmade}");
}
