//! What a job's project tells every agent of the job alike: those of phases, reviewers and advisers.
//!
//! It is read from the commit that the job starts from, so that nobody is told what an agent of the job has written. Must not know
//! what the agents are asked.

use helix_agents::{AgentAsk, own_settings};
use helix_core::finding::{Fault, FaultKind};
use helix_job::Active;
use helix_language::{fault, recorded};
use helix_project::rules::{ProjectRules, SETTINGS};

use super::effects::{EffectRunner, blocking_fault, environment};

impl EffectRunner {
    /// Adds the project's rules, skills and denials to what is asked of an agent.
    pub(super) async fn tell_rules(&self, active: &Active, ask: &mut AgentAsk) -> Result<(), Fault> {
        let (spaces, base) = (self.workspaces(&active.spec).await?, active.spec.repo.base.clone());
        let below = self.runner().shared_files();
        let (rules, directory) = blocking_fault(move || {
            let repository = spaces.repository();
            let rules = ProjectRules::at(repository, base.as_str()).map_err(|error| error.fault())?;
            let directory = rules.lay_out(repository, &below).map_err(|error| environment(&error))?;
            Ok((rules, directory))
        })
        .await?;
        if let Some(settings) = &rules.settings {
            let denied = own_settings::denied(settings).map_err(|error| {
                let error = error.to_string();
                fault(FaultKind::Environment, recorded!("fault-settings", file = SETTINGS, error = error))
            })?;
            ask.tools.rules.deny.extend(denied);
        }
        ask.walls.readable.extend(directory.clone());
        let told = [ask.system.take().unwrap_or_default(), rules.told(directory.as_deref())];
        ask.system = Some(told.join("\n").trim_start().to_owned()).filter(|told| !told.is_empty());
        Ok(())
    }
}
