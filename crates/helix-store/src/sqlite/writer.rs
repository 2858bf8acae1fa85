//! The one thread that writes: takes what is waiting, writes it in one transaction, then answers everybody.
//!
//! Must not know what is written. Each piece of work runs in a savepoint of its own, so that one that fails takes nothing
//! with it; nobody is answered before the commit is on disk.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{broadcast, mpsc, oneshot};

use super::Access;
use super::sql::Sql;
use crate::error::DatabaseError;
use crate::subscription::{FEED_CAPACITY, Moved, Subscription};

/// Most pieces of work in one transaction. Past a hundred rows a commit costs little more per row (SQLite WAL, measured).
const MAX_BATCH: usize = 256;
/// How much work may wait before callers wait themselves.
const QUEUE: usize = 1_024;

/// What a piece of work that succeeded gives: its answer, and the stream that has new events.
pub(super) struct Done<T> {
    pub(super) answer: T,
    pub(super) moved: Option<Moved>,
}

/// A piece of work in the queue.
trait Work: Send {
    /// Does it inside a savepoint, which is to be kept if this says so, and keeps the answer. May be done again if the transaction
    /// was lost.
    fn attempt(&mut self, sql: Sql<'_>) -> bool;
    /// The stream that it moved, if it succeeded.
    fn moved(&mut self) -> Option<Moved>;
    /// Tells the caller, now that the transaction is on disk or has failed.
    fn settle(self: Box<Self>, committed: &Result<(), DatabaseError>);
}

struct Request<T, E, F> {
    work: F,
    outcome: Option<Result<Done<T>, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Work for Request<T, E, F>
where
    T: Send,
    E: Send + From<DatabaseError>,
    F: FnMut(Sql<'_>) -> Result<Done<T>, E> + Send,
{
    fn attempt(&mut self, sql: Sql<'_>) -> bool {
        self.outcome.insert((self.work)(sql)).is_ok()
    }

    fn moved(&mut self) -> Option<Moved> {
        self.outcome.as_mut()?.as_mut().ok()?.moved.take()
    }

    fn settle(self: Box<Self>, committed: &Result<(), DatabaseError>) {
        let result = match (self.outcome, committed) {
            (Some(Ok(done)), Ok(())) => Ok(done.answer),
            // Its own error says more than that of the commit.
            (Some(Err(error)), _) => Err(error),
            (Some(Ok(_)) | None, Err(error)) => Err(E::from(error.clone())),
            // Never attempted and yet committed cannot be; a dropped reply tells the caller that the journal is closed.
            (None, Ok(())) => return,
        };
        // A caller that went away leaves its write in the journal; there is nobody to tell.
        drop(self.reply.send(result));
    }
}

/// The writer as its callers see it.
pub(super) struct Writer {
    database: Arc<str>,
    queue: Mutex<Option<mpsc::Sender<Box<dyn Work>>>>,
    feed: Mutex<Option<broadcast::Sender<Moved>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    access: Access,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("database", &self.database).field("access", &self.access).finish_non_exhaustive()
    }
}

impl Writer {
    /// Starts the thread that owns the writing connection.
    pub(super) fn start(connection: Connection, database: Arc<str>) -> Result<Self, DatabaseError> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (feed, _) = broadcast::channel(FEED_CAPACITY);
        let writer = WriterThread { connection, database: database.clone(), feed: feed.clone() };
        let thread = std::thread::Builder::new()
            .name("helix-journal".into())
            .spawn(move || writer.work(waiting))
            .map_err(|error| DatabaseError::Unexpected { database: database.to_string(), source: Arc::new(error) })?;
        Ok(Self {
            database,
            queue: Mutex::new(Some(queue)),
            feed: Mutex::new(Some(feed)),
            thread: Mutex::new(Some(thread)),
            access: Access::ReadWrite,
        })
    }

    /// A writer that refuses everything: the journal was opened for reading.
    pub(super) fn absent(database: Arc<str>) -> Self {
        let (feed, _) = broadcast::channel(1);
        Self {
            database,
            queue: Mutex::new(None),
            feed: Mutex::new(Some(feed)),
            thread: Mutex::new(None),
            access: Access::ReadOnly,
        }
    }

