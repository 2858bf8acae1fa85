//! The part of `[server]` that says how chat clients are served.
//!
//! Must not know HTTP: it fills in `helix-server`'s own settings.

use std::time::Duration;

use helix_core::diagnostic::did_you_mean;
use helix_server::openai::Profile;
use helix_server::{BackgroundTasks, Disconnect, ServerConfig};

use super::document::{Document, Section, Written};
use crate::codes;

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ChatApiLayer {
    /// `rate_limit`: requests of a key in a minute; 0 for any number.
    rate_limit: Option<Written<u32>>,
    /// `client`.
    client: Option<Written<String>>,
    /// `on_disconnect`.
    on_disconnect: Option<Written<String>>,
    /// `disconnect_grace`.
    disconnect_grace: Option<Written<Duration>>,
    /// `background_tasks`.
    background_tasks: Option<Written<String>>,
    /// `body_limit_mb`.
    body_limit_mb: Option<Written<u32>>,
    /// `allowed_hosts`.
    allowed_hosts: Option<Written<Vec<String>>>,
    /// `allowed_origins`.
    allowed_origins: Option<Written<Vec<String>>>,
}

/// Words of `on_disconnect`.
const DISCONNECT: [&str; 2] = ["stop", "detach"];
/// Words of `background_tasks`.
const TASKS: [&str; 2] = ["answer", "off"];
/// The word of `client` that leaves it to each request.
const AUTO: &str = "auto";

impl ChatApiLayer {
    /// Reads the keys of the section.
    pub(crate) fn read(section: &mut Section<'_, '_>, document: &mut Document<'_>) -> Self {
        let clients: Vec<&'static str> = std::iter::once(AUTO).chain(Profile::NAMES).collect();
        Self {
            rate_limit: section.whole("rate_limit", document),
            client: word(section, "client", &clients, document),
            on_disconnect: word(section, "on_disconnect", &DISCONNECT, document),
            disconnect_grace: section.duration("disconnect_grace", document),
            background_tasks: word(section, "background_tasks", &TASKS, document),
            body_limit_mb: section.count("body_limit_mb", document),
            allowed_hosts: section.texts("allowed_hosts", document).filter(|hosts| are_hosts(hosts, document)),
            allowed_origins: section.texts("allowed_origins", document).filter(|pages| are_origins(pages, document)),
        }
    }

    /// Replaces what this file says and stronger ones have not said yet.
    pub(crate) fn below(self, stronger: Self) -> Self {
        Self {
            rate_limit: stronger.rate_limit.or(self.rate_limit),
            client: stronger.client.or(self.client),
            on_disconnect: stronger.on_disconnect.or(self.on_disconnect),
            disconnect_grace: stronger.disconnect_grace.or(self.disconnect_grace),
            background_tasks: stronger.background_tasks.or(self.background_tasks),
            body_limit_mb: stronger.body_limit_mb.or(self.body_limit_mb),
            allowed_hosts: stronger.allowed_hosts.or(self.allowed_hosts),
            allowed_origins: stronger.allowed_origins.or(self.allowed_origins),
        }
    }

    /// Fills in the server's settings.
    pub(crate) fn apply(&self, mut config: ServerConfig) -> ServerConfig {
        if let Some(limit) = &self.rate_limit {
            config.rate_limit = Some(limit.value).filter(|limit| *limit > 0);
        }
        if let Some(client) = &self.client {
            config.client = Profile::named(&client.value);
        }
        if let Some(grace) = &self.disconnect_grace {
            config.disconnect = Disconnect::StopAfter(grace.value);
        }
        if self.on_disconnect.as_ref().is_some_and(|word| word.value == DISCONNECT[1]) {
            config.disconnect = Disconnect::Detach;
        }
        if let Some(tasks) = &self.background_tasks {
            config.background_tasks =
                if tasks.value == TASKS[1] { BackgroundTasks::Refuse } else { BackgroundTasks::Answer };
        }
        if let Some(limit) = &self.body_limit_mb {
            config.body_limit = limit.value as usize * 1024 * 1024;
        }
        if let Some(hosts) = &self.allowed_hosts {
            config.allowed_hosts.clone_from(&hosts.value);
        }
        if let Some(origins) = &self.allowed_origins {
            config.allowed_origins = origins.value.iter().map(|one| one.trim_end_matches('/').to_owned()).collect();
        }
        config
    }
}

