//! The command line, environment, files and stdin of one headless run.
//!
//! Must not put a secret or a prompt into an argument: those are readable by every process of the machine. Source of every flag
//! and setting: the help and the measured runs of 0.169.0 (`docs/outcomes.md`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::InvocationError;
use super::super::draft::Draft;
use super::super::host_environment::path_text;
use super::schema;
use crate::profile::{McpPlace, McpServer, SessionRef};
use crate::tool_rule::ToolRule;

/// Plugins and apps of the account would be found over the network at each start. Retrying forever while there is no network
/// would hide that from Helix, which waits by itself (measured: 120 s of retries, no end).
const DISABLED_FEATURES: [&str; 3] = ["plugins", "apps", "unbounded_connection_retries"];

/// Start of the names of the variables that hold the headers of tool servers.
const HEADER_VARIABLE: &str = "HELIX_MCP_HEADER_";

/// Writes down what is asked.
pub(super) fn write(draft: &mut Draft<'_>) -> Result<(), InvocationError> {
    let ask = draft.ask;
    if ask.prompt.trim().is_empty() {
        return Err(draft.unsupported("be asked nothing: the prompt is empty"));
    }
    draft.config_dir_variable("CODEX_HOME");
    // The CLI writes when a limit resets as a local time, and the reader takes it for universal time.
    draft.variable("TZ", "UTC");
    // Neither the user's nor the project's own settings: what a run may do must not depend on where it runs.
    draft.words(["exec", "--json", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check"]);
    draft.option("--color", "never");
    draft.option("--cd", path_text(&ask.cwd));
    // Codex knows no rules for single tools: what may change files, or run commands that do, may change the working directory.
    // Its own sandbox mounts, which nothing within Helix's walls may; those keep it to the same directories.
    let sandbox = match (ask.walled, ask.tools.may_write()) {
        (true, _) => "danger-full-access",
        (false, true) => "workspace-write",
        (false, false) => "read-only",
    };
    draft.option("--sandbox", sandbox);
    for directory in ask.tools.write_below.iter().filter(|directory| **directory != ask.cwd) {
        draft.option("--add-dir", path_text(directory));
    }
    if let Some(model) = draft.model() {
        draft.option("--model", model);
    }
    if let Some(wanted) = &ask.schema {
        let strict = schema::strict(wanted.clone()).to_string();
        let file = draft.file("schema.json", strict.as_bytes())?;
        draft.option("--output-schema", file);
    }
    // For people; what counts is the record on stdout.
    let last_message = draft.path("tmp/last-message.txt")?;
    draft.option("--output-last-message", last_message);
    settings(draft)?;
    images(draft)?;
    for feature in DISABLED_FEATURES {
        draft.option("--disable", feature);
    }
    match &ask.session {
        // Codex names new sessions itself; the reader tells which. A cut was refused before.
        SessionRef::New(_) | SessionRef::Cut { .. } => {}
        SessionRef::Resume(id) => draft.option("resume", id.as_str()),
        SessionRef::Fork { from, .. } => draft.option("fork", from.as_str()),
    }
    draft.words(["-"]);
    // Not as a setting, which would be an argument that every process of the machine can read; a session that goes on has it already.
    if let (Some(system), SessionRef::New(_)) = (&ask.system, &ask.session) {
        draft.stdin(format!("{system}\n\n{}", ask.prompt).into_bytes());
    }
    Ok(())
}

fn settings(draft: &mut Draft<'_>) -> Result<(), InvocationError> {
    let ask = draft.ask;
    setting(draft, "approval_policy", &quoted("never"));
    let web = ask.tools.web && !ask.tools.rules.deny.contains(&ToolRule::Web(None));
    setting(draft, "web_search", &quoted(if web { "live" } else { "disabled" }));
    // Rules and skills of the project come with the prompt, from the commit that the work starts from: not from files that an agent has
    // written.
    setting(draft, "project_doc_max_bytes", "0");
    setting(draft, "skills.include_instructions", "false");
    setting(draft, "check_for_update_on_startup", "false");
    setting(draft, "analytics.enabled", "false");
    let chosen = |word: &String| word.contains("base_url") || word.contains("model_provider");
    if super::KEYS.iter().any(|key| draft.is_given(key)) && !draft.profile.command.iter().any(chosen) {
        // The provider's own, said so that the gateway can take its place: no variable is read for it.
        setting(draft, "openai_base_url", &quoted("https://api.openai.com/v1"));
    }
    let mut hidden = Vec::new();
    for (place, server) in ask.mcp.iter().enumerate() {
        if ask.tools.rules.deny.contains(&ToolRule::Mcp { server: server.name.clone(), tool: None }) {
            continue;
        }
        let table = server_table(draft, place, server, &mut hidden)?;
        setting(draft, &format!("mcp_servers.{}", server.name), &table);
    }
    if !hidden.is_empty() {
        // The agent's commands have no business with the tokens of its tools.
        hidden.sort();
        hidden.dedup();
        setting(draft, "shell_environment_policy.exclude", &list(&hidden));
    }
    Ok(())
}

fn setting(draft: &mut Draft<'_>, name: &str, value: &str) {
    draft.option("--config", format!("{name}={value}"));
}

/// The images that go with the prompt. `--image` takes as many values as follow, so that options must come after it.
fn images(draft: &mut Draft<'_>) -> Result<(), InvocationError> {
    for (number, image) in draft.ask.images.iter().enumerate() {
        let unreadable = InvocationError::Image { number: number + 1 };
        let bytes = STANDARD.decode(image.base64.trim()).map_err(|_| unreadable)?;
        let ending = image.media_type.rsplit('/').next().unwrap_or_default();
        let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).collect();
        let file = draft.file(&format!("image-{}.{ending}", number + 1), &bytes)?;
        draft.option("--image", file);
    }
    Ok(())
}

/// The settings of a tool server as an inline table, its headers' values in variables. What cannot be reached must not be
/// left out in silence, hence `required`.
fn server_table(
    draft: &mut Draft<'_>,
    place: usize,
    server: &McpServer,
    hidden: &mut Vec<String>,
) -> Result<String, InvocationError> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if server.name.is_empty() || !server.name.chars().all(plain) {
        let what = "use a tool server whose name has other characters than letters, digits, `-` and `_`";
        return Err(draft.unsupported(what));
    }
    let at = match &server.at {
        McpPlace::Http { url, headers } => {
            let mut named = Vec::new();
            for (number, (header, value)) in headers.iter().enumerate() {
                let variable = format!("{HEADER_VARIABLE}{place}_{number}");
                named.push(format!("{}={}", quoted(header), quoted(&variable)));
                draft.variable(&variable, value);
            }
            hidden.push(format!("{HEADER_VARIABLE}*"));
            format!("url={},env_http_headers={{{}}}", quoted(url), named.join(","))
        }
        McpPlace::Program { command, args, env } => {
            let names: Vec<String> = env.keys().cloned().collect();
            env.iter().for_each(|(name, value)| draft.variable(name, value));
            let words = format!("command={},args={},env_vars={}", quoted(command), list(args), list(&names));
            hidden.extend(names);
            words
        }
    };
    let denied_tool = |rule: &ToolRule| match rule {
        ToolRule::Mcp { server: name, tool } if *name == server.name => tool.clone(),
        _ => None,
    };
    let denied: Vec<String> = draft.ask.tools.rules.deny.iter().filter_map(denied_tool).collect();
    let denied = if denied.is_empty() { String::new() } else { format!(",disabled_tools={}", list(&denied)) };
    Ok(format!("{{{at},default_tools_approval_mode=\"approve\",required=true{denied}}}"))
}

/// Texts as a TOML array.
fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(","))
}

/// A text as a TOML string. JSON's escapes are TOML's but for DEL, which JSON leaves as it is.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
