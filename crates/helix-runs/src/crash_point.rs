//! Places where a test lets the whole process die, as `kill -9` would: before and after every append, around every effect.
//!
//! Must not do anything unless it is asked for: without names every place is passed by.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Knows at which places to end the process, and writes down those that are passed. Cheap to clone.
///
/// A place is named by what happens there and never by ids that differ from job to job, so that a place of one job is found
/// again in another one of the same plan.
#[derive(Debug, Clone, Default)]
pub struct CrashPoint {
    plan: Option<Arc<Plan>>,
}

#[derive(Debug)]
struct Plan {
    deaths: BTreeSet<String>,
    record: Option<PathBuf>,
}

impl CrashPoint {
    /// Ends the process at the first of these places that it passes; appends every place that it passes to `record`, a line each,
    /// the one where it dies with `† ` before it.
    pub fn planned(deaths: impl IntoIterator<Item = String>, record: Option<PathBuf>) -> Self {
        let deaths: BTreeSet<String> = deaths.into_iter().collect();
        let wanted = !deaths.is_empty() || record.is_some();
        Self { plan: wanted.then(|| Arc::new(Plan { deaths, record })) }
    }

    /// Passes a place; its name is made only if anybody wants to know.
    pub fn pass(&self, place: impl FnOnce() -> String) {
        let Some(plan) = &self.plan else { return };
        let place = place();
        let dies = plan.deaths.contains(&place);
        if let Some(record) = &plan.record {
            let line = format!("{}{place}\n", if dies { "† " } else { "" });
            let written = OpenOptions::new().create(true).append(true).open(record);
            if let Err(error) = written.and_then(|mut file| file.write_all(line.as_bytes())) {
                tracing::error!(%error, place, "the passed place is not written down");
            }
        }
        if dies {
            tracing::error!(place, "dying here, as was asked for");
            // Nothing may run after this: no destructor, no flush, no other thread.
            if let Err(error) = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
            {
                tracing::error!(%error, "cannot die");
            }
        }
    }
}
