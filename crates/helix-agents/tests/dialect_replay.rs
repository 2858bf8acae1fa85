//! The embedded agent as a process: it does what its cassette says and is judged like any other agent.
//!
//! This file has no test harness of its own making: `main` runs the agent where it is asked to, else the tests.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use helix_agents::dialect::HostEnvironment;
use helix_agents::{
    AgentAsk, AgentProfile, AskedSchema, Classified, DialectName, Ended, Invocation, SessionRef, classify_recording,
    dialect, replay_main,
};
use helix_core::ids::AgentSessionId;
use helix_core::run::{Outcome, OutcomeName};

const AGENT: &str = "--replay-agent";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some((AGENT, rest)) = args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return replay_main(rest);
    }
    let tests: [(&str, fn()); 6] = [
        ("takes_follow_each_other_and_really_change_files", takes_follow_each_other_and_really_change_files),
        ("every_end_has_its_outcome", every_end_has_its_outcome),
        ("signals_end_it_as_they_end_the_real_cli", signals_end_it_as_they_end_the_real_cli),
        ("what_cannot_be_played_is_said", what_cannot_be_played_is_said),
        ("no_cut_of_its_output_is_a_completion", no_cut_of_its_output_is_a_completion),
        ("it_prints_its_version", it_prints_its_version),
    ];
    // Test runners ask for the list of ignored tests too; there are none.
    if args.iter().any(|arg| arg == "--ignored") {
        return ExitCode::SUCCESS;
    }
    if args.iter().any(|arg| arg == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let mut names = args.iter().filter(|arg| !arg.starts_with('-')).peekable();
    let all = names.peek().is_none();
    let wanted: Vec<&String> = names.collect();
    let is_wanted = |name: &str| all || wanted.iter().any(|part| name.contains(part.as_str()));
    let mut passed = 0;
    // As libtest begins and ends: an executable that does not report the result of what it has announced has not passed.
    println!("\nrunning {} tests", tests.iter().filter(|(name, _)| is_wanted(name)).count());
    for (name, test) in tests {
        if is_wanted(name) {
            test();
            println!("test {name} ... ok");
            passed += 1;
        }
    }
    println!(
        "\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; {} filtered out",
        tests.len() - passed
    );
    ExitCode::SUCCESS
}

fn session(id: &str) -> AgentSessionId {
    AgentSessionId::new(id).unwrap()
}

fn invocation(dir: &Path, key: &str, prompt: &str, session: SessionRef) -> Invocation {
    let cassette = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/replay/cassette.yaml");
    let this = std::env::current_exe().unwrap().display().to_string();
    let command = [&this, AGENT, "--cassette", cassette].map(str::to_owned).to_vec();
    let mut profile = AgentProfile::new("demo", DialectName::Replay, command);
    profile.config_dir = Some(dir.join("sessions"));
    let mut ask = AgentAsk::new(prompt, session, dir, dir.join("run"));
    ask.label = Some(key.to_owned());
    let own: HostEnvironment = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into_iter().collect();
    dialect(DialectName::Replay).invocation(&profile, &ask, &own).unwrap()
}

fn spawned(invocation: &Invocation) -> Child {
    let mut child = Command::new(&invocation.program)
        .args(&invocation.args)
        .env_clear()
        .envs(invocation.env.iter().cloned())
        .current_dir(&invocation.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses what it is asked may have ended before it is told.
    let told = child.stdin.take().unwrap().write_all(&invocation.stdin);
    assert!(told.as_ref().map_or_else(|error| error.kind() == ErrorKind::BrokenPipe, |()| true), "{told:?}");
    child
}

/// Runs to the end and gives what it amounts to, and its stdout.
fn run(invocation: &Invocation, asked_schema: AskedSchema) -> (Classified, Vec<u8>) {
    let output = spawned(invocation).wait_with_output().unwrap();
    let ended = Ended {
        stderr_tail: String::from_utf8_lossy(&output.stderr).into_owned(),
        ..Ended::exited(output.status.code().unwrap())
    };
    let classified = classify_recording(DialectName::Replay, &output.stdout[..], &ended, asked_schema).unwrap();
    (classified, output.stdout)
}

fn takes_follow_each_other_and_really_change_files() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/old.py"), "").unwrap();
    let first = invocation(dir.path(), "implement", "write an adder", SessionRef::New(session("s-1")));
    let (classified, stdout) = run(&first, AskedSchema::No);
    assert_eq!(classified.outcome.name(), OutcomeName::Complete, "{:?}", classified.facts);
    assert_eq!(classified.answer, "Done: s-1 take 1.");
    assert_eq!(classified.session, Some(session("s-1")));
    assert!(fs::read_to_string(dir.path().join("src/adder.py")).unwrap().contains("a - b"));
    let stdout = String::from_utf8(stdout).unwrap();
    assert!(stdout.contains("out\\nerr\\n\\n[exit status: 3]"), "both streams in order, and the status: {stdout}");

    let second = invocation(dir.path(), "implement", "it returns a - b", SessionRef::Resume(session("s-1")));
    let (classified, _) = run(&second, AskedSchema::No);
    assert_eq!(classified.outcome.name(), OutcomeName::CompleteWithDenials, "{:?}", classified.facts);
    assert!(fs::read_to_string(dir.path().join("src/adder.py")).unwrap().contains("a + b"));
    assert!(!dir.path().join("src/old.py").exists());
    assert!((classified.usage.cost_usd - 0.25).abs() < 1e-9);
}

