//! What a project tells agents: `AGENTS.md`, `CLAUDE.md` with what they import, `.claude/rules`, and skills, as they are in a commit.
//!
//! Must not read the disk: what an agent has just written there must not tell it, or who judges it, how to work. Nothing leads out of
//! the repository, and everything is bounded.

mod layout;
mod tree;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_core::rule_file::{RuleFile, RulesOf, SkillPage, told};
use helix_git::{GitEnvironment, GitError, Repository, TreeEntry};

use self::tree::Tree;
use crate::codes;
use crate::front_matter::Front;
use crate::skills::{SKILL_FILE, skill_of};

/// Largest file that is read, in bytes.
const LARGEST: usize = 256 << 10;
/// Most that is shown of all files together, in bytes; what is beyond is named, and read where it is laid out.
const SHOWN: usize = 64 << 10;
/// Most files with rules, imported ones included.
const MOST_FILES: usize = 200;
/// Most files that are looked into, skills included, and most problems that are told.
const MOST_READ: usize = 500;
const MOST_PROBLEMS: usize = 50;
/// How deep files import others.
const DEEPEST_IMPORT: usize = 5;
/// Most skills, and files of skills.
const MOST_SKILLS: usize = 100;
const MOST_SKILL_FILES: usize = 1_000;

/// Files with rules by name, of each group the first that is there, in the order in which they are shown.
const NAMES: [&[&str]; 4] =
    [&["AGENTS.override.md", "AGENTS.md"], &["CLAUDE.md"], &[".claude/CLAUDE.md"], &["CLAUDE.local.md"]];
/// Directories with skills.
const SKILL_DIRECTORIES: [&str; 2] = [".claude/skills", ".agents/skills"];
const RULE_DIRECTORY: &str = ".claude/rules";
/// Settings with rules for tools.
pub const SETTINGS: &str = ".claude/settings.json";

/// What a project tells agents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectRules {
    /// Files with rules, those about the whole project first.
    pub files: Vec<RuleFile>,
    /// Skills; the paths are the repository's.
    pub skills: Vec<SkillPage>,
    /// The text of the project's settings for Claude Code.
    pub settings: Option<String>,
    /// What is not told, and why.
    pub problems: Vec<Diagnostic>,
    /// Of `files` those that are too long to be shown with the others.
    apart: BTreeSet<String>,
    /// What agents read on demand, by path.
    copies: BTreeMap<String, TreeEntry>,
}

impl ProjectRules {
    /// What the project tells agents in a commit.
    ///
    /// # Errors
    /// Git failed.
    pub fn at(repository: &Repository, commit: &str) -> Result<Self, GitError> {
        let tree = Tree::read(repository, commit)?;
        let mut reading = Reading { tree: &tree, found: Self::default(), seen: HashSet::new(), shown: 0 };
        for directory in tree.directories() {
            reading.directory(&directory)?;
        }
        let mut found = reading.found;
        if let Some((path, _)) = tree.file(SETTINGS)? {
            found.settings = tree.text(&path)?.ok();
            if found.settings.is_none() {
                found.problem(SETTINGS, "is too large, or not UTF-8".into());
            }
        }
        Ok(found)
    }

    /// What the project in a directory tells agents in its last commit, with what they read on demand laid out below `files`; nothing
    /// of a directory that is no repository, or has no commit.
    pub fn of_project(project: &Path, files: &Path) -> Option<Told> {
        if !project.join(".git").exists() {
            return None;
        }
        let read = || -> Result<Told, Box<dyn std::error::Error>> {
            let repository = Repository::open(project, GitEnvironment::from_process())?;
            if repository.find_commit("HEAD")?.is_none() {
                return Ok(Told::default());
            }
            let rules = Self::at(&repository, "HEAD")?;
            let directory = rules.lay_out(&repository, files)?;
            Ok(Told { text: rules.told(directory.as_deref()), settings: rules.settings, directory })
        };
        read().inspect_err(|error| tracing::warn!(project = %project.display(), %error, "its rules are not told")).ok()
    }

    /// What agents are told; `directory` is where [`ProjectRules::lay_out`] has put what they read on demand.
    pub fn told(&self, directory: Option<&Path>) -> String {
        let place = |path: &str| directory.map_or_else(|| path.to_owned(), |at| at.join(path).display().to_string());
        let shown = |file: &RuleFile| match self.apart.contains(&file.path) {
            true => {
                RuleFile { text: format!("(Too long to be shown here: read `{}`.)", place(&file.path)), ..file.clone() }
            }
            false => file.clone(),
        };
        let files: Vec<RuleFile> = self.files.iter().map(shown).collect();
        let skills: Vec<SkillPage> =
            self.skills.iter().map(|skill| SkillPage { path: place(&skill.path), ..skill.clone() }).collect();
        told(RulesOf::Project, &files, &skills)
    }

    /// Whether agents are told anything.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.skills.is_empty()
    }

    fn problem(&mut self, path: &str, message: String) {
        if self.problems.len() == MOST_PROBLEMS {
            return;
        }
        let help = "agents are not told of it; shorten it, split it, or put it beneath the repository (docs/agents.md, \"Rules of a project\")";
        self.problems.push(Diagnostic::warning(codes::RULES_NOT_TOLD, path, format!("{path} {message}")).help(help));
    }
}

/// What the agents of a project are told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    pub text: String,
    /// As [`ProjectRules::settings`].
    pub settings: Option<String>,
    /// Where they read the rest.
    pub directory: Option<PathBuf>,
}

