//! Host and Origin: keeps pages of other sites from reaching a server on loopback (DNS rebinding, cross-site requests).
//!
//! Must not know tokens. Only configured origins get CORS headers; pages of all others are refused.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use tower_http::cors::{AllowHeaders, CorsLayer};

use crate::config::ServerConfig;

/// Tells OpenAI's libraries whether to retry a request.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
/// How long a browser may cache the answer to a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

/// The hosts that a request may name, and the pages that may send one.
#[derive(Debug, Clone)]
pub(crate) struct HostRules {
    names: Vec<String>,
    origins: Vec<String>,
    /// Whether every address is accepted as a host, or the loopback ones only. A page can rebind a name, never an address.
    any_address: bool,
}

impl HostRules {
    /// Rules for a server that listens on this address.
    pub(crate) fn new(config: &ServerConfig, listening_on: SocketAddr) -> Self {
        let public =
            config.public_url.as_deref().and_then(|url| url.split_once("://")).map(|(_, place)| host_of(place));
        let names =
            config.allowed_hosts.iter().map(String::as_str).chain(public).map(str::to_ascii_lowercase).collect();
        let origins = config.allowed_origins.iter().map(|origin| origin.to_ascii_lowercase()).collect();
        Self { names, origins, any_address: !listening_on.ip().is_loopback() }
    }

    /// CORS headers for the configured origins; `None` if there are none. It runs behind the check of Host and Origin, so that it never sees
    /// another origin, and before the token, which browsers do not send with a preflight request.
    pub(crate) fn cors(&self) -> Option<CorsLayer> {
        let origins: Vec<HeaderValue> =
            self.origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect();
        (!origins.is_empty()).then(|| {
            CorsLayer::new()
                .allow_origin(origins)
                .allow_methods([Method::GET, Method::POST, Method::DELETE])
                .allow_headers(AllowHeaders::mirror_request())
                .expose_headers([header::LOCATION, header::RETRY_AFTER, SHOULD_RETRY])
                .max_age(PREFLIGHT_AGE)
        })
    }

    pub(crate) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), String> {
        let authority = authority(headers, uri).ok_or("the request has no readable Host header")?.to_ascii_lowercase();
        if !self.knows(host_of(&authority)) {
            return Err(format!(
                "this server does not answer to {authority:?}; to allow that name, add it to `allowed_hosts` in `[server]` of helix.toml"
            ));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().map_err(|_| "the Origin header is not readable")?.to_ascii_lowercase();
        let own = origin.split_once("://").is_some_and(|(_, place)| place == authority);
        if own || self.origins.contains(&origin) {
            return Ok(());
        }
        Err(format!(
            "pages of {origin:?} may not call this server; to allow them, add the origin to `allowed_origins` in `[server]` of helix.toml"
        ))
    }

    fn knows(&self, host: &str) -> bool {
        if host == "localhost" || self.names.iter().any(|name| name == host) {
            return true;
        }
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        address.is_ok_and(|address| address.is_loopback() || self.any_address)
    }
}

/// The server that a request names, its port included.
pub(crate) fn authority<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let named = uri.authority().map(|authority| authority.as_str());
    named.or_else(|| headers.get(header::HOST).and_then(|value| value.to_str().ok()))
}

/// The host without its port.
pub(crate) fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.ends_with(':') => host,
        _ => authority,
    }
}

#[cfg(test)]
#[path = "host_check_test.rs"]
mod tests;
