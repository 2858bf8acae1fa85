//! Every key of `helix.toml`: its type, its meaning and an example. Reading, the documentation and what `helix init` writes
//! follow from this list.
//!
//! Must not know built-in values, other files or flags; `settings` puts them together.

use std::path::{Component, Path};
use std::time::Duration;

use helix_agents::ToolRule;
use helix_core::document::{
    Count, FieldReader, Key, LargeCount, Money, Node, Placed, Share, TableOf, Text, Time, TimeOrZero,
};
use helix_core::evidence::Land;
use helix_core::run::{NetworkAccess, SandboxMode};
use helix_core::{kinds, mapping};
use helix_engine::consultant::Validator;
use helix_engine::failures::MemoryUse;
use helix_engine::{DialectName, ExitMeaning, agent_kind};
use helix_job::AskPerson;
use helix_plan::split_words;
use helix_server::{BackgroundTasks, Disconnect, Profile};
use reqwest::Url;

use crate::error::codes;

/// What `mcp:` stands before: the name of a tool server.
pub(super) const SERVER: &str = "mcp:";

mapping! {
    /// A file.
    pub(super) struct File {
        /// Defaults for all phases.
        defaults: Defaults;
        /// Agents by name.
        agents: TableOf<CheckedAgent>;
        /// The Consultant.
        consultant: Consultant;
        /// The HTTP server.
        server: Server;
        /// Limits of jobs and of the machine.
        jobs: Jobs;
        /// reviews results: `verify` and the gate review_approved
        verifier: Verifier;
        /// proposes what to do about a phase that has used up its attempts
        adviser: Adviser;
        /// When a person is asked.
        escalation: Escalation;
        /// Questions to people.
        questions: Questions;
        /// Failure memory.
        failures: Failures;
        /// What agents and commands may reach.
        sandbox: Sandbox;
        /// What work places have besides the files of a commit.
        workspace: Workspace;
        /// New projects.
        projects: Projects;
        /// Decision records.
        decisions: Decisions;
    }
}

mapping! {
    /// `[defaults]`.
    pub(super) struct Defaults {
        /// agent of phases that name none
        agent: Text, example = "\"claude\"";
    }
}

mapping! {
    /// `[agents.NAME]`.
    pub(super) struct Agent {
        /// how Helix talks to it: claude, codex, acp, command, replay (docs/agents.md)
        dialect: DialectName, example = "\"claude\"";
        /// program and leading arguments
        command: CommandWords, example = "[\"claude\"]";
        /// default model of phases
        model: Text, example = "\"sonnet\"";
        /// models that plans and chats may choose (HX0416); default: any
        models: Vec<String>, example = "[\"sonnet\", \"haiku\", \"opus\"]";
        /// used when the first one is overloaded
        fallback_model: Text, example = "\"haiku\"";
        /// sets variables
        env: TableOf<String>, example = "{ CLAUDE_CODE_MAX_OUTPUT_TOKENS = \"32000\" }";
        /// variables passed on, instead of the default list
        pass_env: Vec<String>, example = "[\"ANTHROPIC_API_KEY\", \"LC_*\"]";
        /// the agent's HOME; default: yours
        home: Text, example = "\"~/agents/claude\"";
        /// where the agent keeps its own settings and sessions
        config_dir: Text, example = "\"~/.claude\"";
        /// what its runs get of your own settings of it: rules, skills, hooks, mcp:SERVER (docs/agents.md)
        inherit: Vec<Inherit>, example = "[\"rules\", \"skills\"]";
        /// rules for its tools besides those of its work (docs/agents.md)
        tools: Tools, example = "{ allow = [\"web\"], deny = [\"read:.env\"], ask = [\"shell:git push *\"] }";
        /// true: exit status 0 stands for the record; for `command` agents
        trust_exit: bool;
    }
}

