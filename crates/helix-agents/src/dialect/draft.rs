//! One invocation while a dialect writes it down: the program, the environment, files, and what the system demands of them.
//!
//! Must not know any dialect: what a word means to an agent is said by who writes it.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use helix_process::replace_file;

use super::host_environment::path_text;
use super::{Dialect, HostEnvironment, InvocationError, Keeping, Limit, Sessions};
use crate::invocation::Invocation;
use crate::profile::{AgentAsk, AgentProfile, DialectName, SessionRef};

/// Linux takes 128 KiB for one argument, its NUL included.
const ARGUMENT_LIMIT: usize = 128 * 1024 - 1;

/// Where, among the run's files, the agent may put temporary ones.
const TEMPORARY: &str = "tmp";

/// One argument of a program.
struct Argument {
    text: String,
    /// What it is, for people.
    what: &'static str,
}

impl Argument {
    /// One of which nobody says what it is.
    fn plain(text: String) -> Self {
        Self { text, what: "an argument" }
    }
}

/// An invocation that is being written.
pub(super) struct Draft<'a> {
    pub(super) ask: &'a AgentAsk,
    pub(super) profile: &'a AgentProfile,
    own: &'a HostEnvironment,
    dialect: DialectName,
    program: PathBuf,
    args: Vec<Argument>,
    /// Variables that those of the user's environment and configuration replace.
    defaults: BTreeMap<String, String>,
    /// Variables that only the configuration replaces.
    variables: BTreeMap<String, String>,
    stdin: Option<Vec<u8>>,
}

impl<'a> Draft<'a> {
    /// Begins with the profile's program and leading arguments, and refuses what makes no sense or what this dialect cannot do:
    /// what somebody relies on must not be left out in silence.
    pub(super) fn begin(
        dialect: &Dialect,
        profile: &'a AgentProfile,
        ask: &'a AgentAsk,
        own: &'a HostEnvironment,
    ) -> Result<Self, InvocationError> {
        let (program, leading) =
            profile.program().ok_or_else(|| InvocationError::NoProgram { profile: profile.name.clone() })?;
        if let Some(budget) = ask.budget_usd.filter(|budget| !(budget.is_finite() && *budget > 0.0)) {
            return Err(InvocationError::Budget { budget });
        }
        let draft = Self {
            ask,
            profile,
            own,
            dialect: dialect.kind.dialect,
            program: PathBuf::from(program),
            args: leading.iter().cloned().map(Argument::plain).collect(),
            defaults: BTreeMap::new(),
            variables: BTreeMap::new(),
            stdin: None,
        };
        match unsupported(dialect, ask) {
            Some(what) => Err(draft.unsupported(what)),
            None => Ok(draft),
        }
    }

    /// Adds arguments that stand for themselves.
    pub(super) fn words<const N: usize>(&mut self, words: [&str; N]) {
        self.args.extend(words.map(|word| Argument::plain(word.to_owned())));
    }

    /// Adds an option with its value.
    pub(super) fn option(&mut self, name: &str, value: impl Into<String>) {
        self.words([name]);
        self.args.push(Argument::plain(value.into()));
    }

    /// Adds an option whose value may be too long for the operating system, and is `what` for people.
    pub(super) fn long_option(&mut self, what: &'static str, name: &str, value: impl Into<String>) {
        self.words([name]);
        self.args.push(Argument { text: value.into(), what });
    }

    /// Sets a variable unless the user's environment or configuration has it.
    pub(super) fn default_variable(&mut self, name: &str, value: impl Into<String>) {
        self.defaults.insert(name.to_owned(), value.into());
    }

    /// Sets a variable, whatever the user's environment has; the configuration's own wins all the same.
    pub(super) fn variable(&mut self, name: &str, value: impl Into<String>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    /// Names the agent's directory of settings and sessions in this variable: the profile's, else the one that Helix has.
    pub(super) fn config_dir_variable(&mut self, name: &str) {
        let directory = self.profile.config_dir.as_deref().map(path_text).or_else(|| {
            // Where Helix runs with another home than the agent, its own setting would point at the wrong user's sessions.
            self.profile.home.is_none().then(|| self.own.get(name).map(str::to_owned)).flatten()
        });
        if let Some(directory) = directory {
            self.default_variable(name, directory);
        }
    }

    /// Whether the agent gets a variable from its profile.
    pub(super) fn is_given(&self, name: &str) -> bool {
        let passed = || self.profile.pass_env.iter().any(|passed| passed == name) && self.own.get(name).is_some();
        self.profile.env.contains_key(name) || passed()
    }

    /// The agent's home: the profile's, else the one that Helix has.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.profile.home.clone().or_else(|| self.own.get("HOME").map(PathBuf::from))
    }

