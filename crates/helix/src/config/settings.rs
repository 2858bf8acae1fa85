//! The settings in force: every value with where it came from.
//!
//! Must not read files; the layers are given. Built-in values stand here and nowhere else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use helix_agents::{ExitStatus, Grace, SubAgent};
use helix_core::diagnostic::Diagnostic;
use helix_engine::agent_run::RunTimeouts;
use helix_engine::consultant::{Enforcement, Validator};
use helix_engine::crash_point::CrashPoint;
use helix_engine::experts::{EXPERTS_FILE, parse_experts};
use helix_engine::{
    AgentProfile, ConsultantConfig, ConsultantPrompt, DialectName, EngineConfig, ExitMeaning, Program, agent_kind,
};
use helix_git::GitEnvironment;
use helix_job::Policy;
use helix_process::TOOLCHAIN;
use helix_project::skills::SKILLS_DIRECTORY;

use super::admission::AdmissionSettings;
use super::chat_api::ChatApiLayer;
use super::conversations::ConversationSettings;
use super::document::Written;
use super::failures::FailuresLayer;
use super::files;
use super::layer::{AgentLayer, Layer};
use super::roles::RoleSettings;
use crate::codes;
use crate::environment::Environment;
use crate::error::{CommandError, unreadable};

/// Where `helix serve` listens when nothing else is said.
const DEFAULT_LISTEN: &str = "127.0.0.1:8787";

/// Time limit of a turn with the Consultant when nothing else is said.
const TURN_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting<T> {
    /// The value.
    pub(crate) value: T,
    /// For people: `built in`, `--listen`, `HELIX_STATE_DIR`, `/path/helix.toml:3`.
    pub(crate) origin: String,
}

impl<T> Setting<T> {
    /// A value that nobody has written.
    pub(super) fn built_in(value: T) -> Self {
        Self { value, origin: "built in".into() }
    }
}

/// What flags say; they win over everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides {
    /// `--config`.
    pub(crate) config: Option<PathBuf>,
    /// `--state-dir`.
    pub(crate) state_dir: Option<PathBuf>,
    /// `--listen`.
    pub(crate) listen: Option<String>,
}

/// Everything that is configured.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Files that were read, the strongest first.
    pub(crate) files: Vec<PathBuf>,
    /// Where Helix keeps everything.
    pub(crate) state_dir: Setting<PathBuf>,
    /// Address of the HTTP API.
    pub(crate) listen: Setting<String>,
    /// Directories under which repositories may lie.
    pub(crate) roots: Setting<Vec<PathBuf>>,
    /// File with a token that the user chose.
    pub(crate) token_file: Option<Setting<PathBuf>>,
    /// How chat clients are served.
    pub(crate) chat_api: ChatApiLayer,
    /// Agents by name.
    pub(crate) agents: BTreeMap<String, Setting<AgentProfile>>,
    /// Agent of phases that name none.
    pub(crate) default_agent: Setting<String>,
    /// Agent of the Consultant.
    pub(crate) consultant_agent: Setting<String>,
    /// Its model.
    pub(crate) consultant_model: Option<Setting<String>>,
    /// File with the template of its instructions.
    pub(crate) prompt: Option<Setting<PathBuf>>,
    /// How its answers are checked and corrected.
    pub(crate) enforcement: Enforcement,
    /// File with its experts, where they are switched on.
    pub(crate) experts: Option<Setting<PathBuf>>,
    /// Time limit of one turn.
    pub(crate) turn_timeout: Setting<Duration>,
    /// How conversations are kept company.
    pub(crate) conversations: ConversationSettings,
    /// Phases of a job at the same time.
    pub(crate) max_parallel: Setting<u32>,
    /// How much may be under way at the same time.
    pub(crate) admission: AdmissionSettings,
    /// How long agents may linger, be silent, and take to stop.
    pub(crate) timeouts: RunTimeouts,
    /// Money for a job.
    pub(crate) budget_usd: Option<Setting<f64>>,
    /// Reviewers, advisers, questions and further limits of jobs.
    pub(crate) roles: RoleSettings,
    /// How failures are remembered.
    pub(crate) failures: FailuresLayer,
    /// Where the Consultant creates projects.
    pub(crate) projects: Setting<PathBuf>,
}

