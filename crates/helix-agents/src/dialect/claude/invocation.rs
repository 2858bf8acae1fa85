//! The command line, environment, files and stdin of one headless run.
//!
//! Must not put a secret or a prompt into an argument: those are readable by every process of the machine. Source of every flag
//! and variable: the measured runs of 2.1.197 and 2.1.330 that `docs/outcomes.md` names.

use serde_json::{Map, Value, json};

use super::super::InvocationError;
use super::super::draft::Draft;
use super::super::host_environment::path_text;
use super::tool_rules::{self, ASKING_TOOLS, READING_TOOLS, WEB_TOOLS, WRITING_TOOLS};
use crate::profile::{AgentAsk, McpAccess, McpPlace, McpServer, PromptImage, SessionRef, SubAgent};

/// Tools that outlive the turn, leave the worktree or report to where nobody reads: none has a meaning in a supervised run.
const NEVER_USED_TOOLS: &str = "CronCreate,ScheduleWakeup,Workflow,EnterWorktree,ReportFindings";

/// How long a question may take to be on record, in seconds: nothing waits for its answer.
const PERSON_TIMEOUT: u32 = 60;

/// Writes down what is asked.
pub(super) fn write(draft: &mut Draft<'_>) -> Result<(), InvocationError> {
    environment(draft)?;
    let ask = draft.ask;
    draft.words(["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]);
    draft.option("--input-format", "stream-json");
    // New ids are UUIDs: the CLI takes no others.
    match &ask.session {
        SessionRef::New(id) => draft.option("--session-id", id.as_str()),
        SessionRef::Resume(id) => draft.option("--resume", id.as_str()),
        SessionRef::Fork { from, new } => {
            draft.option("--resume", from.as_str());
            draft.option("--session-id", new.as_str());
        }
        SessionRef::Cut { from, new, at } => {
            draft.option("--resume", from.as_str());
            draft.option("--session-id", new.as_str());
            draft.option("--resume-session-at", at.as_str());
        }
    }
    if let Some(model) = draft.model() {
        draft.option("--model", model);
    }
    if let Some(model) = &draft.profile.fallback_model {
        draft.option("--fallback-model", model);
    }
    draft.option("--permission-mode", "dontAsk");
    let servers = draft.file("mcp.json", servers(&ask.mcp).to_string().as_bytes())?;
    let settings = draft.file("settings.json", settings(ask, &servers).to_string().as_bytes())?;
    draft.option("--settings", settings);
    // Neither the user's nor the project's own settings: what a run may do must not depend on where it runs.
    draft.option("--setting-sources", "");
    draft.option("--mcp-config", servers);
    if let Some(turns) = ask.max_turns {
        draft.option("--max-turns", turns.to_string());
    }
    if let Some(budget) = ask.budget_usd {
        draft.option("--max-budget-usd", budget.to_string());
    }
    if let Some(schema) = &ask.schema {
        draft.long_option("the JSON schema", "--json-schema", in_plain_words(schema).to_string());
    }
    if let Some(system) = &ask.system {
        // Not as an argument: every process of the machine can read those.
        let file = draft.file("system.md", system.as_bytes())?;
        draft.option("--append-system-prompt-file", file);
    }
    // Where the agent works differs from run to run: it goes into the first message, so that the provider's cache serves the rest.
    draft.words(["--exclude-dynamic-system-prompt-sections"]);
    if !ask.agents.is_empty() {
        draft.long_option("the list of experts", "--agents", sub_agents(&ask.agents).to_string());
    }
    // Last among the options with values, and followed by flags without: variadic options swallow what comes after them.
    draft.option("--disallowedTools", NEVER_USED_TOOLS);
    if matches!(ask.session, SessionRef::Fork { .. } | SessionRef::Cut { .. }) {
        draft.words(["--fork-session"]);
    }
    draft.words(["--strict-mcp-config"]);
    draft.stdin(prompt_line(ask));
    Ok(())
}

fn environment(draft: &mut Draft<'_>) -> Result<(), InvocationError> {
    for (name, value) in [
        // What a run writes down for later ones would be nobody's result.
        ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
        ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "3"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("DISABLE_TELEMETRY", "1"),
    ] {
        draft.default_variable(name, value);
    }
    let temporary = draft.temporary()?;
    draft.default_variable("CLAUDE_CODE_TMPDIR", temporary);
    draft.config_dir_variable("CLAUDE_CONFIG_DIR");
    Ok(())
}

/// The prompt as one line of the streaming input format; the end of stdin then ends the session after its turn.
fn prompt_line(ask: &AgentAsk) -> Vec<u8> {
    let content = if ask.images.is_empty() {
        Value::String(ask.prompt.clone())
    } else {
        let image = |image: &PromptImage| {
            json!({"type": "image",
                   "source": {"type": "base64", "media_type": image.media_type, "data": image.base64}})
        };
        let text = json!({"type": "text", "text": ask.prompt});
        Value::Array(std::iter::once(text).chain(ask.images.iter().map(image)).collect())
    };
    let mut line = json!({"type": "user", "message": {"role": "user", "content": content}}).to_string().into_bytes();
    line.push(b'\n');
    line
}

fn settings(ask: &AgentAsk, servers: &str) -> Value {
    let mut hooks = ask.hooks.clone().unwrap_or_default();
    let mut add = |event: &str, own: Value| match hooks.entry(event).or_insert_with(|| json!([])) {
        Value::Array(known) => known.push(own),
        other => *other = json!([own]),
    };
    // For a POSIX shell, which is what the CLI gives hook commands to.
    let quoted = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
    let command = |words: &[String]| words.iter().map(quoted).collect::<Vec<_>>().join(" ");
    if let Some(hook) = &ask.after_write {
        let timeout = hook.timeout.as_secs().max(1);
        let run = json!([{"type": "command", "command": command(&hook.command), "timeout": timeout}]);
        add("PostToolUse", json!({"matcher": WRITING_TOOLS.join("|"), "hooks": run}));
    }
    if let Some(hook) = &ask.ask_person {
        let hook: Vec<String> = hook.iter().cloned().chain([servers.to_owned()]).collect();
        for rule in ask.tools.rules.ask.iter().flat_map(|rule| tool_rules::written(rule, &ask.cwd)) {
            let tool = rule.split('(').next().unwrap_or_default();
            let whole_server = tool.starts_with("mcp__") && tool.matches("__").count() == 1;
            let matcher = if whole_server { format!("{tool}__.*") } else { tool.to_owned() };
            let mut run = json!({"type": "command", "command": command(&hook), "timeout": PERSON_TIMEOUT});
            if tool.len() < rule.len() {
                run["if"] = json!(rule);
            }
            add("PreToolUse", json!({"matcher": matcher, "hooks": [run]}));
        }
    }
    let allowed = allowed(ask);
    let denied = denied(ask, &allowed);
    let mut settings = json!({"permissions": {"allow": allowed, "deny": denied}});
    if !hooks.is_empty() {
        settings["hooks"] = Value::Object(hooks);
    }
    settings
}

/// The CLI's permission rules for what is allowed.
fn allowed(ask: &AgentAsk) -> Vec<String> {
    let access = &ask.tools;
    let mut rules = Vec::new();
    let mut allow = |tools: &[&str]| rules.extend(tools.iter().map(|tool| (*tool).to_owned()));
    if access.read {
        allow(&READING_TOOLS);
    }
    if access.task_list {
        allow(&["TodoWrite"]);
    }
    if access.sub_agents || !ask.agents.is_empty() {
        allow(&ASKING_TOOLS);
    }
    if access.web {
        allow(&WEB_TOOLS);
    }
    if access.shell {
        allow(&["Bash"]);
    }
    for directory in &access.write_below {
        let below = path_text(directory);
        rules.extend(WRITING_TOOLS.map(|tool| format!("{tool}(//{}/**)", below.trim_matches('/'))));
    }
    for McpAccess { server, tools } in &access.mcp {
        match tools {
            None => rules.push(format!("mcp__{server}")),
            Some(tools) => rules.extend(tools.iter().map(|tool| format!("mcp__{server}__{tool}"))),
        }
    }
    rules.extend(access.rules.allow.iter().flat_map(|rule| tool_rules::written(rule, &ask.cwd)));
    rules
}

/// What is denied even where the agent's own settings would allow it: commands and agents to one that may have none, and everything
/// that changes something to one that only reads. What would be refused is not offered then. Measured: the CLI offers Glob and Grep only where Bash is denied; otherwise it tells
/// the model to find files with commands, which it would refuse.
fn denied(ask: &AgentAsk, allowed: &[String]) -> Vec<String> {
    let access = &ask.tools;
    let shell = if access.shell { &[][..] } else { &["Bash"] };
    let writing = if access.may_write() { &[][..] } else { &WRITING_TOOLS };
    let web = if access.may_write() || access.web { &[][..] } else { &["WebFetch"] };
    let asking = if allowed.iter().any(|rule| ASKING_TOOLS.contains(&rule.as_str())) { &[][..] } else { &ASKING_TOOLS };
    let own = [shell, writing, web, asking].concat().into_iter().map(str::to_owned);
    // Where nobody can be asked, nobody has said yes.
    let asked = if ask.ask_person.is_some() { &[][..] } else { &access.rules.ask };
    let rules = access.rules.deny.iter().chain(asked);
    own.chain(rules.flat_map(|rule| tool_rules::written(rule, &ask.cwd))).collect()
}

fn servers(servers: &[McpServer]) -> Value {
    // Without `alwaysLoad` the CLI shows the model only the tools' names and has it search for each before its first call.
    let entry = |server: &McpServer| {
        let entry = match &server.at {
            McpPlace::Http { url, headers } => {
                json!({"type": "http", "url": url, "headers": headers, "alwaysLoad": true})
            }
            McpPlace::Program { command, args, env } => {
                json!({"type": "stdio", "command": command, "args": args, "env": env, "alwaysLoad": true})
            }
        };
        (server.name.clone(), entry)
    };
    json!({ "mcpServers": servers.iter().map(entry).collect::<Map<_, _>>() })
}

/// The agents that this one may ask. Measured: 2.1.197 ignores JSON that it does not understand, 2.1.330 exits with 1.
fn sub_agents(agents: &[SubAgent]) -> Value {
    let entry = |agent: &SubAgent| {
        let mut entry = json!({"description": agent.description, "prompt": agent.prompt, "tools": agent.tools});
        if let Some(model) = &agent.model {
            entry["model"] = json!(model);
        }
        (agent.name.clone(), entry)
    };
    Value::Object(agents.iter().map(entry).collect())
}

/// The schema in words that the CLI's validator knows. Measured: it refuses to start where another dialect is named, and 2.1.197
/// leaves the tool for the answer out, in silence, where a format is one of Rust's numbers (`uint32`).
fn in_plain_words(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(keys) = schema.as_object_mut() {
        keys.remove("$schema");
    }
    without_formats(&mut schema);
    schema
}

fn without_formats(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            // A property of that name is a schema, never a text.
            if keys.get("format").is_some_and(Value::is_string) {
                keys.remove("format");
            }
            keys.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}
