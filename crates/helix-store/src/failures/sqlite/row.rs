//! Rows of the memory as types, and back. Words that only this file and the schema know are turned into enums here.

use helix_core::ids::PhaseId;
use helix_failure::Fingerprint;
use helix_failure::memory::{Diagnosis, FailureEnd, FixLink, KnownFailure, RememberedFailure, Work};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lane::Working;
use crate::failures::error::MemoryError;
use crate::sqlite::unsigned;

/// Projects of a failure that are named.
const PROJECTS: usize = 10;

/// The columns of [`FailureRow::read`], in its order.
pub(super) const COLUMNS: &str = "failures.id, fingerprint, tool, code, message, frame, category, cause, retry, blame, \
     cause_line, summary, first_seen, last_seen, kept, dropped, ended, scope, version";

/// A row of `failures`.
#[derive(Debug, Clone)]
pub(super) struct FailureRow {
    pub(super) id: i64,
    pub(super) fingerprint: String,
    pub(super) tool: String,
    pub(super) code: String,
    pub(super) message: String,
    pub(super) frame: String,
    pub(super) category: String,
    pub(super) cause: String,
    pub(super) retry: String,
    pub(super) blame: String,
    pub(super) cause_line: String,
    pub(super) summary: String,
    pub(super) first_seen: i64,
    pub(super) last_seen: i64,
    pub(super) kept: i64,
    pub(super) dropped: i64,
    pub(super) ended: String,
    pub(super) scope: Option<i64>,
    pub(super) version: u32,
}

impl FailureRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            fingerprint: row.get(1)?,
            tool: row.get(2)?,
            code: row.get(3)?,
            message: row.get(4)?,
            frame: row.get(5)?,
            category: row.get(6)?,
            cause: row.get(7)?,
            retry: row.get(8)?,
            blame: row.get(9)?,
            cause_line: row.get(10)?,
            summary: row.get(11)?,
            first_seen: row.get(12)?,
            last_seen: row.get(13)?,
            kept: row.get(14)?,
            dropped: row.get(15)?,
            ended: row.get(16)?,
            scope: row.get(17)?,
            version: row.get(18)?,
        })
    }

    /// The row of the failure that has this fingerprint, or had it by other rules.
    pub(super) fn by_fingerprint(working: &Working<'_>, fingerprint: &str) -> Result<Option<Self>, MemoryError> {
        if let Some(row) = Self::by_own_fingerprint(working, fingerprint)? {
            return Ok(Some(row));
        }
        let former: Option<i64> = working
            .connection
            .prepare_cached("SELECT failure FROM former_fingerprints WHERE fingerprint = ?1")
            .and_then(|mut find| find.query_row([fingerprint], |row| row.get(0)).optional())
            .map_err(|error| working.failed(error))?;
        former.map_or(Ok(None), |id| Self::by_id(working, id))
    }

    fn by_own_fingerprint(working: &Working<'_>, fingerprint: &str) -> Result<Option<Self>, MemoryError> {
        working
            .connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM failures WHERE fingerprint = ?1"))
            .and_then(|mut find| find.query_row([fingerprint], Self::read).optional())
            .map_err(|error| working.failed(error))
    }

    /// The row with this id.
    pub(super) fn by_id(working: &Working<'_>, id: i64) -> Result<Option<Self>, MemoryError> {
        working
            .connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM failures WHERE id = ?1"))
            .and_then(|mut find| find.query_row([id], Self::read).optional())
            .map_err(|error| working.failed(error))
    }

    /// How often it was seen.
    pub(super) fn count(&self) -> u64 {
        unsigned(self.kept).saturating_add(unsigned(self.dropped))
    }

    /// What the failure is.
    pub(super) fn diagnosis(&self, working: &Working<'_>) -> Result<Diagnosis, MemoryError> {
        let what = || format!("failure {}", self.fingerprint);
        let fingerprint =
            Fingerprint::new(self.fingerprint.clone()).map_err(|error| working.unreadable(what(), error))?;
        Ok(Diagnosis {
            fingerprint,
            fingerprint_version: self.version,
            tool: self.tool.clone(),
            code: self.code.clone(),
            message: self.message.clone(),
            frame: self.frame.clone(),
            category: from_word(working, &what(), &self.category)?,
            cause: self.cause.clone(),
            retry: from_word(working, &what(), &self.retry)?,
            blame: from_word(working, &what(), &self.blame)?,
            cause_line: self.cause_line.clone(),
            summary: self.summary.clone(),
        })
    }

    /// The failure without what its occurrences say.
    pub(super) fn remembered(&self, working: &Working<'_>) -> Result<RememberedFailure, MemoryError> {
        let what = format!("failure {}", self.fingerprint);
        Ok(RememberedFailure {
            diagnosis: self.diagnosis(working)?,
            first_seen: instant(working, &what, self.first_seen)?,
            last_seen: instant(working, &what, self.last_seen)?,
            dropped: unsigned(self.dropped),
        })
    }

    /// The failure with its projects and its end.
    pub(super) fn known(&self, working: &Working<'_>) -> Result<KnownFailure, MemoryError> {
        let RememberedFailure { diagnosis, first_seen, last_seen, dropped: _ } = self.remembered(working)?;
        Ok(KnownFailure {
            diagnosis,
            count: self.count(),
            first_seen,
            last_seen,
            projects: projects(working, self.id)?,
            end: self.end(working)?,
        })
    }

    fn end(&self, working: &Working<'_>) -> Result<FailureEnd, MemoryError> {
        match self.ended.as_str() {
            "went_away" => return Ok(FailureEnd::WentAway),
            "gave_up" => return Ok(FailureEnd::GaveUp),
            "fixed" => {}
            _ => return Ok(FailureEnd::Open),
        }
        let latest: Option<(String, i64)> = working
            .connection
            .prepare_cached("SELECT link, count(*) OVER () FROM fixes WHERE failure = ?1 ORDER BY at DESC LIMIT 1")
            .and_then(|mut find| find.query_row([self.id], |row| Ok((row.get(0)?, row.get(1)?))).optional())
            .map_err(|error| working.failed(error))?;
        let Some((link, fixes)) = latest else { return Ok(FailureEnd::Open) };
        let link: FixLink = from_json(working, &format!("a fix of failure {}", self.fingerprint), &link)?;
        Ok(FailureEnd::Fixed { link, fixes: unsigned(fixes) })
    }
}

