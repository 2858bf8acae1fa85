//! The jobs whose every place is a place to die, and what of them must be the same whether or not the host died.

use serde_json::{Value, json};

use super::Scene;
use crate::stage::{Stage, assert_numbered};

/// A plan, what its agents do, and what persons answer.
pub(crate) struct Scripted {
    pub(crate) name: &'static str,
    pub(crate) plan: &'static str,
    pub(crate) script: &'static str,
    /// The section `[jobs]` of `helix.toml` and what follows it.
    pub(crate) config: &'static str,
    /// Parts of the script, and how often each is played when nothing is disturbed.
    pub(crate) plays: &'static [(&'static str, usize)],
    /// Events without which the job does not have what it is to have.
    pub(crate) events: &'static [&'static str],
    /// Parts of the names of places that are taken in every run of all tests: defects were found there, or files are written.
    pub(crate) always: &'static [&'static str],
}

/// A failing test that is corrected, phases side by side, an added phase, a verifier, an approval, a conflict and a merge.
pub(crate) const PHASES: Scripted = Scripted {
    name: "phases",
    config: "max_agents = 4\n",
    plan: r#"
name: Every place
phases:
  - id: first
    type: planning
    description: First
    outputs: [shop/first.py, tests/test_first.py]
    gates: [{ type: syntax_check }, { type: tests_pass, command: "python3 -m unittest" }]
    generates_phases: { min: 1, max: 2, template: documentation }
  - id: second
    type: development
    description: Second
    depends_on: [first]
    outputs: [shop/second.py]
    gates: [{ type: command, command: "python3 -c 'import shop.second'" }]
    verify: { timeout: 1m }
  - id: third
    type: documentation
    description: Third
    depends_on: [first]
    outputs: [docs/third.md]
    gates: [{ type: files_exist }]
    approval: after
"#,
    script: r##"
sessions: known
parts:
  - name: first
    prompt: { matches: '(?i)phase `first`' }
    attempts:
      - steps:
          - write: { path: shop/first.py, content: "def first():\n    return 0\n" }
          - write: { path: tests/test_first.py, content: "import unittest\nfrom shop.first import first\n\n\nclass FirstTest(unittest.TestCase):\n    def test_first(self):\n        self.assertEqual(first(), 1)\n" }
        structured: { phases: [{ id: added, description: "Added.", outputs: [docs/added.md] }] }
      - steps: [{ edit: { path: shop/first.py, find: "return 0", replace: "return 1" } }]
        structured: { phases: [{ id: added, description: "Added.", outputs: [docs/added.md] }] }
  - name: second
    prompt: { matches: '(?i)phase `second`' }
    act: { steps: [{ write: { path: shop/second.py, content: "SECOND = 2\n" } }, { write: { path: NOTES.md, content: "second\n" } }] }
  - name: third
    prompt: { matches: '(?i)phase `third`' }
    act: { steps: [{ write: { path: docs/third.md, content: "# Third\n" } }, { write: { path: NOTES.md, content: "third\n" } }] }
  - name: added
    prompt: { matches: '(?i)phase `added`' }
    act: { steps: [{ write: { path: docs/added.md, content: "# Added\n" } }] }
  - name: together
    prompt: { matches: '(?i)phase `integrate-1`' }
    act: { steps: [{ write: { path: NOTES.md, content: "second and third\n" } }] }
  - name: judge
    prompt: { matches: '^You are an independent reviewer' }
    act: { structured: { verdict: approved, summary: "Fine.", findings: [] } }
"##,
    plays: &[("first", 2), ("second", 1), ("third", 1), ("added", 1), ("together", 1), ("judge", 1)],
    events: &["phases_proposed", "review_finished", "question_answered", "conflict_found", "integrated"],
    always: &["before preflight", "of second/1 is", "of second/1 are", "a result "],
};

/// What people and other agents are asked: by an agent through `ask_user`, by an adviser's escalation, by a reviewer who rejects.
pub(crate) const PEOPLE: Scripted = Scripted {
    name: "people",
    config: "max_agents = 4\n\n[adviser]\nrounds = 1\n",
    plan: r#"
name: People
phases:
  - id: asks
    type: development
    description: Asks which name is meant
    outputs: [shop/name.py]
    gates: [{ type: syntax_check }]
  - id: stuck
    type: documentation
    description: Does not find the way alone
    outputs: [docs/stuck.md]
    gates: [{ type: files_exist }]
    max_attempts: 1
  - id: judged
    type: documentation
    description: Is judged
    depends_on: [asks, stuck]
    outputs: [docs/judged.md]
    gates: [{ type: files_exist }, { type: review_approved }]
"#,
    script: r##"
sessions: known
parts:
  - name: judge
    prompt: { matches: '^You are an independent reviewer' }
    attempts:
      - { structured: { verdict: rejected, summary: "Too short.", findings: [{ message: "it says nothing", file: docs/judged.md, line: 1, fix: "say it" }] } }
      - { structured: { verdict: approved, summary: "Fine.", findings: [] } }
  - name: adviser
    prompt: { matches: 'has no attempts left' }
    act: { structured: { action: retry, reason: "It wrote elsewhere.", hint: "write docs/stuck.md" } }
  - name: judged
    prompt: { matches: '(?i)phase `judged`' }
    attempts:
      - steps: [{ write: { path: docs/judged.md, content: "# Judged\n" } }]
      - steps: [{ write: { path: docs/judged.md, content: "# Judged\n\nMore.\n" } }]
  - name: asks
    prompt: { matches: '(?i)phase `asks`' }
    attempts:
      - steps: [{ call: { tool: ask_user, arguments: { question: "Which name?", options: [left, right] } } }]
        say: I wait for the name.
      - steps: [{ write: { path: shop/name.py, content: "NAME = 'right'\n" } }]
  - name: stuck
    prompt: { matches: '(?i)phase `stuck`' }
    attempts:
      - steps: [{ write: { path: docs/wrong.md, content: "# Wrong\n" } }]
      - steps: [{ write: { path: docs/also-wrong.md, content: "# Also wrong\n" } }]
      - steps: [{ write: { path: docs/stuck.md, content: "# Stuck no more\n" } }]
"##,
    plays: &[("asks", 2), ("stuck", 3), ("judged", 2), ("judge", 2), ("adviser", 1)],
    events: &["question_asked", "question_answered", "advice_given", "review_finished", "integrated"],
    // An agent that the next host starts has Helix's tools, and one whose host died before it heard that its question was asked
    // does not ask twice.
    always: &["before effect run/asks/1", "append of question_asked asks", "append of question_answered asks"],
};

