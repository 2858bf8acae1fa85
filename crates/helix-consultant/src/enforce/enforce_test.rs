//! Reply enforcement as a pure component: what is looked at, what is asked for, and which answer is kept.

use std::path::{Path, PathBuf};

use helix_core::ids::{RunId, SessionId, TurnId};
use helix_core::run::{Ending, RunFacts};

use super::*;

const GOOD_PLAN: &str =
    "name: x\nphases:\n  - id: a\n    name: A\n    type: documentation\n    description: do\n    outputs: [a.md]\n";

struct Scene {
    _session: tempfile::TempDir,
    work: PathBuf,
    attempts: AnswerAttempts,
}

impl Scene {
    fn new() -> Self {
        let session = tempfile::tempdir().unwrap();
        let work = session.path().join("work");
        std::fs::create_dir(&work).unwrap();
        let attempts = AnswerAttempts::new(Enforcement::RETRIES, helix_language::Language::English);
        Self { _session: session, work, attempts }
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.work.join(path), text).unwrap();
    }

    fn examine(&self, answer: &str) -> Examined {
        let evidence = Evidence {
            answer: answer.into(),
            directory: self.work.clone(),
            project: None,
            skills: Vec::new(),
            config: None,
        };
        examine(&Validator::ALL, &evidence).unwrap()
    }

    fn found(&self, answer: &str) -> Vec<String> {
        self.examine(answer).findings.into_iter().map(|one| one.validator).collect()
    }

    fn try_answer(&mut self, wanted: CorrectionScope, said: &str) -> Option<attempts::Retry> {
        let number = u32::try_from(self.attempts.count()).unwrap() + 1;
        let turn = TurnId::nth(&SessionId::new("s").unwrap(), 1);
        let answer = self.attempts.answer_of(wanted, said);
        let examined = self.examine(&answer);
        let facts = RunFacts::without_record(Ending::Unknown, None);
        let retry = self.attempts.add(AnswerAttempt { run: RunId::for_turn(&turn, number), answer, examined, facts });
        if retry.is_some() {
            self.attempts.count_asked();
        }
        retry
    }
}

#[test]
fn an_ordinary_question_gets_no_correction_for_adr_or_plan() {
    let scene = Scene::new();
    for answer in [
        "An ADR records a decision. Its criteria are checkboxes.\n\n<!-- STEP: what -->",
        "I would put it into `src/export.py`.\n<!-- STEP: constraints -->",
        "```yaml\nphases: []\n```\n<!-- STEP: why -->",
    ] {
        assert_eq!(scene.found(answer), [""; 0], "{answer}");
    }
}

#[test]
fn each_validator_finds_what_it_is_for() {
    let scene = Scene::new();
    assert_eq!(scene.found("Hello."), ["step_marker"]);
    assert_eq!(scene.found("<!-- STEP: why -->\nHello."), ["step_marker"], "only the last line counts");
    let unknown = scene.examine("Hello.\n<!-- STEP: unknown -->").findings;
    assert!(unknown[0].finding.message.contains("\"unknown\" is not a step"), "{unknown:?}");
    assert_eq!(scene.found("See [it](adr-draft.md).\n<!-- STEP: generate -->"), ["file_existence"]);
    scene.write("adr-draft.md", "---\nadr_id: draft\ntitle: T\nstatus: Proposed\n---\n\n# T\n");
    let found = scene.examine("See [it](adr-draft.md).\n<!-- STEP: generate -->").findings;
    assert!(!found.is_empty() && found.iter().all(|one| one.validator == "adr_structure"), "{found:?}");
    assert!(found.iter().all(|one| one.finding.place.as_ref().unwrap().file == "adr-draft.md"), "{found:?}");
    // Where no project is chosen, no file is there to be changed.
    scene.write(
        "adr-draft.md",
        "---\nadr_id: draft\ntitle: T\nstatus: Proposed\nfiles:\n  modify: [src/nowhere.py]\n---\n\n# T\n",
    );
    let found = scene.examine("See [it](adr-draft.md).\n<!-- STEP: generate -->").findings;
    assert!(found.iter().any(|one| one.finding.message.contains("src/nowhere.py")), "{found:?}");
    // Whatever Markdown files are called.
    std::fs::rename(scene.work.join("adr-draft.md"), scene.work.join("adr-draft.markdown")).unwrap();
    let found = scene.found("It is written.\n<!-- STEP: generate -->");
    assert!(!found.is_empty() && found.iter().all(|one| one == "adr_structure"), "{found:?}");
    std::fs::remove_file(scene.work.join("adr-draft.markdown")).unwrap();
    scene.write("phases.yaml", "name: x\nphases:\n  - id: a\n    typo: 1\n");
    let found = scene.found("Done.\n<!-- STEP: generate -->");
    assert!(!found.is_empty() && found.iter().all(|one| one == "plan_valid"), "{found:?}");
    std::fs::remove_file(scene.work.join("phases.yaml")).unwrap();
    // Message instead of written.
    let plan = "```yaml\nname: x\nphases:\n  - id: a\n    typo: 1\n```\n<!-- STEP: generate -->";
    assert!(scene.found(plan).contains(&"plan_valid".to_owned()));
}

#[test]
fn a_content_that_was_judged_is_not_looked_at_again() {
    let scene = Scene::new();
    scene.write("phases.yaml", "name: x\n");
    let answer = "Done.\n<!-- STEP: generate -->";
    let examined = scene.examine(answer);
    assert!(!examined.findings.is_empty());
    CheckedFiles::beside(&scene.work).accept_all(examined.files).unwrap();
    assert_eq!(scene.found(answer), [""; 0]);
    scene.write("phases.yaml", "name: y\n");
    assert!(!scene.found(answer).is_empty());
}

