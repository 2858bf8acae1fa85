//! What the configuration of a project may do unasked, and which files the user has trusted to do more.
//!
//! Must not know what the keys are used for.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use helix_core::document::{Node, Value, read_toml};
use helix_core::source_text::SourceText;
use helix_engine::experts::EXPERTS_FILE;
use helix_process::bounded::open_plain;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::keys::SERVER;
use crate::environment::Environment;
use crate::error::{CommandError, codes};
use crate::files::{unreadable, unwritable};

/// Name of a project's file with tool servers.
pub(super) const PROJECT_SERVERS: &str = ".mcp.json";

/// What a project may set unasked: names of what the user has, and limits; `*` is any one name. Every other key starts programs, sets
/// variables, opens files, addresses or the sandbox, or deletes what is kept.
const UNASKED: &[&str] = &[
    "adviser.agent",
    "adviser.model",
    "adviser.rounds",
    "agents.*.fallback_model",
    "agents.*.model",
    "agents.*.models",
    "consultant.agent",
    "consultant.enforcement",
    "consultant.enforcement_retries",
    "consultant.follow_jobs",
    "consultant.model",
    "consultant.turn_timeout",
    "decisions.directory",
    "defaults.agent",
    "escalation.person",
    "jobs.budget_usd",
    "jobs.land",
    "jobs.linger",
    "jobs.max_agents",
    "jobs.max_gates",
    "jobs.max_parallel",
    "jobs.max_run_time",
    "jobs.max_tokens",
    "jobs.max_turns",
    "jobs.max_wait",
    "jobs.memory_floor_mb",
    "jobs.retries",
    "jobs.retry_delay",
    "jobs.retry_delay_max",
    "jobs.side_budget_usd",
    "jobs.stall",
    "jobs.stop_grace",
    "jobs.stuck_after",
    "questions.timeout",
    "verifier.agent",
    "verifier.model",
];

/// A key that counts only in a file that the user trusts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct GuardedKey {
    /// Such as `agents.codex.command`.
    pub(crate) name: String,
    /// Its line in the file, from 1.
    pub(crate) line: usize,
    #[serde(skip)]
    range: Range<usize>,
    /// What it says, text by text: each may name a file.
    #[serde(skip)]
    texts: Vec<String>,
}

/// What the user has trusted: a file's path, and the digest of all that is trusted with it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Trusted {
    pub(crate) path: PathBuf,
    digest: String,
}

/// A file of a project, and what it says that needs trust.
#[derive(Debug)]
pub(crate) struct ProjectFile {
    pub(crate) path: PathBuf,
    pub(super) text: String,
    pub(crate) keys: Vec<GuardedKey>,
}

/// The user's word on files of projects: one record each in `trust/` of the state directory, which no agent can reach.
#[derive(Debug)]
pub(crate) struct Trust<'a> {
    environment: &'a Environment,
    directory: PathBuf,
}

impl ProjectFile {
    pub(crate) fn new(path: PathBuf, text: String) -> Self {
        let mut keys = Vec::new();
        // The file was read before: it has no errors.
        if let Ok(tree) = read_toml(&text, 0) {
            collect(&tree, "", &text, &mut keys);
        }
        Self { path, text, keys }
    }
}

impl<'a> Trust<'a> {
    pub(crate) fn new(environment: &'a Environment, state_dir: &Path) -> Self {
        Self { environment, directory: state_dir.join("trust") }
    }

    /// Refuses a project's file that says more than a project may, unless the user trusts it as it is now.
    ///
    /// # Errors
    /// When the user never trusted it, or it or a file that it names has changed since; when others can write it.
    pub(super) fn check(&self, file: &ProjectFile) -> Result<(), CommandError> {
        if file.keys.is_empty() {
            return Ok(());
        }
        let given = self.given(&file.path)?;
        if let Some(given) = &given
            && given.digest == self.digest(file)?.0
        {
            return only_the_user_writes(&file.path);
        }
        let why = match given {
            Some(_) => "it, or a file that it names, has changed since you trusted it",
            None => "it belongs to the project, and you have not trusted it",
        };
        let name = file.path.display().to_string();
        let source = SourceText::new(&name, &file.text);
        let problem = |key: &GuardedKey| {
            let message = format!("`{}` counts only in a file that you trust: {why}", key.name);
            source.error(codes::CONFIG_NOT_TRUSTED, key.range.clone(), message)
        };
        let problems = file.keys.iter().map(problem).collect();
        Err(CommandError::file_errors(codes::CONFIG_NOT_TRUSTED, &name, problems, file.text.clone())
            .hint("read it and what it names, then run: helix trust (docs/configuration.md, \"Trust in a project\")"))
    }

    /// Whether the user trusts a file as it is now.
    pub(crate) fn is_given(&self, file: &ProjectFile) -> bool {
        let given = self.given(&file.path).ok().flatten();
        given.is_some_and(|given| self.digest(file).is_ok_and(|(digest, _)| digest == given.digest))
            && only_the_user_writes(&file.path).is_ok()
    }

