#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

fn of(files: &[&str]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for file in files {
        std::fs::write(directory.path().join(file), "").unwrap();
    }
    installs(directory.path()).into_iter().flat_map(|install| install.commands).collect()
}

#[test]
fn each_lock_file_has_its_command_and_one_of_an_ecosystem_counts() {
    for (files, expected) in [
        (&["package-lock.json"][..], &["npm ci"][..]),
        (&["package-lock.json", "pnpm-lock.yaml"], &["pnpm install --frozen-lockfile"]),
        (&["yarn.lock"], &["yarn install --frozen-lockfile"]),
        (&["yarn.lock", ".yarnrc.yml"], &["yarn install --immutable"]),
        (&["bun.lock"], &["bun install --frozen-lockfile"]),
        (&["uv.lock", "requirements.txt"], &["uv sync --frozen"]),
        (&["poetry.lock"], &["poetry install --no-interaction"]),
        (
            &["requirements.txt", "requirements-dev.txt"],
            &[
                "python3 -m venv .venv",
                ".venv/bin/python -m pip install -q -r requirements.txt -r requirements-dev.txt",
            ],
        ),
        (&["Cargo.lock"], &["cargo fetch --locked"]),
        (&["go.sum"], &["go mod download"]),
        (&["pom.xml"], &["mvn -B -q dependency:go-offline"]),
        (&["gradlew"], &["./gradlew --no-daemon -q dependencies"]),
        (&["Gemfile.lock"], &["bundle install"]),
        (&["composer.lock"], &["composer install --no-interaction --no-progress"]),
        (&["package-lock.json", "uv.lock"], &["npm ci", "uv sync --frozen"]),
        (&["README.md"], &[]),
    ] {
        assert_eq!(of(files), expected, "{files:?}");
    }
}
