//! The command line, environment and files of a run of each real agent.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use helix_agents::dialect::HostEnvironment;
use helix_agents::profile::PromptImage;
use helix_agents::{
    AfterWriteHook, AgentAsk, AgentProfile, DialectName, Invocation, InvocationError, Keeping, Limit, McpAccess,
    McpPlace, McpServer, SessionRef, SubAgent, ToolAccess, dialect,
};
use helix_core::ids::AgentSessionId;
use serde_json::{Value, json};

const SESSION: &str = "0192f0c1-7e1a-7c3d-9a57-3f6a2b8e4d10";

fn profile() -> AgentProfile {
    let mut profile = AgentProfile::new("claude", DialectName::Claude, vec!["claude".to_owned()]);
    profile.home = Some("/home/dev".into());
    profile.config_dir = Some("/home/dev/.helix-claude".into());
    profile.pass_env = vec!["ANTHROPIC_API_KEY".to_owned(), "NOT_SET".to_owned()];
    profile.env.insert("CLAUDE_CODE_MAX_RETRIES".to_owned(), "5".to_owned());
    profile
}

fn ask(run_dir: &Path) -> AgentAsk {
    let session = SessionRef::New(AgentSessionId::new(SESSION).unwrap());
    AgentAsk::new("Say \"hello\"\nplease", session, "/home/dev/project", run_dir)
}

fn invocation(profile: &AgentProfile, ask: &AgentAsk) -> Result<Invocation, InvocationError> {
    let own: HostEnvironment = [
        ("PATH", "/usr/local/bin:/usr/bin"),
        ("HOME", "/home/other"),
        ("ANTHROPIC_API_KEY", "key-of-helix"),
        ("AWS_SECRET_ACCESS_KEY", "not for agents"),
        ("LD_PRELOAD", "x.so"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into_iter()
    .collect();
    dialect(DialectName::Claude).invocation(profile, ask, &own)
}

fn file(invocation: &Invocation, flag: &str) -> (Value, u32) {
    let place = invocation.args.iter().position(|arg| arg == flag).unwrap();
    let path = &invocation.args[place + 1];
    let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    (serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap(), mode)
}

#[test]
fn the_command_line_is_the_measured_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut ask = ask(dir.path());
    ask.model = Some("opus".to_owned());
    ask.system = Some("- Be brief.".to_owned());
    ask.max_turns = Some(60);
    ask.budget_usd = Some(1.5);
    // Generated schemas name a dialect that the CLI does not know.
    ask.schema = Some(json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}));
    ask.tools = ToolAccess { shell: true, ..ToolAccess::default() };
    ask.mcp = vec![McpServer {
        name: "helix".into(),
        at: McpPlace::Http {
            url: "http://127.0.0.1:7070/mcp".into(),
            headers: [("Authorization".to_owned(), "Bearer secret-token".to_owned())].into(),
        },
    }];
    ask.after_write = Some(AfterWriteHook {
        command: vec!["/opt/my tools/helix".into(), "hook".into(), "it's".into()],
        timeout: Duration::from_secs(30),
    });
    let made = invocation(&profile(), &ask).unwrap();
    let run_dir = dir.path().display().to_string();
    let args: Vec<String> = made.args.iter().map(|arg| arg.replace(&run_dir, "RUN")).collect();
    let expected = [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--input-format",
        "stream-json",
        "--session-id",
        SESSION,
        "--model",
        "opus",
        "--permission-mode",
        "dontAsk",
        "--settings",
        "RUN/agent-claude/settings.json",
        "--setting-sources",
        "",
        "--mcp-config",
        "RUN/agent-claude/mcp.json",
        "--max-turns",
        "60",
        "--max-budget-usd",
        "1.5",
        "--json-schema",
        "{\"type\":\"object\"}",
        "--append-system-prompt-file",
        "RUN/agent-claude/system.md",
        "--exclude-dynamic-system-prompt-sections",
        "--disallowedTools",
        "CronCreate,ScheduleWakeup,Workflow,EnterWorktree,ReportFindings",
        "--strict-mcp-config",
    ];
    assert_eq!(args, expected);
    let env: Vec<(&str, String)> =
        made.env.iter().map(|(name, value)| (name.as_str(), value.replace(&run_dir, "RUN"))).collect();
    let expected = [
        ("ANTHROPIC_API_KEY", "key-of-helix"),
        ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
        ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "5"),
        ("CLAUDE_CODE_TMPDIR", "RUN/agent-claude/tmp"),
        ("CLAUDE_CONFIG_DIR", "/home/dev/.helix-claude"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("HOME", "/home/dev"),
        ("LANG", "C.UTF-8"),
        ("PATH", "/usr/local/bin:/usr/bin"),
        ("TERM", "dumb"),
    ];
    assert_eq!(env, expected.map(|(name, value)| (name, value.to_owned())));
    assert_eq!(
        String::from_utf8(made.stdin.clone()).unwrap(),
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Say \\\"hello\\\"\\nplease\"}}\n"
    );
    let (settings, mode) = file(&made, "--settings");
    assert_eq!(mode, 0o600);
    assert_eq!(
        settings,
        json!({"permissions": {"allow": ["Bash"], "deny": ["Agent", "Task"]},
               "hooks": {"PostToolUse": [{"matcher": "Edit|Write|MultiEdit|NotebookEdit", "hooks": [{"type": "command", "timeout": 30,
                   "command": "'/opt/my tools/helix' 'hook' 'it'\\''s'"}]}]}})
    );
    let system = dir.path().join("agent-claude/system.md");
    assert_eq!(std::fs::metadata(&system).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(system).unwrap(), "- Be brief.");
    let (servers, mode) = file(&made, "--mcp-config");
    assert_eq!(mode, 0o600);
    let entry = json!({"type": "http", "url": "http://127.0.0.1:7070/mcp",
        "headers": {"Authorization": "Bearer secret-token"}, "alwaysLoad": true});
    assert_eq!(servers, json!({"mcpServers": {"helix": entry}}));
    let shown = format!("{:?} {:?}", made.args, ask.mcp);
    assert!(!shown.contains("secret-token") && !shown.contains("key-of-helix") && !shown.contains("hello"), "{shown}");
}

