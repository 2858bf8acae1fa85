//! `helix failures forget`, `export` and `import`. Must not know what a record means.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use helix_failure::memory::MemoryRecord;
use helix_store::failures::{FailureMemory, Forget, Imported, MemoryError, SqliteFailureMemory};
use serde_json::json;

use super::memory::{memory_error, missing, reading, writing};
use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended, unreadable, unwritable};
use crate::exit::Exit;
use crate::terminal::Reading;

/// Failures that are read at once.
const EXPORTED: usize = 200;
/// Records that are written at once; all or none of them.
const IMPORTED: usize = 500;
/// Longest line of an import, in bytes.
const LONGEST: u64 = 4 * 1024 * 1024;

/// How much to forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Everything,
    /// What is said to have fixed it.
    Fixes,
}

pub(super) async fn forget(context: &Context, id: &str, what: What) -> Ended {
    let settings = context.settings()?;
    // Read first: what does not exist is no reason to make a state directory.
    let Some(memory) = reading(settings).await? else { return Err(missing(id)) };
    let found = memory.show(id.to_owned()).await.map_err(|error| memory_error(&error))?;
    let Some(found) = found else { return Err(missing(id)) };
    let fingerprint = found.known.diagnosis.fingerprint;
    let (forget, word) = match what {
        What::Everything => (Forget::Everything, "everything"),
        What::Fixes => (Forget::Fixes, "fixes"),
    };
    let forgotten = writing(settings).await?.forget(fingerprint.clone(), forget).await;
    if !forgotten.map_err(|error| memory_error(&error))? {
        return Err(missing(id));
    }
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(&json!({ "forgotten": fingerprint, "what": word }))?,
        Reading::People => context.terminal.data(&match what {
            What::Everything => format!("forgot {fingerprint}"),
            What::Fixes => format!("forgot the fixes of {fingerprint}"),
        })?,
    }
    Ok(Exit::Success)
}

pub(super) async fn export(context: &Context, file: Option<&Path>) -> Ended {
    let memory = reading(context.settings()?).await?;
    let mut records = 0_u64;
    match file.filter(|file| *file != Path::new("-")) {
        None => {
            let write = |line: &str| context.terminal.raw(line);
            records += each_line(memory.as_ref(), write).await?;
        }
        Some(path) => {
            let mut output = BufWriter::new(File::create(path).map_err(unwritable(path))?);
            let write = |line: &str| output.write_all(line.as_bytes()).map_err(unwritable(path));
            records += each_line(memory.as_ref(), write).await?;
            output.flush().map_err(unwritable(path))?;
        }
    }
    context.terminal.say(&format!("{records} records written"));
    Ok(Exit::Success)
}

/// Gives every record as a line, page by page; says how many there were.
async fn each_line(
    memory: Option<&SqliteFailureMemory>,
    mut write: impl FnMut(&str) -> Result<(), CommandError>,
) -> Result<u64, CommandError> {
    let Some(memory) = memory else { return Ok(0) };
    let (mut records, mut from) = (0, 0);
    loop {
        let page = memory.export(from, EXPORTED).await.map_err(|error| memory_error(&error))?;
        let mut lines = String::new();
        for record in &page.records {
            let line = serde_json::to_string(record)
                .map_err(|error| CommandError::helix(codes::BROKEN, "cannot write a record as JSON").because(&error))?;
            lines.push_str(&line);
            lines.push('\n');
        }
        write(&lines)?;
        records += page.records.len() as u64;
        match page.next {
            Some(next) => from = next,
            None => return Ok(records),
        }
    }
}

pub(super) async fn import(context: &Context, file: &Path) -> Ended {
    if file != Path::new("-") {
        // The whole file is looked through before anything is changed; standard input can be read only once.
        let mut lines = Lines::open(file)?;
        while lines.next()?.is_some() {}
    }
    let mut lines = Lines::open(file)?;
    let memory = writing(context.settings()?).await?;
    let (mut imported, mut batch, mut places) = (Imported::default(), Vec::new(), Vec::new());
    loop {
        let next = lines.next()?;
        let last = next.is_none();
        if let Some((place, record)) = next {
            places.push(place);
            batch.push(record);
        }
        if batch.len() >= IMPORTED || (last && !batch.is_empty()) {
            let written = memory.import(std::mem::take(&mut batch)).await;
            imported.add(written.map_err(|error| refused(&error, file, &places))?);
            places.clear();
        }
        if last {
            break;
        }
    }
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(&imported)?,
        Reading::People => {
            let Imported { added, known } = imported;
            context.terminal.data(&format!("{added} new records, {known} already known"))?;
        }
    }
    Ok(Exit::Success)
}

/// Names the line of a refused record.
fn refused(error: &MemoryError, file: &Path, places: &[u64]) -> CommandError {
    let index = match error {
        MemoryError::Record { index, .. } | MemoryError::Orphan { index, .. } => *index,
        MemoryError::Database(_)
        | MemoryError::Deadline { .. }
        | MemoryError::Row { .. }
        | MemoryError::Ambiguous { .. } => return memory_error(error),
    };
    let line = places.get(index).copied().unwrap_or_default();
    let place = format!("{}, line {line}, cannot be imported", file.display());
    CommandError::usage(codes::INPUT_UNREADABLE, place).because(error).hint(error.hint())
}

/// The records of a file with the numbers of their lines.
struct Lines {
    input: BufReader<Box<dyn Read>>,
    name: String,
    number: u64,
}

impl Lines {
    fn open(file: &Path) -> Result<Self, CommandError> {
        let input: Box<dyn Read> = if file == Path::new("-") {
            Box::new(std::io::stdin())
        } else {
            let opened = File::open(file).map_err(unreadable(file))?;
            if opened.metadata().map_err(unreadable(file))?.is_dir() {
                let place = format!("{} is a directory", file.display());
                return Err(CommandError::usage(codes::INPUT_UNREADABLE, place).hint("pass the file to import"));
            }
            Box::new(opened)
        };
        Ok(Self { input: BufReader::new(input), name: file.display().to_string(), number: 0 })
    }

    /// The next record; empty lines are none.
    fn next(&mut self) -> Result<Option<(u64, MemoryRecord)>, CommandError> {
        loop {
            let mut line = Vec::new();
            let read = self.input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line);
            if read.map_err(unreadable(Path::new(&self.name)))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return Ok(Some((self.number, self.record(&line)?)));
        }
    }

    fn record(&self, line: &[u8]) -> Result<MemoryRecord, CommandError> {
        let place = |what: &str| format!("{}, line {}, {what}", self.name, self.number);
        let hint = "each line must be a JSON object from `helix failures export`; this line is not imported";
        if line.len() as u64 > LONGEST {
            return Err(CommandError::usage(codes::INPUT_UNREADABLE, place("is too long")).hint(hint));
        }
        let record: MemoryRecord = serde_json::from_slice(line).map_err(|error| {
            CommandError::usage(codes::INPUT_UNREADABLE, place("is not a record")).because(&error).hint(hint)
        })?;
        record.check().map_err(|error| {
            CommandError::usage(codes::INPUT_UNREADABLE, place("is contradictory")).because(&error).hint(hint)
        })?;
        Ok(record)
    }
}
