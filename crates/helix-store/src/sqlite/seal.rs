//! Seals of records: a code over what a record says, which only who has the key of the state directory can make. The seal of an event
//! covers that of the event before it, so that none can be changed, added, moved or taken out unnoticed.
//!
//! Must not know when a record is written or read: it gives SQLite the function `seal_of`, which the statements use.

use std::path::Path;
use std::sync::Arc;

use hmac::{Hmac, Mac};
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use sha2::Sha256;

use super::sql::{Broken, unreadable};
use super::{Access, DatabaseOptions, classify, connect, schema};
use crate::error::{DatabaseError, OpenError};
use crate::state_dir::{kept_key, known_key};

/// File with the key, beside the database.
const KEY: &str = "journal.key";

/// Opens a connection to a journal, on which `seal_of(…)` is the seal over its arguments: their kinds, lengths and bytes.
pub(super) fn connect_sealed(options: &DatabaseOptions, database: &str) -> Result<Connection, OpenError> {
    let connection = connect(options, &schema::JOURNAL, database)?;
    let failed = |error| OpenError::from(classify(database, error));
    let path = options.path.with_file_name(KEY);
    let key = match options.access {
        // A journal without events needs no key of before.
        Access::ReadWrite if is_empty(&connection).map_err(failed)? => kept_key(&path),
        Access::ReadWrite | Access::ReadOnly => known_key(&path),
    };
    // A host that is just making the journal writes its key next; there is nothing in it yet.
    let is_new = key.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    if is_new && options.access == Access::ReadOnly && is_empty(&connection).map_err(failed)? {
        return Err(OpenError::Missing { database: database.to_owned() });
    }
    install(&connection, &key.map_err(|source| no_key(&path, database, source))?).map_err(failed)?;
    Ok(connection)
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM streams)", [], |row| row.get(0))
}

fn no_key(path: &Path, database: &str, source: std::io::Error) -> OpenError {
    DatabaseError::NoKey { database: database.to_owned(), key: path.display().to_string(), source: Arc::new(source) }
        .into()
}

fn install(connection: &Connection, key: &[u8]) -> rusqlite::Result<()> {
    let failed = |error: hmac::digest::InvalidLength| rusqlite::Error::UserFunctionError(error.into());
    let keyed = Hmac::<Sha256>::new_from_slice(key).map_err(failed)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("seal_of", -1, flags, move |context| {
        let mut seal = keyed.clone();
        for index in 0..context.len() {
            let number;
            let (kind, bytes): (u8, &[u8]) = match context.get_raw(index) {
                ValueRef::Null => (0, &[]),
                ValueRef::Integer(value) => {
                    number = value.to_be_bytes();
                    (1, &number)
                }
                ValueRef::Real(value) => {
                    number = value.to_bits().to_be_bytes();
                    (2, &number)
                }
                ValueRef::Text(text) => (3, text),
                ValueRef::Blob(bytes) => (4, bytes),
            };
            seal.update(&[kind]);
            seal.update(&(bytes.len() as u64).to_be_bytes());
            seal.update(bytes);
        }
        Ok(seal.finalize().into_bytes().to_vec())
    })
}

/// Refuses a row whose column `sealed` says that its seal does not fit.
pub(super) fn check(row: &Row<'_>, what: &str) -> rusqlite::Result<()> {
    if row.get("sealed")? { Ok(()) } else { Err(unreadable(what, Broken)) }
}