fn every_end_has_its_outcome() {
    let dir = tempfile::tempdir().unwrap();
    for (key, expected) in [
        ("verdict", OutcomeName::Incomplete),
        ("limited", OutcomeName::RateLimited),
        ("turns", OutcomeName::Limit),
        ("refused", OutcomeName::Refused),
        ("hook", OutcomeName::StoppedByHook),
        ("cut", OutcomeName::Truncated),
        ("crash", OutcomeName::Truncated),
        ("nonsense", OutcomeName::Truncated),
        ("tasks", OutcomeName::CompleteButTasksLost),
        ("nothing-of-this-key", OutcomeName::Usage),
    ] {
        // Structured output is asked for where the take gives none, except in `verdict`, whose own test follows.
        let (asked, expected) = match key {
            "verdict" => (AskedSchema::Yes, OutcomeName::Complete),
            _ => (AskedSchema::No, expected),
        };
        let invocation = invocation(dir.path(), key, "p", SessionRef::New(session(key)));
        let (classified, _) = run(&invocation, asked);
        assert_eq!(classified.outcome.name(), expected, "{key}: {:?}", classified.facts);
        if key == "limited" {
            let resets_at = Some("2030-01-01T00:00:00Z".parse().unwrap());
            assert_eq!(classified.outcome, Outcome::RateLimited { resets_at });
        }
    }
    let without = invocation(dir.path(), "tasks", "p", SessionRef::New(session("s-9")));
    assert_eq!(run(&without, AskedSchema::Yes).0.outcome.name(), OutcomeName::Incomplete);
    let unknown = invocation(dir.path(), "verdict", "p", SessionRef::Resume(session("unknown")));
    assert_eq!(run(&unknown, AskedSchema::No).0.outcome.name(), OutcomeName::Config);
}

fn signals_end_it_as_they_end_the_real_cli() {
    let dir = tempfile::tempdir().unwrap();
    for (key, signal, code, expected) in [
        ("hang", "INT", 0, OutcomeName::Interrupted),
        ("hang", "TERM", 143, OutcomeName::Truncated),
        ("child", "INT", 0, OutcomeName::Interrupted),
        ("child", "TERM", 143, OutcomeName::Truncated),
    ] {
        let mut child = spawned(&invocation(dir.path(), key, "p", SessionRef::New(session("s-1"))));
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut read = Vec::new();
        // Its last line before it waits.
        let mark: &[u8] = if key == "hang" { b"\"partial\":false" } else { b"tool_started" };
        while !read.windows(mark.len()).any(|window| window == mark) {
            assert_ne!(stdout.read_until(b'\n', &mut read).unwrap(), 0, "{key} ended early");
        }
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        std::io::Read::read_to_end(&mut stdout, &mut read).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{key} {signal}");
        let ended = Ended::exited(code);
        let found = classify_recording(DialectName::Replay, &read[..], &ended, AskedSchema::No).unwrap();
        assert_eq!(found.outcome.name(), expected, "{key} {signal}");
    }
}

fn what_cannot_be_played_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let prompt = "something else";
    let (classified, _) =
        run(&invocation(dir.path(), "implement", prompt, SessionRef::New(session("s-1"))), AskedSchema::No);
    assert_eq!(classified.outcome.name(), OutcomeName::Error);
    assert!(classified.facts.terminal.unwrap().message.contains("does not contain \"adder\""));
    let mut no_cassette = invocation(dir.path(), "implement", prompt, SessionRef::New(session("s-1")));
    no_cassette.args[2] = "/no/such/cassette.yaml".to_owned();
    let (classified, _) = run(&no_cassette, AskedSchema::No);
    assert_eq!(classified.outcome.name(), OutcomeName::Usage);
    assert!(classified.facts.stderr_tail.contains("/no/such/cassette.yaml"), "{}", classified.facts.stderr_tail);
}

fn no_cut_of_its_output_is_a_completion() {
    let dir = tempfile::tempdir().unwrap();
    let (_, stdout) =
        run(&invocation(dir.path(), "implement", "adder", SessionRef::New(session("s-1"))), AskedSchema::No);
    let whole = stdout.len() - 1;
    for cut in 0..=stdout.len() {
        let found =
            classify_recording(DialectName::Replay, &stdout[..cut], &Ended::exited(0), AskedSchema::No).unwrap();
        let expected = if cut >= whole { OutcomeName::Complete } else { OutcomeName::Truncated };
        assert_eq!(found.outcome.name(), expected, "cut at {cut} of {}", stdout.len());
    }
    let again = [&stdout[..], &stdout[..stdout.iter().position(|byte| *byte == b'\n').unwrap() + 1]].concat();
    let found = classify_recording(DialectName::Replay, &again[..], &Ended::exited(0), AskedSchema::No).unwrap();
    assert_eq!(found.outcome.name(), OutcomeName::Truncated, "a further turn began");
}

fn it_prints_its_version() {
    let output = Command::new(std::env::current_exe().unwrap()).args([AGENT, "--version"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(dialect(DialectName::Replay).capabilities(&printed).is_some(), "{printed:?}");
}
