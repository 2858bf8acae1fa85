//! What installs what a repository needs, by the lock files and manifests at its root. Must not change anything, and must not run anything.

use std::path::Path;

use super::{Manager, Package, built_by, text};

/// How what a repository needs is installed in a fresh clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Install {
    /// The file that it was concluded from.
    pub evidence: &'static str,
    pub commands: Vec<String>,
    /// The program that must be there.
    pub program: &'static str,
    pub env: Option<(&'static str, &'static str)>,
}

/// A lock file, the program that reads it, its commands, and a variable that keeps what it installs in the repository.
struct Known {
    file: &'static str,
    program: &'static str,
    commands: &'static [&'static str],
    env: Option<(&'static str, &'static str)>,
}

const fn known(file: &'static str, program: &'static str, commands: &'static [&'static str]) -> Known {
    Known { file, program, commands, env: None }
}

const fn bundler(file: &'static str) -> Known {
    Known { env: Some(("BUNDLE_PATH", "vendor/bundle")), ..known(file, "bundle", &["bundle install"]) }
}

const fn composer(file: &'static str) -> Known {
    known(file, "composer", &["composer install --no-interaction --no-progress"])
}

/// Of one ecosystem the first that is there counts.
const ECOSYSTEMS: [&[Known]; 8] = [
    &[
        known("pnpm-lock.yaml", "pnpm", &["pnpm install --frozen-lockfile"]),
        known("bun.lock", "bun", &["bun install --frozen-lockfile"]),
        known("bun.lockb", "bun", &["bun install --frozen-lockfile"]),
        known("yarn.lock", "yarn", &["yarn install --frozen-lockfile"]),
        known("package-lock.json", "npm", &["npm ci"]),
        known("npm-shrinkwrap.json", "npm", &["npm ci"]),
    ],
    &[
        known("uv.lock", "uv", &["uv sync --frozen"]),
        Known {
            file: "poetry.lock",
            program: "poetry",
            commands: &["poetry install --no-interaction"],
            env: Some(("POETRY_VIRTUALENVS_IN_PROJECT", "true")),
        },
        known("requirements.txt", "python3", &["python3 -m venv .venv"]),
    ],
    &[known("Cargo.lock", "cargo", &["cargo fetch --locked"])],
    &[known("go.sum", "go", &["go mod download"])],
    &[known("pom.xml", "mvn", &[])],
    &[known("gradlew", "gradle", &[])],
    &[bundler("Gemfile.lock"), bundler("Gemfile")],
    &[composer("composer.lock"), composer("composer.json")],
];

/// Files beside `requirements.txt` that name what tests need.
const REQUIREMENTS: [&str; 4] =
    ["requirements-dev.txt", "requirements-test.txt", "dev-requirements.txt", "test-requirements.txt"];

/// Extras of a Python project by which its authors install what tests need.
const EXTRAS: [&str; 4] = ["dev", "test", "tests", "testing"];

/// What installs what the repository in a directory needs, one ecosystem after the other.
pub(crate) fn installs(directory: &Path) -> Vec<Install> {
    let is_there = |file: &str| directory.join(file).is_file();
    let find = |kinds: &&[Known]| kinds.iter().find(|known| is_there(known.file)).map(|known| locked(known, directory));
    let mut found: Vec<Option<Install>> = ECOSYSTEMS.iter().map(find).collect();
    let [javascript, python, ..] = found.as_mut_slice() else { return Vec::new() };
    *javascript = javascript.take().or_else(|| packages(directory));
    *python = python.take().or_else(|| pyproject(directory));
    found.into_iter().flatten().filter(|install| !install.commands.is_empty()).collect()
}

/// As its lock file says.
fn locked(known: &Known, directory: &Path) -> Install {
    let is_there = |file: &str| directory.join(file).is_file();
    let Install { mut commands, mut program, .. } = install(known.file, known.program, known.commands);
    let mut build = |wrapper, arguments: &str| {
        let tool = built_by(directory, wrapper, program);
        program = if tool == wrapper { "java" } else { program };
        commands = vec![format!("{tool} {arguments}")];
    };
    match known.file {
        "requirements.txt" => {
            let more = REQUIREMENTS.iter().filter(|file| is_there(file)).map(|file| format!(" -r {file}"));
            let more: String = more.collect();
            commands.push(format!("{VENV_PIP} -r requirements.txt{more}"));
        }
        // Newer versions have another word for it.
        "yarn.lock" if is_there(".yarnrc.yml") => commands = vec!["yarn install --immutable".to_owned()],
        // Of several modules, those that need each other are not to be had before they are built.
        "pom.xml" if !text(directory, "pom.xml").unwrap_or_default().contains("<modules>") => {
            build("./mvnw", "-B -q -ntp dependency:go-offline");
        }
        "gradlew" => build("./gradlew", "--no-daemon -q dependencies"),
        _ => {}
    }
    Install { evidence: known.file, commands, program, env: known.env }
}

const VENV_PIP: &str = ".venv/bin/python -m pip install -q";

fn install(evidence: &'static str, program: &'static str, commands: &[&str]) -> Install {
    let commands = commands.iter().map(|command| (*command).to_owned()).collect();
    Install { evidence, commands, program, env: None }
}

/// Packages that nobody has locked. The lock file that would be written is nobody's work.
fn packages(directory: &Path) -> Option<Install> {
    let package = Package::read(directory).filter(Package::needs_packages)?;
    let command = match package.manager {
        Manager::Npm => "npm install --no-package-lock",
        Manager::Pnpm => "pnpm install --no-lockfile",
        // Newer versions refuse to lock anything in a CI, which commands are told to be in.
        Manager::Yarn => "yarn install --no-immutable",
        Manager::Bun => "bun install",
    };
    Some(install("package.json", package.manager.program(), &[command]))
}

/// A Python project that nobody has locked, by the tool that made it; one that has an environment already is used in that.
fn pyproject(directory: &Path) -> Option<Install> {
    let project = text(directory, "pyproject.toml").unwrap_or_default();
    if project.contains("[tool.poetry]") || project.contains("poetry.core") {
        let env = Some(("POETRY_VIRTUALENVS_IN_PROJECT", "true"));
        return Some(Install { env, ..install("pyproject.toml", "poetry", &["poetry install --no-interaction"]) });
    }
    if project.contains("[tool.uv") || project.contains("uv_build") {
        return Some(install("pyproject.toml", "uv", &["uv sync"]));
    }
    let has_environment = [".venv", "venv"].iter().any(|name| directory.join(name).join("pyvenv.cfg").is_file());
    let evidence = if project.contains("[build-system]") {
        "pyproject.toml"
    } else if directory.join("setup.py").is_file() {
        "setup.py"
    } else {
        return None;
    };
    if has_environment {
        return None;
    }
    let extras = project.lines().skip_while(|line| line.trim() != "[project.optional-dependencies]").skip(1);
    let extras = extras.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    let extras: Vec<&str> = extras.map(|(name, _)| name.trim()).filter(|name| EXTRAS.contains(name)).collect();
    let what = if extras.is_empty() { ".".to_owned() } else { format!(".[{}]", extras.join(",")) };
    let pytest = if extras.is_empty() && project.contains("pytest") { " pytest" } else { "" };
    Some(install(evidence, "python3", &["python3 -m venv .venv", &format!("{VENV_PIP} -e {what}{pytest}")]))
}

#[cfg(test)]
#[path = "installs_test.rs"]
mod tests;
