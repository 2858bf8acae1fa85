//! The preflight of a job: the commands of its gates are tried where it starts, before its first agent.
//!
//! Must not record anything: what it finds is kept by tree and command, so that a job that is taken up again, and its gates, find it.

use std::sync::Arc;

use helix_core::finding::Fault;
use helix_core::ids::{JobId, PhaseId};
use helix_job::{Active, Committed, Wait};
use tokio_util::sync::CancellationToken;

use super::checks::{PreflightCheck, obstacle, to_try};
use super::effects::{EffectRunner, Stopped, blocking, continuing};
use super::gate::Judged;
use crate::mutex::lock;
use helix_gates::Claims;

impl EffectRunner {
    /// Tries the commands of all gates where the job starts, unless an agent of it has begun already. Phases that start together wait
    /// for one preflight.
    pub(super) async fn preflight(
        &self,
        job: &JobId,
        active: &Active,
        phase: &PhaseId,
        cancel: &CancellationToken,
    ) -> Result<(), Stopped> {
        if active.spec.no_preflight || active.phases.iter().any(|progress| !progress.attempts.is_empty()) {
            return Ok(());
        }
        let place = lock(&self.shared.preflights).entry(job.clone()).or_default().clone();
        let mut known = place.lock().await;
        if known.is_none() {
            *known = Some(self.try_gates(job, active, phase, cancel).await?);
        }
        known.clone().unwrap_or(Ok(())).map_err(Stopped::Fault)
    }

    /// A job that is taken up again has another one.
    pub(super) fn forget_preflight(&self, job: &JobId) {
        lock(&self.shared.preflights).remove(job);
    }

    /// Tries them; whether the job may begin.
    async fn try_gates(
        &self,
        job: &JobId,
        active: &Active,
        first: &PhaseId,
        cancel: &CancellationToken,
    ) -> Result<Result<(), Fault>, Stopped> {
        let gates = to_try(&active.spec);
        if gates.is_empty() {
            return Ok(Ok(()));
        }
        let spaces = self.workspaces(&active.spec).await?;
        let (of, base) = (spaces.clone(), active.spec.repo.base.clone());
        let tree = blocking(move || Ok(of.repository().commit(base.as_str())?.tree)).await?;
        let base = &active.spec.repo.base;
        let result = Committed { commit: base.clone(), tree, branch: String::new(), changed: Vec::new(), moved: false };
        let _place = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Stopped::Unwanted),
            place = self.shared.gate_places.enter(continuing(job, first)) => place.map_err(|_closing| Stopped::Unwanted)?,
        };
        let mut checks = Vec::new();
        for (number, (phase, gate)) in gates.into_iter().enumerate() {
            let environment = self.tool_environment(job, active, phase).await?;
            let (claims, label) = (Claims::of_phase(&active.spec.plan, phase), format!("preflight.{number}"));
            let what = Judged { job, active, phase, claims, base, result: &result, label };
            let context = Arc::new(self.gate_context(what, spaces.clone(), environment, cancel).await?);
            let command = gate.commands().concat();
            lock(&self.shared.waits).insert((job.clone(), first.clone()), Wait::Preflight { command });
            self.shared.host.writer.crash.pass(|| format!("before preflight {number}"));
            let found = helix_gates::preflight(context, gate).await;
            lock(&self.shared.waits).remove(&(job.clone(), first.clone()));
            if cancel.is_cancelled() {
                return Err(Stopped::Unwanted);
            }
            checks.extend(found?.map(|ready| PreflightCheck::new(phase, gate, ready)));
        }
        Ok(obstacle(&checks).map_or(Ok(()), Err))
    }
}
