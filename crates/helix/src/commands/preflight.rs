//! The preflight from the terminal: the commands of a plan's gates, tried once on the commit that a job would start from.
//!
//! Must not run anything of a project that its user has not begun to work with: checking a plan does not start it.

use std::path::Path;

use clap::Args;
use helix_engine::preflight::{PreflightCheck, PreflightFound, preflight};
use helix_job::{JobSpec, phrases};
use helix_language::{Language, say};
use tokio_util::sync::CancellationToken;

use crate::config::{Trust, project_file};
use crate::context::Context;
use crate::error::CommandError;
use crate::runtime::unless_stopped;
use crate::terminal::{Meaning, Terminal};

/// Whether commands of gates are tried.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Choice {
    /// Try the commands of the gates on the base commit, also in a project that you have not trusted
    #[arg(long, conflicts_with = "no_preflight")]
    preflight: bool,
    /// Do not try the commands of the gates
    #[arg(long)]
    no_preflight: bool,
}

/// What came of it.
pub(crate) enum Preflight {
    Made(Vec<PreflightCheck>),
    /// Nobody asked for it, or it cannot be made here.
    LeftOut,
    /// The project is not trusted yet.
    Untrusted,
    Interrupted,
}

impl Preflight {
    pub(crate) fn checks(&self) -> &[PreflightCheck] {
        if let Self::Made(checks) = self { checks } else { &[] }
    }

    /// Whether a job would stop there.
    pub(crate) fn stops(&self) -> bool {
        self.checks().iter().any(PreflightCheck::stops)
    }
}

/// Makes the preflight of a job, if that is wanted.
///
/// # Errors
/// When the repository cannot be read, or nothing can be run here.
pub(crate) fn make(context: &Context, spec: &JobSpec, choice: Choice) -> Result<Preflight, CommandError> {
    // Within a run, its own walls hold, and Helix's state is out of reach: agents have `helix gates run`.
    if choice.no_preflight || context.environment.variable("HELIX_RUN_DIR").is_some() {
        return Ok(Preflight::LeftOut);
    }
    let settings = context.settings()?;
    let state = settings.state_dir.value.clone();
    if !choice.preflight && !is_trusted(context, &state, Path::new(&spec.repo.path)) {
        return Ok(Preflight::Untrusted);
    }
    let config = settings.engine(&context.environment)?;
    context.block_on(async {
        let cancel = CancellationToken::new();
        let made = unless_stopped(preflight(spec, &config, &state, &cancel), &cancel).await?;
        Ok(made.map_or(Preflight::Interrupted, Preflight::Made))
    })
}

/// Whether the user has said that programs of this repository may run: `helix init` and `helix trust` here do.
pub(crate) fn is_trusted(context: &Context, state: &Path, repository: &Path) -> bool {
    let found = project_file(&context.environment, None).ok().flatten();
    let of_repository = found.filter(|file| {
        let whole = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        repository.canonicalize().is_ok_and(|repository| whole.starts_with(repository))
    });
    of_repository.is_some_and(|file| Trust::new(&context.environment, state).is_given(&file))
}

/// What was found, as lines.
pub(crate) fn lines(terminal: &Terminal, checks: &[PreflightCheck]) -> Vec<String> {
    let language = terminal.language;
    let mut lines = Vec::new();
    for check in checks {
        let (sign, meaning) = match check.found {
            PreflightFound::Passes => ("✓", Meaning::Good),
            PreflightFound::Fails { .. } => ("·", Meaning::Attention),
            PreflightFound::Cannot { .. } => ("✗", Meaning::Bad),
        };
        lines.push(format!("{} {}", terminal.paint(meaning, sign), found(language, check)));
        lines.extend(remedy(language, check).map(|remedy| format!("  {}", phrases::hint(language, &remedy))));
    }
    lines
}

/// What a command gives, in one sentence.
pub(crate) fn found(language: Language, check: &PreflightCheck) -> String {
    let command = check.command.as_str();
    match &check.found {
        PreflightFound::Passes => say!(language, "preflight-passes", command = command),
        PreflightFound::Fails { how } => {
            say!(language, "preflight-fails", command = command, how = language.words(how))
        }
        PreflightFound::Cannot { told, .. } => told.said_in(language).message,
    }
}

pub(crate) fn remedy(language: Language, check: &PreflightCheck) -> Option<String> {
    match &check.found {
        PreflightFound::Cannot { told, .. } => told.said_in(language).hint,
        PreflightFound::Passes | PreflightFound::Fails { .. } => None,
    }
}
