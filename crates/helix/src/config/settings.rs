//! The settings in force: every value with where it came from.
//!
//! Must not read files; what they say is given. Built-in values stand here and nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use helix_agents::{Grace, Limits, Sandbox, SubAgent};
use helix_core::diagnostic::Diagnostic;
use helix_core::document::{Node, Placed, Value, format_duration};
use helix_core::said::Words;
use helix_engine::admission::{AdmissionLimits, MEMORY_FLOOR, MemoryGauge, agents_that_fit, cores};
use helix_engine::agent_run::RunTimeouts;
use helix_engine::consultant::{Enforcement, OwnValidator, Retention, Validator};
use helix_engine::crash_point::CrashPoint;
use helix_engine::experts::{EXPERTS_FILE, parse_experts, with_built_in};
use helix_engine::failures::FailureSettings;
use helix_engine::{AgentProfile, ConsultantConfig, ConsultantPrompt, EngineConfig, FOLLOW_JOBS};
use helix_failure::memory::Holdout;
use helix_git::GitEnvironment;
use helix_job::{AskPerson, Escalation, Policy, QUESTION_SECONDS, Role, Roles};
use helix_language::{Language, recorded};
use helix_project::skills::SKILLS_DIRECTORY;
use helix_server::{Disconnect, ServerConfig};
use helix_store::StateDir;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::agents::{agents, check_agent, command_of, path_of};
use super::files::{BUILT_IN, Files, Setting, in_words, refused, user_directory};
use super::keys::{self, File};
use super::overrides::{Overrides, state_dir};
use super::trust::Trust;
use super::workspace::workspace_source;
use crate::environment::Environment;
use crate::error::{CommandError, codes};
use crate::files::read_text;

/// Where `helix serve` listens when nothing else is said.
const DEFAULT_LISTEN: &str = "127.0.0.1:8787";
/// Time limit of a turn with the Consultant when nothing else is said.
const TURN_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// A key with its value and where it came from, for people.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Origin {
    pub(crate) key: String,
    pub(crate) value: serde_json::Value,
    pub(crate) origin: String,
}

impl Origin {
    fn new(key: impl Into<String>, value: impl Serialize, origin: &str) -> Self {
        Self { key: key.into(), value: json!(value), origin: origin.to_owned() }
    }

    fn of<T: Serialize>(key: &str, setting: &Setting<T>) -> Self {
        Self::new(key, &setting.value, &setting.origin)
    }
}

/// Everything that is configured.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Files that were read, the strongest first.
    pub(crate) files: Files,
    /// Flags, which count wherever else something is read.
    overrides: Overrides,
    /// Where Helix keeps everything.
    pub(crate) state_dir: Setting<PathBuf>,
    /// Address of the HTTP API.
    pub(crate) listen: Setting<String>,
    /// File with a token that the user chose.
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) agents: BTreeMap<String, Setting<AgentProfile>>,
    /// Agent of phases that name none.
    pub(crate) default_agent: Setting<String>,
    /// Agent of the Consultant.
    pub(crate) consultant_agent: Setting<String>,
    /// Agent that advises on failed phases.
    adviser_agent: Setting<String>,
    /// Agents and other processes that run at the same time.
    pub(crate) admission: AdmissionLimits,
    /// Where the number of agents comes from, for people.
    pub(crate) why_so_many: Words,
    consultant: keys::Consultant,
    server: keys::Server,
    jobs: keys::Jobs,
    verifier: keys::Verifier,
    adviser: keys::Adviser,
    projects: keys::Projects,
    decisions: keys::Decisions,
    sandbox: keys::Sandbox,
    person: AskPerson,
    question_timeout: Option<Duration>,
    pub(crate) failures: FailureSettings,
    /// Each key that a file has, with its value there and where it stands.
    written: Vec<Origin>,
}

/// A section, without keys where the files have none.
fn section<T: Default>(written: Option<Placed<T>>) -> T {
    written.map(|written| written.value).unwrap_or_default()
}

fn get<T: Clone>(written: &Option<Placed<T>>) -> Option<T> {
    written.as_ref().map(|written| written.value.clone())
}