struct Reading<'a> {
    tree: &'a Tree<'a>,
    found: ProjectRules,
    /// Files by their own names, however they were reached.
    seen: HashSet<String>,
    shown: usize,
}

impl Reading<'_> {
    /// Reads what lies in a directory for agents; the root is an empty text.
    fn directory(&mut self, directory: &str) -> Result<(), GitError> {
        let at = |path: &str| if directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") };
        let applies: Vec<String> = (!directory.is_empty()).then(|| format!("{directory}/**")).into_iter().collect();
        for group in NAMES {
            for path in group.iter().map(|name| at(name)) {
                if let Some((real, _)) = self.tree.file(&path)? {
                    self.rules(&path, &real, &applies, 0)?;
                    break;
                }
            }
        }
        for (path, real) in self.tree.files_below(&at(RULE_DIRECTORY))? {
            if Path::new(&path).extension().is_some_and(|extension| extension == "md") {
                self.rules(&path, &real, &applies, 0)?;
            }
        }
        for skills in SKILL_DIRECTORIES {
            self.skills(&at(skills))?;
        }
        Ok(())
    }

    /// Reads a file with rules, and then what it imports. `real` is the file that the path leads to.
    fn rules(&mut self, path: &str, real: &str, applies: &[String], depth: usize) -> Result<(), GitError> {
        if !self.seen.insert(real.to_owned()) {
            return Ok(());
        }
        if self.found.files.len() == MOST_FILES || self.seen.len() > MOST_READ {
            self.found.problem(path, format!("is left out: there are more than {MOST_FILES} files with rules"));
            return Ok(());
        }
        let text = match self.tree.text(real)? {
            Ok(text) => text,
            Err(why) => {
                self.found.problem(path, why);
                return Ok(());
            }
        };
        let (mut applies, mut body) = (applies.to_vec(), text.as_str());
        if let Ok(front) = Front::read(&text) {
            let base = applies.first().map(|below| below.trim_end_matches("**").to_owned()).unwrap_or_default();
            let own: Vec<String> = front.texts("paths").into_iter().map(|own| format!("{base}{own}")).collect();
            if !own.is_empty() {
                applies = own;
            }
            body = text.get(front.body..).unwrap_or_default();
        }
        let path = path.to_owned();
        if body.trim().is_empty() {
            return Ok(());
        }
        if self.shown + body.len() > SHOWN {
            self.found.apart.insert(path.clone());
            self.copy(&path, real);
        } else {
            self.shown += body.len();
        }
        self.found.files.push(RuleFile { path: path.clone(), applies: applies.clone(), text: body.to_owned() });
        for import in imports(body) {
            self.import(&path, real, import, &applies, depth)?;
        }
        Ok(())
    }

    fn import(
        &mut self,
        path: &str,
        real: &str,
        import: &str,
        applies: &[String],
        depth: usize,
    ) -> Result<(), GitError> {
        if import.starts_with(['/', '~']) {
            self.found.problem(path, format!("imports {import}, which does not lie in the repository"));
            return Ok(());
        }
        // Text goes on after a name.
        let names = [import, import.trim_end_matches(['.', ',', ';', ':', ')', '!', '?'])];
        for name in names {
            let Some(target) = helix_git::link_target(real, name) else { continue };
            let Some((real, _)) = self.tree.file(&target)? else { continue };
            if depth == DEEPEST_IMPORT {
                self.found.problem(path, format!("imports {name}, which is more than {DEEPEST_IMPORT} imports deep"));
                return Ok(());
            }
            return self.rules(&target, &real, applies, depth + 1);
        }
        // Names of people begin alike.
        if Path::new(names[1]).extension().is_some() {
            self.found.problem(path, format!("imports {import}, which is not in the repository"));
        }
        Ok(())
    }

    fn skills(&mut self, directory: &str) -> Result<(), GitError> {
        for name in self.tree.names_in(directory)? {
            let place = format!("{directory}/{name}");
            let page = format!("{place}/{SKILL_FILE}");
            let Some((real, _)) = self.tree.file(&page)? else { continue };
            if !self.seen.insert(real.clone()) {
                continue;
            }
            if self.found.skills.len() == MOST_SKILLS || self.seen.len() > MOST_READ {
                self.found.problem(&page, format!("is left out: there are more than {MOST_SKILLS} skills"));
                return Ok(());
            }
            let read = self
                .tree
                .text(&real)?
                .and_then(|text| skill_of(&text).map_err(|(_, why)| format!("is not a skill: {why}")));
            match read {
                Ok((name, description)) => {
                    for (path, real) in self.tree.files_below(&place)? {
                        self.copy(&path, &real);
                    }
                    self.found.skills.push(SkillPage { name, description, path: page });
                }
                Err(why) => self.found.problem(&page, why),
            }
        }
        Ok(())
    }

    fn copy(&mut self, path: &str, real: &str) {
        let Some(entry) = self.tree.entry(real) else { return };
        if self.found.copies.len() < MOST_SKILL_FILES {
            self.found.copies.insert(path.to_owned(), entry.clone());
        }
    }
}

/// What a text imports: words that begin with `@`, outside of code.
fn imports(text: &str) -> Vec<&str> {
    let (mut found, mut fence): (Vec<&str>, Option<&str>) = (Vec::new(), None);
    for line in text.lines() {
        let start = line.trim_start();
        let opens = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, opens) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) => {
                // Every second part lies between backticks.
                let outside = line.split('`').step_by(2);
                found.extend(outside.flat_map(str::split_whitespace).filter_map(|word| word.strip_prefix('@')));
            }
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[cfg(test)]
#[path = "rules_test.rs"]
mod tests;
