//! Commands of gates in the job's clean checkout, one at a time.
//!
//! Must not know what the commands check.

use async_recursion::async_recursion as boxed;
use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use helix_core::error_chain;
use helix_core::evidence::CommandEvidence;
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::{CommitId, JobId, RunId};
use helix_core::run::NetworkAccess;
use helix_language::recorded;
use helix_plan::split_words;
use helix_process::bounded::{open_plain, open_plain_beneath};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::GateContext;
use super::elsewhere::reached;
use super::judgement::{Judgement, Trouble, fault, finding, last_part};
use super::lacking::lay;
use helix_process::{
    CommandEnd, CommandRequest, CommandRun, MAX_OUTPUT, Prepared, RunHandle, Supervisor, ToolEnvironment, Walls,
    collect_command, replace_file, start_command,
};
use helix_workspace::{Preparations, SetupFailure, Wanted};

/// Labels of a run that name the gate that it is for, and what is run on what.
const GATE: &str = "gate";
const COMMAND: &str = "command";
const COMMIT: &str = "commit";

/// The checkouts in which gates of jobs run their commands, one command at a time. Shared by all gates of a host.
#[derive(Debug, Clone)]
pub struct GateCheckouts {
    supervisor: Supervisor,
    /// Cancelled when this host ends; what runs then goes on, and the next host waits for it.
    closing: CancellationToken,
    /// What checkouts have besides the files of their commit.
    preparations: Preparations,
    locks: Arc<Mutex<HashMap<JobId, Weak<tokio::sync::Mutex<()>>>>>,
}

impl GateCheckouts {
    pub fn new(supervisor: Supervisor, closing: CancellationToken, preparations: Preparations) -> Self {
        Self { supervisor, closing, preparations, locks: Arc::default() }
    }

    /// Ends the command of a job's gate that nobody waits for, if there is one: of the gate with this label, or of any.
    #[boxed]
    pub async fn end(&self, job: &JobId, label: Option<&str>) {
        let ended = match self.under_way(job).await {
            Ok(Some(handle)) if label.is_none_or(|label| gate_of(handle.labels()) == Some(label)) => {
                discard(handle).await
            }
            Ok(_) => Ok(()),
            Err(trouble) => Err(trouble),
        };
        if let Err(trouble) = ended {
            tracing::warn!(%job, %trouble, "a command of a gate may be left");
        }
    }

    /// The command of a gate that a former host, or this one, has started and nobody has seen the end of.
    async fn under_way(&self, job: &JobId) -> Result<Option<RunHandle>, Trouble> {
        let attached = self.supervisor.attach_or_withdraw(&RunId::for_gates(job)).await;
        attached.map_err(|error| Trouble::Broken(error_chain(&error).into()))
    }

    /// What the machine's owner says of the network of commands.
    pub(crate) fn network(&self) -> NetworkAccess {
        self.supervisor.sandbox().network
    }

    async fn exclusive(&self, job: &JobId) -> tokio::sync::OwnedMutexGuard<()> {
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

fn gate_of(labels: &BTreeMap<String, String>) -> Option<&str> {
    labels.get(GATE).map(String::as_str)
}

/// Ends a command whose end is of no use, and forgets it.
async fn discard(handle: RunHandle) -> Result<(), Trouble> {
    handle.cancel().await;
    handle.forget().await.map_err(|error| Trouble::Broken(error_chain(&error).into()))
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
    /// Why its end says nothing about the work.
    pub(crate) fault: Option<Fault>,
    /// Why it says nothing about the result: the user's work tree may have been read in its place.
    pub(crate) elsewhere: Option<Fault>,
}

impl Checked {
    /// Why this run says nothing about the tree that it was made on.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.fault.clone().or_else(|| self.elsewhere.clone())
    }
}

/// One command to run in a checkout.
pub(crate) struct Check<'a> {
    pub(crate) argv: &'a [String],
    pub(crate) limit: Duration,
    /// Ending of the output file's name.
    pub(crate) suffix: &'a str,
    /// Variables besides those of every command.
    pub(crate) variables: &'a [(String, String)],
    /// Report that the command writes, relative to its directory.
    pub(crate) report: Option<&'a str>,
    /// Ignored files of the user's work tree that are in the checkout besides the commit's.
    pub(crate) with: &'a [String],
}

/// Most of an output or report that is read for counts.
const MAX_READ: usize = 32 << 20;

/// Splits a gate's command line.
pub(crate) fn words(command: &str) -> Result<Vec<String>, Fault> {
    split_words(command).map_err(|error| {
        let (command, why) = (format!("{command:?}"), error.to_string());
        let message = recorded!("gate-command-unreadable", command = command, why = why);
        helix_language::fault_with_hint(FaultKind::Environment, message, error.remedy.into())
    })
}

