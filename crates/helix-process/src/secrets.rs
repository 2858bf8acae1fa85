//! What this process knows that nobody may read, and records masked where they lie.
//!
//! Must not know where values come from; `helix_core::secrets` says in which forms they are found.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use helix_core::secrets::{LineMask, Secret, Secrets, of_variables};

use crate::run_dir::{RunDir, RunDirError, name, read_json, write_once};

/// Longest part of a record that counts as one line, in bytes.
const LINE: u64 = 4 << 20;

/// How much of a file is looked at twice, so that nothing is cut where a part ends.
const OVERLAP: usize = 64 << 10;

static HELD: LazyLock<RwLock<Arc<Secrets>>> = LazyLock::new(RwLock::default);

/// All that this process knows. Of a process, since logs and errors have no other place to ask.
pub fn held() -> Arc<Secrets> {
    Arc::clone(&HELD.read().unwrap_or_else(PoisonError::into_inner))
}

/// From now on, nothing of these is shown or kept; words that any text may have are left out.
pub fn hold(secrets: impl IntoIterator<Item = Secret>) {
    let known = held();
    let new: Vec<Secret> = secrets.into_iter().filter(|secret| !known.knows(secret)).collect();
    if new.iter().all(|secret| helix_core::secrets::is_trivial(&secret.value)) {
        return;
    }
    let mut held = HELD.write().unwrap_or_else(PoisonError::into_inner);
    *held = Arc::new(Secrets::new(held.known().cloned().chain(new)));
}

/// Holds what the variables of this process hold.
pub fn hold_environment() {
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let variables: Vec<(String, String)> = variables.collect();
    hold(of_variables(variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
}

/// A text without what nobody may read.
pub fn clean(text: &str) -> String {
    held().text(text).into_owned()
}

/// Those of a run: what its variables hold, by their names or because this process knows the values.
pub(crate) fn of_run(variables: &[(String, String)]) -> Vec<Secret> {
    let known = held();
    let mut secrets = of_variables(variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let also = variables.iter().filter(|(_, value)| known.known().any(|secret| secret.value == *value));
    secrets.extend(also.map(|(name, value)| Secret { name: name.clone(), value: value.clone() }));
    secrets.sort();
    secrets.dedup();
    secrets
}

/// Holds what a run whose record is not masked yet was given; also by an earlier host.
pub(crate) fn hold_those_of(directory: &RunDir) -> Result<(), RunDirError> {
    if let Some(secrets) = read_json::<Vec<Secret>>(&directory.file(name::SECRETS))? {
        hold(secrets);
    }
    Ok(())
}

/// Masks what a run has printed, where it lies, once nothing of it runs any more. What was masked before stays as it is: whoever
/// is killed in between leaves what the next one does again.
pub(crate) fn mask_record(directory: &RunDir) -> Result<(), RunDirError> {
    hold_those_of(directory)?;
    let secrets = held();
    let marker = directory.file(name::MASKING);
    for path in [directory.stdout(), directory.stderr()] {
        let begin = || write_once(&marker, b"").map(drop);
        match mask_file(&path, &secrets, begin) {
            Ok(()) => {}
            Err(MaskError::Begin(error)) => return Err(error),
            Err(MaskError::Io(error)) if error.kind() == ErrorKind::NotFound => {}
            Err(MaskError::Io(error)) => return Err(RunDirError::io("mask", &path)(error)),
        }
    }
    let own = directory.file(name::SECRETS);
    match fs::remove_file(&own) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(RunDirError::io("remove", &own)(error)),
        _ => Ok(()),
    }
}

/// The name of a known value that stands in a file; `None` where there is none.
///
/// # Errors
/// The file cannot be read.
pub fn first_in_file(path: &Path) -> io::Result<Option<String>> {
    let (mut file, secrets, mut held) = (File::open(path)?, held(), Vec::new());
    if secrets.is_empty() {
        return Ok(None);
    }
    loop {
        let read = io::Read::take(&mut file, LINE).read_to_end(&mut held)?;
        if let Some(name) = secrets.first_in(&held) {
            return Ok(Some(name.to_owned()));
        }
        if read == 0 {
            return Ok(None);
        }
        held.drain(..held.len().saturating_sub(OVERLAP));
    }
}

enum MaskError {
    Begin(RunDirError),
    Io(io::Error),
}

impl From<io::Error> for MaskError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Masks a file line by line; `begin` is called before the first byte changes.
fn mask_file(path: &Path, secrets: &Secrets, begin: impl Fn() -> Result<(), RunDirError>) -> Result<(), MaskError> {
    let mut reader = BufReader::with_capacity(256 << 10, File::open(path)?);
    let (mut changing, mut mask, mut offset, mut line) = (None::<File>, LineMask::default(), 0, Vec::new());
    loop {
        line.clear();
        let read = io::Read::take(&mut reader, LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        if mask.line(secrets, &mut line) {
            if changing.is_none() {
                begin().map_err(MaskError::Begin)?;
                changing = Some(OpenOptions::new().write(true).open(path)?);
            }
            if let Some(file) = &changing {
                file.write_all_at(&line, offset)?;
            }
        }
        offset += read as u64;
    }
    changing.map_or(Ok(()), |file| Ok(file.sync_data()?))
}
