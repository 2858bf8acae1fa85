//! What the process was given by its environment, read once. Must not know what the values are used for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use nix::unistd::{User, geteuid};

use crate::error::{CommandError, codes};

/// Environment variables and directories of this process.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
    /// Where the command was started; all relative paths are meant from here.
    pub(crate) directory: PathBuf,
    pub(crate) program: PathBuf,
}

impl Environment {
    /// Reads the environment. Variables that are not UTF-8 are left out, and of `PATH` the directories that are not.
    ///
    /// # Errors
    /// When the working directory or the program's own path cannot be found, or a variable that says where things are is not UTF-8:
    /// without it they would be somewhere else.
    pub(crate) fn of_this_process() -> Result<Self, CommandError> {
        let missing = |what: &str, hint: &str| {
            let error = CommandError::environment(codes::RUNTIME, format!("cannot find the {what}")).hint(hint);
            move |source: std::io::Error| error.because(&source)
        };
        let directory =
            std::env::current_dir().map_err(missing("working directory", "change to a directory that exists"))?;
        let program = std::env::current_exe()
            .map_err(missing("program's own file", "mount /proc: Helix needs it to start and watch agents"))?;
        let mut variables = BTreeMap::new();
        for (name, value) in std::env::vars_os() {
            let Ok(name) = name.into_string() else { continue };
            let value = if name == "PATH" { Ok(readable_directories(value)) } else { value.into_string() };
            match value {
                Ok(value) => drop(variables.insert(name, value)),
                Err(_) if name == "HOME" || name.starts_with("XDG_") || name.starts_with("HELIX_") => {
                    let message = format!("the environment variable {name} is not UTF-8");
                    return Err(CommandError::usage(codes::NOT_UTF8, message)
                        .hint(format!("set {name} to a path in UTF-8, or unset it")));
                }
                Err(_) => {}
            }
        }
        Ok(Self { variables, directory, program })
    }

    /// An environment without variables.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        let variables = BTreeMap::from([("HOME".to_owned(), "/home/user".to_owned())]);
        Self { variables, directory: "/p".into(), program: "/bin/helix".into() }
    }

    /// A path as text, which is how it goes into records and requests.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub(crate) fn text_of(path: &Path) -> Result<String, CommandError> {
        path.to_str().map(str::to_owned).ok_or_else(|| {
            CommandError::usage(codes::NOT_UTF8, format!("the path {path:?} is not UTF-8"))
                .hint("rename it, or choose a path in UTF-8")
        })
    }

    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Names of all variables.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// The user of this process, by name: as the environment says, else as the system knows it.
    pub(crate) fn user(&self) -> String {
        let named = ["USER", "LOGNAME"].into_iter().filter_map(|name| self.variable(name));
        let named = named.map(str::to_owned).find(|name| !name.trim().is_empty());
        let known = || User::from_uid(geteuid()).ok().flatten().map(|user| user.name);
        named.or_else(known).unwrap_or_else(|| "user".to_owned())
    }

    /// Who sits here, for what is written without a host.
    pub(crate) fn person(&self) -> String {
        format!("{} (terminal)", self.user())
    }

    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// A directory of the XDG base directory specification: the variable if it is absolute, else below the home.
    pub(crate) fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.variable(variable)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| Some(self.home()?.join(below_home)))
    }

    /// A path as the user wrote it, made absolute; `~/` is the home.
    pub(crate) fn path(&self, written: &str, relative_to: &Path) -> PathBuf {
        match (written.strip_prefix("~/"), self.home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => relative_to.join(written),
        }
    }

    /// Where a program would be found.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        helix_process::find_program(Path::new(name), self.variable("PATH")?, &self.directory).ok()
    }
}

/// `PATH` without the directories that are not UTF-8.
fn readable_directories(path: OsString) -> String {
    path.into_string().unwrap_or_else(|path| {
        let readable = std::env::split_paths(&path).filter_map(|directory| directory.to_str().map(str::to_owned));
        readable.collect::<Vec<_>>().join(":")
    })
}
