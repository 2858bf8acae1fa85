//! Everything that an agent can do wrong, and what follows from it in each place where an agent works.

/// What becomes of a job whose agent has the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The work is there and proven.
    Done,
    /// It failed, and says this.
    Failed(&'static str),
}
use End::{Done, Failed};

/// A fault with its details as they stand in the fake agent's script, and what follows if the agent of a phase has it once or every
/// time.
pub(crate) struct Behaviour {
    pub(crate) fault: &'static str,
    pub(crate) once: End,
    pub(crate) always: End,
}

const fn so(fault: &'static str, once: End, always: End) -> Behaviour {
    Behaviour { fault, once, always }
}

pub(crate) const BEHAVIOURS: &[Behaviour] = &[
    // What is only slow, loud or untidy does no harm.
    so("{ kind: slow-start, seconds: 0.5 }", Done, Done),
    so("{ kind: silence, seconds: 0.5 }", Done, Done),
    so("deaf", Done, Done),
    so("orphan", Done, Done),
    so("{ kind: flood, lines: 5000 }", Done, Done),
    so("{ kind: huge-line, bytes: 10000000 }", Done, Done),
    so("denial", Done, Done),
    so("late-result", Done, Done),
    // What ends without proof is tried again, and never taken for done.
    so("hang", Done, Failed("it was silent for too long")),
    so("deaf, hang", Done, Failed("it was silent for too long")),
    so("orphan, hang", Done, Failed("it was silent for too long")),
    so("result-then-hang", Done, Failed("did not complete")),
    so("deaf, result-then-hang", Done, Failed("did not complete")),
    so("sigkill", Done, Failed("cut off")),
    so("orphan, sigkill", Done, Failed("cut off")),
    so("crash", Done, Failed("cut off")),
    so("no-result", Done, Failed("the final record is missing")),
    so("half-line", Done, Failed("not whole")),
    so("empty-exit", Done, Failed("the final record is missing")),
    so("{ kind: empty-exit, exit: 3 }", Failed("exited with status 3"), Failed("exited with status 3")),
    so("garbage", Done, Failed("not records")),
    so("invalid-utf8", Done, Failed("not records")),
    so("null-stop-reason", Done, Failed("stop reason")),
    so("no-usage", Done, Failed("usage")),
    so("empty-answer", Done, Failed("empty")),
    so("success-exit", Done, Failed("exit status 1")),
    so("tasks-lost", Done, Failed("background task")),
    so("wrong-session", Done, Done),
    so("unknown-session", Done, Failed("cannot work as configured")),
    // A claim without work is found by the gates.
    so("lying-done", Done, Failed("files_exist")),
    // What writes after its result is found by the record, or what it wrote is in the commit that was checked.
    so("{ kind: write-after-result, seconds: 0.1 }", Done, Done),
    // The provider's trouble is waited out.
    so("{ kind: rate-limited, resets_in: 1 }", Done, Failed("limit")),
    so("rate-limited", Done, Failed("limit")),
    so("overloaded", Done, Failed("529")),
    so("context-overflow", Done, Failed("context")),
    so("max-turns", Done, Failed("limit")),
    so("max-budget", Done, Failed("budget")),
    // What trying again cannot fix is not tried again.
    so("{ kind: stderr-only, text: 'error: unknown option' }", Failed("unknown option"), Failed("unknown option")),
    so("credentials", Failed("credentials"), Failed("credentials")),
    so("refusal", Failed("refused"), Failed("refused")),
];

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The agent's of a phase.
    Agent,
    /// That of the phase's verifier (`verify`).
    Verifier,
    /// That of the reviewer whom the gate `review_approved` asks.
    Gate,
    /// That of an agent whose phase adds phases.
    Planner,
    /// That of the adviser of a phase that has no attempts left.
    Adviser,
    /// That of the agent that brings contradicting results together.
    Conflict,
}

pub(crate) const PLACES: [Place; 6] =
    [Place::Agent, Place::Verifier, Place::Gate, Place::Planner, Place::Adviser, Place::Conflict];

impl Place {
    fn letter(self) -> char {
        match self {
            Self::Agent => 'f',
            Self::Verifier => 'v',
            Self::Gate => 'g',
            Self::Planner => 'p',
            Self::Adviser => 'a',
            Self::Conflict => 'c',
        }
    }

    /// Whether the fault says anything in this place. One who only judges claims no work, and an answer in a fixed form that was given
    /// whole counts, although the text beside it is empty or more was tried.
    fn can_have(self, fault: &str) -> bool {
        const OF_WORK: [&str; 2] = ["lying-done", "{ kind: write-after-result, seconds: 0.1 }"];
        const OF_TEXT: [&str; 3] = ["empty-answer", "max-turns", "max-budget"];
        match self {
            Self::Agent | Self::Conflict => true,
            Self::Planner => !OF_TEXT.contains(&fault),
            Self::Verifier | Self::Gate | Self::Adviser => !OF_WORK.contains(&fault) && !OF_TEXT.contains(&fault),
        }
    }

    /// What follows from a fault here. Why somebody else than the phase's own agent did not do their part is told in other words.
    fn end(self, behaviour: &Behaviour, mode: Mode) -> End {
        let own = match mode {
            Mode::Once => behaviour.once,
            Mode::Always => behaviour.always,
        };
        match (self, mode) {
            (Self::Agent | Self::Planner, _) | (_, _) if own == Done => Done,
            (Self::Agent | Self::Planner, _) => own,
            (Self::Verifier | Self::Gate | Self::Adviser | Self::Conflict, _) => Failed(""),
        }
    }
}

/// How often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Once,
    Always,
}

