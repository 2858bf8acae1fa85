//! Files of a result that run by themselves: programs on a user's machine, or servers after a push, run or obey them without
//! anybody deciding to run the project's code.
//!
//! Must not decide what becomes of them. The table is the rule; what a person decides to start (a makefile, a build script, tests) is
//! not in it.

mod named_by_user;

use std::collections::{BTreeMap, BTreeSet};

use helix_core::evidence::{RunsBy, SelfRunning};
use helix_core::finding::Finding;
use helix_core::ids::TreeId;
use helix_core::text::{clip, visible};
use helix_language::recorded;
use sha2::{Digest, Sha256};

use super::admissible::{folded, refused, seen, target_of};
use super::error::GitError;
use super::objects::{EntryKind, RawChange, TreeEntry, TreeListing, escape_path};
use super::repository::Repository;
use named_by_user::NamedByUser;

/// Such files in one result; nobody reads more before they answer.
const MOST: usize = 50;
/// Lines shown of one file, and characters of one line.
const LINES: usize = 40;
const WIDTH: usize = 240;
/// Lines shown of all files of a result.
const LINES_OF_ALL: usize = 160;
/// Links that are followed one after the other, as many as systems do at least.
const LINKS: usize = 40;
/// Other names of one place that are kept.
const NAMES: usize = 20;
/// Larger files are only counted, in bytes.
const READ: usize = 1 << 20;

/// What of a file counts.
#[derive(Clone, Copy)]
enum Part {
    All,
    /// Scripts of a package that a package manager runs by itself, by name.
    Scripts(fn(&str) -> bool),
    /// Lines that name a program.
    Lines(fn(&str) -> bool),
}

struct Rule {
    by: RunsBy,
    part: Part,
    /// Paths in any directory, in small letters. `*` is any text within a name, `**` at the end anything in that directory.
    paths: &'static [&'static str],
}

const fn all(by: RunsBy, paths: &'static [&'static str]) -> Rule {
    Rule { by, part: Part::All, paths }
}

