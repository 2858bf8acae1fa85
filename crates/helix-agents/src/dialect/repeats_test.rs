use serde_json::json;

use super::*;

#[derive(Default)]
struct Seen(Repeats, u32);

impl Seen {
    /// A command that said this.
    fn call(&mut self, command: &str, output: &str, failed: bool) -> u32 {
        self.1 += 1;
        let id = self.1.to_string();
        let input = json!({ "command": command, "description": format!("try {id}") });
        self.0.saw(&AgentEvent::ToolStarted { id: id.clone(), name: "Bash".into(), input, parent: None });
        self.0.saw(&AgentEvent::ToolFinished { id, output: output.into(), failed });
        self.times()
    }

    fn times(&self) -> u32 {
        self.0.most().map_or(0, |most| most.times)
    }
}

#[test]
fn the_same_failure_counts_however_it_is_described_and_however_long_it_took() {
    let mut seen = Seen::default();
    for (number, output) in
        ["1 failed in 0.03s", "1 failed in 1.2s", "1 failed in 12 ms", "1 failed in 7 ms"].iter().enumerate()
    {
        let times = seen.call("pytest -q", output, true);
        // "12 ms" is worded otherwise than "0.03s".
        assert_eq!(times, [1, 2, 1, 2][number], "{output}");
    }
    assert_eq!(seen.call("pytest -q", "FAILED at 12:03:07 <object 0x7f01>", true), 1);
    assert_eq!(seen.call("pytest -q", "FAILED at 12:03:09 <object 0x7f22>", true), 2);
    let most = seen.0.most().unwrap();
    assert_eq!((most.tool.as_str(), most.input.as_str()), ("Bash", "pytest -q"));
    assert_eq!(most.error, "FAILED at 12:03:07 <object 0x7f01>".replace(":07", ":09").replace("7f01", "7f22"));
}

#[test]
fn a_cycle_without_anything_new_counts_each_round() {
    let mut seen = Seen::default();
    for round in 1..=4 {
        seen.call("cat a.py", "x = 1", false);
        seen.call("sed -i s/1/2/ a.py", "", false);
        let times = seen.call("pytest -q", "1 failed", true);
        seen.call("sed -i s/2/1/ a.py", "", false);
        // The last command of the first round was new.
        assert_eq!(times, if round == 1 { 1 } else { round - 1 });
    }
}

#[test]
fn anything_new_begins_the_count_anew() {
    let mut seen = Seen::default();
    for number in 0..20 {
        assert!(seen.call("pytest -q", "3 failed", true) <= 2);
        seen.call(&format!("sed -i s/{number}/0/ a.py"), "", false);
    }
    assert_eq!(seen.call("pytest -q", "2 failed", true), 1, "fewer failures are progress");
}

#[test]
fn who_waits_is_not_stuck_and_neither_is_who_succeeds() {
    let mut seen = Seen::default();
    for _ in 0..20 {
        assert!(seen.call("sleep 2 && curl -sf localhost:8080", "", true) <= 1);
    }
    for _ in 0..20 {
        assert!(seen.call("curl -sf localhost:8080", "", true) <= 2);
        seen.call("sleep 1", "", false);
    }
    let mut seen = Seen::default();
    for _ in 0..20 {
        assert_eq!(seen.call("git status", "clean", false), 0);
    }
}

#[test]
fn what_waits_is_told_by_the_programs_and_not_by_names_of_tests() {
    let waiting = [
        "sleep 5",
        "cd app && sleep 5; curl localhost",
        "until curl -sf localhost; do sleep 1; done",
        "timeout 60 bash -c 'until test -e ready; do sleep 1; done'",
        "timeout -k 5 30s ./wait-for-it.sh db:5432",
        "kubectl wait --for=condition=ready pod/web",
        "cd app && \"./wait-for-it.sh\" db:5432",
        "N=3 retry curl localhost",
        "python3 -c 'import time; time.sleep(3)'",
    ];
    for command in waiting {
        assert!(waits(&json!({ "command": command })), "{command}");
    }
    let working = [
        "pytest tests/test_wait.py",
        "pytest tests/test_retry.py -k wait_for_lock",
        "cargo test waits_for_the_lock",
        "cat wait.md sleep.md",
        "git commit -m retry",
        "git commit -m \"wait for the lock\"",
        "pytest -k 'wait_for_lock' tests",
        "./wait_test.sh",
        "bash tests/waiting_tests.sh",
        "npx jest src/retry.test.ts",
    ];
    for command in working {
        assert!(!waits(&json!({ "command": command })), "{command}");
    }
}

#[test]
fn what_an_agent_was_stopped_for_is_not_forgotten_when_it_does_something_new_before_it_ends() {
    let mut seen = Seen::default();
    for _ in 0..6 {
        seen.call("pytest -q", "1 failed", true);
    }
    seen.call("git stash", "Saved", false);
    assert_eq!(seen.times(), 0);
    let worst = seen.0.worst().unwrap();
    assert_eq!((worst.input.as_str(), worst.times), ("pytest -q", 6));
}
