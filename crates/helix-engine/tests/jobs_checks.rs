//! What jobs do besides their phases' own work: reviews, persons, advisers, phases that are added, going on after a failure.

use crate::workshop::{Ended, Workshop, part};
use helix_core::finding::Verdict;
use helix_core::ids::{PhaseId, RunId};
use helix_engine::EngineConfig;
use helix_engine::jobs::{Again, ReopenRequest};
use helix_engine::jobs::{AnswerError, QuestionFilter};
use helix_failure::memory::SuggestionOutcome;
use helix_job::question::{Answer, QuestionKind, QuestionStatus};
use helix_job::{AskPerson, JobEvent, JobStatus, PhaseStatus, Review, Role};

fn asking(config: &mut EngineConfig) {
    config.policy.escalation.person = AskPerson::Ask;
    // By default every tenth failure is told without its memory, to measure what the memory is worth.
    config.failures.holdout = helix_failure::memory::Holdout::new(0.0);
}

fn advised(config: &mut EngineConfig) {
    config.roles.adviser = Some(Role { agent: "fake".into(), model: None });
}

/// A part for runs that are told so.
fn told(name: &str, what: &str, acts: &str) -> String {
    format!("  - name: {name}\n    prompt: {{ matches: '{what}' }}\n{acts}")
}

fn writes(phase: &str, tries: &[&str]) -> String {
    let tries: Vec<String> =
        tries.iter().map(|text| format!("{{ steps: [{{ write: {{ path: a.md, content: \"{text}\" }} }}] }}")).collect();
    part(phase, &format!("    attempts: [{}]\n", tries.join(", ")))
}

fn reviews(ended: &Ended) -> Vec<Review> {
    let review = |event: &JobEvent| match event {
        JobEvent::ReviewFinished { review, .. } => Some(review.as_ref().clone()),
        _ => None,
    };
    ended.events.iter().filter_map(|event| review(&event.event)).collect()
}

const VERIFIED: &str = "name: Verified
phases:
  - id: a
    type: documentation
    description: Write a page about counting.
    outputs: [a.md]
    verify: { model: small, timeout: 1m }
";

#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_reads_a_checkout_and_what_it_finds_reaches_the_agent() {
    let verdicts = r#"    attempts:
      - structured: { verdict: rejected, summary: "The page says nothing.", findings: [{ message: "it does not say how to count", file: a.md, line: 1, fix: "say it" }] }
      - structured: { verdict: approved, summary: "It says how.", findings: [] }
