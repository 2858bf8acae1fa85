//! Where the decisions of a project lie, and how a new one is written there: as its files say, as the settings of other tools
//! say, or as `helix.toml` says.
//!
//! Must not write anything. A directory outside of the project is none.

use std::path::Path;

use helix_adr::{AdrForm, Style, id_of_file};
use helix_core::document::{Limits, Node, read, read_toml};
use helix_plan::normal_path;

use super::error::disk;
use super::{AdrFileError, decisions_in};
use helix_process::bounded::read_text;

/// Largest file of settings that is looked into, in bytes.
const MOST: u64 = 1 << 20;
/// Directories in which decisions are looked for, and how a first one is written there.
const KNOWN: [(&str, Style); 11] = [
    ("docs/decisions", Style::MADR),
    ("doc/decisions", Style::MADR),
    ("docs/adr", Style::MADR),
    ("doc/adr", Style::NYGARD),
    ("docs/adrs", Style::MADR),
    ("doc/adrs", Style::NYGARD),
    ("docs/architecture/decisions", Style::NYGARD),
    ("docs/architecture/adr", Style::NYGARD),
    ("docs/architecture-decisions", Style::NYGARD),
    ("decisions", Style::MADR),
    ("adrs", Style::MADR),
];
/// Helix's own directory.
const OWN: &str = "adr";
/// Files that say where the decisions are: Helix's, of adr-tools, and of log4brains.
const SETTINGS: &str = "helix.toml";
const ADR_TOOLS: &str = ".adr-dir";
const LOG4BRAINS: &str = ".log4brains.yml";

/// A project's directory of decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Relative to the project's root, without a slash at its end.
    pub directory: String,
    /// How a decision is written where there is none yet.
    pub(super) first: Style,
}

impl Place {
    /// Helix's own.
    pub(super) fn own() -> Self {
        Self { directory: OWN.into(), first: Style::HELIX }
    }

    /// The directory of a project; Helix's own where nothing says otherwise.
    ///
    /// # Errors
    /// [`AdrFileError::Place`] when settings name no directory of the project, or several directories hold decisions and nothing says
    /// which is meant.
    pub fn find(root: &Path) -> Result<Self, AdrFileError> {
        if let Some(named) = named(root)? {
            return Ok(named);
        }
        let holds = |directory: &str| -> Result<bool, AdrFileError> {
            let path = root.join(directory);
            Ok(path.is_dir() && !decisions_in(&path)?.is_empty())
        };
        if holds(OWN)? {
            return Ok(Self::own());
        }
        let mut found = Vec::new();
        for (directory, first) in KNOWN {
            // What has no name of a decision may be anything: `decisions` and `adrs` are words of many projects.
            if holds(directory)? && has_decisions(&root.join(directory))? {
                found.push(Self { directory: directory.to_owned(), first });
            }
        }
        let names: Vec<&str> = found.iter().map(|place| place.directory.as_str()).collect();
        if names.len() > 1 {
            return Err(AdrFileError::Place {
                message: format!("decisions are in {}, and nothing says which directory is meant", names.join(" and ")),
                hint: format!("set it in helix.toml: `[decisions]`, then `directory = \"{}\"`", names[0]),
            });
        }
        let empty = || {
            let is_there = |(directory, _): &&(&str, Style)| directory.contains('/') && root.join(directory).is_dir();
            let (directory, first) = KNOWN.iter().find(is_there).filter(|_| !root.join(OWN).is_dir())?;
            Some(Self { directory: (*directory).to_owned(), first: *first })
        };
        Ok(found.pop().or_else(empty).unwrap_or_else(Self::own))
    }

    /// Whether a directory is a project for its decisions: it has some where they are looked for, or says where they are.
    pub fn is_project(root: &Path) -> bool {
        // `docs/adr` belongs to what `docs` lies in.
        let below = root.file_name().is_some_and(|name| name == "docs" || name == "doc" || name == "architecture");
        let has = |name: &str| root.join(name).is_dir();
        !below
            && (has(OWN)
                || root.join(ADR_TOOLS).is_file()
                || root.join(LOG4BRAINS).is_file()
                || KNOWN.iter().any(|(directory, _)| directory.contains('/') && has(directory)))
    }
}

fn has_decisions(directory: &Path) -> Result<bool, AdrFileError> {
    let files = decisions_in(directory)?;
    Ok(files.iter().any(|path| path.file_name().and_then(|name| id_of_file(name.to_str()?)).is_some()))
}

/// The directory that a file of settings names.
fn named(root: &Path) -> Result<Option<Place>, AdrFileError> {
    let text = |name: &str| {
        let path = root.join(name);
        read_text(Some(root), &path, MOST).map_err(disk("read", &path))
    };
    let place = |file: &str, said: &str, first: Style| -> Result<Option<Place>, AdrFileError> {
        let directory = normal_path(said).map_err(|error| AdrFileError::Place {
            message: format!("{file} names no directory of the project: `{}`: {error}", said.escape_debug()),
            hint: error.remedy.to_owned(),
        })?;
        let directory = directory.trim_end_matches('/').to_owned();
        let known = KNOWN.iter().find(|(known, _)| *known == directory).map(|(_, style)| *style);
        let first = if first.form == AdrForm::Helix && directory != OWN { known.unwrap_or(first) } else { first };
        Ok(Some(Place { directory, first }))
    };
    if let Some(text) = text(SETTINGS)?.filter(|text| text.contains("decisions")) {
        let node = read_toml(&text, 0).map_err(|problems| AdrFileError::Place {
            message: format!(
                "{SETTINGS} cannot be read: {}",
                problems.first().map_or("not TOML", |one| one.1.as_str())
            ),
            hint: format!("`helix doctor` shows what is wrong with {SETTINGS}"),
        })?;
        if let Some(directory) = value(&node, &["decisions", "directory"]) {
            return place(SETTINGS, directory, Style::HELIX);
        }
    }
    if let Some(text) = text(ADR_TOOLS)? {
        return place(ADR_TOOLS, text.lines().next().unwrap_or_default().trim(), Style::NYGARD);
    }
    if let Some(text) = text(LOG4BRAINS)? {
        let node = read(&text, Limits::default()).map_err(|error| AdrFileError::Place {
            message: format!("{LOG4BRAINS} cannot be read: {error}"),
            hint: "correct it, or name the directory in helix.toml".into(),
        })?;
        // Without a folder, it is where log4brains makes it.
        let folder = node.as_ref().and_then(|node| value(node, &["project", "adrFolder"])).unwrap_or("docs/adr");
        return place(LOG4BRAINS, folder, Style::LOG4BRAINS);
    }
    Ok(None)
}

fn value<'n>(node: &'n Node, keys: &[&str]) -> Option<&'n str> {
    keys.iter().try_fold(node, |node, key| Some(&node.get(key)?.value))?.scalar()
}

#[cfg(test)]
#[path = "place_test.rs"]
mod tests;