impl Settings {
    /// Reads all files and puts them together with flags and environment.
    ///
    /// # Errors
    /// A file that cannot be read or has errors, an agent that is not configured, no place for the state directory.
    pub(crate) fn load(environment: &Environment, overrides: &Overrides) -> Result<Self, CommandError> {
        let state_dir = state_dir(environment, overrides)?;
        let trust = Trust::new(environment, &state_dir.value);
        let files = Files::read(environment, overrides.config.as_deref(), &trust, true)?;
        Self::put_together(environment, overrides, files)
    }

    pub(super) fn put_together(
        environment: &Environment,
        overrides: &Overrides,
        files: Files,
    ) -> Result<Self, CommandError> {
        let (tree, file) = files.merged();
        let File { defaults, agents: configured, consultant, server, jobs, verifier, adviser, .. } = file;
        let (consultant, server, jobs) = (section(consultant), section(server), section(jobs));
        let (verifier, adviser): (keys::Verifier, keys::Adviser) = (section(verifier), section(adviser));

        let agents = agents(environment, &files, section(configured))?;
        let default_agent = files.setting(&section(defaults).agent).unwrap_or_else(|| match agents.first_key_value() {
            Some((only, setting)) if agents.len() == 1 => Setting::new(only.clone(), setting.origin.clone()),
            _ => Setting::built_in("claude".to_owned()),
        });
        let consultant_agent = files.setting(&consultant.agent).unwrap_or_else(|| default_agent.clone());
        let adviser_agent = files.setting(&adviser.agent).unwrap_or_else(|| {
            Setting::new(consultant_agent.value.clone(), format!("consultant.agent ({})", consultant_agent.origin))
        });
        for (key, agent) in [
            ("defaults.agent", Some(&default_agent)),
            ("consultant.agent", Some(&consultant_agent)),
            ("verifier.agent", files.setting(&verifier.agent).as_ref()),
            ("adviser.agent", Some(&adviser_agent)),
        ] {
            agent.map_or(Ok(()), |agent| check_agent(key, agent, &agents))?;
        }
        let listen = files.setting(&server.listen).unwrap_or_else(|| Setting::built_in(DEFAULT_LISTEN.into()));
        check_listen(&listen)?;
        let (admission, why_so_many) = admission(&jobs, &files);
        let mut written = Vec::new();
        keys_of(&tree, "", &files, &mut written);
        Ok(Self {
            state_dir: state_dir(environment, overrides)?,
            listen,
            token_file: server.token_file.as_ref().map(|written| path_of(environment, &files, written)),
            agents,
            default_agent,
            consultant_agent,
            adviser_agent,
            admission,
            why_so_many,
            person: get(&section(file.escalation).person).unwrap_or(Escalation::default().person),
            question_timeout: get(&section(file.questions).timeout)
                .unwrap_or(Some(Duration::from_secs(QUESTION_SECONDS))),
            failures: failure_settings(&section(file.failures)),
            consultant,
            server,
            jobs,
            verifier,
            adviser,
            projects: section(file.projects),
            decisions: section(file.decisions),
            sandbox: section(file.sandbox),
            written,
            files,
            overrides: overrides.clone(),
        })
    }

    /// Virtual environment of Python of jobs.
    pub(crate) fn venv(&self, environment: &Environment) -> Option<PathBuf> {
        self.jobs.venv.as_ref().map(|written| path_of(environment, &self.files, written))
    }

    /// What holds agents, commands of gates and deliveries back.
    pub(crate) fn sandbox(&self, environment: &Environment) -> Sandbox {
        let (written, built_in) = (&self.sandbox, Limits::default());
        let paths = |list: &Option<Placed<Vec<Placed<String>>>>| -> Vec<PathBuf> {
            list.iter().flat_map(|list| &list.value).map(|path| path_of(environment, &self.files, path)).collect()
        };
        Sandbox {
            mode: get(&written.mode).unwrap_or_default(),
            network: get(&written.network).unwrap_or_default(),
            writable: paths(&written.writable),
            readable: paths(&written.readable),
            hidden: self.token_file.iter().cloned().chain([StateDir::terminal_in(&self.state_dir.value)]).collect(),
            limits: Limits {
                processes: get(&written.max_processes).unwrap_or(built_in.processes),
                open_files: get(&written.max_open_files).unwrap_or(built_in.open_files),
                file_size: get(&written.max_file_mb).map_or(built_in.file_size, |size| size.saturating_mul(1 << 20)),
                memory: get(&written.max_memory_mb).map_or(built_in.memory, |size| size.saturating_mul(1 << 20)),
            },
            agent_keys: get(&written.agent_keys).unwrap_or_default(),
        }
    }