impl Settings {
    /// Reads all files and puts them together with flags and environment.
    ///
    /// # Errors
    /// A file that cannot be read or has errors, an agent that is not configured, no place for the state directory.
    pub(crate) fn load(environment: &Environment, overrides: &Overrides) -> Result<Self, CommandError> {
        environment.check_places()?;
        let layers = files::layers(environment, overrides.config.as_deref())?;
        let find = Finder { layers: &layers };
        let state_dir = state_dir(environment, overrides)?;
        let built_in = |value: &str| Setting { value: value.to_owned(), origin: "built in".into() };

        let listen = match &overrides.listen {
            Some(value) => Setting { value: value.clone(), origin: "--listen".into() },
            None => find.first(|layer| layer.listen.as_ref()).unwrap_or_else(|| built_in(DEFAULT_LISTEN)),
        };
        let agents = agents(environment, &layers);
        let default_agent =
            find.first(|layer| layer.default_agent.as_ref()).unwrap_or_else(|| match agents.first_key_value() {
                Some((only, setting)) if agents.len() == 1 => {
                    Setting { value: only.clone(), origin: setting.origin.clone() }
                }
                _ => built_in("claude"),
            });
        let consultant_agent =
            find.first(|layer| layer.consultant_agent.as_ref()).unwrap_or_else(|| default_agent.clone());
        let consultant_model = find.first(|layer| layer.consultant_model.as_ref());
        let roles = RoleSettings::of(&layers, &consultant_agent, consultant_model.as_ref());
        let named = [("defaults.agent", &default_agent), ("consultant.agent", &consultant_agent)];
        for (key, name) in named.into_iter().chain(roles.agents()) {
            check_agent(key, name, &agents)?;
        }
        let path_of = |written: &Written<String>| {
            let base = written.file.parent().unwrap_or(Path::new("/"));
            Setting { value: environment.path(&written.value, base), origin: origin(written) }
        };
        let projects = layers.iter().find_map(|(_, layer)| layer.projects.as_ref()).map(path_of).unwrap_or_else(|| {
            let home = environment.home().unwrap_or_else(|| environment.directory.clone());
            Setting { value: home.join("helix-projects"), origin: "built in".into() }
        });
        let roots = layers.iter().find_map(|(_, layer)| layer.roots.as_ref()).map(|written| {
            let base = written.file.parent().unwrap_or(Path::new("/"));
            let paths = written.value.iter().map(|root| environment.path(root, base)).collect();
            Setting { value: paths, origin: origin(written) }
        });
        Ok(Self {
            files: layers.iter().map(|(path, _)| path.clone()).collect(),
            state_dir,
            listen,
            roots: roots.unwrap_or_else(|| Setting { value: Vec::new(), origin: "built in".into() }),
            // The strongest file is the first.
            chat_api: layers
                .iter()
                .rev()
                .fold(ChatApiLayer::default(), |weaker, (_, layer)| weaker.below(layer.chat_api.clone())),
            token_file: layers.iter().find_map(|(_, layer)| layer.token_file.as_ref()).map(path_of),
            agents,
            default_agent,
            consultant_agent,
            consultant_model,
            prompt: layers.iter().find_map(|(_, layer)| layer.prompt.as_ref()).map(path_of).or_else(|| {
                let own = user_path(environment, "prompts/consultant.md.j2").filter(|path| path.exists())?;
                Some(Setting { value: own, origin: "the user's directory".into() })
            }),
            enforcement: enforcement(&find),
            experts: experts(environment, &layers),
            turn_timeout: find
                .first(|layer| layer.turn_timeout.as_ref())
                .unwrap_or_else(|| Setting { value: TURN_TIMEOUT, origin: "built in".into() }),
            conversations: ConversationSettings::of(&layers),
            max_parallel: find
                .first(|layer| layer.max_parallel.as_ref())
                .unwrap_or_else(|| Setting { value: Policy::default().max_parallel, origin: "built in".into() }),
            admission: AdmissionSettings::of(&find),
            timeouts: timeouts(&find),
            budget_usd: find.first(|layer| layer.budget_usd.as_ref()),
            roles,
            failures: layers
                .iter()
                .rev()
                .fold(FailuresLayer::default(), |weaker, (_, layer)| weaker.below(layer.failures.clone())),
            projects,
        })
    }

