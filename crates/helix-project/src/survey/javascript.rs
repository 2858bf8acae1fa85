//! What a `package.json` says of a project: its package manager, its scripts, its workspaces.
//!
//! Must not run anything.

use std::path::{Path, PathBuf};

use helix_language::recorded;
use serde_json::Value;

use super::{Check, CheckKind, JAVASCRIPT, Language, TYPESCRIPT, Tests, text};

/// Most members of a workspace that are looked into, and most patterns that name them.
const MEMBERS: usize = 200;

/// What checks types of templates, too, which TypeScript's own compiler does not know.
const TYPE_CHECKERS: [&str; 4] = ["svelte-check", "vue-tsc", "astro check", "tsc"];

/// A `package.json` and what lies beside it.
pub(crate) struct Package<'d> {
    directory: &'d Path,
    manifest: Value,
    pub(crate) manager: Manager,
}

/// What installs the packages of a project and runs its scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl Manager {
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }

    /// A script by its name, without what the manager would say of itself.
    fn script(self, name: &str) -> String {
        match self {
            Self::Npm => format!("npm run {name} --silent"),
            Self::Pnpm => format!("pnpm --silent run {name}"),
            Self::Yarn => format!("yarn run {name}"),
            Self::Bun => format!("bun run {name}"),
        }
    }

    /// A program of an installed package; nothing is fetched for it.
    fn program_of_package(self, command: &str) -> String {
        match self {
            Self::Npm => format!("npx --no-install {command}"),
            Self::Pnpm => format!("pnpm exec {command}"),
            Self::Yarn => format!("yarn run {command}"),
            Self::Bun => format!("bunx --no-install {command}"),
        }
    }
}

impl<'d> Package<'d> {
    /// The one in a directory, if it can be read.
    pub(crate) fn read(directory: &'d Path) -> Option<Self> {
        let text = text(directory, "package.json")?;
        // What nobody can read is still a project of JavaScript.
        let manifest: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let is_there = |file: &str| directory.join(file).is_file();
        let named = manifest["packageManager"].as_str().and_then(|named| named.split('@').next()).unwrap_or_default();
        let manager = if is_there("pnpm-lock.yaml") || is_there("pnpm-workspace.yaml") || named == "pnpm" {
            Manager::Pnpm
        } else if is_there("bun.lock") || is_there("bun.lockb") || named == "bun" {
            Manager::Bun
        } else if is_there("yarn.lock") || named == "yarn" {
            Manager::Yarn
        } else {
            Manager::Npm
        };
        Some(Self { directory, manifest, manager })
    }

