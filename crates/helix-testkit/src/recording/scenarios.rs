//! The situations that are recorded from every new version of the CLI.
//!
//! Must not know how they are carried out.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Pace, Scenario, SignalAt, StopSignal};

const SCHEMA: &str = r#"{"type":"object","properties":{"answer":{"type":"number"}},"required":["answer"]}"#;
/// Refuses every prompt before a model sees it.
const REFUSING_HOOK: &str =
    r#"{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo no >&2; exit 2"}]}]}}"#;
const WRITE: &str = r#"{ name: Write, input: { file_path: "{{cwd}}/hello.txt", content: "hi\n" } }"#;

fn scenario(name: &'static str, script: impl Into<String>, outcome: &'static str) -> Scenario {
    Scenario {
        name,
        script: script.into(),
        prompt: "go".to_owned(),
        flags: Vec::new(),
        environment: BTreeMap::new(),
        signal: None,
        outcome,
        pace: Pace::Quick,
        not_for: &[],
    }
}

impl Scenario {
    fn flags(mut self, flags: &[&str]) -> Self {
        self.flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    fn signal(mut self, signal: StopSignal, delay_ms: u64) -> Self {
        self.signal = Some(SignalAt { signal, requests: 1, delay: Duration::from_millis(delay_ms) });
        self
    }

    fn not_for(mut self, versions: &'static [&'static str]) -> Self {
        self.not_for = versions;
        self
    }

    fn slow(mut self) -> Self {
        self.pace = Pace::Slow;
        self
    }
}

fn always(reply: &str) -> String {
    format!("rules: [{{ name: always, reply: {reply} }}]")
}

fn steps(steps: &[&str]) -> String {
    let steps: String = steps.iter().map(|step| format!("\n      - {step}")).collect();
    format!("scenes:\n  - name: turn\n    prompt: go\n    steps:{steps}\n")
}

fn fault(kind: &str) -> String {
    always(&format!("{{ text: done, fault: {kind} }}"))
}

/// All scenarios, in the order in which they are recorded.
pub fn all() -> Vec<Scenario> {
    let mut all = normal();
    all.extend(limits_and_schemas());
    all.extend(http_errors());
    all.extend(broken_streams());
    all.extend(signals());
    all
}

