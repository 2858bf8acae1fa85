//! What flags say, and where the state is kept: known before any file is read.
//!
//! Must not read files.

use std::path::PathBuf;

use super::files::{BUILT_IN, Setting};
use crate::environment::Environment;
use crate::error::{CommandError, codes};

/// What flags say; they win over everything.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Overrides {
    /// State directory [env: HELIX_STATE_DIR] [default: ~/.local/state/helix]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    pub(crate) state_dir: Option<PathBuf>,
    /// Configuration file [default: helix.toml here or above, then ~/.config/helix/helix.toml]
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    pub(crate) config: Option<PathBuf>,
}

/// Where the help lists the flags that every command has, so that they do not hide a command's own.
pub(crate) const GLOBAL: &str = "Global options";

/// Where the state is kept: flag, variable, XDG state home, in this order. It goes into records, requests and the environment of
/// agents as text.
pub(crate) fn state_dir(environment: &Environment, overrides: &Overrides) -> Result<Setting<PathBuf>, CommandError> {
    let flag = overrides.state_dir.clone().map(|path| (path, "--state-dir"));
    let variable = || Some((environment.variable("HELIX_STATE_DIR")?.into(), "HELIX_STATE_DIR"));
    let home = || {
        let origin = environment.variable("XDG_STATE_HOME").map_or(BUILT_IN, |_| "XDG_STATE_HOME");
        Some((environment.xdg("XDG_STATE_HOME", ".local/state")?.join("helix"), origin))
    };
    let (path, origin): (PathBuf, _) = flag.or_else(variable).or_else(home).ok_or_else(|| {
        CommandError::environment(codes::NO_STATE_PLACE, "no state directory: HOME is not an absolute path")
            .hint("set HOME, or choose a directory with --state-dir or HELIX_STATE_DIR")
    })?;
    let path = environment.directory.join(path);
    // Files below it are recognised by their paths, whatever way leads there.
    let path = path.canonicalize().unwrap_or(path);
    Environment::text_of(&path).map(|_| Setting::new(path, origin))
}