    /// Where the Consultant makes new projects.
    fn projects(&self, environment: &Environment) -> PathBuf {
        let home = || environment.home().unwrap_or_else(|| environment.directory.clone()).join("helix-projects");
        self.projects.directory.as_ref().map_or_else(home, |written| path_of(environment, &self.files, written))
    }

    /// Where a test lets the process die: `HELIX_CRASH_AT`, names of places, one a line, and `HELIX_CRASH_PLACES`, the file that
    /// those passed are written to (docs/development.md).
    fn crash_point(environment: &Environment) -> CrashPoint {
        let names = environment.variable("HELIX_CRASH_AT").unwrap_or_default();
        let record = environment.variable("HELIX_CRASH_PLACES").map(PathBuf::from);
        CrashPoint::planned(names.lines().map(str::to_owned), record)
    }

    /// Who reviews and who advises.
    pub(super) fn roles(&self) -> Roles {
        let model = get(&self.verifier.model);
        // A model belongs to its agent: that of the Consultant says nothing to another one.
        let same = self.adviser_agent.value == self.consultant_agent.value;
        let adviser_model = get(&self.adviser.model).or_else(|| get(&self.consultant.model).filter(|_| same));
        Roles {
            verifier: get(&self.verifier.agent).map(|agent| Role { agent, model: model.clone() }),
            verifier_model: model.filter(|_| self.verifier.agent.is_none()),
            adviser: (self.adviser_rounds() > 0)
                .then(|| Role { agent: self.adviser_agent.value.clone(), model: adviser_model }),
        }
    }

    fn adviser_rounds(&self) -> u32 {
        get(&self.adviser.rounds).unwrap_or(Escalation::default().advice_rounds)
    }

    /// Policy of jobs that do not say otherwise.
    pub(super) fn policy(&self) -> Policy {
        let (jobs, built_in) = (&self.jobs, Policy::default());
        Policy {
            max_parallel: get(&jobs.max_parallel).unwrap_or(built_in.max_parallel),
            budget_usd: get(&jobs.budget_usd),
            max_turns: get(&jobs.max_turns),
            max_tokens: get(&jobs.max_tokens),
            max_run_seconds: get(&jobs.max_run_time).map(|time| time.as_secs().max(1)),
            transient_retries: get(&jobs.retries).unwrap_or(built_in.transient_retries),
            backoff_first_ms: get(&jobs.retry_delay).map_or(built_in.backoff_first_ms, milliseconds),
            backoff_max_ms: get(&jobs.retry_delay_max).map_or(built_in.backoff_max_ms, milliseconds),
            max_wait_seconds: get(&jobs.max_wait).map(|time| time.as_secs()),
            land: get(&jobs.land).unwrap_or_default(),
            side_budget_usd: get(&jobs.side_budget_usd),
            escalation: Escalation { advice_rounds: self.adviser_rounds(), person: self.person },
            question_seconds: self.question_timeout.map(|timeout| timeout.as_secs().max(1)),
        }
    }

    /// What the server is told of who may call and how chat clients are served.
    pub(crate) fn server(&self, built_in: ServerConfig) -> ServerConfig {
        let server = &self.server;
        let texts = |list: &Option<Placed<Vec<Placed<String>>>>| -> Option<Vec<String>> {
            Some(list.as_ref()?.value.iter().map(|one| one.value.clone()).collect())
        };
        let stop = get(&server.disconnect_grace).map_or(built_in.disconnect, Disconnect::StopAfter);
        ServerConfig {
            rate_limit: get(&server.rate_limit)
                .map_or(built_in.rate_limit, |limit| Some(limit).filter(|limit| *limit > 0)),
            client: get(&server.client).unwrap_or(built_in.client),
            disconnect: get(&server.on_disconnect).flatten().unwrap_or(stop),
            background_tasks: get(&server.background_tasks).unwrap_or(built_in.background_tasks),
            body_limit: get(&server.body_limit_mb).map_or(built_in.body_limit, |limit| limit as usize * 1024 * 1024),
            allowed_hosts: texts(&server.allowed_hosts).unwrap_or(built_in.allowed_hosts),
            allowed_origins: texts(&server.allowed_origins).unwrap_or(built_in.allowed_origins),
            public_url: get(&server.public_url),
            ..built_in
        }
    }

