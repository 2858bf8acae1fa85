//! Who sends a request, by what they show: the terminal's socket, a token, a key. Never by what a request says of itself.
//!
//! Must not know what a request asks for, beyond its route.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use helix_core::ids::RunId;
use helix_engine::Engine;
use helix_engine::keys::Holder;
use helix_engine::peer::{Standing, is_of_other_user, is_of_this_machine, standing_of_tcp};
use helix_job::{How, Person};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use subtle::ConstantTimeEq;
use tokio::sync::OnceCell;

use crate::problem::{Problem, codes};
use crate::state::ServerState;

/// What is encoded in the parts of an owner's name.
const IN_OWNER: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'@');

/// Who sends a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Principal {
    Person(Person),
    /// A chat client with a token of its own.
    Chat(String),
    /// The agent of a run that is at work.
    Agent(RunId),
}

/// The other end of a connection.
#[derive(Debug, Clone)]
pub(crate) enum Peer {
    /// Of the terminal's socket, as the kernel told when it connected.
    Socket {
        is_own_user: bool,
        standing: Standing,
    },
    Tcp(Arc<TcpPeer>),
}

/// The other end of a TCP connection; who that is, is looked up once, and only for those who claim to be a person.
#[derive(Debug)]
pub(crate) struct TcpPeer {
    pub(crate) peer: SocketAddr,
    pub(crate) own: SocketAddr,
    pub(crate) standing: OnceCell<Standing>,
}

impl TcpPeer {
    /// Whether another user of this machine connects: no login is for them, whatever code they have read off the list of processes.
    pub(crate) async fn is_of_other_user(&self) -> bool {
        let (peer, own) = (self.peer, self.own);
        let looked = tokio::task::spawn_blocking(move || is_of_this_machine(peer) && is_of_other_user(peer, own)).await;
        looked.unwrap_or(true)
    }

    async fn standing(&self, engine: &Engine) -> Standing {
        let (peer, own, runs) = (self.peer, self.own, engine.runs());
        // Agents are on this machine; who comes from another one has the token alone.
        if !is_of_this_machine(peer) {
            return Standing::Outside;
        }
        let look = || async move {
            let looked = tokio::task::spawn_blocking(move || standing_of_tcp(peer, own, &runs)).await;
            looked.unwrap_or(Standing::Unknown)
        };
        self.standing.get_or_init(look).await.clone()
    }
}

/// Finds out who sends a request to this route.
///
/// # Errors
/// A [`Problem`] when that is unknown, or an agent poses as a person, which is recorded.
pub(crate) async fn authenticate(
    shared: &ServerState,
    headers: &HeaderMap,
    peer: Option<&Peer>,
    asked: &RequestedRoute<'_>,
) -> Result<Principal, Problem> {
    let engine = &shared.engine;
    let token = bearer(headers);
    let peer = match peer {
        Some(Peer::Socket { is_own_user: false, .. }) => {
            return Err(forbidden("this socket is for the user of the host alone"));
        }
        Some(Peer::Socket { standing, .. }) => {
            no_agent(engine, standing, asked).await?;
            return Ok(Principal::Person(engine.owner(How::Terminal)));
        }
        Some(Peer::Tcp(peer)) => peer,
        None => return Err(forbidden("the connection has no other end")),
    };
    if let Some(run) = token.and_then(|token| engine.run_of_token(token)) {
        if !engine.is_at_work(&run).await? {
            let detail = format!("this is the token of run {run}, which has ended: it opens nothing any more");
            return Err(unauthorized(&detail));
        }
        no_other_agent(engine, peer, Some(&run), asked).await?;
        return Ok(Principal::Agent(run));
    }
    let person = match token.and_then(|token| engine.keys().holder(token)) {
        Some((Holder::Chat, name)) => {
            no_other_agent(engine, peer, None, asked).await?;
            return Ok(Principal::Chat(name));
        }
        Some((Holder::Person, name)) => Person::new(&name, How::Key),
        None => match (&shared.config.token, token) {
            (None, _) => engine.owner(How::Open),
            // Only the token's length can be learnt from the time it takes.
            (Some(own), Some(given)) if given.as_bytes().ct_eq(own.as_bytes()).into() => engine.owner(How::Token),
            (Some(_), _) => {
                let detail = "this request needs the header `Authorization: Bearer <token>` with this server's token";
                return Err(unauthorized(detail));
            }
        },
    };
    no_agent(engine, &peer.standing(engine).await, asked).await?;
    Ok(Principal::Person(person))
}

/// Finds out who looks at a page: whose session the request shows; anybody, where the host asks nobody for a token. Nothing else that a request
/// shows counts, and a session that an agent has got hold of opens nothing to it.
///
/// # Errors
/// A [`Problem`] when it is an agent, which is recorded, or unknown.
pub(crate) async fn visitor(
    shared: &ServerState,
    headers: &HeaderMap,
    peer: Option<&Peer>,
    asked: &RequestedRoute<'_>,
) -> Result<Option<Person>, Problem> {
    let engine = &shared.engine;
    match peer {
        Some(Peer::Tcp(peer)) => no_agent(engine, &peer.standing(engine).await, asked).await?,
        Some(Peer::Socket { .. }) | None => return Err(forbidden("pages are for browsers, which connect over TCP")),
    }
    let logged_in = helix_web::session_of(headers).and_then(|session| engine.logins().person(session));
    Ok(logged_in.or_else(|| shared.config.token.is_none().then(|| engine.owner(How::Open))))
}