/// What runs by itself, and by whom.
const RULES: &[Rule] = &[
    // When somebody enters the directory.
    all(
        RunsBy::Shell,
        &[".envrc", ".env", ".autoenv", ".autoenv.zsh", "mise.toml", ".mise.toml", ".mise/**", "mise/**"],
    ),
    all(RunsBy::Shell, &["mise.*.toml", ".mise.*.toml", ".config/mise.toml", ".config/mise.*.toml"]),
    // When somebody opens the directory in an editor: tasks, interpreters, formatters, language servers, containers.
    all(
        RunsBy::Editor,
        &[".vscode/**", "*.code-workspace", ".idea/**", ".run/**", ".fleet/**", ".zed/**", ".helix/**"],
    ),
    all(RunsBy::Editor, &[".vimrc", ".nvimrc", ".nvim.lua", ".exrc", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el"]),
    all(
        RunsBy::Editor,
        &[".devcontainer/**", ".devcontainer.json", ".gitpod.yml", ".sublime-project", "*.sublime-project"],
    ),
    all(RunsBy::Editor, &[".vs/**", ".theia/**", ".settings/**", ".externaltoolbuilders/**", ".vim/**", ".bsp/**"]),
    all(
        RunsBy::Editor,
        &["rust-analyzer.toml", ".rust-analyzer.toml", ".luarc.json*", ".solargraph.yml", ".nova/**", ".idx/**"],
    ),
    Rule { by: RunsBy::Editor, part: Part::Lines(names_hook), paths: &[".pylintrc", "pylintrc"] },
    // Settings with hooks and tool servers, and instructions that an agent follows with the rights of whoever starts it.
    all(RunsBy::Agent, &[".claude/**", ".mcp.json", "claude.md", "claude.local.md", "agents.md", "agents.override.md"]),
    all(RunsBy::Agent, &[".codex/**", ".gemini/**", "gemini.md", ".cursor/**", ".windsurf/**"]),
    all(
        RunsBy::Agent,
        &[".github/copilot-instructions.md", ".github/instructions/**", ".github/agents/**", ".aider.conf.yml"],
    ),
    all(RunsBy::Agent, &[".opencode/**", "opencode.json", "opencode.jsonc", ".roo/**", ".clinerules/**"]),
    all(RunsBy::Agent, &[".continue/**", ".kiro/**", ".junie/**", ".amp/**", ".agents/**"]),
    all(RunsBy::Agent, &[".github/prompts/**", ".github/chatmodes/**", ".github/hooks/**", ".copilot/**"]),
    all(RunsBy::Agent, &["skill.md", ".augment/**", ".goosehints", ".qwen/**", "qwen.md", "warp.md"]),
    all(RunsBy::Agent, &[".amazonq/**", ".trae/**", "crush.json", ".crush.json", ".crush/**", "crush.md", "agent.md"]),
    all(RunsBy::Agent, &[".openhands/**", ".replit", ".kilocode/**", ".factory/**", ".tabnine/**", ".aiassistant/**"]),
    // What others call so in a directory of their own.
    all(RunsBy::Agent, &[".*rules", ".*/rules/**", ".*/agents/**", ".*/commands/**", ".*/hooks/**", ".*/mcp.json"]),
    all(RunsBy::Helix, &["helix.toml", "prompts/*.md.j2"]),
    // After a push, with the secrets of the project.
    all(
        RunsBy::Server,
        &[".github/workflows/**", ".github/actions/**", ".gitea/workflows/**", ".forgejo/workflows/**"],
    ),
    all(
        RunsBy::Server,
        &[".gitlab-ci.yml", ".gitlab-ci/**", ".gitlab/ci/**", ".circleci/**", ".travis.yml", ".drone.yml"],
    ),
    all(
        RunsBy::Server,
        &["jenkinsfile", "azure-pipelines.y*ml", ".azure-pipelines/**", "bitbucket-pipelines.yml", ".cirrus.yml"],
    ),
    all(
        RunsBy::Server,
        &[".buildkite/**", ".woodpecker.y*ml", ".woodpecker/**", ".teamcity/**", "appveyor.yml", ".appveyor.yml"],
    ),
    all(
        RunsBy::Server,
        &["cloudbuild.y*ml", "buildspec.yml", ".build.yml", ".builds/**", "netlify.toml", "vercel.json"],
    ),
    all(
        RunsBy::Server,
        &[
            ".readthedocs.y*ml",
            ".semaphore/**",
            ".zuul.yaml",
            "zuul.d/**",
            "codemagic.yaml",
            "bitrise.yml",
            ".harness/**",
            ".tekton/**",
            "wercker.yml",
            ".user.ini",
            ".htaccess",
        ],
    ),
    // With git's own commands: hooks and what installs them, other repositories, drivers.
    all(
        RunsBy::Git,
        &[".githooks/**", ".git-hooks/**", ".husky/**", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml"],
    ),
    all(
        RunsBy::Git,
        &["lefthook.y*ml", ".lefthook.y*ml", "lefthook.toml", ".lefthook.toml", "lefthook.json*", ".lefthook.json*"],
    ),
    all(RunsBy::Git, &[".lefthook/**", ".lefthook-local/**", ".overcommit.yml", ".gitmodules", "captainhook.json"]),
    all(RunsBy::Git, &["lefthook-local.*", ".lefthook-local.*", ".simple-git-hooks.*"]),
    // No tree has a `.git`: this is the other name of a directory that git takes for one.
    all(RunsBy::Git, &[".git/**"]),
    all(RunsBy::Git, &[".gitconfig", ".hg/**", ".svn/**", ".jj/**", ".bzr/**"]),
    Rule { by: RunsBy::Git, part: Part::Lines(names_driver), paths: &[".gitattributes"] },
    // When an interpreter or a debugger starts here.
    all(
        RunsBy::Interpreter,
        &["sitecustomize.py", "usercustomize.py", "site-packages/*.pth", "dist-packages/*.pth", ".pdbrc"],
    ),
    all(
        RunsBy::Interpreter,
        &[
            ".gdbinit",
            ".lldbinit",
            ".rprofile",
            ".renviron",
            ".irbrc",
            ".pryrc",
            ".iex.exs",
            ".ghci",
            ".octaverc",
            ".perldb",
            ".erlang",
            ".ocamlinit",
            "startup.m",
        ],
    ),
    // At each call of a tool, whatever it was called for.
    all(
        RunsBy::Tool,
        &[".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/**", ".pnpmfile.*js", "pnpmfile.js", "bunfig.toml", "binding.gyp"],
    ),
    // Which packages may run their install scripts.
    all(RunsBy::Tool, &["pnpm-workspace.y*ml"]),
    all(
        RunsBy::Tool,
        &[".cargo/config", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml", ".bundle/config", ".bazelrc"],
    ),
    all(RunsBy::Tool, &["gradle/wrapper/**", ".mvn/**", "tools/bazel*", ".bazeliskrc", ".latexmkrc", "latexmkrc"]),
    all(RunsBy::Tool, &[".jvmopts", ".sbtopts", "ansible.cfg", ".rspec", ".proverc"]),
    Rule { by: RunsBy::Tool, part: Part::Lines(sets_machine), paths: &["gradle.properties"] },
    Rule { by: RunsBy::Tool, part: Part::Scripts(npm_runs), paths: &["package.json"] },
    Rule { by: RunsBy::Tool, part: Part::Scripts(composer_runs), paths: &["composer.json"] },
    // When somebody looks into the directory.
    all(RunsBy::FileManager, &["desktop.ini", "autorun.inf", "*.lnk", "*.url", "*.scf", "*.library-ms"]),
];

fn npm_runs(script: &str) -> bool {
    const RUN: [&str; 9] = [
        "preinstall",
        "install",
        "postinstall",
        "preprepare",
        "prepare",
        "postprepare",
        "prepublish",
        "dependencies",
        "pnpm:devPreinstall",
    ];
    RUN.contains(&script)
}

fn composer_runs(script: &str) -> bool {
    script.starts_with("pre-") || script.starts_with("post-")
}

fn names_hook(line: &str) -> bool {
    line.trim_start().starts_with("init-hook")
}

fn sets_machine(line: &str) -> bool {
    ["org.gradle.j", "systemProp."].iter().any(|key| line.trim_start().starts_with(key))
}

/// Attributes that name a program, or with which a checkout or an archive has other bytes than the commit.
fn names_driver(line: &str) -> bool {
    let acts = |word: &str| {
        ["filter=", "merge=", "diff=", "working-tree-encoding="].iter().any(|attribute| word.starts_with(attribute))
            || ["ident", "export-subst", "export-ignore"].contains(&word)
    };
    line.split_whitespace().skip(1).any(acts)
}

/// Names in a package's description under which tools look for hooks.
const HOOKS: [&str; 4] = ["husky", "simple-git-hooks", "gitHooks", "lint-staged"];

/// The files that run by themselves among the changes that lead to a tree, and what speaks against their number.
///
/// # Errors
/// Git failed.
pub(crate) fn self_running(
    repository: &Repository,
    changes: &[RawChange],
    tree: &TreeId,
) -> Result<(Vec<SelfRunning>, Option<Finding>), GitError> {
    let mut found = Vec::new();
    let mut room = LINES_OF_ALL;
    let listing = repository.listing(tree)?;
    let others = OtherNames::read(repository, &listing)?;
    let named = NamedByUser::read(repository, &listing)?;
    for change in changes {
        let Some(new) = &change.new else { continue };
        let path = escape_path(&change.path);
        let by_user = named.has(&path).then_some(&NAMED_BY_USER);
        let rule = by_user.or_else(|| rule(&path, new.kind)).or_else(|| others.rule(&path, new.kind));
        let Some(&Rule { by, part, .. }) = rule else { continue };
        let now = content(repository, new, part)?;
        let before = change.old.as_ref().map(|old| content(repository, old, part)).transpose()?;
        let mode = change.old.as_ref().map(|old| old.kind) != Some(new.kind);
        let before = before.unwrap_or_default();
        if now.is_empty() && !matches!(part, Part::All) || now == before && !mode {
            continue;
        }
        if found.len() == MOST {
            let message = recorded!("result-many-run", most = MOST, path = format!("{path:?}"));
            return Ok((found, Some(refused("result.runs_by_itself", &path, message))));
        }
        let mut hash = Sha256::new().chain_update(new.kind.mode());
        now.iter().for_each(|line| hash.update(format!("\n{line}")));
        let digest = format!("{:x}", hash.finalize());
        let fresh = added(&before, &now);
        let shown: Vec<String> = fresh.iter().take(LINES.min(room)).map(|line| clip(&visible(line), WIDTH)).collect();
        room -= shown.len();
        let more = (fresh.len() - shown.len()) as u64;
        found.push(SelfRunning { path, by, digest, shown, more });
    }
    Ok((found, None))
}

/// The rule for a path.
fn rule(path: &str, kind: EntryKind) -> Option<&'static Rule> {
    let names: Vec<String> = folded(path).split('/').map(seen).collect();
    // What stands in the place of a directory brings anything along that this directory would hold.
    let stands_for = matches!(kind, EntryKind::Symlink | EntryKind::Submodule);
    RULES.iter().find(|rule| rule.paths.iter().any(|pattern| matches(pattern, &names, stands_for)))
}

fn matches(pattern: &str, names: &[String], stands_for: bool) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    (0..names.len()).any(|start| {
        let rest = names.get(start..).unwrap_or_default();
        let alike = parts.iter().zip(rest).all(|(part, name)| match part.split_once('*') {
            Some(("", "*")) => true,
            Some((before, after)) => name.len() >= part.len() - 1 && name.starts_with(before) && name.ends_with(after),
            None => part == name,
        });
        let whole = rest.len() == parts.len() || rest.len() > parts.len() && pattern.ends_with("/**");
        alike && (whole || stands_for && rest.len() < parts.len())
    })
}

/// Places of a tree, each with the names under which tools find what is there, too: a link leads there, or git takes a directory for a
/// repository. Letters and signs that some file systems do not tell apart are made alike in places.
#[derive(Default)]
struct OtherNames(BTreeMap<String, BTreeSet<String>>);

/// What settings and hooks of the user name.
static NAMED_BY_USER: Rule = all(RunsBy::Git, &[]);
/// Where not all names are kept, what is there counts whole.
static TOO_MANY_NAMES: Rule = all(RunsBy::Tool, &[]);

impl OtherNames {
    fn read(repository: &Repository, listing: &TreeListing) -> Result<Self, GitError> {
        let mut names = Self::default();
        let links = listing.iter().filter(|(_, entry)| entry.kind == EntryKind::Symlink);
        let mut open: Vec<(String, String)> = links.map(|(link, _)| (link.clone(), link.clone())).collect();
        open.retain(|(link, _)| rule(link, EntryKind::Symlink).is_some());
        for (place, name) in repositories(repository, listing)? {
            names.add(place, name, listing, &mut open);
        }
        while let Some((link, name)) = open.pop() {
            for place in led_to(repository, listing, &link)? {
                names.add(place, name.clone(), listing, &mut open);
            }
        }
        Ok(names)
    }

    /// Adds a name, and the links below that stand for files which run by themselves because of it.
    fn add(&mut self, place: String, name: String, listing: &TreeListing, open: &mut Vec<(String, String)>) {
        let known = self.0.entry(alike(&place)).or_default();
        if known.len() == NAMES || !known.insert(name.clone()) {
            return;
        }
        let prefix = if place.is_empty() { place } else { format!("{place}/") };
        let below = listing.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        for (link, _) in below.filter(|(_, entry)| entry.kind == EntryKind::Symlink) {
            let name = format!("{name}/{}", &link[prefix.len()..]);
            let is_data = [".git/objects", ".git/refs"].iter().any(|data| name.starts_with(data));
            if !is_data && rule(&name, EntryKind::Symlink).is_some() {
                open.push((link.clone(), name));
            }
        }
    }

    /// The rule for a path by another name.
    fn rule(&self, path: &str, kind: EntryKind) -> Option<&'static Rule> {
        let path = alike(path);
        let ends = path.match_indices('/').map(|(end, _)| (end, end + 1)).chain([(0, 0), (path.len(), path.len())]);
        ends.filter_map(|(end, rest)| Some((self.0.get(&path[..end])?, &path[rest..]))).find_map(|(names, rest)| {
            if names.len() == NAMES {
                return Some(&TOO_MANY_NAMES);
            }
            let mut all =
                names.iter().map(|name| if rest.is_empty() { name.clone() } else { format!("{name}/{rest}") });
            all.find_map(|name| rule(&name, kind))
        })
    }
}

/// A path in which nothing is left that only some file systems tell apart.
fn alike(path: &str) -> String {
    folded(path).split('/').map(seen).collect::<Vec<_>>().join("/")
}

/// Where a link leads: to each link on the way, and to the end. What leads out of the repository has no place in it.
fn led_to(repository: &Repository, listing: &TreeListing, link: &str) -> Result<Vec<String>, GitError> {
    let mut left: Vec<String> = link.rsplit('/').map(str::to_owned).collect();
    let (mut at, mut places, mut followed): (Vec<String>, Vec<String>, usize) = Default::default();
    while let Some(part) = left.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." if at.pop().is_none() => return Ok(places),
            ".." => continue,
            _ => at.push(part),
        }
        let place = at.join("/");
        let Some(entry) = listing.get(&place).filter(|entry| entry.kind == EntryKind::Symlink) else { continue };
        if place != link {
            places.push(place);
        }
        let target = String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned();
        followed += 1;
        if followed > LINKS || target.starts_with('/') {
            return Ok(places);
        }
        at.pop();
        left.extend(target.rsplit('/').map(str::to_owned));
    }
    places.push(at.join("/"));
    Ok(places)
}

