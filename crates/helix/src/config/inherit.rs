//! What of a user's own settings of an agent its runs get as well: rules, skills, hooks and tool servers. What these settings forbid
//! counts always.
//!
//! Must not change those files, and reads none of a project but the tool servers that its trusted configuration names.

use std::path::{Path, PathBuf};

use helix_agents::{AgentProfile, Inherited, McpServer, OwnFiles, agent_kind, own_settings};
use helix_core::diagnostic::did_you_mean;
use helix_core::document::Placed;
use helix_core::rule_file::{RuleFile, SkillPage};
use helix_process::bounded::read_text;
use helix_project::skills::{SKILL_FILE, SkillCatalog, SkillOrigin};

use super::files::Files;
use super::keys::{SERVER, Wanted};
use super::trust::PROJECT_SERVERS;
use crate::environment::Environment;
use crate::error::{CommandError, codes};

/// Largest file that is read, in bytes. The one with tool servers holds the user's history besides.
const LARGEST: u64 = 256 << 10;
const LARGEST_SERVERS: u64 = 64 << 20;
/// Most files of a directory with rules.
const MOST_FILES: usize = 100;

/// Adds to an agent what its user's own settings forbid, and what of them its runs are to get.
///
/// # Errors
/// When something is not there, or cannot be understood: work must not be done without rules that somebody relies on.
pub(super) fn inherit(
    environment: &Environment,
    files: &Files,
    profile: &mut AgentProfile,
    wanted: Option<&Placed<Vec<Placed<Wanted>>>>,
) -> Result<(), CommandError> {
    let wanted = wanted.map(|list| list.value.as_slice()).unwrap_or_default();
    let kind = agent_kind(profile.dialect);
    let Some(own) = kind.own_files else {
        return match wanted.first() {
            Some(one) => Err(refused(
                files,
                profile,
                one,
                format!("agents of the dialect {} have no settings of their own", kind.dialect),
            )
            .hint("remove `inherit`; rules of the project reach every agent")),
            None => Ok(()),
        };
    };
    let home = profile.home.clone().or_else(|| environment.home());
    let (variable, at_home) = kind.own_places;
    let passed = environment.variable(variable).filter(|_| profile.home.is_none()).map(PathBuf::from);
    let named = profile.config_dir.clone().or(passed);
    let directory = named.clone().or_else(|| Some(home.clone()?.join(at_home.first()?)));
    let Some(directory) = directory else { return Ok(()) };
    let place = Place { home: home.clone(), directory: directory.clone(), own };
    let settings = own.settings.map(|name| directory.join(name));
    let text = settings.as_ref().map(|path| read(path, LARGEST)).transpose()?.flatten().unwrap_or_else(|| "{}".into());
    let shown = settings.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let broken = |error: serde_json::Error| {
        CommandError::usage(codes::CONFIG_INHERIT, format!("{shown} cannot be parsed: {error}"))
            .hint("correct it: what it forbids counts for Helix's agents, too")
    };
    profile.tools.deny.extend(own_settings::denied(&text).map_err(broken)?);
    let mut inherited = Inherited::default();
    for one in wanted {
        match &one.value {
            Wanted::Rules => inherited.rules = place.rules()?,
            Wanted::Skills => inherited.skills = place.skills(),
            Wanted::Hooks if own.settings.is_some() => {
                inherited.hooks = own_settings::hooks(&text).map_err(broken)?;
            }
            Wanted::Server(name) if own.servers.is_some() => {
                let beside = files.base(&one.range).join(PROJECT_SERVERS);
                let own = match &named {
                    Some(directory) => Some(directory.clone()),
                    None => home.clone(),
                };
                let own = own.zip(place.own.servers).map(|(directory, name)| directory.join(name));
                let server = server(environment, name, [Some(beside), own]);
                let server = server.map_err(|(why, hint)| refused(files, profile, one, why).hint(hint))?;
                inherited.servers.push(server);
            }
            Wanted::Hooks | Wanted::Server(_) => {
                let why = format!("Helix cannot take that over from agents of the dialect {}", kind.dialect);
                return Err(refused(files, profile, one, why).hint("remove it from `inherit`"));
            }
        }
    }
    profile.inherited = inherited;
    Ok(())
}

/// Where a user's own files of an agent lie.
struct Place {
    home: Option<PathBuf>,
    directory: PathBuf,
    own: OwnFiles,
}

impl Place {
    fn rules(&self) -> Result<Vec<RuleFile>, CommandError> {
        let mut paths = Vec::new();
        for group in self.own.rules {
            paths.extend(group.iter().map(|name| self.directory.join(name)).find(|path| path.is_file()));
        }
        for directory in self.own.rule_directories {
            let entries = std::fs::read_dir(self.directory.join(directory)).into_iter().flatten().flatten();
            let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
            found.sort();
            found.truncate(MOST_FILES);
            paths.extend(found);
        }
        let mut rules = Vec::new();
        for path in paths {
            let text = read(&path, LARGEST)?.filter(|text| !text.trim().is_empty());
            rules.extend(text.map(|text| RuleFile { path: self.shown(&path), applies: Vec::new(), text }));
        }
        Ok(rules)
    }

    fn skills(&self) -> Vec<SkillPage> {
        let catalog = SkillCatalog::load(None, &[self.directory.join(self.own.skills)]);
        let own = catalog.skills().filter(|skill| skill.origin == SkillOrigin::User);
        let page = |directory: &PathBuf| directory.join(SKILL_FILE).display().to_string();
        own.filter_map(|skill| {
            let path = page(skill.directory.as_ref()?);
            Some(SkillPage { name: skill.name.clone(), description: skill.description.clone(), path })
        })
        .collect()
    }

    fn shown(&self, path: &Path) -> String {
        match self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }
}

/// A tool server by its name, from the first file that has it; else why there is none, and what to do.
fn server(environment: &Environment, name: &str, files: [Option<PathBuf>; 2]) -> Result<McpServer, (String, String)> {
    let mut known = Vec::new();
    for path in files.into_iter().flatten() {
        let shown = path.display().to_string();
        let unusable =
            |why: String| (format!("cannot use the tool server {name}: {why} ({shown})"), format!("correct {shown}"));
        let Some(text) = read_text(None, &path, LARGEST_SERVERS).map_err(|error| unusable(error.to_string()))? else {
            continue;
        };
        let variable = |name: &str| environment.variable(name).map(str::to_owned);
        let mut servers = own_settings::servers(&text, variable).map_err(|error| unusable(error.to_string()))?;
        if let Some(found) = servers.remove(name) {
            let base = path.parent().unwrap_or(Path::new("/"));
            let at = found.map_err(unusable)?.beside(base);
            return Ok(McpServer { name: name.to_owned(), at });
        }
        known.extend(servers.into_keys());
    }
    let hint = match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {SERVER}{near}?"),
        None => format!(
            "name one that is in {PROJECT_SERVERS} beside the helix.toml of a project, or in your agent's settings"
        ),
    };
    Err((format!("there is no tool server {name}"), hint))
}

fn refused(files: &Files, profile: &AgentProfile, one: &Placed<Wanted>, why: String) -> CommandError {
    let origin = files.origin(&one.range);
    CommandError::usage(codes::CONFIG_INHERIT, format!("`agents.{}.inherit` ({origin}): {why}", profile.name))
}

fn read(path: &Path, most: u64) -> Result<Option<String>, CommandError> {
    read_text(None, path, most).map_err(|error| {
        CommandError::usage(codes::CONFIG_INHERIT, format!("cannot read {}", path.display()))
            .because(&error)
            .hint("make it a readable text, or take it out of `inherit`")
    })
}
