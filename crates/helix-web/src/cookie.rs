//! The cookie that holds a session. Must not know whose it is.

use axum::http::{HeaderMap, header};

/// The name of this host's cookie: browsers keep one jar for all ports of a machine.
fn name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port =
        host.rsplit_once(':').map(|(_, port)| port).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    format!("helix-{}", port.filter(|port| !port.is_empty()).unwrap_or("web"))
}

/// The token of the session that a request shows.
pub fn session_of(headers: &HeaderMap) -> Option<&str> {
    let name = name(headers);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, token)| token)
}

/// What makes a browser keep a session; without one, forget it.
pub(crate) fn kept(headers: &HeaderMap, token: Option<&str>) -> String {
    let (name, token, age) =
        (name(headers), token.unwrap_or_default(), if token.is_some() { 30 * 24 * 3600 } else { 0 });
    // What ends TLS before Helix says so.
    let is_secure = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}")
}