mapping! {
    /// `[agents.NAME.tools]`.
    pub(super) struct Tools {
        /// what it may use besides
        allow: Vec<Rule>;
        /// what it may not use
        deny: Vec<Rule>;
        /// what it may use once a person has said yes to that very call
        ask: Vec<Rule>;
    }
}

mapping! {
    /// `[consultant]`.
    pub(super) struct Consultant {
        /// agent that answers in chats; default: [defaults] agent
        agent: Text, example = "\"claude\"";
        /// default: the agent's
        model: Text, example = "\"opus\"";
        /// template of its instructions; default: built in (docs/consultant.md)
        prompt: Text, example = "\"prompts/consultant.md.j2\"";
        /// checks of its answers; []: none
        enforcement: Vec<Validator>, example = "[\"step_marker\", \"adr_structure\", \"file_existence\", \"plan_valid\"]";
        /// corrections in one turn
        enforcement_retries: u32, example = "2";
        /// checks of your own, by name: commands that read an answer and print what is wrong (docs/consultant.md)
        validators: TableOf<NamedValidator>, example = "{ links = { command = [\"./check-links\"], timeout = \"10s\" } }";
        /// sub-agents for second opinions: Helix's, and yours from experts.toml
        experts: bool, example = "false";
        /// longest turn
        turn_timeout: Time, example = "\"30m\"";
        /// how long a chat shows the progress of its jobs after an answer (Open WebUI); "0s": not at all
        follow_jobs: TimeOrZero, example = "\"30s\"";
        /// deletes sessions without a message for so many days; default: keeps all
        keep_days: Count, example = "365";
        /// deletes the oldest sessions beyond so many; default: keeps all
        keep_count: Count, example = "1000";
    }
}

mapping! {
    /// A check of the user's own for the Consultant's answers.
    pub(super) struct NamedValidator {
        /// Program and arguments.
        command: CommandWords, required = "add the program, such as `command = [\"./check-links\"]`";
        /// Longest time that it may take.
        timeout: Time;
    }
}

mapping! {
    /// `[server]`.
    pub(super) struct Server {
        /// address of helix serve
        listen: Text, example = "\"127.0.0.1:8787\"";
        /// repositories must lie below one of these; default: anywhere
        roots: Vec<String>, example = "[\"~/work\", \"~/helix-projects\"]";
        /// the owner's token; default: `token` in the state directory
        token_file: Text, example = "\"~/.config/helix/token\"";
        /// host names that clients may use, in addition to localhost and addresses
        allowed_hosts: Vec<Host>, example = "[\"host.docker.internal\"]";
        /// web origins that may call it (CORS); default: none
        allowed_origins: Vec<Origin>, example = "[\"https://chat.example\"]";
        /// address of Helix in your browser, for links to files; default: the one that the chat client uses
        public_url: Origin, example = "\"https://helix.example\"";
        /// requests per minute, key and user to /v1; 0: no limit
        rate_limit: u32, example = "600";
        /// form of activity in chats: auto, openwebui, openwebui-basic, plain
        client: Client, example = "\"auto\"";
        /// when a client disconnects during a turn: stop the turn, or "detach" and let it run
        on_disconnect: OnDisconnect, example = "\"stop\"";
        /// time before that turn is stopped (Open WebUI: at most 0.3 s)
        disconnect_grace: Time, example = "\"10s\"";
        /// requests for titles and tags from chat clients: answer, or "off"
        background_tasks: Tasks, example = "\"answer\"";
        /// largest request; chat clients send all images with each message
        body_limit_mb: Count, example = "32";
    }
}