    /// Where a test lets the process die: `HELIX_CRASH_AT`, names of places, one a line, and `HELIX_CRASH_PLACES`, the file that
    /// those passed are written to (docs/development.md).
    fn crash_point(environment: &Environment) -> CrashPoint {
        let names = environment.variable("HELIX_CRASH_AT").unwrap_or_default();
        let record = environment.variable("HELIX_CRASH_PLACES").filter(|path| !path.is_empty()).map(PathBuf::from);
        CrashPoint::planned(names.lines().map(str::to_owned), record)
    }

    /// What the engine is told.
    ///
    /// # Errors
    /// When the Consultant's prompt file cannot be read.
    pub(crate) fn engine(&self, environment: &Environment) -> Result<EngineConfig, CommandError> {
        let prompt = match &self.prompt {
            Some(file) => consultant_prompt(&file.value)?,
            None => ConsultantPrompt::default(),
        };
        let experts = match &self.experts {
            Some(file) => expert_list(&file.value)?,
            None => Vec::new(),
        };
        let program = environment.program.to_string_lossy().into_owned();
        Ok(EngineConfig {
            keeper: vec![program, "keeper".into()],
            agents: self.agents.values().map(|setting| setting.value.clone()).collect(),
            default_agent: self.default_agent.value.clone(),
            roots: self.roots.value.clone(),
            projects: self.projects.value.clone(),
            consultant: ConsultantConfig {
                agent: self.consultant_agent.value.clone(),
                model: self.consultant_model.as_ref().map(|setting| setting.value.clone()),
                turn_timeout: self.turn_timeout.value,
                follow_jobs: self.conversations.follow_jobs.value,
                retention: self.conversations.retention(),
                prompt,
                enforcement: self.enforcement.clone(),
                skills: skill_directories(environment),
                experts,
            },
            roles: self.roles.roles(),
            policy: self.roles.apply(Policy {
                max_parallel: self.max_parallel.value,
                budget_usd: self.budget_usd.as_ref().map(|setting| setting.value),
                ..Policy::default()
            }),
            admission: self.admission.limits(),
            timeouts: self.timeouts,
            tools: None,
            git: GitEnvironment::from_process(),
            helix: environment.program.clone(),
            config_dir: files::user_directory(environment),
            crash: Self::crash_point(environment),
            failures: self.failures.settings(),
        })
    }
}

/// Directories of the user's own skills. They need no configuration, and are found where that is broken.
pub(crate) fn skill_directories(environment: &Environment) -> Vec<PathBuf> {
    user_path(environment, SKILLS_DIRECTORY).into_iter().collect()
}

fn user_path(environment: &Environment, path: &str) -> Option<PathBuf> {
    Some(environment.xdg("XDG_CONFIG_HOME", ".config")?.join("helix").join(path))
}

fn enforcement(find: &Finder<'_>) -> Enforcement {
    let built_in = Enforcement::default();
    let named = find.first(|layer| layer.enforcement.as_ref()).map(|setting| setting.value);
    let validators = match named {
        // Unknown names were refused when the file was read.
        Some(words) => Validator::ALL.into_iter().filter(|one| words.iter().any(|word| word == one.word())).collect(),
        None => built_in.validators,
    };
    let retries = find.first(|layer| layer.enforcement_retries.as_ref()).map_or(built_in.retries, |found| found.value);
    Enforcement { validators, retries }
}

/// `experts.toml` beside the file that switches experts on, else in the user's directory; nothing where they are off.
fn experts(environment: &Environment, layers: &[(PathBuf, Layer)]) -> Option<Setting<PathBuf>> {
    let switch = layers.iter().find_map(|(_, layer)| layer.experts.as_ref()).filter(|switch| switch.value)?;
    let beside = switch.file.parent().unwrap_or(Path::new("/")).join(EXPERTS_FILE);
    let own = || user_path(environment, EXPERTS_FILE).filter(|path| path.exists());
    let value = if beside.exists() { beside } else { own().unwrap_or(beside) };
    Some(Setting { value, origin: origin(switch) })
}

