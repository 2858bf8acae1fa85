//! What a git process gets as its environment: a list written here, never the caller's own.
//!
//! Must not know what git is asked to do.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

/// Variables of the environment that git needs to behave as the user expects: where it and its helpers are, whose
/// configuration it reads, and an identity given by environment. `GIT_DIR` and its like are not among them.
const PASSED: [&str; 17] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "SSH_AUTH_SOCK",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_EXEC_PATH",
    "GIT_CEILING_DIRECTORIES",
    "LD_LIBRARY_PATH",
];

/// Settings that hold for every git process of Helix. No prompt, no pager, no editor, no message in another language; objects as they
/// are, since `git replace` in any worktree would show others in their place; and nothing is fetched, not even what a partial clone
/// lacks: the repository says by which program (git 2.45 for the first of the two, all for the second).
const FIXED: [(&str, &str); 13] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    (PROTOCOLS, "none"),
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("GIT_SSH_COMMAND", "ssh -oBatchMode=yes"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_REFLOG_ACTION", "helix"),
];

/// The variable with the protocols by which git may fetch, whatever the configuration says.
pub(crate) const PROTOCOLS: &str = "GIT_ALLOW_PROTOCOL";

/// Configuration that overrides the user's: their hooks do not run for Helix's commits, nothing waits for a signing key,
/// no repacking starts in the background of a phase, and paths come out as they are.
const CONFIG: [(&str, &str); 13] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.quotePath", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("merge.autoStash", "false"),
    ("advice.detachedHead", "false"),
    ("core.safecrlf", "false"),
    ("submodule.recurse", "false"),
    ("color.ui", "false"),
    ("worktree.useRelativePaths", "false"),
];

/// Configuration of git in a repository of Helix's own besides: work places are whole, their file system tells `A` from `a`,
/// names that another system takes for `.git` are refused, nothing of an index is taken on trust, and nothing is fetched.
const OWN: [(&str, &str); 10] = [
    ("core.sparseCheckout", "false"),
    ("core.ignoreCase", "false"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.logAllRefUpdates", "false"),
    ("protocol.allow", "never"),
];

/// Of the variables passed on, those that count in a repository of Helix's own: where git and its helpers are, and who started it.
const PASSED_TO_OWN: [&str; 5] = ["PATH", "TMPDIR", "GIT_EXEC_PATH", "LD_LIBRARY_PATH", super::leftover::OWNER];

/// Variables of git in a repository of Helix's own: no configuration, attributes or grafts but those that lie in it.
const FIXED_IN_OWN: [(&str, &str); 4] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
];

/// Settings as variables: two for each, and their number at the end.
fn configuration<'a>(
    settings: impl Iterator<Item = &'a (&'a str, &'a str)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    let settings: Vec<_> = settings.collect();
    let count = ("GIT_CONFIG_COUNT".into(), settings.len().to_string().into());
    let numbered = settings.into_iter().enumerate().flat_map(|(index, (key, value))| {
        [
            (format!("GIT_CONFIG_KEY_{index}").into(), key.into()),
            (format!("GIT_CONFIG_VALUE_{index}").into(), value.into()),
        ]
    });
    numbered.chain([count])
}

/// Program and environment of every git process.
#[derive(Debug, Clone)]
pub struct GitEnvironment {
    program: PathBuf,
    variables: Vec<(OsString, OsString)>,
    steps: Option<Steps>,
}

/// Is told of the parts of operations.
#[derive(Clone)]
struct Steps(Arc<dyn Fn(String) + Send + Sync>);

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steps").finish_non_exhaustive()
    }
}

/// The directories of a path in which programs are looked for, but those that depend on where a process is: git works in directories
/// that agents have filled.
fn absolute(path: &OsStr) -> OsString {
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    // What was split at `:` can be joined with it.
    std::env::join_paths(directories).unwrap_or_default()
}

impl GitEnvironment {
    /// Takes the listed variables from this process.
    pub fn from_process() -> Self {
        Self::from_variables(std::env::vars_os())
    }

    /// Takes the listed variables out of these; everything else is left behind.
    pub fn from_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let passed = variables.into_iter().filter(|(name, _)| PASSED.iter().any(|known| name == OsStr::new(known)));
        let passed = passed.map(|(name, value)| if name == "PATH" { (name, absolute(&value)) } else { (name, value) });
        let fixed = FIXED.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let variables = passed.chain(fixed).chain(configuration(CONFIG.iter())).collect();
        Self { program: "git".into(), variables, steps: None }
    }

    /// Marks every git process as started by the host of this state directory, so that the next host can wait for those that
    /// outlive this one.
    #[must_use]
    pub fn owned_by(mut self, state: &std::path::Path) -> Self {
        self.variables.push((super::leftover::OWNER.into(), state.into()));
        self
    }

    /// The same git for a repository of Helix's own: of the user's environment and configuration nothing counts.
    #[must_use]
    pub(crate) fn closed(&self, git_dir: &std::path::Path) -> Self {
        let passed = |name: &OsString| PASSED_TO_OWN.iter().any(|known| name == OsStr::new(known));
        let passed = self.variables.iter().filter(|(name, _)| passed(name)).cloned();
        let fixed = FIXED.iter().chain(&FIXED_IN_OWN).map(|(name, value)| (name.into(), value.into()));
        let place = [(OsString::from("GIT_DIR"), git_dir.into())];
        let variables = passed.chain(fixed).chain(place).chain(configuration(CONFIG.iter().chain(&OWN))).collect();
        Self { program: self.program.clone(), variables, steps: self.steps.clone() }
    }

    /// Names each part of an operation that is done, on the thread that does it: for tests of what a crash leaves.
    #[must_use]
    pub fn telling(mut self, steps: impl Fn(String) + Send + Sync + 'static) -> Self {
        self.steps = Some(Steps(Arc::new(steps)));
        self
    }

    pub(crate) fn step(&self, name: impl FnOnce() -> String) {
        if let Some(Steps(listener)) = &self.steps {
            listener(name());
        }
    }

    /// Uses another git program.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    pub(crate) fn program(&self) -> &std::path::Path {
        &self.program
    }

    pub(crate) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }
}

#[cfg(test)]
#[path = "environment_test.rs"]
mod tests;