    /// The user's word on a file, as it was then; a record that cannot be read is none.
    fn given(&self, path: &Path) -> Result<Option<Trusted>, CommandError> {
        let record = std::fs::read(self.record_of(path)?).ok();
        Ok(record.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Trusts a file as it is now; returns the files that are trusted with it.
    ///
    /// # Errors
    /// When others can write it, or the record cannot be kept.
    pub(crate) fn give(&self, file: &ProjectFile) -> Result<Vec<PathBuf>, CommandError> {
        only_the_user_writes(&file.path)?;
        let (digest, named) = self.digest(file)?;
        let record = self.record_of(&file.path)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(unwritable(&self.directory))?;
        let trusted = Trusted { path: file.path.clone(), digest };
        let text = serde_json::to_string(&trusted)
            .map_err(|error| CommandError::helix(codes::BROKEN, "cannot write down what is trusted").because(&error))?;
        helix_process::replace_private(&record, text.as_bytes()).map_err(unwritable(&record))?;
        Ok(named)
    }

    /// Takes the trust in a file back; says whether there was any.
    ///
    /// # Errors
    /// When the record cannot be removed.
    pub(crate) fn take_back(&self, path: &Path) -> Result<bool, CommandError> {
        let record = self.record_of(path)?;
        match std::fs::remove_file(&record) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(unwritable(&record)(error)),
        }
    }

    /// All files that were trusted, by path. They may have changed since.
    pub(crate) fn list(&self) -> Vec<Trusted> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let read = |path: PathBuf| serde_json::from_slice::<Trusted>(&std::fs::read(path).ok()?).ok();
        let mut all: Vec<Trusted> = entries.filter_map(|entry| read(entry.path())).collect();
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all
    }

    fn record_of(&self, path: &Path) -> Result<PathBuf, CommandError> {
        let whole = path.canonicalize().map_err(unreadable(path))?;
        let name = Sha256::digest(whole.as_os_str().as_encoded_bytes());
        Ok(self.directory.join(format!("{name:x}.json")))
    }

    /// The digest of a file and of the files below its directory that it names, with their paths: who may change those, may change
    /// what it starts.
    fn digest(&self, file: &ProjectFile) -> Result<(String, Vec<PathBuf>), CommandError> {
        let base = file.path.parent().unwrap_or(Path::new("/"));
        let inside = base.canonicalize().map_err(unreadable(base))?;
        let experts = file.keys.iter().any(|key| key.name == "consultant.experts").then_some(EXPERTS_FILE);
        let servers = file.keys.iter().flat_map(|key| &key.texts).any(|text| text.starts_with(SERVER));
        let servers = servers.then_some(PROJECT_SERVERS);
        let texts = file.keys.iter().flat_map(|key| &key.texts).map(String::as_str).chain(experts).chain(servers);
        let mut named = BTreeMap::new();
        for path in texts.map(|text| self.environment.path(text, base)) {
            if let Ok(whole) = path.canonicalize()
                && let Ok(relative) = whole.strip_prefix(&inside)
                && whole.is_file()
            {
                named.insert(relative.to_owned(), path);
            }
        }
        let mut digest = Sha256::new();
        digest.update(&file.text);
        for (relative, path) in &named {
            let mut own = Sha256::new();
            std::io::copy(&mut open_plain(path).map_err(unreadable(path))?, &mut own).map_err(unreadable(path))?;
            digest.update(format!("\0{}\0{:x}", relative.display(), own.finalize()));
        }
        Ok((format!("{:x}", digest.finalize()), named.into_values().collect()))
    }
}

/// Collects the keys below a node that need trust.
fn collect(node: &Node, path: &str, text: &str, found: &mut Vec<GuardedKey>) {
    let Value::Mapping(entries) = &node.value else { return };
    for entry in entries.iter() {
        let name = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
        if matches!(entry.value.value, Value::Mapping(_)) {
            collect(&entry.value, &name, text, found);
        } else if !UNASKED.iter().any(|pattern| fits(pattern, &name)) {
            let line = text.get(..entry.key_range.start).unwrap_or_default().matches('\n').count() + 1;
            let mut texts = Vec::new();
            // What is copied or filled is started by nobody, and changes all the time.
            if !["workspace.copy", "workspace.link", "workspace.cache"].contains(&name.as_str()) {
                texts_of(&entry.value, &mut texts);
            }
            if name.starts_with("workspace.") {
                // A command in one text names its script as one of its words.
                let words: Vec<String> =
                    texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
                texts.extend(words);
            }
            found.push(GuardedKey { name, line, range: entry.key_range.clone(), texts });
        }
    }
}

fn texts_of(node: &Node, found: &mut Vec<String>) {
    match &node.value {
        Value::Scalar(scalar) => found.push(scalar.text.clone()),
        Value::Sequence(items) => items.iter().for_each(|item| texts_of(item, found)),
        Value::Mapping(_) => {}
    }
}

/// Whether a key is meant by a pattern, part by part.
fn fits(pattern: &str, name: &str) -> bool {
    let part = |(pattern, name): (&str, &str)| pattern == "*" || pattern == name;
    pattern.split('.').count() == name.split('.').count() && pattern.split('.').zip(name.split('.')).all(part)
}

/// Refuses a file that somebody else may write: what was read and trusted could be another one when it counts.
pub(super) fn only_the_user_writes(path: &Path) -> Result<(), CommandError> {
    let own = rustix::process::geteuid().as_raw();
    let directory = path.parent().unwrap_or(Path::new("/"));
    for place in [path, directory] {
        let metadata = place.metadata().map_err(unreadable(place))?;
        // Where each user has a group of one's own, it has the user's number, and new files are writable for it.
        let writable = if metadata.gid() == metadata.uid() { 0o002 } else { 0o022 };
        if metadata.mode() & writable != 0 || ![0, own].contains(&metadata.uid()) {
            let message = format!("{} cannot be trusted: other users can write {}", path.display(), place.display());
            return Err(CommandError::usage(codes::CONFIG_NOT_TRUSTED, message)
                .hint(format!("make it yours alone, such as: chmod go-w {}", place.display())));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "trust_test.rs"]
mod tests;
