//! Skills: pages of knowledge that agents read on demand, found as `skills/**/SKILL.md` in the project and the configuration, and
//! Helix's own.
//!
//! Must not know who reads them. Files are text from outside: bounded in size and number, and never followed out of their directory.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_core::error_chain;
use helix_core::source_text::SourceText;
use helix_core::text::{clip, one_line};
use helix_plan::ParsedPlan;
use serde::Serialize;

use crate::built_in_skills::{PAGES, with_lists};
use crate::codes;
use crate::front_matter::Front;
use helix_process::bounded::read_text;

/// Name of a skill's page.
pub const SKILL_FILE: &str = "SKILL.md";
/// Name of the directory that holds skills.
pub const SKILLS_DIRECTORY: &str = "skills";
/// Largest page or file of a skill, in bytes: what an agent can read at once.
const MAX_FILE: u64 = 128 << 10;
/// Longest description, in characters: it stands in every prompt, in one line without control characters.
const LONGEST_DESCRIPTION: usize = 400;
/// Most skills of one directory.
const MOST_SKILLS: usize = 200;
/// Most other files that are named with a page.
const MOST_FILES: usize = 100;
/// Most directory entries that are looked at.
const MOST_ENTRIES: usize = 10_000;
/// Deepest directory below `skills/`.
const DEEPEST: usize = 6;

/// Where a skill was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillOrigin {
    Project,
    /// In the user's configuration.
    User,
    /// Helix's own.
    BuiltIn,
}

/// A skill as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its name: lower-case letters, digits and `-`.
    pub name: String,
    /// What it is for and when to read it; one line.
    pub description: String,
    /// Where it was found.
    pub origin: SkillOrigin,
    /// Its directory, links resolved; absent for Helix's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
}

/// All skills that are in reach, by name; those of the project come before the user's own of the same name, and these before
/// Helix's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SkillCatalog {
    skills: BTreeMap<String, Skill>,
    /// Pages that are no usable skills, and why.
    pub problems: Vec<Diagnostic>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillText {
    pub skill: String,
    /// Which file, relative to the skill's directory.
    pub file: String,
    pub text: String,
    /// The skill's other files, relative to its directory; the first hundred.
    pub files: Vec<String>,
}

/// Why a skill cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// There is none of this name.
    #[error("unknown skill {name:?}{}", near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
    Unknown { name: String, near: Option<String> },
    /// The file does not lie in the skill's directory.
    #[error("{file:?} does not lie in the directory of the skill {skill}; name one of its own files")]
    Outside { skill: String, file: String },
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
}

impl SkillCatalog {
    /// Looks below `<project>/skills` and the user's own directories. A directory that is not there holds no skills.
    pub fn load(project: Option<&Path>, user: &[PathBuf]) -> Self {
        let mut catalog = Self::default();
        if let Some(project) = project {
            catalog.add(&project.join(SKILLS_DIRECTORY), SkillOrigin::Project);
        }
        for directory in user {
            catalog.add(directory, SkillOrigin::User);
        }
        for (name, description) in PAGES.iter().filter_map(|page| skill_of(page).ok()) {
            let skill = Skill { name: name.clone(), description, origin: SkillOrigin::BuiltIn, directory: None };
            catalog.skills.entry(name).or_insert(skill);
        }
        catalog
    }

    /// The skills in reach of a directory: its project is the nearest one upwards that is a repository or has skills, else itself.
    pub fn around(directory: &Path, user: &[PathBuf]) -> Self {
        let is_project = |path: &&Path| path.join(SKILLS_DIRECTORY).is_dir() || path.join(".git").exists();
        Self::load(Some(directory.ancestors().find(is_project).unwrap_or(directory)), user)
    }

    /// All skills in the order of their names.
    pub fn skills(&self) -> impl Iterator<Item = &Skill> {
        self.skills.values()
    }

    /// The skill of this name.
    ///
    /// # Errors
    /// [`SkillError::Unknown`] with a similar one.
    pub fn get(&self, name: &str) -> Result<&Skill, SkillError> {
        self.skills.get(name).ok_or_else(|| SkillError::Unknown { name: name.to_owned(), near: self.near(name) })
    }

    /// Reads a skill's page, or another file of its directory.
    ///
    /// # Errors
    /// [`SkillError`].
    pub fn read(&self, name: &str, file: Option<&str>) -> Result<SkillText, SkillError> {
        let skill = self.get(name)?;
        let file = file.filter(|file| !file.trim().is_empty()).unwrap_or(SKILL_FILE);
        let outside = || SkillError::Outside { skill: skill.name.clone(), file: file.to_owned() };
        let plain = Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !plain {
            return Err(outside());
        }
        let Some(directory) = &skill.directory else {
            let page = PAGES.iter().find(|page| skill_of(page).is_ok_and(|(name, _)| name == skill.name));
            let text = page.filter(|_| file == SKILL_FILE).map(|page| with_lists(page)).ok_or_else(outside)?;
            return Ok(SkillText { skill: skill.name.clone(), file: file.to_owned(), text, files: Vec::new() });
        };
        let text = read_page(directory, &directory.join(file))?;
        let relative = |path: &PathBuf| Some(path.strip_prefix(directory).ok()?.to_string_lossy().into_owned());
        let mut files: Vec<String> = Walk::below(directory).files.iter().filter_map(relative).collect();
        files.retain(|other| other != file);
        files.sort();
        files.truncate(MOST_FILES);
        Ok(SkillText { skill: skill.name.clone(), file: file.to_owned(), text, files })
    }

