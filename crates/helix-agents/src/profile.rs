//! What a user configures of an agent, and what Helix asks of one run of it.
//!
//! Must not know how any dialect turns these into arguments, nor what jobs or phases are.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use helix_core::ids::AgentSessionId;
use helix_core::rule_file::{RuleFile, SkillPage};
use helix_process::Walls;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::tool_rule::ToolRules;

helix_core::words! {
    /// The languages that Helix speaks with agents.
    pub enum DialectName {
        /// Claude Code, headless, JSON lines in both directions.
        Claude = "claude",
        /// Codex, headless, JSON lines on stdout.
        Codex = "codex",
        /// Any agent of the Agent Client Protocol.
        Acp = "acp",
        /// Any program: a prompt on stdin, a record in the last line of stdout.
        Command = "command",
        /// The embedded agent that plays a cassette.
        Replay = "replay",
    }
}

/// An agent as configured: which program, in which environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentProfile {
    /// Name in `helix.toml` and plans.
    pub name: String,
    /// The language it speaks.
    pub dialect: DialectName,
    /// Program and leading arguments. A bare program name is looked up in the agent's own `PATH`.
    pub command: Vec<String>,
    /// Environment variables with their values. They win over everything that Helix sets by itself.
    pub env: BTreeMap<String, String>,
    /// Names of variables that are taken from Helix's own environment where they are set, such as `ANTHROPIC_API_KEY`.
    pub pass_env: Vec<String>,
    /// Model where neither plan nor phase names one.
    pub default_model: Option<String>,
    /// Models that it may be asked for; any where none is named.
    pub models: Vec<String>,
    /// Model to switch to when the first one is overloaded.
    pub fallback_model: Option<String>,
    /// `HOME` of the agent; Helix's own where absent.
    pub home: Option<PathBuf>,
    /// Where the agent keeps its own configuration and sessions; its default where absent.
    pub config_dir: Option<PathBuf>,
    /// What the exit status of a `command` agent says by itself; other dialects have records of their own.
    pub exit_status: ExitStatus,
    /// What the user says of its tools.
    #[serde(default)]
    pub tools: ToolRules,
    /// What of the user's own settings of this agent its runs get as well.
    #[serde(default)]
    pub inherited: Inherited,
}

/// What of the user's own settings of an agent its runs get as well.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Inherited {
    /// Files with rules, as they were when the configuration was read.
    pub rules: Vec<RuleFile>,
    /// Skills, which are read where they lie.
    pub skills: Vec<SkillPage>,
    /// Tool servers.
    pub servers: Vec<McpServer>,
    /// Hooks in the agent's own words, by event.
    pub hooks: Map<String, Value>,
}

/// What an exit status says of a run that left no record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    #[default]
    NoEvidence,
    /// That the work is done, if it is 0: the user vouches for it (`trust_exit = true`).
    Trusted,
}

impl AgentProfile {
    /// A profile with a command and nothing else configured.
    pub fn new(name: impl Into<String>, dialect: DialectName, command: Vec<String>) -> Self {
        Self {
            name: name.into(),
            dialect,
            command,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            default_model: None,
            models: Vec::new(),
            fallback_model: None,
            home: None,
            config_dir: None,
            exit_status: ExitStatus::default(),
            tools: ToolRules::default(),
            inherited: Inherited::default(),
        }
    }

    /// The program and its leading arguments; `None` where the command names no program.
    pub fn program(&self) -> Option<(&str, &[String])> {
        let (program, leading) = self.command.split_first()?;
        (!program.is_empty()).then_some((program.as_str(), leading))
    }
}

/// Which agent session a run continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionRef {
    /// A new session with this id (for Claude a UUID).
    New(AgentSessionId),
    Resume(AgentSessionId),
    /// A copy of an existing session under an id of its own; the original stays as it is.
    Fork {
        /// The session to copy.
        from: AgentSessionId,
        /// The id of the copy.
        new: AgentSessionId,
    },
    /// A copy of an existing session up to a point of it: what came after that point is not in the copy.
    Cut {
        /// The session to copy.
        from: AgentSessionId,
        /// The id of the copy.
        new: AgentSessionId,
        /// The last record that the copy has, as [`crate::dialect::Reader::point`] named it.
        at: String,
    },
}

/// What the agent may do without asking. Everything else is denied: nobody is there to be asked. Each dialect says it in its own
/// words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolAccess {
    /// Read and search files.
    pub read: bool,
    /// Keep a list of what it has to do.
    pub task_list: bool,
    /// Hand a part of the work to agents of its own.
    pub sub_agents: bool,
    /// Change files below these directories, absolute and free of links: agents compare with the resolved path.
    pub write_below: Vec<PathBuf>,
    /// Run any command, with the user's own rights where the agent has no sandbox.
    pub shell: bool,
    /// Search and read the web.
    pub web: bool,
    /// Tools of tool servers; one that is not listed may not be called at all.
    pub mcp: Vec<McpAccess>,
    /// What the user and the project say besides.
    pub rules: ToolRules,
}

/// Which tools of a tool server an agent may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpAccess {
    /// As [`McpServer::name`].
    pub server: String,
    /// All of them where absent.
    pub tools: Option<Vec<String>>,
}

impl ToolAccess {
    /// Reading and nothing else.
    pub fn read_only() -> Self {
        Self { read: true, ..Self::default() }
    }

    /// Whether files may change.
    pub fn may_write(&self) -> bool {
        !self.write_below.is_empty() || self.shell
    }
}

/// A tool server that the agent may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServer {
    /// Name, part of the tools' names.
    pub name: String,
    #[serde(flatten)]
    pub at: McpPlace,
}

