//! Helix's own pages: the board, jobs, questions, decisions and this host, rendered here and shown in a browser.
//!
//! Must not know SQL, nor who may get in: the server that mounts them says who looks ([`Visitor`]). Everything they show comes from the
//! engine in the types that the API sends, and whatever others wrote is text.

mod activity;
mod assets;
mod board;
mod card;
mod cookie;
mod decisions;
mod diff;
mod job;
mod layout;
mod live;
mod login;
mod markdown;
mod page_error;
mod questions;
mod reader;
mod sign;
mod system;
mod when;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::{get, post};
use helix_engine::Engine;
use tokio_util::sync::CancellationToken;

use crate::board::NowDoing;

pub use cookie::session_of;
pub use login::{LOGIN, ask_to_log_in, refuse};
pub use reader::Visitor;

/// What the paths of all files of the pages begin with, which say nothing about anybody.
pub const ASSETS: &str = "/assets/";

/// What a page may load and send, and where: to this host alone, and no script or style of its own text.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What all pages are made with. Cheap to clone.
#[derive(Clone)]
struct Pages {
    engine: Engine,
    /// Fires when the server shuts down: what follows a job ends then.
    shutdown: CancellationToken,
    /// Pause after which a silent stream says that it is there.
    heartbeat: Duration,
    /// What each agent does right now.
    now_doing: Arc<NowDoing>,
    started_at: jiff::Timestamp,
}

/// The pages with their files, for the server that lets visitors in.
pub fn router(engine: Engine, shutdown: CancellationToken, heartbeat: Duration) -> Router {
    let now_doing = NowDoing::followed(&engine, shutdown.clone());
    let pages = Pages { engine, shutdown, heartbeat, now_doing, started_at: jiff::Timestamp::now() };
    Router::new()
        .route("/", get(board::show))
        .route("/live", get(live::board))
        .route("/jobs/{id}", get(job::show))
        .route("/jobs/{id}/live", get(live::job))
        .route("/jobs/{id}/cancel", post(job::actions::cancel))
        .route("/jobs/{id}/resume", post(job::actions::resume))
        .route("/jobs/{id}/retry", post(job::actions::retry))
        .route("/jobs/{id}/bundle", get(job::evidence::bundle))
        .route("/questions", get(questions::show))
        .route("/questions/{id}", post(questions::answer))
        .route("/decisions", get(decisions::list))
        .route("/decisions/{file}", get(decisions::show))
        .route("/system", get(system::show))
        .route(LOGIN, get(login::log_in))
        .route("/logout", post(login::log_out))
        .route("/assets/{name}", get(assets::show))
        .layer(map_response(guarded))
        .with_state(pages)
}

/// What every answer tells the browser to keep to.
async fn guarded(mut answer: Response) -> Response {
    let always = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not `no-referrer`, with which browsers send forms without their origin.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let headers = answer.headers_mut();
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}