    /// Skills that a plan names and nobody has, as warnings at their places.
    pub fn unknown_in(&self, file: &str, parsed: &ParsedPlan) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (index, phase) in parsed.plan.phases.iter().enumerate() {
            for (number, name) in phase.skills.iter().enumerate().filter(|(_, name)| !self.skills.contains_key(*name)) {
                let message = format!("phase {} names the skill `{name}`, which is not there", phase.id);
                let help = match self.near(name) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        format!("write {SKILLS_DIRECTORY}/{name}/{SKILL_FILE}, or remove it: the phase runs without")
                    }
                };
                let mut warning = Diagnostic::warning(codes::UNKNOWN_SKILL, file, message).help(help);
                warning.span = parsed.places.phases.get(index).and_then(|place| place.skills.get(number)).copied();
                found.push(warning);
            }
        }
        found
    }

    fn near(&self, name: &str) -> Option<String> {
        did_you_mean(name, self.skills.keys().map(String::as_str)).map(str::to_owned)
    }

    fn add(&mut self, root: &Path, origin: SkillOrigin) {
        let real = match root.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(error) => return self.problem(root, None, &format!("the directory cannot be read: {error}")),
        };
        if origin == SkillOrigin::Project
            && root.parent().and_then(|project| project.canonicalize().ok()) != real.parent().map(Path::to_path_buf)
        {
            return self.problem(root, None, "the directory is a link; put the skills themselves here");
        }
        let Walk { files: mut pages, unread, .. } = Walk::below(&real);
        for (path, why) in unread {
            self.problem(&path, None, &why);
        }
        pages.retain(|path| is_page(path));
        pages.sort();
        if pages.len() > MOST_SKILLS {
            self.problem(root, None, &format!("more than {MOST_SKILLS} skills; the rest is ignored"));
            pages.truncate(MOST_SKILLS);
        }
        let mut own: BTreeMap<String, PathBuf> = BTreeMap::new();
        for page in pages {
            let Some(skill) = self.page(&page, origin) else { continue };
            if let Some(first) = own.get(&skill.name) {
                let why = format!("the skill `{}` is there already: {}", skill.name, first.display());
                self.problem(&page, None, &why);
                continue;
            }
            own.insert(skill.name.clone(), page);
            self.skills.entry(skill.name.clone()).or_insert(skill);
        }
    }

    fn page(&mut self, page: &Path, origin: SkillOrigin) -> Option<Skill> {
        let text =
            read_page(page.parent()?, page).map_err(|error| self.problem(page, None, &error_chain(&error))).ok()?;
        let read = skill_of(&text);
        let (name, description) =
            read.map_err(|(place, message)| self.problem(page, Some((&text, place)), &message)).ok()?;
        Some(Skill { name, description, origin, directory: Some(page.parent()?.to_path_buf()) })
    }

    fn problem(&mut self, path: &Path, place: Option<(&str, Range<usize>)>, message: &str) {
        let file = path.display().to_string();
        let mut problem = Diagnostic::warning(codes::BAD_SKILL, &file, message).help(
            "a skill is a file SKILL.md with front matter: `name` (lower-case letters, digits, '-') and `description`",
        );
        problem.span = place.map(|(text, range)| SourceText::new(&file, text).span(range));
        self.problems.push(problem);
    }
}

/// Name and description of a skill by its page; otherwise what is wrong with it, and where.
pub(crate) fn skill_of(text: &str) -> Result<(String, String), (Range<usize>, String)> {
    let front = Front::read(text).map_err(|wrong| (wrong.range, wrong.message))?;
    let missing = |key: &str| (0..3, format!("the front matter has no `{key}`"));
    let (name, place) = front.text("name").ok_or_else(|| missing("name"))?;
    let good = (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !good {
        return Err((place, format!("{:?} is not a skill name", clip(name, 41))));
    }
    let description = front.text("description").map(|(text, _)| one_line(text, LONGEST_DESCRIPTION));
    let description = description.filter(|text| !text.is_empty()).ok_or_else(|| missing("description"))?;
    Ok((name.to_owned(), description))
}

fn is_page(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == SKILL_FILE)
}

/// The files below a directory, without following links and without hidden directories.
#[derive(Default)]
struct Walk {
    files: Vec<PathBuf>,
    entries: usize,
    /// What was not read, and why.
    unread: Vec<(PathBuf, String)>,
}

impl Walk {
    fn below(directory: &Path) -> Self {
        let mut walk = Self::default();
        walk.enter(directory, 0);
        walk
    }

    fn enter(&mut self, directory: &Path, depth: usize) {
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => return self.unread.push((directory.to_path_buf(), format!("cannot be read: {error}"))),
        };
        for entry in entries {
            let (path, kind) = match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok(found) => found,
                Err(error) => {
                    self.unread.push((directory.to_path_buf(), format!("cannot be read: {error}")));
                    continue;
                }
            };
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                if self.entries == MOST_ENTRIES + 1 {
                    let why = format!("more than {MOST_ENTRIES} files lie here; the rest is left out");
                    self.unread.push((directory.to_path_buf(), why));
                }
                return;
            }
            if kind.is_symlink() {
                if is_page(&path) || path.join(SKILL_FILE).exists() {
                    self.unread.push((path, "is a link, and links are not followed; put the skill itself here".into()));
                }
            } else if kind.is_dir() {
                let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
                if !hidden && depth < DEEPEST {
                    self.enter(&path, depth + 1);
                }
            } else if kind.is_file() {
                self.files.push(path);
            }
        }
    }
}

/// Reads a file of a skill: no link may lead out of its directory, such as to the user's keys.
fn read_page(directory: &Path, path: &Path) -> Result<String, SkillError> {
    let text =
        read_text(Some(directory), path, MAX_FILE).and_then(|text| text.ok_or_else(|| ErrorKind::NotFound.into()));
    text.map_err(|source| SkillError::Unreadable { path: path.to_path_buf(), source })
}

#[cfg(test)]
#[path = "skills_test.rs"]
mod tests;
