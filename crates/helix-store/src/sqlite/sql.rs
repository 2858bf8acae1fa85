//! Statements on one connection, with failures that name the database's file.
//!
//! Must not know which statements there are.

use std::ops::ControlFlow;

use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::classify;
use crate::error::{Cause, DatabaseError, ReadError};

/// A connection within a transaction, and the name of its file.
#[derive(Clone, Copy)]
pub(super) struct Sql<'a> {
    pub(super) connection: &'a Connection,
    pub(super) database: &'a str,
}

impl Sql<'_> {
    pub(super) fn failed(self, error: rusqlite::Error) -> DatabaseError {
        classify(self.database, error)
    }

    /// A row that cannot be understood.
    pub(super) fn unreadable(self, what: &str, source: Cause) -> ReadError {
        ReadError::Row { database: self.database.into(), what: what.into(), source }
    }

    pub(super) fn execute(self, sql: &str, parameters: impl Params) -> Result<usize, DatabaseError> {
        let done = self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(parameters));
        done.map_err(|error| self.failed(error))
    }

    /// The first row, if there is one.
    pub(super) fn first<T>(
        self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, DatabaseError> {
        let statement = self.connection.prepare_cached(sql);
        let found = statement.and_then(|mut statement| statement.query_row(parameters, read).optional());
        found.map_err(|error| self.failed(error))
    }

    /// Takes rows, one after the other, until there are no more or the taker has enough.
    pub(super) fn each<T, E: From<DatabaseError>>(
        self,
        sql: &str,
        parameters: impl Params,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        mut take: impl FnMut(T) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let failed = |error| E::from(self.failed(error));
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query(parameters).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            if take(read(row).map_err(failed)?)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