/// The job's clean checkout of a commit, for the holder of this and nobody else.
pub(crate) struct Checkout {
    pub(crate) context: Arc<GateContext>,
    directory: PathBuf,
    prepared: Option<Prepared>,
    /// What commands that run in it are labelled with.
    labels: BTreeMap<String, String>,
    _alone: tokio::sync::OwnedMutexGuard<()>,
}

impl Checkout {
    /// Waits for the checkout and brings it to the commit, for commands that nobody but this gate can have begun.
    pub(crate) async fn enter(context: &Arc<GateContext>, commit: &CommitId) -> Result<Self, Trouble> {
        let labels = BTreeMap::from([(GATE.to_owned(), context.label.clone())]);
        Ok(Self::enter_or_join(context, commit, labels).await?.0)
    }

    /// As [`Self::enter`], or with the command of just these labels that is under way there, or has ended unseen: the checkout is
    /// as that one has left it then.
    async fn enter_or_join(
        context: &Arc<GateContext>,
        commit: &CommitId,
        labels: BTreeMap<String, String>,
    ) -> Result<(Self, Option<RunHandle>), Trouble> {
        let mut has_waited = false;
        loop {
            let alone = context.checkouts.exclusive(&context.job).await;
            if context.cancel.is_cancelled() {
                return Err(Trouble::Cancelled);
            }
            let joined = match context.checkouts.under_way(&context.job).await? {
                None => None,
                Some(handle)
                    if labels.contains_key(COMMIT) && *handle.labels() == labels && handle.is_of_use().await =>
                {
                    Some(handle)
                }
                // Another gate's, which is wanted in its turn: its end is for that one to see.
                Some(handle) if !has_waited && gate_of(handle.labels()) != gate_of(&labels) => {
                    has_waited = true;
                    drop(alone);
                    tokio::select! {
                        _ = handle.ended() => continue,
                        () = context.cancel.cancelled() => return Err(Trouble::Cancelled),
                    }
                }
                Some(handle) => {
                    discard(handle).await?;
                    None
                }
            };
            let (directory, prepared) = match joined {
                // It has what it was given when it was started.
                Some(_) => (context.spaces.gate_directory(&context.job), None),
                None => prepared_checkout(context, commit).await?,
            };
            return Ok((Self { context: context.clone(), directory, prepared, labels, _alone: alone }, joined));
        }
    }

    /// Starts a command in the checkout as those before it have left it.
    pub(crate) async fn start(
        &self,
        check: &Check<'_>,
        environment: ToolEnvironment,
        network: NetworkAccess,
    ) -> Result<RunHandle, Trouble> {
        // A report that is in the commit says nothing about this run.
        if let Some(report) = self.report(check)
            && let Err(error) = tokio::fs::remove_file(&report).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            let (report, error) = (format!("{report:?}"), error.to_string());
            return Err(Trouble::Broken(recorded!("gate-old-report", report = report, error = error)));
        }
        let environment = match self.prepared.as_ref().and_then(Prepared::venv) {
            Some(venv) => environment.without_venv().in_venv(&venv),
            None => environment,
        };
        let (context, directory, with) = (self.context.clone(), self.directory.clone(), check.with.to_vec());
        let laid = blocking(move || {
            let environment = environment.with_own_code(&directory, &context.users_tree);
            let laid = lay(&context.users_tree, &with, &directory)
                .map_err(|error| Trouble::Broken(recorded!("gate-checkout-unfilled", error = error.to_string())))?;
            Ok::<_, Trouble>((environment, context.spaces.objects()?, laid))
        });
        let (environment, mut readable, laid) = laid.await??;
        readable.extend(laid);
        readable.extend(self.context.workspace.link.iter().map(|link| self.context.users_tree.join(link)));
        readable.push(self.directory.clone());
        let writable = vec![self.directory.clone()];
        let prepared = self.prepared.clone();
        // What is judged is the commit: nothing of the user's own files is open.
        let closed = vec![self.context.users_tree.clone()];
        let walls = Walls { writable, readable, closed, network: network.into(), prepared, ..Walls::default() };
        let request = CommandRequest {
            run: RunId::for_gates(&self.context.job),
            walls,
            labels: self.labels.clone(),
            argv: check.argv.to_vec(),
            directory: self.directory.clone(),
            environment,
            limit: check.limit,
        };
        Ok(start_command(&self.context.checkouts.supervisor, request).await?)
    }

    /// Waits for the end of a command.
    pub(crate) async fn finish(&self, check: &Check<'_>, handle: RunHandle) -> Result<Checked, Trouble> {
        let context = &self.context;
        tokio::select! {
            _ = handle.ended() => {}
            () = context.cancel.cancelled() => {
                if !context.checkouts.closing.is_cancelled() {
                    discard(handle).await?;
                }
                return Err(Trouble::Cancelled);
            }
        }
        let output = context.state.join(output_file(context, check));
        let program = check.argv.first().map(String::as_str).unwrap_or_default();
        let run = collect_command(handle, program, &output).await?;
        if run.end == CommandEnd::Cancelled {
            return Err(Trouble::Cancelled);
        }
        // Not every command writes the report that it names. One that is none counts as none: nothing waits for a pipe.
        let named = self.report(check);
        let top = self.directory.clone();
        let report = blocking(move || read_report(&top, &named?)).await?;
        checked(context, check, run, report).await
    }

    fn report(&self, check: &Check<'_>) -> Option<PathBuf> {
        check.report.filter(|path| stays_inside(path)).map(|path| self.directory.join(path))
    }
}