    pub(super) fn language(&self) -> &'static Language {
        if self.directory.join("tsconfig.json").is_file() { &TYPESCRIPT } else { &JAVASCRIPT }
    }

    /// Whether something is to be installed before anything of it can run.
    pub(crate) fn needs_packages(&self) -> bool {
        let has = |key: &str| self.manifest[key].as_object().is_some_and(|all| !all.is_empty());
        has("dependencies") || has("devDependencies") || self.is_workspace()
    }

    fn is_workspace(&self) -> bool {
        !self.manifest["workspaces"].is_null() || self.directory.join("pnpm-workspace.yaml").is_file()
    }

    /// What `npm init` writes is no test.
    fn script<'m>(manifest: &'m Value, name: &str) -> Option<&'m str> {
        manifest["scripts"][name].as_str().filter(|script| !script.contains("no test specified"))
    }

    /// The project's own test script, that of its members, or Node's own runner where there are tests without any.
    pub(super) fn tests(&self) -> Option<Tests> {
        let program = self.manager.program();
        if Self::script(&self.manifest, "test").is_some() {
            let command = match self.manager {
                Manager::Npm => "npm test --silent".to_owned(),
                Manager::Pnpm | Manager::Yarn => format!("{program} test"),
                Manager::Bun => "bun run test".to_owned(),
            };
            return Some(Tests::new(&command, "package.json, scripts.test"));
        }
        let tested = self.members().into_iter().find(|manifest| Self::script(manifest, "test").is_some());
        if let Some(member) = tested {
            // The others write names of packages before each line, so that nobody can count their tests.
            let command = match self.manager {
                Manager::Pnpm => "pnpm -r --workspace-concurrency=1 test",
                Manager::Npm | Manager::Yarn | Manager::Bun => "npm test --workspaces --if-present",
            };
            let name = member["name"].as_str().unwrap_or_default();
            return Some(Tests::new(command, recorded!("survey-member", name = name)));
        }
        let tests = ["test", "tests"].into_iter().find(|name| self.directory.join(name).is_dir())?;
        Some(Tests::new("node --test", recorded!("survey-directory", name = tests)))
    }

    /// Its linter, its type check, its build.
    pub(super) fn checks(&self) -> Vec<Check> {
        let scripts = |names: &[&'static str]| {
            let changes_nothing =
                |name: &str| Self::script(&self.manifest, name).is_some_and(|one| !changes_files(one));
            let found = names.iter().copied().find(|name| changes_nothing(name));
            found.map(|name| (self.manager.script(name), format!("package.json, scripts.{name}")))
        };
        let checks_types = Self::script(&self.manifest, "check")
            .is_some_and(|script| TYPE_CHECKERS.iter().any(|one| runs(script, one)));
        let check = checks_types.then_some("check");
        let types = ["typecheck", "type-check", "check-types", "tsc"].into_iter().chain(check).collect::<Vec<_>>();
        let types = scripts(&types).or_else(|| self.type_check());
        let lints = scripts(&["lint"]).into_iter().chain(types).map(|found| (CheckKind::Lint, found));
        let builds = scripts(&["build"]).map(|found| (CheckKind::Build, found));
        lints.chain(builds).map(|(kind, (command, evidence))| Check { kind, command, evidence }).collect()
    }

    /// Of a project in TypeScript whose build does not check types itself.
    fn type_check(&self) -> Option<(String, String)> {
        let build = Self::script(&self.manifest, "build").unwrap_or_default();
        let is_checked =
            TYPE_CHECKERS.iter().chain(&["next build", "ng build", "run check"]).any(|one| runs(build, one));
        let has = |key: &str| self.manifest[key]["typescript"].is_string();
        let has_compiler = has("devDependencies") || has("dependencies");
        let settings = text(self.directory, "tsconfig.json")?;
        (has_compiler && !is_checked && !only_refers(&settings))
            .then(|| (self.manager.program_of_package("tsc --noEmit"), "tsconfig.json".to_owned()))
    }

    /// The manifests of a workspace's members.
    fn members(&self) -> Vec<Value> {
        let manifest = |path: &PathBuf| serde_json::from_str(&text(self.directory, path.join("package.json"))?).ok();
        self.directories().iter().filter_map(manifest).collect()
    }

    /// Where they may be: directories that are named, or all below one whose name ends with `/*`.
    pub(super) fn directories(&self) -> Vec<PathBuf> {
        let workspaces = &self.manifest["workspaces"];
        let listed = workspaces.as_array().or_else(|| workspaces["packages"].as_array());
        let pnpm = text(self.directory, "pnpm-workspace.yaml").unwrap_or_default();
        let pnpm: Value = serde_saphyr::from_str(&pnpm).unwrap_or_default();
        let listed = listed.into_iter().chain(pnpm["packages"].as_array()).flatten();
        let patterns: Vec<&str> = listed.filter_map(Value::as_str).collect();
        let is_below = |path: &str| {
            let mut parts = Path::new(path).components();
            parts.all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir))
        };
        let mut directories = Vec::new();
        let patterns = patterns.iter().filter(|pattern| !pattern.starts_with('!') && is_below(pattern));
        for pattern in patterns.take(MEMBERS) {
            let room = MEMBERS.saturating_sub(directories.len());
            match pattern.trim_end_matches('/').strip_suffix("/*").or(pattern.strip_suffix("/**")) {
                Some(above) => {
                    let entries = std::fs::read_dir(self.directory.join(above)).into_iter().flatten().flatten();
                    directories.extend(entries.take(room).map(|entry| entry.path()));
                }
                None => directories.extend((room > 0).then(|| self.directory.join(pattern))),
            }
        }
        directories.sort();
        directories
    }
}

/// The words of a script.
fn words(script: &str) -> impl Iterator<Item = &str> {
    script.split(|c: char| c.is_whitespace() || "&|;()\"'".contains(c)).filter(|word| !word.is_empty())
}

/// Whether a script runs a command: its words follow each other, the first with or without a path.
fn runs(script: &str, command: &str) -> bool {
    let words: Vec<&str> = words(script).map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let command: Vec<&str> = command.split(' ').collect();
    words.windows(command.len()).any(|part| part == command)
}

/// Whether a script puts right what it should find: whoever checks a result with it checks another one.
fn changes_files(script: &str) -> bool {
    words(script).any(|word| {
        ["--fix", "--write"].iter().any(|option| word == *option || word.starts_with(&format!("{option}=")))
    })
}

/// Whether a `tsconfig.json` has no files of its own, so that the compiler checks nothing with it alone.
fn only_refers(settings: &str) -> bool {
    let bare = |text: &mut dyn Iterator<Item = &str>| text.flat_map(str::split_whitespace).collect::<String>();
    let code = |line| str::split_once(line, "//").map_or(line, |(code, _)| code);
    let (whole, uncommented) = (bare(&mut settings.lines()), bare(&mut settings.lines().map(code)));
    ["\"files\":[]", "\"include\":[]"].iter().any(|none| whole.contains(none) || uncommented.contains(none))
}
