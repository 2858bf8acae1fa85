//! The part of `[consultant]` that says how conversations are kept company: how long a chat shows how its jobs get on.
//!
//! Must not know what else the Consultant is told.

use std::path::PathBuf;
use std::time::Duration;

use helix_engine::FOLLOW_JOBS;

use super::document::{Document, Section, Written};
use super::layer::Layer;
use super::settings::{Setting, origin};

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ConversationsLayer {
    /// `follow_jobs`.
    follow_jobs: Option<Written<Duration>>,
}

/// What is in force.
#[derive(Debug, Clone)]
pub(crate) struct ConversationSettings {
    /// How long a chat shows how its jobs get on, after an answer.
    pub(crate) follow_jobs: Setting<Duration>,
}

impl ConversationsLayer {
    /// Reads the keys of the section.
    pub(crate) fn read(section: &mut Section<'_, '_>, document: &mut Document<'_>) -> Self {
        Self { follow_jobs: section.duration_or_zero("follow_jobs", document) }
    }
}

impl ConversationSettings {
    /// Puts the layers together, the strongest first.
    pub(crate) fn of(layers: &[(PathBuf, Layer)]) -> Self {
        let follow_jobs = layers.iter().find_map(|(_, layer)| layer.conversations.follow_jobs.as_ref());
        let written = |written: &Written<Duration>| Setting { value: written.value, origin: origin(written) };
        Self { follow_jobs: follow_jobs.map_or_else(|| Setting::built_in(FOLLOW_JOBS), written) }
    }
}
