//! Gates: deterministic checks of a result commit. Three answers: pass, findings, or why the check could not be made.
//!
//! Must not know agents, prompts, the journal or HTTP. Nothing is read from a work tree that an agent could still change:
//! files come from git objects, commands run in a clean checkout.

mod adr;
mod baseline;
mod checkout;
mod code;
mod command;
mod conflicts;
mod criteria;
mod definition;
mod delivery;
mod docs_refs;
mod elsewhere;
mod files;
mod judgement;
mod lacking;
mod markdown;
mod output;
mod pattern;
mod preflight;
mod sources;
mod syntax;
mod syntax_check;
mod test_run;
mod tests;
mod unmet;

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use helix_adr::AdrText;
use helix_core::evidence::{Committed, GateReport};
use helix_core::finding::{FaultKind, Verdict};
use helix_core::ids::{CommitId, JobId};
use helix_core::run::NetworkAccess;
use helix_plan::{GateSpec, Phase, Taken};
use tokio_util::sync::CancellationToken;

pub use adr::holds;
pub use checkout::GateCheckouts;
pub use definition::{Claims, WorkOf, gate_files};
pub use delivery::{DeliveryPart, obstacle as delivery_obstacle, programs as delivery_programs};
pub use pattern::Pattern;
pub use preflight::{Ready, preflight};
pub use sources::{READ_SOURCES, read_sources_main};
pub use tests::{FaultSort, NoFaults, PlantedFault, planted_faults};

use helix_git::{GitError, Repository, TreeListing, Workspaces};
use helix_language::{RECORD, recorded, summed_up};
use helix_process::ToolEnvironment;
use helix_workspace::Workspace;
use judgement::{Judgement, Trouble, fault};

/// All that a gate may look at.
#[derive(Debug, Clone)]
pub struct GateContext {
    /// The repository and its worktrees.
    pub spaces: Workspaces,
    pub job: JobId,
    /// The phase whose gate it is.
    pub phase: Phase,
    /// What the plan lets the judged change touch.
    pub claims: Claims,
    /// Path of the plan's ADR in the repository.
    pub plan_adr: Option<String>,
    /// The plan's ADR as it was at submit, if it was there then: the criteria are taken from it, not from what an agent left.
    pub adr: Option<AdrText>,
    /// Where the job started: what an earlier phase broke is still the job's doing.
    pub origin: CommitId,
    /// Where the phase started: its claims are measured from here.
    pub base: CommitId,
    pub result: Committed,
    /// Ids of the files at submit that decide how the gates' commands check.
    pub gate_files: BTreeMap<String, String>,
    /// Unique name of this check in its job, such as `implement.2.0`; names the output file.
    pub label: String,
    pub state: PathBuf,
    /// Where it is kept what commands gave on which tree.
    pub baselines: PathBuf,
    /// The user's work tree, which is not what is judged: nothing of its files reaches a command.
    pub users_tree: PathBuf,
    /// Environment of commands: the one that the agent gets too.
    pub environment: ToolEnvironment,
    /// How its checkout is prepared.
    pub workspace: Arc<Workspace>,
    /// The checkouts of all jobs.
    pub checkouts: GateCheckouts,
    /// Cancelled when nobody wants the answer any more.
    pub cancel: CancellationToken,
}

impl GateContext {
    pub fn repository(&self) -> &Repository {
        self.spaces.repository()
    }

    /// What the phase's commands may connect to.
    fn network(&self) -> NetworkAccess {
        self.phase.network.unwrap_or_else(|| self.checkouts.network())
    }

    /// The files of a commit.
    fn files_at(&self, commit: &CommitId) -> Result<Arc<TreeListing>, GitError> {
        self.repository().listing(&self.repository().commit(commit.as_str())?.tree)
    }

    /// The files of the result.
    fn files(&self) -> Result<Arc<TreeListing>, GitError> {
        self.repository().listing(&self.result.tree)
    }

    /// The text of a file; `None` if the files do not have it.
    fn text(&self, files: &TreeListing, path: &str) -> Result<Option<String>, GitError> {
        text(self.repository(), files, path)
    }
}

fn text(repository: &Repository, files: &TreeListing, path: &str) -> Result<Option<String>, GitError> {
    let Some(entry) = files.get(path) else { return Ok(None) };
    Ok(Some(String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned()))
}

/// Runs a gate. Never panics and never fails: trouble is an inconclusive answer that says why.
#[boxed]
pub async fn run_gate(context: Arc<GateContext>, gate: &GateSpec) -> GateReport {
    let started = Instant::now();
    let judged = tokio::select! {
        judged = judge(&context, gate) => judged,
        () = context.cancel.cancelled(), if !runs_command(gate) => Err(Trouble::Cancelled),
    };
    if runs_command(gate) {
        checkout::forget_seen(&context).await;
    }
    report(&context, gate, started, judged)
}

