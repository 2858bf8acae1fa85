//! The part of `[server]` that says who may call, and how chat clients are served.
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
/// What `allowed_hosts` has.
const HOST: &str = "a host name without scheme and port, such as \"host.docker.internal\"";
/// What `allowed_origins` has.
const ORIGIN: &str = "an origin, such as \"https://chat.example\" or \"http://localhost:3000\"";

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
            allowed_hosts: each(section, "allowed_hosts", (is_host, HOST), document),
            allowed_origins: each(section, "allowed_origins", (is_origin, ORIGIN), document),
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
            // Browsers send an origin without the slash that addresses are often copied with.
            config.allowed_origins = origins.value.iter().map(|one| one.trim_end_matches('/').to_owned()).collect();
        }
        config
    }
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

/// A list of which each item must have a form: one that could never match would let nobody in, and not say so.
fn each(
    section: &mut Section<'_, '_>,
    key: &'static str,
    (fits, wanted): (fn(&str) -> bool, &str),
    document: &mut Document<'_>,
) -> Option<Written<Vec<String>>> {
    let written = section.texts(key, document)?;
    if let Some(wrong) = written.value.iter().find(|item| !fits(item)) {
        let message = format!("`server.{key}` has {wrong:?}, which is not {wanted}");
        document.error(codes::CONFIG_VALUE, written.range, message, Some(format!("write {wanted}")));
        return None;
    }
    Some(written)
}

/// A name as in a Host header: addresses need not be allowed, see `helix_server`'s rules.
fn is_host(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

/// As browsers write it: scheme, host, at most a port, and nothing behind it.
fn is_origin(text: &str) -> bool {
    let Some((scheme, place)) = text.trim_end_matches('/').split_once("://") else { return false };
    let (host, port) = place.rsplit_once(':').filter(|_| !place.ends_with(']')).unwrap_or((place, "0"));
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let named = is_host(host) || address.is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    matches!(scheme, "http" | "https") && named && port.parse::<u16>().is_ok()
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
        assert_eq!(of("[server]\nrate_limit = 0\n").rate_limit, None);
        let grace = of("[server]\ndisconnect_grace = \"3s\"\nclient = \"auto\"\n");
        assert_eq!((grace.disconnect, grace.client), (Disconnect::StopAfter(Duration::from_secs(3)), None));
    }

    #[test]
    fn the_file_says_who_may_call() {
        let config = of(concat!(
            "[server]\nallowed_hosts = [\"host.docker.internal\"]\n",
            "allowed_origins = [\"https://chat.example/\", \"http://[::1]:3000\"]\n",
        ));
        assert_eq!(config.allowed_hosts, ["host.docker.internal"]);
        assert_eq!(config.allowed_origins, ["https://chat.example", "http://[::1]:3000"]);
    }

    #[test]
    fn names_that_could_never_match_are_refused() {
        let wrong = [
            ("allowed_hosts", "http://host.docker.internal"),
            ("allowed_hosts", "host.docker.internal:8787"),
            ("allowed_hosts", "*"),
            ("allowed_origins", "chat.example"),
            ("allowed_origins", "https://chat.example/page"),
            ("allowed_origins", "https://*.example"),
            ("allowed_origins", "*"),
            ("allowed_origins", "null"),
        ];
        for (key, value) in wrong {
            let text = format!("[server]\n{key} = [{value:?}]\n");
            let (_, problems) = read(Path::new("/helix.toml"), "helix.toml", &text);
            assert_eq!(problems.len(), 1, "{key} = {value}");
            assert!(problems[0].message.contains(value), "{problems:?}");
        }
    }

    #[test]
    fn words_that_are_not_known_are_refused_with_the_near_one() {
        let (_, problems) = read(Path::new("/helix.toml"), "helix.toml", "[server]\non_disconnect = \"detatch\"\n");
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].help.as_deref(), Some("did you mean \"detach\"?"));
    }
}