"#;
    let script = format!(
        "parts:\n{}{}",
        writes("a", &["x", "Count one by one."]),
        told("judge", "independent reviewer", verdicts)
    );
    let shop = Workshop::open(&script).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, VERIFIED).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(ended.phase("a").attempt, 2);
    assert!(shop.prompt(&ended.view.id, "a", 2).contains("it does not say how to count"));
    let reviews = reviews(&ended);
    let verdicts: Vec<&str> = reviews.iter().map(|review| review.verdict.word()).collect();
    assert_eq!(verdicts, ["fail", "pass"]);
    // It saw the result, was told what was asked, and had nothing to write with.
    let prompt = shop.told(&reviews[1].side.run);
    for part in ["Write a page about counting", "+Count one by one", "a.md"] {
        assert!(prompt.contains(part), "the verifier is not told {part:?}:\n{prompt}");
    }
    let request = shop.sandbox.state().join("runs").join(reviews[1].side.run.as_str());
    let command = std::fs::read_dir(&request).unwrap().flatten().map(|entry| entry.path());
    let texts: String = command.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    assert!(texts.contains("small"), "its own model");
    // What it must not do is denied, whatever its own settings allow.
    let request: serde_json::Value =
        serde_json::from_slice(&std::fs::read(request.join("request.json")).unwrap()).unwrap();
    let args: Vec<&str> = request["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    let settings = args[args.iter().position(|arg| *arg == "--settings").unwrap() + 1];
    let settings: serde_json::Value = serde_json::from_slice(&std::fs::read(settings).unwrap()).unwrap();
    let rules = |kind: &str| settings["permissions"][kind].as_array().unwrap().clone();
    for tool in ["Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "WebFetch"] {
        assert!(rules("deny").contains(&tool.into()) && !rules("allow").contains(&tool.into()), "{settings}");
    }
    assert!(ended.phase("a").verdict.as_deref().unwrap().contains("It says how"));
    assert!(ended.phase("a").runs.contains(&reviews[0].side.run));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_usable_verdict_is_ever_a_pass() {
    for answer in [
        "{ structured: { verdict: approved, summary: fine, findings: [{ message: \"but\" }] } }",
        "{ structured: { verdict: maybe, summary: fine, findings: [] } }",
        "{ structured: { verdict: approved, summary: fine, findings: [] }, faults: [no-result] }",
        "{ structured: { verdict: approved, summary: fine, findings: [] }, steps: [{ write: { path: a.md, content: mine } }] }",
    ] {
        let script = format!(
            "parts:\n{}{}",
            writes("a", &["x", "y"]),
            told("judge", "independent reviewer", &format!("    act: {answer}\n"))
        );
        // Within walls a reviewer can write nothing.
        let shop =
            Workshop::configured(&script, |config| config.sandbox.mode = helix_core::run::SandboxMode::Off).await;
        let repo = shop.repo();
        let before = shop.git(&repo, &["rev-parse", "HEAD"]);
        let plan = format!("{VERIFIED}    max_attempts: 1\n    on_failure: fail\n");
        let ended = shop.run(&repo, &plan).await;
        assert_eq!(ended.view.status, JobStatus::Failed, "[24] [30] {answer}: {:#?}", ended.view);
        let verdicts: Vec<&str> = reviews(&ended).iter().map(|review| review.verdict.word()).collect();
        assert_eq!(verdicts, ["inconclusive", "inconclusive"], "asked once more: {answer}");
        assert_eq!(shop.git(&repo, &["rev-parse", "HEAD"]), before);
    }
}

/// A rejection that names no file of the result is no verdict; the reviewer is told why, and
/// what names a file blocks without what does not.
#[tokio::test(flavor = "multi_thread")]
async fn a_finding_about_no_file_of_the_result_does_not_block() {
    let verdicts = r#"    attempts:
      - structured: { verdict: rejected, summary: "Critical.", findings: [{ message: "the counter is missing", file: src/counter.py, line: 1 }] }
      - structured: { verdict: rejected, summary: "It is short.", findings: [{ message: "no file of that name", file: ../other.md }, { message: "it does not say how", file: a.md, line: 900 }] }
      - structured: { verdict: approved, summary: "It says how.", findings: [] }
"#;
    let judge = told("judge", "independent reviewer", verdicts);
    let shop = Workshop::open(&format!("parts:\n{}{judge}", writes("a", &["x", "Count one by one."]))).await;
    let ended = shop.run(&shop.repo(), VERIFIED).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let reviews = reviews(&ended);
    let verdicts: Vec<&str> = reviews.iter().map(|review| review.verdict.word()).collect();
    assert_eq!(verdicts, ["inconclusive", "fail", "pass"]);
    assert!(
        shop.told(&reviews[1].side.run).contains("names a file of the result"),
        "{}",
        shop.told(&reviews[1].side.run)
    );
    let told = shop.prompt(&ended.view.id, "a", 2);
    assert!(told.contains("`a.md`: it does not say how") && !told.contains("no file of that name"), "{told}");
    assert_eq!(shop.plays("a"), 2, "the phase was not tried again for the first answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reviewer_gate_is_a_gate_like_any_other() {
    let script = format!(
        "parts:\n{}{}",
        writes("a", &["x"]),
        told(
            "judge",
            "independent reviewer",
            "    act: { structured: { verdict: approved, summary: fine, findings: [] } }\n"
        )
    );
    let shop = Workshop::open(&script).await;
    let plan = "name: Reviewed\nphases: [{ id: a, type: documentation, description: D, outputs: [a.md], gates: [{ type: files_exist }, { type: review_approved }] }]\n";
    let ended = shop.run(&shop.repo(), plan).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let gates: Vec<_> = ended.phase("a").gates.iter().map(|gate| (gate.gate.as_str(), gate.verdict.passed())).collect();
    assert_eq!(gates, [("files_exist", true), ("outputs_claimed", true), ("review_approved", true)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_waits_for_a_person_without_a_process_and_over_a_restart() {
    let plan = "name: Asked\nphases: [{ id: a, type: documentation, description: D, outputs: [a.md], approval: after, gates: [{ type: files_exist }, { type: manual, question: \"Is it printed?\" }] }]\n";
    let shop = Workshop::open(&format!("parts:\n{}", writes("a", &["x"]))).await;
    let repo = shop.repo();
    let job = shop.submit(&repo, plan).await;
    let printed = shop.question(&job).await;
    assert!(printed.text.contains("Is it printed?"));
    assert_eq!(shop.engine.jobs().get(job.as_str()).await.unwrap().status, JobStatus::Waiting);
    assert!(helix_testkit::processes::processes_with_env("HELIX_RUN_ID", job.as_str()).unwrap().is_empty());
    let shop = shop.reopen().await;
    let wrong = Answer { choice: Some("perhaps".into()), text: None, by: "a test".into() };
    assert!(matches!(shop.engine.jobs().answer(&printed.id, wrong).await, Err(AnswerError::Misfit(_))));
    shop.answer(&printed, "approve", Some("on paper")).await;
    let accepted = shop.question(&job).await;
    assert_ne!(accepted.id, printed.id);
    let again = Answer { choice: Some("approve".into()), text: None, by: "a test".into() };
    assert!(matches!(shop.engine.jobs().answer(&printed.id, again).await, Err(AnswerError::Settled { .. })));
    shop.answer(&accepted, "approve", None).await;
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(shop.plays("a"), 1, "nothing ran twice");
    assert!(ended.phase("a").gates[2].summary.contains("on paper"));
    let open = shop.engine.jobs().questions(QuestionFilter::Open).await.unwrap();
    assert!(open.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_job_closes_its_questions() {
    let plan =
        "name: Asked\nphases: [{ id: a, type: documentation, description: D, outputs: [a.md], approval: before }]\n";
    let shop = Workshop::open(&format!("parts:\n{}", writes("a", &["x"]))).await;
    let job = shop.submit(&shop.repo(), plan).await;
    let question = shop.question(&job).await;
    shop.engine.jobs().cancel(&job, &"a test".into()).await.unwrap();
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Cancelled);
    assert_eq!(ended.view.questions[0].status, QuestionStatus::Closed);
    let late = Answer { choice: Some("approve".into()), text: None, by: "a test".into() };
    assert!(matches!(shop.engine.jobs().answer(&question.id, late).await, Err(AnswerError::Settled { .. })));
    assert_eq!(shop.plays("a"), 0);
}

const ONE_TRY: &str = "name: Hard
phases:
  - { id: a, type: documentation, description: D, outputs: [a.md], max_attempts: 1, gates: [{ type: command, command: \"grep -q right a.md\" }] }
";

#[tokio::test(flavor = "multi_thread")]
async fn an_adviser_is_asked_when_the_tries_are_used_up_and_its_hint_is_carried_out() {
    let script = format!(
        "parts:\n{}{}",
        writes("a", &["wrong", "right"]),
        told(
            "adviser",
            "has no attempts left",
            "    act: { structured: { action: retry, reason: \"It misses the word.\", hint: \"write the word right\" } }\n"
        )
    );
    let shop = Workshop::configured(&script, advised).await;
    let ended = shop.run(&shop.repo(), ONE_TRY).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert!(shop.prompt(&ended.view.id, "a", 2).contains("write the word right"));
    let advice = RunId::for_advice(&ended.view.id, &PhaseId::new("a").unwrap(), 1);
    assert!(shop.told(&advice).contains("grep -q right a.md") || shop.told(&advice).contains("command"));
    assert!(ended.phase("a").runs.contains(&advice));
}

/// The next run really asks for the model that was proposed.
#[tokio::test(flavor = "multi_thread")]
async fn another_model_that_an_adviser_proposes_is_the_one_that_runs() {
    let advice = "    act: { structured: { action: other_model, model: opus, reason: \"It is hard.\", hint: \"the word is: right\" } }\n";
    let script =
        format!("parts:\n{}{}", writes("a", &["wrong", "right"]), told("adviser", "has no attempts left", advice));
    let shop = Workshop::configured(&script, |config| {
        advised(config);
        config.agents[0].models = vec!["opus".into()];
    })
    .await;
    let ended = shop.run(&shop.repo(), ONE_TRY).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let model = |attempt: u32| shop.option(&ended.view.id, "a", attempt, "--model");
    assert_eq!((model(1), model(2)), (None, Some("opus".into())));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adviser_can_split_a_phase_and_the_pieces_pass_what_the_whole_had_to() {
    let advice = r#"    act:
      structured:
        action: split
        reason: "Two steps."
        phases:
          - { id: a-draft, description: "Write a draft.", outputs: [draft.md] }
          - { id: a-final, description: "Write the page.", depends_on: [a-draft], outputs: [a.md] }
"#;
    let draft = part("a-draft", "    act: { steps: [{ write: { path: draft.md, content: d } }] }\n");
    let last = part("a-final", "    act: { steps: [{ write: { path: a.md, content: right } }] }\n");
    let script =
        format!("parts:\n{}{}{draft}{last}", writes("a", &["wrong"]), told("adviser", "has no attempts left", advice));
    let shop = Workshop::configured(&script, advised).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, ONE_TRY).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(ended.phase("a").status, PhaseStatus::Skipped);
    let gates: Vec<&str> = ended.phase("a-final").gates.iter().map(|gate| gate.gate.as_str()).collect();
    assert!(gates.contains(&"command"), "{gates:?}");
    assert!(repo.join("draft.md").exists() && repo.join("a.md").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_useless_adviser_leads_to_a_person_who_can_give_a_hint() {
    let script = format!(
        "parts:\n{}{}",
        writes("a", &["wrong", "right"]),
        told("adviser", "has no attempts left", "    act: { structured: { action: retry, reason: \"no hint\" } }\n")
    );
    let shop = Workshop::configured(&script, |config| {
        advised(config);
        asking(config);
    })
    .await;
    let job = shop.submit(&shop.repo(), ONE_TRY).await;
    let question = shop.question(&job).await;
    assert_eq!(question.kind, QuestionKind::Escalation);
    assert_eq!(shop.plays("adviser"), 3, "at most three times");
    for part in ["is stuck after its only attempt.", "No usable advice, 3 times: ", "has no `hint`", "grep -q right"] {
        assert!(question.text.contains(part), "{part:?} is missing:\n{}", question.text);
    }
    shop.answer(&question, "retry", Some("the word is: right")).await;
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert!(shop.prompt(&job, "a", 2).contains("the word is: right"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_asks_a_person_and_its_session_goes_on_with_the_answer() {
    let acts = r#"    attempts:
      - steps: [{ run: "while [ ! -e ask-is-recorded ]; do sleep 0.05; done; rm ask-is-recorded" }]
      - steps: [{ write: { path: a.md, content: right } }]
"#;
    let shop = Workshop::open(&format!("parts:\n{}", part("a", acts))).await;
    let job = shop.submit(&shop.repo(), ONE_TRY).await;
    let run = shop.until_working(&job, "a", 1, None).await;
    // As many as the tool `ask_user` takes.
    let words = ["left", "right", "up", "down", "in", "out", "near", "far", "old", "new", "hot", "cold"];
    let words = words.map(str::to_owned).to_vec();
    let asked = shop.engine.jobs().ask_from_run(&run, "Which word?".into(), words).await.unwrap();
    assert_eq!((asked.kind, asked.options.len()), (QuestionKind::Agent, 12));
    // The choices in another order are another question: an answer names one by its place.
    let turned = ["right", "left"].map(str::to_owned).to_vec();
    let other = shop.engine.jobs().ask_from_run(&run, "Which word?".into(), turned).await.unwrap();
    assert_ne!(other.id, asked.id);
    let yes = Answer { choice: Some("1".into()), text: None, by: "anna".into() };
    shop.engine.jobs().answer(&other.id, yes).await.unwrap();
    std::fs::write(shop.worktree(&job, "a", 1).join("ask-is-recorded"), "").unwrap();
    let question = shop.question(&job).await;
    shop.answer(&question, "2", Some("of course")).await;
    let ended = shop.ended(&job).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "a question costs no try: {:#?}", ended.view);
    let told = shop.prompt(&job, "a", 2);
    assert!(told.contains("Which word?") && told.contains("right") && told.contains("of course"), "{told}");
    let late = shop.engine.jobs().ask_from_run(&run, "Still there?".into(), Vec::new()).await;
    assert!(late.is_err());
}

const PLANNING: &str = "name: Grows
phases:
  - { id: plan, type: planning, description: Plan it., outputs: [plan.md], generates_phases: { min: 1, max: 5, template: documentation } }
  - { id: end, type: documentation, description: E, depends_on: [plan], inputs: [one.md, two.md], outputs: [end.md] }
";

#[tokio::test(flavor = "multi_thread")]
async fn phases_that_a_planning_phase_returns_run_before_what_depends_on_it() {
    let plan = r#"    attempts:
      - steps: [{ write: { path: plan.md, content: p } }]
        structured: { phases: [{ id: end, description: "taken", outputs: [one.md] }] }
      - structured: { phases: [{ id: one, description: "One.", outputs: [one.md] }, { id: two, description: "Two.", depends_on: [one], outputs: [two.md] }] }
"#;
    let writes =
        |name: &str| part(name, &format!("    act: {{ steps: [{{ write: {{ path: {name}.md, content: x }} }}] }}\n"));
    let script = format!("parts:\n{}{}{}{}", part("plan", plan), writes("one"), writes("two"), writes("end"));
    let shop = Workshop::open(&script).await;
    let ended = shop.run(&shop.repo(), PLANNING).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let told = shop.prompt(&ended.view.id, "plan", 2);
    assert!(told.contains("/phases/0/id"), "an invalid fragment goes back as a correction:\n{told}");
    let names: Vec<&str> = ended.view.phases.iter().map(|phase| phase.id.as_str()).collect();
    assert_eq!(names, ["plan", "one", "two", "end"], "they stand after the phase that they come from");
    assert_eq!((shop.plays("one"), shop.plays("two"), shop.plays("end")), (1, 1, 1));
}

/// Nothing would look at its files: they go back, and what the job is said to have proved is proved.
#[tokio::test(flavor = "multi_thread")]
async fn a_phase_that_only_adds_phases_changes_no_file() {
    let added = "structured: { phases: [{ id: one, description: \"One.\", outputs: [one.md] }] }";
    let plan = format!(
        "    attempts:\n      - steps: [{{ write: {{ path: note.md, content: p }} }}]\n        {added}\n      - steps: [{{ delete: note.md }}]\n        {added}\n"
    );
    let one = part("one", "    act: { steps: [{ write: { path: one.md, content: x } }] }\n");
    let shop = Workshop::open(&format!("parts:\n{}{one}", part("plan", &plan))).await;
    let repo = shop.repo();
    let plan = "name: Grows\nphases:\n  - { id: plan, type: planning, description: Plan it., generates_phases: { min: 1, max: 5, template: documentation } }\n";
    let ended = shop.run(&repo, plan).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    let told = shop.prompt(&ended.view.id, "plan", 2);
    assert!(told.contains("note.md was changed, but this phase claims no outputs"), "{told}");
    assert!(shop.prompt(&ended.view.id, "plan", 1).contains("Change no file"), "{told}");
    assert!(repo.join("one.md").exists() && !repo.join("note.md").exists());
    let evidence = shop.engine.reports().archive().evidence(ended.view.id.as_str()).await.unwrap();
    assert!(evidence.proved, "{:#?}", evidence.lacking);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_job_goes_on_from_the_first_phase_that_has_not_passed() {
    let plan = "name: Two\nphases:\n  - { id: one, type: documentation, description: O, outputs: [one.md] }\n  - { id: a, type: documentation, description: D, depends_on: [one], outputs: [a.md], max_attempts: 1, gates: [{ type: command, command: \"grep -q right a.md\" }] }\n";
    let one = part("one", "    act: { steps: [{ write: { path: one.md, content: x } }] }\n");
    let shop = Workshop::open(&format!("parts:\n{one}{}", writes("a", &["wrong", "right"]))).await;
    let repo = shop.repo();
    let ended = shop.run(&repo, plan).await;
    assert_eq!(ended.view.status, JobStatus::Failed);
    let id = ended.view.id.clone();
    let request = ReopenRequest { what: Again::Unfinished, takes_plan: false, budget_usd: None, by: "a test".into() };
    let (one, other) =
        tokio::join!(shop.engine.jobs().reopen(&id, request.clone()), shop.engine.jobs().reopen(&id, request.clone()));
    assert_eq!([one.is_ok(), other.is_ok()].iter().filter(|ok| **ok).count(), 1, "two at once: one goes on");
    let ended = shop.ended_again(&id, ended.events.len() as u64).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!((shop.plays("one"), shop.plays("a")), (1, 2));
    assert!(repo.join("one.md").exists() && repo.join("a.md").exists());
    assert!(shop.engine.jobs().reopen(&id, request).await.is_err(), "what is integrated stays");
    assert!(
        ended.events.iter().any(
            |event| matches!(&event.event, JobEvent::GateFinished { report, .. } if report.verdict == Verdict::Pass)
        )
    );
}

/// The plan's file names another model than the submission did, and nobody has changed it.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_submission_put_in_the_place_of_the_plans_models_is_no_change_of_the_plan() {
    let plan = "name: Two\nphases:\n  - { id: one, type: documentation, description: O, model: opus, outputs: [one.md] }\n  - { id: a, type: documentation, description: D, model: opus, depends_on: [one], outputs: [a.md], max_attempts: 1, gates: [{ type: command, command: \"grep -q right a.md\" }] }\n";
    let one = part("one", "    act: { steps: [{ write: { path: one.md, content: x } }] }\n");
    let shop = Workshop::open(&format!("parts:\n{one}{}", writes("a", &["wrong", "right"]))).await;
    let mut request = shop.request(&shop.repo(), plan);
    request.replaced.model = Some("sonnet".into());
    let id = shop.engine.jobs().submit(request).await.unwrap().job.id;
    let ended = shop.ended(&id).await;
    assert_eq!(ended.view.status, JobStatus::Failed);
    let request = ReopenRequest { what: Again::Unfinished, takes_plan: true, budget_usd: None, by: "a test".into() };
    shop.engine.jobs().reopen(&id, request).await.unwrap();
    let ended = shop.ended_again(&id, ended.events.len() as u64).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert_eq!(shop.option(&id, "a", 2, "--model").as_deref(), Some("sonnet"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_was_fixed_before_is_shown_with_its_fix_and_reaches_the_agents_prompt() {
    let plan = |name: &str| {
        format!(
            "name: {name}\nphases: [{{ id: {name}, type: documentation, description: D, outputs: [a.md, check.py], max_attempts: 1, gates: [{{ type: command, command: \"python3 check.py\" }}] }}]\n"
        )
    };
    let check = "import sys\\ntext = open('a.md').read()\\nsys.exit(0 if 'right' in text else 'ValueError: the page does not say right')\\n";
    let tries = |phase: &str, path: &str| {
        part(
            phase,
            &format!(
                "    attempts: [{{ steps: [{{ write: {{ path: a.md, content: wrong }} }}, {{ write: {{ path: check.py, content: \"{check}\" }} }}] }}, {{ steps: [{{ write: {{ path: a.md, content: \"right {path}\" }} }}] }}]\n"
            ),
        )
    };
    let script = format!("parts:\n{}{}", tries("one", "first"), tries("two", "second"));
    // A person lets the second attempt begin once the first one's failure is looked up: what comes later is not in a prompt.
    let shop = Workshop::configured(&script, asking).await;
    let repo = shop.repo();
    let run = async |name: &str| {
        let job = shop.submit(&repo, &plan(name)).await;
        let question = shop.question(&job).await;
        shop.until_event(&job, "suggestion.recorded").await;
        shop.answer(&question, "retry", Some("go on")).await;
        shop.ended(&job).await
    };
    let first = run("one").await;
    assert_eq!(first.view.status, JobStatus::Succeeded, "{:#?}", first.view);
    for name in ["failure.recorded", "report.generated", "suggestion.recorded"] {
        assert!(first.names().contains(&name), "{:?}", first.names());
    }
    let detail = shop.fixed_failure().await;
    assert!(detail.suggestions.iter().all(|one| one.outcome == Some(SuggestionOutcome::Helped)), "{detail:#?}");
    let told = shop.prompt(&first.view.id, "one", 2);
    assert!(told.contains("the page does not say right"), "{told}");

    // The same failure again, in another phase of another job: the change that had mended it is known.
    shop.git(&repo, &["checkout", "--quiet", "-B", "main", "HEAD~1"]);
    let second = run("two").await;
    assert_eq!(second.view.status, JobStatus::Succeeded, "{:#?}", second.view);
    let told = shop.prompt(&second.view.id, "two", 2);
    assert!(told.contains("right first"), "the fix of the first job is in the prompt of the second:\n{told}");
    let reports = shop.sandbox.state().join("reports").join(second.view.id.as_str());
    let report = std::fs::read_dir(reports).unwrap().flatten().map(|entry| entry.path());
    let markdown = report.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let text: String = markdown.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    for section in ["What failed", "Why", "Similar past failures", "Suggested actions"] {
        assert!(text.contains(section), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_memory_of_failures_hurts_nothing() {
    let plan = "name: Hurt\nphases: [{ id: a, type: documentation, description: D, outputs: [a.md], gates: [{ type: command, command: \"grep -q right a.md\" }] }]\n";
    let shop = Workshop::open(&format!("parts:\n{}", writes("a", &["wrong", "right"]))).await;
    let damaged = shop.sandbox.state().join("failures.db");
    std::fs::write(&damaged, "no database\n".repeat(1000)).unwrap();
    let shop = shop.reopen().await;
    let ended = shop.run(&shop.repo(), plan).await;
    assert_eq!(ended.view.status, JobStatus::Succeeded, "{:#?}", ended.view);
    assert!(shop.prompt(&ended.view.id, "a", 2).contains("grep -q right a.md"));
}