/// What git takes for repositories of its own, whatever kind of file their parts are, and runs the hooks and settings of: each place with
/// its name in a repository.
fn repositories(repository: &Repository, listing: &TreeListing) -> Result<Vec<(String, String)>, GitError> {
    let heads = listing.keys().filter_map(|path| path.rsplit_once('/')).filter(|(_, name)| alike(name) == "head");
    let mut found = Vec::new();
    for directory in heads.map(|(directory, _)| directory).collect::<BTreeSet<_>>() {
        let names = names_in(directory, listing);
        let common = names.get("commondir");
        if common.is_none() && !(names.contains_key("objects") && names.contains_key("refs")) {
            continue;
        }
        found.push((directory.to_owned(), ".git".to_owned()));
        // Settings and hooks are those of the directory that this file names.
        let Some(common) = common.map(|name| format!("{directory}/{name}")) else { continue };
        let end = led_to(repository, listing, &common)?.pop();
        let Some(entry) = end.and_then(|end| listing.get(&end)).filter(|entry| entry.kind.is_file()) else { continue };
        let target = String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned();
        let top = target_of(&common, &format!("{}/x", target.trim_end()));
        let Some(top) = top.as_deref().and_then(|inner| inner.strip_suffix('x')) else { continue };
        for name in ["config", "config.worktree", "hooks", "info"] {
            let place = format!("{top}{name}");
            let mut places = led_to(repository, listing, &place)?;
            places.push(place);
            found.extend(places.into_iter().map(|place| (place, format!(".git/{name}"))));
        }
    }
    Ok(found)
}

