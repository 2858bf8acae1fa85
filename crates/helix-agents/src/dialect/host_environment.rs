//! The environment that Helix itself runs with, and the agent's environment made from it.
//!
//! Must not pass anything on by default: what an agent gets is the explicit list that a dialect asks for.

use std::collections::BTreeMap;
use std::path::Path;

use crate::profile::AgentProfile;

/// Where programs are looked for if Helix itself has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that name a home, or directories of one.
const OF_A_HOME: [&str; 5] = ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

/// The variables that Helix runs with; those that are not UTF-8 are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostEnvironment(BTreeMap<String, String>);

impl HostEnvironment {
    /// Those of this process.
    pub fn of_this_process() -> Self {
        let utf8 = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(utf8).collect())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The environment of an agent, each replacing what comes before it: `PATH`, `HOME`, `LANG`, `TERM`; the dialect's `defaults`;
    /// the variables that the profile passes on, but to an agent with a home of its own none that leads to another one; the dialect's
    /// `variables`; the profile's own.
    pub(crate) fn for_agent(
        &self,
        profile: &AgentProfile,
        defaults: BTreeMap<String, String>,
        variables: BTreeMap<String, String>,
    ) -> Vec<(String, String)> {
        let mut env = BTreeMap::new();
        env.insert("PATH".to_owned(), self.get("PATH").unwrap_or(DEFAULT_PATH).to_owned());
        let home = profile.home.as_deref().map(path_text).or_else(|| self.get("HOME").map(str::to_owned));
        if let Some(home) = home {
            env.insert("HOME".to_owned(), home);
        }
        // A fixed locale: what agents and tools print must not depend on the user's.
        env.insert("LANG".to_owned(), "C.UTF-8".to_owned());
        env.insert("TERM".to_owned(), "dumb".to_owned());
        env.extend(defaults);
        let leads_home = |name: &String| profile.home.is_some() && OF_A_HOME.contains(&name.as_str());
        for name in profile.pass_env.iter().filter(|name| !leads_home(name)) {
            if let Some(value) = self.get(name) {
                env.insert(name.clone(), value.to_owned());
            }
        }
        env.extend(variables);
        env.extend(profile.env.iter().map(|(name, value)| (name.clone(), value.clone())));
        env.into_iter().collect()
    }
}

impl FromIterator<(String, String)> for HostEnvironment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// A path as the text of a variable or argument. Paths that are not UTF-8 cannot come in: configuration is UTF-8.
pub(crate) fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "host_environment_test.rs"]
mod tests;
