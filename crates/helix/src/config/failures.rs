//! The section `[failures]`: whether and how failures are remembered.
//!
//! Must not know the memory: it fills in the engine's own settings.

use std::time::Duration;

use helix_core::diagnostic::did_you_mean;
use helix_engine::failures::{FailureSettings, MemoryUse};
use helix_failure::memory::Holdout;

use super::document::{Document, Section, Written};
use super::settings::origin;
use crate::codes;

/// Words of `memory`.
const MEMORY: [&str; 2] = ["on", "off"];
/// Longest `deadline`: the contract's.
const LONGEST: Duration = Duration::from_secs(5);

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FailuresLayer {
    /// `memory`.
    memory: Option<Written<MemoryUse>>,
    /// `holdout`, from 0 to 1.
    holdout: Option<Written<f64>>,
    /// `deadline`.
    deadline: Option<Written<Duration>>,
}

impl FailuresLayer {
    /// Reads the section, if there is one.
    pub(crate) fn read(root: &mut Section<'_, '_>, document: &mut Document<'_>) -> Self {
        let Some(mut section) = root.section("failures", document) else { return Self::default() };
        let layer = Self {
            memory: section.text("memory", document).and_then(|written| memory(written, document)),
            holdout: section.share("holdout", document),
            deadline: section.duration("deadline", document).filter(|written| {
                let fits = written.value <= LONGEST;
                if !fits {
                    let message = format!("`failures.deadline` can be at most {} seconds", LONGEST.as_secs());
                    let help = "agents and people wait for the memory: \"2s\" is the usual".to_owned();
                    document.error(codes::CONFIG_VALUE, written.range.clone(), message, Some(help));
                }
                fits
            }),
        };
        section.finish(document);
        layer
    }

    /// Replaces what this file says and stronger ones have not said yet.
    pub(crate) fn below(self, stronger: Self) -> Self {
        Self {
            memory: stronger.memory.or(self.memory),
            holdout: stronger.holdout.or(self.holdout),
            deadline: stronger.deadline.or(self.deadline),
        }
    }

    /// Each key with its value in force and where that came from, for people.
    pub(crate) fn origins(&self) -> [(&'static str, String, String); 3] {
        fn from<T>(written: Option<&Written<T>>) -> String {
            written.map_or_else(|| "built in".to_owned(), origin)
        }
        let FailureSettings { memory, holdout, deadline } = self.settings();
        let memory = match memory {
            MemoryUse::On => MEMORY[0],
            MemoryUse::Off => MEMORY[1],
        };
        [
            ("failures.memory", memory.to_owned(), from(self.memory.as_ref())),
            ("failures.holdout", holdout.share().to_string(), from(self.holdout.as_ref())),
            ("failures.deadline", format!("{deadline:?}"), from(self.deadline.as_ref())),
        ]
    }

    /// The engine's settings.
    pub(crate) fn settings(&self) -> FailureSettings {
        let built_in = FailureSettings::default();
        FailureSettings {
            memory: self.memory.as_ref().map_or(built_in.memory, |written| written.value),
            holdout: self.holdout.as_ref().map_or(built_in.holdout, |written| Holdout::new(written.value)),
            deadline: self.deadline.as_ref().map_or(built_in.deadline, |written| written.value),
        }
    }
}

fn memory(written: Written<String>, document: &mut Document<'_>) -> Option<Written<MemoryUse>> {
    let value = match written.value.as_str() {
        "on" => MemoryUse::On,
        "off" => MemoryUse::Off,
        other => {
            let help = match did_you_mean(other, MEMORY) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("known: {}", MEMORY.join(", ")),
            };
            let message = format!("`failures.memory` cannot be {other:?}");
            document.error(codes::CONFIG_VALUE, written.range, message, Some(help));
            return None;
        }
    };
    Some(Written { value, file: written.file, line: written.line, range: written.range })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::layer::read;
    use super::*;

    fn of(text: &str) -> FailuresLayer {
        let (layer, problems) = read(Path::new("/helix.toml"), "helix.toml", text);
        assert!(problems.is_empty(), "{problems:?}");
        layer.failures
    }

    #[test]
    fn the_file_says_how_failures_are_remembered_and_the_stronger_file_wins() {
        assert_eq!(of("").settings(), FailureSettings::default());
        let stronger = of("[failures]\nmemory = \"off\"\nholdout = 0\n");
        let weaker = of("[failures]\nmemory = \"on\"\nholdout = 0.25\ndeadline = \"500ms\"\n");
        assert_eq!(
            weaker.clone().below(stronger).settings(),
            FailureSettings { memory: MemoryUse::Off, holdout: Holdout::NONE, deadline: Duration::from_millis(500) }
        );
        assert_eq!(weaker.settings().holdout, Holdout::new(0.25));
        let [memory, holdout, _] = weaker.origins();
        assert_eq!((memory.2.as_str(), holdout.1.as_str()), ("/helix.toml:2", "0.25"));
    }

    #[test]
    fn wrong_values_are_refused_with_what_would_be_right() {
        for (text, part) in [
            ("memory = \"of\"", "cannot be \"of\""),
            ("memory = true", "must be a text"),
            ("holdout = 1.5", "must be a share from 0 to 1"),
            ("holdout = -0.1", "must be a share from 0 to 1"),
            ("deadline = \"1m\"", "at most 5 seconds"),
            ("deadline = 2", "must be a length of time"),
            ("memry = \"on\"", "unknown key `memry` in [failures]"),
        ] {
            let text = format!("[failures]\n{text}\n");
            let (_, problems) = read(Path::new("/helix.toml"), "helix.toml", &text);
            assert!(problems.len() == 1 && problems[0].to_string().contains(part), "{text}: {problems:?}");
        }
    }
}
