//! What the note of a job that is over leads to, its changes and its evidence, under signed addresses beside those of files.
//!
//! Must not know what a note says beside its commands.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use helix_core::ids::JobId;
use helix_engine::Engine;
use helix_engine::evidence::DiffSelection;
use helix_engine::sessions::FileSignature;
use helix_language::{Language, say};

use crate::linked_files::{self, GUARDS, PATH};
use crate::problem::Problem;
use crate::state::ServerState;

/// What can be opened of a job, by the command that shows it.
const SHOWN: [&str; 2] = [DIFF, EVIDENCE];
const DIFF: &str = "diff";
const EVIDENCE: &str = "evidence";
/// Separates the parts of a token; in none of a file's.
const SEPARATOR: char = '~';

/// Makes links of the commands in a job's note.
#[derive(Clone, Default)]
pub(crate) struct JobLinks {
    engine: Option<Engine>,
    /// Where browsers reach this server; `None` where that is unknown.
    base: Option<String>,
}

impl JobLinks {
    pub(crate) fn new(shared: &ServerState, base: Option<String>) -> Self {
        Self { engine: Some(shared.engine.clone()), base }
    }

    /// A job's note whose commands open in a browser, where that is possible.
    pub(crate) fn open(&self, job: &JobId, mut note: String) -> String {
        let (Some(engine), Some(base)) = (&self.engine, &self.base) else { return note };
        let Some(signature) = engine.sessions().signature_of_job(job) else { return note };
        let signature = URL_SAFE_NO_PAD.encode(signature);
        for shown in SHOWN {
            let command = format!("`helix jobs {shown} {job}`");
            let address = format!("{base}{PATH}{job}{SEPARATOR}{shown}{SEPARATOR}{signature}");
            note = note.replace(&command, &format!("[{command}]({address})"));
        }
        note
    }
}

/// `GET /helix/files/{token}`
pub(crate) async fn show(
    State(shared): State<ServerState>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let asked = headers.get(header::ACCEPT_LANGUAGE).and_then(|asked| Language::of_tag(asked.to_str().ok()?));
    let language = asked.unwrap_or_default();
    match of_job(&shared, &token, language).await {
        Some(shown) => shown,
        None => linked_files::show(&shared, &token, language).await,
    }
}

/// What a token of a job leads to; `None` if it is none.
async fn of_job(shared: &ServerState, token: &str, language: Language) -> Option<Result<Response, Problem>> {
    let mut parts = token.split(SEPARATOR);
    let (job, shown, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let job = JobId::new(job).ok()?;
    let signature: FileSignature = URL_SAFE_NO_PAD.decode(signature).ok()?.try_into().ok()?;
    if !shared.engine.sessions().is_signature_of_job(&job, &signature) {
        return None;
    }
    let shown = SHOWN.into_iter().find(|one| *one == shown)?;
    Some(
        text(shared, &job, shown, language)
            .await
            .map(|text| (GUARDS, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()),
    )
}

async fn text(shared: &ServerState, job: &JobId, shown: &str, language: Language) -> Result<String, Problem> {
    let archive = shared.engine.reports().archive();
    if shown == DIFF {
        let found = archive.diff(job.as_str(), DiffSelection::default()).await?;
        let (from, to) = (found.from.to_string(), found.to.to_string());
        let cut = (found.cut > 0)
            .then(|| format!("\n{}\n", say!(language, "diff-more", bytes = found.cut, from = from, to = to)));
        return Ok(found.patch + &cut.unwrap_or_default());
    }
    let found = archive.evidence(job.as_str()).await?;
    let verdict = match found.proved {
        true => say!(language, "evidence-proved-now"),
        false => say!(language, "evidence-unproved"),
    };
    Ok(format!("{verdict}\n\n{}\n", found.text(language, |_, text| text.to_owned())))
}
