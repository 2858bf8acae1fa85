//! Forgets conversations that are older, or more, than the user wants to keep: in the journal and on disk, with a line in the
//! log for each.
//!
//! Must not decide what is worth keeping beyond that; what is under way is never touched.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use helix_core::ids::SessionId;
use helix_job::session::SessionView;
use helix_store::{AppendError, Forget};
use jiff::{SignedDuration, Timestamp};

use crate::engine::{Engine, EngineError, journal_error};

/// Between two looks.
const INTERVAL: Duration = Duration::from_secs(3_600);
/// A directory without a conversation is left alone for so long: it may be of one that is being opened.
const YOUNG: Duration = Duration::from_secs(86_400);

/// Which conversations are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Those in which something happened within so many days; `None`: however old.
    pub days: Option<u32>,
    /// So many, the latest; `None`: any number.
    pub count: Option<u32>,
}

impl Retention {
    fn is_unlimited(self) -> bool {
        self.days.is_none() && self.count.is_none()
    }

    /// Whether a conversation may go, by its age and its place among all (0 is the latest).
    fn lets_go(self, place: usize, updated_at: Timestamp, now: Timestamp) -> bool {
        let too_old = self
            .days
            .is_some_and(|days| now.duration_since(updated_at) > SignedDuration::from_hours(24 * i64::from(days)));
        too_old || self.count.is_some_and(|count| place >= count as usize)
    }
}

impl Engine {
    /// Looks now and then, until the engine closes. A conversation that cannot be removed is tried again the next time.
    pub(crate) async fn keep_conversations_few(self) {
        if self.inner.config.consultant.retention.is_unlimited() {
            return;
        }
        loop {
            match self.forget_conversations().await {
                Ok(0) => {}
                Ok(count) => {
                    tracing::info!(count, "forgot conversations, as [consultant] keep_days and keep_count say")
                }
                Err(error) => {
                    let error = helix_core::error_chain(&error);
                    tracing::warn!(error, "conversations that are not to be kept cannot be removed");
                }
            }
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = self.inner.closing.cancelled() => return,
            }
        }
    }

    /// Forgets what is not to be kept; how many conversations that were.
    async fn forget_conversations(&self) -> Result<usize, EngineError> {
        let (retention, now) = (self.inner.config.consultant.retention, Timestamp::now());
        let mut all = self.sessions().await?;
        all.sort_by_key(|view| std::cmp::Reverse(view.updated_at));
        let mut may_go: HashSet<SessionId> = HashSet::new();
        for (place, view) in all.iter().enumerate() {
            if retention.lets_go(place, view.updated_at, now) && self.is_at_rest(view).await? {
                may_go.insert(view.id.clone());
            }
        }
        // Copies are younger than what they were copied from, and go on from turns of it: whoever stays keeps its origin.
        all.sort_by(|one, other| other.id.cmp(&one.id));
        let mut forgotten = HashSet::new();
        for view in &all {
            if !may_go.contains(&view.id) {
                view.copied_from.iter().for_each(|origin| {
                    may_go.remove(origin);
                });
            }
        }
        for view in all.iter().filter(|view| may_go.contains(&view.id)) {
            let fence = Some(self.inner.writer.fence.clone());
            let forget = Forget { session: view.id.clone(), last_event: view.last_event, fence };
            match self.inner.journal.forget_session(forget).await {
                Ok(()) => {
                    tracing::info!(session = %view.id, turns = view.turn_count, updated_at = %view.updated_at, "forgot a conversation");
                    self.inner.sessions.close(&view.id);
                    forgotten.insert(view.id.clone());
                }
                // Somebody has said something meanwhile.
                Err(AppendError::Conflict { .. }) => {}
                Err(error) => return Err(journal_error(error)),
            }
        }
        let known: HashSet<SessionId> =
            all.into_iter().map(|view| view.id).filter(|id| !forgotten.contains(id)).collect();
        let places = [self.inner.state.sessions(), self.inner.state.runs()];
        let count = forgotten.len();
        let swept =
            tokio::task::spawn_blocking(move || places.iter().try_for_each(|place| sweep(place, &known, &forgotten)));
        let failed = |message: String| EngineError::Environment { message, hint: None };
        swept.await.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))?;
        Ok(count)
    }

    /// Whether nothing is under way in a conversation.
    async fn is_at_rest(&self, view: &SessionView) -> Result<bool, EngineError> {
        if view.running().is_some() || self.inner.sessions.is_busy(&view.id) {
            return Ok(false);
        }
        for job in &view.jobs {
            match self.job(job.as_str()).await {
                Ok(job) if !job.status.is_final() => return Ok(false),
                Ok(_) | Err(EngineError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// Removes directories of conversations that are gone: of those just forgotten at once, of others (a crash in between left
/// them) when they are no longer young.
fn sweep(place: &Path, known: &HashSet<SessionId>, forgotten: &HashSet<SessionId>) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let Some(session) = session_of(&entry.file_name()) else { continue };
        if known.contains(&session) {
            continue;
        }
        let young = || {
            let written = entry.metadata()?.modified()?;
            Ok::<_, std::io::Error>(SystemTime::now().duration_since(written).unwrap_or_default() < YOUNG)
        };
        if forgotten.contains(&session) || !young()? {
            let path: PathBuf = entry.path();
            match std::fs::remove_dir_all(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(std::io::Error::new(error.kind(), format!("{}: {error}", path.display())));
                }
                Ok(()) | Err(_) => {}
            }
        }
    }
    Ok(())
}

/// The conversation that a directory belongs to, by its name: `s…`, or `s….t3.1` for a run. Jobs begin with another letter.
fn session_of(name: &std::ffi::OsStr) -> Option<SessionId> {
    let name = name.to_str()?;
    let session = name.split('.').next().filter(|session| session.starts_with('s'))?;
    SessionId::new(session).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_and_number_both_let_go_and_nothing_goes_unasked() {
        let now: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
        let old: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        assert!(Retention::default().is_unlimited() && !Retention::default().lets_go(1_000, old, now));
        let days = Retention { days: Some(30), count: None };
        assert!(days.lets_go(0, old, now) && !days.lets_go(1_000, now, now));
        let count = Retention { days: None, count: Some(2) };
        assert!(!count.lets_go(1, old, now) && count.lets_go(2, now, now));
    }

    #[test]
    fn directories_are_told_by_their_names() {
        let of = |name: &str| session_of(name.as_ref()).map(|id| id.to_string());
        assert_eq!(of("s1m80cxsf2e74jy7s").as_deref(), Some("s1m80cxsf2e74jy7s"));
        assert_eq!(of("s1m80cxsf2e74jy7s.t3.1").as_deref(), Some("s1m80cxsf2e74jy7s"));
        assert_eq!(of("j1m80cxsf2e74jy7s.implement.1"), None);
    }
}
