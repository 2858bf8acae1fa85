//! News of jobs for a chat whose answer has ended: by Open WebUI's API, where its user gave Helix a key.
//!
//! Must not know how an answer is streamed. What does not arrive is not told again: the next answer begins with it.

use std::time::Duration;

use axum::http::HeaderMap;
use helix_core::error_chain;
use helix_core::ids::{SessionId, TurnId};
use helix_engine::sessions::{JobNews, Watch};
use helix_job::JobStatus;
use helix_language::Language;
use jiff::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::status_line::{one_line, status_event};
use super::turn_request::{TEMPORARY_CHAT, chat, client_message};
use super::turn_stream::TurnStream;
use crate::profile::Profile;
use crate::state::ServerState;

/// Time limit for an answer of Open WebUI.
const LIMIT: Duration = Duration::from_secs(10);

/// Where Open WebUI is, and the key of an account there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewsKey {
    /// Address of its page, without a slash at the end.
    pub page: String,
    /// A token or an API key.
    pub token: String,
}

impl NewsKey {
    /// The file of a state directory that holds it, as JSON.
    pub const FILE: &str = "openwebui.key";
}

/// An answer in a chat that Open WebUI keeps.
#[derive(Debug, Clone)]
pub(super) struct Place {
    chat: String,
    message: String,
}

impl Place {
    /// The place of a request's answer; `None` where the client is another one, or keeps none.
    pub(super) fn from_headers(headers: &HeaderMap, profile: Profile) -> Option<Self> {
        let chat = chat(headers).filter(|id| !id.as_bytes().starts_with(TEMPORARY_CHAT))?;
        let chat = chat.to_str().ok().filter(|_| profile.is_open_webui())?.trim().to_owned();
        Some(Self { chat, message: client_message(headers)? })
    }

    fn path(&self) -> String {
        let [chat, message] = [&self.chat, &self.message].map(|id| utf8_percent_encode(id, NON_ALPHANUMERIC));
        format!("/api/v1/chats/{chat}/messages/{message}/event")
    }
}

/// A turn whose session's jobs are watched after its answer.
#[derive(Debug, Clone)]
pub(super) struct Watched {
    session: SessionId,
    turn: TurnId,
    language: Language,
}

impl Watched {
    /// `None` before the turn runs.
    pub(super) fn from_turn(turn: &TurnStream) -> Option<Self> {
        let (session, id) = turn.began()?;
        Some(Self { session: session.clone(), turn: id.clone(), language: turn.language() })
    }

    /// News of the jobs, if there are any that go on.
    pub(super) async fn jobs(&self, shared: &ServerState, watch: Watch) -> Option<mpsc::Receiver<JobNews>> {
        let Self { session, turn, language } = self;
        shared.engine.sessions().follow_jobs(session, turn, *language, watch).await.unwrap_or_else(|error| {
            tracing::warn!(%session, error = error_chain(&error), "cannot follow the jobs of a session");
            None
        })
    }
}

/// Tells a chat what its jobs do from now on, where there is a key: until they are over, one asks, or the chat goes on.
pub(super) async fn tell(shared: ServerState, place: Place, watched: Watched) {
    let since = Timestamp::now();
    let Some(key) = key(&shared).await else { return };
    let Some(mut jobs) = watched.jobs(&shared, Watch::On(since)).await else { return };
    let told = async {
        let http = client(&key)?;
        let address = format!("{}{}", key.page, place.path());
        while let Some(news) = jobs.recv().await {
            for event in events(&news, watched.language) {
                let request = http.post(&address).bearer_auth(&key.token).json(&event);
                request.send().await?.error_for_status()?;
            }
        }
        Ok::<_, reqwest::Error>(())
    };
    tokio::select! {
        told = told => if let Err(error) = told {
            let error = error_chain(&error.without_url());
            tracing::warn!(page = key.page, error, "Open WebUI cannot be told what jobs do; `helix openwebui connect --news` renews the key");
        },
        () = shared.shutdown.cancelled() => {}
    }
}

/// The key, if there is one by now.
async fn key(shared: &ServerState) -> Option<NewsKey> {
    let path = shared.config.news_key.as_ref()?;
    let text = match tokio::fs::read(path).await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        read => read,
    };
    let key = text.and_then(|text| serde_json::from_slice(&text).map_err(std::io::Error::from));
    key.inspect_err(|error| tracing::warn!(path = %path.display(), %error, "the key of Open WebUI cannot be read")).ok()
}

/// What Open WebUI is sent: the line above the answer, and a notification where somebody should look. It shows a list of phases only
/// while an answer is under way.
fn events(news: &JobNews, language: Language) -> Vec<Value> {
    let line = one_line(&news.line(language));
    let kind = match news {
        JobNews::Progress { .. } | JobNews::GoesOn { .. } => None,
        JobNews::Asks(_) => Some("warning"),
        JobNews::Over(job) => Some(match job.status {
            JobStatus::Succeeded => "success",
            JobStatus::Failed => "error",
            _ => "info",
        }),
    };
    let toast = kind.map(|kind| json!({ "type": "notification", "data": { "type": kind, "content": line } }));
    [status_event(&line)].into_iter().chain(toast).collect()
}

fn client(key: &NewsKey) -> reqwest::Result<reqwest::Client> {
    let mut http = reqwest::Client::builder().timeout(LIMIT).redirect(reqwest::redirect::Policy::none());
    let page = reqwest::Url::parse(&key.page).ok();
    if page.is_some_and(|page| page.host_str().is_some_and(|host| ["127.0.0.1", "localhost", "[::1]"].contains(&host)))
    {
        // A proxy of the user's is for the world outside.
        http = http.no_proxy();
    }
    http.build()
}