    /// The model that is wanted, if any.
    pub(super) fn model(&self) -> Option<&'a str> {
        self.ask.model.as_deref().or(self.profile.default_model.as_deref())
    }

    /// Says what the agent reads from stdin; the bare prompt where nobody does.
    pub(super) fn stdin(&mut self, bytes: Vec<u8>) {
        self.stdin = Some(bytes);
    }

    /// Writes one of the run's files and gives its path as an argument. Replaces what an earlier try left.
    pub(super) fn file(&self, name: &str, content: &[u8]) -> Result<String, InvocationError> {
        let path = self.files()?.join(name);
        replace_file(&path, content)?;
        Ok(path_text(&path))
    }

    /// The path of one of the run's files that the agent itself writes, as an argument.
    pub(super) fn path(&self, name: &str) -> Result<String, InvocationError> {
        Ok(path_text(&self.files()?.join(name)))
    }

    /// A directory for the agent's temporary files, as an argument.
    pub(super) fn temporary(&self) -> Result<String, InvocationError> {
        self.path(TEMPORARY)
    }

    /// The error for something that this dialect cannot do: "cannot `what`".
    pub(super) fn unsupported(&self, what: &'static str) -> InvocationError {
        InvocationError::Unsupported { dialect: self.dialect, what }
    }

    /// What is executed, if the operating system takes it.
    pub(super) fn finish(self) -> Result<Invocation, InvocationError> {
        check_arguments(&self.args)?;
        let env = self.own.for_agent(self.profile, self.defaults, self.variables);
        check_environment(&env)?;
        Ok(Invocation {
            program: self.program,
            args: self.args.into_iter().map(|argument| argument.text).collect(),
            env,
            cwd: self.ask.cwd.clone(),
            stdin: self.stdin.unwrap_or_else(|| self.ask.prompt.clone().into_bytes()),
        })
    }

    /// The directory of the run's files that only its dialect knows, for nobody else to read; that of an earlier try is used
    /// again. A dialect that has none makes no directory.
    fn files(&self) -> Result<PathBuf, InvocationError> {
        let directory = self.ask.run_dir.join(format!("agent-{}", self.dialect));
        let temporary = directory.join(TEMPORARY);
        match DirBuilder::new().recursive(true).mode(0o700).create(&temporary) {
            Ok(()) => Ok(directory),
            Err(source) => Err(InvocationError::Write { path: temporary, source }),
        }
    }
}

/// Checks that every argument can be given to a process.
fn check_arguments(args: &[Argument]) -> Result<(), InvocationError> {
    let mut before = "the program";
    for Argument { text, what } in args {
        if text.contains('\0') {
            return Err(InvocationError::NulByte { what: format!("the value of {before}") });
        }
        if text.len() > ARGUMENT_LIMIT {
            return Err(InvocationError::ArgumentTooLong { what, bytes: text.len(), limit: ARGUMENT_LIMIT });
        }
        before = text;
    }
    Ok(())
}

/// Checks that every variable can be given to a process.
fn check_environment(env: &[(String, String)]) -> Result<(), InvocationError> {
    match env.iter().find(|(name, value)| name.contains('\0') || value.contains('\0')) {
        Some((name, _)) => Err(InvocationError::NulByte { what: format!("the variable {name:?}") }),
        None => Ok(()),
    }
}

/// What is asked beyond what the dialect says of itself.
fn unsupported(dialect: &Dialect, ask: &AgentAsk) -> Option<&'static str> {
    match (&ask.session, dialect.sessions) {
        (SessionRef::New(_), _)
        | (SessionRef::Resume(_) | SessionRef::Fork { .. }, Sessions::Copied | Sessions::Cut)
        | (SessionRef::Cut { .. }, Sessions::Cut) => {}
        (SessionRef::Resume(_), Sessions::None) => return Some("resume a session: it has none"),
        (SessionRef::Fork { .. }, Sessions::None) => return Some("copy a session: it has none"),
        (SessionRef::Cut { .. }, Sessions::None | Sessions::Copied) => return Some("cut a session at a point of it"),
    }
    let asked = [
        (ask.max_turns.is_some(), Limit::Turns, "limit turns: omit `max_turns`, or use another agent"),
        (ask.budget_usd.is_some(), Limit::Money, "keep to a budget: omit `budget_usd`, or use another agent"),
    ];
    let unkept = asked.into_iter().find(|(asked, limit, _)| *asked && dialect.keeps(*limit) != Keeping::DuringRuns);
    unkept.map(|(_, _, what)| what)
}