mapping! {
    /// `[jobs]`.
    pub(super) struct Jobs {
        /// phases of one job at once
        max_parallel: Count, example = "2";
        /// agent processes of all jobs and chats; default: by cores and memory
        max_agents: Count, example = "4";
        /// gate commands of all jobs at once; default: number of cores
        max_gates: Count, example = "2";
        /// no agent starts with less memory available; 0: no minimum
        memory_floor_mb: u32, example = "256";
        /// for a whole job; default: no limit
        budget_usd: Money, example = "10.0";
        /// model turns of a whole job; default: no limit
        max_turns: Count, example = "400";
        /// tokens of a whole job, including cached ones; default: no limit
        max_tokens: LargeCount, example = "20_000_000";
        /// total time of a job's runs; default: no limit
        max_run_time: Time, example = "\"4h\"";
        /// virtual environment of Python for agents and gates, unless one is active; default: .venv of the repository
        venv: Text, example = "\"~/venvs/shop\"";
        /// repeats after a provider's failure, which are not attempts (docs/retries.md); 0: none
        retries: u32, example = "3";
        /// pause before the first repeat; doubles with each further one
        retry_delay: Time, example = "\"1s\"";
        /// longest such pause
        retry_delay_max: Time, example = "\"30s\"";
        /// longest wait for the reset of a provider's limit; "0s": fail at once; default: no limit
        max_wait: TimeOrZero, example = "\"6h\"";
        /// how results land: "merge", "squash" (one commit), or "branch" (you merge)
        land: Land, example = "\"merge\"";
        /// for one run of a reviewer or adviser; default: a share of the job's remaining budget
        side_budget_usd: Money, example = "0.5";
        /// longest time to exit after the last message
        linger: Time, example = "\"20s\"";
        /// longest silence outside a tool call
        stall: Time, example = "\"6m\"";
        /// failures of the same call in the same way, with nothing new in between, that end a run; 0: no limit
        stuck_after: u32, example = "8";
        /// wait between the steps of a stop
        stop_grace: Time, example = "\"5s\"";
    }
}

mapping! {
    /// `[verifier]`.
    pub(super) struct Verifier {
        /// default: the phase's own agent
        agent: Text, example = "\"claude\"";
        /// default (Claude): haiku, or sonnet if the phase runs on haiku
        model: Text, example = "\"haiku\"";
    }
}

mapping! {
    /// `[adviser]`.
    pub(super) struct Adviser {
        /// default: the Consultant's
        agent: Text, example = "\"claude\"";
        /// default: the Consultant's
        model: Text, example = "\"opus\"";
        /// proposals per phase; 0: none
        rounds: u32, example = "3";
    }
}

mapping! {
    /// `[escalation]`.
    pub(super) struct Escalation {
        /// then ask a person; "never": fail the phase
        person: AskPerson, example = "\"ask\"";
    }
}

mapping! {
    /// `[questions]`.
    pub(super) struct Questions {
        /// time to answer a question; "never": no limit
        timeout: TimeOrNever, example = "\"72h\"";
    }
}

mapping! {
    /// `[failures]`.
    pub(super) struct Failures {
        /// "off": classify and report failures, but do not remember them (docs/failures.md)
        memory: MemoryUse, example = "\"on\"";
        /// share of suggestions hidden from agents, to measure their effect
        holdout: Share, example = "0.1";
        /// longest wait for the memory, at most 5 s
        deadline: Deadline, example = "\"2s\"";
    }
}

mapping! {
    /// `[sandbox]`, in the user's own file alone.
    pub(super) struct Sandbox {
        /// required: no run starts without walls; preferred: as many as the system has; "off": none (docs/sandbox.md)
        mode: SandboxMode, example = "\"preferred\"";
        /// network of phases that do not say otherwise: open, or "closed" (an agent: its provider only)
        network: NetworkAccess, example = "\"open\"";
        /// what every run may change besides
        writable: Vec<String>, example = "[\"~/.cache/my-tool\"]";
        /// what every run may read besides
        readable: Vec<String>, example = "[\"~/.npmrc\", \"/srv/data\"]";
        /// most processes and threads of a run
        max_processes: LargeCount, example = "2048";
        /// most open files of a process
        max_open_files: LargeCount, example = "65_536";
        /// largest file
        max_file_mb: LargeCount, example = "16_384";
        /// memory of a run; one process may have half of it, or 4 GiB (half of the machine's)
        max_memory_mb: LargeCount, example = "12_288";
        /// whether agents get their provider's key themselves, not through Helix's gateway
        agent_keys: bool, example = "false";
    }
}

