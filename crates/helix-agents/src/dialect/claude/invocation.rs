//! The command line, environment, files and stdin of one headless run.
//!
//! Must not put a secret or a prompt into an argument: those are readable by every process of the machine. Source of every flag
//! and variable: the measured runs of 2.1.197 and 2.1.330 that `docs/outcomes.md` names.

use std::collections::BTreeMap;
use std::path::PathBuf;

use helix_core::ids::AgentSessionId;
use serde_json::{Value, json};

use super::super::agent_files::AgentFiles;
use super::super::arguments::{check_arguments, check_environment};
use super::super::surroundings::path_text;
use super::super::{InvocationError, Surroundings};
use crate::invocation::Invocation;
use crate::profile::{AgentAsk, AgentHook, AgentProfile, DialectName, McpServer, SessionRef, SubAgent};

/// Tools that outlive the turn or leave the worktree, none of which has a meaning in a supervised run.
const NEVER_USED_TOOLS: &str = "CronCreate,ScheduleWakeup,Workflow,EnterWorktree";

/// Turns what is asked into what is executed.
pub(super) fn invocation(
    profile: &AgentProfile,
    ask: &AgentAsk,
    own: &Surroundings,
) -> Result<Invocation, InvocationError> {
    let (program, leading) = profile
        .command
        .split_first()
        .filter(|(program, _)| !program.is_empty())
        .ok_or_else(|| InvocationError::NoProgram { profile: profile.name.clone() })?;
    let files = AgentFiles::create(&ask.run_dir, DialectName::Claude)?;
    let mut args = leading.to_vec();
    args.extend(arguments(profile, ask, &files)?);
    check_arguments(&args)?;
    let env = environment(profile, own, &files);
    check_environment(&env)?;
    Ok(Invocation { program: PathBuf::from(program), args, env, cwd: ask.cwd.clone(), stdin: prompt_line(ask) })
}

fn arguments(profile: &AgentProfile, ask: &AgentAsk, files: &AgentFiles) -> Result<Vec<String>, InvocationError> {
    let mut args: Vec<String> = ["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]
        .into_iter()
        .chain(["--input-format", "stream-json"])
        .map(str::to_owned)
        .collect();
    let mut option = |name: &str, value: String| args.extend([name.to_owned(), value]);
    match &ask.session {
        SessionRef::New(id) => option("--session-id", uuid_of(id)?),
        SessionRef::Resume(id) => option("--resume", id.to_string()),
        SessionRef::Fork { from, new } => {
            option("--resume", from.to_string());
            option("--session-id", uuid_of(new)?);
        }
        SessionRef::Cut { from, new, at } => {
            option("--resume", from.to_string());
            option("--session-id", uuid_of(new)?);
            option("--resume-session-at", at.clone());
        }
    }
    if let Some(model) = ask.model.as_ref().or(profile.default_model.as_ref()) {
        option("--model", model.clone());
    }
    if let Some(model) = &profile.fallback_model {
        option("--fallback-model", model.clone());
    }
    option("--permission-mode", "dontAsk".to_owned());
    option("--settings", files.write("settings.json", settings(ask).to_string().as_bytes())?);
    // Neither the user's nor the project's own settings: what a run may do must not depend on where it runs.
    option("--setting-sources", String::new());
    option("--mcp-config", files.write("mcp.json", servers(&ask.mcp)?.to_string().as_bytes())?);
    if let Some(turns) = ask.max_turns {
        option("--max-turns", turns.to_string());
    }
    if let Some(budget) = ask.budget_usd {
        if !(budget.is_finite() && budget > 0.0) {
            return Err(InvocationError::Budget { budget });
        }
        option("--max-budget-usd", budget.to_string());
    }
    if let Some(schema) = &ask.schema {
        option("--json-schema", without_dialect(schema).to_string());
    }
    if let Some(system) = &ask.system {
        option("--append-system-prompt", system.clone());
    }
    if !ask.agents.is_empty() {
        option("--agents", sub_agents(&ask.agents)?.to_string());
    }
    // Last among the options with values, and followed by flags without: variadic options swallow what comes after them.
    option("--disallowedTools", NEVER_USED_TOOLS.to_owned());
    if matches!(ask.session, SessionRef::Fork { .. } | SessionRef::Cut { .. }) {
        args.push("--fork-session".to_owned());
    }
    args.push("--strict-mcp-config".to_owned());
    Ok(args)
}

/// Checks that an id has the form 8-4-4-4-12, the only one that `--session-id` takes.
fn uuid_of(id: &AgentSessionId) -> Result<String, InvocationError> {
    let groups: Vec<&str> = id.as_str().split('-').collect();
    let fits = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if fits { Ok(id.to_string()) } else { Err(InvocationError::SessionNotUuid { session: id.to_string() }) }
}

fn environment(profile: &AgentProfile, own: &Surroundings, files: &AgentFiles) -> Vec<(String, String)> {
    let on = || "1".to_owned();
    let config_dir = profile.config_dir.as_deref().map(path_text).or_else(|| {
        // Where Helix runs with another home than the agent, its own setting would point at the wrong user's sessions.
        profile.home.is_none().then(|| own.get("CLAUDE_CONFIG_DIR").map(str::to_owned)).flatten()
    });
    let defaults = [
        ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", on()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", on()),
        ("CLAUDE_CODE_MAX_RETRIES", "3".to_owned()),
        ("CLAUDE_CODE_TMPDIR", path_text(&files.temporary)),
        ("DISABLE_AUTOUPDATER", on()),
        ("DISABLE_ERROR_REPORTING", on()),
        ("DISABLE_TELEMETRY", on()),
    ];
    own.for_agent(profile, defaults.into_iter().chain(config_dir.map(|dir| ("CLAUDE_CONFIG_DIR", dir))))
}

