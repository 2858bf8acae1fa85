//! Forgets sessions that are temporary, older, or more than the user wants to keep: in the journal and on disk, with a line in the
//! log for each.
//!
//! Must not decide what is worth keeping beyond that; what is under way is never touched.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use helix_consultant::TEMPORARY;
use helix_core::ids::SessionId;
use helix_job::session::SessionView;
use helix_store::{AppendError, Forget};
use jiff::Timestamp;

use super::Sessions;
use crate::absent::unless_absent;
use crate::error::EngineError;

/// Between two looks.
const INTERVAL: Duration = Duration::from_secs(3_600);
/// A directory without a session is left alone for so long: it may be of one that is being opened.
const YOUNG: Duration = Duration::from_secs(86_400);

impl Sessions {
    /// Looks now and then, until the engine closes. A session that cannot be removed is tried again the next time.
    pub(crate) async fn keep_few(self: Arc<Self>) {
        loop {
            match self.forget_sessions().await {
                Ok(0) => {}
                Ok(count) => {
                    tracing::info!(
                        count,
                        "forgot sessions: temporary ones, and as [consultant] keep_days and keep_count say"
                    )
                }
                Err(error) => {
                    let error = helix_core::error_chain(&error);
                    tracing::warn!(error, "sessions that are not to be kept cannot be removed");
                }
            }
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = self.services.closing.cancelled() => return,
            }
        }
    }

    /// Forgets what is not to be kept; how many sessions that were.
    async fn forget_sessions(&self) -> Result<usize, EngineError> {
        let (retention, now) = (self.config.retention, Timestamp::now());
        let listed = self.list().await?;
        if let Some(session) = listed.unreadable.first() {
            tracing::warn!(%session, "no session is forgotten: what one that cannot be read was copied from is unknown");
            return Ok(0);
        }
        let mut all = listed.sessions;
        all.sort_by_key(|view| std::cmp::Reverse(view.updated_at));
        let mut may_go: HashSet<SessionId> = HashSet::new();
        let mut place = 0;
        for view in &all {
            if retention.lets_go(&view.key, place, view.updated_at, now) && self.is_at_rest(view).await? {
                may_go.insert(view.id.clone());
            }
            place += usize::from(!view.key.starts_with(TEMPORARY));
        }
        // Copies are younger than what they were copied from, and go on from turns of it: a copy that stays keeps its origin.
        all.sort_by(|one, other| other.id.cmp(&one.id));
        let mut forgotten = HashSet::new();
        for view in &all {
            if let Some(origin) = view.copied_from.as_ref().filter(|_| !may_go.contains(&view.id)) {
                may_go.remove(origin);
            }
        }
        for view in all.iter().filter(|view| may_go.contains(&view.id)) {
            let fence = Some(self.services.writer.fence.clone());
            let forget = Forget { session: view.id.clone(), last_event: view.last_event, fence };
            match self.services.journal().forget_session(forget).await {
                Ok(()) => {
                    tracing::info!(session = %view.id, turns = view.turn_count, updated_at = %view.updated_at, "forgot a session");
                    self.consultant.close(&view.id);
                    forgotten.insert(view.id.clone());
                }
                // Somebody has said something meanwhile.
                Err(AppendError::Conflict { .. }) => {}
                Err(error) => return Err(EngineError::journal(error)),
            }
        }
        let known: HashSet<SessionId> =
            all.into_iter().map(|view| view.id).filter(|id| !forgotten.contains(id)).collect();
        let state = &self.services.state;
        let places = [state.sessions(), state.runs(), state.root().join("reports")];
        let count = forgotten.len();
        let swept =
            helix_process::spawn_blocking(move || places.iter().try_for_each(|place| sweep(place, &known, &forgotten)));
        swept.await.map_err(EngineError::environment)?.map_err(EngineError::environment)?;
        Ok(count)
    }

    /// Whether nothing is under way in a session.
    async fn is_at_rest(&self, view: &SessionView) -> Result<bool, EngineError> {
        if view.running().is_some() || self.consultant.is_busy(&view.id) {
            return Ok(false);
        }
        Ok(self.known(&view.jobs).await?.iter().all(|job| job.status.is_final()))
    }
}

/// Removes directories of sessions that are gone: of those just forgotten at once, of others (a crash in between left
/// them) when they are no longer young. One that cannot be removed keeps no other from going.
fn sweep(place: &Path, known: &HashSet<SessionId>, forgotten: &HashSet<SessionId>) -> std::io::Result<()> {
    let Some(entries) = unless_absent(std::fs::read_dir(place))? else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let session = session_of(&entry.file_name()).filter(|session| !known.contains(session));
        let Some(session) = session else { continue };
        if !forgotten.contains(&session) && is_young(&entry) {
            continue;
        }
        if let Err(error) = unless_absent(std::fs::remove_dir_all(entry.path())) {
            tracing::warn!(path = ?entry.path(), %error, "a directory of a forgotten session cannot be removed");
        }
    }
    Ok(())
}

fn is_young(entry: &std::fs::DirEntry) -> bool {
    let age = entry.metadata().and_then(|about| about.modified()).map(|written| written.elapsed());
    !age.is_ok_and(|age| age.is_ok_and(|age| age >= YOUNG))
}

/// The session that a directory belongs to, by its name: `s…`, or `s….t3.1` for a run. Jobs begin with another letter.
fn session_of(name: &std::ffi::OsStr) -> Option<SessionId> {
    let name = name.to_str()?;
    let session = name.split('.').next().filter(|session| session.starts_with('s'))?;
    SessionId::new(session).ok()
}

#[cfg(test)]
#[path = "retention_test.rs"]
mod tests;
