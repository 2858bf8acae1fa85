//! From a command to the files that decide how it checks: scripts that it calls, what those name, and configuration of the
//! runners that any of them starts.
//!
//! Must not know phases or claims.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::Purpose;
use super::decisive::decisive;
use super::names::{Family, by_name, in_tests, is_test, is_test_name, linter_of};
use crate::pattern::{Pattern, beside};
use helix_core::ids::TreeId;
use helix_git::{EntryKind, GitError, Repository, TreeListing};

/// Longest script that is read for what it names; a longer one was not written by hand.
const MAX_SCRIPT: usize = 256 << 10;
/// Most files that are read for what they name.
const MAX_READ: usize = 200;
/// Most patterns that are compared with all files, and modules of one source that are looked for.
const MOST_PATTERNS: usize = 100;
const MOST_MODULES: usize = 1_000;
/// Most parts of a module's name.
const MOST_PARTS: usize = 20;

/// What a program runs that its command line does not name.
const BY_PROGRAM: [(&str, &[&str]); 9] = [
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"]),
    ("rake", &["Rakefile"]),
    ("tox", &["tox.ini", "tox.toml"]),
    ("nox", &["noxfile.py"]),
    ("invoke", &["tasks.py"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
];

/// Programs whose arguments are what is delivered, and of others the commands that only take it along.
const CARRIERS: [&str; 11] = ["cp", "mv", "install", "ln", "rsync", "scp", "tar", "zip", "gzip", "cat", "curl"];
const CARRYING: [(&str, &[&str]); 4] = [
    ("docker", &["build", "push", "tag", "save"]),
    ("podman", &["build", "push", "tag", "save"]),
    ("kubectl", &["apply"]),
    ("aws", &["s3"]),
];

/// Files that say how tools of Python work, each to many of them.
const OF_MANY: [&str; 7] =
    ["pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "tox.toml", "noxfile.py"];
/// Most tests that are read for the tools that they start.
const MOST_TESTS: usize = 400;

/// Files that name others which take part: all their words are looked at.
const NAMES_OTHERS: [&str; 5] = ["jest.config.", "vitest.config.", "vite.config.", ".mocharc", "noxfile."];

/// The files that decide how a command checks, each with the id of what of it decides.
pub(super) fn members(
    repository: &Repository,
    tree: &TreeId,
    command: &str,
    purpose: Purpose,
) -> Result<BTreeMap<String, String>, GitError> {
    let files = repository.listing(tree)?;
    let mut members = BTreeMap::new();
    for path in walked(repository, &files, command, purpose)?.found {
        // A module without code only says that its directory is a package.
        if let Some(id) = id(repository, &files, &path)? {
            members.insert(path, id);
        }
    }
    Ok(members)
}

/// Whose tools a command starts, itself or through what it calls; empty where that cannot be seen.
pub(crate) fn families(repository: &Repository, tree: &TreeId, command: &str) -> Result<BTreeSet<Family>, GitError> {
    Ok(walked(repository, &*repository.listing(tree)?, command, Purpose::Anything)?.families)
}

/// Whether a command may start one of these tools: it, what it calls or a test names one.
pub(super) fn may_start(
    repository: &Repository,
    tree: &TreeId,
    command: &str,
    tools: &[&str],
) -> Result<bool, GitError> {
    let files = repository.listing(tree)?;
    let Walk { mut said, configured, mut scripts, .. } = walked(repository, &files, command, Purpose::Anything)?;
    // Of the scripts of a package, those count that are called, and those that these call.
    let mut read = 0;
    while read < said.len() {
        let text = &said[read];
        let (called, others) = scripts.into_iter().partition::<Vec<_>, _>(|(name, _)| calls(text, name));
        said.extend(called.into_iter().map(|(_, script)| script));
        (scripts, read) = (others, read + 1);
    }
    let is_named = |text: &str| tools.iter().any(|tool| text.contains(tool));
    if said.iter().any(|text| is_named(text) || text.contains("lint")) || configured.iter().any(|text| is_named(text)) {
        return Ok(true);
    }
    // In a test, it may also be what a comment is for.
    let in_code = |line: &str| {
        is_named(line)
            && line.contains(['"', '\'', '`'])
            && !["//", "#", "*", "/*"].iter().any(|mark| line.trim_start().starts_with(mark))
    };
    for (_, entry) in files.iter().filter(|(path, entry)| is_test(path) && entry.kind.is_file()).take(MOST_TESTS) {
        if repository.size(&entry.object)? <= MAX_SCRIPT
            && String::from_utf8_lossy(&repository.blob(&entry.object)?).lines().any(in_code)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a text of commands may call a script of a package.
fn calls(text: &str, script: &str) -> bool {
    let plain = script.strip_prefix("pre").or_else(|| script.strip_prefix("post")).unwrap_or(script);
    let is_called = |word: &str| {
        word == script
            || word == plain
            || word.split_once('*').is_some_and(|(start, _)| !start.is_empty() && script.starts_with(start))
            || matches!(word, "t" | "tst" | "it") && plain == "test"
    };
    text.split(|c: char| c.is_whitespace() || "\"'`;|&()<>{}[],=$@".contains(c)).any(is_called)
}

fn walked<'a>(
    repository: &'a Repository,
    files: &'a TreeListing,
    command: &str,
    purpose: Purpose,
) -> Result<Walk<'a>, GitError> {
    let mut walk = Walk {
        repository,
        files,
        purpose,
        carries: false,
        found: BTreeSet::new(),
        open: Vec::new(),
        arguments: BTreeSet::new(),
        families: BTreeSet::new(),
        by_name: BTreeSet::new(),
        said: vec![command.to_owned()],
        configured: Vec::new(),
        scripts: Vec::new(),
        patterns: 0,
        read: 0,
    };
    walk.names("", command);
    loop {
        walk.follow()?;
        let by_name: Vec<String> =
            by_name(files, &walk.families).into_iter().filter(|path| !walk.found.contains(path)).collect();
        if by_name.is_empty() {
            break;
        }
        for path in by_name {
            walk.by_name.insert(path.clone());
            walk.add(path);
        }
    }
    Ok(walk)
}

/// What tells one state of a file from another; `None` where nothing in it decides.
fn id(repository: &Repository, files: &TreeListing, path: &str) -> Result<Option<String>, GitError> {
    let Some(entry) = files.get(path) else { return Ok(None) };
    let whole = || format!("{} {}", entry.object, u8::from(entry.kind == EntryKind::Executable));
    let name = path.rsplit('/').next().unwrap_or(path);
    if !matches!(name, "package.json" | "Cargo.toml" | "pyproject.toml" | "go.mod" | "__init__.py")
        || !matches!(entry.kind, EntryKind::File | EntryKind::Executable)
        || path.contains("node_modules/")
    {
        return Ok(Some(whole()));
    }
    let text = String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned();
    let part = decisive(path, &text);
    let nothing = name == "__init__.py" && part.is_some();
    Ok((!nothing).then(|| part.map_or_else(whole, |part| format!("{:x}", Sha256::digest(part)))))
}

/// Whether a file that a script names may be part of it: code that is compiled and texts are what it works on.
fn may_decide(path: &str) -> bool {
    const ENDINGS: [&str; 24] = [
        "sh", "bash", "zsh", "py", "pyw", "js", "mjs", "cjs", "ts", "mts", "cts", "rb", "pl", "mk", "mak", "just",
        "toml", "ini", "cfg", "yml", "yaml", "json", "jsonc", "env",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    !is_test_name(path)
        && name.trim_start_matches('.').rsplit_once('.').is_none_or(|(_, ending)| ENDINGS.contains(&ending))
}

struct Walk<'a> {
    repository: &'a Repository,
    files: &'a TreeListing,
    purpose: Purpose,
    /// Whether what is read only carries what it names.
    carries: bool,
    found: BTreeSet<String>,
    /// Found and not yet read.
    open: Vec<String>,
    /// Those that hold further words of a command.
    arguments: BTreeSet<String>,
    families: BTreeSet<Family>,
    /// Found because tools read a file of that name.
    by_name: BTreeSet<String>,
    /// What may call a script or a program: the command, and what it calls.
    said: Vec<String>,
    /// What may name a program: what tools read because of its name.
    configured: Vec<String>,
    /// Scripts of packages, by name.
    scripts: Vec<(String, String)>,
    /// Patterns that were compared with the files.
    patterns: usize,
    read: usize,
}

impl Walk<'_> {
    fn add(&mut self, path: String) {
        if self.found.insert(path.clone()) {
            self.open.push(path);
        }
    }

    /// Reads what was found for what it names in turn.
    fn follow(&mut self) -> Result<(), GitError> {
        while let Some(path) = self.open.pop() {
            let Some(entry) = self.files.get(&path) else { continue };
            if entry.kind == EntryKind::Symlink {
                let target = String::from_utf8_lossy(&self.repository.blob(&entry.object)?).into_owned();
                if let Some(target) = beside(&path, &target).filter(|target| self.files.contains_key(target)) {
                    self.add(target);
                }
                continue;
            }
            if entry.kind == EntryKind::Submodule || path.contains("node_modules/") || self.read >= MAX_READ {
                continue;
            }
            if self.repository.size(&entry.object)? > MAX_SCRIPT {
                continue;
            }
            self.read += 1;
            let text = String::from_utf8_lossy(&self.repository.blob(&entry.object)?).into_owned();
            self.read_file(&path, &text);
        }
        Ok(())
    }

    fn read_file(&mut self, path: &str, text: &str) {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.arguments.contains(path) {
            self.names(&directory, text);
        }
        self.hear(path, name, text);
        match name {
            "package.json" => {
                let manifest: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
                for key in ["scripts", "jest", "mocha", "ava", "nyc", "c8", "vitest"] {
                    let Some(value) = manifest.get(key) else { continue };
                    self.names(&directory, &value.to_string());
                    match value.as_object().filter(|_| key == "scripts") {
                        Some(scripts) => {
                            self.scripts.extend(scripts.iter().map(|(name, script)| (name.clone(), script.to_string())))
                        }
                        None => self.configured.push(value.to_string()),
                    }
                }
            }
            // Only plugins: other words of these are about the code that is tested.
            "conftest.py" | "pytest.ini" | ".pytest.ini" | "pyproject.toml" | "setup.cfg" => {
                self.plugins(&directory, text)
            }
            "tox.ini" | "tox.toml" => {
                self.plugins(&directory, text);
                self.names(&directory, text);
            }
            "Cargo.toml" | "build.rs" => {}
            "__init__.py" if in_tests(path) => {}
            _ if NAMES_OTHERS.iter().any(|start| name.starts_with(start)) => self.names(&directory, text),
            _ => match name.rsplit_once('.').map(|(_, ending)| ending) {
                Some("py" | "pyw") => self.imports(&directory, text),
                Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts") => self.beside_it(&directory, text),
                Some("json" | "toml" | "ini" | "cfg" | "yaml" | "md" | "txt" | "lock") => {}
                Some("sh" | "bash" | "zsh" | "mk" | "mak" | "just" | "env") | None => self.names(&directory, text),
                Some(_) => {}
            },
        }
    }

    /// Takes in what a file says that may name a program.
    fn hear(&mut self, path: &str, name: &str, text: &str) {
        if name == "package.json" || linter_of(path).is_some() {
            return;
        }
        let words = || text.split(|c: char| c.is_whitespace() || "\"'=,[]".contains(c));
        match (self.by_name.contains(path), OF_MANY.contains(&name)) {
            // Options of pytest have its plugins start others: `--flake8`.
            (true, true) => self.configured.extend(words().filter(|word| word.starts_with("--")).map(str::to_owned)),
            (true, false) => self.configured.push(text.to_owned()),
            (false, _) => self.said.push(text.to_owned()),
        }
    }

    /// Everything that a line of a shell, a makefile or a configuration names.
    fn names(&mut self, directory: &str, text: &str) {
        let is_delivery = self.purpose == Purpose::Delivery;
        let text = if is_delivery { text.replace("\\\n", " ") } else { text.to_owned() };
        // Commands by themselves, pipelines whole.
        let is_carried = |command: &&str| is_delivery && command.split('|').all(carries);
        let (carried, others): (Vec<&str>, Vec<&str>) = text.split(['\n', ';', '&']).partition(is_carried);
        self.words(directory, &others.join("\n"));
        self.carries = true;
        self.words(directory, &carried.join("\n"));
        self.carries = false;
        self.argument_files(directory, &text);
        self.includes(directory, &text);
    }

    fn words(&mut self, directory: &str, text: &str) {
        let words = text.split(|c: char| c.is_whitespace() || "\"'`;|&()<>{}[],=$@".contains(c));
        let (mut former, mut places, mut run) = ("", vec![String::new()], BTreeSet::<&str>::new());
        for word in words.map(|word| word.trim_matches(['\\', ':', '!', '-'])).filter(|word| !word.is_empty()) {
            let program = word.rsplit('/').next().unwrap_or(word);
            self.families.extend(Family::of_program(program));
            let files = BY_PROGRAM.iter().filter(|(known, _)| *known == program);
            run.extend(files.flat_map(|(_, files)| files.iter().copied()));
            if matches!(former, "m" | "p") {
                self.module(directory, word);
            }
            // `make -C tools`, `npm --prefix web`.
            if matches!(former, "C" | "prefix" | "cd" | "directory" | "cwd") {
                places.push(format!("{word}/"));
            }
            self.file(directory, word);
            former = word;
        }
        for place in places {
            for file in &run {
                self.file(directory, &format!("{place}{file}"));
            }
        }
    }

    /// Files with further words of a command: `pytest @args.txt`, whatever they are called.
    fn argument_files(&mut self, directory: &str, text: &str) {
        let words = text.split(|c: char| c.is_whitespace() || "\"'`;|&()<>{}[],=".contains(c));
        for word in words.filter_map(|word| word.strip_prefix('@')) {
            for path in self.places(directory, word) {
                self.arguments.insert(path.clone());
                self.add(path);
            }
        }
    }

    /// Files that a line includes by a pattern: `-include local/*.mk` takes a new one, too.
    fn includes(&mut self, directory: &str, text: &str) {
        for line in text.lines() {
            let mut words = line.split(|c: char| c.is_whitespace() || "\"'`;|&()<>{},=$@".contains(c));
            let Some("include" | "-include" | "sinclude" | "source" | ".") = words.find(|word| !word.is_empty()) else {
                continue;
            };
            for word in words.filter(|word| word.contains(['*', '?', '['])) {
                // Each is compared with every file; a file that has been changed to say more is a finding itself.
                self.patterns += 1;
                if self.patterns > MOST_PATTERNS {
                    return;
                }
                let patterns =
                    [Pattern::new(word.trim_start_matches('/')), Pattern::new(&format!("{directory}/{word}"))];
                let is_included = |path: &&String| patterns.iter().any(|pattern| pattern.matches(path));
                let included: Vec<String> = self.files.keys().filter(is_included).cloned().collect();
                included.into_iter().for_each(|path| self.add(path));
            }
        }
    }

    /// A file that a word names, seen from the root or from where the word stands.
    fn file(&mut self, directory: &str, word: &str) {
        for path in self.places(directory, word).into_iter().filter(|path| may_decide(path)) {
            // What can be run may be what a program is told to run.
            let is_executable = self.files.get(&path).is_some_and(|entry| entry.kind == EntryKind::Executable);
            if !self.carries || is_executable || [".sh", ".bash", ".zsh"].iter().any(|ending| path.ends_with(ending)) {
                self.add(path);
            }
        }
    }

    /// The files that a word may mean.
    fn places(&self, directory: &str, word: &str) -> Vec<String> {
        let from_root = beside("", word.trim_start_matches('/'));
        let from_here = beside(&format!("{directory}/x"), word);
        let paths = from_root.into_iter().chain(from_here).map(|path| path.trim_start_matches('/').to_owned());
        paths.filter(|path| self.files.contains_key(path)).collect()
    }

    /// A module of Python that a word names.
    fn module(&mut self, directory: &str, word: &str) {
        let path = word.replace('.', "/");
        for file in [format!("{path}.py"), format!("{path}/__main__.py"), format!("{path}/__init__.py")] {
            self.file(directory, &file);
            self.file(directory, &format!("src/{file}"));
        }
    }

    /// Plugins of pytest: `-p name` in its options, `pytest_plugins` in a module.
    fn plugins(&mut self, directory: &str, text: &str) {
        for line in text.lines() {
            let words: Vec<&str> = line
                .split(|c: char| c.is_whitespace() || "\"'=,[]()".contains(c))
                .filter(|word| !word.is_empty())
                .collect();
            for pair in words.windows(2).filter(|pair| pair[0] == "-p") {
                self.module(directory, pair[1]);
            }
            for word in words.iter().filter_map(|word| word.strip_prefix("-p")).filter(|word| !word.is_empty()) {
                self.module(directory, word);
            }
        }
        if let Some((_, list)) = text.split_once("pytest_plugins") {
            let end = list.find([']', ')']).or_else(|| list.find('\n')).unwrap_or(list.len());
            for name in list[..end].split(['"', '\'']).filter(|name| !name.trim().is_empty()) {
                self.module(directory, name);
            }
        }
    }

    /// Modules of Python that lie in the same directory at the top as a script: they are part of it. Others may be what it checks.
    fn imports(&mut self, directory: &str, text: &str) {
        if directory.is_empty() {
            return;
        }
        let parts: Vec<&str> = directory.split('/').collect();
        // Where sources have a directory of their own, it is the package in it.
        let tops = if matches!(parts[0], "src" | "lib" | "python") && parts.len() > 1 { 2 } else { 1 };
        let has_parts = |name: &String| name.split('.').count() <= MOST_PARTS;
        for name in imported(text).into_iter().filter(has_parts).take(MOST_MODULES) {
            let module = name.trim_start_matches('.');
            let dots = name.len() - module.len();
            // A name begins at the script, or above it where its package lies.
            let above = if dots == 0 { 0..=parts.len() } else { dots - 1..=dots - 1 };
            for base in above.filter_map(|up| parts.get(..parts.len().checked_sub(up)?)) {
                let path: Vec<&str> =
                    base.iter().copied().chain(module.split('.')).filter(|part| !part.is_empty()).collect();
                if !path.starts_with(&parts[..tops]) {
                    continue;
                }
                let packages = (tops..=path.len()).map(|end| format!("{}/__init__.py", path[..end].join("/")));
                for file in packages.chain([format!("{}.py", path.join("/"))]) {
                    if self.files.contains_key(&file) && !is_test_name(&file) {
                        self.add(file);
                    }
                }
            }
        }
    }

    /// Modules of JavaScript that stand beside a script, or below it.
    fn beside_it(&mut self, directory: &str, text: &str) {
        for word in text.split(['"', '\'', '`']).filter(|word| word.starts_with("./")) {
            for ending in ["", ".js", ".mjs", ".cjs", ".ts", "/index.js"] {
                let path = beside(&format!("{directory}/x"), &format!("{word}{ending}"));
                if let Some(path) = path.map(|path| path.trim_start_matches('/').to_owned())
                    && self.files.contains_key(&path)
                    && !is_test_name(&path)
                {
                    self.add(path);
                }
            }
        }
    }
}

/// Whether a command of a shell only copies, packs or publishes what it is given.
fn carries(command: &str) -> bool {
    let words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '@', '(', '{']));
    let mut words = words.filter(|word| !word.is_empty() && !word.contains('=')).peekable();
    while let Some(word) = words.next() {
        match word {
            "env" | "exec" | "sudo" | "then" | "else" | "do" => {}
            "sh" | "bash" if words.next_if_eq(&"-c").is_some() => {}
            // A program of the repository may be called as one of these is.
            _ if word.contains('/') && !word.starts_with('/') => return false,
            _ => {
                let program = word.rsplit('/').next().unwrap_or(word);
                let next = words.peek().copied().unwrap_or_default();
                let carrying = CARRYING.iter().any(|(known, all)| *known == program && all.contains(&next));
                let runs_another = ["$(", "`", "<("].iter().any(|mark| command.contains(mark));
                return (carrying || CARRIERS.contains(&program)) && !runs_another;
            }
        }
    }
    true
}

/// The modules that a source of Python imports. What it takes from one may be a module in it.
fn imported(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.split(['\n', ';']).map(|line| line.split('#').next().unwrap_or_default().trim());
    while let Some(line) = lines.next() {
        let first = |name: &str| name.split_whitespace().next().map(str::to_owned);
        if let Some(names) = line.strip_prefix("import ") {
            found.extend(names.split(',').filter_map(first));
        } else if let Some((module, names)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import")) {
            let (module, mut names) = (module.trim(), names.to_owned());
            let mut is_open = names.contains('(') && !names.contains(')');
            while let Some(next) = if is_open { lines.next() } else { None } {
                is_open = !next.contains(')');
                names.push(' ');
                names.push_str(next);
            }
            let dot = if module.ends_with('.') { "" } else { "." };
            found.push(module.to_owned());
            let names = names.split(|c: char| ",()\\".contains(c)).filter_map(first);
            found.extend(names.map(|name| format!("{module}{dot}{name}")));
        }
    }
    found
}

#[cfg(test)]
#[path = "closure_test.rs"]
mod tests;
