//! Reads a growing record of stdout as whole lines, from its first byte to the end of the run.
//!
//! Must not know what is in the lines: they are bytes, valid UTF-8 or not. Of one that is longer than [`MAX_LINE`], the rest is dropped and
//! counted.

mod buffer;

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use helix_core::ids::RunId;
use helix_core::secrets::LineMask;
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

pub use self::buffer::LineBuffer;
use crate::invocation::{MAX_OUTPUT, RunEnd, StreamEnd};
use crate::run_dir::name;
use crate::secrets;

/// Longest line that is read as a whole, in bytes: more than any record of an agent has.
pub const MAX_LINE: usize = 32 << 20;

/// A whole line without its newline. Cheap to clone; shares memory with its neighbours.
pub type Line = Bytes;

/// Says why a run's output cannot be read on. What was delivered before is right, but it is not all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system refused.
    #[error("cannot read the output of run {run} from {} at byte {offset}", path.display())]
    Io { run: RunId, path: PathBuf, offset: u64, source: io::Error },
    /// The file is shorter than what was read from it or than the run's record says.
    #[error("the output of run {run} was cut to {length} bytes, after {expected}: {}", path.display())]
    Truncated {
        run: RunId,
        path: PathBuf,
        length: u64,
        /// What it had at least.
        expected: u64,
    },
    /// The file was removed or replaced.
    #[error("the output of run {run} was removed: {}", path.display())]
    Removed { run: RunId, path: PathBuf },
    /// Helix is shutting down.
    #[error("reading the output of run {run} was given up")]
    ShuttingDown { run: RunId },
}

/// Reads the lines of a run. Ends only when the run has ended **and** every byte was read.
#[derive(Debug)]
pub struct LineReader {
    run: RunId,
    path: PathBuf,
    /// Is there once the record is being masked where it lies.
    marker: PathBuf,
    mask: LineMask,
    output: watch::Receiver<u64>,
    run_end: watch::Receiver<Option<RunEnd>>,
    reading: Reading,
    end: StreamEnd,
    /// Keeps the end of the run awaited.
    _waiting: Arc<DropGuard>,
}

#[derive(Debug)]
enum Reading {
    /// Nothing under way.
    Idle(Source),
    /// A read that waits for the disk, off the async threads; kept here, so that dropping the future of `next` loses nothing.
    Busy { work: JoinHandle<Worked>, run_end: Option<RunEnd> },
    /// The end was reached, or an error was reported.
    Over,
}

/// A source, and what was found there.
type Worked = (Source, io::Result<Looked>);

/// The open file and what was read of it and not yet delivered.
#[derive(Debug)]
struct Source {
    file: Option<File>,
    offset: u64,
    buffer: LineBuffer,
    next: Next,
    /// Whether the file system cannot say what is in memory.
    is_unknown: bool,
}

/// When to read next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// There may be more: others go first, since a flood need never end.
    AfterOthers,
    /// The last read brought all that there was.
    WhenWritten,
    /// The record is being masked.
    WhenEnded,
}

/// Whether a read may wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// It fails where what it wants is not in memory.
    Never,
    Allowed,
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looked {
    Read,
    /// The record is being masked: what was read may be half of either.
    Masking,
    /// Nothing more at present; what the file's own record says of it.
    AtEnd {
        length: u64,
        links: u64,
    },
}

impl LineReader {
    pub(crate) fn new(
        run: RunId,
        path: PathBuf,
        output: watch::Receiver<u64>,
        run_end: watch::Receiver<Option<RunEnd>>,
        waiting: Arc<DropGuard>,
    ) -> Self {
        Self {
            run,
            marker: path.with_file_name(name::MASKING),
            path,
            mask: LineMask::default(),
            output,
            run_end,
            reading: Reading::Idle(Source {
                file: None,
                offset: 0,
                buffer: LineBuffer::new(MAX_LINE),
                next: Next::AfterOthers,
                is_unknown: false,
            }),
            end: StreamEnd::default(),
            _waiting: waiting,
        }
    }

    /// Returns the next whole line, waiting for it if need be; `None` when the stream is over. After an error there is
    /// nothing more. May be dropped and called again without losing a byte.
    pub async fn next(&mut self) -> Option<Result<Line, ReadError>> {
        loop {
            let (read, run_end) = match &mut self.reading {
                Reading::Over => return None,
                Reading::Idle(source) => {
                    let line = source.buffer.take_line();
                    self.end.cut = source.buffer.cut();
                    if let Some(mut line) = line {
                        self.end.lines += 1;
                        self.mask.line(&secrets::held(), &mut line);
                        return Some(Ok(line.freeze()));
                    }
                    let awaited = match source.next {
                        Next::AfterOthers => {
                            tokio::task::yield_now().await;
                            true
                        }
                        Next::WhenWritten if self.run_end.borrow().is_some() => true,
                        // Who follows the run may be gone once it has ended: what it said last counts.
                        Next::WhenWritten => tokio::select! {
                            Ok(()) = self.output.changed() => true,
                            Ok(_) = self.run_end.wait_for(Option::is_some) => true,
                            else => false,
                        },
                        Next::WhenEnded => self.run_end.wait_for(Option::is_some).await.is_ok(),
                    };
                    if !awaited {
                        return Some(Err(self.shutting_down()));
                    }
                    let Some(read) = self.begin_reading() else { continue };
                    read
                }
                Reading::Busy { work, run_end } => match (work.await, run_end.take()) {
                    (Ok(read), run_end) => (read, run_end),
                    (Err(error), _) if error.is_panic() => {
                        self.reading = Reading::Over;
                        return Some(Err(self.read_error(self.end.bytes, io::Error::other(error))));
                    }
                    (Err(_), _) => return Some(Err(self.shutting_down())),
                },
            };
            let (mut source, looked) = read;
            let error = match looked {
                Ok(Looked::Read) => {
                    self.end.bytes = source.offset;
                    self.reading = Reading::Idle(source);
                    continue;
                }
                Ok(Looked::Masking) => {
                    source.offset = source.buffer.forget();
                    source.next = Next::WhenEnded;
                    self.reading = Reading::Idle(source);
                    continue;
                }
                Ok(Looked::AtEnd { length, links }) => match self.at_end(source, length, links, run_end) {
                    Ok(()) => continue,
                    Err(error) => error,
                },
                Err(error) => self.read_error(source.offset, error),
            };
            self.reading = Reading::Over;
            return Some(Err(error));
        }
    }