    /// What the engine is told.
    ///
    /// # Errors
    /// When the Consultant's prompt or its experts cannot be read.
    pub(crate) fn engine(&self, environment: &Environment) -> Result<EngineConfig, CommandError> {
        let roots = self.server.roots.iter().flat_map(|roots| &roots.value);
        let (consultant, timeouts) = (&self.consultant, RunTimeouts::default());
        Ok(EngineConfig {
            agents: self.agents.values().map(|setting| setting.value.clone()).collect(),
            default_agent: self.default_agent.value.clone(),
            roots: roots.map(|root| path_of(environment, &self.files, root)).collect(),
            projects: self.projects(environment),
            consultant: ConsultantConfig {
                agent: self.consultant_agent.value.clone(),
                model: get(&consultant.model),
                turn_timeout: get(&consultant.turn_timeout).unwrap_or(TURN_TIMEOUT),
                follow_jobs: get(&consultant.follow_jobs).unwrap_or(FOLLOW_JOBS),
                retention: Retention { days: get(&consultant.keep_days), count: get(&consultant.keep_count) },
                prompt: self.consultant_prompt(environment)?,
                enforcement: self.enforcement(environment),
                skills: skill_directories(environment),
                experts: self.expert_list(environment)?,
            },
            roles: self.roles(),
            venv: self.venv(environment),
            workspaces: workspace_source(environment, &self.overrides),
            policy: self.policy(),
            admission: self.admission.clone(),
            sandbox: self.sandbox(environment),
            timeouts: RunTimeouts {
                linger: get(&self.jobs.linger).unwrap_or(timeouts.linger),
                stall: get(&self.jobs.stall).unwrap_or(timeouts.stall),
                repeats: get(&self.jobs.stuck_after)
                    .map_or(timeouts.repeats, |most| Some(most).filter(|most| *most > 0)),
                grace: get(&self.jobs.stop_grace).map_or(timeouts.grace, Grace::each),
                ..timeouts
            },
            tools: None,
            owner: environment.user(),
            git: GitEnvironment::from_process(),
            helix: environment.program.clone(),
            config_dir: user_directory(environment),
            crash: Self::crash_point(environment),
            failures: self.failures,
        })
    }

    /// What a host works by, in short: settings with equal digests are the same for every job and chat. The virtual environment is not
    /// among them, since each job brings its own.
    ///
    /// # Errors
    /// Those of [`Settings::engine`].
    pub(crate) fn digest(&self, environment: &Environment) -> Result<String, CommandError> {
        let config = &self.engine(environment)?;
        let EngineConfig { agents, default_agent, roots, projects, consultant, roles, policy, .. } = config;
        let EngineConfig { admission, sandbox, timeouts, failures, .. } = config;
        let jobs = (agents, default_agent, roots, projects, roles, policy);
        let text = format!("{jobs:?}{consultant:?}{:?}", (admission, sandbox, timeouts, failures));
        Ok(format!("{:x}", Sha256::digest(text)))
    }

    /// How answers are checked.
    fn enforcement(&self, environment: &Environment) -> Enforcement {
        let (consultant, built_in) = (&self.consultant, Enforcement::default());
        let chosen = |named: &Placed<Vec<Placed<Validator>>>| {
            let named = |one: &Validator| named.value.iter().any(|word| word.value == *one);
            Validator::ALL.into_iter().filter(named).collect()
        };
        let own = consultant.validators.iter().flat_map(|named| &named.value);
        let own = own.filter_map(|(name, written)| {
            let command = command_of(environment, &self.files, written.value.command.clone()?);
            let timeout = get(&written.value.timeout).unwrap_or(OwnValidator::TIMEOUT);
            Some(OwnValidator { name: name.value.clone(), command, timeout })
        });
        Enforcement {
            validators: consultant.enforcement.as_ref().map_or(built_in.validators, chosen),
            own: own.collect(),
            retries: get(&consultant.enforcement_retries).unwrap_or(built_in.retries),
        }
    }