/// Whether all are names without scheme, port and path.
fn are_hosts(hosts: &Written<Vec<String>>, document: &mut Document<'_>) -> bool {
    let is_host = |host: &String| {
        !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
    };
    all_are(
        hosts,
        "server.allowed_hosts",
        is_host,
        "a host name such as \"host.docker.internal\", without a port",
        document,
    )
}

/// Whether all are what browsers call an origin.
fn are_origins(origins: &Written<Vec<String>>, document: &mut Document<'_>) -> bool {
    let is_origin = |origin: &String| {
        let place = origin.trim_end_matches('/').split_once("://");
        place.is_some_and(|(scheme, place)| !scheme.is_empty() && !place.is_empty() && !place.contains('/'))
    };
    all_are(origins, "server.allowed_origins", is_origin, "an origin such as \"https://chat.example\"", document)
}

fn all_are(
    written: &Written<Vec<String>>,
    key: &str,
    is_one: impl Fn(&String) -> bool,
    what: &str,
    document: &mut Document<'_>,
) -> bool {
    let Some(wrong) = written.value.iter().find(|one| !is_one(one)) else { return true };
    let message = format!("{wrong:?} in `{key}` is not {what}");
    document.error(codes::CONFIG_VALUE, written.range.clone(), message, None);
    false
}

/// One of some words.
fn word(
    section: &mut Section<'_, '_>,
    key: &'static str,
    known: &[&'static str],
    document: &mut Document<'_>,
) -> Option<Written<String>> {
    let written = section.text(key, document)?;
    if known.contains(&written.value.as_str()) {
        return Some(written);
    }
    let help = match did_you_mean(&written.value, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("known: {}", known.join(", ")),
    };
    let message = format!("`server.{key}` cannot be {:?}", written.value);
    document.error(codes::CONFIG_VALUE, written.range, message, Some(help));
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::layer::read;
    use super::*;

    fn of(text: &str) -> ServerConfig {
        let (layer, problems) = read(Path::new("/helix.toml"), "helix.toml", text);
        assert!(problems.is_empty(), "{problems:?}");
        layer.chat_api.apply(ServerConfig::default())
    }

    #[test]
    fn the_file_says_how_chat_clients_are_served() {
        let config = of(
            "[server]\nrate_limit = 30\nclient = \"plain\"\non_disconnect = \"detach\"\nbackground_tasks = \"off\"\nbody_limit_mb = 2\n",
        );
        assert_eq!((config.rate_limit, config.client), (Some(30), Some(Profile::Plain)));
        assert_eq!((config.disconnect, config.background_tasks), (Disconnect::Detach, BackgroundTasks::Refuse));
        assert_eq!(config.body_limit, 2 * 1024 * 1024);
        let names = of(
            "[server]\nallowed_hosts = [\"host.docker.internal\"]\nallowed_origins = [\"https://chat.example/\", \"http://localhost:3000\"]\n",
        );
        assert_eq!(names.allowed_hosts, ["host.docker.internal"]);
        assert_eq!(names.allowed_origins, ["https://chat.example", "http://localhost:3000"]);
        for wrong in
            ["allowed_hosts = [\"http://x\"]", "allowed_origins = [\"*\"]", "allowed_origins = [\"https://a/b\"]"]
        {
            let (_, problems) = read(Path::new("/helix.toml"), "helix.toml", &format!("[server]\n{wrong}\n"));
            assert_eq!(problems.len(), 1, "{wrong}");
        }
        assert_eq!(of("[server]\nrate_limit = 0\n").rate_limit, None);
        let grace = of("[server]\ndisconnect_grace = \"3s\"\nclient = \"auto\"\n");
        assert_eq!((grace.disconnect, grace.client), (Disconnect::StopAfter(Duration::from_secs(3)), None));
    }

    #[test]
    fn words_that_are_not_known_are_refused_with_the_near_one() {
        let (_, problems) = read(Path::new("/helix.toml"), "helix.toml", "[server]\non_disconnect = \"detatch\"\n");
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].help.as_deref(), Some("did you mean \"detach\"?"));
    }
}