mapping! {
    /// `[workspace]`.
    pub(super) struct Workspace {
        /// commands that install what the repository needs, run once for agents and gates (docs/workspaces.md)
        setup: Vec<CommandLine>, example = "[\"npm ci\"]";
        /// ignored files of your work tree that are copied, as patterns of a .gitignore
        copy: Vec<String>, example = "[\".env\"]";
        /// paths of your work tree that are linked, to be read
        link: Vec<RelativePath>, example = "[\"data\"]";
        /// what the set-up fills and is kept; default: all that git ignores
        cache: Vec<RelativePath>, example = "[\"node_modules\"]";
        /// variables for the set-up, agents, gates and services
        env: TableOf<String>, example = "{ DATABASE_URL = \"postgres://localhost:${DB_PORT}/test\" }";
        /// programs that run beside each agent and each command of a gate, by name
        services: TableOf<Service>, example = "{ db = { command = \"./start-db ${DB_PORT}\", port = \"DB_PORT\" } }";
        /// longest set-up
        timeout: Time, example = "\"30m\"";
    }
}

mapping! {
    /// A program that runs beside others.
    pub(super) struct Service {
        /// Program and arguments, in one text.
        command: ServiceCommand, required = "add the program, such as `command = \"./start-db\"`";
        /// A command that succeeds once the service can be used; default: something listens on its port.
        ready: ServiceCommand;
        /// Variable that gets a free port.
        port: VariableName;
        /// Longest time until it is ready.
        timeout: Time;
    }
}

mapping! {
    /// `[projects]`.
    pub(super) struct Projects {
        /// where the Consultant creates projects
        directory: Text, example = "\"~/helix-projects\"";
    }
}

mapping! {
    /// `[decisions]`; read where the decisions are looked for, beside which it stands.
    pub(super) struct Decisions {
        /// where decision records are; default: found (docs/adr.md)
        directory: Text, example = "\"docs/decisions\"";
    }
}

/// Every section with its keys, in the order of the documentation; that of agents under the name of one.
const SECTIONS: [(&str, &[Key]); 14] = [
    ("defaults", Defaults::KEYS),
    ("agents.claude", Agent::KEYS),
    ("consultant", Consultant::KEYS),
    ("server", Server::KEYS),
    ("jobs", Jobs::KEYS),
    ("verifier", Verifier::KEYS),
    ("adviser", Adviser::KEYS),
    ("escalation", Escalation::KEYS),
    ("questions", Questions::KEYS),
    ("failures", Failures::KEYS),
    ("sandbox", Sandbox::KEYS),
    ("workspace", Workspace::KEYS),
    ("projects", Projects::KEYS),
    ("decisions", Decisions::KEYS),
];

/// Sections as a file shows them, every key with its meaning; `mark` stands before each line, such as `# `.
pub(crate) fn sample(mark: &str, wanted: impl Fn(&str) -> bool) -> String {
    let section = |(name, keys): (&str, &[Key])| {
        let keys = keys.iter().filter(|key| !key.example.is_empty());
        let lines =
            keys.map(|key| format!("{mark}{:<37} # {}\n", format!("{} = {}", key.name, key.example), key.doc()));
        format!("{mark}[{name}]\n{}", lines.collect::<String>())
    };
    SECTIONS.into_iter().filter(|(name, _)| wanted(name)).map(section).collect::<Vec<_>>().join("\n")
}