    /// Template of the Consultant's instructions: the configured one, the user's own, or the built-in one.
    fn consultant_prompt(&self, environment: &Environment) -> Result<ConsultantPrompt, CommandError> {
        let configured = self.consultant.prompt.as_ref().map(|written| path_of(environment, &self.files, written));
        let own = || user_path(environment, "prompts/consultant.md.j2").filter(|path| path.exists());
        let Some(path) = configured.or_else(own) else { return Ok(ConsultantPrompt::default()) };
        parsed(&path, ConsultantPrompt::parse, "see helix prompt show")
    }

    /// Helix's experts, and those of `experts.toml` beside the file that switches experts on, else in the user's directory; nothing
    /// where they are off.
    fn expert_list(&self, environment: &Environment) -> Result<Vec<SubAgent>, CommandError> {
        let switch = self.consultant.experts.as_ref().filter(|switch| switch.value);
        let Some(switch) = switch else { return Ok(Vec::new()) };
        let beside = self.files.base(&switch.range).join(EXPERTS_FILE);
        let written =
            [Some(beside), user_path(environment, EXPERTS_FILE)].into_iter().flatten().find(|path| path.exists());
        let own = written.map(|path| parsed(&path, parse_experts, "see docs/consultant.md")).transpose()?;
        Ok(with_built_in(own.unwrap_or_default()))
    }

    /// Every setting with its value and where it came from, for `helix doctor`: those that may be built in first, then
    /// whatever else the files say.
    pub(crate) fn origins(&self, environment: &Environment, language: Language) -> Vec<Origin> {
        let time = |time: Duration| json!(format_duration(time));
        let failures = &self.failures;
        let mut rows = vec![
            Origin::of("state_dir", &self.state_dir),
            Origin::of("defaults.agent", &self.default_agent),
            Origin::of("consultant.agent", &self.consultant_agent),
            Origin::of("adviser.agent", &self.adviser_agent),
            Origin::of("server.listen", &self.listen),
            Origin::new("jobs.max_agents", self.admission.agents, &language.words(&self.why_so_many)),
        ];
        // Values of variables may be secrets: of agents, only the command.
        let command = |(name, agent): (&String, &Setting<AgentProfile>)| {
            Origin::new(format!("agents.{name}"), &agent.value.command, &agent.origin)
        };
        rows.extend(self.agents.iter().map(command));
        for (key, value) in [
            ("consultant.turn_timeout", time(TURN_TIMEOUT)),
            ("consultant.follow_jobs", time(FOLLOW_JOBS)),
            ("consultant.keep_days", json!("all")),
            ("consultant.keep_count", json!("all")),
            ("server.roots", json!([])),
            ("jobs.max_parallel", json!(Policy::default().max_parallel)),
            ("jobs.retries", json!(Policy::default().transient_retries)),
            ("jobs.retry_delay", time(Duration::from_millis(Policy::default().backoff_first_ms))),
            ("jobs.retry_delay_max", time(Duration::from_millis(Policy::default().backoff_max_ms))),
            ("jobs.land", json!(Policy::default().land)),
            ("jobs.max_gates", json!(self.admission.gates)),
            ("jobs.memory_floor_mb", json!(self.admission.memory_floor >> 20)),
            ("adviser.rounds", json!(self.adviser_rounds())),
            ("escalation.person", json!(self.person)),
            ("questions.timeout", self.question_timeout.map_or_else(|| json!("never"), time)),
            ("failures.memory", json!(failures.memory)),
            ("failures.holdout", json!(failures.holdout.share())),
            ("failures.deadline", time(failures.deadline)),
            ("projects.directory", json!(self.projects(environment))),
            ("decisions.directory", json!(get(&self.decisions.directory).unwrap_or_else(|| "auto".to_owned()))),
        ] {
            let written = self.written.iter().find(|written| written.key == key);
            rows.push(written.cloned().unwrap_or_else(|| Origin::new(key, value, BUILT_IN)));
        }
        let known: BTreeSet<String> = rows.iter().map(|row| row.key.clone()).collect();
        rows.extend(self.written.iter().filter(|written| !known.contains(&written.key)).cloned());
        rows.iter_mut().for_each(|row| row.origin = in_words(language, &row.origin));
        rows
    }
}

