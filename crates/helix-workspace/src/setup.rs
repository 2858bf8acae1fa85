//! The commands that prepare a work place: run one after the other, behind the walls of any other command.
//!
//! Must not know where what they leave is kept.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use helix_core::error_chain;
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::RunId;
use helix_core::run::NetworkAccess;
use helix_core::said::Words;
use helix_core::text::{bounded, plain};
use helix_language::{fault, fault_with_hint, recorded};
use helix_plan::split_words;
use helix_process::{
    CommandEnd, CommandError, CommandRequest, CommandRun, Prepared, RunHandle, Supervisor, ToolEnvironment, Walls,
    collect_command, start_command,
};
use tokio_util::sync::CancellationToken;

use super::reach::unreached_registry;

/// Most of a command's output that a message quotes, in bytes.
const QUOTED: usize = 3 << 10;

/// Does nothing but start what runs beside it.
const TRY_SERVICES: &str = "true";

/// Why a work place could not be prepared.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SetupFailure {
    /// Its surroundings are at fault.
    #[error("{}", .0.message)]
    Fault(Fault),
    /// A command says no to what an agent has left: files that decide what is installed are not those of the user.
    #[error("{}", .fault.message)]
    Refused {
        fault: Fault,
        /// The command as it is written.
        command: String,
        /// The end of what it printed.
        output: String,
    },
    /// Nobody wants it any more, or the host is closing.
    #[error("preparing the work place was cancelled")]
    Cancelled,
}

impl From<Fault> for SetupFailure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Commands, where they run, and what they may reach.
pub(crate) struct Setup<'a> {
    pub(crate) supervisor: &'a Supervisor,
    pub(crate) run: RunId,
    pub(crate) tree: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) environment: ToolEnvironment,
    pub(crate) network: NetworkAccess,
    pub(crate) limit: Duration,
    /// What runs beside each command.
    pub(crate) beside: Option<String>,
    pub(crate) cancel: &'a CancellationToken,
}

impl Setup<'_> {
    /// Runs all of them; the first that fails ends it.
    pub(crate) async fn run(&self, commands: &[String]) -> Result<(), SetupFailure> {
        let started = Instant::now();
        // Services are tried, before anything is paid that needs them.
        let services = self.beside.as_ref().map(|_| TRY_SERVICES.to_owned());
        for command in commands.iter().chain(&services) {
            let left = self.limit.saturating_sub(started.elapsed()).max(Duration::from_secs(1));
            let done = self.one(command, left).await?;
            if done.end != CommandEnd::Exited(0) {
                let output = plain(done.tail.trim_end());
                return Err(self.refused(command, how(done.end, self.limit), output));
            }
        }
        Ok(())
    }

    async fn one(&self, command: &str, limit: Duration) -> Result<CommandRun, SetupFailure> {
        let unusable = |why: String, remedy: String| {
            let message = recorded!("workspace-setup-unusable", command = command, why = why);
            SetupFailure::Fault(fault_with_hint(FaultKind::Environment, message, remedy.into()))
        };
        let argv = split_words(command).map_err(|error| unusable(error.to_string(), error.remedy))?;
        let program = argv.first().cloned().unwrap_or_default();
        let failed = |error: CommandError| {
            let Fault { message, hint, .. } = error.fault();
            unusable(message, hint.unwrap_or_default())
        };
        let walls = Walls {
            writable: vec![self.tree.clone()],
            readable: self.readable.clone(),
            network: self.network.into(),
            prepared: self.beside.as_ref().map(|services| Prepared {
                place: self.tree.clone(),
                made_at: self.tree.clone(),
                layers: Vec::new(),
                services: Some(services.clone()),
            }),
            ..Walls::default()
        };
        let request = CommandRequest {
            run: self.run.clone(),
            labels: [("setup".to_owned(), command.to_owned())].into(),
            argv,
            directory: self.tree.clone(),
            environment: self.environment.clone(),
            limit,
            walls,
        };
        // What a former host has begun is of no use: it was begun in a directory that is gone.
        self.end_former().await?;
        let handle = start_command(self.supervisor, request).await.map_err(failed)?;
        tokio::select! {
            _ = handle.ended() => {}
            () = self.cancel.cancelled() => {
                discard(handle).await?;
                return Err(SetupFailure::Cancelled);
            }
        }
        let output = self.log.with_extension("part");
        let run = collect_command(handle, &program, &output).await.map_err(failed)?;
        if run.end == CommandEnd::Cancelled {
            return Err(SetupFailure::Cancelled);
        }
        // Without it people see the end of the output all the same.
        if let Err(error) = append(&self.log, command, &output) {
            tracing::warn!(%error, log = %self.log.display(), "what a set-up printed is not kept");
        }
        Ok(run)
    }

    /// Ends what a former host has left running, and forgets it.
    pub(crate) async fn end_former(&self) -> Result<(), SetupFailure> {
        let former = self.supervisor.attach_or_withdraw(&self.run).await;
        match former.map_err(|error| broken(&error))? {
            Some(handle) => discard(handle).await,
            None => Ok(()),
        }
    }

    fn refused(&self, command: &str, how: Words, output: String) -> SetupFailure {
        let quoted = bounded(&output, QUOTED);
        let what = match command {
            TRY_SERVICES => recorded!("workspace-services"),
            command => format!("`{command}`").into(),
        };
        // Whoever wrote the files: no registry answers for them.
        if let Some(host) = unreached_registry(&output, self.environment.iter()) {
            let message = recorded!("workspace-setup-unreached", what = what, host = &host, said = quoted.trim());
            return SetupFailure::Fault(fault(FaultKind::Environment, message));
        }
        let said = if quoted.is_empty() { String::new() } else { format!(":\n{quoted}") };
        let log = self.log.display().to_string();
        let message = recorded!("workspace-setup-failed", what = what, how = how, said = said, log = log);
        let fault = fault(FaultKind::Environment, message);
        SetupFailure::Refused { fault, command: command.to_owned(), output }
    }
}

fn how(end: CommandEnd, limit: Duration) -> Words {
    match end {
        CommandEnd::Exited(code) => recorded!("workspace-exited", code = code.to_string()),
        CommandEnd::Signalled(signal) => recorded!("workspace-signalled", signal = signal.to_string()),
        CommandEnd::TimedOut => recorded!("workspace-timed-out", seconds = limit.as_secs()),
        CommandEnd::TooMuchOutput => recorded!("workspace-much-output"),
        CommandEnd::TooMuchMemory => recorded!("workspace-much-memory"),
        CommandEnd::Cancelled => recorded!("workspace-cancelled"),
    }
}

async fn discard(handle: RunHandle) -> Result<(), SetupFailure> {
    handle.cancel().await;
    handle.forget().await.map_err(|error| broken(&error))
}

pub(crate) fn broken(error: &(dyn std::error::Error + 'static)) -> SetupFailure {
    SetupFailure::Fault(fault(FaultKind::Environment, recorded!("workspace-unprepared", error = error_chain(error))))
}

fn append(log: &Path, command: &str, part: &Path) -> std::io::Result<()> {
    let mut log = fs::OpenOptions::new().create(true).append(true).open(log)?;
    writeln!(log, "$ {command}")?;
    std::io::copy(&mut fs::File::open(part)?, &mut log)?;
    fs::remove_file(part)
}