/// A job with a faulty agent in it.
pub(crate) struct Case {
    pub(crate) place: Place,
    /// Name of the job, its first phase and its repository.
    pub(crate) name: String,
    pub(crate) fault: &'static str,
    pub(crate) expected: End,
    /// Parts of the fake agent's script.
    pub(crate) parts: String,
    pub(crate) plan: String,
}

pub(crate) const CODE: &str = "def double(number):\n    return 2 * number\n";
pub(crate) const TEST: &str = "import unittest\nfrom shop.double import double\n\n\nclass DoubleTest(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(4), 8)\n";

const VERDICT: &str = "structured: { verdict: approved, summary: Fine., findings: [] }";
const ADVICE: &str = "structured: { action: retry, reason: It did nothing., hint: Do it. }";

/// The jobs: all behaviours of a phase's own agent, and every `stride`th in the other places.
pub(crate) fn cases(stride: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for (nth, place) in PLACES.into_iter().enumerate() {
        let behaviours = BEHAVIOURS.iter().enumerate().filter(|(_, behaviour)| place.can_have(behaviour.fault));
        for (index, behaviour) in behaviours {
            for mode in [Mode::Once, Mode::Always] {
                // Another choice in each place, so that together they meet all behaviours.
                let chosen = (2 * index + usize::from(mode == Mode::Always) + nth).is_multiple_of(stride);
                if place == Place::Agent || chosen {
                    cases.push(case(place, index, behaviour, mode));
                }
            }
        }
    }
    cases
}

fn case(place: Place, index: usize, behaviour: &Behaviour, mode: Mode) -> Case {
    let word = if mode == Mode::Once { "once" } else { "always" };
    let name = format!("{}{index}-{word}", place.letter());
    // What is done without the fault, and how it goes with it.
    let acts = |good: &str| match mode {
        Mode::Once => format!("attempts: [{{ {good}, faults: [{}] }}, {{ {good} }}]", behaviour.fault),
        Mode::Always => format!("act: {{ {good}, faults: [{}] }}", behaviour.fault),
    };
    let work = work();
    let part = |name: &str, prompt: &str, acts: &str| {
        format!("  - name: {name}\n    prompt: {{ matches: '{prompt}' }}\n    {acts}\n")
    };
    let own = format!("(?i)phase `{name}`");
    let judged = format!(r"\(`{name}` of");
    let does = format!("act: {{ {work} }}");
    let more = format!("{name}-more");
    let parts = match place {
        Place::Agent => part(&name, &own, &acts(&work)),
        Place::Verifier | Place::Gate => {
            part(&format!("{name}-judge"), &judged, &acts(VERDICT)) + &part(&name, &own, &does)
        }
        Place::Planner => {
            let phases =
                format!("structured: {{ phases: [{{ id: {more}, description: More., outputs: [more.md] }}] }}");
            let writes = "act: { steps: [{ write: { path: more.md, content: \"# More\\n\" } }] }";
            part(&more, &format!("(?i)phase `{more}`"), writes)
                + &part(&name, &own, &acts(&format!("{work}, {phases}")))
        }
        Place::Adviser => {
            part(&format!("{name}-adviser"), &judged, &acts(ADVICE))
                + &part(&name, &own, &format!("attempts: [{{ say: I do nothing. }}, {{ {work} }}]"))
        }
        Place::Conflict => {
            let notes = |text: &str| format!("{{ write: {{ path: NOTES.md, content: \"{text}\\n\" }} }}");
            let other = format!("{name}-other");
            let both = acts(&format!("steps: [{}]", notes("one and other")));
            // Nobody advises: what cannot be brought together fails.
            let gives_up = "act: { structured: { action: give_up, reason: It is hopeless. } }";
            part(&format!("{name}-adviser"), &format!(r"\(`integrate-1` of .{name}."), gives_up)
                + &part(&format!("{name}-both"), &format!("Merge {name} and {other}"), &both)
                + &part(&name, &own, &format!("act: {{ {} }}", work.replacen('[', &format!("[{}, ", notes("one")), 1)))
                + &part(&other, &format!("(?i)phase `{other}`"), &format!("act: {{ steps: [{}] }}", notes("other")))
        }
    };
    let expected = place.end(behaviour, mode);
    Case { place, plan: plan(place, &name), name, fault: behaviour.fault, expected, parts }
}

fn work() -> String {
    format!(
        "steps: [{{ write: {{ path: shop/double.py, content: {CODE:?} }} }}, {{ write: {{ path: tests/test_double.py, content: {TEST:?} }} }}]"
    )
}

fn plan(place: Place, name: &str) -> String {
    let kind = if place == Place::Planner { "planning" } else { "development" };
    // Tests are run where it is about the work itself; elsewhere what takes no process will do.
    let mut gates = match place {
        Place::Agent => vec!["{ type: files_exist }", "{ type: tests_pass, command: python3 -m unittest }"],
        _ => vec!["{ type: files_exist }", "{ type: syntax_check }"],
    };
    let mut more = "    max_attempts: 2\n    on_failure: fail\n".to_owned();
    let mut others = String::new();
    match place {
        Place::Agent => {}
        Place::Verifier => more.push_str("    verify: { timeout: 60s }\n"),
        Place::Gate => gates.push("{ type: review_approved }"),
        Place::Planner => more.push_str("    generates_phases: { min: 1, max: 2, template: documentation }\n"),
        Place::Adviser => more = "    max_attempts: 1\n    on_failure: escalate\n".to_owned(),
        Place::Conflict => {
            others = format!("  - {{ id: {name}-other, type: documentation, description: Other, gates: [] }}\n");
        }
    }
    format!(
        "name: {name}\nphases:\n  - id: {name}\n    type: {kind}\n    description: Double\n    outputs: [shop/double.py, tests/test_double.py]\n{more}    gates: [{}]\n{others}",
        gates.join(", ")
    )
}
