//! What installs what a repository needs, by the lock files at its root. Must not change anything, and must not run anything.

use std::path::Path;

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
    &[known("pom.xml", "mvn", &["mvn -B -q dependency:go-offline"])],
    &[
        known("gradle.lockfile", "java", &["./gradlew --no-daemon -q dependencies"]),
        known("gradlew", "java", &["./gradlew --no-daemon -q dependencies"]),
    ],
    &[Known {
        file: "Gemfile.lock",
        program: "bundle",
        commands: &["bundle install"],
        env: Some(("BUNDLE_PATH", "vendor/bundle")),
    }],
    &[known("composer.lock", "composer", &["composer install --no-interaction --no-progress"])],
];

/// Files beside `requirements.txt` that name what tests need.
const REQUIREMENTS: [&str; 4] =
    ["requirements-dev.txt", "requirements-test.txt", "dev-requirements.txt", "test-requirements.txt"];

/// What installs what the repository in a directory needs, one ecosystem after the other.
pub(crate) fn installs(directory: &Path) -> Vec<Install> {
    let is_there = |file: &str| directory.join(file).is_file();
    let found = ECOSYSTEMS.iter().filter_map(|kinds| kinds.iter().find(|known| is_there(known.file)));
    let install = |known: &Known| {
        let mut commands: Vec<String> = known.commands.iter().map(|command| (*command).to_owned()).collect();
        match known.file {
            "requirements.txt" => {
                let more = REQUIREMENTS.iter().filter(|file| is_there(file)).map(|file| format!(" -r {file}"));
                let more: String = more.collect();
                commands.push(format!(".venv/bin/python -m pip install -q -r requirements.txt{more}"));
            }
            // Newer versions have another word for it.
            "yarn.lock" if is_there(".yarnrc.yml") => commands = vec!["yarn install --immutable".to_owned()],
            _ => {}
        }
        Install { evidence: known.file, commands, program: known.program, env: known.env }
    };
    found.map(install).collect()
}

#[cfg(test)]
#[path = "installs_test.rs"]
mod tests;
