//! The gateway to an agent's provider, prepared: the run gets a key of its own and an address on loopback, and this process keeps
//! the provider's. It ends with the keeper, and so does what its key opens.
//!
//! Must not know HTTP: the keeper's caller serves it.

use std::net::{Ipv4Addr, TcpListener};

use helix_core::recorded;
use helix_core::run::{NoWall, Wall, WallsHeld};

use super::complain;
use super::fault::KeeperFault;
use crate::invocation::{Invocation, RunRequest};
use crate::walls::{Gateway, Network, ProviderAddress};

/// Serves a passage until the process ends, on a thread of its own.
pub type ServeGateway = fn(Passage) -> std::io::Result<()>;

/// What passes to a provider for one run.
pub struct Passage {
    pub listener: TcpListener,
    /// The provider's address, such as `https://api.anthropic.com`.
    pub provider: String,
    /// The run's own keys, and the provider's that each stands for.
    pub keys: Vec<(String, String)>,
    /// The run's variables: proxies and certificates.
    pub environment: Vec<(String, String)>,
}

/// A passage that nobody serves yet.
pub(super) struct Open(Passage, ServeGateway);

impl Open {
    pub(super) fn serve(self) -> Result<(), KeeperFault> {
        let Self(passage, serve) = self;
        let work = move || {
            if let Err(error) = serve(passage) {
                complain(&format!("the gateway to the provider ended: {error}"));
            }
        };
        let thread = std::thread::Builder::new().name("gateway".into()).spawn(work);
        thread.map(drop).map_err(KeeperFault::system("start the gateway to the provider"))
    }
}

/// Takes the provider's keys and address out of what the run gets. `None` where it has none, or nobody serves the gateway: the ports of
/// the provider are opened then.
pub(super) fn open(request: &mut RunRequest, serve: Option<ServeGateway>) -> Result<Option<Open>, KeeperFault> {
    let Some(walls) = &mut request.walls else { return Ok(None) };
    let Some(gateway) = &mut walls.gateway else { return Ok(None) };
    let invocation = &mut request.invocation;
    let found = serve.filter(|_| !gateway.keys.is_empty()).zip(address(invocation, &gateway.address));
    let ports = match &mut walls.network {
        Network::Ports(ports) => Some(ports),
        Network::Open | Network::Closed => None,
    };
    let Some((serve, provider)) = found else {
        gateway.keys.clear();
        ports.into_iter().for_each(|ports| ports.append(&mut gateway.ports));
        return Ok(None);
    };
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|one| Ok((one.local_addr()?.port(), one)));
    let (port, listener) = bound.map_err(KeeperFault::system("listen for the agent's requests to its provider"))?;
    ports.into_iter().for_each(|ports| ports.push(port));
    // Below the same path, which is part of what agents ask for.
    let rest = provider.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    put_address(invocation, &gateway.address, &provider, &format!("http://127.0.0.1:{port}{path}"));
    let mut keys = Vec::new();
    for (_, value) in invocation.env.iter_mut().filter(|(name, _)| gateway.keys.contains(name)) {
        let own = random().map_err(KeeperFault::system("make a key for the run"))?;
        keys.push((own.clone(), std::mem::replace(value, own)));
    }
    past_proxies(&mut invocation.env);
    Ok(Some(Open(Passage { listener, provider, keys, environment: invocation.env.clone() }, serve)))
}

/// Says whether the run is without its provider's key.
pub(super) fn note(held: &mut WallsHeld, gateway: &Gateway) {
    if gateway.keys.is_empty() {
        held.missing.push(NoWall { wall: Wall::Key, why: recorded!("wall-key-in-reach") });
    } else {
        held.held.push(Wall::Key);
    }
}

/// The provider's address as the run has it.
fn address(invocation: &Invocation, place: &ProviderAddress) -> Option<String> {
    match place {
        ProviderAddress::Variable { name, default } => {
            let set = invocation.env.iter().rev().find(|(known, value)| known == name && !value.is_empty());
            Some(set.map_or(default, |(_, value)| value).clone())
        }
        ProviderAddress::Argument(number) => {
            let (_, value) = invocation.args.get(*number)?.split_once("base_url=\"")?;
            value.split('"').next().map(str::to_owned)
        }
    }
}

fn put_address(invocation: &mut Invocation, place: &ProviderAddress, provider: &str, own: &str) {
    match place {
        ProviderAddress::Variable { name, .. } => {
            invocation.env.retain(|(known, _)| known != name);
            invocation.env.push((name.clone(), own.to_owned()));
        }
        ProviderAddress::Argument(number) => {
            let (old, new) = (format!("base_url=\"{provider}\""), format!("base_url=\"{own}\""));
            invocation.args.get_mut(*number).into_iter().for_each(|word| *word = word.replacen(&old, &new, 1));
        }
    }
}

/// An agent with a proxy asks it for everything but what its variables except.
fn past_proxies(env: &mut Vec<(String, String)>) {
    if !env.iter().any(|(name, _)| name.to_ascii_uppercase().ends_with("_PROXY")) {
        return;
    }
    for name in ["NO_PROXY", "no_proxy"] {
        match env.iter_mut().rev().find(|(known, value)| known == name && !value.is_empty()) {
            Some((_, value)) => value.push_str(",127.0.0.1"),
            None => env.push((name.to_owned(), "127.0.0.1".to_owned())),
        }
    }
}

fn random() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().fold("hxk-".to_owned(), |text, byte| format!("{text}{byte:02x}")))
}

#[cfg(test)]
#[path = "gateway_test.rs"]
mod tests;
