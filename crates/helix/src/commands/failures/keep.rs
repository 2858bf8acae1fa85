//! `helix failures forget`, `export` and `import`. Must not know what a record means.

use std::fs::File;
use std::io::{BufRead, BufWriter, Read as _, Write};
use std::path::Path;

use helix_failure::memory::MemoryRecord;
use helix_language::say;
use helix_store::failures::{FailureMemory, Forget, Imported, MemoryError};
use serde_json::json;

use super::memory::{ANSWER_LIMIT, detail, missing, reading, writing};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::{open, unreadable, unwritable};
use crate::terminal::one_json_line;

/// Failures that are read at once.
const EXPORTED: usize = 200;
/// Records that are written at once; all or none of them.
const IMPORTED: usize = 500;
/// Longest line of an import, in bytes.
const LONGEST: u64 = 4 * 1024 * 1024;

pub(super) async fn forget(context: &Context, id: &str, only_fixes: bool) -> Ended {
    // Read first: what does not exist is no reason to make a state directory.
    let fingerprint = detail(context, id).await?.known.diagnosis.fingerprint;
    let (language, id) = (context.terminal.language, fingerprint.as_str());
    let (forget, word, text) = match only_fixes {
        true => (Forget::Fixes, "fixes", say!(language, "failures-forgot-fixes", id = id)),
        false => (Forget::Everything, "everything", say!(language, "failures-forgot", id = id)),
    };
    if !writing(context.settings()?).await?.forget(fingerprint.clone(), forget).await? {
        return Err(missing(fingerprint.as_str()));
    }
    context.terminal.answer(&json!({ "forgotten": fingerprint, "what": word }), &text)
}

pub(super) async fn export(context: &Context, file: Option<&Path>) -> Ended {
    let memory = reading(context.settings()?, ANSWER_LIMIT).await?;
    let records = match file.filter(|file| *file != Path::new("-")) {
        None => each_line(memory.as_ref(), |lines| context.terminal.raw(lines).map(drop)).await?,
        Some(path) => {
            let mut output = BufWriter::new(File::create(path).map_err(unwritable(path))?);
            let write = |lines: &str| output.write_all(lines.as_bytes()).map_err(unwritable(path));
            let records = each_line(memory.as_ref(), write).await?;
            output.flush().map_err(unwritable(path))?;
            records
        }
    };
    context.terminal.say(&say!(context.terminal.language, "failures-exported", records = records));
    Ok(Exit::Success)
}

/// Gives every record as a line, page by page; says how many there were.
async fn each_line(
    memory: Option<&FailureMemory>,
    mut write: impl FnMut(&str) -> Result<(), CommandError>,
) -> Result<u64, CommandError> {
    let Some(memory) = memory else { return Ok(0) };
    let (mut records, mut from) = (0, 0);
    loop {
        let page = memory.export(from, EXPORTED).await?;
        let mut lines = String::new();
        for record in &page.records {
            lines.push_str(&one_json_line(record)?);
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
    let mut imported = Imported::default();
    loop {
        let batch = std::iter::from_fn(|| lines.next().transpose()).take(IMPORTED);
        let batch: Vec<(u64, MemoryRecord)> = batch.collect::<Result<_, _>>()?;
        if batch.is_empty() {
            break;
        }
        let (places, records): (Vec<u64>, Vec<MemoryRecord>) = batch.into_iter().unzip();
        let written = memory.import(records).await;
        imported.add(written.map_err(|error| refused(error, file, &places))?);
    }
    let Imported { added, known } = imported;
    context
        .terminal
        .answer(&imported, &say!(context.terminal.language, "failures-imported", added = added, known = known))
}

/// Names the line of a refused record.
fn refused(error: MemoryError, file: &Path, places: &[u64]) -> CommandError {
    let (MemoryError::Record { index, .. } | MemoryError::Orphan { index, .. }) = error else { return error.into() };
    let line = places.get(index).copied().unwrap_or_default();
    let place = format!("{}, line {line}, cannot be imported", file.display());
    CommandError::usage(codes::INPUT_UNREADABLE, place).because(&error).hint(error.hint())
}

/// The records of a file with the numbers of their lines.
struct Lines {
    input: Box<dyn BufRead>,
    name: String,
    number: u64,
}

impl Lines {
    fn open(file: &Path) -> Result<Self, CommandError> {
        Ok(Self { input: open(file, "the file to import")?, name: file.display().to_string(), number: 0 })
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
        let refused = |what: &str| {
            let place = format!("{}, line {}, {what}", self.name, self.number);
            CommandError::usage(codes::INPUT_UNREADABLE, place)
                .hint("each line must be a JSON object from `helix failures export`; this line is not imported")
        };
        if line.len() as u64 > LONGEST {
            return Err(refused("is too long"));
        }
        let record: MemoryRecord =
            serde_json::from_slice(line).map_err(|error| refused("is not a record").because(&error))?;
        record.check().map_err(|error| refused("is contradictory").because(&error))?;
        Ok(record)
    }
}
