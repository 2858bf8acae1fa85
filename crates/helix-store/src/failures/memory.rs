//! The seam: what a memory of failures does. What every implementation must do is stated once more, as tests, in
//! `tests/failure_memory`.
//!
//! Must not know SQL.

use std::future::Future;
use std::pin::Pin;

use helix_core::ids::{JobId, PhaseId};
use helix_failure::Fingerprint;
use helix_failure::memory::{
    AttemptAnswer, Effectiveness, FailureDetail, FixLink, KnownFailure, MemoryRecord, MemoryStatistics, Occurrence,
    Resolution, SimilarQuery, Suggestion, SuggestionOutcome, Work,
};
use jiff::Timestamp;

use super::answer::{
    Captured, Ceasing, ExportPage, FailureFilter, FailurePage, Forget, Imported, Linked, OpenFailure, Recalled, Stale,
};
use super::error::MemoryError;
use crate::journal::Pending;

/// An answer that is never an error.
pub type Recalling<'a> = Pin<Box<dyn Future<Output = Recalled> + Send + 'a>>;

/// Failures grouped by fingerprint, with what fixed them and whether suggestions helped.
///
/// Every write is one transaction and is idempotent; several processes may write at once. Nothing waits longer than the
/// deadline that the memory was opened with. Texts are redacted before they are stored.
pub trait FailureMemory: Send + Sync {
    /// Remembers that a failure was seen. Capturing an occurrence twice remembers it once; capturing another failure under
    /// the same key replaces it. A fix that was credited earlier in the same phase has not held and is taken back.
    fn capture(&self, occurrence: Occurrence) -> Pending<'_, Captured, MemoryError>;

    /// Finds failures with a known end: the same fingerprint first, then similar messages of the same tool and category.
    fn similar(&self, query: SimilarQuery) -> Recalling<'_>;

    /// Failures in the course of this work whose end is not known.
    fn open_failures(&self, work: Work) -> Pending<'_, Vec<OpenFailure>, MemoryError>;

    /// The number of the last attempt at this work in which a failure was seen; 0 if none was.
    fn last_attempt(&self, work: Work) -> Pending<'_, u32, MemoryError>;

    /// Credits a change with a fix, if that failure was seen in the attempt that is said to have failed and not since.
    fn link_fix(&self, fingerprint: Fingerprint, link: FixLink) -> Pending<'_, Linked, MemoryError>;

    /// Records suggestions; those that are there are left alone.
    fn record_suggestions(&self, suggestions: Vec<Suggestion>) -> Pending<'_, (), MemoryError>;

    /// Sets the outcome of one suggestion, also one that has another: a person's correction. `None`: there is no such one.
    fn resolve_one(
        &self,
        id: String,
        outcome: SuggestionOutcome,
        at: Timestamp,
    ) -> Pending<'_, Option<Suggestion>, MemoryError>;

    /// Draws what follows from an attempt for all open failures and suggestions of its work: fixes are linked, outcomes
    /// set. What the attempt does not prove stays open. Asked again about the same attempt, it names the same suggestions.
    fn resolve_outstanding(&self, answer: AttemptAnswer) -> Pending<'_, Resolution, MemoryError>;

    /// Notes that the work on a phase (or with `None` on the whole job) ceased: open suggestions are never known to have
    /// helped; open failures were given up, or stay open. Returns all suggestions there whose outcome is unknown.
    fn cease(
        &self,
        job: JobId,
        phase: Option<PhaseId>,
        how: Ceasing,
        at: Timestamp,
    ) -> Pending<'_, Vec<Suggestion>, MemoryError>;

    /// How well each of these texts did as a suggestion for this cause, in their order.
    fn effectiveness(&self, cause: String, texts: Vec<String>) -> Pending<'_, Vec<Effectiveness>, MemoryError>;

    /// The memory in figures.
    fn statistics(&self) -> Pending<'_, MemoryStatistics, MemoryError>;

    /// Failures, the latest seen first, after a cursor.
    fn list(
        &self,
        filter: FailureFilter,
        cursor: Option<String>,
        limit: usize,
    ) -> Pending<'_, FailurePage, MemoryError>;

    /// All about the failure with this fingerprint, or with a beginning of it that no other one has.
    fn show(&self, prefix: String) -> Pending<'_, Option<FailureDetail>, MemoryError>;

    /// Failures whose texts have all of these words (the last one may be a beginning), best first.
    fn search(&self, text: String, limit: usize) -> Pending<'_, Vec<KnownFailure>, MemoryError>;

    /// Forgets a failure, or what is said to have fixed it. `false`: there is no such failure.
    fn forget(&self, fingerprint: Fingerprint, what: Forget) -> Pending<'_, bool, MemoryError>;

    /// Forgets what is old; tells how many failures that were.
    fn decay(&self, stale: Stale) -> Pending<'_, u64, MemoryError>;

    /// Gives failures that an older Helix has remembered the fingerprints of this one, at most so many; those that turn out to be
    /// the same are made one. Tells how many there were; their old fingerprints still lead to them.
    fn renew(&self, most: usize) -> Pending<'_, u64, MemoryError>;

    /// Part of an export, from a place that the part before named (0: from the beginning).
    fn export(&self, from: i64, limit: usize) -> Pending<'_, ExportPage, MemoryError>;

    /// Takes records in, all or none. What is there stays as it is, so that a second import changes nothing. Records whose
    /// fingerprints were made by other rules (an older Helix, a newer one) are given new ones.
    fn import(&self, records: Vec<MemoryRecord>) -> Pending<'_, Imported, MemoryError>;
}
