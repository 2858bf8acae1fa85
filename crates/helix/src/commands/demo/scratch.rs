//! The demo's own corner of the file system: state, agent sessions, projects, a home with a git identity.
//!
//! Must not touch anything of the user's.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::cassette::cassette;
use crate::config::{FILE_NAME, ProjectFile, Trust};
use crate::environment::Environment;
use crate::error::CommandError;
use crate::files::unwritable;

/// Directories of one demo.
#[derive(Debug, Clone)]
pub(super) struct Scratch {
    pub(super) root: PathBuf,
    pub(super) state: PathBuf,
}

impl Scratch {
    /// Those of a demo that was prepared before.
    pub(super) fn at(root: &Path, state: Option<&Path>) -> Self {
        Self { root: root.to_owned(), state: state.map_or_else(|| root.join("state"), Path::to_owned) }
    }

    /// Prepares everything in a new directory; the state goes elsewhere if the user says so.
    pub(super) fn prepare(environment: &Environment, state: Option<&Path>) -> Result<Self, CommandError> {
        let root =
            tempfile::Builder::new().prefix("helix-demo-").tempdir().map_err(unwritable(&std::env::temp_dir()))?;
        let root = root.keep();
        let root = root.canonicalize().map_err(unwritable(&root))?;
        let scratch = Self::at(&root, state);
        for directory in [scratch.home(), scratch.projects()] {
            std::fs::create_dir(&directory).map_err(unwritable(&directory))?;
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let cassette_file = scratch.root.join("cassette.json");
        let cassette = cassette(&text(&scratch.state), &text(&scratch.config()));
        // JSON strings are TOML strings, too, for every path that can be written in UTF-8. Relative ones start at the file.
        let [program, tape, state] =
            [&environment.program, &cassette_file, &scratch.state].map(|path| json!(text(path)));
        let configuration = format!(
            "\
[defaults]
agent = \"demo\"

[agents.demo]
dialect = \"replay\"
command = [{program}, \"replay-agent\", \"--cassette\", {tape}]
config_dir = \"agent-sessions\"

[projects]
directory = \"projects\"

[server]
roots = [\".\", {state}]
"
        );
        let identity = "[user]\n\tname = Helix Demo\n\temail = demo@helix.invalid\n[init]\n\tdefaultBranch = main\n";
        for (path, content) in [
            (cassette_file.clone(), cassette.to_string()),
            (scratch.config(), configuration.clone()),
            (scratch.home().join(".gitconfig"), identity.to_owned()),
        ] {
            helix_process::replace_private(&path, content.as_bytes()).map_err(unwritable(&path))?;
        }
        // The commands that the demo names at its end are called in the project that it made.
        Trust::new(environment, &scratch.state).give(&ProjectFile::new(scratch.config(), configuration))?;
        Ok(scratch)
    }

    /// `HOME` of the demo.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Where the Consultant makes projects.
    pub(super) fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    pub(super) fn config(&self) -> PathBuf {
        self.root.join(FILE_NAME)
    }
}