/// The checkout of a commit with all that it has besides its files.
async fn prepared_checkout(
    context: &Arc<GateContext>,
    commit: &CommitId,
) -> Result<(PathBuf, Option<Prepared>), Trouble> {
    let preparation = context.checkouts.preparations.of(Wanted {
        spaces: &context.spaces,
        workspace: &context.workspace,
        commit,
        origin: &context.origin,
        base: &context.base,
        environment: context.environment.clone().without_venv(),
        network: context.network(),
        cancel: &context.cancel,
    });
    let fitting = preparation.await.map_err(|failure| match failure {
        SetupFailure::Cancelled => Trouble::Cancelled,
        SetupFailure::Fault(fault) => fault.into(),
        SetupFailure::Refused { command, output, .. } => refused_setup(&command, &output).into(),
    })?;
    let (of, commit) = (context.clone(), commit.clone());
    blocking(move || {
        let directory = of.spaces.until(&of.cancel).gate_checkout(&of.job, &commit)?;
        let fit = |fitting| of.spaces.fit(&directory, &fitting).map(|prepared| prepared.beside(of.workspace.beside()));
        let prepared = fitting.map(fit).transpose()?;
        Ok((directory, prepared))
    })
    .await?
}

/// What the result says is to be installed cannot be.
fn refused_setup(command: &str, output: &str) -> Judgement {
    let message = recorded!("gate-setup-failed", command = command);
    let found = finding("workspace.setup", message.clone()).evidence(last_part(output));
    Judgement::of(vec![found], message, Vec::new())
}

/// Runs a command in a clean checkout of a commit, unless a former host has begun it or seen its end.
pub(crate) async fn run_on(
    context: &Arc<GateContext>,
    commit: &CommitId,
    check: Check<'_>,
) -> Result<Checked, Trouble> {
    let command = format!("{} {:?}", check.suffix, check.argv);
    let labels = [(GATE, context.label.clone()), (COMMAND, command), (COMMIT, commit.to_string())];
    let labels: BTreeMap<String, String> = labels.map(|(name, value)| (name.to_owned(), value)).into();
    let file = seen_directory(context).join(digest_of(&labels));
    let known = tokio::fs::read(&file).await.ok().and_then(|text| serde_json::from_slice::<Seen>(&text).ok());
    if let Some(Seen { run, report, .. }) = known.filter(|known| known.labels == labels) {
        return checked(context, &check, run, report).await;
    }
    let (checkout, joined) = Checkout::enter_or_join(context, commit, labels.clone()).await?;
    let handle = match joined {
        Some(handle) => handle,
        None => {
            let variables = check.variables.iter();
            let environment = variables.fold(context.environment.clone(), |all, (name, value)| all.with(name, value));
            checkout.start(&check, environment, context.network()).await?
        }
    };
    let checked = checkout.finish(&check, handle).await?;
    if !checked.run.end.lasts() {
        return Ok(checked);
    }
    let seen = Seen { labels, run: checked.run.clone(), report: checked.report.clone() };
    let kept = blocking(move || {
        let made = file.parent().is_some_and(|directory| std::fs::create_dir_all(directory).is_ok());
        made && serde_json::to_vec(&seen).is_ok_and(|text| replace_file(&file, &text).is_ok())
    });
    if !kept.await? {
        tracing::warn!(job = %context.job, label = context.label, "after a crash, this command of a gate will run again");
    }
    Ok(checked)
}

/// What came of a command, kept until its gate has an answer: the next host, if this one is killed, does not run it again.
#[derive(Serialize, Deserialize)]
struct Seen {
    labels: BTreeMap<String, String>,
    run: CommandRun,
    report: Option<String>,
}

/// One file for each command, so that a gate of many commands does not write all of them again for each.
fn seen_directory(context: &GateContext) -> PathBuf {
    context.state.join(format!("gates/{}/{}.seen", context.job, context.label))
}

fn digest_of(labels: &BTreeMap<String, String>) -> String {
    let mut hash = Sha256::new();
    labels.iter().for_each(|(name, value)| hash.update(format!("{}\0{name}\0{}\0{value}\0", name.len(), value.len())));
    format!("{:x}", hash.finalize())
}

