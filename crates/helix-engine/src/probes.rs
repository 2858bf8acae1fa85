//! What is known of the configured agents: each is asked for its version once, and again only after a failure.
//!
//! Must not know what an agent is used for.

use std::collections::HashMap;

use helix_agents::{AgentProfile, Supported, probe};

/// Remembers which agents answered.
#[derive(Default)]
pub(crate) struct Probes {
    usable: tokio::sync::Mutex<HashMap<String, AgentProfile>>,
}

impl Probes {
    /// Makes sure that an agent can be used; the error is what is wrong and what to do.
    pub(crate) async fn check(&self, profile: &AgentProfile) -> Result<(), (String, String)> {
        // Held across the probe on purpose: two submits at once ask the agent once.
        let mut usable = self.usable.lock().await;
        if usable.get(&profile.name) == Some(profile) {
            return Ok(());
        }
        let capabilities =
            probe(profile).await.map_err(|error| (helix_core::error_chain(&error), "run `helix doctor`".to_owned()))?;
        match capabilities.supported {
            Supported::Yes | Supported::NotAsked => {}
            Supported::Untested { newest_tested } => tracing::warn!(
                agent = profile.name,
                version = %capabilities.version,
                %newest_tested,
                "this version of the agent is newer than any that was tested"
            ),
            Supported::TooOld { minimum } => {
                let message =
                    format!("agent {} has version {}, too old to be used", profile.name, capabilities.version);
                return Err((message, format!("install version {minimum} or newer")));
            }
        }
        usable.insert(profile.name.clone(), profile.clone());
        Ok(())
    }
}
