//! Rows of the memory as types, and back.
//!
//! Must not know what a query is for.

use std::cmp::Ordering;

use helix_core::ids::PhaseId;
use helix_failure::memory::{FailureEnd, KnownFailure, RememberedFailure, Work};
use jiff::Timestamp;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Row, ToSql, params};
use serde::Serialize;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::error::DatabaseError;
use crate::sqlite::{Sql, json, unreadable, unsigned};

/// Projects of a failure that are named.
const PROJECTS: i64 = 10;

#[derive(Debug, Clone)]
pub(super) struct FailureRow {
    pub(super) id: i64,
    /// The failure without what its occurrences say.
    pub(super) failure: RememberedFailure,
    pub(super) kept: i64,
    /// Word of the end.
    pub(super) ended: String,
    pub(super) scope: Option<i64>,
}

impl FailureRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let what = format!("failure {}", row.get::<_, String>("fingerprint")?);
        Ok(Self {
            id: row.get("id")?,
            failure: RememberedFailure {
                diagnosis: json(row, "body", &what)?,
                first_seen: moment(row, "first_seen", &what)?,
                last_seen: moment(row, "last_seen", &what)?,
                dropped: unsigned(row.get("dropped")?),
            },
            kept: row.get("kept")?,
            ended: row.get("ended")?,
            scope: row.get("scope")?,
        })
    }

    pub(super) fn by_fingerprint(tx: Sql<'_>, fingerprint: &str) -> Result<Option<Self>, DatabaseError> {
        tx.first("SELECT * FROM failures WHERE fingerprint = ?1", [fingerprint], Self::read)
    }

    pub(super) fn by_id(tx: Sql<'_>, id: i64) -> Result<Option<Self>, DatabaseError> {
        tx.first("SELECT * FROM failures WHERE id = ?1", [id], Self::read)
    }

    /// How often it was seen.
    pub(super) fn count(&self) -> u64 {
        unsigned(self.kept).saturating_add(self.failure.dropped)
    }

    /// The failure with its projects and its end.
    pub(super) fn known(self, tx: Sql<'_>) -> Result<KnownFailure, DatabaseError> {
        let projects = tx.all(
            "SELECT project FROM occurrences WHERE failure = ?1 AND project <> '' GROUP BY project ORDER BY max(at) DESC LIMIT ?2",
            [self.id, PROJECTS],
            |row| row.get(0),
        )?;
        Ok(KnownFailure {
            count: self.count(),
            projects,
            end: self.end(tx)?,
            diagnosis: self.failure.diagnosis,
            first_seen: self.failure.first_seen,
            last_seen: self.failure.last_seen,
        })
    }

    /// The same as far as it was seen in a project, without texts that are another one's; `None` where it was not, or how it ended is unknown.
    pub(super) fn known_in(self, tx: Sql<'_>, project: &str) -> Result<Option<KnownFailure>, DatabaseError> {
        let seen = "SELECT count(*) AS kept, min(at) AS first_seen, max(at) AS last_seen, max(state = 'gone') AS gone,
                        max(state = 'gave_up') AS gave_up,
                        EXISTS (SELECT 1 FROM occurrences WHERE failure = ?1 AND project <> ?2) AS elsewhere
                    FROM occurrences WHERE failure = ?1 AND project = ?2 HAVING count(*) > 0";
        let what = "what a project has seen";
        let read = |row: &Row<'_>| {
            let end = match (row.get("gone")?, row.get("gave_up")?) {
                (true, _) => FailureEnd::WentAway,
                (false, true) => FailureEnd::GaveUp,
                (false, false) => FailureEnd::Open,
            };
            let count = unsigned(row.get("kept")?);
            let (first, last) = (moment(row, "first_seen", what)?, moment(row, "last_seen", what)?);
            Ok((end, count, first, last, row.get::<_, bool>("elsewhere")?))
        };
        let Some((end, count, first_seen, last_seen, elsewhere)) = tx.first(seen, params![self.id, project], read)?
        else {
            return Ok(None);
        };
        let end = self.fixed(tx, Some(project))?.unwrap_or(end);
        let mut diagnosis = self.failure.diagnosis;
        if elsewhere {
            // What makes it this failure is the same everywhere.
            (diagnosis.summary, diagnosis.cause_line) = (diagnosis.message.clone(), String::new());
        }
        let known = KnownFailure { count, projects: vec![project.to_owned()], end, diagnosis, first_seen, last_seen };
        Ok(Some(known).filter(|known| known.end != FailureEnd::Open))
    }

    fn end(&self, tx: Sql<'_>) -> Result<FailureEnd, DatabaseError> {
        Ok(match self.ended.as_str() {
            "went_away" => FailureEnd::WentAway,
            "gave_up" => FailureEnd::GaveUp,
            "fixed" => self.fixed(tx, None)?.unwrap_or(FailureEnd::Open),
            _ => FailureEnd::Open,
        })
    }

    /// The latest fix, in a project or with `None` in any, and how many there are.
    fn fixed(&self, tx: Sql<'_>, project: Option<&str>) -> Result<Option<FailureEnd>, DatabaseError> {
        let latest = "SELECT link, count(*) OVER () AS fixes FROM fixes
                      WHERE failure = ?1 AND (?2 IS NULL OR json_extract(link, '$.project') = ?2)
                      ORDER BY at DESC LIMIT 1";
        tx.first(latest, params![self.id, project], |row| {
            Ok(FailureEnd::Fixed { link: json(row, "link", "a fix")?, fixes: unsigned(row.get("fixes")?) })
        })
    }
}

/// What has the most points first; of equals, what was seen last.
pub(super) fn best_first((left, older): &(f64, FailureRow), (right, newer): &(f64, FailureRow)) -> Ordering {
    right.total_cmp(left).then_with(|| newer.failure.last_seen.cmp(&older.failure.last_seen))
}

/// The phase of some work as it is stored: the empty text stands for none.
pub(super) fn phase_of(work: &Work) -> &str {
    work.phase().map_or("", PhaseId::as_str)
}

/// A moment that is stored in microseconds.
pub(super) fn moment(row: &Row<'_>, column: &str, what: &str) -> rusqlite::Result<Timestamp> {
    Timestamp::from_microsecond(row.get(column)?).map_err(|error| unreadable(what, error))
}

/// An enum from its word.
pub(super) fn word<T: DeserializeOwned>(row: &Row<'_>, column: &str, what: &str) -> rusqlite::Result<T> {
    let deserializer: StrDeserializer<'_, WordError> = row.get_ref(column)?.as_str()?.into_deserializer();
    T::deserialize(deserializer).map_err(|error| unreadable(what, error))
}

/// A value that is stored as JSON.
pub(super) struct Json<'a, T>(pub(super) &'a T);

impl<T: Serialize> ToSql for Json<'_, T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(self.0);
        text.map(ToSqlOutput::from).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    }
}