kinds! {
    /// A command in one text, as gates have it.
    pub(super) CommandLine -> String, |node, what, reader| {
        let text = Text::from_node(node, what, reader)?;
        command_line(node, reader, what, &text, &text)
    };
    /// The same with ports of services in it, such as `${DB_PORT}`.
    pub(super) ServiceCommand -> String, |node, what, reader| {
        let text = Text::from_node(node, what, reader)?;
        command_line(node, reader, what, &text, &without_ports(&text))
    };
    /// A path below the repository's root.
    pub(super) RelativePath -> String, |node, what, reader| {
        let path = Text::from_node(node, what, reader)?;
        let mut parts = Path::new(&path).components().peekable();
        let names = parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(name) if name != ".git"));
        let help = "write a path below the repository's root, such as \"node_modules\"";
        fitting(node, reader, names.then_some(path), &format!("{what} is not such a path"), help)
    };
    /// The name of a variable.
    pub(super) VariableName -> String, |node, what, reader| {
        let name = Text::from_node(node, what, reader)?;
        let help = "use capital letters, digits and _, such as \"DB_PORT\"";
        fitting(node, reader, is_variable(&name).then_some(name), &format!("{what} is not the name of a variable"), help)
    };
    /// What becomes of an answer whose client goes away.
    pub(super) OnDisconnect -> Option<Disconnect>, |node, what, reader| {
        word(node, what, reader, &[("stop", None), ("detach", Some(Disconnect::Detach))])
    };
    /// What clients' background tasks get.
    pub(super) Tasks -> BackgroundTasks, |node, what, reader| {
        word(node, what, reader, &[("answer", BackgroundTasks::Answer), ("off", BackgroundTasks::Refuse)])
    };
    /// Which client asks, as far as it is known.
    pub(super) Client -> Option<Profile>, |node, what, reader| {
        let [first, second, _, _, last] = Profile::ALL.map(|profile| (profile.word(), Some(profile)));
        word(node, what, reader, &[("auto", None), first, second, last])
    };
    /// Something of the user's own settings of an agent.
    pub(super) Inherit -> Wanted, |node, what, reader| {
        let word = String::from_node(node, what, reader)?;
        let help = "write \"rules\", \"skills\", \"hooks\", or \"mcp:\" with the name of a tool server of yours";
        fitting(node, reader, Wanted::from_word(&word), &format!("{word:?} cannot be inherited"), help)
    };
    /// A rule for tools.
    pub(super) Rule -> ToolRule, |node, what, reader| {
        let rule = String::from_node(node, what, reader)?;
        let help = "write read, write, shell, web, agents, mcp:SERVER/TOOL or tool:NAME, such as \"read:.env\" or \"shell:git push *\"";
        fitting(node, reader, rule.parse().ok(), &format!("{rule:?} is not a rule for tools"), help)
    };
    /// An agent whose keys fit together.
    pub(super) CheckedAgent -> Agent, |node, what, reader| {
        let agent = Agent::from_node(node, what, reader)?;
        if let (Some(trust), Some(dialect)) = (&agent.trust_exit, &agent.dialect)
            && agent_kind(dialect.value).exit_status == ExitMeaning::Nothing
        {
            let message = format!("`trust_exit` is not available in the {} dialect", dialect.value);
            let help = "remove it: that agent reports the end of a run itself";
            reader.error(codes::CONFIG_VALUE, &trust.range, message, help);
        }
        Some(agent)
    };
    /// A program with its leading arguments.
    pub(super) CommandWords -> Vec<Placed<String>>, |node, what, reader| {
        let words = Vec::<String>::from_node(node, what, reader)?;
        let named = words.first().is_some_and(|program| !program.value.is_empty());
        let help = "write the program first, such as command = [\"claude\"]";
        fitting(node, reader, named.then_some(words), &format!("{what} is empty"), help)
    };
    /// A length of time, or `never`, which is `None`.
    pub(super) TimeOrNever -> Option<Duration>, |node, what, reader| match node.as_text() {
        Some("never") => Some(None),
        _ => Time::from_node(node, what, reader).map(Some),
    };
    /// How long anything may wait for the memory: at most what the contract says.
    pub(super) Deadline -> Duration, |node, what, reader| {
        let time = Time::from_node(node, what, reader)?;
        let short = (time <= Duration::from_secs(5)).then_some(time);
        fitting(node, reader, short, &format!("{what} can be at most 5 seconds"), "write a shorter time, such as \"2s\"")
    };
    /// A name as in a Host header: addresses need not be allowed, see `helix_server`'s rules.
    pub(super) Host -> String, |node, what, reader| {
        let host = String::from_node(node, what, reader)?;
        let wrong = format!("{host:?} is not a host name");
        let help = "write it without scheme and port, such as \"host.docker.internal\"";
        fitting(node, reader, is_host(&host).then_some(host), &wrong, help)
    };
    /// An origin as browsers send it, without the slash that addresses are often copied with.
    pub(super) Origin -> String, |node, what, reader| {
        let written = String::from_node(node, what, reader)?;
        let origin = written.trim_end_matches('/');
        let help = "write scheme, host and port, such as \"https://chat.example\" or \"http://localhost:3000\"";
        let fits = is_origin(origin).then(|| origin.to_owned());
        fitting(node, reader, fits, &format!("{written:?} is not an origin"), help)
    };
}