    /// Has a piece of work done and waits until it is on disk. The work may run twice, if the transaction that it was part
    /// of is lost to another one's failure; only what the last run did is kept.
    pub(super) async fn run<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: Send + From<DatabaseError> + 'static,
        F: FnMut(Sql<'_>) -> Result<Done<T>, E> + Send + 'static,
    {
        let Some(queue) = locked(&self.queue).clone() else { return Err(self.refusal().into()) };
        let (reply, answer) = oneshot::channel();
        let request = Box::new(Request { work, outcome: None, reply });
        if queue.send(request).await.is_err() {
            return Err(self.refusal().into());
        }
        // Not held while waiting: the writer ends when the last sender is gone.
        drop(queue);
        answer.await.unwrap_or_else(|_| Err(self.refusal().into()))
    }

    /// A listener for what moves from now on.
    pub(super) fn subscribe(&self) -> Subscription {
        let feed = locked(&self.feed).as_ref().map(broadcast::Sender::subscribe);
        feed.unwrap_or_else(|| broadcast::channel(1).1)
    }

    /// Lets the thread finish what was accepted, and waits for it.
    pub(super) async fn close(&self) {
        locked(&self.queue).take();
        locked(&self.feed).take();
        let Some(thread) = locked(&self.thread).take() else { return };
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!(database = %self.database, "the journal's writer did not end in order");
        }
    }

    fn refusal(&self) -> DatabaseError {
        let database = self.database.to_string();
        match self.access {
            Access::ReadWrite => DatabaseError::Closed { database },
            Access::ReadOnly => DatabaseError::NotWritable {
                database,
                source: Arc::new(std::io::Error::other("it was opened for reading")),
            },
        }
    }
}

/// No code between lock and unlock can panic here, so a poisoned lock holds nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The writer as it sees itself.
struct WriterThread {
    connection: Connection,
    database: Arc<str>,
    feed: broadcast::Sender<Moved>,
}

/// The transaction ended before its commit: SQLite rolls it back by itself when the disk is full or fails.
struct Lost;

impl WriterThread {
    fn work(self, mut waiting: mpsc::Receiver<Box<dyn Work>>) {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        // While one batch is being written to disk the next one gathers by itself; to wait for more on purpose would
        // only make a single writer slower.
        while let Some(first) = waiting.blocking_recv() {
            batch.push(first);
            while batch.len() < MAX_BATCH {
                let Ok(next) = waiting.try_recv() else { break };
                batch.push(next);
            }
            self.write(std::mem::take(&mut batch));
        }
    }

    fn write(&self, mut batch: Vec<Box<dyn Work>>) {
        match self.together(&mut batch) {
            Ok(committed) => self.settle(batch, &committed),
            Err(Lost) if batch.len() == 1 => {
                let error = DatabaseError::Unexpected {
                    database: self.database.to_string(),
                    source: Arc::new(std::io::Error::other("SQLite gave the transaction up")),
                };
                self.settle(batch, &Err(error));
            }
            // Each for itself, so that only the one that cannot be written fails.
            Err(Lost) => batch.into_iter().for_each(|one| self.write(vec![one])),
        }
    }

    /// Does all the work in one transaction.
    fn together(&self, batch: &mut [Box<dyn Work>]) -> Result<Result<(), DatabaseError>, Lost> {
        if let Err(error) = self.say("BEGIN IMMEDIATE") {
            return Ok(Err(error));
        }
        for work in batch.iter_mut() {
            if let Err(error) = self.one(work.as_mut()) {
                return self.gave_up(error);
            }
            if self.connection.is_autocommit() {
                return Err(Lost);
            }
        }
        match self.say("COMMIT") {
            Ok(()) => Ok(Ok(())),
            Err(error) => self.gave_up(error),
        }
    }

    /// Does one piece of work in a savepoint.
    fn one(&self, work: &mut dyn Work) -> Result<(), DatabaseError> {
        self.say("SAVEPOINT one")?;
        match work.attempt(self.sql()) {
            true => self.say("RELEASE one"),
            // The transaction is gone already, and with it the savepoint.
            false if self.connection.is_autocommit() => Ok(()),
            false => {
                self.say("ROLLBACK TO one")?;
                self.say("RELEASE one")
            }
        }
    }

    /// Makes sure that nothing stays open after a failure of the transaction itself.
    fn gave_up(&self, error: DatabaseError) -> Result<Result<(), DatabaseError>, Lost> {
        if !self.connection.is_autocommit()
            && let Err(second) = self.say("ROLLBACK")
        {
            tracing::error!(database = %self.database, error = %second, "a failed transaction cannot be rolled back");
        }
        Ok(Err(error))
    }

    fn settle(&self, mut batch: Vec<Box<dyn Work>>, committed: &Result<(), DatabaseError>) {
        if committed.is_ok() {
            // Before the answers, so that a subscriber after an answer does not hear of what is past.
            for moved in batch.iter_mut().filter_map(|work| work.moved()) {
                // An error means that nobody listens.
                drop(self.feed.send(moved));
            }
        }
        for work in batch {
            work.settle(committed);
        }
    }

    fn say(&self, sql: &str) -> Result<(), DatabaseError> {
        self.sql().execute(sql, []).map(|_| ())
    }

    fn sql(&self) -> Sql<'_> {
        Sql { connection: &self.connection, database: &self.database }
    }
}