fn normal() -> Vec<Scenario> {
    let write = format!("{{ tools: [{WRITE}] }}");
    let bash = r#"{ tools: [{ name: Bash, input: { command: "ls", description: x } }] }"#;
    let done = "{ text: done }";
    let bypass = ["--dangerously-skip-permissions"];
    vec![
        scenario("trivial", always(done), "COMPLETE"),
        scenario("partial-messages", always(done), "COMPLETE").flags(&["--include-partial-messages"]),
        scenario("thinking", always("{ thinking: hm, text: done }"), "COMPLETE"),
        scenario("tools", steps(&[&write, bash, done]), "COMPLETE").flags(&bypass),
        scenario(
            "parallel-tools",
            steps(&[
                &format!(
                    "{{ text: both, tools: [{WRITE}, {{ name: Bash, input: {{ command: ls, description: x }} }}] }}"
                ),
                done,
            ]),
            "COMPLETE",
        )
        .flags(&bypass),
        scenario("allowed-tools", steps(&[&write, done]), "COMPLETE").flags(&[
            "--permission-mode",
            "dontAsk",
            "--allowedTools",
            "Write",
        ]),
        scenario("denied-tools", steps(&[&write, bash, done]), "COMPLETE_WITH_DENIALS").flags(&[
            "--permission-mode",
            "dontAsk",
            "--allowedTools",
            "Read",
        ]),
        scenario(
            "tool-fails",
            steps(&[r#"{ tools: [{ name: Bash, input: { command: "exit 3", description: x } }] }"#, done]),
            "COMPLETE",
        )
        .flags(&bypass),
        scenario("session-id", always(done), "COMPLETE")
            .flags(&["--session-id", "0199d5c0-1111-4222-8333-444455556666"]),
        scenario("resume-unknown", always(done), "CONFIG").flags(&["--resume", "0199d5c0-9999-4222-8333-444455556666"]),
        scenario("prompt-refused-by-hook", always(done), "STOPPED_BY_HOOK").flags(&["--settings", REFUSING_HOOK]),
        scenario("blank-answer", always(r#"{ text: "  " }"#), "INCOMPLETE"),
        scenario("unknown-flag", always(done), "USAGE").flags(&["--no-such-flag"]),
        scenario("bad-mcp-config", always(done), "USAGE").flags(&["--mcp-config", "{not json"]),
    ]
}

fn limits_and_schemas() -> Vec<Scenario> {
    let bash = r#"{ tools: [{ name: Bash, input: { command: "ls", description: x } }] }"#;
    let endless = always(bash);
    let valid = "{ structured: { answer: 42 } }";
    let invalid = "{ structured: { answer: x } }";
    let bypass = ["--dangerously-skip-permissions"];
    vec![
        scenario("max-turns", endless.clone(), "LIMIT").flags(&bypass).flags(&["--max-turns", "2"]),
        scenario("max-budget", endless, "LIMIT").flags(&bypass).flags(&["--max-budget-usd", "0.0015"]),
        scenario("schema", always(valid), "COMPLETE").flags(&["--json-schema", SCHEMA]),
        scenario("schema-invalid-then-valid", steps(&[invalid, valid]), "COMPLETE").flags(&["--json-schema", SCHEMA]),
        scenario("schema-always-invalid", always(invalid), "LIMIT").flags(&["--json-schema", SCHEMA]),
        scenario("schema-never-called", always("{ text: forty-two }"), "INCOMPLETE").flags(&["--json-schema", SCHEMA]),
        scenario("stop-reason-max-tokens", fault("max-tokens"), "ERROR"),
        scenario("stop-reason-refusal", fault("refusal"), "REFUSED"),
        scenario("stop-reason-pause-turn", fault("pause-turn"), "TRUNCATED"),
        scenario("empty-content-once", fault("{ kind: empty-content, times: 1 }"), "COMPLETE"),
    ]
}

fn http_errors() -> Vec<Scenario> {
    vec![
        scenario("429", fault("rate-limited"), "RATE_LIMITED"),
        scenario("429-retry-after", fault("{ kind: rate-limited, retry_after: 1 }"), "RATE_LIMITED"),
        scenario(
            "429-unified-headers",
            fault("{ kind: rate-limited, retry_after: 3600, resets_in: 3600 }"),
            "RATE_LIMITED",
        ),
        scenario(
            "429-subscription",
            fault("{ kind: rate-limited, retry_after: 3600, resets_in: 3600 }"),
            "RATE_LIMITED",
        )
        .env("ANTHROPIC_API_KEY", "")
        .env("CLAUDE_CODE_OAUTH_TOKEN", "test-token"),
        scenario("500", fault("server-error"), "OVERLOADED_OR_NETWORK"),
        scenario("502-html", fault("bad-gateway"), "OVERLOADED_OR_NETWORK"),
        scenario("529", fault("overloaded"), "OVERLOADED_OR_NETWORK"),
        scenario("529-once", fault("{ kind: overloaded, times: 1 }"), "COMPLETE"),
        scenario("401", fault("unauthorized"), "FATAL_CREDENTIALS"),
        scenario("403", fault("forbidden"), "FATAL_CREDENTIALS"),
        scenario("404-model", fault("not-found"), "ERROR"),
        scenario("413", fault("too-large"), "ERROR"),
        scenario("400-invalid", fault("invalid-request"), "ERROR"),
        scenario("400-credit", fault("credit-balance"), "FATAL_CREDENTIALS"),
        scenario("400-prompt-too-long", fault("prompt-too-long"), "CONTEXT"),
    ]
}

fn broken_streams() -> Vec<Scenario> {
    vec![
        scenario("reset-mid-stream-once", fault("{ kind: reset-mid-stream, times: 1 }"), "COMPLETE"),
        scenario("eof-mid-stream-once", fault("{ kind: eof-mid-stream, times: 1 }"), "COMPLETE"),
        // 2.1.197 takes the end of the stream for the end of the answer: a success without `stop_reason`.
        scenario("eof-after-block-always", fault("eof-after-block"), "OVERLOADED_OR_NETWORK").not_for(&["2.1.197"]),
        scenario("eof-after-block-believed", fault("eof-after-block"), "TRUNCATED").not_for(&["2.1.330"]),
        scenario("eof-after-message-delta", fault("eof-after-message-delta"), "COMPLETE"),
        scenario("sse-error-once", fault("{ kind: sse-error, times: 1 }"), "COMPLETE"),
        scenario("garbage-sse-once", fault("{ kind: garbage-sse, times: 1 }"), "COMPLETE"),
        scenario("slow-stream", fault("{ kind: slow-stream, delay_ms: 200 }"), "COMPLETE").slow(),
        scenario("hang-mid-stream-watchdog", fault("{ kind: hang-mid-stream, times: 1 }"), "COMPLETE")
            .env("CLAUDE_ENABLE_BYTE_WATCHDOG", "1")
            .env("CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS", "10000")
            // That version has no such watchdog and waits for five minutes.
            .not_for(&["2.1.197"])
            .slow(),
    ]
}

fn signals() -> Vec<Scenario> {
    let hang = fault("hang-mid-stream");
    let bash = steps(&[
        r#"{ tools: [{ name: Bash, input: { command: "tail -f /dev/null", description: x } }] }"#,
        "{ text: done }",
    ]);
    let bypass = ["--dangerously-skip-permissions"];
    vec![
        scenario("sigint-mid-api", hang.clone(), "INTERRUPTED").signal(StopSignal::Interrupt, 500),
        scenario("sigterm-mid-api", hang.clone(), "CANCELLED").signal(StopSignal::Terminate, 500),
        scenario("sighup-mid-api", hang.clone(), "CANCELLED").signal(StopSignal::HangUp, 500),
        scenario("sigkill-mid-api", hang, "CANCELLED").signal(StopSignal::Kill, 500),
        // 2.1.197 was seen to exit 0 here without a result, and with one at other times.
        scenario("sigint-mid-bash", bash.clone(), "INTERRUPTED")
            .flags(&bypass)
            .signal(StopSignal::Interrupt, 2000)
            .not_for(&["2.1.197"]),
        scenario("sigterm-mid-bash", bash, "CANCELLED").flags(&bypass).signal(StopSignal::Terminate, 2000),
    ]
}