/// Something of the user's own settings that runs may get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    Rules,
    Skills,
    Hooks,
    Server(String),
}

impl Wanted {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "rules" => Some(Self::Rules),
            "skills" => Some(Self::Skills),
            "hooks" => Some(Self::Hooks),
            _ => word.strip_prefix(SERVER).filter(|name| is_server(name)).map(|name| Self::Server(name.to_owned())),
        }
    }
}

/// One of these words.
fn word<T: Copy>(node: &Node, what: &str, reader: &mut FieldReader<'_>, words: &[(&str, T)]) -> Option<T> {
    reader.word(node, &format!("a value of {what}"), words)
}

/// A value if it has the right form; else says what is wrong with it, and how to write it. One that could never match would let
/// nobody in, and not say so.
fn fitting<T>(node: &Node, reader: &mut FieldReader<'_>, fits: Option<T>, wrong: &str, help: &str) -> Option<T> {
    if fits.is_none() {
        reader.error(codes::CONFIG_VALUE, &node.range, wrong, help);
    }
    fits
}

/// A text that can be split into words as `split` can, which is what becomes of it.
fn command_line(node: &Node, reader: &mut FieldReader<'_>, what: &str, text: &str, split: &str) -> Option<String> {
    let words = split_words(split);
    let empty = || "write the program first, such as \"npm ci\"".to_owned();
    let help = words.as_ref().err().map_or_else(empty, |error| error.remedy.clone());
    let is_one = words.is_ok_and(|words| !words.is_empty());
    fitting(node, reader, is_one.then(|| text.to_owned()), &format!("{what} is not a command"), &help)
}

/// A command with numbers in the place of ports.
fn without_ports(text: &str) -> String {
    let mut parts = text.split("${");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once('}') {
        Some((name, rest)) if is_variable(name) => format!("{text}0{rest}"),
        _ => format!("{text}${{{part}"),
    })
}

fn is_variable(name: &str) -> bool {
    let fits =
        |(at, letter): (usize, char)| letter == '_' || letter.is_ascii_uppercase() || at > 0 && letter.is_ascii_digit();
    !name.is_empty() && name.char_indices().all(fits)
}

fn is_host(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

/// Scheme, host, at most a port, and nothing behind it.
fn is_origin(text: &str) -> bool {
    let same = |url: Url| matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text;
    !text.contains('*') && Url::parse(text).is_ok_and(same)
}

fn is_server(name: &str) -> bool {
    !name.is_empty()
        && name != helix_engine::TOOL_SERVER
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