/// Looks after a delivery, or takes it back. Never panics and never fails, as [`run_gate`].
#[boxed]
pub async fn run_delivery_part(context: Arc<GateContext>, gate: &GateSpec, part: DeliveryPart) -> GateReport {
    let started = Instant::now();
    let judged = match gate.delivery() {
        Some(delivery) => delivery::deliver(&context, gate.name(), delivery, part).await,
        None => Err(Trouble::Broken(recorded!("gate-delivers-nothing", gate = gate.name()))),
    };
    report(&context, gate, started, judged)
}

fn report(context: &GateContext, gate: &GateSpec, started: Instant, judged: Result<Judgement, Trouble>) -> GateReport {
    let Judgement { verdict, summary, command, tests, steps, notes } = judged.unwrap_or_else(Trouble::judgement);
    let report = GateReport {
        command,
        tests,
        steps,
        notes: notes.iter().map(|note| RECORD.words(note)).collect(),
        notes_said: notes,
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        ..GateReport::new(gate.name(), verdict, String::new(), context.result.tree.clone())
    };
    summed_up(report, summary)
}

/// Gates that start processes; they watch the token themselves, since they have one to end first.
pub fn runs_command(gate: &GateSpec) -> bool {
    gate.delivery().is_some() || !gate.commands().is_empty() || matches!(gate, GateSpec::CriteriaCovered {})
}

async fn judge(context: &Arc<GateContext>, gate: &GateSpec) -> Result<Judgement, Trouble> {
    let name = gate.name();
    let check: Check = match gate.clone() {
        GateSpec::FilesExist { files } => Box::new(move |context| files::files_exist(context, &files)),
        GateSpec::OutputsClaimed { strict } => {
            let outside = if strict { Taken::Finding } else { Taken::Note };
            Box::new(move |context| Ok(files::outputs_claimed(context, outside)))
        }
        GateSpec::SyntaxCheck { files } => Box::new(move |context| syntax_check::syntax_check(context, &files)),
        GateSpec::AdrValid { files } => Box::new(move |context| adr::check(context, &files, adr::Depth::Valid)),
        GateSpec::AdrComplete { files } => Box::new(move |context| adr::check(context, &files, adr::Depth::Complete)),
        GateSpec::ConflictsResolved { files } => {
            Box::new(move |context| conflicts::conflicts_resolved(context, &files))
        }
        GateSpec::DocsRefsValid {} => Box::new(docs_refs::docs_refs_valid),
        GateSpec::TestsPass(gate) => return tests::tests_pass(context, &gate).await,
        GateSpec::Mutation(gate) => return tests::mutation(context, &gate).await,
        GateSpec::LintPass { command, timeout } | GateSpec::BuildPass { command, timeout } => {
            return command::command_passes(context, name, &command, timeout.duration()).await;
        }
        GateSpec::Command { command, timeout } => {
            let judged = command::command_passes(context, name, &command, timeout.duration()).await?;
            return if judged.verdict == Verdict::Pass {
                tests::unseen_tests(context, judged).await
            } else {
                Ok(judged)
            };
        }
        GateSpec::CriteriaCovered {} => return criteria::criteria_covered(context).await,
        GateSpec::DeploySuccess(delivery) | GateSpec::IntegrationPass(delivery) => {
            return delivery::deliver(context, name, &delivery, DeliveryPart::Deliver).await;
        }
        GateSpec::ReviewApproved { .. } | GateSpec::Approval { .. } | GateSpec::Manual { .. } => {
            return Ok(Judgement::faulted(fault(FaultKind::Environment, recorded!("gate-unchecked", gate = name))));
        }
    };
    reading(context, check).await
}

/// A check that reads git objects and starts nothing.
type Check = Box<dyn FnOnce(&GateContext) -> Result<Judgement, Trouble> + Send>;

/// Stack of a thread that parses: files may be nested deeply, and a parser that overflows its stack takes Helix with it.
const PARSER_STACK: usize = 256 << 20;

/// Runs a check that reads git objects on a thread of its own. A parser that panics makes the check inconclusive.
async fn reading(context: &Arc<GateContext>, check: Check) -> Result<Judgement, Trouble> {
    let context = context.clone();
    let (send, receive) = tokio::sync::oneshot::channel();
    let work = move || {
        let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&context)));
        let judged = judged.unwrap_or_else(|_| Err(Trouble::Broken(recorded!("gate-parser-panicked"))));
        if send.send(judged).is_err() {
            tracing::debug!("nobody waits for the check any more");
        }
    };
    std::thread::Builder::new()
        .name("gate".into())
        .stack_size(PARSER_STACK)
        .spawn(work)
        .map_err(|error| Trouble::Broken(recorded!("gate-no-thread", error = error.to_string())))?;
    receive.await.unwrap_or_else(|_| Err(Trouble::Broken(recorded!("gate-no-answer"))))
}