fn consultant_prompt(path: &Path) -> Result<ConsultantPrompt, CommandError> {
    let text = std::fs::read_to_string(path).map_err(unreadable(path))?;
    ConsultantPrompt::parse(path, &text).map_err(|problems| refused(path, problems, text, "helix prompt show"))
}

fn expert_list(path: &Path) -> Result<Vec<SubAgent>, CommandError> {
    let text = std::fs::read_to_string(path).map_err(unreadable(path))?;
    parse_experts(path, &text).map_err(|problems| refused(path, problems, text, "docs/consultant.md"))
}

fn refused(path: &Path, problems: Vec<Diagnostic>, text: String, see: &str) -> CommandError {
    let code = problems.first().map_or(codes::CONFIG_VALUE, |first| first.code.as_str()).to_owned();
    let errors = if problems.len() == 1 { "error" } else { "errors" };
    CommandError::usage(&code, format!("{} has {} {errors}", path.display(), problems.len()))
        .hint(format!("mend the file; see {see}"))
        .diagnostics(problems, text)
}

/// Looks a key up in all layers, the strongest first.
pub(super) struct Finder<'a> {
    pub(super) layers: &'a [(PathBuf, Layer)],
}

impl Finder<'_> {
    pub(super) fn first<T: Clone>(&self, key: impl Fn(&Layer) -> Option<&Written<T>>) -> Option<Setting<T>> {
        let written = self.layers.iter().find_map(|(_, layer)| key(layer))?;
        Some(Setting { value: written.value.clone(), origin: origin(written) })
    }
}

fn timeouts(find: &Finder<'_>) -> RunTimeouts {
    let built_in = RunTimeouts::default();
    let value = |key: fn(&Layer) -> Option<&Written<Duration>>| find.first(key).map(|setting| setting.value);
    RunTimeouts {
        linger: value(|layer| layer.linger.as_ref()).unwrap_or(built_in.linger),
        stall: value(|layer| layer.stall.as_ref()).unwrap_or(built_in.stall),
        grace: value(|layer| layer.stop_grace.as_ref()).map_or(built_in.grace, Grace::each),
    }
}

pub(super) fn origin<T>(written: &Written<T>) -> String {
    format!("{}:{}", written.file.display(), written.line)
}

/// Where the state is kept. It goes into records, requests and the environment of agents as text.
fn state_dir(environment: &Environment, overrides: &Overrides) -> Result<Setting<PathBuf>, CommandError> {
    let chosen = chosen_state_dir(environment, overrides)?;
    Environment::text_of(&chosen.value).map(|_| chosen)
}

/// Flag, variable, XDG state home, in this order.
fn chosen_state_dir(environment: &Environment, overrides: &Overrides) -> Result<Setting<PathBuf>, CommandError> {
    if let Some(path) = &overrides.state_dir {
        return Ok(Setting { value: environment.directory.join(path), origin: "--state-dir".into() });
    }
    if let Some(path) = environment.variable("HELIX_STATE_DIR") {
        return Ok(Setting { value: environment.directory.join(path), origin: "HELIX_STATE_DIR".into() });
    }
    match environment.xdg("XDG_STATE_HOME", ".local/state") {
        Some(path) => {
            let origin = if environment.variable("XDG_STATE_HOME").is_some() { "XDG_STATE_HOME" } else { "built in" };
            Ok(Setting { value: path.join("helix"), origin: origin.into() })
        }
        None => Err(CommandError::environment(
            codes::NO_STATE_PLACE,
            "there is no place to keep Helix's state: HOME is no absolute path",
        )
        .hint("set HOME to your directory, or choose a directory with --state-dir or HELIX_STATE_DIR")),
    }
}