/// The permissions of a phase, of a session and of a reviewer, as the CLI was given them when they were measured.
#[test]
fn access_to_tools_becomes_the_measured_rules() {
    let dir = tempfile::tempdir().unwrap();
    let permissions = |tools: ToolAccess| {
        let ask = AgentAsk { tools, ..ask(dir.path()) };
        file(&invocation(&profile(), &ask).unwrap(), "--settings").0["permissions"].take()
    };
    let server = |tools: Option<Vec<String>>| vec![McpAccess { server: "helix".into(), tools }];
    let phase = ToolAccess {
        task_list: true,
        sub_agents: true,
        write_below: vec!["/home/dev/project".into()],
        shell: true,
        mcp: server(Some(vec!["ask_user".into()])),
        ..ToolAccess::read_only()
    };
    let rules = ["Read", "Glob", "Grep", "LS", "TodoWrite", "Agent", "Task", "Bash"].map(str::to_owned);
    let writes = ["Edit", "Write", "MultiEdit", "NotebookEdit"].map(|tool| format!("{tool}(//home/dev/project/**)"));
    let allow: Vec<String> = rules.into_iter().chain(writes).chain(["mcp__helix__ask_user".to_owned()]).collect();
    assert_eq!(permissions(phase.clone()), json!({"allow": allow, "deny": []}));
    let session = ToolAccess { sub_agents: false, shell: false, mcp: server(None), ..phase };
    let allow: Vec<&String> = allow.iter().filter(|rule| !["Agent", "Task", "Bash"].contains(&rule.as_str())).collect();
    let (_, own) = allow.split_last().unwrap();
    let allow: Vec<&str> = own.iter().map(|rule| rule.as_str()).chain(["mcp__helix"]).collect();
    assert_eq!(permissions(session), json!({"allow": allow, "deny": ["Bash", "Agent", "Task"]}));
    let deny = ["Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "WebFetch", "Agent", "Task"];
    assert_eq!(permissions(ToolAccess::read_only()), json!({"allow": ["Read", "Glob", "Grep", "LS"], "deny": deny}));
    assert_eq!(
        permissions(ToolAccess { web: true, ..ToolAccess::default() })["allow"],
        json!(["WebSearch", "WebFetch"])
    );
}

/// What the CLI's validator does not know it takes for a broken schema, and asks for no answer in that form.
#[test]
fn a_schema_is_given_in_the_validators_words() {
    let dir = tempfile::tempdir().unwrap();
    let line = json!({"type": ["integer", "null"], "format": "uint32", "minimum": 0});
    let schema = json!({"$schema": "x", "properties": {"format": {"type": "string"}, "line": line}});
    let made = invocation(&profile(), &AgentAsk { schema: Some(schema), ..ask(dir.path()) }).unwrap();
    let at = made.args.iter().position(|arg| arg == "--json-schema").unwrap();
    let given: Value = serde_json::from_str(&made.args[at + 1]).unwrap();
    let line = json!({"type": ["integer", "null"], "minimum": 0});
    assert_eq!(given, json!({"properties": {"format": {"type": "string"}, "line": line}}));
}

#[test]
fn sessions_are_begun_continued_and_forked() {
    let dir = tempfile::tempdir().unwrap();
    let id = |text: &str| AgentSessionId::new(text).unwrap();
    let with = |session| AgentAsk { session, ..ask(dir.path()) };
    let has = |ask: &AgentAsk, words: &[&str]| {
        invocation(&profile(), ask).unwrap().args.windows(words.len()).any(|window| window == words)
    };
    let resume = with(SessionRef::Resume(id("anything")));
    assert!(has(&resume, &["--resume", "anything"]) && !has(&resume, &["--session-id"]));
    let fork = with(SessionRef::Fork { from: id("old"), new: id(SESSION) });
    assert!(has(&fork, &["--resume", "old", "--session-id", SESSION]) && has(&fork, &["--fork-session"]));
    let cut = with(SessionRef::Cut { from: id("old"), new: id(SESSION), at: "m-7".into() });
    assert!(has(&cut, &["--resume", "old", "--session-id", SESSION, "--resume-session-at", "m-7"]));
    assert!(has(&cut, &["--fork-session"]));
}

#[test]
fn experts_are_named_and_may_be_asked() {
    let dir = tempfile::tempdir().unwrap();
    let mut ask = ask(dir.path());
    let expert = SubAgent {
        name: "databases".into(),
        description: "Knows databases".into(),
        prompt: "You are a \"database\" engineer".into(),
        model: Some("haiku".into()),
        tools: vec!["Read".into()],
    };
    ask.agents = vec![expert];
    let made = invocation(&profile(), &ask).unwrap();
    let place = made.args.iter().position(|arg| arg == "--agents").unwrap();
    let agents: Value = serde_json::from_str(&made.args[place + 1]).unwrap();
    assert_eq!(
        agents,
        json!({"databases": {"description": "Knows databases", "prompt": "You are a \"database\" engineer",
            "tools": ["Read"], "model": "haiku"}})
    );
    assert_eq!(file(&made, "--settings").0["permissions"]["allow"], json!(["Agent", "Task"]));
}

#[test]
fn images_go_with_the_prompt() {
    let dir = tempfile::tempdir().unwrap();
    let mut ask = ask(dir.path());
    ask.images = vec![PromptImage { media_type: "image/png".into(), base64: "AAAA".into() }];
    let line: Value = serde_json::from_slice(&invocation(&profile(), &ask).unwrap().stdin).unwrap();
    assert_eq!(line["message"]["content"][0]["text"], "Say \"hello\"\nplease");
    assert_eq!(line["message"]["content"][1]["source"]["media_type"], "image/png");
}

#[test]
fn what_cannot_be_expressed_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let failing = |change: &dyn Fn(&mut AgentAsk)| {
        let mut ask = ask(dir.path());
        change(&mut ask);
        invocation(&profile(), &ask).unwrap_err()
    };
    let error = failing(&|ask| ask.schema = Some(json!({ "title": "x".repeat(200_000) })));
    assert!(matches!(error, InvocationError::ArgumentTooLong { what: "the JSON schema", .. }), "{error}");
    assert!(matches!(failing(&|ask| ask.model = Some("a\0b".into())), InvocationError::NulByte { .. }));
    for budget in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(failing(&|ask| ask.budget_usd = Some(budget)), InvocationError::Budget { .. }));
    }
    let mut empty = profile();
    empty.command.clear();
    assert!(matches!(invocation(&empty, &ask(dir.path())).unwrap_err(), InvocationError::NoProgram { .. }));
}

