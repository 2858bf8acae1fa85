//! Commands of gates in the job's clean checkout, one at a time.
//!
//! Must not know what the commands check.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use helix_core::evidence::CommandEvidence;
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::{CommitId, JobId};
use helix_plan::split_words;
use tokio_util::sync::CancellationToken;

use super::GateContext;
use super::judgement::Trouble;
use helix_process::{CommandEnd, CommandRequest, CommandRun, ToolEnvironment, run_command};

/// Sees to it that one gate at a time uses a job's checkout. Shared by all gates of a host.
#[derive(Debug, Clone, Default)]
pub struct GateCheckouts {
    locks: Arc<Mutex<HashMap<JobId, Weak<tokio::sync::Mutex<()>>>>>,
}

impl GateCheckouts {
    pub(crate) async fn exclusive(&self, job: &JobId) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| lock.strong_count() > 0);
            let known = locks.get(job).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::new(tokio::sync::Mutex::new(()));
                locks.insert(job.clone(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

/// A command that ran on a commit.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) run: CommandRun,
    pub(crate) evidence: CommandEvidence,
    /// The output for reading, paths in it relative to the checkout.
    pub(crate) output: String,
    /// The report file that the command was to write.
    pub(crate) report: Option<String>,
}

/// One command to run in a checkout.
pub(crate) struct Check<'a> {
    pub(crate) argv: &'a [String],
    pub(crate) limit: Duration,
    /// Ending of the output file's name.
    pub(crate) suffix: &'a str,
    /// Report that the command writes, relative to its directory.
    pub(crate) report: Option<&'a str>,
}

/// Most of an output or report that is read for counts.
const MAX_READ: usize = 32 << 20;

/// Splits a gate's command line.
pub(crate) fn words(command: &str) -> Result<Vec<String>, Fault> {
    split_words(command).map_err(|error| Fault {
        kind: FaultKind::Environment,
        message: format!("the command {command:?} cannot be run: {error}"),
        hint: Some(error.remedy),
    })
}

/// The job's clean checkout of a commit, for whoever holds this and nobody else.
pub(crate) struct Checkout {
    directory: PathBuf,
    _alone: tokio::sync::OwnedMutexGuard<()>,
}

impl Checkout {
    /// Waits for the checkout and brings it to the commit.
    pub(crate) async fn enter(
        context: &Arc<GateContext>,
        commit: &CommitId,
        cancel: &CancellationToken,
    ) -> Result<Self, Trouble> {
        let alone = context.checkouts.exclusive(&context.job).await;
        if cancel.is_cancelled() {
            return Err(Trouble::Cancelled);
        }
        let (of, commit) = (context.clone(), commit.clone());
        let directory = blocking(move || of.spaces.gate_checkout(&of.job, &commit, &of.keep)).await??;
        Ok(Self { directory, _alone: alone })
    }
}

/// Runs a command in a clean checkout of a commit.
pub(crate) async fn run_on(
    context: &Arc<GateContext>,
    commit: &CommitId,
    check: Check<'_>,
    cancel: &CancellationToken,
) -> Result<Checked, Trouble> {
    let checkout = Checkout::enter(context, commit, cancel).await?;
    run_in(context, &checkout, check, &context.environment, &[], cancel).await
}

/// Runs a command in a checkout as those before it have left it. Of the secrets nothing is left in its output.
pub(crate) async fn run_in(
    context: &Arc<GateContext>,
    checkout: &Checkout,
    check: Check<'_>,
    environment: &ToolEnvironment,
    secrets: &[String],
    cancel: &CancellationToken,
) -> Result<Checked, Trouble> {
    let directory = checkout.directory.clone();
    let report = check.report.filter(|path| stays_inside(path)).map(|path| directory.join(path));
    if let Some(report) = &report {
        // A report that is in the commit says nothing about this run.
        match tokio::fs::remove_file(report).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Trouble::Broken(format!("the old report {report:?} cannot be removed: {error}")));
            }
            Ok(()) | Err(_) => {}
        }
    }
    let file = format!("gates/{}/{}{}.log", context.job, context.label, check.suffix);
    let output = context.state.join(&file);
    let request = CommandRequest {
        argv: check.argv.to_vec(),
        directory: directory.clone(),
        environment: environment.clone(),
        secrets: secrets.to_vec(),
        output: output.clone(),
        limit: check.limit,
        state: context.state.clone(),
    };
    let run = run_command(request, cancel).await?;
    let exit_code = match run.end {
        CommandEnd::Cancelled => return Err(Trouble::Cancelled),
        CommandEnd::Exited(code) => Some(code),
        CommandEnd::Signalled(_) | CommandEnd::TimedOut => None,
    };
    let evidence =
        CommandEvidence { argv: check.argv.to_vec(), exit_code, output_sha256: run.sha256.clone(), output_file: file };
    let texts = blocking(move || {
        let prefix = format!("{}/", directory.display());
        let read = |path: &Path| read_ends(path).map(|text| text.replace(&prefix, ""));
        // Not every command writes the report that it names.
        let report = report.filter(|path| path.exists()).map(|path| read(&path)).transpose()?;
        Ok((read(&output)?, report))
    });
    let unreadable = |error: std::io::Error| Trouble::Broken(format!("its output cannot be read: {error}"));
    let (output, report) = texts.await?.map_err(unreadable)?;
    Ok(Checked { run, evidence, output, report })
}

/// Runs something that blocks away from the runtime's own threads.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Trouble> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Trouble::Broken(error.to_string()))
}

fn stays_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Reads a file; of one that is too long, its beginning and its end.
fn read_ends(path: &Path) -> std::io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    if length <= MAX_READ {
        file.take(MAX_READ as u64).read_to_end(&mut bytes)?;
    } else {
        (&mut file).take((MAX_READ / 8) as u64).read_to_end(&mut bytes)?;
        bytes.push(b'\n');
        file.seek(SeekFrom::End(-((MAX_READ - MAX_READ / 8) as i64)))?;
        file.take(MAX_READ as u64).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The fault behind an end that says nothing about the work: not found, too late, killed from outside.
pub(crate) fn fault_of(run: &CommandRun, argv: &[String], limit: Duration) -> Option<Fault> {
    let program = argv.first().map(String::as_str).unwrap_or_default();
    let last = run.tail.trim_end().lines().last().unwrap_or_default();
    let (kind, message, hint) = match run.end {
        CommandEnd::Exited(127) => (
            FaultKind::ToolMissing,
            format!("{program} did not find a program it needs (exit 127): {last}"),
            "install the program on the PATH of gates (see `helix doctor`). A program in node_modules is ignored by git, so a clean checkout lacks it: add `setup: npm ci`",
        ),
        CommandEnd::Exited(126) => (
            FaultKind::Environment,
            format!("{program} or a program it calls may not be executed (exit 126): {last}"),
            "make the script executable and commit its mode",
        ),
        CommandEnd::TimedOut => (
            FaultKind::Timeout,
            format!("{program} took longer than {} s and was stopped", limit.as_secs()),
            "give the gate a longer `timeout`, or make what it runs faster",
        ),
        CommandEnd::Signalled(9) => (
            FaultKind::Environment,
            format!("{program} was killed from outside"),
            "look for a lack of memory (`dmesg`), or lower the number of parallel phases",
        ),
        CommandEnd::Exited(_) | CommandEnd::Signalled(_) | CommandEnd::Cancelled => return None,
    };
    Some(Fault { kind, message, hint: Some(hint.to_owned()) })
}
