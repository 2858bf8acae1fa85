//! The part of `[consultant]` that says how conversations are kept company: how long a chat shows how its
//! jobs get on, and which conversations are kept.
//!
//! Must not know what else the Consultant is told.

use std::path::PathBuf;
use std::time::Duration;

use helix_engine::FOLLOW_JOBS;
use helix_engine::consultant::Retention;

use super::document::{Document, Section, Written};
use super::layer::Layer;
use super::settings::{Setting, origin};

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ConversationsLayer {
    /// `follow_jobs`.
    follow_jobs: Option<Written<Duration>>,
    /// `keep_days`.
    keep_days: Option<Written<u32>>,
    /// `keep_count`.
    keep_count: Option<Written<u32>>,
}

/// What is in force.
#[derive(Debug, Clone)]
pub(crate) struct ConversationSettings {
    /// How long a chat shows how its jobs get on, after an answer.
    pub(crate) follow_jobs: Setting<Duration>,
    /// For how many days a conversation is kept.
    pub(crate) keep_days: Option<Setting<u32>>,
    /// How many conversations are kept.
    pub(crate) keep_count: Option<Setting<u32>>,
}

impl ConversationsLayer {
    /// Reads the keys of the section.
    pub(crate) fn read(section: &mut Section<'_, '_>, document: &mut Document<'_>) -> Self {
        Self {
            follow_jobs: section.duration_or_zero("follow_jobs", document),
            keep_days: section.count("keep_days", document),
            keep_count: section.count("keep_count", document),
        }
    }
}

impl ConversationSettings {
    /// Puts the layers together, the strongest first.
    pub(crate) fn of(layers: &[(PathBuf, Layer)]) -> Self {
        fn first<T: Copy>(
            layers: &[(PathBuf, Layer)],
            of: impl Fn(&ConversationsLayer) -> Option<&Written<T>>,
        ) -> Option<Setting<T>> {
            let written = layers.iter().find_map(|(_, layer)| of(&layer.conversations))?;
            Some(Setting { value: written.value, origin: origin(written) })
        }
        Self {
            follow_jobs: first(layers, |layer| layer.follow_jobs.as_ref())
                .unwrap_or_else(|| Setting::built_in(FOLLOW_JOBS)),
            keep_days: first(layers, |layer| layer.keep_days.as_ref()),
            keep_count: first(layers, |layer| layer.keep_count.as_ref()),
        }
    }

    /// Which conversations are kept.
    pub(crate) fn retention(&self) -> Retention {
        let value = |setting: &Option<Setting<u32>>| setting.as_ref().map(|setting| setting.value);
        Retention { days: value(&self.keep_days), count: value(&self.keep_count) }
    }

    /// Every setting with its value and where it came from.
    pub(crate) fn origins(&self) -> [(&'static str, serde_json::Value, String); 3] {
        let kept = |setting: &Option<Setting<u32>>| match setting {
            Some(setting) => (setting.value.into(), setting.origin.clone()),
            None => ("all".into(), "built in".to_owned()),
        };
        let ((days, days_origin), (count, count_origin)) = (kept(&self.keep_days), kept(&self.keep_count));
        let follow = format!("{} s", self.follow_jobs.value.as_secs());
        [
            ("consultant.follow_jobs", follow.into(), self.follow_jobs.origin.clone()),
            ("consultant.keep_days", days, days_origin),
            ("consultant.keep_count", count, count_origin),
        ]
    }
}