fn codex(ask: &AgentAsk, change: impl FnOnce(&mut AgentProfile)) -> Result<Invocation, InvocationError> {
    let mut profile = AgentProfile::new("codex", DialectName::Codex, vec!["codex".to_owned()]);
    profile.config_dir = Some("/home/dev/.codex".into());
    profile.pass_env = vec!["OPENAI_API_KEY".to_owned(), "TZ".to_owned()];
    change(&mut profile);
    let own: HostEnvironment =
        [("PATH", "/usr/bin"), ("HOME", "/home/dev"), ("OPENAI_API_KEY", "key"), ("TZ", "Asia/Tokyo"), ("AWS", "no")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect();
    dialect(DialectName::Codex).invocation(&profile, ask, &own)
}

/// Its own sandbox cannot be put up within Helix's walls: each of its commands would fail.
#[test]
fn codex_has_no_sandbox_of_its_own_within_walls() {
    let dir = tempfile::tempdir().unwrap();
    let mut ask = ask(dir.path());
    for (walled, mode) in [(false, "read-only"), (true, "danger-full-access")] {
        ask.walled = walled;
        let args = codex(&ask, |_| {}).unwrap().args;
        let at = args.iter().position(|arg| arg == "--sandbox").unwrap();
        assert_eq!(args[at + 1], mode);
    }
}

#[test]
fn the_codex_command_line_is_the_measured_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut ask = ask(dir.path());
    ask.model = Some("gpt-5.1-codex".to_owned());
    ask.system = Some("Be \"brief\"\u{7f}.".to_owned());
    ask.schema = Some(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    ask.tools.read = true;
    ask.tools.write_below = vec!["/home/dev/notes".into()];
    ask.images = vec![PromptImage { media_type: "image/png".to_owned(), base64: "aGk=".to_owned() }];
    ask.mcp = vec![McpServer {
        name: "helix".into(),
        at: McpPlace::Http {
            url: "http://127.0.0.1:7070/mcp".into(),
            headers: [("Authorization".to_owned(), "Bearer secret-token".to_owned())].into(),
        },
    }];
    ask.session = SessionRef::Resume(AgentSessionId::new(SESSION).unwrap());
    let made = codex(&ask, |_| {}).unwrap();
    let files = dir.path().join("agent-codex");
    let at = |name: &str| files.join(name).display().to_string();
    let (schema, last, image) = (at("schema.json"), at("tmp/last-message.txt"), at("image-1.png"));
    let wanted = [
        "exec",
        "--json",
        "--ignore-user-config",
        "--ignore-rules",
        "--skip-git-repo-check",
        "--color",
        "never",
        "--cd",
        "/home/dev/project",
        "--sandbox",
        "workspace-write",
        "--add-dir",
        "/home/dev/notes",
        "--model",
        "gpt-5.1-codex",
        "--output-schema",
        &schema,
        "--output-last-message",
        &last,
        "--config",
        "approval_policy=\"never\"",
        "--config",
        "web_search=\"disabled\"",
        "--config",
        "project_doc_max_bytes=0",
        "--config",
        "skills.include_instructions=false",
        "--config",
        "check_for_update_on_startup=false",
        "--config",
        "analytics.enabled=false",
        "--config",
        "openai_base_url=\"https://api.openai.com/v1\"",
        "--config",
        "mcp_servers.helix={url=\"http://127.0.0.1:7070/mcp\",\
         env_http_headers={\"Authorization\"=\"HELIX_MCP_HEADER_0_0\"},\
         default_tools_approval_mode=\"approve\",required=true}",
        "--config",
        "shell_environment_policy.exclude=[\"HELIX_MCP_HEADER_*\"]",
        "--image",
        &image,
        "--disable",
        "plugins",
        "--disable",
        "apps",
        "--disable",
        "unbounded_connection_retries",
        "resume",
        SESSION,
        "-",
    ];
    assert_eq!(made.args, wanted);
    assert!(made.args.iter().all(|arg| !arg.contains("secret") && !arg.contains("dangerously")), "{:?}", made.args);
    assert_eq!(made.stdin, b"Say \"hello\"\nplease");
    let env = |name: &str| made.env.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    assert_eq!(
        [env("CODEX_HOME"), env("OPENAI_API_KEY"), env("TZ"), env("HELIX_MCP_HEADER_0_0"), env("AWS")],
        [Some("/home/dev/.codex"), Some("key"), Some("UTC"), Some("Bearer secret-token"), None]
    );
    let (strict, mode) = file(&made, "--output-schema");
    assert_eq!((strict["required"].clone(), mode), (json!(["a"]), 0o600));
    assert_eq!(std::fs::read(&image).unwrap(), b"hi");
}

/// The address that the gateway takes the place of is named where a key goes there, and nobody has named another.
#[test]
fn codex_is_told_its_providers_address_where_it_has_a_key_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let named = |change: &dyn Fn(&mut AgentProfile)| {
        let made = codex(&ask(dir.path()), change).unwrap();
        made.args.iter().any(|word| word.starts_with("openai_base_url="))
    };
    assert!(named(&|_| {}));
    assert!(named(&|profile| profile.env = [("CODEX_API_KEY".to_owned(), "k".to_owned())].into()));
    assert!(!named(&|profile| profile.pass_env.clear()), "logged in by itself");
    assert!(!named(&|profile| profile.command.push("model_provider=\"own\"".to_owned())));
}