/// How a tool server is reached.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum McpPlace {
    Http {
        url: String,
        /// HTTP headers; may hold a token, hence never an argument and never in a log.
        headers: BTreeMap<String, String>,
    },
    /// A program that the agent starts and speaks with over its standard input and output.
    Program {
        command: String,
        args: Vec<String>,
        /// Its variables; may hold a token.
        env: BTreeMap<String, String>,
    },
}

impl McpPlace {
    /// Its address, where it has one.
    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Http { url, .. } => Some(url),
            Self::Program { .. } => None,
        }
    }

    /// The same with a program and arguments that were named relative to a directory: the agent's own may have been written by an agent.
    #[must_use]
    pub fn beside(self, directory: &Path) -> Self {
        let absolute = |word: String| match word.contains('/') && directory.join(&word).exists() {
            true => directory.join(&word).to_string_lossy().into_owned(),
            false => word,
        };
        match self {
            Self::Program { command, args, env } => {
                Self::Program { command: absolute(command), args: args.into_iter().map(absolute).collect(), env }
            }
            http @ Self::Http { .. } => http,
        }
    }

    /// Files that its program is, or is named.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let words = match self {
            Self::Program { command, args, .. } => std::iter::once(command).chain(args).cloned().collect(),
            Self::Http { .. } => Vec::new(),
        };
        words.into_iter().map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

impl fmt::Debug for McpPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { url, headers } => {
                f.debug_struct("Http").field("url", url).field("headers", &headers.keys()).finish()
            }
            Self::Program { command, args, env } => f
                .debug_struct("Program")
                .field("command", command)
                .field("args", args)
                .field("env", &env.keys())
                .finish(),
        }
    }
}

/// A program that the agent runs each time it has changed a file, with what it did as JSON on stdin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterWriteHook {
    /// Program and arguments; quoted for the shell by the dialect.
    pub command: Vec<String>,
    /// Longest time it may take.
    pub timeout: Duration,
}

/// An agent that the main agent may ask in the same run, for a second opinion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgent {
    /// Its name: lower-case letters, digits and `-`.
    pub name: String,
    /// What it knows and when to ask it.
    pub description: String,
    pub prompt: String,
    /// Its model; the main agent's where absent.
    pub model: Option<String>,
    /// Tools that it may use, in the dialect's words.
    pub tools: Vec<String>,
}

/// An image that goes with the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptImage {
    /// Such as `image/png`.
    pub media_type: String,
    /// The bytes in base 64.
    pub base64: String,
}

/// What Helix asks of one run of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentAsk {
    /// The user message. Goes through stdin, never through an argument.
    pub prompt: String,
    /// Images that belong to the prompt.
    pub images: Vec<PromptImage>,
    /// What is added to the agent's system prompt.
    pub system: Option<String>,
    /// Which session it continues.
    pub session: SessionRef,
    /// Model; the profile's default where absent.
    pub model: Option<String>,
    /// Most turns it may take.
    pub max_turns: Option<u32>,
    /// Most it may cost, in US dollars.
    pub budget_usd: Option<f64>,
    /// JSON Schema of the structured output that is wanted.
    pub schema: Option<Value>,
    /// What it may do without asking.
    pub tools: ToolAccess,
    /// Tool servers.
    pub mcp: Vec<McpServer>,
    /// Dialects without hooks leave it out.
    pub after_write: Option<AfterWriteHook>,
    /// Puts a call to a person: what `tools.rules.ask` names is denied where it is absent. The dialect adds the path of a file with the
    /// tool servers.
    pub ask_person: Option<Vec<String>>,
    /// Hooks of the user's own, in the dialect's words, by event.
    pub hooks: Option<Map<String, Value>>,
    /// Agents that it may ask. Dialects without such leave them out: they are help, never a condition.
    pub agents: Vec<SubAgent>,
    pub cwd: PathBuf,
    /// Directory for the dialect's files of this run, which go below `agent-<dialect>/` in it. Must not be the
    /// supervisor's directory of the run (`runs/<run>`) nor lie beside it: that one is published as a whole when the run starts,
    /// and must not exist before.
    pub run_dir: PathBuf,
    /// What the run is for, such as the phase's id or `consultant`; the replay agent picks its take by it.
    pub label: Option<String>,
    /// Which try it is, from 1; the replay agent counts by itself where absent.
    pub take: Option<u32>,
    /// What its processes may reach besides: what it may write below (`tools`), its directories and its own configuration need not
    /// be named.
    pub walls: Walls,
    /// Whether such walls hold around it: an agent with a sandbox of its own, which cannot be put up within them, does without.
    pub walled: bool,
}

impl AgentAsk {
    /// A question with nothing but a prompt, a session and two directories.
    pub fn new(
        prompt: impl Into<String>,
        session: SessionRef,
        cwd: impl Into<PathBuf>,
        run_dir: impl Into<PathBuf>,
    ) -> Self {
        Self {
            prompt: prompt.into(),
            images: Vec::new(),
            system: None,
            session,
            model: None,
            max_turns: None,
            budget_usd: None,
            schema: None,
            tools: ToolAccess::default(),
            mcp: Vec::new(),
            after_write: None,
            ask_person: None,
            hooks: None,
            agents: Vec::new(),
            cwd: cwd.into(),
            run_dir: run_dir.into(),
            label: None,
            take: None,
            walls: Walls::default(),
            walled: false,
        }
    }

    /// Whether structured output is wanted.
    pub fn asked_schema(&self) -> AskedSchema {
        if self.schema.is_some() { AskedSchema::Yes } else { AskedSchema::No }
    }
}

/// Whether structured output was asked for; decides what a complete answer is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AskedSchema {
    Yes,
    #[default]
    No,
}
