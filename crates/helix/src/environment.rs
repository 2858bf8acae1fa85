//! What the process was given by its surroundings, read once. Must not know what the values are used for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Environment variables and directories of this process.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
    /// Where the command was started; all relative paths are meant from here.
    pub(crate) directory: PathBuf,
    /// This very binary.
    pub(crate) program: PathBuf,
}

impl Environment {
    /// Reads the surroundings. Variables that are not UTF-8 are left out: no variable that Helix reads may be one.
    ///
    /// # Errors
    /// When the working directory or the program's own path cannot be found.
    pub(crate) fn of_this_process() -> std::io::Result<Self> {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Ok(Self { variables, directory: std::env::current_dir()?, program: std::env::current_exe()? })
    }

    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Names of all variables.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Who sits here, for records.
    pub(crate) fn person(&self) -> String {
        let name = ["USER", "LOGNAME"].into_iter().find_map(|name| self.variable(name));
        format!("{} (terminal)", name.filter(|name| !name.trim().is_empty()).unwrap_or("somebody"))
    }

    /// The user's home.
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
        use std::os::unix::fs::PermissionsExt;
        let executable =
            |path: &Path| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
        if name.contains('/') {
            let path = self.directory.join(name);
            return executable(&path).then_some(path);
        }
        let path = self.variable("PATH")?;
        std::env::split_paths(path).map(|directory| directory.join(name)).find(|candidate| executable(candidate))
    }
}