/// Refuses what cannot be an address whatever names this machine resolves.
fn check_listen(listen: &Setting<String>) -> Result<(), CommandError> {
    let port = listen.value.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
    if matches!(port, Some(Ok(_))) {
        return Ok(());
    }
    let message = format!("`server.listen` is {:?}, which is not an address ({})", listen.value, listen.origin);
    Err(CommandError::usage(codes::CONFIG_VALUE, message)
        .hint("write ADDRESS:PORT, such as 127.0.0.1:8787 (port 0 lets the system choose)"))
}

/// What a file beside the configuration says; `see` describes what may stand in it.
fn parsed<T>(
    path: &Path,
    parse: impl Fn(&Path, &str) -> Result<T, Vec<Diagnostic>>,
    see: &str,
) -> Result<T, CommandError> {
    let text = read_text(path)?;
    parse(path, &text).map_err(|problems| refused(&path.display().to_string(), problems, text, see))
}

/// Every key of a tree but those of agents, with its value and its place.
fn keys_of(node: &Node, path: &str, files: &Files, found: &mut Vec<Origin>) {
    fn value_of(node: &Node) -> serde_json::Value {
        match &node.value {
            Value::Sequence(items) => items.iter().map(value_of).collect(),
            Value::Scalar(scalar) if node.as_number().is_some() || node.as_bool().is_some() => {
                serde_json::from_str(&scalar.text).unwrap_or_else(|_| json!(scalar.text))
            }
            Value::Scalar(scalar) => json!(scalar.text),
            Value::Mapping(_) => json!({}),
        }
    }
    match &node.value {
        Value::Mapping(entries) => {
            for entry in entries.iter() {
                let key = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
                // Values of variables may be secrets.
                if ["agents", "workspace.env"].contains(&key.as_str()) {
                    continue;
                }
                keys_of(&entry.value, &key, files, found);
            }
        }
        Value::Scalar(_) | Value::Sequence(_) => {
            found.push(Origin::new(path, value_of(node), &files.origin(&node.range)));
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What may run at the same time: what `[jobs]` says, else what fits the machine.
fn admission(jobs: &keys::Jobs, files: &Files) -> (AdmissionLimits, Words) {
    let cores = cores();
    let (agents, why) = match &jobs.max_agents {
        Some(written) => (written.value, files.origin(&written.range).into()),
        None => {
            let available = MemoryGauge::default().available();
            (agents_that_fit(cores, available), recorded!("settings-fit", cores = cores))
        }
    };
    let limits = AdmissionLimits {
        agents,
        gates: get(&jobs.max_gates).unwrap_or(cores),
        memory_floor: get(&jobs.memory_floor_mb).map_or(MEMORY_FLOOR, |floor| u64::from(floor) << 20),
        gauge: MemoryGauge::default(),
    };
    (limits, why)
}

fn failure_settings(failures: &keys::Failures) -> FailureSettings {
    let built_in = FailureSettings::default();
    FailureSettings {
        memory: get(&failures.memory).unwrap_or(built_in.memory),
        holdout: get(&failures.holdout).map_or(built_in.holdout, Holdout::new),
        deadline: get(&failures.deadline).unwrap_or(built_in.deadline),
    }
}

/// Directories of the user's own skills. They need no configuration, and are found where that is broken.
pub(crate) fn skill_directories(environment: &Environment) -> Vec<PathBuf> {
    user_path(environment, SKILLS_DIRECTORY).into_iter().collect()
}

fn user_path(environment: &Environment, path: &str) -> Option<PathBuf> {
    Some(user_directory(environment)?.join(path))
}

#[cfg(test)]
#[path = "settings_test.rs"]
mod tests;
