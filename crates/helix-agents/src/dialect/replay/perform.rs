//! What the embedded agent really does: files and programs.
//!
//! Must not print: what a tool says is returned.

use std::fs;
use std::io::{Error, Read, Write, pipe};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use super::cassette::{EditFile, RunProgram, WriteFile};

/// What a tool said and whether it failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    /// What it said, cut.
    pub(super) output: String,
    pub(super) failed: bool,
}

impl Done {
    fn well(output: String) -> Self {
        Self { output, failed: false }
    }

    fn failed(output: String) -> Self {
        Self { output, failed: true }
    }
}

/// Writes a file below the working directory.
pub(super) fn write(workdir: &Path, file: &WriteFile) -> Done {
    let path = workdir.join(&file.path);
    let written = match path.parent() {
        Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::write(&path, &file.text)),
        None => fs::write(&path, &file.text),
    };
    match written {
        Ok(()) => Done::well(format!("wrote {} bytes to {}", file.text.len(), file.path.display())),
        Err(error) => Done::failed(format!("cannot write {}: {error}", file.path.display())),
    }
}

/// Replaces a text that must occur exactly once.
pub(super) fn edit(workdir: &Path, edit: &EditFile) -> Done {
    let path = workdir.join(&edit.path);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Done::failed(format!("cannot read {}: {error}", edit.path.display())),
    };
    match text.matches(&edit.find).count() {
        1 => match fs::write(&path, text.replacen(&edit.find, &edit.replace, 1)) {
            Ok(()) => Done::well(format!("edited {}", edit.path.display())),
            Err(error) => Done::failed(format!("cannot write {}: {error}", edit.path.display())),
        },
        times => Done::failed(format!("the text occurs {times} times in {}, not once", edit.path.display())),
    }
}

pub(super) fn delete(workdir: &Path, file: &Path) -> Done {
    match fs::remove_file(workdir.join(file)) {
        Ok(()) => Done::well(format!("deleted {}", file.display())),
        Err(error) => Done::failed(format!("cannot delete {}: {error}", file.display())),
    }
}

/// Runs a program to its end; `began` is told its process id, so that a signal can reach it.
pub(super) fn run(workdir: &Path, program: &RunProgram, limit: usize, began: impl FnMut(Option<u32>)) -> Done {
    match output_of(workdir, program, limit, began) {
        Ok((text, status)) if status.success() => Done::well(text),
        Ok((text, status)) => Done::failed(format!("{text}\n[{status}]")),
        Err(error) => Done::failed(format!("cannot run {}: {error}", program.command.join(" "))),
    }
}

fn output_of(
    workdir: &Path,
    program: &RunProgram,
    limit: usize,
    mut began: impl FnMut(Option<u32>),
) -> Result<(String, ExitStatus), Error> {
    let (name, args) = program.command.split_first().ok_or_else(|| Error::other("the command is empty"))?;
    // One pipe for both streams, so that the output stands in the order in which it was written.
    let (mut output, writer) = pipe()?;
    let mut child = {
        let second = writer.try_clone()?;
        let mut command = Command::new(name);
        command.args(args).current_dir(workdir).stdin(Stdio::piped()).stdout(writer).stderr(second);
        command.spawn()?
        // Here the command and with it this process's ends of the pipe go: its end is the program's end.
    };
    began(Some(child.id()));
    let (stdin, input) = (child.stdin.take(), program.stdin.clone().into_bytes());
    // A program need not read what it is given: a closed pipe is no failure of it.
    let feeder = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let kept = read_cut(&mut output, limit);
    let status = child.wait();
    began(None);
    feeder.join().map_err(|_| Error::other("its input could not be written"))?;
    Ok((kept?, status?))
}

/// Reads to the end and keeps the start.
fn read_cut(from: &mut impl Read, limit: usize) -> Result<String, Error> {
    let mut kept = Vec::new();
    from.by_ref().take(limit as u64).read_to_end(&mut kept)?;
    let more = std::io::copy(from, &mut std::io::sink())?;
    let mut text = String::from_utf8_lossy(&kept).into_owned();
    if more > 0 {
        text.push_str(&format!("\n[{more} more bytes]"));
    }
    Ok(text)
}
