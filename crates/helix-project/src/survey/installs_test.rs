#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

fn of(files: &[&str]) -> Vec<String> {
    let files: Vec<(&str, &str)> = files.iter().map(|file| (*file, "")).collect();
    with(&files)
}

fn with(files: &[(&str, &str)]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = directory.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
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
        (&["pom.xml"], &["mvn -B -q -ntp dependency:go-offline"]),
        // What cannot be started is no wrapper, and without one a lock file says only what is locked.
        (&["gradlew"], &["gradle --no-daemon -q dependencies"]),
        (&["gradle.lockfile"], &[]),
        (&["Gemfile.lock"], &["bundle install"]),
        (&["composer.lock"], &["composer install --no-interaction --no-progress"]),
        (&["Gemfile"], &["bundle install"]),
        (&["composer.json", "composer.lock"], &["composer install --no-interaction --no-progress"]),
        (&["package-lock.json", "uv.lock"], &["npm ci", "uv sync --frozen"]),
        (&["README.md"], &[]),
    ] {
        assert_eq!(of(files), expected, "{files:?}");
    }
}

#[test]
fn wrappers_that_can_be_started_build() {
    for (manifest, wrapper, command) in [
        ("pom.xml", "mvnw", "./mvnw -B -q -ntp dependency:go-offline"),
        ("gradlew", "gradlew", "./gradlew --no-daemon -q dependencies"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        for file in [manifest, wrapper] {
            std::fs::write(directory.path().join(file), "").unwrap();
        }
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(directory.path().join(wrapper), executable).unwrap();
        let [install] = installs(directory.path()).try_into().unwrap();
        assert_eq!((install.commands, install.program), (vec![command.to_owned()], "java"));
    }
}

/// What generators write before anything is locked.
#[test]
fn a_manifest_alone_says_what_installs_it() {
    let poetry = "[tool.poetry]\n[build-system]\nbuild-backend = \"poetry.core.masonry.api\"\n";
    let extras = "[project.optional-dependencies]\ndev = [\"pytest\"]\ndocs = []\n[build-system]\n";
    for (files, expected) in [
        (&[("package.json", "{\"devDependencies\": {\"vite\": \"^8\"}}")][..], &["npm install --no-package-lock"][..]),
        (&[("package.json", "{\"name\": \"nothing-to-install\"}")], &[]),
        (&[("package.json", "{\"workspaces\": [\"packages/*\"]}")], &["npm install --no-package-lock"]),
        (
            &[("package.json", "{\"dependencies\": {\"a\": \"1\"}, \"packageManager\": \"pnpm@9.1.0\"}")],
            &["pnpm install --no-lockfile"],
        ),
        (
            &[("package.json", "{\"dependencies\": {\"a\": \"1\"}, \"packageManager\": \"yarn@4.1.0\"}")],
            &["yarn install --no-immutable"],
        ),
        (
            &[("package.json", "{\"dependencies\": {\"a\": \"1\"}}"), ("yarn.lock", "")],
            &["yarn install --frozen-lockfile"],
        ),
        (&[("pyproject.toml", poetry)], &["poetry install --no-interaction"]),
        (&[("pyproject.toml", "[build-system]\nrequires = [\"uv_build>=0.13\"]\n")], &["uv sync"]),
        (&[("pyproject.toml", extras)], &["python3 -m venv .venv", ".venv/bin/python -m pip install -q -e .[dev]"]),
        (
            &[("pyproject.toml", "[build-system]\n[tool.pytest.ini_options]\n")],
            &["python3 -m venv .venv", ".venv/bin/python -m pip install -q -e . pytest"],
        ),
        (&[("pyproject.toml", "[build-system]\n"), (".venv/pyvenv.cfg", "")], &[]),
        (&[("pyproject.toml", "[tool.ruff]\n")], &[]),
        (&[("pom.xml", "<project><modules><module>a</module></modules></project>")], &[]),
    ] {
        assert_eq!(with(files), expected, "{files:?}");
    }
}
