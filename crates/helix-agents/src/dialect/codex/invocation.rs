//! The command line, environment, files and stdin of one headless run.
//!
//! Must not put a secret or a prompt into an argument: those are readable by every process of the machine. Source of every flag
//! and setting: the help and the measured runs of 0.169.0 (`docs/outcomes.md`).

use std::collections::BTreeSet;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::agent_files::AgentFiles;
use super::super::arguments::{check_arguments, check_environment};
use super::super::surroundings::path_text;
use super::super::{InvocationError, Surroundings};
use super::schema;
use crate::invocation::Invocation;
use crate::profile::{AgentAsk, AgentProfile, DialectName, McpServer, SessionRef, ToolRules};

/// Tools in Claude's words, which plans and the engine use, whose permission means that files may change.
const WRITING_TOOLS: [&str; 5] = ["Bash", "Edit", "MultiEdit", "NotebookEdit", "Write"];

/// Plugins and apps of the account would be found over the network at each start. Retrying for ever while there is no network
/// would hide that from Helix, which waits by itself (measured: 120 s of retries, no end).
const DISABLED_FEATURES: [&str; 3] = ["plugins", "apps", "unbounded_connection_retries"];

/// Start of the names of the variables that hold the headers of tool servers.
const HEADER_VARIABLE: &str = "HELIX_MCP_HEADER_";

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
    refuse_what_it_cannot(ask)?;
    let files = AgentFiles::create(&ask.run_dir, DialectName::Codex)?;
    let servers = servers(&ask.mcp)?;
    let mut args = leading.to_vec();
    args.extend(arguments(profile, ask, &files, &servers)?);
    check_arguments(&args)?;
    let env = environment(profile, own, &servers);
    check_environment(&env)?;
    let stdin = ask.prompt.clone().into_bytes();
    Ok(Invocation { program: PathBuf::from(program), args, env, cwd: ask.cwd.clone(), stdin })
}

/// Limits that it does not know must not be left out in silence: somebody relies on them.
fn refuse_what_it_cannot(ask: &AgentAsk) -> Result<(), InvocationError> {
    let unsupported = |what| Err(InvocationError::Unsupported { dialect: DialectName::Codex, what });
    match &ask.session {
        SessionRef::New(_) | SessionRef::Resume(_) | SessionRef::Fork { .. } => {}
        SessionRef::Cut { .. } => return unsupported("cut a session at a point of it"),
    }
    if ask.max_turns.is_some() {
        return unsupported("limit turns: leave out `max_turns`, or give the phase to another agent");
    }
    if ask.budget_usd.is_some() {
        return unsupported(
            "keep to a budget in US dollars, since it names no prices: leave out `budget_usd`, or use another agent",
        );
    }
    if ask.prompt.trim().is_empty() {
        return unsupported("be asked nothing: the prompt is empty");
    }
    Ok(())
}