    /// Says how the stream ended, and how far it was read if it has not.
    pub fn end(&self) -> &StreamEnd {
        &self.end
    }

    /// Reads what is in memory, or starts a read in the background. Whether the run had ended is noted *before* it, so that "ended,
    /// and nothing more to read" cannot miss what was written in between.
    fn begin_reading(&mut self) -> Option<(Worked, Option<RunEnd>)> {
        let Reading::Idle(mut source) = std::mem::replace(&mut self.reading, Reading::Over) else { return None };
        let run_end = self.run_end.borrow().clone();
        self.output.borrow_and_update();
        let over = run_end.is_some();
        if let Some(looked) = source.look_in_memory(&self.marker, over) {
            return Some(((source, looked), run_end));
        }
        let (path, marker) = (self.path.clone(), self.marker.clone());
        let work = tokio::task::spawn_blocking(move || {
            let looked = source.open(&path).and_then(|()| source.look(&marker, over, Waiting::Allowed));
            (source, looked)
        });
        self.reading = Reading::Busy { work, run_end };
        None
    }

    fn shutting_down(&mut self) -> ReadError {
        self.reading = Reading::Over;
        ReadError::ShuttingDown { run: self.run.clone() }
    }

    fn at_end(&mut self, source: Source, length: u64, links: u64, run_end: Option<RunEnd>) -> Result<(), ReadError> {
        let run = || self.run.clone();
        let expected = source.offset.max(run_end.as_ref().map_or(0, |end| end.stdout_bytes));
        if links == 0 {
            return Err(ReadError::Removed { run: run(), path: self.path.clone() });
        }
        if length < expected {
            return Err(ReadError::Truncated { run: run(), path: self.path.clone(), length, expected });
        }
        if run_end.is_some() {
            self.end.tail = source.buffer.into_tail();
            self.mask.line(&secrets::held(), &mut self.end.tail);
            self.end.read_to_end = true;
            self.reading = Reading::Over;
            return Ok(());
        }
        self.reading = Reading::Idle(source);
        Ok(())
    }

    fn read_error(&self, offset: u64, source: io::Error) -> ReadError {
        let (run, path) = (self.run.clone(), self.path.clone());
        if source.kind() == io::ErrorKind::NotFound {
            return ReadError::Removed { run, path };
        }
        ReadError::Io { run, path, offset, source }
    }
}

impl Source {
    fn open(&mut self, path: &Path) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(File::open(path)?);
        }
        Ok(())
    }

    /// Reads what is in memory, as what an agent has just written; `None` where the disk is needed.
    fn look_in_memory(&mut self, marker: &Path, over: bool) -> Option<io::Result<Looked>> {
        self.file.as_ref().filter(|_| !self.is_unknown)?;
        let looked = self.look(marker, over, Waiting::Never);
        let refused = looked.as_ref().err().and_then(Errno::from_io_error);
        self.is_unknown = matches!(refused, Some(Errno::OPNOTSUPP | Errno::NOSYS));
        (!self.is_unknown && refused != Some(Errno::AGAIN)).then_some(looked)
    }

    /// `over`: whether the run had ended before, and its record has its last form.
    fn look(&mut self, marker: &Path, over: bool, waiting: Waiting) -> io::Result<Looked> {
        let Some(file) = &self.file else { return Err(io::ErrorKind::NotFound.into()) };
        let offset = self.offset;
        // What is longer was written before anybody could stop it, and is taken back when the run ends.
        let left = usize::try_from(MAX_OUTPUT.saturating_sub(offset)).unwrap_or(usize::MAX);
        let read = self.buffer.fill(|space| {
            let most = space.len().min(left);
            let space = &mut space[..most];
            match waiting {
                Waiting::Allowed => file.read_at(space, offset),
                Waiting::Never => Ok(preadv2(file, &mut [IoSliceMut::new(space)], offset, ReadWriteFlags::NOWAIT)?),
            }
        })?;
        self.offset += read as u64;
        let metadata = file.metadata()?;
        let is_all = read == 0 || metadata.len() <= self.offset;
        self.next = if is_all { Next::WhenWritten } else { Next::AfterOthers };
        if !over && marker.try_exists()? {
            return Ok(Looked::Masking);
        }
        if read > 0 {
            return Ok(Looked::Read);
        }
        Ok(Looked::AtEnd { length: metadata.len(), links: metadata.nlink() })
    }
}

#[cfg(test)]
#[path = "tail_test.rs"]
mod tests;
