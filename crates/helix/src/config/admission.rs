//! How much may be under way at the same time: what `[jobs]` says of it, and what follows from the machine where it says nothing.
//!
//! Must not know who is admitted when; that is the engine's.

use helix_engine::admission::{AdmissionLimits, MEMORY_FLOOR, MemoryGauge, agents_that_fit, cores};
use serde_json::{Value, json};

use super::document::{Document, Section, Written};
use super::settings::{Finder, Setting};

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AdmissionLayer {
    /// `[jobs] max_agents`.
    max_agents: Option<Written<u32>>,
    /// `[jobs] max_gates`.
    max_gates: Option<Written<u32>>,
    /// `[jobs] memory_floor_mb`.
    memory_floor_mb: Option<Written<u32>>,
}

impl AdmissionLayer {
    /// Reads its keys of `[jobs]`.
    pub(super) fn read(section: &mut Section<'_, '_>, document: &mut Document<'_>) -> Self {
        Self {
            max_agents: section.count("max_agents", document),
            max_gates: section.count("max_gates", document),
            memory_floor_mb: section.whole("memory_floor_mb", document),
        }
    }
}

/// The settings in force.
#[derive(Debug, Clone)]
pub(crate) struct AdmissionSettings {
    agents: Setting<u32>,
    gates: Setting<u32>,
    memory_floor_mb: Setting<u32>,
}

impl AdmissionSettings {
    /// Takes what the files say, else what fits the machine.
    pub(super) fn of(find: &Finder<'_>) -> Self {
        let cores = cores();
        let by_machine = || {
            let available = MemoryGauge::default().available();
            let memory = available.map_or("unknown".into(), |bytes| format!("{} MiB", bytes >> 20));
            let origin = format!("{cores} core(s), {memory} of memory available");
            Setting { value: agents_that_fit(cores, available), origin }
        };
        let floor = u32::try_from(MEMORY_FLOOR >> 20).unwrap_or(u32::MAX);
        Self {
            agents: find.first(|layer| layer.admission.max_agents.as_ref()).unwrap_or_else(by_machine),
            gates: find
                .first(|layer| layer.admission.max_gates.as_ref())
                .unwrap_or_else(|| Setting { value: cores, origin: format!("{cores} core(s)") }),
            memory_floor_mb: find
                .first(|layer| layer.admission.memory_floor_mb.as_ref())
                .unwrap_or_else(|| Setting::built_in(floor)),
        }
    }

    /// What the engine is told.
    pub(crate) fn limits(&self) -> AdmissionLimits {
        AdmissionLimits {
            agents: self.agents.value,
            gates: self.gates.value,
            memory_floor: u64::from(self.memory_floor_mb.value) << 20,
            gauge: MemoryGauge::default(),
        }
    }

    /// Where the number of agents comes from, for people.
    pub(crate) fn why_so_many(&self) -> &str {
        &self.agents.origin
    }

    /// Keys, values and where they come from.
    pub(crate) fn origins(&self) -> [(&'static str, Value, &str); 3] {
        [
            ("jobs.max_agents", json!(self.agents.value), &self.agents.origin),
            ("jobs.max_gates", json!(self.gates.value), &self.gates.origin),
            ("jobs.memory_floor_mb", json!(self.memory_floor_mb.value), &self.memory_floor_mb.origin),
        ]
    }
}