/// The prompt as one line of the streaming input format; the end of stdin then ends the session after its turn.
fn prompt_line(ask: &AgentAsk) -> Vec<u8> {
    let content = if ask.images.is_empty() {
        Value::String(ask.prompt.clone())
    } else {
        let image = |image: &crate::profile::PromptImage| {
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

fn settings(ask: &AgentAsk) -> Value {
    let asking = if ask.agents.is_empty() { &[][..] } else { &ASKING_TOOLS[..] };
    let allow: Vec<&str> = ask.tools.allow.iter().map(String::as_str).chain(asking.iter().copied()).collect();
    let mut settings = json!({"permissions": {"allow": allow, "deny": ask.tools.deny}});
    if !ask.hooks.is_empty() {
        let mut events: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for hook in &ask.hooks {
            events.entry(&hook.event).or_default().push(hook_entry(hook));
        }
        settings["hooks"] = json!(events);
    }
    settings
}

fn hook_entry(hook: &AgentHook) -> Value {
    let command = hook.command.iter().map(|word| shell_quoted(word)).collect::<Vec<_>>().join(" ");
    let seconds = hook.timeout.as_secs().max(1);
    let mut entry = json!({"hooks": [{"type": "command", "command": command, "timeout": seconds}]});
    if let Some(matcher) = &hook.matcher {
        entry["matcher"] = json!(matcher);
    }
    entry
}

/// One word for a POSIX shell, which is what the CLI gives hook commands to.
fn shell_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn servers(servers: &[McpServer]) -> Result<Value, InvocationError> {
    let mut entries = serde_json::Map::new();
    for server in servers {
        // Without `alwaysLoad` the CLI shows the model only the tools' names and has it search for each before its first call.
        let entry = json!({"type": "http", "url": server.url, "headers": server.headers, "alwaysLoad": true});
        if entries.insert(server.name.clone(), entry).is_some() {
            return Err(InvocationError::DuplicateServer { name: server.name.clone() });
        }
    }
    Ok(json!({ "mcpServers": entries }))
}

/// The agents that this one may ask. Measured: 2.1.197 ignores JSON that it does not understand, 2.1.330 exits with 1.
fn sub_agents(agents: &[SubAgent]) -> Result<Value, InvocationError> {
    let mut entries = serde_json::Map::new();
    for agent in agents {
        let mut entry = json!({"description": agent.description, "prompt": agent.prompt, "tools": agent.tools});
        if let Some(model) = &agent.model {
            entry["model"] = json!(model);
        }
        if entries.insert(agent.name.clone(), entry).is_some() {
            return Err(InvocationError::DuplicateAgent { name: agent.name.clone() });
        }
    }
    Ok(Value::Object(entries))
}

/// The tools by which an agent asks its sub-agents, under both of their names.
const ASKING_TOOLS: [&str; 2] = ["Agent", "Task"];

/// The schema without the name of its own dialect: the CLI knows no other than its validator's and refuses to start.
fn without_dialect(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(keys) = schema.as_object_mut() {
        keys.remove("$schema");
    }
    schema
}
