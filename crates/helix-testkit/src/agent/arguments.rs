//! Reads the command line of the real CLI as far as the fake acts on it.
//!
//! Must not know what the flags lead to; unknown flags are ignored.

use std::path::PathBuf;

/// Where the prompt comes from and in what form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputFormat {
    /// The prompt argument, else all of stdin.
    Text,
    /// JSON lines on stdin.
    StreamJson,
}

/// What stdout looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    Text,
    Json,
    /// All records, as lines.
    StreamJson,
}

/// The flags that matter.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// `--fake-script`, else `HELIX_FAKE_SCRIPT`.
    pub script: Option<PathBuf>,
    /// `--version` was given.
    pub version: bool,
    pub prompt: Option<String>,
    /// `--input-format`.
    pub input: InputFormat,
    /// `--output-format`.
    pub output: OutputFormat,
    /// `--include-partial-messages`.
    pub partial_messages: bool,
    /// `--session-id`.
    pub session_id: Option<String>,
    /// `--resume`.
    pub resume: Option<String>,
    /// `--fork-session`.
    pub fork: bool,
    /// `--model`.
    pub model: Option<String>,
    /// `--max-turns`.
    pub max_turns: Option<u32>,
    /// `--json-schema`.
    pub schema: Option<serde_json::Value>,
    /// The first file of `--mcp-config`.
    pub mcp_config: Option<PathBuf>,
    /// `--permission-mode`.
    pub permission_mode: String,
}

/// Flags with exactly one value.
const ONE_VALUE: &[&str] = &[
    "--agent",
    "--agents",
    "--append-system-prompt",
    "--append-system-prompt-file",
    "--debug-file",
    "--effort",
    "--fallback-model",
    "--max-budget-usd",
    "--max-thinking-tokens",
    "--name",
    "-n",
    "--permission-prompt-tool",
    "--setting-sources",
    "--settings",
    "--system-prompt",
    "--system-prompt-file",
];
/// Flags that take values up to the next flag.
const MANY_VALUES: &[&str] = &[
    "--add-dir",
    "--allowedTools",
    "--allowed-tools",
    "--betas",
    "--disallowedTools",
    "--disallowed-tools",
    "--file",
    "--plugin-dir",
    "--tools",
];

impl Arguments {
    /// Reads the arguments, and `HELIX_FAKE_SCRIPT` from the environment.
    ///
    /// # Errors
    /// What the real CLI would refuse.
    pub fn parse(given: Vec<String>) -> Result<Self, String> {
        let mut parsed = Self {
            script: std::env::var_os("HELIX_FAKE_SCRIPT").map(PathBuf::from),
            version: false,
            prompt: None,
            input: InputFormat::Text,
            output: OutputFormat::Text,
            partial_messages: false,
            session_id: None,
            resume: None,
            fork: false,
            model: None,
            max_turns: None,
            schema: None,
            mcp_config: None,
            permission_mode: "default".to_owned(),
        };
        let mut verbose = false;
        let mut rest = given.into_iter().peekable();
        while let Some(argument) = rest.next() {
            let (flag, mut inline) = match argument.split_once('=') {
                Some((flag, value)) if argument.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
                _ => (argument.clone(), None),
            };
            let mut value = || {
                inline
                    .take()
                    .or_else(|| rest.next())
                    .ok_or_else(|| format!("error: option '{flag} <value>' argument missing"))
            };
            match flag.as_str() {
                "--fake-script" => parsed.script = Some(PathBuf::from(value()?)),
                "--version" | "-v" => parsed.version = true,
                "--verbose" => verbose = true,
                "--include-partial-messages" => parsed.partial_messages = true,
                "--fork-session" => parsed.fork = true,
                "--session-id" => parsed.session_id = Some(uuid(value()?)?),
                "--resume" | "-r" => parsed.resume = Some(value()?),
                "--model" => parsed.model = Some(value()?),
                "--permission-mode" => parsed.permission_mode = value()?,
                "--max-turns" => {
                    let text = value()?;
                    parsed.max_turns =
                        Some(text.parse().map_err(|error| format!("error: --max-turns {text}: {error}"))?);
                }
                "--json-schema" => {
                    let text = value()?;
                    parsed.schema =
                        Some(serde_json::from_str(&text).map_err(|error| format!("Error: --json-schema: {error}"))?);
                }
                "--input-format" => {
                    parsed.input = match value()?.as_str() {
                        "stream-json" => InputFormat::StreamJson,
                        _ => InputFormat::Text,
                    };
                }
                "--output-format" => {
                    parsed.output = match value()?.as_str() {
                        "stream-json" => OutputFormat::StreamJson,
                        "json" => OutputFormat::Json,
                        _ => OutputFormat::Text,
                    };
                }
                "--" => parsed.prompt = rest.next(),
                other if ONE_VALUE.contains(&other) => drop(value()?),
                "--mcp-config" => {
                    parsed.mcp_config = Some(PathBuf::from(value()?));
                    while rest.next_if(|next| !next.starts_with('-')).is_some() {}
                }
                other if MANY_VALUES.contains(&other) => while rest.next_if(|next| !next.starts_with('-')).is_some() {},
                other if other.starts_with('-') && other.len() > 1 => {}
                _ => parsed.prompt = Some(argument),
            }
        }
        if parsed.output == OutputFormat::StreamJson && !verbose && !parsed.version {
            return Err("Error: When using --print, --output-format=stream-json requires --verbose".into());
        }
        Ok(parsed)
    }
}

fn uuid(text: String) -> Result<String, String> {
    match uuid::Uuid::parse_str(&text) {
        Ok(_) => Ok(text),
        Err(_) => Err("Error: Invalid session ID. Must be a valid UUID.".into()),
    }
}
