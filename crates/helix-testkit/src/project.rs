//! Small real projects with a test suite, as git repositories.
//!
//! Must not know Helix: a project is what a user might bring.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// In which language, and how healthy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Project {
    pub language: Language,
    /// Whether one of its tests fails already.
    pub health: Health,
}

/// Languages with a fixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A package `shop` with pytest-style tests that also run under `python3 -m unittest`.
    Python,
    /// A library crate without dependencies; `cargo test`.
    Rust,
    /// A module without dependencies; `node --test`.
    JavaScript,
}

/// Whether all tests pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    AllPass,
    /// Three tests pass and one fails, before anybody touched anything.
    OneFails,
}

/// Says why a project cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A file cannot be written.
    #[error("{} cannot be written", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// Git cannot be started.
    #[error("git cannot be started in {}", directory.display())]
    NoGit { directory: PathBuf, source: std::io::Error },
    #[error("git {arguments} failed in {}: {stderr}", directory.display())]
    Git { directory: PathBuf, arguments: String, stderr: String },
}

impl Project {
    /// A project whose tests all pass.
    pub fn healthy(language: Language) -> Self {
        Self { language, health: Health::AllPass }
    }

    /// A project with one failing test.
    pub fn with_failure(language: Language) -> Self {
        Self { language, health: Health::OneFails }
    }

    /// The command that runs its tests, with nothing but the language's own tools.
    pub fn test_command(self) -> &'static str {
        match self.language {
            Language::Python => "python3 -m unittest -v",
            Language::Rust => "cargo test --offline",
            Language::JavaScript => "node --test",
        }
    }

    pub fn files(self) -> Vec<(&'static str, String)> {
        let broken = self.health == Health::OneFails;
        match self.language {
            Language::Python => vec![
                (".gitignore", "__pycache__/\n.pytest_cache/\n".into()),
                ("README.md", "# shop\n\nPrices and baskets.\n".into()),
                ("shop/__init__.py", String::new()),
                ("shop/basket.py", include_str!("../fixtures/basket.py").into()),
                ("tests/__init__.py", String::new()),
                ("tests/test_basket.py", format!("{}{}", include_str!("../fixtures/test_basket.py"), if broken {
                    "\n    def test_known_defect(self):\n        self.assertEqual(Basket().total(), 1)\n"
                } else {
                    ""
                })),
            ],
            Language::Rust => vec![
                (".gitignore", "/target\n".into()),
                ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n".into()),
                ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n".into()),
                ("src/lib.rs", include_str!("../fixtures/basket.rs.txt").into()),
                ("tests/basket.rs", format!("{}{}", include_str!("../fixtures/test_basket.rs.txt"), if broken {
                    "\n#[test]\nfn known_defect() {\n    assert_eq!(Basket::default().total(), 1);\n}\n"
                } else {
                    ""
                })),
            ],
            Language::JavaScript => vec![
                (".gitignore", "node_modules/\n".into()),
                ("package.json", "{\n  \"name\": \"shop\",\n  \"version\": \"0.1.0\",\n  \"type\": \"module\",\n  \"scripts\": {\"test\": \"node --test\"}\n}\n".into()),
                ("src/basket.js", include_str!("../fixtures/basket.js").into()),
                ("test/basket.test.js", format!("{}{}", include_str!("../fixtures/basket.test.js"), if broken {
                    "\ntest('known defect', () => {\n  assert.equal(new Basket().total(), 1);\n});\n"
                } else {
                    ""
                })),
            ],
        }
    }

    /// Writes the files and commits them on the branch `main`.
    ///
    /// # Errors
    /// [`ProjectError`].
    pub fn create(self, directory: &Path, environment: &BTreeMap<String, String>) -> Result<(), ProjectError> {
        for (name, content) in self.files() {
            let path = directory.join(name);
            let written = match path.parent() {
                Some(parent) => std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, content)),
                None => std::fs::write(&path, content),
            };
            written.map_err(|source| ProjectError::File { path, source })?;
        }
        git(directory, environment, &["init", "--quiet", "--initial-branch=main"])?;
        git(directory, environment, &["add", "--all"])?;
        git(directory, environment, &["commit", "--quiet", "--message", "First version"])?;
        Ok(())
    }
}

/// Runs git and returns its trimmed stdout.
///
/// # Errors
/// [`ProjectError`].
pub fn git(
    directory: &Path,
    environment: &BTreeMap<String, String>,
    arguments: &[&str],
) -> Result<String, ProjectError> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .envs(environment)
        .output()
        .map_err(|source| ProjectError::NoGit { directory: directory.to_owned(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(ProjectError::Git {
        directory: directory.to_owned(),
        arguments: arguments.join(" "),
        stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}