impl Scene for Scripted {
    type Whole = Whole;

    fn name(&self) -> &'static str {
        self.name
    }

    fn has(&self, _: &str) -> bool {
        true
    }

    fn always(&self) -> &'static [&'static str] {
        self.always
    }

    fn least(&self) -> usize {
        41
    }

    fn deaths(&self) -> usize {
        8
    }

    fn stage(&self) -> Stage {
        Stage::new(self.script, self.config)
    }

    async fn play(&self, stage: &Stage) -> Whole {
        let plan = stage.plan(self.name, self.plan);
        let job = stage.submit(&plan, &stage.repo, "every-place").await;
        let view = stage.answer_all(&job, answer).await;
        let events = stage.events(&job).await;
        assert_numbered(&events);
        assert_noted_once(&events);
        Stage::no_agent_is_left(&job);
        if view["status"] != "succeeded" {
            println!("{view:#}\n{}", stage.log());
        }
        Whole::of(stage, self, &view, &events)
    }

    fn is_as_meant(&self, whole: &Whole) {
        assert_eq!(whole.status, "succeeded", "{whole:#?}");
        assert_eq!(whole.plays, self.plays, "{whole:#?}");
        for event in self.events {
            assert!(whole.events.iter().any(|line| line.starts_with(event)), "the job has no {event}: {whole:#?}");
        }
    }
}

/// What a person answers.
fn answer(question: &Value) -> Value {
    match question["kind"].as_str().unwrap_or_default() {
        "agent" => json!({ "choice": "2", "by": "a test" }),
        "escalation" => json!({ "choice": "retry", "text": "the file is docs/stuck.md", "by": "a test" }),
        _ => json!({ "choice": "approve", "by": "a test" }),
    }
}

/// Whether an event is a note on a failure, which the observer adds beside the job.
fn is_note(event: &Value) -> bool {
    event["type"].as_str().unwrap_or_default().contains('.')
}

/// No host remembers a failure that the one before it has remembered.
fn assert_noted_once(events: &[Value]) {
    let mut noted: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "failure.recorded")
        .map(|event| event["occurrence"]["key"].as_str())
        .collect();
    noted.sort_unstable();
    assert!(noted.windows(2).all(|pair| pair[0] != pair[1]), "{noted:?}");
}

/// What must be the same whether or not the host died.
#[derive(Debug, PartialEq)]
pub(crate) struct Whole {
    pub(crate) status: String,
    pub(crate) tree: String,
    /// Phase, status, tries, verdicts.
    pub(crate) phases: Vec<(String, String, u64, String)>,
    /// Questions and what was answered.
    pub(crate) questions: Vec<String>,
    /// Names of the job's events with phase and attempt, sorted: parallel phases may overtake each other. Notes on failures are
    /// left out: they are learned beside the job, and none is written into the record of a job that has ended.
    pub(crate) events: Vec<String>,
    pub(crate) plays: Vec<(&'static str, usize)>,
    pub(crate) work_tree: String,
}

impl Whole {
    fn of(stage: &Stage, scripted: &Scripted, view: &Value, events: &[Value]) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut phases: Vec<_> = view["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|phase| {
                let gates: Vec<String> =
                    phase["gates"].as_array().unwrap().iter().map(|gate| text(&gate["verdict"])).collect();
                let verdicts = format!("{} {}", gates.join(" "), text(&phase["verdict"]));
                (text(&phase["id"]), text(&phase["status"]), phase["attempt"].as_u64().unwrap(), verdicts)
            })
            .collect();
        phases.sort();
        let asked = view["questions"].as_array().into_iter().flatten();
        let mut questions: Vec<String> = asked
            .map(|one| format!("{} {} {}", text(&one["phase"]), text(&one["kind"]), one["answer"]["choice"]))
            .collect();
        questions.sort();
        let mut names: Vec<String> = events
            .iter()
            .filter(|event| !is_note(event))
            .map(|event| format!("{} {} {}", text(&event["type"]), text(&event["phase"]), event["attempt"]))
            .collect();
        names.sort();
        Self {
            status: text(&view["status"]),
            tree: stage.git(&stage.repo, &["rev-parse", "HEAD^{tree}"]),
            phases,
            questions,
            events: names,
            plays: scripted.plays.iter().map(|(part, _)| (*part, stage.plays_of(part))).collect(),
            work_tree: stage.git(&stage.repo, &["status", "--porcelain"]),
        }
    }
}