#[test]
fn codex_is_not_asked_what_it_cannot_do() {
    let dir = tempfile::tempdir().unwrap();
    let plain = ask(dir.path());
    let made = codex(&plain, |_| {}).unwrap();
    assert_eq!(made.args.last().map(String::as_str), Some("-"));
    assert!(
        made.args.windows(2).any(|pair| pair == ["--sandbox", "read-only"]),
        "nothing was allowed: {:?}",
        made.args
    );
    let refused = |change: &dyn Fn(&mut AgentAsk)| {
        let mut ask = plain.clone();
        change(&mut ask);
        codex(&ask, |_| {}).unwrap_err().to_string()
    };
    let id = |text: &str| AgentSessionId::new(text).unwrap();
    assert!(refused(&|ask| ask.max_turns = Some(3)).contains("max_turns"));
    assert!(refused(&|ask| ask.budget_usd = Some(1.0)).contains("budget_usd"));
    let cut = SessionRef::Cut { from: id("a"), new: id("b"), at: "c".to_owned() };
    assert!(refused(&|ask| ask.session = cut.clone()).contains("cut a session"));
    assert!(
        refused(&|ask| ask.images = vec![PromptImage { media_type: "image/png".into(), base64: "%".into() }])
            .contains("image 1")
    );
    let server =
        |name: &str| McpServer { name: name.into(), at: McpPlace::Http { url: "http://x".into(), headers: [].into() } };
    assert!(refused(&|ask| ask.mcp = vec![server("a.b")]).contains("other characters"));
    assert!(codex(&plain, |profile| profile.command.clear()).is_err());
    let mut fork = plain.clone();
    fork.session = SessionRef::Fork { from: id("one"), new: id("two") };
    let args = codex(&fork, |_| {}).unwrap().args;
    assert_eq!(args[args.len() - 3..], ["fork", "one", "-"]);
}

