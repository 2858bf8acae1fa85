//! A few reading connections, used on the runtime's threads for blocking work. Must not know what is read.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::schema::JOURNAL;
use super::sql::Sql;
use super::{SqliteOptions, classify, connect};
use crate::error::{DatabaseError, OpenError, ReadError};

/// Connections that read at the same time; more would only queue at the disk.
const READERS: usize = 4;

/// The connections.
#[derive(Debug)]
pub(super) struct Readers {
    options: SqliteOptions,
    database: Arc<str>,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(super) fn new(options: SqliteOptions, database: Arc<str>) -> Self {
        Self { options, database, permits: Arc::new(Semaphore::new(READERS)), idle: Arc::new(Mutex::new(Vec::new())) }
    }

    /// Runs one piece of reading off the runtime's own threads.
    pub(super) async fn run<T, F>(&self, read: F) -> Result<T, ReadError>
    where
        T: Send + 'static,
        F: FnOnce(Sql<'_>) -> Result<T, ReadError> + Send + 'static,
    {
        let closed = || DatabaseError::Closed { database: self.database.to_string() };
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let (options, database, idle) = (self.options.clone(), self.database.clone(), self.idle.clone());
        let work = move || {
            let _permit = permit;
            let pooled = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut connection = match pooled {
                Some(connection) => connection,
                None => connect(&options, &JOURNAL, &database).map_err(OpenError::again)?,
            };
            let answer = view(&mut connection, &database, read);
            if answer.is_ok() {
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            }
            answer
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(answer) => answer,
            Err(_) => Err(closed().into()),
        }
    }
}

/// Several statements of one answer see the same state of the database.
fn view<T>(
    connection: &mut Connection,
    database: &str,
    read: impl FnOnce(Sql<'_>) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let transaction = connection.transaction().map_err(|error| classify(database, error))?;
    let answer = read(Sql { connection: &transaction, database })?;
    transaction.commit().map_err(|error| classify(database, error))?;
    Ok(answer)
}