/// Forgets what was seen of a gate's commands: it has an answer, and asked again it has to look again.
pub(crate) async fn forget_seen(context: &GateContext) {
    if !context.checkouts.closing.is_cancelled()
        && let Err(error) = tokio::fs::remove_dir_all(seen_directory(context)).await
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::error!(job = %context.job, label = context.label, %error, "what a gate has seen stays: it will not look again");
    }
}

/// Where a command's output is, below the state directory.
fn output_file(context: &GateContext, check: &Check<'_>) -> String {
    format!("gates/{}/{}{}.log", context.job, context.label, check.suffix)
}

fn unreadable(error: std::io::Error) -> Trouble {
    Trouble::Broken(recorded!("gate-output-unreadable", error = error.to_string()))
}

/// What a command left, with what it printed.
async fn checked(
    context: &Arc<GateContext>,
    check: &Check<'_>,
    run: CommandRun,
    report: Option<String>,
) -> Result<Checked, Trouble> {
    let file = output_file(context, check);
    let exit_code = if let CommandEnd::Exited(code) = run.end { Some(code) } else { None };
    let (argv, output_sha256) = (check.argv.to_vec(), run.sha256.clone());
    let evidence =
        CommandEvidence { argv, exit_code, output_sha256, output_file: file.clone(), walls: run.walls.clone() };
    let fault = fault_of(&run, check.argv, check.limit);
    let context = context.clone();
    blocking(move || {
        let prefix = format!("{}/", context.spaces.gate_directory(&context.job).display());
        let short = |text: String| text.replace(&prefix, "");
        let output = open_plain(&context.state.join(file)).and_then(read_ends).map_err(unreadable)?;
        let (output, report) = (short(output), report.map(short));
        let program = evidence.argv.first().map(String::as_str).unwrap_or_default();
        let elsewhere = reached(&context, program, &run, &output)?;
        Ok(Checked { run, evidence, output, report, fault, elsewhere })
    })
    .await?
}

/// Runs something that blocks away from the runtime's own threads.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Trouble> {
    helix_process::spawn_blocking(work).await.map_err(|error| Trouble::Broken(error.to_string().into()))
}

fn stays_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The report that a command left in its checkout, if it is a file there.
fn read_report(checkout: &Path, path: &Path) -> Option<String> {
    let read = open_plain_beneath(checkout, path).and_then(read_ends);
    read.inspect_err(|error| tracing::debug!(path = %path.display(), %error, "a command left no report")).ok()
}

/// Reads a file; of one that is too long, its beginning and its end.
fn read_ends(mut file: std::fs::File) -> std::io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
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

/// Whether Python has not found the very module that it was to run.
fn lacks_module(argv: &[String], last: &str) -> bool {
    let module = argv.iter().skip_while(|word| *word != "-m").nth(1);
    module.is_some_and(|module| last.trim_end().ends_with(&format!("No module named {module}")))
}

/// SIGKILL is what the system sends where memory is short. Helix ends a run through its keeper, which records that: any other signal came
/// from the command's own processes.
pub(crate) const KILLED: i32 = 9;

/// The fault behind an end that says nothing about the work: not found, too late, ended from outside.
fn fault_of(run: &CommandRun, argv: &[String], limit: Duration) -> Option<Fault> {
    let program = argv.first().map(String::as_str).unwrap_or_default();
    let last = run.tail.trim_end().lines().last().unwrap_or_default();
    let (kind, message) = match run.end {
        CommandEnd::Exited(127) => {
            (FaultKind::ToolMissing, recorded!("gate-program-unfound", program = program, said = last))
        }
        CommandEnd::Exited(1) if lacks_module(argv, last) => {
            (FaultKind::ToolMissing, recorded!("gate-module-unfound", program = program, said = last.trim()))
        }
        CommandEnd::Exited(126) => {
            (FaultKind::Environment, recorded!("gate-program-not-executable", program = program, said = last))
        }
        CommandEnd::TimedOut => {
            (FaultKind::Timeout, recorded!("gate-command-too-long", program = program, seconds = limit.as_secs()))
        }
        CommandEnd::TooMuchOutput => {
            (FaultKind::Unreadable, recorded!("gate-command-output", program = program, size = MAX_OUTPUT >> 20))
        }
        CommandEnd::TooMuchMemory => (FaultKind::Environment, recorded!("gate-command-memory", program = program)),
        CommandEnd::Signalled(KILLED) => {
            let signal = KILLED.to_string();
            (FaultKind::Environment, recorded!("gate-command-killed", program = program, signal = signal))
        }
        CommandEnd::Exited(_) | CommandEnd::Signalled(_) | CommandEnd::Cancelled => return None,
    };
    Some(fault(kind, message))
}