/// What holds for every dialect, also for the next one: nothing that somebody relies on is left out in silence.
#[test]
fn every_dialect_keeps_the_rules_that_are_not_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let plain = ask(dir.path());
    let own: HostEnvironment =
        [("HOME".to_owned(), "/home/dev".to_owned()), ("SECRET".to_owned(), "s".to_owned())].into_iter().collect();
    for name in DialectName::ALL {
        let dialect = dialect(name);
        assert_eq!(dialect.kind.dialect, name);
        let profile = AgentProfile::new("one", name, vec!["agent".to_owned(), "--leading".to_owned()]);
        let with = |change: &dyn Fn(&mut AgentAsk)| {
            let mut ask = plain.clone();
            change(&mut ask);
            dialect.invocation(&profile, &ask, &own)
        };
        let made = with(&|_| {}).unwrap();
        assert_eq!((made.program.to_str(), made.args.first().map(String::as_str)), (Some("agent"), Some("--leading")));
        assert!(made.env.iter().all(|(variable, _)| variable != "SECRET"), "{name}: {:?}", made.env);
        let shown = format!("{:?} {:?}", made.args, made.env);
        assert!(!shown.contains("Say"), "{name}: the prompt goes through stdin alone: {shown}");
        assert!(String::from_utf8_lossy(&made.stdin).contains("Say"), "{name}");
        for (limit, change) in [
            (Limit::Turns, &(|ask: &mut AgentAsk| ask.max_turns = Some(3)) as &dyn Fn(&mut AgentAsk)),
            (Limit::Money, &|ask| ask.budget_usd = Some(1.0)),
        ] {
            assert_eq!(with(change).is_ok(), dialect.keeps(limit) == Keeping::DuringRuns, "{name}: {limit:?}");
        }
        let error = with(&|ask| ask.budget_usd = Some(-1.0)).unwrap_err();
        assert!(matches!(error, InvocationError::Budget { .. }), "{name}: {error}");
        let mut spoiled = profile.clone();
        spoiled.command.push("a\0b".to_owned());
        let error = dialect.invocation(&spoiled, &plain, &own).unwrap_err();
        assert!(matches!(error, InvocationError::NulByte { .. }), "{name}: {error}");
        spoiled.command = vec![String::new()];
        let error = dialect.invocation(&spoiled, &plain, &own).unwrap_err();
        assert!(matches!(error, InvocationError::NoProgram { .. }), "{name}: {error}");
        spoiled.command.clone_from(&profile.command);
        spoiled.env.extend(made.env.iter().map(|(variable, _)| (variable.clone(), "mine".to_owned())));
        let mine = dialect.invocation(&spoiled, &plain, &own).unwrap().env;
        assert!(mine.iter().all(|(_, value)| value == "mine"), "{name}: the configuration's own wins: {mine:?}");
    }
    let command = |session| {
        let profile = AgentProfile::new("one", DialectName::Command, vec!["agent".to_owned()]);
        let ask = AgentAsk { session, ..plain.clone() };
        dialect(DialectName::Command).invocation(&profile, &ask, &own).unwrap_err().to_string()
    };
    let id = || AgentSessionId::new(SESSION).unwrap();
    assert!(command(SessionRef::Resume(id())).contains("cannot resume a session"));
    assert!(command(SessionRef::Fork { from: id(), new: id() }).contains("cannot copy a session"));
}
