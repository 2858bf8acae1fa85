//! Files of a result that run by themselves: programs on a user's machine, or servers after a push, run or obey them without
//! anybody deciding to run the project's code.
//!
//! Must not decide what becomes of them. The table is the rule; what a person decides to start (a makefile, a build script, tests) is
//! not in it.

use std::collections::{BTreeMap, BTreeSet};

use helix_core::evidence::{RunsBy, SelfRunning};
use helix_core::finding::Finding;
use helix_core::ids::TreeId;
use helix_core::text::{clip, visible};
use sha2::{Digest, Sha256};

use super::admissible::{folded, refused, seen};
use super::error::GitError;
use super::objects::{EntryKind, RawChange, TreeEntry, TreeListing, escape_path};
use super::repository::Repository;

/// Such files in one result; nobody reads more before they answer.
const MOST: usize = 50;
/// Lines shown of one file, and characters of one line.
const LINES: usize = 40;
const WIDTH: usize = 240;
/// Lines shown of all files of a result.
const LINES_OF_ALL: usize = 160;
/// Links that are followed one after the other, as many as systems do at least.
const LINKS: usize = 40;
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
    all(RunsBy::Editor, &[".vs/**", ".theia/**", ".settings/**", ".externaltoolbuilders/**"]),
    all(
        RunsBy::Editor,
        &["rust-analyzer.toml", ".rust-analyzer.toml", ".luarc.json*", ".solargraph.yml", ".nova/**", ".idx/**"],
    ),
    Rule { by: RunsBy::Editor, part: Part::Lines(names_hook), paths: &[".pylintrc", "pylintrc"] },
    // Settings with hooks and tool servers, and instructions that an agent follows with the rights of whoever starts it.
    all(RunsBy::Agent, &[".claude/**", ".mcp.json", "claude.md", "claude.local.md", "agents.md", "agents.override.md"]),
    all(
        RunsBy::Agent,
        &[".codex/**", ".gemini/**", "gemini.md", ".cursor/**", ".cursorrules", ".windsurf/**", ".windsurfrules"],
    ),
    all(
        RunsBy::Agent,
        &[".github/copilot-instructions.md", ".github/instructions/**", ".github/agents/**", ".aider.conf.yml"],
    ),
    all(
        RunsBy::Agent,
        &[".opencode/**", "opencode.json", "opencode.jsonc", ".roo/**", ".clinerules", ".clinerules/**"],
    ),
    all(RunsBy::Agent, &[".continue/**", ".kiro/**", ".junie/**", ".amp/**", ".agents/**"]),
    all(RunsBy::Agent, &[".github/prompts/**", ".github/chatmodes/**", ".github/hooks/**", ".copilot/**"]),
    all(RunsBy::Agent, &["skill.md", ".augment/**", ".goosehints", ".qwen/**", "qwen.md", ".rules", "warp.md"]),
    all(RunsBy::Agent, &[".amazonq/**", ".trae/**"]),
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
        ],
    ),
    // With git's own commands: hooks and what installs them, other repositories, drivers.
    all(
        RunsBy::Git,
        &[".githooks/**", ".git-hooks/**", ".husky/**", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml"],
    ),
    all(
        RunsBy::Git,
        &["lefthook.y*ml", ".lefthook.y*ml", "lefthook.toml", ".lefthook/**", ".overcommit.yml", ".gitmodules"],
    ),
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
    all(RunsBy::Tool, &["gradle/wrapper/**", ".mvn/**", "tools/bazel", ".bazeliskrc", ".latexmkrc", "latexmkrc"]),
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

fn names_driver(line: &str) -> bool {
    ["filter=", "merge=", "diff="].iter().any(|attribute| line.contains(attribute))
}

/// Names in a package's description under which tools look for hooks.
const HOOKS: [&str; 4] = ["husky", "simple-git-hooks", "gitHooks", "lint-staged"];

/// Names in a repository of git without a work tree; git takes any directory with some of these for one, whatever kind of file they are,
/// and runs what its settings name.
const BARE: [&str; 7] = ["head", "config", "commondir", "objects", "refs", "hooks", "info"];

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
    let behind = behind_links(repository, &listing)?;
    for change in changes {
        let Some(new) = &change.new else { continue };
        let path = escape_path(&change.path);
        let (by, part) = match rule(&path, new.kind).or_else(|| rule_behind(&path, new.kind, &behind)) {
            Some(rule) => (rule.by, rule.part),
            None if is_in_bare_repository(&path, &listing) => (RunsBy::Git, Part::All),
            None => continue,
        };
        let now = content(repository, new, part)?;
        let before = change.old.as_ref().map(|old| content(repository, old, part)).transpose()?;
        let mode = change.old.as_ref().map(|old| old.kind) != Some(new.kind);
        let before = before.unwrap_or_default();
        if now.is_empty() && !matches!(part, Part::All) || now == before && !mode {
            continue;
        }
        if found.len() == MOST {
            let message = format!("the result changes more than {MOST} files that run by themselves, such as {path:?}");
            let fix = "leave such files out, or split the work: a person has to read each of them";
            return Ok((found, Some(refused("result.runs_by_itself", &path, message).fix(fix))));
        }
        let mut hash = Sha256::new().chain_update(new.kind.mode());
        now.iter().for_each(|line| hash.update(format!("\n{line}")));
        let digest = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
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

/// Where links lead that stand for files which run by themselves: the link of each place.
type BehindLinks = BTreeMap<String, String>;

fn behind_links(repository: &Repository, listing: &TreeListing) -> Result<BehindLinks, GitError> {
    let mut behind = BehindLinks::new();
    for (link, entry) in listing.iter().filter(|(_, entry)| entry.kind == EntryKind::Symlink) {
        if rule(link, EntryKind::Symlink).is_none() {
            continue;
        }
        let (mut at, mut entry) = (link.clone(), entry.clone());
        for _ in 0..LINKS {
            let target = String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned();
            let Some(place) = target_of(&at, &target) else { break };
            behind.entry(place.clone()).or_insert_with(|| link.clone());
            match listing.get(&place).filter(|next| next.kind == EntryKind::Symlink) {
                Some(next) => (at, entry) = (place, next.clone()),
                None => break,
            }
        }
    }
    Ok(behind)
}

/// Where a link leads that lies in a tree, by name; `None` where that is not in the repository.
pub fn target_of(link: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." => {}
            "" if parts.is_empty() && target.starts_with('/') => return None,
            "" => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    (!target.starts_with('/') && !parts.is_empty()).then(|| parts.join("/"))
}

/// The rule for a path by the name that it has through a link.
fn rule_behind(path: &str, kind: EntryKind, behind: &BehindLinks) -> Option<&'static Rule> {
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    let mut names = ends.filter_map(|end| Some(format!("{}{}", behind.get(path.get(..end)?)?, path.get(end..)?)));
    names.find_map(|name| rule(&name, kind))
}

/// Whether a file lies in what git takes for a repository of its own. Its objects and references may be files, links, or elsewhere.
fn is_in_bare_repository(path: &str, listing: &TreeListing) -> bool {
    if !path.split('/').skip(1).any(|name| BARE.contains(&&*seen(&folded(name)))) {
        return false;
    }
    path.match_indices('/').any(|(end, _)| {
        let names = names_in(&path[..end], listing);
        let has = |name: &str| names.contains(name);
        has("head") && (has("commondir") || has("objects") && has("refs"))
    })
}

/// The names directly in a directory that a repository has, too; each file below is not looked at.
fn names_in(directory: &str, listing: &TreeListing) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let prefix = format!("{directory}/");
    let mut from = prefix.clone();
    while let Some((path, _)) = listing.range(from.clone()..).next() {
        let Some(rest) = path.strip_prefix(&prefix) else { break };
        let name = rest.split('/').next().unwrap_or_default();
        let known = seen(&folded(name));
        if BARE.contains(&&*known) {
            names.insert(known);
        }
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