/// All agents of all layers, key by key; `claude` is there without being configured.
fn agents(environment: &Environment, layers: &[(PathBuf, Layer)]) -> BTreeMap<String, Setting<AgentProfile>> {
    let mut names: Vec<&str> = layers.iter().flat_map(|(_, layer)| layer.agents.keys()).map(String::as_str).collect();
    // `claude` needs no configuration, and stays reachable beside agents that have one.
    names.push("claude");
    names.sort_unstable();
    names.dedup();
    let profile = |name: &str| {
        let parts: Vec<(&PathBuf, &AgentLayer)> =
            layers.iter().filter_map(|(path, layer)| Some((path, layer.agents.get(name)?))).collect();
        let kind = agent_kind(
            parts
                .iter()
                .find_map(|(_, agent)| agent.dialect.as_ref())
                .map_or_else(|| name.parse().unwrap_or(DialectName::Claude), |written| written.value),
        );
        let command = match (parts.iter().find_map(|(_, agent)| agent.command.as_ref()), kind.program) {
            (Some(written), _) => command_of(environment, written),
            (None, Program::Installed { name, .. }) => vec![name.to_owned()],
            (None, Program::Helix { subcommand }) => {
                vec![environment.program.to_string_lossy().into_owned(), subcommand.to_owned()]
            }
            // The probe says what to do about it.
            (None, Program::Named) => Vec::new(),
        };
        let mut profile = AgentProfile::new(name, kind.dialect, command);
        let text = |key: fn(&AgentLayer) -> Option<&Written<String>>| parts.iter().find_map(|(_, agent)| key(agent));
        let path = |key: fn(&AgentLayer) -> Option<&Written<String>>| {
            let written = text(key)?;
            Some(environment.path(&written.value, written.file.parent().unwrap_or(Path::new("/"))))
        };
        profile.default_model = text(|agent| agent.model.as_ref()).map(|written| written.value.clone());
        profile.models = parts
            .iter()
            .find_map(|(_, agent)| agent.models.as_ref())
            .map(|written| written.value.clone())
            .unwrap_or_default();
        profile.fallback_model = text(|agent| agent.fallback_model.as_ref()).map(|written| written.value.clone());
        profile.home = path(|agent| agent.home.as_ref());
        profile.config_dir = path(|agent| agent.config_dir.as_ref());
        for (_, agent) in parts.iter().rev() {
            profile.env.extend(agent.env.iter().flat_map(|written| written.value.clone()));
        }
        let trust = parts.iter().find_map(|(_, agent)| agent.trust_exit.as_ref());
        if kind.exit_status == ExitMeaning::IfVouchedFor && trust.is_some_and(|written| written.value) {
            profile.exit_status = ExitStatus::Trusted;
        }
        let passed = parts.iter().find_map(|(_, agent)| agent.pass_env.as_ref());
        profile.pass_env = match passed {
            Some(written) => expand(environment, written.value.iter().map(String::as_str)),
            // No provider's key goes to the agent of another one.
            None => {
                let own = TOOLCHAIN.iter().chain(&["HELIX_STATE_DIR"]).chain(kind.passed_variables);
                expand(environment, own.copied())
            }
        };
        let origin = parts.first().map_or_else(|| "built in".to_owned(), |(path, _)| path.display().to_string());
        (name.to_owned(), Setting { value: profile, origin })
    };
    names.into_iter().map(profile).collect()
}

/// A relative program with a slash is meant from the file that names it; a bare name is looked up in the PATH.
fn command_of(environment: &Environment, written: &Written<Vec<String>>) -> Vec<String> {
    let mut command = written.value.clone();
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        let base = written.file.parent().unwrap_or(Path::new("/"));
        *program = environment.path(program, base).to_string_lossy().into_owned();
    }
    command
}

/// Names of set variables, with prefixes (`LC_*`) spelt out.
fn expand<'a>(environment: &Environment, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut expanded = Vec::new();
    for name in names {
        match name.strip_suffix('*') {
            Some(prefix) => {
                expanded.extend(environment.names().filter(|own| own.starts_with(prefix)).map(str::to_owned));
            }
            None => expanded.push(name.to_owned()),
        }
    }
    expanded
}

fn check_agent(
    key: &str,
    name: &Setting<String>,
    agents: &BTreeMap<String, Setting<AgentProfile>>,
) -> Result<(), CommandError> {
    if agents.contains_key(&name.value) {
        return Ok(());
    }
    let known: Vec<&str> = agents.keys().map(String::as_str).collect();
    let hint = match helix_core::diagnostic::did_you_mean(&name.value, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"? Or add a section [agents.{}]", name.value),
        None => format!("configured: {}; or add a section [agents.{}]", known.join(", "), name.value),
    };
    let message = format!("`{key}` names the agent {:?}, which is not configured ({})", name.value, name.origin);
    Err(CommandError::usage(codes::CONFIG_NO_SUCH_AGENT, message).hint(hint))
}