fn projects(working: &Working<'_>, failure: i64) -> Result<Vec<String>, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working
        .connection
        .prepare_cached(
            "SELECT project FROM occurrences WHERE failure = ?1 AND project <> '' GROUP BY project ORDER BY max(at) DESC LIMIT ?2",
        )
        .map_err(failed)?;
    let rows = find.query_map(params![failure, PROJECTS as i64], |row| row.get(0)).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// A phase as it is stored: the empty text stands for none.
pub(super) fn phase_text(phase: Option<&PhaseId>) -> &str {
    phase.map_or("", PhaseId::as_str)
}

/// The phase of some work as it is stored.
pub(super) fn phase_of(work: &Work) -> &str {
    phase_text(work.phase())
}

/// A moment that is stored in microseconds.
pub(super) fn instant(working: &Working<'_>, what: &str, microseconds: i64) -> Result<Timestamp, MemoryError> {
    Timestamp::from_microsecond(microseconds).map_err(|error| working.unreadable(what, error))
}

/// An enum from its word.
pub(super) fn from_word<T: DeserializeOwned>(working: &Working<'_>, what: &str, word: &str) -> Result<T, MemoryError> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).map_err(|error| working.unreadable(what, error))
}

pub(super) fn word<T: Serialize>(working: &Working<'_>, what: &str, value: &T) -> Result<String, MemoryError> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        Ok(other) => Err(working.unreadable(what, std::io::Error::other(format!("{other} is no word")))),
        Err(error) => Err(working.unreadable(what, error)),
    }
}

/// A value from its JSON.
pub(super) fn from_json<T: DeserializeOwned>(working: &Working<'_>, what: &str, text: &str) -> Result<T, MemoryError> {
    serde_json::from_str(text).map_err(|error| working.unreadable(what, error))
}

pub(super) fn json<T: Serialize>(working: &Working<'_>, what: &str, value: &T) -> Result<String, MemoryError> {
    serde_json::to_string(value).map_err(|error| working.unreadable(what, error))
}