/// What is asked for.
pub(crate) struct RequestedRoute<'a> {
    pub(crate) method: &'a Method,
    /// The path as the list of routes has it.
    pub(crate) route: &'a str,
}

impl RequestedRoute<'_> {
    /// Whether it only looks.
    fn reads(&self) -> bool {
        [Method::GET, Method::HEAD, Method::OPTIONS].contains(self.method)
    }

    fn is_below(&self, path: &str) -> bool {
        self.route.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl Principal {
    /// Whether a route is open to them.
    ///
    /// # Errors
    /// A [`Problem`]; what an agent wanted to do is recorded.
    pub(crate) async fn may(&self, engine: &Engine, asked: &RequestedRoute<'_>) -> Result<(), Problem> {
        match self {
            Self::Agent(_) if asked.is_below("/mcp") => Ok(()),
            Self::Agent(run) => Err(agent_refused(engine, run.as_str(), asked).await),
            Self::Chat(_) if asked.is_below("/v1") => Ok(()),
            Self::Chat(name) => Err(forbidden(format!("the token of the chat client {name} opens /v1 alone"))
                .hint("use the host's own token, or a person's key: `helix people add NAME`")),
            Self::Person(person) if asked.is_below("/api/v1/keys") && person.how != How::Terminal => {
                Err(forbidden("keys are made and revoked at the terminal of the host alone")
                    .hint("run `helix people` or `helix token` there"))
            }
            Self::Person(person) if asked.is_below("/api/v1/sessions") && person.how == How::Key => {
                Err(forbidden("sessions of others are for the owner of the host").hint("talk with the Consultant: /v1"))
            }
            Self::Person(_) => Ok(()),
        }
    }

    /// Whose sessions they reach, whatever user a request names; `None`: those of the user that it names, or all.
    pub(crate) fn owner(&self, forwarded: Option<&[u8]>) -> Option<String> {
        let own = |name: &str| percent_encode(name.as_bytes(), IN_OWNER).to_string();
        match self {
            // Two clients may call different people alike.
            Self::Chat(client) => {
                Some(format!("{}/{}", own(client), percent_encode(forwarded.unwrap_or_default(), IN_OWNER)))
            }
            Self::Person(Person { name, how: How::Key }) => Some(format!("key/{}", own(name))),
            Self::Person(_) | Self::Agent(_) => None,
        }
    }
}

/// The person who sends a request.
pub(crate) struct By(pub(crate) Person);

impl<S: Sync> FromRequestParts<S> for By {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match parts.extensions.get::<Principal>() {
            Some(Principal::Person(person)) => Ok(Self(person.clone())),
            Some(Principal::Chat(_) | Principal::Agent(_)) | None => Err(forbidden("this is for a person")),
        }
    }
}

async fn no_agent(engine: &Engine, standing: &Standing, asked: &RequestedRoute<'_>) -> Result<(), Problem> {
    match standing {
        Standing::Outside => Ok(()),
        Standing::Within(run) => Err(agent_refused(engine, run, asked).await),
        Standing::Unknown => Err(forbidden(
            "the process that sends this is unknown: it has ended, or cannot be seen",
        )
        .hint(
            "send it from a process of this machine that stays until the answer, or from another machine with a token",
        )),
    }
}

/// Refuses a run's processes what is somebody else's: another run's token, or a chat client's. Who cannot be seen may be anybody.
async fn no_other_agent(
    engine: &Engine,
    peer: &TcpPeer,
    own: Option<&RunId>,
    asked: &RequestedRoute<'_>,
) -> Result<(), Problem> {
    match peer.standing(engine).await {
        Standing::Within(run) if own.is_none_or(|own| own.as_str() != run) => {
            Err(agent_refused(engine, &run, asked).await)
        }
        Standing::Within(_) | Standing::Outside | Standing::Unknown => Ok(()),
    }
}

async fn agent_refused(engine: &Engine, run: &str, asked: &RequestedRoute<'_>) -> Problem {
    if !asked.reads() {
        engine.jobs().agent_refused(run, &format!("{} {}", asked.method, asked.route)).await;
    }
    let detail = format!("run {run} is an agent's: this is for people alone");
    Problem::new(StatusCode::FORBIDDEN, codes::AGENT, detail)
        .hint("it was refused and is on record; an agent calls its own tools, such as `ask_user`")
}

fn forbidden(detail: impl Into<Box<str>>) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, codes::FORBIDDEN, detail)
}

fn unauthorized(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, codes::UNAUTHORIZED, detail)
        .hint("the token is in the file `token` of the state directory; `helix serve` prints its path")
}

/// The token that a request carries.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, given) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case("bearer ").then(|| given.trim())
}

#[cfg(test)]
#[path = "principal_test.rs"]
mod tests;