fn arguments(
    profile: &AgentProfile,
    ask: &AgentAsk,
    files: &AgentFiles,
    servers: &[Server],
) -> Result<Vec<String>, InvocationError> {
    // Neither the user's nor the project's own settings: what a run may do must not depend on where it runs.
    let mut args: Vec<String> =
        ["exec", "--json", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check", "--color", "never"]
            .map(str::to_owned)
            .to_vec();
    let mut option = |name: &str, value: String| args.extend([name.to_owned(), value]);
    option("--cd", path_text(&ask.cwd));
    let access = Access::of(&ask.tools);
    option("--sandbox", access.sandbox().to_owned());
    if let Access::Write { beyond } = &access {
        for directory in beyond.iter().filter(|directory| !path_text(&ask.cwd).eq(*directory)) {
            option("--add-dir", directory.clone());
        }
    }
    if let Some(model) = ask.model.as_ref().or(profile.default_model.as_ref()) {
        option("--model", model.clone());
    }
    if let Some(wanted) = &ask.schema {
        let strict = schema::strict(wanted.clone()).to_string();
        option("--output-schema", files.write("schema.json", strict.as_bytes())?);
    }
    // For people; what counts is the record on stdout.
    option("--output-last-message", files.path("last-message.txt"));
    let mut setting = |name: &str, value: String| option("--config", format!("{name}={value}"));
    setting("approval_policy", quoted("never"));
    let web = ask.tools.allow.iter().any(|rule| tool_of(rule) == "WebSearch");
    setting("web_search", quoted(if web { "live" } else { "disabled" }));
    setting("check_for_update_on_startup", "false".to_owned());
    setting("analytics.enabled", "false".to_owned());
    if let Some(system) = &ask.system {
        setting("developer_instructions", quoted(system));
    }
    for server in servers {
        setting(&format!("mcp_servers.{}", server.name), server.table());
    }
    if !servers.is_empty() {
        // The agent's commands have no business with the tokens of its tools.
        setting("shell_environment_policy.exclude", format!("[{}]", quoted(&format!("{HEADER_VARIABLE}*"))));
    }
    // `--image` takes as many values as follow, so that options must come after it.
    for (number, image) in ask.images.iter().enumerate() {
        let unreadable = InvocationError::Image { number: number + 1 };
        let bytes = STANDARD.decode(image.base64.trim()).map_err(|_| unreadable)?;
        let ending: String = image
            .media_type
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        option("--image", files.write(&format!("image-{}.{ending}", number + 1), &bytes)?);
    }
    for feature in DISABLED_FEATURES {
        option("--disable", feature.to_owned());
    }
    match &ask.session {
        // Codex names new sessions itself; the reader tells which.
        SessionRef::New(_) | SessionRef::Cut { .. } => {}
        SessionRef::Resume(id) => args.extend(["resume".to_owned(), id.to_string()]),
        SessionRef::Fork { from, .. } => args.extend(["fork".to_owned(), from.to_string()]),
    }
    args.push("-".to_owned());
    Ok(args)
}

/// What the sandbox lets commands and patches do.
enum Access {
    /// Nothing may change.
    Read,
    /// The working directory may change, and these directories.
    Write {
        /// Absolute, without a trailing slash.
        beyond: BTreeSet<String>,
    },
}

impl Access {
    /// Codex knows no rules for single tools: whoever may use one that changes files may change the working directory.
    fn of(rules: &ToolRules) -> Self {
        let writing: Vec<&String> = rules.allow.iter().filter(|rule| WRITING_TOOLS.contains(&tool_of(rule))).collect();
        if writing.is_empty() {
            return Self::Read;
        }
        let below = |rule: &&String| {
            let (_, place) = rule.split_once("(//")?;
            Some(format!("/{}", place.strip_suffix("/**)")?))
        };
        Self::Write { beyond: writing.iter().filter_map(below).collect() }
    }

    fn sandbox(&self) -> &'static str {
        match self {
            Self::Read => "read-only",
            Self::Write { .. } => "workspace-write",
        }
    }
}

/// The tool that a permission rule is about: `Bash` of `Bash(cargo test:*)`.
fn tool_of(rule: &str) -> &str {
    rule.split_once('(').map_or(rule, |(tool, _)| tool)
}

/// A tool server, with its headers apart.
struct Server {
    name: String,
    url: String,
    /// Header, variable, value.
    headers: Vec<(String, String, String)>,
}

impl Server {
    /// Its settings as an inline table. What cannot be reached must not be left out in silence, hence `required`.
    fn table(&self) -> String {
        let headers: Vec<String> = self
            .headers
            .iter()
            .map(|(header, variable, _)| format!("{}={}", quoted(header), quoted(variable)))
            .collect();
        format!(
            "{{url={},env_http_headers={{{}}},default_tools_approval_mode=\"approve\",required=true}}",
            quoted(&self.url),
            headers.join(",")
        )
    }
}

fn servers(servers: &[McpServer]) -> Result<Vec<Server>, InvocationError> {
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for (place, server) in servers.iter().enumerate() {
        if !names.insert(&server.name) {
            return Err(InvocationError::DuplicateServer { name: server.name.clone() });
        }
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if server.name.is_empty() || !server.name.chars().all(plain) {
            return Err(InvocationError::Unsupported {
                dialect: DialectName::Codex,
                what: "use a tool server whose name has other characters than letters, digits, `-` and `_`",
            });
        }
        let headers = server.headers.iter().enumerate().map(|(number, (header, value))| {
            (header.clone(), format!("{HEADER_VARIABLE}{place}_{number}"), value.clone())
        });
        found.push(Server { name: server.name.clone(), url: server.url.clone(), headers: headers.collect() });
    }
    Ok(found)
}

fn environment(profile: &AgentProfile, own: &Surroundings, servers: &[Server]) -> Vec<(String, String)> {
    let home = profile.config_dir.as_deref().map(path_text).or_else(|| {
        // Where Helix runs with another home than the agent, its own setting would point at the wrong user's sessions.
        profile.home.is_none().then(|| own.get("CODEX_HOME").map(str::to_owned)).flatten()
    });
    let mut env = own.for_agent(profile, home.map(|home| ("CODEX_HOME", home)));
    // The CLI writes when a limit resets as a local time, and the reader takes it for universal time.
    if !profile.env.contains_key("TZ") {
        env.retain(|(name, _)| name != "TZ");
        env.push(("TZ".to_owned(), "UTC".to_owned()));
    }
    env.extend(servers.iter().flat_map(|server| &server.headers).map(|(_, name, value)| (name.clone(), value.clone())));
    env
}

/// A text as a TOML string. JSON's escapes are TOML's but for DEL, which JSON leaves as it is.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