/// The names directly in a directory by what they are alike to; each file below is not looked at.
fn names_in<'l>(directory: &str, listing: &'l TreeListing) -> BTreeMap<String, &'l str> {
    let mut names = BTreeMap::new();
    let prefix = format!("{directory}/");
    let mut from = prefix.clone();
    while let Some((path, _)) = listing.range(from.clone()..).next() {
        let Some(rest) = path.strip_prefix(&prefix) else { break };
        let name = rest.split('/').next().unwrap_or_default();
        names.insert(alike(name), name);
        // The next one after all that lies below: `0` follows `/`.
        from = if name.len() == rest.len() { format!("{path}\0") } else { format!("{prefix}{name}0") };
    }
    names
}

/// What counts of a file, by line.
fn content(repository: &Repository, entry: &TreeEntry, part: Part) -> Result<Vec<String>, GitError> {
    let whole = match entry.kind {
        EntryKind::Submodule => return Ok(vec![format!("(commit {} of another repository)", entry.object)]),
        EntryKind::Symlink => {
            let target = repository.blob(&entry.object)?;
            return Ok(vec![format!("(a link to {})", String::from_utf8_lossy(&target))]);
        }
        EntryKind::File | EntryKind::Executable if repository.size(&entry.object)? > READ => None,
        EntryKind::File | EntryKind::Executable => String::from_utf8(repository.blob(&entry.object)?).ok(),
    };
    let Some(whole) = whole.filter(|text| !text.contains('\0')) else {
        return Ok(vec![format!("(no text, or too long to show: object {})", entry.object)]);
    };
    let lines = || whole.lines().map(str::to_owned);
    Ok(match part {
        Part::All => lines().collect(),
        Part::Lines(counts) => lines().filter(|line| counts(line)).collect(),
        // A description that only some tools can read counts whole.
        Part::Scripts(runs) => scripts(&whole, runs).unwrap_or_else(|| lines().collect()),
    })
}

/// The scripts and hooks that run by themselves, one a line.
fn scripts(text: &str, runs: fn(&str) -> bool) -> Option<Vec<String>> {
    let package: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let scripts = package.get("scripts").and_then(serde_json::Value::as_object);
    let scripts = scripts.into_iter().flatten().filter(|(name, _)| runs(name));
    let hooks = package.iter().filter(|(name, _)| HOOKS.contains(&name.as_str()));
    Some(scripts.chain(hooks).map(|(name, value)| format!("{name}: {value}")).collect())
}

/// The lines that are not among those before, each as often as it is new.
fn added<'a>(before: &[String], now: &'a [String]) -> Vec<&'a String> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    before.iter().for_each(|line| *known.entry(line).or_default() += 1);
    let is_new = |line: &&String| match known.get_mut(line.as_str()) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        Some(_) | None => true,
    };
    now.iter().filter(is_new).collect()
}

#[cfg(test)]
#[path = "runs_itself_test.rs"]
mod tests;
