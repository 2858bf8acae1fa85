//! Statements on one connection, and values in its columns, with failures that name the database's file.
//!
//! Must not know which statements there are.

use std::ops::ControlFlow;
use std::sync::Arc;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Params, Row};
use serde::de::DeserializeOwned;

use super::classify;
use crate::error::{Cause, DatabaseError};

/// A connection within a transaction, and the name of its file.
#[derive(Clone, Copy)]
pub(crate) struct Sql<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) database: &'a str,
}

impl Sql<'_> {
    fn failed(self, error: rusqlite::Error) -> DatabaseError {
        classify(self.database, error)
    }

    /// A record is missing, or is not what Helix wrote.
    pub(crate) fn broken(self, what: &str) -> DatabaseError {
        self.failed(unreadable(what, Broken))
    }

    /// Changes rows; returns how many.
    pub(crate) fn execute(self, sql: &str, parameters: impl Params) -> Result<usize, DatabaseError> {
        let done = self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(parameters));
        done.map_err(|error| self.failed(error))
    }

    /// The id of the row that was inserted last.
    pub(crate) fn inserted(self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// The first row, if there is one.
    pub(crate) fn first<T>(
        self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, DatabaseError> {
        let statement = self.connection.prepare_cached(sql);
        let found = statement.and_then(|mut statement| statement.query_row(parameters, read).optional());
        found.map_err(|error| self.failed(error))
    }

    /// The row of a query that always has one.
    pub(crate) fn one<T>(
        self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        let statement = self.connection.prepare_cached(sql);
        statement.and_then(|mut statement| statement.query_row(parameters, read)).map_err(|error| self.failed(error))
    }

    /// All rows.
    pub(crate) fn all<T>(
        self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, DatabaseError> {
        let statement = self.connection.prepare_cached(sql);
        let rows = statement.and_then(|mut statement| statement.query_map(parameters, read)?.collect());
        rows.map_err(|error| self.failed(error))
    }

    /// Takes rows, one after the other, until there are no more or the taker has enough.
    pub(crate) fn each(
        self,
        sql: &str,
        parameters: impl Params,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<ControlFlow<()>>,
    ) -> Result<(), DatabaseError> {
        let taken = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(parameters)?;
            while let Some(row) = rows.next()? {
                if take(row)?.is_break() {
                    break;
                }
            }
            Ok(())
        };
        taken().map_err(|error| self.failed(error))
    }
}

/// What a row has is not what Helix writes.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the record of {what} cannot be read")]
pub(crate) struct Unreadable {
    pub(crate) what: String,
    pub(crate) source: Cause,
}

/// A record that its seal does not fit.
#[derive(Debug, thiserror::Error)]
#[error("its seal does not fit")]
pub(crate) struct Broken;

/// A value from its JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str, what: &str) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| unreadable(what, error))
}

/// Says that a row cannot be understood.
pub(crate) fn unreadable(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    let unreadable = Unreadable { what: what.to_owned(), source: Arc::new(error) };
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(unreadable))
}
