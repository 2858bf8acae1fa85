//! Reads a growing record of stdout as whole lines, from its first byte to the end of the run.
//!
//! Must not know what is in the lines: they are bytes, valid UTF-8 or not. Of one that is longer than [`MAX_LINE`], the rest is dropped and
//! counted.

mod buffer;

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use helix_core::ids::RunId;
use helix_core::secrets::LineMask;
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
    ShuttingDown { run: RunId, source: tokio::task::JoinError },
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
    /// File work off the async threads; kept here, so that dropping the future of `next` loses nothing.
    Busy { work: JoinHandle<(Source, io::Result<Looked>)>, run_end: Option<RunEnd> },
    /// The end was reached, or an error was reported.
    Over,
}

/// The open file and what was read of it and not yet delivered.
#[derive(Debug)]
struct Source {
    file: Option<File>,
    offset: u64,
    buffer: LineBuffer,
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
            reading: Reading::Idle(Source { file: None, offset: 0, buffer: LineBuffer::new(MAX_LINE) }),
            end: StreamEnd::default(),
            _waiting: waiting,
        }
    }

    /// Returns the next whole line, waiting for it if need be; `None` when the stream is over. After an error there is
    /// nothing more. May be dropped and called again without losing a byte.
    pub async fn next(&mut self) -> Option<Result<Line, ReadError>> {
        loop {
            match &mut self.reading {
                Reading::Over => return None,
                Reading::Idle(source) => {
                    let line = source.buffer.take_line();
                    self.end.cut = source.buffer.cut();
                    if let Some(mut line) = line {
                        self.end.lines += 1;
                        self.mask.line(&secrets::held(), &mut line);
                        return Some(Ok(line.freeze()));
                    }
                    self.begin_reading();
                }
                Reading::Busy { work, run_end } => {
                    let (worked, run_end) = (work.await, run_end.take());
                    let error = match worked {
                        Ok((source, Ok(Looked::Read))) => {
                            self.end.bytes = source.offset;
                            self.reading = Reading::Idle(source);
                            continue;
                        }
                        Ok((mut source, Ok(Looked::Masking))) => {
                            source.offset = source.buffer.forget();
                            let ended = self.run_end.wait_for(Option::is_some).await.is_ok();
                            self.reading = if ended { Reading::Idle(source) } else { Reading::Over };
                            continue;
                        }
                        Ok((source, Ok(Looked::AtEnd { length, links }))) => {
                            match self.at_end(source, length, links, run_end).await {
                                Ok(()) => continue,
                                Err(error) => error,
                            }
                        }
                        Ok((source, Err(error))) => self.read_error(source.offset, error),
                        Err(error) => ReadError::ShuttingDown { run: self.run.clone(), source: error },
                    };
                    self.reading = Reading::Over;
                    return Some(Err(error));
                }
            }
        }
    }

    /// Says how the stream ended, and how far it was read if it has not.
    pub fn end(&self) -> &StreamEnd {
        &self.end
    }

    /// Starts a read in the background. Whether the run had ended is noted *before* it, so that "ended, and nothing
    /// more to read" cannot miss what was written in between.
    fn begin_reading(&mut self) {
        let Reading::Idle(mut source) = std::mem::replace(&mut self.reading, Reading::Over) else { return };
        let run_end = self.run_end.borrow().clone();
        self.output.borrow_and_update();
        let (path, marker) = (self.path.clone(), self.marker.clone());
        let over = run_end.is_some();
        let work = tokio::task::spawn_blocking(move || {
            let looked = source.look(&path, &marker, over);
            (source, looked)
        });
        self.reading = Reading::Busy { work, run_end };
    }

    async fn at_end(
        &mut self,
        source: Source,
        length: u64,
        links: u64,
        run_end: Option<RunEnd>,
    ) -> Result<(), ReadError> {
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
        tokio::select! {
            _ = self.output.changed() => {}
            _ = self.run_end.wait_for(Option::is_some) => {}
        }
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
    /// `over`: whether the run had ended before, and its record has its last form.
    fn look(&mut self, path: &Path, marker: &Path, over: bool) -> io::Result<Looked> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(File::open(path)?),
        };
        let offset = self.offset;
        // What is longer was written before anybody could stop it, and is taken back when the run ends.
        let left = usize::try_from(MAX_OUTPUT.saturating_sub(offset)).unwrap_or(usize::MAX);
        let read = self.buffer.fill(|space| {
            let most = space.len().min(left);
            file.read_at(&mut space[..most], offset)
        })?;
        self.offset += read as u64;
        if !over && marker.try_exists()? {
            return Ok(Looked::Masking);
        }
        if read > 0 {
            return Ok(Looked::Read);
        }
        let metadata = file.metadata()?;
        Ok(Looked::AtEnd { length: metadata.len(), links: metadata.nlink() })
    }
}