#[test]
fn a_missing_marker_is_asked_for_alone_and_the_answer_stands() {
    let mut scene = Scene::new();
    let first = scene.try_answer(CorrectionScope::Answer, "Hello.").unwrap();
    assert_eq!(first.wanted, CorrectionScope::MarkerLine);
    assert!(first.prompt.contains("Do not repeat the answer") && first.prompt.contains("<!-- STEP: why -->"));
    assert!(first.status.contains("step_marker") && first.status.contains("1 of 2"), "{}", first.status);
    assert_eq!(scene.try_answer(CorrectionScope::MarkerLine, "<!-- STEP: why -->"), None);
    assert_eq!(scene.attempts.best().unwrap().answer, "Hello.\n\n<!-- STEP: why -->");
    assert_eq!(scene.attempts.note(None), None);
}

#[test]
fn nothing_is_inferred_where_the_agent_goes_on_without_a_marker() {
    let mut scene = Scene::new();
    scene.try_answer(CorrectionScope::Answer, "Hello.").unwrap();
    scene.try_answer(CorrectionScope::MarkerLine, "Sorry, what?").unwrap();
    assert_eq!(scene.try_answer(CorrectionScope::MarkerLine, "<!-- STEP: unknown -->"), None);
    assert_eq!(helix_core::step_marker::split(&scene.attempts.best().unwrap().answer).0, "Hello.");
    let note = scene.attempts.note(None).unwrap();
    assert!(note.contains("asked 2 times") && note.contains("step_marker"), "{note}");
}

#[test]
fn the_best_attempt_is_kept_and_a_bad_retry_erases_nothing() {
    let mut scene = Scene::new();
    scene.write("phases.yaml", &format!("{GOOD_PLAN}    typo: 1\n"));
    let correction = scene.try_answer(CorrectionScope::Answer, "The plan is there.\n<!-- STEP: generate -->").unwrap();
    assert_eq!(correction.wanted, CorrectionScope::Answer);
    assert!(
        correction.prompt.contains("`phases.yaml:8") && correction.prompt.contains("typo"),
        "{}",
        correction.prompt
    );
    scene.write("phases.yaml", "name: x\nphases:\n  - id: A B\n  - id: A B\n");
    scene.try_answer(CorrectionScope::Answer, "").unwrap();
    scene.write("phases.yaml", "nothing: x\n");
    assert_eq!(scene.try_answer(CorrectionScope::Answer, "Worse."), None);
    let best = scene.attempts.best().unwrap();
    assert_eq!(best.answer, "The plan is there.\n<!-- STEP: generate -->");
    let restored = scene.attempts.files_to_restore();
    assert_eq!(restored.len(), 1);
    assert!(String::from_utf8_lossy(&restored[0].1).contains("typo"));
    let note = scene.attempts.note(Some("the provider's limit\nis reached")).unwrap();
    assert!(note.starts_with("> [!CAUTION]\n> **Helix:** ") && note.contains("plan_valid: `phases.yaml:8"), "{note}");
    assert!(
        note.lines().all(|line| line.starts_with('>')) && note.contains("the provider's limit is reached"),
        "{note}"
    );
}

#[test]
fn a_fixed_answer_is_accepted() {
    let mut scene = Scene::new();
    scene.write("phases.yaml", "name: x\n");
    scene.try_answer(CorrectionScope::Answer, "Done.\n<!-- STEP: generate -->").unwrap();
    scene.write("phases.yaml", GOOD_PLAN);
    assert_eq!(scene.try_answer(CorrectionScope::Answer, "Fixed.\n<!-- STEP: generate -->"), None);
    assert_eq!(scene.attempts.note(None), None);
    assert_eq!(scene.attempts.best().unwrap().answer, "Fixed.\n<!-- STEP: generate -->");
    assert_eq!(scene.attempts.files_to_restore(), []);
}

#[test]
fn validators_that_are_off_look_at_nothing() {
    let scene = Scene::new();
    scene.write("phases.yaml", "name: x\n");
    let evidence = Evidence {
        answer: "x [y](gone.md)".into(),
        directory: scene.work.clone(),
        project: None,
        skills: Vec::new(),
        config: None,
    };
    assert_eq!(examine(&[], &evidence).unwrap(), Examined::default());
    let words: Vec<&str> = Validator::ALL.into_iter().map(Validator::word).collect();
    assert_eq!(words, ["step_marker", "adr_structure", "file_existence", "plan_valid"]);
    assert!(Path::new(&scene.work).exists());
}

/// An agent without sessions is not asked for the line, and only what its users can see is a fault of its answer.
#[test]
fn a_marker_that_cannot_be_asked_for_is_not_told_of() {
    let mut scene = Scene::new();
    scene.attempts = AnswerAttempts::new(0, helix_language::Language::English);
    let why = Some("this agent cannot continue a session");
    scene.try_answer(CorrectionScope::Answer, "Hello.");
    assert!(scene.attempts.note(None).unwrap().contains("step_marker"));
    assert_eq!(scene.attempts.note(why), None);
    scene.attempts = AnswerAttempts::new(0, helix_language::Language::English);
    scene.write("phases.yaml", &format!("{GOOD_PLAN}    typo: 1\n"));
    scene.try_answer(CorrectionScope::Answer, "The plan is there.");
    let note = scene.attempts.note(why).unwrap();
    assert!(note.contains("plan_valid") && !note.contains("step_marker"), "{note}");
}
