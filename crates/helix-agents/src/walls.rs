//! What an agent's processes may reach: what it was asked to do, in which directories, and what its dialect keeps for itself.
//!
//! Must not know what a run is for, nor what every run needs: that is `helix_process::Sandbox`.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use helix_process::{Gateway, Invocation, Network, ProviderAddress, Walls};

use crate::dialect::agent_kind;
use crate::profile::{AgentAsk, AgentProfile, McpPlace};

/// Variables with the address of a provider, or of what stands between.
const ADDRESSES: [&str; 6] =
    ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];
/// Where providers listen unless an address says otherwise.
const HTTPS: u16 = 443;

/// The walls of a run that is invoked so. A closed network leaves the ports of its provider and of its tool servers.
pub fn walls(profile: &AgentProfile, ask: &AgentAsk, invocation: &Invocation) -> Walls {
    let mut walls = ask.walls.clone();
    walls.writable.extend(ask.tools.write_below.iter().cloned());
    if ask.tools.shell {
        walls.writable.push(ask.cwd.clone());
    }
    walls.writable.extend(own_places(profile, invocation));
    walls.writable.push(ask.run_dir.join(format!("agent-{}", profile.dialect)).join("tmp"));
    walls.readable.extend([ask.cwd.clone(), ask.run_dir.clone()]);
    // The user's own words, such as a script or a cassette; what Helix adds lies in the run's directory.
    let named = profile.program().map(|(_, leading)| leading).unwrap_or_default();
    walls.readable.extend(named.iter().map(PathBuf::from).filter(|path| path.is_absolute()));
    let servers = ask.mcp.iter().map(|server| &server.at);
    walls.readable.extend(servers.clone().flat_map(McpPlace::files));
    walls.gateway = gateway(profile, invocation);
    if walls.network == Network::Closed {
        let mut open: Vec<u16> = servers.clone().filter_map(|at| Some(port(at.url()?))).collect();
        if walls.gateway.is_none() {
            open.extend(provider_ports(invocation));
        }
        walls.network = Network::Ports(open);
    }
    walls
}

/// How the agent reaches its provider; `None` where nobody knows one.
fn gateway(profile: &AgentProfile, invocation: &Invocation) -> Option<Gateway> {
    let provider = agent_kind(profile.dialect).provider?;
    let mut keys: Vec<&str> = provider.keys.to_vec();
    let address = match provider.address {
        Some((name, default)) => Some(ProviderAddress::Variable { name: name.into(), default: default.into() }),
        None => {
            let mut named = invocation.args.iter().enumerate().filter(|(_, word)| word.contains("base_url=\""));
            let (first, more) = (named.next(), named.next());
            // Of a provider that the user has described in the command, this is the variable of its key.
            keys.extend(first.and_then(|(_, word)| word.split_once("env_key=\"")?.1.split('"').next()));
            first.filter(|_| more.is_none()).map(|(number, _)| ProviderAddress::Argument(number))
        }
    };
    let elsewhere = address.is_none() || provider.elsewhere.iter().any(|name| variable(invocation, name).is_some());
    keys.retain(|name| !elsewhere && variable(invocation, name).is_some());
    keys.sort_unstable();
    keys.dedup();
    let keys = keys.into_iter().map(str::to_owned).collect();
    Some(Gateway { keys, address: address.unwrap_or(ProviderAddress::Argument(0)), ports: provider_ports(invocation) })
}

fn variable<'a>(invocation: &'a Invocation, name: &str) -> Option<&'a str> {
    let found = invocation.env.iter().rev().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
}

/// Settings and sessions. A directory that is not there yet is made: the agent could not.
fn own_places(profile: &AgentProfile, invocation: &Invocation) -> Vec<PathBuf> {
    let (name, at_home) = agent_kind(profile.dialect).own_places;
    let named = variable(invocation, name).map(PathBuf::from).or_else(|| profile.config_dir.clone());
    let places = match (named, variable(invocation, "HOME")) {
        (Some(directory), _) => vec![directory],
        (None, Some(home)) => at_home.iter().map(|path| Path::new(home).join(path)).collect(),
        (None, None) => Vec::new(),
    };
    for directory in places.iter().filter(|place| place.extension().is_none() && !place.exists()) {
        // One that cannot be made is named by the agent, which cannot make it either.
        drop(DirBuilder::new().recursive(true).mode(0o700).create(directory));
    }
    // A home of the agent's own.
    let own_home =
        profile.home.clone().filter(|home| std::env::var_os("HOME").is_none_or(|user| Path::new(&user) != home));
    places.into_iter().chain(own_home).collect()
}

fn provider_ports(invocation: &Invocation) -> Vec<u16> {
    ADDRESSES.iter().filter_map(|name| variable(invocation, name)).map(port).chain([HTTPS]).collect()
}

/// The port of an address such as `http://127.0.0.1:8787/mcp`.
fn port(address: &str) -> u16 {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let named = host.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    named.unwrap_or(if scheme == "http" { 80 } else { HTTPS })
}

#[cfg(test)]
#[path = "walls_test.rs"]
mod tests;
